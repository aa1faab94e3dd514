//! JSON (RFC 8259): text to values and back, nothing lost.
//!
//! Promises: numbers keep their text, objects their key order; strings without escapes borrow from
//! the text; ends on every input, in linear time, with bounded nesting and number of values, and no
//! recursion while reading or writing; an error names line and column.
//! Never: guesses, repairs, or changes what it was given. The one exception: a `\u` escape of half a
//! surrogate pair, which no text can hold, reads as U+FFFD.
#![warn(clippy::indexing_slicing, clippy::as_conversions)]

use std::borrow::Cow;
use std::fmt;
use std::{mem, slice, str};

/// How deep arrays and objects may be nested.
const MAX_DEPTH: usize = 512;
/// How many values one text may hold; each costs memory beyond its text.
const MAX_VALUES: usize = 1_000_000;
/// About how long a piece of [`Json::chunks`] is.
const CHUNK: usize = 64 * 1024;

const TOO_DEEP: &str = "nesting exceeds the limit of 512 levels";
const TOO_MANY: &str = "the number of values exceeds the limit of 1,000,000";
const NOT_UTF8: &str = "invalid UTF-8";
const BYTE_ORDER_MARK: &str = "a byte order mark is not allowed here";
const NO_VALUE: &str = "expected a value";
const NO_KEY: &str = "expected a key in double quotes";
const NO_COLON: &str = "expected `:` after the key";
const NO_COMMA_IN_ARRAY: &str = "expected `,` or `]`";
const NO_COMMA_IN_OBJECT: &str = "expected `,` or `}`";
const NO_DIGIT: &str = "expected a digit";
const NO_END_OF_STRING: &str = "string has no closing quote";
const CONTROL_CHARACTER: &str = "control character in a string must be escaped";
const BAD_ESCAPE: &str = "unknown escape in a string";
const BAD_HEX: &str = "`\\u` needs four hexadecimal digits";
const TRAILING: &str = "unexpected text after the value";

/// One JSON value. Borrows from the text it was read from wherever no escape stood there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it was spelled.
    Number(Cow<'a, str>),
    /// A string, its escapes resolved.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Json<'a>>),
    /// An object: keys in the order of the text, duplicates kept.
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

/// Why a text is no JSON, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// Line, from 1.
    pub(crate) line: usize,
    /// Column in characters, from 1.
    pub(crate) column: usize,
    /// What was found or expected there.
    pub(crate) message: &'static str,
}

impl SyntaxError {
    #[expect(clippy::naive_bytecount, reason = "only errors need it")]
    /// The error `message` at byte `offset` of `text`.
    pub(crate) fn at(text: &[u8], offset: usize, message: &'static str) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        Self {
            line: before.iter().filter(|&&byte| byte == b'\n').count() + 1,
            // Continuation bytes (10xxxxxx) start no character.
            column: before.iter().skip(line_start).filter(|&&byte| byte & 0xC0 != 0x80).count() + 1,
            message,
        }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {} column {}: {}", self.line, self.column, self.message)
    }
}

impl<'a> Json<'a> {
    /// Reads one value; nothing but blanks may stand around it.
    pub(crate) fn parse(text: &'a str) -> Result<Self, SyntaxError> {
        let mut parser = Parser { text, at: 0, values: 0 };
        parser.document().map_err(|message| SyntaxError::at(text.as_bytes(), parser.at, message))
    }

    /// Reads one value from bytes, which must be UTF-8 without a byte order mark (RFC 8259, 8.1).
    pub(crate) fn parse_bytes(bytes: &'a [u8]) -> Result<Self, SyntaxError> {
        match str::from_utf8(bytes) {
            Ok(text) => Self::parse(text),
            Err(error) => Err(SyntaxError::at(bytes, error.valid_up_to(), NOT_UTF8)),
        }
    }

    /// A string.
    pub(crate) fn string(text: impl Into<Cow<'a, str>>) -> Self {
        Self::String(text.into())
    }

