//! The parser: the shell grammar (POSIX XCU 2.10, with bash's additions) down to the simple
//! commands, which are all it keeps. Compound commands are in `compound`.
//!
//! Promises: one pass, nesting of at most [`MAX_NESTING`], an end on every input.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use super::lexer::{Position, breaks};
use super::words::{Kind, Variables, Word, concat, identifier, is_static};
use super::workspace::{Directories, Directory};

/// How deep constructs may stand in each other (SPEC 5).
pub(super) const MAX_NESTING: u32 = 256;

/// More here-documents than this on one line are an error in bash.
const MAX_HEREDOCS: usize = 16;

/// Builtins whose arguments are read as assignments (bash's "declaration commands").
const DECLARATIONS: &[&str] = &[
    "alias", "declare", "eval", "export", "local", "readonly", "typeset",
];

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

/// A here-document whose body has yet to come.
struct Heredoc {
    delimiter: String,
    quoted: bool,
    strip_tabs: bool,
    command: Option<usize>,
    depth: u32,
}

/// What changes on the way into a construct and comes back on the way out.
#[derive(Clone, Copy, Default)]
pub(super) struct Scope {
    pub(super) depth: u32,
    /// What is read here may not run.
    pub(super) conditional: bool,
    /// What is read here may run more than once, or later.
    pub(super) repeated: bool,
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
    heredocs: VecDeque<Heredoc>,
    /// Where each `(` that follows another `(` is closed, for the text up to `paired`.
    pairs: BTreeMap<usize, usize>,
    paired: usize,
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

