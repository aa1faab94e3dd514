//! The grammar: a recursive descent over one text, and the rules about defining a key once.

use crate::scalar::scalar;
use crate::{Definition, Error, FEW, Key, Kind, MAX_DEPTH, Places, Table, Value};
use std::borrow::Cow;
use std::ops::Range;

/// What is wrong, and at which byte.
pub(crate) struct Fault {
    offset: usize,
    message: String,
    /// Where the key was defined first, when it is defined twice.
    first: Option<usize>,
}

impl Fault {
    pub(crate) fn new(offset: usize, message: impl Into<String>) -> Self {
        Fault { offset, message: message.into(), first: None }
    }

    /// `key` cannot be defined (again) because of what stands at `first`.
    fn twice(key: &Key<'_>, first: &Range<usize>, problem: &str) -> Self {
        let message = format!("key `{}` {problem}", key.name);
        Fault { offset: key.span.start, message, first: Some(first.start) }
    }

    pub(crate) fn located(self, places: &Places<'_>) -> Error {
        let (line, column) = places.at(self.offset);
        let message = match self.first {
            Some(first) => format!("{} in line {}", self.message, places.at(first).0),
            None => self.message,
        };
        Error { line, column, message }
    }
}

type Read<T> = Result<T, Fault>;

const DEFINED: &str = "is already defined";

/// Reads a whole document.
pub(crate) fn read(text: &str) -> Read<Table<'_>> {
    let mut reader = Reader { text, at: 0, depth: 0, path: Vec::new() };
    reader.eat("\u{feff}");
    let mut root = Table::new(Definition::Header);
    let mut current = &mut root;
    loop {
        reader.blank_lines()?;
        match reader.peek() {
            None => return Ok(root),
            Some(b'[') => current = reader.header(&mut root)?,
            Some(_) => reader.key_value(current)?,
        }
        reader.end_of_line()?;
    }
}

/// A place in the text. Each method takes what it is named for, or fails where it stands.
struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// Levels of tables and arrays around this place.
    depth: usize,
    /// The parts of the key read last, without its last part.
    path: Vec<Key<'t>>,
}

impl<'t> Reader<'t> {
    // Characters.

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// What was taken since `start`.
    fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn eat(&mut self, expected: &str) -> bool {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let found = rest.starts_with(expected.as_bytes());
        self.at += if found { expected.len() } else { 0 };
        found
    }

    fn expect(&mut self, token: &str, expected: &str) -> Read<()> {
        if self.eat(token) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    /// Takes bytes; `wanted` must hold for all or none of those beyond ASCII, or characters break.
    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'t str {
        let start = self.at;
        self.skip_while(wanted);
        self.since(start)
    }