    /// An object with these entries, in this order.
    pub(crate) fn object<K: Into<Cow<'a, str>>>(
        entries: impl IntoIterator<Item = (K, Self)>,
    ) -> Self {
        Self::Object(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// The value of `key`, if this is an object that has it; of several the last, as in JavaScript.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The text, if this is a string.
    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The truth value, if this is one.
    pub(crate) fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(truth) = self { Some(*truth) } else { None }
    }

    /// The items, if this is an array.
    pub(crate) fn as_array(&self) -> Option<&[Self]> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    /// The entries, if this is an object.
    pub(crate) fn as_object(&self) -> Option<&[(Cow<'a, str>, Self)]> {
        if let Self::Object(entries) = self { Some(entries) } else { None }
    }

    /// The same value, borrowing nothing.
    pub(crate) fn into_owned(self) -> Json<'static> {
        // The parser bounds the nesting, and with it this recursion.
        match self {
            Self::Null => Json::Null,
            Self::Bool(truth) => Json::Bool(truth),
            Self::Number(digits) => Json::Number(Cow::Owned(digits.into_owned())),
            Self::String(text) => Json::String(Cow::Owned(text.into_owned())),
            Self::Array(items) => Json::Array(items.into_iter().map(Json::into_owned).collect()),
            Self::Object(members) => Json::Object(
                members
                    .into_iter()
                    .map(|(key, value)| (Cow::Owned(key.into_owned()), value.into_owned()))
                    .collect(),
            ),
        }
    }

    /// What this is, for messages: "a string", "null" …
    pub(crate) fn kind_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }

    /// A key that occurs twice in this object itself, if there is one.
    pub(crate) fn duplicate_key(&self) -> Option<&str> {
        let mut keys: Vec<&str> = self.as_object()?.iter().map(|(key, _)| key.as_ref()).collect();
        keys.sort_unstable();
        keys.windows(2).find_map(|pair| match pair {
            [one, other] if one == other => Some(*one),
            _ => None,
        })
    }

    /// The value as text without blanks.
    pub(crate) fn to_text(&self) -> String {
        let mut writer = Writer { steps: vec![Step::Value(self)], out: Vec::new() };
        writer.fill(usize::MAX);
        #[expect(clippy::expect_used, reason = "pieces of `str` and ASCII, in order and unbroken")]
        String::from_utf8(writer.out).expect("valid UTF-8")
    }

    /// The same text in pieces of about 64 KiB, so that the whole is never held. A piece may end
    /// inside a character.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = Vec<u8>> {
        let mut writer = Writer { steps: vec![Step::Value(self)], out: Vec::new() };
        std::iter::from_fn(move || {
            writer.fill(CHUNK);
            let piece = mem::take(&mut writer.out);
            (!piece.is_empty()).then_some(piece)
        })
    }
}

impl<'a> From<&'a str> for Json<'a> {
    fn from(text: &'a str) -> Self {
        Self::String(Cow::Borrowed(text))
    }
}

impl From<String> for Json<'_> {
    fn from(text: String) -> Self {
        Self::String(Cow::Owned(text))
    }
}

impl From<bool> for Json<'_> {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<u64> for Json<'_> {
    fn from(number: u64) -> Self {
        Self::Number(Cow::Owned(number.to_string()))
    }
}

impl<'a, T: Into<Json<'a>>> From<Option<T>> for Json<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<'a, T: Into<Json<'a>>> From<Vec<T>> for Json<'a> {
    fn from(items: Vec<T>) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

