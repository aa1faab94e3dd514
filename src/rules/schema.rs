//! Typed fields out of TOML tables; what does not fit becomes a diagnostic and the reading goes on.

use super::{Diagnostic, Place};
use crate::glob::{Pattern, Stars};
use crate::regex::Regex;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;
use toml_reader::{Definition, Kind, Places, Table, Value};

/// What may stand in one kind of table.
pub(super) struct Section {
    /// How a message calls it.
    pub(super) name: &'static str,
    /// Its fields; in a match block every other key is a condition.
    pub(super) fields: &'static [&'static str],
    /// The sections around it, from which a key may have slid into it.
    pub(super) outer: &'static [&'static Section],
}

/// One table of the document, read as a section.
#[derive(Clone, Copy)]
pub(super) struct Fields<'d> {
    pub(super) table: &'d Table<'d>,
    /// Where the table begins.
    pub(super) offset: usize,
    pub(super) section: &'static Section,
}

/// One rule file while it is read, with the problems found so far.
pub(super) struct Source<'t> {
    file: Rc<Path>,
    places: Places<'t>,
    problems: Vec<Diagnostic>,
}

impl<'t> Source<'t> {
    /// Reads the text as TOML.
    pub(super) fn open(
        file: &Path,
        text: &'t [u8],
    ) -> Result<(Source<'t>, Table<'t>), Vec<Diagnostic>> {
        match toml_reader::parse(text) {
            Ok(root) => Ok((Source::new(file, text), root)),
            Err(error) => {
                let place = Place { file: Rc::from(file), line: error.line, column: error.column };
                let message = format!("invalid TOML: {}", error.message);
                Err(vec![Diagnostic { place, message }])
            }
        }
    }