    /// The same without asking what was taken.
    fn skip_while(&mut self, wanted: impl Fn(u8) -> bool) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.at += rest.iter().take_while(|byte| wanted(**byte)).count();
    }

    fn unexpected(&self, expected: &str) -> Fault {
        let found = match self.rest().chars().next() {
            None => "the end of the text".to_owned(),
            Some('\n') => "the end of the line".to_owned(),
            Some(c) if c.is_control() => format!("the control character U+{:04X}", u32::from(c)),
            Some(c) => format!("`{c}`"),
        };
        Fault::new(self.at, format!("found {found}, expected {expected}"))
    }

    // Blanks and line ends.

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    fn newline(&mut self) -> bool {
        self.eat("\n") || self.eat("\r\n")
    }

    fn comment(&mut self) {
        if self.peek() == Some(b'#') {
            self.skip_while(|byte| is_in(byte, PRINTABLE));
        }
    }

    /// Blanks, comments and line ends, as between expressions and inside arrays.
    fn blank_lines(&mut self) -> Read<()> {
        loop {
            self.blanks();
            if self.peek() == Some(b'#') {
                self.end_of_line()?;
            } else if !self.newline() {
                return Ok(());
            }
        }
    }

    fn end_of_line(&mut self) -> Read<()> {
        self.blanks();
        self.comment();
        let ended = self.newline() || self.peek().is_none();
        if ended { Ok(()) } else { Err(self.unexpected("the end of the line")) }
    }

    // Keys and tables.

    /// One or more parts between dots: the last; those before it are then the path.
    fn key(&mut self) -> Read<Key<'t>> {
        self.path.clear();
        loop {
            self.blanks();
            let part = self.key_part()?;
            self.blanks();
            if self.peek() != Some(b'.') {
                return Ok(part);
            }
            self.at += 1;
            self.path.push(part);
            if self.depth + self.path.len() >= MAX_DEPTH {
                return Err(self.too_deep());
            }
        }
    }

    fn key_part(&mut self) -> Read<Key<'t>> {
        let start = self.at;
        let name = if let Some(quote @ (b'"' | b'\'')) = self.peek() {
            self.line_string(quote)?
        } else {
            Cow::Borrowed(self.take_while(|byte| is_in(byte, BARE)))
        };
        if self.at == start {
            return Err(self.unexpected("a key"));
        }
        Ok(Key { name, span: start..self.at })
    }

    fn key_value(&mut self, table: &mut Table<'t>) -> Read<()> {
        let last = self.key()?;
        self.expect("=", "`=` behind the key")?;
        self.blanks();
        let mut table = table;
        for key in &self.path {
            let value = table.entry(key, || Kind::Table(Table::new(Definition::Dotted)));
            let first = value.span.clone();
            // Only what dotted keys of this very body opened may grow by them (TOML, Table).
            table = (value.as_table_mut())
                .filter(|inner| inner.definition == Definition::Dotted)
                .ok_or_else(|| Fault::twice(key, &first, DEFINED))?;
        }
        if let Some(first) = table.get(&last.name) {
            return Err(Fault::twice(&last, &first.span, DEFINED));
        }
        let depth = self.depth;
        self.depth += self.path.len();
        let value = self.value()?;
        self.depth = depth;
        table.push(last, value);
        Ok(())
    }

    /// `[a.b]` or `[[a.b]]`: the table that the lines behind it fill.
    fn header<'r>(&mut self, root: &'r mut Table<'t>) -> Read<&'r mut Table<'t>> {
        self.depth = 0;
        let (open, close, expected) = if self.rest().starts_with("[[") {
            ("[[", "]]", "`]]` behind the header")
        } else {
            ("[", "]", "`]` behind the header")
        };
        self.eat(open);
        let last = self.key()?;
        self.expect(close, expected)?;
        self.depth = self.path.len() + 1;
        let mut table = root;
        for key in &self.path {
            let value = table.entry(key, || Kind::Table(Table::new(Definition::Implicit)));
            let first = value.span.clone();
            table = open_table(value)
                .ok_or_else(|| Fault::twice(key, &first, "is no table that can grow; it stands"))?;
        }
        if open == "[[" { table.append(&last) } else { table.open(&last) }
    }

    // Values.

    fn value(&mut self) -> Read<Value<'t>> {
        let start = self.at;
        let kind = match self.peek() {
            Some(quote @ (b'"' | b'\'')) => Kind::String(self.string(quote)?),
            Some(b'[') => self.nested(Self::array)?,
            Some(b'{') => self.nested(Self::inline_table)?,
            _ => self.scalar()?,
        };
        Ok(Value { span: start..self.at, kind })
    }

    fn nested(&mut self, inner: fn(&mut Self) -> Read<Kind<'t>>) -> Read<Kind<'t>> {
        if self.depth >= MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let kind = inner(self)?;
        self.depth -= 1;
        Ok(kind)
    }

    fn too_deep(&self) -> Fault {
        Fault::new(self.at, format!("more than {MAX_DEPTH} levels of tables and arrays"))
    }

    fn array(&mut self) -> Read<Kind<'t>> {
        self.eat("[");
        let mut values = Vec::new();
        loop {
            self.blank_lines()?;
            if self.eat("]") {
                return Ok(Kind::Array(values));
            }
            values.push(self.value()?);
            self.blank_lines()?;
            if !self.eat(",") {
                self.expect("]", "`,` or `]`")?;
                return Ok(Kind::Array(values));
            }
        }
    }

    fn inline_table(&mut self) -> Read<Kind<'t>> {
        self.eat("{");
        let mut table = Table::new(Definition::Inline);
        self.blanks();
        if !self.eat("}") {
            loop {
                self.key_value(&mut table)?;
                self.blanks();
                if !self.eat(",") {
                    self.expect("}", "`,` or `}` (an inline table is one line)")?;
                    break;
                }
            }
        }
        Ok(Kind::Table(table))
    }

    fn scalar(&mut self) -> Read<Kind<'t>> {
        let start = self.at;
        let part =
            |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'-' | b'_' | b'.' | b':');
        let first = self.take_while(part);
        if first.is_empty() {
            return Err(self.unexpected("a value"));
        }
        // A blank instead of `T` joins date and time.
        let mut following = self.rest().chars();
        let is_date = first.len() == 10 && first.find('-') == Some(4);
        if is_date
            && following.next() == Some(' ')
            && following.next().is_some_and(|c| c.is_ascii_digit())
        {
            self.eat(" ");
            self.take_while(part);
        }
        let token = self.since(start);
        scalar(token).map_err(|message| Fault::new(start, message))
    }

    // Strings.

    fn string(&mut self, quote: u8) -> Read<Cow<'t, str>> {
        let fence = if quote == b'"' { "\"\"\"" } else { "'''" };
        if self.eat(fence) { self.block_string(quote) } else { self.line_string(quote) }
    }

    /// A string on one line, behind and up to one `quote`.
    fn line_string(&mut self, quote: u8) -> Read<Cow<'t, str>> {
        self.at += 1;
        let mut string = Cow::Borrowed(self.plain(quote));
        loop {
            match self.peek() {
                Some(b'\\') => string.to_mut().push(self.escape()?),
                Some(byte) if byte == quote => {
                    self.at += 1;
                    return Ok(string);
                }
                _ => return Err(self.unexpected("the closing quote")),
            }
            push(&mut string, self.plain(quote));
        }
    }

    /// A string over several lines, behind its opening and up to its closing three quotes.
    fn block_string(&mut self, quote: u8) -> Read<Cow<'t, str>> {
        self.newline();
        let mut string = Cow::Borrowed("");
        loop {
            push(&mut string, self.plain(quote));
            let start = self.at;
            match self.peek() {
                Some(b'\\') if self.continuation() => {}
                Some(b'\\') => string.to_mut().push(self.escape()?),
                Some(byte) if byte == quote => {
                    let run = self.take_while(|byte| byte == quote).len();
                    // Up to two quotes may stand before the closing three.
                    let inner = if run < 3 { run } else { (run - 3).min(2) };
                    push(&mut string, self.text.get(start..start + inner).unwrap_or_default());
                    if run >= 3 {
                        self.at = start + inner + 3;
                        return Ok(string);
                    }
                }
                _ if self.newline() => {
                    push(&mut string, self.since(start));
                }
                _ => return Err(self.unexpected("the closing three quotes")),
            }
        }
    }

    /// What stands for itself between quotes.
    fn plain(&mut self, quote: u8) -> &'t str {
        let class = if quote == b'"' { BASIC } else { LITERAL };
        self.take_while(|byte| is_in(byte, class))
    }

    /// A backslash at the end of a line takes all blanks and line ends behind it.
    fn continuation(&mut self) -> bool {
        let start = self.at;
        self.eat("\\");
        self.blanks();
        if !self.newline() {
            self.at = start;
            return false;
        }
        while self.newline() || matches!(self.peek(), Some(b' ' | b'\t')) {
            self.blanks();
        }
        true
    }

    fn escape(&mut self) -> Read<char> {
        let start = self.at;
        let mut following = self.rest().chars().skip(1);
        let letter = following.next();
        self.at += 1 + letter.map_or(0, char::len_utf8);
        let digits = match letter {
            Some('b') => return Ok('\u{8}'),
            Some('t') => return Ok('\t'),
            Some('n') => return Ok('\n'),
            Some('f') => return Ok('\u{c}'),
            Some('r') => return Ok('\r'),
            Some(quoted @ ('"' | '\\')) => return Ok(quoted),
            Some('u') => 4,
            Some('U') => 8,
            _ => return Err(Fault::new(start, ESCAPE)),
        };
        let code = self
            .text
            .get(self.at..self.at + digits)
            .filter(|code| code.bytes().all(|b| b.is_ascii_hexdigit()));
        self.at += digits;
        code.and_then(|code| u32::from_str_radix(code, 16).ok())
            .and_then(char::from_u32)
            .ok_or_else(|| Fault::new(start, UNICODE))
    }
}

