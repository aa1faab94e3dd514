//! Compound commands: groups, loops, conditions, functions (POSIX XCU 2.9.4, bash manual
//! "Compound Commands"). Every body and every condition counts; none of them is a command itself.

use super::lexer::{Position, breaks};
use super::parser::{Halt, Parser, Parsing};
use super::words::{Kind, Word};

/// Words with a meaning where a command may start.
const KEYWORDS: &[&str] = &[
    "!", "[[", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function",
    "if", "in", "select", "then", "time", "until", "while", "{", "}", "]]",
];

/// Keywords that begin a compound command.
const STARTS: &[&str] = &["[[", "case", "for", "if", "select", "until", "while", "{"];

/// Operators of `[[ ]]` with one operand, without the dash.
const UNARY: &str = "abcdefghknoprstuvwxzGLNORS";

/// Operators of `[[ ]]` with two operands.
const BINARY: &[&str] =
    &["=", "==", "!=", "=~", "-nt", "-ot", "-ef", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

impl Parser<'_, '_> {
    /// The keyword at the position, left where it is.
    pub(super) fn keyword(&mut self) -> Option<&'static str> {
        let first = self.peek()?;
        if !(first.is_ascii_lowercase() || matches!(first, b'!' | b'[' | b']' | b'{' | b'}')) {
            return None;
        }
        KEYWORDS.iter().find(|keyword| self.at_text(keyword)).copied()
    }

    /// True where a word ends; `<(` and `>(` belong to it.
    fn at_break(&mut self) -> bool {
        match self.peek() {
            Some(b'<' | b'>') => self.second() != Some(b'('),
            next => next.is_none_or(breaks),
        }
    }

    /// Takes the keyword that `keyword` found.
    pub(super) fn take_keyword(&mut self, keyword: &'static str) {
        keyword.bytes().for_each(|byte| {
            self.eat(byte);
        });
        self.keywords.push(keyword);
    }

    /// Takes `keyword`, or stops.
    fn expect_keyword(&mut self, keyword: &'static str) -> Parsing<()> {
        if self.keyword() != Some(keyword) {
            return Err(Halt);
        }
        self.take_keyword(keyword);
        // A closing keyword stands before no command.
        if matches!(keyword, "fi" | "done" | "esac" | "}" | "in") {
            self.keywords.clear();
        }
        Ok(())
    }

    /// True when `text` stands here as a whole word; left where it is.
    pub(super) fn at_text(&mut self, text: &str) -> bool {
        let start = self.at;
        let found = self.take_text(text);
        self.at = start;
        found
    }

    /// Takes `text` where it stands as a whole word.
    pub(super) fn take_text(&mut self, text: &str) -> bool {
        let start = self.at;
        let found = text.bytes().all(|byte| self.eat(byte)) && self.at_break();
        if !found {
            self.at = start;
        }
        found
    }

    /// A compound command with its redirections, if one begins here.
    pub(super) fn compound(&mut self) -> Parsing<bool> {
        let first = self.shared.commands.len();
        if self.peek() == Some(b'(') {
            if self.second() == Some(b'(') && self.double_parenthesis()? {
                self.keywords.clear();
                self.nested(Self::arithmetic)?;
            } else {
                self.at += 1;
                self.subshell(Self::full_list)?;
                self.expect(b')')?;
            }
        } else {
            match self.keyword() {
                Some(keyword) if STARTS.contains(&keyword) => self.block(keyword)?,
                Some("function") => {
                    self.take_keyword("function");
                    self.keywords.clear();
                    self.function()?;
                    return Ok(true);
                }
                Some("coproc") => {
                    self.take_keyword("coproc");
                    self.coprocess()?;
                    return Ok(true);
                }
                _ => return Ok(false),
            }
        }
        self.keywords.clear();
        self.trailing_redirections(first)?;
        Ok(true)
    }

    /// The compound commands that begin with a keyword.
    fn block(&mut self, keyword: &'static str) -> Parsing<()> {
        self.take_keyword(keyword);
        if !matches!(keyword, "if" | "while" | "until") {
            self.keywords.clear();
        }
        let directory = self.shared.directories.current();
        let outcome = self.nested(|parser| {
            parser.scope.conditional = true;
            match keyword {
                "{" => parser.full_list().and_then(|()| parser.expect_keyword("}")),
                "if" => parser.if_clause(),
                "case" => parser.case_clause(),
                "[[" => parser.condition(),
                "while" | "until" => {
                    parser.scope.repeated = true;
                    parser.full_list()?;
                    parser.do_group()
                }
                _ => {
                    parser.scope.repeated = true;
                    parser.for_clause()
                }
            }
        });
        if keyword != "{" && self.shared.directories.current() != directory {
            self.shared.directories.lose();
        }
        outcome
    }

    fn do_group(&mut self) -> Parsing<()> {
        self.expect_keyword("do")?;
        self.full_list()?;
        self.expect_keyword("done")
    }

    fn if_clause(&mut self) -> Parsing<()> {
        loop {
            self.full_list()?;
            self.expect_keyword("then")?;
            self.full_list()?;
            match self.keyword() {
                Some("elif") => self.expect_keyword("elif")?,
                Some("else") => {
                    self.expect_keyword("else")?;
                    self.full_list()?;
                    return self.expect_keyword("fi");
                }
                _ => return self.expect_keyword("fi"),
            }
        }
    }

    fn case_clause(&mut self) -> Parsing<()> {
        self.skip_blanks();
        self.word(Position::default())?;
        self.skip_newlines();
        self.expect_keyword("in")?;
        loop {
            self.skip_newlines();
            if self.keyword() == Some("esac") {
                return self.expect_keyword("esac");
            }
            self.eat(b'(');
            loop {
                self.skip_blanks();
                self.word(Position { pattern: true, ..Position::default() })?;
                self.skip_blanks();
                if !self.eat(b'|') {
                    break;
                }
            }
            self.expect(b')')?;
            self.list()?;
            if self.eat(b';') {
                // `;;`, `;&` or `;;&`; `list` stops at no other `;`.
                self.eat(b';');
                self.eat(b'&');
            } else if self.keyword() != Some("esac") {
                return Err(Halt);
            }
        }
    }

    /// `for` and `select`.
    fn for_clause(&mut self) -> Parsing<()> {
        self.skip_blanks();
        if self.peek() == Some(b'(') && self.second() == Some(b'(') {
            self.arithmetic()?;
            self.skip_blanks();
            self.eat(b';');
        } else {
            let name = self.word(Position::default())?;
            self.shared.variables.assign(&name.text(), None);
            self.skip_newlines();
            if self.keyword() == Some("in") {
                self.expect_keyword("in")?;
                self.skip_blanks();
                while self.peek().is_some_and(|byte| !breaks(byte) || self.second() == Some(b'(')) {
                    self.word(Position { pattern: true, ..Position::default() })?;
                    self.skip_blanks();
                }
                if !self.eat(b';') && self.peek() != Some(b'\n') {
                    return Err(Halt);
                }
            } else {
                self.eat(b';');
            }
        }
        self.skip_newlines();
        if self.keyword() == Some("{") {
            self.expect_keyword("{")?;
            self.keywords.clear();
            self.full_list()?;
            return self.expect_keyword("}");
        }
        self.do_group()
    }

    /// The rest of `function NAME [()] body`.
    fn function(&mut self) -> Parsing<()> {
        self.skip_blanks();
        let name = self.word(Position::default())?;
        self.skip_blanks();
        if self.peek() == Some(b'(') {
            let start = self.at;
            self.at += 1;
            self.skip_blanks();
            if !self.eat(b')') {
                self.at = start;
            }
        }
        self.function_body(Some(name.text()))
    }

    /// A function's body: a compound command, which may run any number of times, later.
    pub(super) fn function_body(&mut self, name: Option<String>) -> Parsing<()> {
        self.skip_newlines();
        self.shared.variables.define_function(name.unwrap_or_default());
        self.subshell(|parser| {
            parser.scope.repeated = true;
            if parser.compound()? { Ok(()) } else { Err(Halt) }
        })
    }

    /// The rest of `coproc [NAME] command`: a name stands before compound commands only.
    fn coprocess(&mut self) -> Parsing<()> {
        self.skip_blanks();
        let start = self.at;
        self.run(|byte| breaks(byte) || matches!(byte, b'\\' | b'\'' | b'"' | b'$' | b'`'));
        let named = self.at > start && matches!(self.peek(), Some(b' ' | b'\t' | b'('));
        self.skip_blanks();
        let compound = self.peek() == Some(b'(')
            || self.keyword().is_some_and(|keyword| STARTS.contains(&keyword));
        if !named || !compound || self.keyword_at(start) {
            self.at = start;
        }
        self.subshell(|parser| {
            if !parser.compound()? {
                parser.simple(None)?;
            }
            Ok(())
        })
    }

    /// True when a keyword that begins a compound command stands at `start`.
    fn keyword_at(&mut self, start: usize) -> bool {
        let at = std::mem::replace(&mut self.at, start);
        let found = self.keyword().is_some_and(|keyword| STARTS.contains(&keyword));
        self.at = at;
        found
    }

    // `[[ … ]]`.

    fn condition(&mut self) -> Parsing<()> {
        self.condition_or()?;
        if self.take_text("]]") { Ok(()) } else { Err(Halt) }
    }

    /// Terms joined by `&&` and `||`.
    fn condition_or(&mut self) -> Parsing<()> {
        loop {
            self.condition_term()?;
            self.skip_newlines();
            let operator = self.peek();
            if !matches!(operator, Some(b'&' | b'|')) {
                return Ok(());
            }
            if self.second() != operator {
                return Err(Halt);
            }
            self.at += 1;
            self.peek();
            self.at += 1;
        }
    }

    fn condition_term(&mut self) -> Parsing<()> {
        self.skip_newlines();
        while self.take_text("!") {
            self.skip_newlines();
        }
        if self.eat(b'(') {
            self.nested(Self::condition_or)?;
            self.skip_newlines();
            return self.expect(b')');
        }
        let first = self.condition_word(Position::default())?;
        self.skip_blanks();
        let line_ends = self.peek() == Some(b'\n');
        self.skip_newlines();
        let unary = first
            .bare()
            .and_then(|text| text.strip_prefix('-'))
            .is_some_and(|operator| operator.len() == 1 && UNARY.contains(operator));
        if unary {
            return self.condition_word(Position::default()).map(|_| ());
        }
        let binary = match self.peek() {
            Some(b'<' | b'>') if self.second() != Some(b'(') => {
                self.at += 1;
                ""
            }
            _ => {
                if self.peek().is_none_or(breaks) || self.at_text("]]") {
                    // To bash a line may end behind a lone word, but not before `&&` or `||`.
                    let joined = matches!(self.peek(), Some(b'&' | b'|'));
                    return if line_ends && joined { Err(Halt) } else { Ok(()) };
                }
                *BINARY.iter().find(|operator| self.take_text(operator)).ok_or(Halt)?
            }
        };
        self.skip_blanks();
        let position = Position { pattern: true, regex: binary == "=~", ..Position::default() };
        self.condition_word(position).map(|_| ())
    }

    /// A word inside `[[ ]]`, which `]]` is not.
    fn condition_word(&mut self, position: Position) -> Parsing<Word> {
        if !position.regex {
            self.skip_newlines();
        }
        if self.at_text("]]") {
            return Err(Halt);
        }
        let word = self.word(position)?;
        if word.parts.iter().all(|part| part.kind == Kind::Bare && part.text.is_empty()) {
            Err(Halt)
        } else {
            Ok(word)
        }
    }
}