/// An array or object whose end has not been read yet; an object with the key that waits for its
/// value.
enum Open<'a> {
    Array(Vec<Json<'a>>),
    Object(Vec<(Cow<'a, str>, Json<'a>)>, Cow<'a, str>),
}

/// What a step of the parser came to: a whole value, or the start of a container.
enum Started<'a> {
    Whole(Json<'a>),
    Open(Open<'a>),
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    values: usize,
}

type Parsed<T> = Result<T, &'static str>;

impl<'a> Parser<'a> {
    /// The whole text. The stack is our own, so that depth is bounded by a message, not by a crash.
    fn document(&mut self) -> Parsed<Json<'a>> {
        if self.text.starts_with('\u{FEFF}') {
            return Err(BYTE_ORDER_MARK);
        }
        let mut stack: Vec<Open<'a>> = Vec::new();
        loop {
            let mut value = match self.value(stack.len())? {
                Started::Whole(value) => value,
                Started::Open(open) => {
                    stack.push(open);
                    continue;
                }
            };
            // The value may be the last of its container, which then is the last of its own …
            loop {
                let Some(parent) = stack.pop() else {
                    self.skip_blanks();
                    return if self.peek().is_none() { Ok(value) } else { Err(TRAILING) };
                };
                match self.append(parent, value)? {
                    Started::Whole(container) => value = container,
                    Started::Open(parent) => {
                        stack.push(parent);
                        break;
                    }
                }
            }
        }
    }

    /// Puts `value` into its container and reads on: to the container's end, or to the next value.
    fn append(&mut self, parent: Open<'a>, value: Json<'a>) -> Parsed<Started<'a>> {
        self.skip_blanks();
        match parent {
            Open::Array(mut items) => {
                items.push(value);
                if self.eat(b',') {
                    return Ok(Started::Open(Open::Array(items)));
                }
                self.expect(b']', NO_COMMA_IN_ARRAY)?;
                Ok(Started::Whole(Json::Array(items)))
            }
            Open::Object(mut entries, key) => {
                entries.push((key, value));
                if self.eat(b',') {
                    let key = self.key()?;
                    return Ok(Started::Open(Open::Object(entries, key)));
                }
                self.expect(b'}', NO_COMMA_IN_OBJECT)?;
                Ok(Started::Whole(Json::Object(entries)))
            }
        }
    }

    /// A scalar or an empty container, whole; or the start of a container up to its first value.
    /// `depth` containers are open around it.
    fn value(&mut self, depth: usize) -> Parsed<Started<'a>> {
        self.skip_blanks();
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(TOO_MANY);
        }
        Ok(Started::Whole(match self.peek() {
            Some(b'{' | b'[') if depth == MAX_DEPTH => return Err(TOO_DEEP),
            Some(b'"') => Json::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => Json::Number(Cow::Borrowed(self.number()?)),
            Some(b'{') => {
                self.at += 1;
                self.skip_blanks();
                if !self.eat(b'}') {
                    return Ok(Started::Open(Open::Object(Vec::new(), self.key()?)));
                }
                Json::Object(Vec::new())
            }
            Some(b'[') => {
                self.at += 1;
                self.skip_blanks();
                if !self.eat(b']') {
                    return Ok(Started::Open(Open::Array(Vec::new())));
                }
                Json::Array(Vec::new())
            }
            Some(b't') => self.word("true", Json::Bool(true))?,
            Some(b'f') => self.word("false", Json::Bool(false))?,
            Some(b'n') => self.word("null", Json::Null)?,
            _ => return Err(NO_VALUE),
        }))
    }

    fn key(&mut self) -> Parsed<Cow<'a, str>> {
        self.skip_blanks();
        if self.peek() != Some(b'"') {
            return Err(NO_KEY);
        }
        let key = self.string()?;
        self.skip_blanks();
        self.expect(b':', NO_COLON)?;
        Ok(key)
    }

    fn word(&mut self, word: &str, value: Json<'a>) -> Parsed<Json<'a>> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(NO_VALUE);
        }
        self.at += word.len();
        Ok(value)
    }

    /// RFC 8259, section 6: no plus sign, no leading zero, digits on both sides of the point.
    fn number(&mut self) -> Parsed<&'a str> {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _signed = self.eat(b'+') || self.eat(b'-');
            self.digits()?;
        }
        Ok(self.slice(start, self.at))
    }

    fn digits(&mut self) -> Parsed<()> {
        let count = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        if count == 0 { Err(NO_DIGIT) } else { Ok(()) }
    }

    /// A string from its opening quote: borrowed when no escape stands in it. Else the end is looked
    /// for first, so that the copy is allocated once: decoding never lengthens.
    fn string(&mut self) -> Parsed<Cow<'a, str>> {
        self.at += 1;
        let start = self.at;
        self.skip_plain();
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(Cow::Borrowed(self.slice(start, self.at - 1)));
        }
        let escape = self.at;
        while self.peek() == Some(b'\\') {
            self.at += 2;
            self.skip_plain();
        }
        self.at = self.at.min(self.text.len());
        match self.peek() {
            Some(b'"') => {}
            Some(_) => return Err(CONTROL_CHARACTER),
            None => return Err(NO_END_OF_STRING),
        }
        let mut decoded = String::with_capacity(self.at - start);
        decoded.push_str(self.slice(start, escape));
        self.at = escape;
        while self.eat(b'\\') {
            decoded.push(self.escape()?);
            let plain = self.at;
            self.skip_plain();
            decoded.push_str(self.slice(plain, self.at));
        }
        self.at += 1;
        Ok(Cow::Owned(decoded))
    }

    /// One escape, behind its backslash.
    fn escape(&mut self) -> Parsed<char> {
        let byte = self.peek().ok_or(NO_END_OF_STRING)?;
        let character = match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{C}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                return self.code_point();
            }
            _ => return Err(BAD_ESCAPE),
        };
        self.at += 1;
        Ok(character)
    }

    /// Four hexadecimal digits, and those of the second half of a surrogate pair where it follows.
    fn code_point(&mut self) -> Parsed<char> {
        let first = self.hex()?;
        if (0xD800..0xDC00).contains(&first) && self.rest().starts_with(b"\\u") {
            let behind_first = self.at;
            self.at += 2;
            let second = self.hex()?;
            if (0xDC00..0xE000).contains(&second) {
                let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            // Not its partner: an escape of its own, read next.
            self.at = behind_first;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self) -> Parsed<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let digit =
                self.peek().and_then(|byte| char::from(byte).to_digit(16)).ok_or(BAD_HEX)?;
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }

    /// Goes to the next quote, backslash or control character, or to the end.
    fn skip_plain(&mut self) {
        self.at += plain_length(self.rest());
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// Both ends lie beside an ASCII byte or the text's end, so there is always such a slice.
    fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, byte: u8, message: &'static str) -> Parsed<()> {
        if self.eat(byte) { Ok(()) } else { Err(message) }
    }
}

