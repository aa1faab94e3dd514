//! The parser: the shell grammar (POSIX XCU 2.10, with bash's additions) down to the simple
//! commands, which are all it keeps. Compound commands are in `compound`.
//!
//! Promises: one pass, nesting of at most [`MAX_NESTING`], an end on every input.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use super::lexer::{Assigning, Position, breaks};
use super::redirection::Heredoc;
use super::words::{Kind, Variables, Word, concat, identifier, is_static};
use super::workspace::{Directories, Directory};

/// How deep constructs may stand in each other, as the manual page `shell` states it.
pub(super) const MAX_NESTING: u32 = 256;

/// Builtins whose arguments are read as assignments (bash's "declaration commands").
const DECLARATIONS: &[&str] =
    &["alias", "declare", "eval", "export", "local", "readonly", "typeset"];

/// The text cannot be read on from here.
#[derive(Debug)]
pub(super) struct Halt;

/// The outcome of reading a construct.
pub(super) type Parsing<T> = Result<T, Halt>;

/// A redirection; `target` is the delimiter for a here-document.
#[derive(Debug)]
pub(super) struct Redirection {
    pub(super) op: &'static str,
    pub(super) target: Word,
}

/// A simple command as it stands in the text: nothing peeled, re-entered or brace-expanded.
#[derive(Debug, Default)]
pub(super) struct Command {
    pub(super) words: Vec<Word>,
    pub(super) assignments: Vec<Word>,
    pub(super) redirections: Vec<Redirection>,
    /// Keywords right before it (`then`, `!`, `time` …).
    pub(super) keywords: Vec<&'static str>,
    pub(super) pipeline_start: bool,
    /// The command of the stage before, where that is a simple one.
    pub(super) piped_from: Option<usize>,
    pub(super) depth: u32,
    /// From its first word, assignment or redirection to its last.
    pub(super) span: Range<usize>,
    /// False inside text that was unescaped before it was read: spans then mean nothing.
    pub(super) in_text: bool,
    /// What a here-document or here-string feeds it.
    pub(super) stdin: Option<Word>,
    /// Where it runs.
    pub(super) directory: Directory,
}

/// What all parsers of one text share.
pub(super) struct Shared {
    pub(super) commands: Vec<Command>,
    pub(super) variables: Variables,
    pub(super) directories: Directories,
    pub(super) nesting: u32,
    pub(super) limited: bool,
    /// A here-document or the whole text ended too early, or the grammar was not met.
    pub(super) incomplete: bool,
    /// How many bytes may still be copied to be read again (scripts, backquotes with escapes).
    pub(super) copies: usize,
}

impl Shared {
    pub(super) fn new(directories: Directories, copies: usize) -> Self {
        Self {
            commands: Vec::new(),
            variables: Variables::default(),
            directories,
            nesting: 0,
            limited: false,
            incomplete: false,
            copies,
        }
    }
}

/// What changes on the way into a construct and comes back on the way out.
#[derive(Clone, Copy, Default)]
pub(super) struct Scope {
    pub(super) depth: u32,
    /// What is read here may not run.
    pub(super) conditional: bool,
    /// What is read here may run more than once, or later.
    pub(super) repeated: bool,
    /// What is read here stands in a here-document whose lines a backslash joins.
    pub(super) joined: bool,
}

/// A parser of `text` from `at` to `end`.
pub(super) struct Parser<'t, 's> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) shared: &'s mut Shared,
    pub(super) scope: Scope,
    /// The next simple command reads from a pipe.
    pub(super) piped: bool,
    /// False in a copy of a part of the original text.
    pub(super) in_text: bool,
    /// Keywords seen since the last command.
    pub(super) keywords: Vec<&'static str>,
    pub(super) heredocs: VecDeque<Heredoc>,
    /// Where each `(` that follows another `(` is closed, for the text up to `paired`.
    pub(super) pairs: BTreeMap<usize, usize>,
    pub(super) paired: usize,
}

