//! The lexer: from bytes to words. A word is read where it stands, and so is every command
//! inside its substitutions, so that no byte is read once per level of nesting.
//!
//! Follows POSIX XCU 2.2 (quoting), 2.3 (tokens), 2.6 (expansions) and, where bash differs, bash.

use super::ansi::ansi_unescape;
use super::parser::{Halt, Parser, Parsing};
use super::words::{Kind, Word, identifier};

/// Which assignments a word may be in its position.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Assigning {
    /// None: `=` is an ordinary byte.
    #[default]
    No,
    /// `NAME=value`.
    Plain,
    /// Also `NAME[subscript]=value` and `NAME=(…)`.
    Array,
    /// An element of `NAME=(…)`, which may begin with `[subscript]=`.
    Element,
}

/// What, besides the ordinary, a word may hold in its position.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) assigning: Assigning,
    /// `@(a|b)` and its kin are patterns here.
    pub(super) pattern: bool,
    /// Parentheses and `|` belong to a regular expression (`[[ x =~ … ]]`).
    pub(super) regex: bool,
}

/// Bytes that end an unquoted word (POSIX "operators and blanks").
pub(super) fn breaks(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

impl<'t> Parser<'t, '_> {
    /// The next byte; a line continuation before it vanishes (POSIX 2.2.1).
    pub(super) fn peek(&mut self) -> Option<u8> {
        while self.raw(0) == Some(b'\\') && self.raw(1) == Some(b'\n') {
            self.at += 2;
        }
        self.raw(0)
    }

    /// The byte behind the next one, continuations skipped.
    pub(super) fn second(&mut self) -> Option<u8> {
        self.peek();
        let mut ahead = 1;
        while self.raw(ahead) == Some(b'\\') && self.raw(ahead + 1) == Some(b'\n') {
            ahead += 2;
        }
        self.raw(ahead)
    }

    /// The byte `ahead` of the position, as it stands in the text.
    pub(super) fn raw(&self, ahead: usize) -> Option<u8> {
        let index = self.at + ahead;
        if index < self.end { self.text.as_bytes().get(index).copied() } else { None }
    }

    /// Takes `byte`, or leaves all untouched.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Takes `byte`, or stops.
    pub(super) fn expect(&mut self, byte: u8) -> Parsing<()> {
        if self.eat(byte) { Ok(()) } else { Err(Halt) }
    }

    /// Skips blanks, line continuations and a comment; stops before the newline.
    pub(super) fn skip_blanks(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' => self.at += 1,
                b'#' => {
                    self.run(|byte| byte == b'\n');
                    // In a here-document lines are joined before anything else is read.
                    while self.scope.joined
                        && self.slice_from(0).ends_with('\\')
                        && self.raw(0).is_some()
                    {
                        self.at += 1;
                        self.run(|byte| byte == b'\n');
                    }
                }
                _ => return,
            }
        }
    }

    /// The text from `start` up to the position.
    pub(super) fn slice_from(&self, start: usize) -> &'t str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Takes bytes up to one for which `stop` holds.
    pub(super) fn run(&mut self, stop: impl Fn(u8) -> bool) -> &'t str {
        let start = self.at;
        while self.raw(0).is_some_and(|byte| !stop(byte)) {
            self.at += 1;
        }
        self.slice_from(start)
    }

    /// Takes one whole character.
    fn character(&mut self) -> &'t str {
        let start = self.at;
        self.at = self.end.min(self.at + 1);
        while self.at < self.end && !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
        self.slice_from(start)
    }

    /// A word, or a stop where none begins.
    pub(super) fn word(&mut self, position: Position) -> Parsing<Word> {
        self.peek();
        let start = self.at;
        let mut word = Word::default();
        if position.assigning != Assigning::No {
            self.assignment_name(position, &mut word)?;
        }
        while let Some(byte) = self.peek() {
            match byte {
                b'\\' => {
                    self.at += 1;
                    let escaped = self.character();
                    // A backslash with nothing behind it is kept.
                    if escaped.is_empty() {
                        word.push(Kind::Bare, "\\");
                    } else {
                        word.push(Kind::Quoted, escaped);
                    }
                }
                b'<' | b'>' if self.second() == Some(b'(') => {
                    self.process_substitution(&mut word)?;
                }
                b'(' if position.assigning == Assigning::Array
                    && word.value_from == Some(word.parts.len()) =>
                {
                    self.array(&mut word)?;
                }
                b'(' if position.regex || (position.pattern && opens_pattern(&word)) => {
                    self.at += 1;
                    word.push(Kind::Bare, "(");
                    self.balanced(b'(', b')', &mut word)?;
                    word.push(Kind::Bare, ")");
                }
                b'|' if position.regex => {
                    self.at += 1;
                    word.push(Kind::Bare, "|");
                }
                _ if breaks(byte) => break,
                _ if self.special(&mut word, false)? => {}
                _ => {
                    let run = self.run(|byte| {
                        breaks(byte) || matches!(byte, b'\\' | b'\'' | b'"' | b'$' | b'`')
                    });
                    word.push(Kind::Bare, run);
                }
            }
        }
        word.span = start..self.at;
        if self.at == start { Err(Halt) } else { Ok(word) }
    }

    /// A quotation or expansion at the position, if there is one.
    fn special(&mut self, word: &mut Word, quoted: bool) -> Parsing<bool> {
        match self.peek() {
            Some(b'\'') => self.single_quoted(word)?,
            Some(b'"') => {
                self.at += 1;
                self.double_quoted(word)?;
            }
            Some(b'$') => self.dollar(word, quoted)?,
            Some(b'`') => self.backquoted(word, quoted)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `NAME=`, `NAME+=` or `NAME[…]=` at the start of a word.
    fn assignment_name(&mut self, position: Position, word: &mut Word) -> Parsing<()> {
        if position.assigning != Assigning::Element {
            while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                let run = self.run(|byte| !(byte.is_ascii_alphanumeric() || byte == b'_'));
                word.push(Kind::Bare, run);
            }
            if word.bare().is_none_or(|name| identifier(name) != name.len()) {
                return Ok(());
            }
        }
        if self.peek() == Some(b'[') && position.assigning != Assigning::Plain {
            self.at += 1;
            word.push(Kind::Bare, "[");
            self.nested(|parser| parser.balanced(b'[', b']', word))?;
            word.push(Kind::Bare, "]");
        }
        let append = self.peek() == Some(b'+') && self.second() == Some(b'=');
        if append {
            self.at += 1;
        }
        if (append || !word.parts.is_empty()) && self.eat(b'=') {
            word.push(Kind::Bare, if append { "+=" } else { "=" });
            word.value_from = Some(word.parts.len());
        } else if append {
            word.push(Kind::Bare, "+");
        }
        Ok(())
    }

    /// The rest of `NAME=(…)`.
    fn array(&mut self, word: &mut Word) -> Parsing<()> {
        self.at += 1;
        let mut source = String::from("(");
        loop {
            self.skip_newlines();
            if self.eat(b')') {
                break;
            }
            let element =
                self.word(Position { assigning: Assigning::Element, ..Position::default() })?;
            if source.len() > 1 {
                source.push(' ');
            }
            source.push_str(&element.text());
        }
        source.push(')');
        word.push(Kind::Variable, &source);
        Ok(())
    }

    /// Everything up to the `close` that matches an `open` already taken; quotes and expansions
    /// inside keep their meaning, all else is literal.
    pub(super) fn balanced(&mut self, open: u8, close: u8, word: &mut Word) -> Parsing<()> {
        let mut depth = 0_usize;
        loop {
            let byte = self.peek().ok_or(Halt)?;
            if byte == b'\\' {
                self.at += 1;
                let escaped = self.character();
                word.push(Kind::Quoted, escaped);
            } else if byte == close && depth == 0 {
                self.at += 1;
                return Ok(());
            } else if byte == open || byte == close {
                if byte == open {
                    depth += 1;
                } else {
                    depth -= 1;
                }
                let sign = self.character();
                word.push(Kind::Bare, sign);
            } else if !self.special(word, false)? {
                let run = self.run(|byte| {
                    byte == open
                        || byte == close
                        || matches!(byte, b'\\' | b'\'' | b'"' | b'$' | b'`')
                });
                word.push(Kind::Bare, run);
            }
        }
    }

    fn single_quoted(&mut self, word: &mut Word) -> Parsing<()> {
        self.at += 1;
        let text = self.run(|byte| byte == b'\'');
        word.push(Kind::Quoted, text);
        self.closing(b'\'')
    }

    /// Takes the quote that ends a literal run.
    fn closing(&mut self, quote: u8) -> Parsing<()> {
        if self.raw(0) != Some(quote) {
            return Err(Halt);
        }
        self.at += 1;
        Ok(())
    }

    /// The rest of a double-quoted string (POSIX 2.2.3).
    fn double_quoted(&mut self, word: &mut Word) -> Parsing<()> {
        word.push(Kind::Quoted, "");
        loop {
            if self.peek().ok_or(Halt)? == b'"' {
                self.at += 1;
                return Ok(());
            }
            self.quoted_piece(word, b'"')?;
        }
    }

    /// One piece of text in which only `\`, `$` and backquotes are special: that of a
    /// double-quoted string or of an unquoted here-document, where `quote` is no byte.
    pub(super) fn quoted_piece(&mut self, word: &mut Word, quote: u8) -> Parsing<()> {
        match self.peek() {
            Some(b'\\') => {
                let next = self.raw(1);
                let special = matches!(next, Some(b'$' | b'`' | b'\\')) || next == Some(quote);
                if !special {
                    word.push(Kind::Quoted, "\\");
                }
                self.at += 1;
                if special {
                    let escaped = self.character();
                    word.push(Kind::Quoted, escaped);
                }
                Ok(())
            }
            Some(b'$') => self.dollar(word, true),
            Some(b'`') => self.backquoted(word, quote == b'"'),
            _ => {
                let run = self.run(|byte| byte == quote || matches!(byte, b'\\' | b'$' | b'`'));
                word.push(Kind::Quoted, run);
                Ok(())
            }
        }
    }

    /// Whatever begins with `$`.
    fn dollar(&mut self, word: &mut Word, quoted: bool) -> Parsing<()> {
        let start = self.at;
        match self.second() {
            Some(b'(') => {
                self.take_dollar();
                if self.second() != Some(b'(') {
                    self.at += 1;
                    self.command_substitution()?;
                } else if self.double_parenthesis()? {
                    return self.arithmetic_expansion(word);
                } else {
                    self.subshell_substitution()?;
                }
                word.push(Kind::Computed, "");
            }
            Some(b'{') => {
                self.take_dollar();
                self.at += 1;
                self.nested(|parser| parser.braced(word, quoted))?;
            }
            Some(b'[') => {
                self.take_dollar();
                self.at += 1;
                let mut inner = Word::default();
                self.nested(|parser| parser.balanced(b'[', b']', &mut inner))?;
                self.note_arithmetic(&inner);
                word.push(Kind::Variable, &format!("$[{}]", inner.text()));
            }
            Some(b'\'') if !quoted => {
                self.take_dollar();
                self.ansi_quoted(word)?;
            }
            Some(b'"') if !quoted => {
                self.take_dollar();
                self.at += 1;
                self.double_quoted(word)?;
            }
            Some(byte)
                if byte.is_ascii_alphanumeric()
                    || matches!(byte, b'_' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') =>
            {
                self.take_dollar();
                let name = self.parameter_name();
                self.parameter(word, quoted, &name, &format!("${name}"));
            }
            _ => {
                self.at = start + 1;
                word.push(if quoted { Kind::Quoted } else { Kind::Bare }, "$");
            }
        }
        Ok(())
    }

    /// Takes the `$` and any continuation behind it.
    fn take_dollar(&mut self) {
        self.at += 1;
        self.peek();
    }

    /// A variable's name, a digit, or a special parameter (POSIX 2.5.2); line continuations in a
    /// name vanish.
    fn parameter_name(&mut self) -> String {
        let mut name = String::new();
        if self.raw(0).is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_') {
            while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                name.push_str(self.run(|byte| !(byte.is_ascii_alphanumeric() || byte == b'_')));
            }
        } else {
            name.push_str(self.character());
        }
        name
    }

    /// The value of a known variable, or the parameter as it stands in `source`.
    fn parameter(&mut self, word: &mut Word, quoted: bool, name: &str, source: &str) {
        match self.known(name) {
            Some(value) => {
                word.expanded = true;
                word.push(if quoted { Kind::Quoted } else { Kind::Value }, &value);
            }
            None => word.push(Kind::Variable, source),
        }
    }

    /// The rest of `${…}`: the first `}` that is neither quoted nor in an expansion closes.
    fn braced(&mut self, word: &mut Word, quoted: bool) -> Parsing<()> {
        let mut inner = Word::default();
        loop {
            match self.peek().ok_or(Halt)? {
                b'}' => break,
                b'\\' => {
                    self.at += 1;
                    let escaped = self.character();
                    inner.push(Kind::Bare, escaped);
                }
                b'<' | b'>' if !quoted && self.second() == Some(b'(') => {
                    self.process_substitution(&mut inner)?;
                }
                _ if self.special(&mut inner, quoted)? => {}
                _ => {
                    let first = self.character();
                    inner.push(Kind::Bare, first);
                    let run = self.run(|byte| {
                        matches!(byte, b'}' | b'\\' | b'<' | b'>' | b'\'' | b'"' | b'$' | b'`')
                    });
                    inner.push(Kind::Bare, run);
                }
            }
        }
        self.at += 1;
        let text = inner.text();
        let operator = text.get(identifier(&text)..).unwrap_or_default();
        if operator.starts_with('=') || operator.starts_with(":=") {
            self.shared.variables.forget();
        }
        let name = inner.bare().unwrap_or_default();
        self.parameter(word, quoted, name, &format!("${{{text}}}"));
        Ok(())
    }

    /// `$((…))`, with the `$` taken.
    fn arithmetic_expansion(&mut self, word: &mut Word) -> Parsing<()> {
        let inner = self.nested(Self::arithmetic)?;
        word.push(Kind::Variable, &format!("$(({}))", inner.text()));
        Ok(())
    }

    /// `((…))`, known to be arithmetic; only what it substitutes runs.
    pub(super) fn arithmetic(&mut self) -> Parsing<Word> {
        let mut inner = Word::default();
        self.expect(b'(')?;
        self.expect(b'(')?;
        self.balanced(b'(', b')', &mut inner)?;
        self.expect(b')')?;
        self.note_arithmetic(&inner);
        Ok(inner)
    }

    /// An arithmetic expression may assign.
    fn note_arithmetic(&mut self, inner: &Word) {
        let text = inner.text();
        if text.contains('=') || text.contains("++") || text.contains("--") {
            self.shared.variables.forget();
        }
    }

    /// `$'…'` with the `$` taken (bash manual, "ANSI-C Quoting").
    fn ansi_quoted(&mut self, word: &mut Word) -> Parsing<()> {
        self.at += 1;
        let start = self.at;
        while self.raw(0).is_some_and(|byte| byte != b'\'') {
            let width = if self.raw(0) == Some(b'\\') { 2 } else { 1 };
            self.at = self.end.min(self.at + width);
        }
        let text = ansi_unescape(self.slice_from(start));
        word.push(Kind::Quoted, &text);
        self.closing(b'\'')
    }

    /// The word behind `<<`: its text without quotes, and whether it had any.
    pub(super) fn delimiter(&mut self) -> Parsing<(String, bool)> {
        let start = self.at;
        let mut word = Word::default();
        let mut quoted = false;
        while let Some(byte) = self.peek() {
            match byte {
                b'\\' => {
                    self.at += 1;
                    quoted = true;
                    let escaped = self.character();
                    word.push(Kind::Quoted, escaped);
                }
                b'\'' => {
                    quoted = true;
                    self.single_quoted(&mut word)?;
                }
                b'"' => {
                    quoted = true;
                    self.at += 1;
                    self.plain_double_quoted(&mut word)?;
                }
                b'$' if matches!(self.second(), Some(b'\'' | b'"')) => {
                    self.take_dollar();
                    if self.raw(0) == Some(b'\'') {
                        quoted = true;
                        self.ansi_quoted(&mut word)?;
                    }
                }
                b'`' => {
                    let from = self.at;
                    self.at += 1;
                    self.run(|byte| byte == b'`');
                    self.closing(b'`')?;
                    word.push(Kind::Bare, self.slice_from(from));
                }
                _ if breaks(byte) => break,
                _ => {
                    let character = self.character();
                    word.push(Kind::Bare, character);
                }
            }
        }
        if self.at == start { Err(Halt) } else { Ok((word.text(), quoted)) }
    }

    /// A double-quoted string in which nothing is expanded.
    fn plain_double_quoted(&mut self, word: &mut Word) -> Parsing<()> {
        loop {
            match self.peek().ok_or(Halt)? {
                b'"' => return self.closing(b'"'),
                b'\\' if matches!(self.raw(1), Some(b'$' | b'`' | b'"' | b'\\')) => self.at += 1,
                _ => {}
            }
            let character = self.character();
            word.push(Kind::Quoted, character);
        }
    }
}

/// True when the last byte of `word` makes a following `(` an extended pattern.
fn opens_pattern(word: &Word) -> bool {
    word.parts.last().is_some_and(|part| {
        part.kind == Kind::Bare && part.text.ends_with(['?', '*', '+', '@', '!'])
    })
}