/// How many bytes stand for themselves inside a string before one that does not.
fn plain_length(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .position(|&byte| byte < b' ' || byte == b'"' || byte == b'\\')
        .unwrap_or(bytes.len())
}

/// What is still to be written.
enum Step<'j, 'a> {
    Value(&'j Json<'a>),
    /// Text that stands for itself.
    Raw(&'j [u8]),
    /// The inside of a string.
    Text(&'j [u8]),
    /// Further items of an array, each behind a comma.
    Items(slice::Iter<'j, Json<'a>>),
    /// Further entries of an object, each behind a comma.
    Entries(slice::Iter<'j, (Cow<'a, str>, Json<'a>)>),
}

struct Writer<'j, 'a> {
    /// The next step is the last.
    steps: Vec<Step<'j, 'a>>,
    out: Vec<u8>,
}

impl<'j, 'a> Writer<'j, 'a> {
    /// Writes until `out` holds `limit` bytes (and a few more) or all is written.
    fn fill(&mut self, limit: usize) {
        while self.out.len() < limit {
            match self.steps.pop() {
                None => return,
                Some(Step::Value(value)) => self.value(value),
                Some(Step::Raw(bytes)) => {
                    let (now, later) = bytes.split_at(bytes.len().min(limit - self.out.len()));
                    self.out.extend_from_slice(now);
                    self.later(Step::Raw(later), later);
                }
                Some(Step::Text(bytes)) => {
                    let reach = bytes.get(..limit - self.out.len()).unwrap_or(bytes);
                    let (now, later) = bytes.split_at(plain_length(reach));
                    self.out.extend_from_slice(now);
                    // What stopped the plain run is escaped here; a limit is caught by the loop.
                    let later = match later.split_first() {
                        Some((&byte, behind)) if now.len() < reach.len() => {
                            escape(byte, &mut self.out);
                            behind
                        }
                        _ => later,
                    };
                    self.later(Step::Text(later), later);
                }
                Some(Step::Items(mut items)) => {
                    if let Some(item) = items.next() {
                        self.out.push(b',');
                        self.steps.push(Step::Items(items));
                        self.steps.push(Step::Value(item));
                    }
                }
                Some(Step::Entries(mut entries)) => {
                    if let Some(entry) = entries.next() {
                        self.out.push(b',');
                        self.steps.push(Step::Entries(entries));
                        self.entry(entry);
                    }
                }
            }
        }
    }

    fn later(&mut self, step: Step<'j, 'a>, rest: &[u8]) {
        if !rest.is_empty() {
            self.steps.push(step);
        }
    }

    fn value(&mut self, value: &'j Json<'a>) {
        match value {
            Json::Null => self.out.extend_from_slice(b"null"),
            Json::Bool(true) => self.out.extend_from_slice(b"true"),
            Json::Bool(false) => self.out.extend_from_slice(b"false"),
            Json::Number(text) => self.steps.push(Step::Raw(text.as_bytes())),
            Json::String(text) => self.string(text),
            Json::Array(items) => {
                self.out.push(b'[');
                self.steps.push(Step::Raw(b"]"));
                let mut items = items.iter();
                if let Some(first) = items.next() {
                    self.steps.push(Step::Items(items));
                    self.steps.push(Step::Value(first));
                }
            }
            Json::Object(entries) => {
                self.out.push(b'{');
                self.steps.push(Step::Raw(b"}"));
                let mut entries = entries.iter();
                if let Some(first) = entries.next() {
                    self.steps.push(Step::Entries(entries));
                    self.entry(first);
                }
            }
        }
    }

    fn entry(&mut self, (key, value): &'j (Cow<'a, str>, Json<'a>)) {
        self.steps.push(Step::Value(value));
        self.steps.push(Step::Raw(b":"));
        self.string(key);
    }

    fn string(&mut self, text: &'j str) {
        self.out.push(b'"');
        self.steps.push(Step::Raw(b"\""));
        self.steps.push(Step::Text(text.as_bytes()));
    }
}

fn escape(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        _ => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