const ESCAPE: &str = "found an escape that TOML does not know, expected one of \
    \\b \\t \\n \\f \\r \\\" \\\\ \\uXXXX \\UXXXXXXXX ('…' takes backslashes as they are)";
const UNICODE: &str =
    "found an escape that names no Unicode character, expected \\u with 4 or \\U with 8 hex digits";

/// Appends a piece; the first one is only borrowed.
fn push<'t>(string: &mut Cow<'t, str>, piece: &'t str) {
    if string.is_empty() {
        *string = Cow::Borrowed(piece);
    } else if !piece.is_empty() {
        string.to_mut().push_str(piece);
    }
}

/// Classes of bytes: what a key without quotes is made of, what stands for itself between `"` and
/// between `'`, and what a comment is made of (TOML, sections Keys, String and Comment).
const BARE: u8 = 1;
const BASIC: u8 = 2;
const LITERAL: u8 = 4;
const PRINTABLE: u8 = 8;

/// The classes of each byte; 0xff is in none, for no text in UTF-8 has it. A table, because nearly
/// all bytes of a text are asked for their classes.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < u8::MAX {
        classes[byte as usize] = classes_of(byte);
        byte += 1;
    }
    classes
};

const fn classes_of(byte: u8) -> u8 {
    // No control character, a tab excepted.
    if byte != b'\t' && (byte < b' ' || byte == 0x7f) {
        return 0;
    }
    match byte {
        b'"' | b'\\' => LITERAL | PRINTABLE,
        b'\'' => BASIC | PRINTABLE,
        b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => BARE | BASIC | LITERAL | PRINTABLE,
        _ => BASIC | LITERAL | PRINTABLE,
    }
}

