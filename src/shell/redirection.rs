//! Redirections and here-documents (POSIX XCU 2.7).

use super::lexer::Position;
use super::parser::{Command, Halt, Parser, Parsing, Redirection};
use super::words::{Kind, Word};

/// More here-documents than this on one line are an error in bash.
const MAX_HEREDOCS: usize = 16;

/// A here-document whose body has yet to come.
pub(super) struct Heredoc {
    delimiter: String,
    quoted: bool,
    strip_tabs: bool,
    command: Option<usize>,
    depth: u32,
}

impl Parser<'_, '_> {
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
    pub(super) fn redirection(
        &mut self,
        index: Option<usize>,
        command: &mut Command,
    ) -> Parsing<()> {
        let op = self.redirection_operator()?;
        self.skip_blanks();
        // Digits before another redirection belong to that one (POSIX 2.3, IO_NUMBER).
        let number = !op.ends_with('&')
            && self.peek().is_some_and(|byte| byte.is_ascii_digit())
            && self.skip_descriptor();
        if number || !self.at_word() {
            return Err(Halt);
        }
        let target = match op {
            // To bash the dash is a sign of its own: `2>&-x` closes, and `x` is a word.
            "<&" | ">&" if self.peek() == Some(b'-') => {
                self.at += 1;
                let mut dash = Word { span: self.at - 1..self.at, ..Word::default() };
                dash.push(Kind::Bare, "-");
                dash
            }
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
        const OPERATORS: &[&str] =
            &["&>>", "<<<", "<<-", "&>", "<<", "<&", "<>", ">>", ">&", ">|", "<", ">"];
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
        let mut target = Word { span: start..self.at, ..Word::default() };
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
    pub(super) fn read_heredocs(&mut self) {
        while let Some(heredoc) = self.heredocs.pop_front() {
            let start = self.at;
            let body_end = self.heredoc_end(&heredoc);
            let resume = self.at;
            let mut body = Word::default();
            if heredoc.quoted {
                body.push(Kind::Quoted, self.text.get(start..body_end).unwrap_or_default());
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
            if let Some(command) =
                heredoc.command.and_then(|index| self.shared.commands.get_mut(index))
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
            if quoted || escapes.is_multiple_of(2) || self.at == self.end {
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
        self.scope.joined = true;
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
}