    /// A text that was read already, in whichever language.
    pub(super) fn new(file: &Path, text: &'t [u8]) -> Source<'t> {
        Source { file: Rc::from(file), places: Places::new(text), problems: Vec::new() }
    }

    /// `read`, unless there were problems: then these, in the order of the text.
    pub(super) fn close<T>(mut self, read: T) -> Result<T, Vec<Diagnostic>> {
        if self.problems.is_empty() {
            return Ok(read);
        }
        self.problems.sort_by_key(|problem| (problem.place.line, problem.place.column));
        Err(self.problems)
    }

    pub(super) fn place(&self, offset: usize) -> Place {
        let (line, column) = self.places.at(offset);
        Place { file: Rc::clone(&self.file), line, column }
    }

    pub(super) fn problem(&mut self, offset: usize, message: impl Into<String>) {
        let place = self.place(offset);
        self.problems.push(Diagnostic { place, message: message.into() });
    }

    /// Opens a section; a field it does not have is a problem.
    pub(super) fn fields<'d>(
        &mut self,
        value: &'d Value<'d>,
        key: &str,
        section: &'static Section,
    ) -> Option<Fields<'d>> {
        let table = value.as_table();
        if table.is_none() {
            self.wrong(value, key, "a table");
        }
        Some(self.root(table?, value.span.start, section))
    }

    /// The same for a table that is one already.
    pub(super) fn root<'d>(
        &mut self,
        table: &'d Table<'d>,
        offset: usize,
        section: &'static Section,
    ) -> Fields<'d> {
        let fields = Fields { table, offset, section };
        for (key, _) in table {
            if !section.fields.contains(&&*key.name) {
                let message = fields.slid(&key.name).unwrap_or_else(|| unknown(&key.name, section));
                self.problem(key.span.start, message);
            }
        }
        fields
    }

    /// `KEY must be …, found …`.
    pub(super) fn wrong(&mut self, value: &Value<'_>, key: &str, expected: &str) {
        let blank = text(value).is_some_and(|text| text.trim_start().is_empty());
        let found = if blank { "an empty string" } else { value.kind.name() };
        self.problem(value.span.start, format!("{key} must be {expected}, found {found}"));
    }

    /// The field `key`, as `convert` reads it.
    fn read<'d, T>(
        &mut self,
        fields: Fields<'d>,
        key: &str,
        expected: &str,
        convert: impl FnOnce(&'d Value<'d>) -> Option<T>,
    ) -> Option<T> {
        let value = fields.table.get(key)?;
        let converted = convert(value);
        if converted.is_none() {
            self.wrong(value, key, expected);
        }
        converted
    }

    pub(super) fn boolean(&mut self, fields: Fields<'_>, key: &str, default: bool) -> bool {
        self.read(fields, key, "a boolean", boolean).unwrap_or(default)
    }

    /// A text that says something.
    pub(super) fn string<'d>(&mut self, fields: Fields<'d>, key: &str) -> Option<&'d str> {
        self.read(fields, key, "a nonempty string", |value| {
            text(value).filter(|text| !text.trim_start().is_empty())
        })
    }

    pub(super) fn seconds(&mut self, fields: Fields<'_>, key: &str) -> Option<Duration> {
        self.read(fields, key, "a positive finite number", |value| {
            let seconds = number(value).filter(|seconds| *seconds > 0.0 && seconds.is_finite())?;
            // A century is as good as any longer time, and a clock can be set to it.
            Some(Duration::from_secs_f64(seconds.min(f64::from(u32::MAX))))
        })
    }

    pub(super) fn count(&mut self, fields: Fields<'_>, key: &str) -> Option<u32> {
        self.read(fields, key, "a whole number from 0", |value| {
            if let Kind::Integer(number) = value.kind { u32::try_from(number).ok() } else { None }
        })
    }

    /// An array of strings, each with its place.
    pub(super) fn strings<'d>(
        &mut self,
        fields: Fields<'d>,
        key: &str,
    ) -> Option<Vec<(&'d str, usize)>> {
        self.read(fields, key, "an array of strings", |value| {
            let element = |value: &'d Value<'d>| Some((text(value)?, value.span.start));
            array(value)?.iter().map(element).collect()
        })
    }

    /// The same without the places.
    pub(super) fn texts(&mut self, fields: Fields<'_>, key: &str) -> Option<Vec<String>> {
        let owned = |value: &Value<'_>| text(value).map(str::to_owned);
        let read = |value| array(value)?.iter().map(owned).collect();
        self.read(fields, key, "an array of strings", read)
    }

    /// One name or a list of them, none blank.
    pub(super) fn names<'d>(
        &mut self,
        fields: Fields<'d>,
        key: &str,
    ) -> Option<Vec<(&'d str, usize)>> {
        self.read(fields, key, "a nonempty string or a list of such", |value| {
            let values = array(value)
                .filter(|values| !values.is_empty())
                .unwrap_or(std::slice::from_ref(value));
            let name = |value: &'d Value<'d>| {
                Some((text(value).filter(|text| !text.trim_start().is_empty())?, value.span.start))
            };
            values.iter().map(name).collect()
        })
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy>(
        &mut self,
        fields: Fields<'_>,
        key: &str,
        choices: &[(&str, T)],
    ) -> Option<T> {
        let value = fields.table.get(key)?;
        let found = text(value);
        if let Some((_, choice)) = choices.iter().find(|(word, _)| Some(*word) == found) {
            return Some(*choice);
        }
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        let expected = format!("one of {}", listed(&words));
        if let Some(found) = found {
            let near = nearest(found, &words).map(|near| format!("did you mean `{near}`?"));
            let advice = near.unwrap_or(expected);
            let message = format!("unknown {key} `{}`, {advice}", shown(found));
            self.problem(value.span.start, message);
        } else {
            self.wrong(value, key, &expected);
        }
        None
    }

    /// The elements of an array of tables.
    pub(super) fn tables<'d>(&mut self, fields: Fields<'d>, key: &str) -> &'d [Value<'d>] {
        let Some(value) = fields.table.get(key) else {
            return &[];
        };
        let is_table = |value: &Value<'_>| value.as_table().is_some();
        let tables = array(value).filter(|values| values.iter().all(is_table));
        if tables.is_none() {
            let header = fields.section.below(key);
            let expected = format!("an array of tables, as `[[{header}]]` makes it");
            self.wrong(value, key, &expected);
        }
        tables.unwrap_or_default()
    }

    /// A glob per string of the array.
    pub(super) fn globs(
        &mut self,
        fields: Fields<'_>,
        key: &str,
        stars: Stars,
    ) -> Option<Vec<Pattern>> {
        let strings = self.strings(fields, key)?;
        let mut globs = Vec::with_capacity(strings.len());
        for (text, offset) in strings {
            self.no_control_characters(text, offset);
            match Pattern::new(text, stars) {
                Ok(pattern) => globs.push(pattern),
                Err(error) => self.problem(offset, format!("`{key}`: {error}")),
            }
        }
        Some(globs)
    }

    /// A regular expression, read here and compiled when needed.
    pub(super) fn expression(&mut self, fields: Fields<'_>, key: &str) -> Option<Box<Regex>> {
        let text = self.read(fields, key, "a string", text)?;
        let offset = fields.table.get(key)?.span.start;
        self.no_control_characters(text, offset);
        match Regex::new(text) {
            Ok(regex) => Some(Box::new(regex)),
            Err(error) => {
                self.problem(offset, format!("`{key}`: {error}"));
                None
            }
        }
    }

    /// In TOML `"\b"` is a backspace: hardly what the author of a pattern meant.
    fn no_control_characters(&mut self, pattern: &str, offset: usize) {
        let stray = |c: &char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
        if let Some(found) = pattern.chars().find(stray) {
            let code = u32::from(found);
            let hint = "write the pattern between '…', where TOML leaves backslashes alone";
            self.problem(offset, format!("control character U+{code:04X} in a pattern; {hint}"));
        }
    }
}