fn is_in(byte: u8, class: u8) -> bool {
    CLASSES[usize::from(byte)] & class != 0
}

/// The table that a header's path enters by `value`: itself, or the last of an array of tables.
fn open_table<'v, 't>(value: &'v mut Value<'t>) -> Option<&'v mut Table<'t>> {
    let innermost = match value {
        Value { kind: Kind::Array(elements), .. } => elements.last_mut()?,
        other => other,
    };
    let table = innermost.as_table_mut()?;
    (table.definition != Definition::Inline).then_some(table)
}

fn opened_by_header(value: &Value<'_>) -> bool {
    value.as_table().is_some_and(|table| table.definition == Definition::Header)
}

impl<'t> Table<'t> {
    /// The value of `key`, which is `new` if there was none.
    fn entry(&mut self, key: &Key<'t>, new: impl FnOnce() -> Kind<'t>) -> &mut Value<'t> {
        let position = self.position(&key.name).unwrap_or_else(|| {
            self.push(key.clone(), Value { span: key.span.clone(), kind: new() });
            self.entries.len() - 1
        });
        &mut self.entries[position].1
    }

    fn push(&mut self, key: Key<'t>, value: Value<'t>) {
        self.entries.push((key, value));
        let length = self.entries.len();
        if length <= FEW {
            return;
        }
        // The index begins with what was looked at one by one until now.
        let indexed = if self.index.is_none() { 0..length } else { length - 1..length };
        let index = self.index.get_or_insert_default();
        for position in indexed {
            index.insert(self.entries[position].0.name.clone(), position);
        }
    }

    /// `[key]`: a new table, or one that was only named on the way so far.
    fn open(&mut self, key: &Key<'t>) -> Read<&mut Table<'t>> {
        let value = self.entry(key, || Kind::Table(Table::new(Definition::Implicit)));
        let first = value.span.clone();
        let table = (value.as_table_mut())
            .filter(|table| table.definition == Definition::Implicit)
            .ok_or_else(|| Fault::twice(key, &first, DEFINED))?;
        table.definition = Definition::Header;
        Ok(table)
    }

    /// `[[key]]`: one more table at the end of an array of tables.
    fn append(&mut self, key: &Key<'t>) -> Read<&mut Table<'t>> {
        let new = self.position(&key.name).is_none();
        let value = self.entry(key, || Kind::Array(Vec::new()));
        let first = value.span.clone();
        let twice = || Fault::twice(key, &first, DEFINED);
        // An array written in brackets cannot grow: it is empty or ends in another value.
        if let Kind::Array(elements) = &mut value.kind
            && (new || elements.last().is_some_and(opened_by_header))
        {
            let kind = Kind::Table(Table::new(Definition::Header));
            elements.push(Value { span: key.span.clone(), kind });
            return open_table(value).ok_or_else(twice);
        }
        Err(twice())
    }
}