impl<'t, 's> Parser<'t, 's> {
    pub(super) fn new(text: &'t str, shared: &'s mut Shared, in_text: bool) -> Self {
        Self {
            text,
            at: 0,
            end: text.len(),
            shared,
            scope: Scope::default(),
            piped: false,
            in_text,
            keywords: Vec::new(),
            heredocs: VecDeque::new(),
            pairs: BTreeMap::new(),
            paired: 0,
        }
    }

    /// A whole script. What stands behind something that bash refuses is read all the same, from
    /// the next separator on, for another shell may run it. Returns whether all was well.
    pub(super) fn script(&mut self) -> bool {
        let mut well = true;
        while self.at < self.end {
            let outcome = self.list();
            if outcome.is_err() || self.at < self.end {
                well = false;
                self.heredocs.clear();
                self.keywords.clear();
                self.piped = false;
                self.run(|byte| matches!(byte, b'\n' | b';' | b'&' | b'|' | b'(' | b')'));
                self.at += 1;
            }
        }
        self.read_heredocs();
        well
    }

    /// Runs `inner` one level deeper; what it changed of the scope comes back, whatever happened.
    pub(super) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsing<T>) -> Parsing<T> {
        if self.shared.nesting >= MAX_NESTING {
            self.shared.limited = true;
            return Err(Halt);
        }
        let scope = self.scope;
        self.shared.nesting += 1;
        let outcome = inner(self);
        self.shared.nesting -= 1;
        self.scope = scope;
        outcome
    }

    /// Like `nested`, in a process of its own: directory and variables come back too.
    pub(super) fn subshell<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Parsing<T>,
    ) -> Parsing<T> {
        let directory = self.shared.directories.current();
        let outcome = self.nested(|parser| {
            parser.scope.conditional = true;
            inner(parser)
        });
        self.shared.directories.set(directory);
        outcome
    }

    /// The value of a variable, where the text shows it beyond doubt.
    pub(super) fn known(&mut self, name: &str) -> Option<String> {
        if self.scope.repeated {
            return None;
        }
        let value = self.shared.variables.get(name)?.to_owned();
        let affordable = value.len() <= self.shared.copies;
        self.shared.copies -= if affordable { value.len() } else { 0 };
        affordable.then_some(value)
    }

    // Lists and pipelines.

    /// A list up to the end, a closing sign or a closing keyword; whether it held a command.
    pub(super) fn list(&mut self) -> Parsing<bool> {
        let mut any = false;
        loop {
            self.skip_newlines();
            if self.at_closing() {
                return Ok(any);
            }
            let directory = self.shared.directories.current();
            self.and_or()?;
            any = true;
            self.skip_blanks();
            match self.peek() {
                Some(b';') if !matches!(self.second(), Some(b';' | b'&')) => self.at += 1,
                Some(b'&') => {
                    // In the background: nothing it does reaches this shell.
                    self.at += 1;
                    self.shared.directories.set(directory);
                    self.shared.variables.forget();
                }
                Some(b'\n') => {}
                _ => return Ok(any),
            }
        }
    }

    /// A list that must hold a command.
    pub(super) fn full_list(&mut self) -> Parsing<()> {
        if self.list()? { Ok(()) } else { Err(Halt) }
    }

    fn at_closing(&mut self) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => matches!(self.second(), Some(b';' | b'&')),
            _ => matches!(
                self.keyword(),
                Some("then" | "do" | "done" | "fi" | "elif" | "else" | "esac" | "}")
            ),
        }
    }

    /// Skips blanks, comments and newlines; here-documents begin behind a newline.
    pub(super) fn skip_newlines(&mut self) {
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'\n') {
                return;
            }
            self.at += 1;
            self.read_heredocs();
        }
    }

    fn and_or(&mut self) -> Parsing<()> {
        let conditional = self.scope.conditional;
        let outcome = self.and_or_pipelines();
        self.scope.conditional = conditional;
        outcome
    }

    fn and_or_pipelines(&mut self) -> Parsing<()> {
        self.pipeline()?;
        loop {
            self.skip_blanks();
            let operator = self.peek();
            if !matches!(operator, Some(b'&' | b'|')) || self.second() != operator {
                return Ok(());
            }
            self.at += 1;
            self.peek();
            self.at += 1;
            self.skip_newlines();
            self.scope.conditional = true;
            let directory = self.shared.directories.current();
            self.pipeline()?;
            // Behind `||` nobody knows whether a `cd` ran.
            if operator == Some(b'|') && self.shared.directories.current() != directory {
                self.shared.directories.lose();
            }
        }
    }

    fn pipeline(&mut self) -> Parsing<()> {
        self.skip_blanks();
        if self.prefixes() && matches!(self.peek(), None | Some(b';' | b'\n' | b')')) {
            return Ok(());
        }
        let directory = self.shared.directories.current();
        let mut previous = self.command(None)?;
        let mut stages = 1_usize;
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'|') || self.second() == Some(b'|') {
                break;
            }
            self.at += 1;
            self.eat(b'&');
            self.skip_newlines();
            // Each stage is a process of its own.
            self.shared.directories.set(directory);
            self.piped = true;
            previous = self.command(previous)?;
            self.piped = false;
            stages += 1;
        }
        if stages > 1 {
            self.shared.directories.set(directory);
        }
        if let Some(index) = previous {
            self.note_effects(index, stages == 1);
        }
        Ok(())
    }

    /// `!` and `time` before a pipeline; whether there was one.
    fn prefixes(&mut self) -> bool {
        let mut any = false;
        while let Some(keyword @ ("!" | "time")) = self.keyword() {
            self.take_keyword(keyword);
            any = true;
            if keyword == "time" {
                for option in ["-p", "--"] {
                    self.skip_blanks();
                    self.take_text(option);
                }
            }
            self.skip_blanks();
        }
        any
    }

    /// What the command at `index`, just read, does to variables.
    fn note_effects(&mut self, index: usize, alone: bool) {
        let Some(command) = self.shared.commands.get(index) else {
            return;
        };
        let certain = alone && !self.scope.conditional && !self.scope.repeated;
        let variables = &mut self.shared.variables;
        let head = command.words.first().and_then(Word::bare);
        let declares = head
            .is_some_and(|head| DECLARATIONS.contains(&head) && head != "eval" && head != "alias");
        variables.after_command(&command.words);
        let assigned: &[Word] = if declares {
            command.words.get(1..).unwrap_or_default()
        } else if command.words.is_empty() {
            &command.assignments
        } else {
            &[]
        };
        for word in assigned {
            if let Some((name, value)) = assignment_of(word) {
                variables.assign(name, value.filter(|_| certain));
            }
        }
    }

    // Simple commands.

    /// One command; the index of a simple one.
    fn command(&mut self, previous: Option<usize>) -> Parsing<Option<usize>> {
        self.skip_blanks();
        if self.compound()? {
            return Ok(None);
        }
        match self.keyword() {
            // `time` behind a pipe is an ordinary word to bash.
            None | Some("in" | "time") => self.simple(previous),
            Some(_) => Err(Halt),
        }
    }

    /// Opens the entry of a simple command, so that it stands before those inside its words.
    pub(super) fn open_command(&mut self, previous: Option<usize>) -> usize {
        let piped = std::mem::take(&mut self.piped);
        self.shared.commands.push(Command {
            keywords: std::mem::take(&mut self.keywords),
            pipeline_start: !piped,
            piped_from: previous.filter(|_| piped),
            depth: self.scope.depth,
            span: self.at..self.at,
            in_text: self.in_text,
            directory: self.shared.directories.current(),
            ..Command::default()
        });
        self.shared.commands.len() - 1
    }

    pub(super) fn simple(&mut self, previous: Option<usize>) -> Parsing<Option<usize>> {
        let index = self.open_command(previous);
        let mut command = Command::default();
        let outcome = self.simple_parts(index, &mut command);
        let Some(entry) = self.shared.commands.get_mut(index) else {
            return outcome.map(|_| None);
        };
        let function = matches!(outcome, Ok(true));
        if function || (outcome.is_err() && command.words.is_empty()) {
            // A definition runs nothing by itself; of a command cut short nothing runs. Its empty
            // entry stays, so that the places of others hold.
            self.keywords = std::mem::take(&mut entry.keywords);
            outcome?;
            self.function_body(command.words.first().map(Word::text))?;
            return Ok(None);
        }
        entry.words = command.words;
        entry.assignments = command.assignments;
        entry.redirections = command.redirections;
        entry.span.end = command.span.end.max(entry.span.start);
        let broken = outcome.is_err();
        self.shared.directories.after_command(self.shared.commands.get(index));
        if broken { Err(Halt) } else { Ok(Some(index)) }
    }

    /// Reads words, assignments and redirections into `command`; true for a function's `NAME()`.
    fn simple_parts(&mut self, index: usize, command: &mut Command) -> Parsing<bool> {
        let mut declares = false;
        loop {
            self.skip_blanks();
            let Some(byte) = self.peek() else { break };
            let redirects = match byte {
                b'<' | b'>' => self.second() != Some(b'('),
                b'&' => self.second() == Some(b'>'),
                b'0'..=b'9' | b'{' => self.skip_descriptor(),
                _ => false,
            };
            if redirects {
                self.redirection(Some(index), command)?;
            } else if byte == b'(' {
                let names = command.words.len() == 1
                    && command.assignments.is_empty()
                    && command.redirections.is_empty();
                self.at += 1;
                self.skip_blanks();
                return if names && self.eat(b')') { Ok(true) } else { Err(Halt) };
            } else if breaks(byte) && !matches!(byte, b'<' | b'>') {
                break;
            } else {
                let first = command.words.is_empty();
                // Behind an assignment and a redirection bash knows no more arrays.
                let arrays = command.assignments.is_empty() || command.redirections.is_empty();
                let assigning = match first {
                    true if arrays => Assigning::Array,
                    true => Assigning::Plain,
                    false if declares => Assigning::Array,
                    false => Assigning::No,
                };
                let position = Position { assigning, pattern: !first, regex: false };
                let word = self.word(position)?;
                if first && word.value_from.is_some() {
                    command.assignments.push(word);
                } else {
                    declares |=
                        first && word.bare().is_some_and(|name| DECLARATIONS.contains(&name));
                    command.words.push(word);
                }
            }
            command.span.end = self.at;
        }
        let empty = command.words.is_empty()
            && command.assignments.is_empty()
            && command.redirections.is_empty();
        if empty { Err(Halt) } else { Ok(false) }
    }

    /// True where a word begins.
    pub(super) fn at_word(&mut self) -> bool {
        self.peek().is_some_and(|byte| !breaks(byte))
            || (matches!(self.peek(), Some(b'<' | b'>')) && self.second() == Some(b'('))
    }

    /// Takes the descriptor of a redirection, `2>` or `{name}>`, if one stands here.
    pub(super) fn skip_descriptor(&mut self) -> bool {
        let start = self.at;
        if self.eat(b'{') {
            let name = self.run(breaks);
            let length = identifier(name);
            if length == 0 || name.get(length..) != Some("}") {
                self.at = start;
            }
        } else {
            self.run(|byte| !byte.is_ascii_digit());
        }
        let found = self.at > start
            && matches!(self.peek(), Some(b'<' | b'>'))
            && self.second() != Some(b'(');
        if !found {
            self.at = start;
        }
        found
    }
}

/// The name an assignment sets and the value, where it is a known string.
fn assignment_of(word: &Word) -> Option<(&str, Option<String>)> {
    let spelled = word.parts.first()?.text.as_str();
    let name = spelled.get(..identifier(spelled))?;
    let value = word.value()?;
    let plain =
        word.value_from == Some(1) && spelled.get(name.len()..) == Some("=") && is_static(value);
    let tilde = value.iter().any(|part| part.kind == Kind::Bare && part.text.contains('~'));
    Some((name, (plain && !tilde).then(|| concat(value))))
}