    /// A whole script. What bash refuses ends with its line; the lines behind it are read all the
    /// same, for another shell may run them. Returns whether all was well.
    pub(super) fn script(&mut self) -> bool {
        let mut well = true;
        while self.at < self.end {
            let outcome = self.list();
            if outcome.is_err() || self.at < self.end {
                well = false;
                self.heredocs.clear();
                self.keywords.clear();
                if self.shared.limited {
                    break;
                }
                self.run(|byte| byte == b'\n');
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
        if self.prefixes() && matches!(self.peek(), None | Some(b';' | b'\n')) {
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
                    if self.raw_word() == option {
                        self.at += option.len();
                    }
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
    fn open_command(&mut self, previous: Option<usize>) -> usize {
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
            // A definition runs nothing by itself; of a command cut short nothing runs.
            self.keywords = std::mem::take(&mut entry.keywords);
            self.shared.commands.remove(index);
            outcome?;
            self.function_body(command.words.first().map(Word::text))?;
            return Ok(None);
        }
        entry.words = command.words;
        entry.assignments = command.assignments;
        entry.redirections = command.redirections;
        entry.span.end = command.span.end;
        let broken = outcome.is_err();
        self.shared
            .directories
            .after_command(self.shared.commands.get(index));
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
                return if names && self.eat(b')') {
                    Ok(true)
                } else {
                    Err(Halt)
                };
            } else if breaks(byte) && !matches!(byte, b'<' | b'>') {
                break;
            } else {
                let first = command.words.is_empty();
                let position = Position {
                    assignment: first || declares,
                    pattern: !first,
                    ..Position::default()
                };
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

    /// Takes the descriptor of a redirection, `2>` or `{name}>`, if one stands here.
    fn skip_descriptor(&mut self) -> bool {
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

    // Redirections and here-documents.

    /// The redirections behind a compound command; they stand on the first command inside it, or,
    /// where there is none, on an entry of their own.
    pub(super) fn trailing_redirections(&mut self, first: usize) -> Parsing<()> {
        let mut command = Command::default();
        let start = self.at;
        loop {
            self.skip_blanks();
            let redirects = match self.peek() {
                Some(b'<' | b'>') => self.second() != Some(b'('),
                Some(b'&') => self.second() == Some(b'>'),
                Some(b'0'..=b'9' | b'{') => self.skip_descriptor(),
                _ => false,
            };
            if !redirects {
                break;
            }
            if command.redirections.is_empty()
                && self
                    .shared
                    .commands
                    .get(first)
                    .is_none_or(|inner| inner.depth != self.scope.depth)
            {
                self.open_command(None);
            }
            self.redirection(Some(first), &mut command)?;
        }
        if let Some(inner) = self.shared.commands.get_mut(first) {
            if inner.words.is_empty()
                && inner.redirections.is_empty()
                && inner.assignments.is_empty()
            {
                inner.span = start..self.at;
            }
            inner.redirections.append(&mut command.redirections);
        }
        Ok(())
    }

    /// One redirection, its descriptor already taken.
    fn redirection(&mut self, index: Option<usize>, command: &mut Command) -> Parsing<()> {
        let op = self.redirection_operator()?;
        self.skip_blanks();
        if self
            .peek()
            .is_none_or(|byte| breaks(byte) && self.second() != Some(b'('))
        {
            return Err(Halt);
        }
        let target = match op {
            "<<" | "<<-" => self.open_heredoc(op, index)?,
            _ => self.word(Position::default())?,
        };
        if op == "<<<"
            && let Some(fed) = index.and_then(|index| self.shared.commands.get_mut(index))
        {
            fed.stdin = Some(target.clone());
        }
        command.redirections.push(Redirection { op, target });
        Ok(())
    }

    /// The longest operator at the position (POSIX 2.3, rule 2).
    fn redirection_operator(&mut self) -> Parsing<&'static str> {
        const OPERATORS: &[&str] = &[
            "&>>", "<<<", "<<-", "&>", "<<", "<&", "<>", ">>", ">&", ">|", "<", ">",
        ];
        let start = self.at;
        for op in OPERATORS {
            if op.bytes().all(|byte| self.eat(byte)) {
                return Ok(op);
            }
            self.at = start;
        }
        Err(Halt)
    }

    fn open_heredoc(&mut self, op: &str, command: Option<usize>) -> Parsing<Word> {
        if self.heredocs.len() == MAX_HEREDOCS {
            return Err(Halt);
        }
        let start = self.at;
        let (delimiter, quoted) = self.delimiter()?;
        let mut target = Word {
            span: start..self.at,
            ..Word::default()
        };
        target.push(Kind::Quoted, &delimiter);
        let depth = self.scope.depth;
        self.heredocs.push_back(Heredoc {
            delimiter,
            quoted,
            strip_tabs: op == "<<-",
            command,
            depth,
        });
        Ok(target)
    }

    /// The bodies of the here-documents opened on the line that ended (POSIX 2.7.4).
    fn read_heredocs(&mut self) {
        while let Some(heredoc) = self.heredocs.pop_front() {
            let start = self.at;
            let body_end = self.heredoc_end(&heredoc);
            let resume = self.at;
            let mut body = Word::default();
            if heredoc.quoted {
                body.push(
                    Kind::Quoted,
                    self.text.get(start..body_end).unwrap_or_default(),
                );
            } else {
                self.heredoc_expansions(start, body_end, heredoc.depth, &mut body);
            }
            if heredoc.strip_tabs {
                for part in &mut body.parts {
                    part.text = part
                        .text
                        .split_inclusive('\n')
                        .map(|line| line.trim_start_matches('\t'))
                        .collect();
                }
            }
            self.at = resume;
            if let Some(command) = heredoc
                .command
                .and_then(|index| self.shared.commands.get_mut(index))
            {
                command.stdin = Some(body);
            }
        }
    }

    /// Moves behind the line that ends the body; returns where the body ends. Without that line
    /// the rest of the text is body.
    fn heredoc_end(&mut self, heredoc: &Heredoc) -> usize {
        while self.at < self.end {
            let line_start = self.at;
            let mut line = self.heredoc_line(heredoc.quoted);
            if heredoc.strip_tabs {
                line = line.trim_start_matches('\t').to_owned();
            }
            if line == heredoc.delimiter {
                return line_start;
            }
        }
        self.shared.incomplete = true;
        self.end
    }

    /// One line of a here-document, its newline taken; when the delimiter is not quoted, a
    /// backslash before the newline joins the next line to it.
    fn heredoc_line(&mut self, quoted: bool) -> String {
        let mut line = String::new();
        loop {
            let piece = self.run(|byte| byte == b'\n');
            self.at = self.end.min(self.at + 1);
            let escapes = piece.len() - piece.trim_end_matches('\\').len();
            if quoted || escapes % 2 == 0 || self.at == self.end {
                line.push_str(piece);
                return line;
            }
            line.push_str(piece.get(..piece.len() - 1).unwrap_or_default());
        }
    }

    /// The substitutions in the body of an unquoted here-document.
    fn heredoc_expansions(&mut self, start: usize, end: usize, depth: u32, body: &mut Word) {
        let outer = std::mem::take(&mut self.heredocs);
        let (scope, text_end) = (self.scope, self.end);
        (self.at, self.end) = (start, end);
        self.scope.depth = depth;
        while self.peek().is_some() {
            // What does not close is an error only when it runs.
            if self.quoted_piece(body, b'\n').is_err() {
                break;
            }
            if self.raw(0) == Some(b'\n') {
                self.at += 1;
                body.push(Kind::Quoted, "\n");
            }
        }
        (self.scope, self.end) = (scope, text_end);
        self.heredocs = outer;
    }

    // Substitutions.

    /// The rest of `$(…)`, `<(…)` or `>(…)`.
    pub(super) fn command_substitution(&mut self) -> Parsing<()> {
        let outer = std::mem::take(&mut self.heredocs);
        let keywords = std::mem::take(&mut self.keywords);
        let piped = std::mem::take(&mut self.piped);
        let outcome = self.subshell(|parser| {
            parser.scope.depth += 1;
            parser.list()?;
            parser.expect(b')')
        });
        // A here-document opened inside and not yet read has its body behind the outer line.
        let inner = std::mem::replace(&mut self.heredocs, outer);
        self.heredocs.extend(inner);
        (self.keywords, self.piped) = (keywords, piped);
        outcome
    }

    pub(super) fn process_substitution(&mut self, word: &mut Word) -> Parsing<()> {
        self.at += 1;
        self.expect(b'(')?;
        self.command_substitution()?;
        word.push(Kind::Computed, "");
        Ok(())
    }

    /// `` `…` ``: what it holds is parsed when it runs, so a mistake in it spoils nothing else.
    pub(super) fn backquoted(&mut self, word: &mut Word, quoted: bool) -> Parsing<()> {
        let start = self.at + 1;
        self.at = start;
        let mut escapes = false;
        while self.raw(0).ok_or(Halt)? != b'`' {
            let escaped = self.raw(0) == Some(b'\\');
            escapes |= escaped;
            self.at += if escaped { 2 } else { 1 };
        }
        let close = self.at;
        let inside = self.slice_from(start);
        word.push(Kind::Computed, "");
        let outer = std::mem::take(&mut self.heredocs);
        let keywords = std::mem::take(&mut self.keywords);
        let piped = std::mem::take(&mut self.piped);
        let outcome = self.subshell(|parser| {
            parser.scope.depth += 1;
            if escapes {
                return parser.unescaped(inside, quoted);
            }
            let end = std::mem::replace(&mut parser.end, close);
            parser.at = start;
            parser.script();
            parser.end = end;
            Ok(())
        });
        self.heredocs = outer;
        (self.keywords, self.piped) = (keywords, piped);
        self.at = close + 1;
        outcome
    }

    /// Reads the text of backquotes with one level of backslashes taken off (POSIX 2.6.3).
    fn unescaped(&mut self, inside: &str, quoted: bool) -> Parsing<()> {
        if inside.len() > self.shared.copies {
            self.shared.limited = true;
            return Err(Halt);
        }
        self.shared.copies -= inside.len();
        let mut script = String::with_capacity(inside.len());
        let mut characters = inside.chars().peekable();
        while let Some(character) = characters.next() {
            let drops = character == '\\'
                && characters.peek().is_some_and(|next| {
                    matches!(next, '$' | '`' | '\\') || (quoted && *next == '"')
                });
            match characters.peek() {
                Some(next) if drops => script.push(*next),
                _ => script.push(character),
            }
            if drops {
                characters.next();
            }
        }
        let mut inner = Parser::new(&script, self.shared, false);
        inner.scope = self.scope;
        inner.script();
        Ok(())
    }

    // Telling `((` arithmetic from two subshells.

    /// At `((`: true when the inner parenthesis closes right before another `)`, which is how bash
    /// tells arithmetic from a nested subshell. Each byte is scanned once, however the pairs nest.
    pub(super) fn double_parenthesis(&mut self) -> Parsing<bool> {
        self.peek();
        let mut inner = self.at + 1;
        while self.text.as_bytes().get(inner) == Some(&b'\\')
            && self.text.as_bytes().get(inner + 1) == Some(&b'\n')
        {
            inner += 2;
        }
        if inner >= self.paired {
            self.pair(inner);
        }
        match self.pairs.get(&inner) {
            Some(close) => {
                Ok(self.text.as_bytes().get(close + 1) == Some(&b')') && close + 1 < self.end)
            }
            None => Err(Halt),
        }
    }

    /// Notes where the parenthesis at `from`, and those inside it, are closed.
    fn pair(&mut self, from: usize) {
        let bytes = self.text.as_bytes().get(..self.end).unwrap_or_default();
        let mut open: Vec<(u8, usize)> = vec![(b'(', from)];
        let mut at = from + 1;
        while let (Some(&byte), Some(&(kind, opened))) = (bytes.get(at), open.last()) {
            let dollar = at > 0 && bytes.get(at - 1) == Some(&b'$');
            match byte {
                b'\\' => at += 1,
                b'\'' if kind != b'"' => at = close_of(bytes, at, b'\'', dollar),
                b'`' => at = close_of(bytes, at, b'`', true),
                b'"' if kind == b'"' => {
                    open.pop();
                }
                b'"' => open.push((b'"', at)),
                b'(' if kind != b'"' || dollar => open.push((b'(', at)),
                b'{' if dollar => open.push((b'{', at)),
                b'}' if kind == b'{' => {
                    open.pop();
                }
                b')' if kind == b'(' => {
                    open.pop();
                    self.pairs.insert(opened, at);
                }
                _ => {}
            }
            at += 1;
        }
        self.paired = at;
    }
}

/// Where a quote opened at `at` closes, or the end of the text.
fn close_of(bytes: &[u8], mut at: usize, quote: u8, escapes: bool) -> usize {
    at += 1;
    while let Some(&byte) = bytes.get(at) {
        if byte == quote {
            return at;
        }
        at += if byte == b'\\' && escapes { 2 } else { 1 };
    }
    at
}

/// The name an assignment sets and the value, where it is a known string.
fn assignment_of(word: &Word) -> Option<(&str, Option<String>)> {
    let spelled = word.parts.first()?.text.as_str();
    let name = spelled.get(..identifier(spelled))?;
    let value = word.value()?;
    let plain =
        word.value_from == Some(1) && spelled.get(name.len()..) == Some("=") && is_static(value);
    let tilde = value
        .iter()
        .any(|part| part.kind == Kind::Bare && part.text.contains('~'));
    Some((name, (plain && !tilde).then(|| concat(value))))
}
