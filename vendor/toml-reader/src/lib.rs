//! A minimal TOML 1.0.0 reader that keeps the place of every key and value.
//!
//! Promises: accepts what TOML 1.0.0 accepts and nothing else; keeps declaration order; ends on
//! every input with bounded nesting, in time proportional to the text (times a logarithm for
//! looking up keys); an error names line, column, what was found and what was expected. Never:
//! writes TOML, touches a file, panics.
//!
//! ```
//! let table = toml_reader::parse(b"[rules.action]\nkind = 'deny'").unwrap();
//! let rules = table.get("rules").and_then(|value| value.as_table()).unwrap();
//! assert_eq!(rules.definition(), toml_reader::Definition::Implicit);
//!
//! let error = toml_reader::parse(b"a = 1\na = 2").unwrap_err();
//! assert_eq!(error.to_string(), "2:1: key `a` is already defined in line 1");
//! ```

#![forbid(unsafe_code)]

mod places;
mod reader;
mod scalar;

pub use places::Places;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// How deep arrays, tables and the parts of dotted keys may nest.
pub const MAX_DEPTH: usize = 128;

/// Reads one TOML document. A byte order mark before the text is skipped.
///
/// # Errors
/// The first fault of the text: bytes that are no UTF-8, a syntax error, a key defined twice.
pub fn parse(bytes: &[u8]) -> Result<Table<'_>, Error> {
    let read = match std::str::from_utf8(bytes) {
        Ok(text) => reader::read(text),
        Err(error) => {
            Err(reader::Fault::new(error.valid_up_to(), "found a byte that is not UTF-8"))
        }
    };
    read.map_err(|fault| fault.located(&Places::new(bytes)))
}

/// Why a text is not TOML, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What was found and what was expected.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for Error {}

/// One value and the bytes it was read from; for a table opened by a header or a dotted key, the
/// bytes of the key that opened it.
#[derive(Clone, Debug, PartialEq)]
pub struct Value<'t> {
    /// Byte range in the document.
    pub span: Range<usize>,
    /// The value itself.
    pub kind: Kind<'t>,
}

impl<'t> Value<'t> {
    /// The table, if it is one.
    #[must_use]
    pub fn as_table(&self) -> Option<&Table<'t>> {
        if let Kind::Table(table) = &self.kind { Some(table) } else { None }
    }

    fn as_table_mut(&mut self) -> Option<&mut Table<'t>> {
        if let Kind::Table(table) = &mut self.kind { Some(table) } else { None }
    }
}

/// The types of TOML.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind<'t> {
    /// Text, escapes resolved; borrowed where none stood there.
    String(Cow<'t, str>),
    /// A 64-bit integer.
    Integer(i64),
    /// A binary64 float.
    Float(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// A date, a time, or both.
    Datetime(Datetime),
    /// An array, of values or of tables.
    Array(Vec<Value<'t>>),
    /// A table, however it was written.
    Table(Table<'t>),
}

impl Kind<'_> {
    /// The type's name with its article, for messages.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Kind::String(_) => "a string",
            Kind::Integer(_) => "an integer",
            Kind::Float(_) => "a float",
            Kind::Boolean(_) => "a boolean",
            Kind::Datetime(_) => "a date or time",
            Kind::Array(_) => "an array",
            Kind::Table(_) => "a table",
        }
    }
}

/// A date or time that exists in the calendar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datetime {
    /// Which parts it has.
    pub form: DatetimeForm,
    /// As RFC 3339 writes it, with `T` and `Z`.
    pub text: String,
}

/// Which parts a [`Datetime`] has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatetimeForm {
    /// Date, time and offset from UTC.
    Offset,
    /// Date and time.
    Local,
    /// Date only.
    LocalDate,
    /// Time only.
    LocalTime,
}

/// How a table came to be; it decides what may still be added to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    /// Named on the way to another table's header, as `a` in `[a.b]`.
    Implicit,
    /// By its own `[header]` or `[[header]]`; the document itself too.
    Header,
    /// By a dotted key, as `a` in `a.b = 1`.
    Dotted,
    /// By braces; nothing can be added to it.
    Inline,
}

/// A key and the bytes it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key<'t> {
    /// The key, quotes and escapes resolved.
    pub name: Cow<'t, str>,
    /// Byte range in the document.
    pub span: Range<usize>,
}

/// So many keys are found by looking at each.
const FEW: usize = 16;

/// Keys and values in the order of their declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Table<'t> {
    definition: Definition,
    entries: Vec<(Key<'t>, Value<'t>)>,
    /// The positions of all keys, once there are more than [`FEW`].
    #[expect(clippy::box_collection, reason = "few tables have one, and all are smaller for it")]
    index: Option<Box<BTreeMap<Cow<'t, str>, usize>>>,
}

impl<'t> Table<'t> {
    fn new(definition: Definition) -> Self {
        Table { definition, entries: Vec::new(), index: None }
    }

    /// How the table came to be.
    #[must_use]
    pub fn definition(&self) -> Definition {
        self.definition
    }

    fn position(&self, name: &str) -> Option<usize> {
        if let Some(index) = &self.index {
            return index.get(name).copied();
        }
        self.entries.iter().position(|(key, _)| key.name == name)
    }

    /// The value of `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value<'t>> {
        let (_, value) = self.entries.get(self.position(name)?)?;
        Some(value)
    }

    /// Keys and values in the order of their declaration.
    pub fn iter(&self) -> std::slice::Iter<'_, (Key<'t>, Value<'t>)> {
        self.entries.iter()
    }

    /// Whether it holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<'s, 't> IntoIterator for &'s Table<'t> {
    type Item = &'s (Key<'t>, Value<'t>);
    type IntoIter = std::slice::Iter<'s, (Key<'t>, Value<'t>)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