impl Fields<'_> {
    /// What to say about a key that stands behind this table's header and belongs further out.
    pub(super) fn slid(&self, key: &str) -> Option<String> {
        let owner = self.section.outer.iter().find(|outer| outer.fields.contains(&key))?;
        let here = self.section.name;
        (self.table.definition() == Definition::Header).then(|| {
            format!("`{key}` belongs to {}, but standing behind {here} it is part of that; move it above", owner.name)
        })
    }
}

impl Section {
    /// The header of a table below this section.
    fn below(&self, key: &str) -> String {
        let own = self.name.trim_matches(['[', ']']);
        if own == self.name { key.to_owned() } else { format!("{own}.{key}") }
    }
}

pub(super) fn text<'d>(value: &'d Value<'_>) -> Option<&'d str> {
    if let Kind::String(text) = &value.kind { Some(text) } else { None }
}

pub(super) fn boolean(value: &Value<'_>) -> Option<bool> {
    if let Kind::Boolean(truth) = value.kind { Some(truth) } else { None }
}

pub(super) fn array<'d>(value: &'d Value<'d>) -> Option<&'d [Value<'d>]> {
    if let Kind::Array(values) = &value.kind { Some(values) } else { None }
}

#[expect(clippy::cast_precision_loss, reason = "of a number of seconds beyond 2^53")]
fn number(value: &Value<'_>) -> Option<f64> {
    match value.kind {
        Kind::Integer(number) => Some(number as f64),
        Kind::Float(number) => Some(number),
        Kind::String(_)
        | Kind::Boolean(_)
        | Kind::Datetime(_)
        | Kind::Array(_)
        | Kind::Table(_) => None,
    }
}

/// What to say about a field that `section` does not have.
pub(super) fn unknown(field: &str, section: &Section) -> String {
    let advice = match nearest(field, section.fields) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("{} has {}", section.name, listed(section.fields)),
    };
    format!("unknown field `{}`, {advice}", shown(field))
}

/// A text from the file, fit for a message.
pub(super) fn shown(text: &str) -> String {
    let start: String = text.chars().take(40).collect();
    let more = if start.len() < text.len() { "…" } else { "" };
    format!("{}{more}", start.escape_debug())
}

pub(super) fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}

/// The word that is so close to `found` that it was probably meant.
pub(super) fn nearest<'w>(found: &str, words: &[&'w str]) -> Option<&'w str> {
    let close = |word: &&&str| word.len().abs_diff(found.len()) <= 3;
    let (distance, word) =
        words.iter().filter(close).map(|word| (distance(found, word), *word)).min()?;
    (distance <= 1 + word.len() / 4).then_some(word)
}

/// Levenshtein distance: how many letters to insert, delete or replace.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (done, letter) in one.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], done + 1);
        for (column, against) in other.bytes().enumerate() {
            let replaced = diagonal + usize::from(letter != against);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}
