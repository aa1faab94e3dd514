//! Regular expressions: the syntax of Rust's `regex` crate, searched in linear time.
//!
//! A pattern is read into a tree (`parser`), the tree becomes a program of a few instructions
//! (`program`), and all threads of that program walk the text side by side (`search`). What is
//! known: literals and their escapes, `.`, classes with ranges, nesting, POSIX names and the
//! operations `&&` `--` `~~`, `\d \s \w \p{…}`, groups, alternation, greedy and lazy repetition,
//! anchors and word boundaries, and the flags `i m s U u x R`. `classes` says which `\p{…}` there
//! are.
//!
//! Promises: at most (size of the program) × (length of the text) steps, whatever both are; a
//! program has at most [`MAX_SIZE`] instructions, refused by arithmetic before any is made; nesting
//! is bounded; an error names its place and the way out. Of all matches the leftmost counts, and of
//! those the one a backtracking engine would find first. Never: backtracks, looks around, refers
//! back to a group, matches a part of a character.

mod classes;
mod parser;
mod program;
mod search;
mod tables;

use parser::Syntax;
use program::Program;
use std::cell::OnceCell;
use std::fmt;
use std::ops::Range;

/// The most instructions that a pattern may come to; `x{100}` makes 100 of an `x`.
pub(crate) const MAX_SIZE: usize = 8192;

/// Why a text is no pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Error {
    /// Byte offset in the pattern.
    pub(crate) offset: usize,
    problem: &'static str,
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Error { offset, problem } = self;
        write!(out, "invalid regex at byte {offset}: {problem}")
    }
}

/// A pattern that was read; its program is made when it is first searched for.
#[derive(Clone, Debug)]
pub(crate) struct Regex {
    syntax: Syntax,
    program: OnceCell<Program>,
}

impl Regex {
    /// Reads a pattern.
    pub(crate) fn new(pattern: &str) -> Result<Regex, Error> {
        Ok(Regex { syntax: parser::parse(pattern)?, program: OnceCell::new() })
    }

    fn program(&self) -> &Program {
        self.program.get_or_init(|| Program::new(&self.syntax))
    }

    /// Whether the pattern matches somewhere in `text`.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        search::search(self.program(), text, 0, search::Wanted::Any).is_some()
    }

    /// The leftmost match in `text`, as a byte range.
    #[cfg_attr(not(test), expect(dead_code, reason = "rules ask whether, tests ask where"))]
    pub(crate) fn find(&self, text: &str) -> Option<Range<usize>> {
        self.find_at(text, 0)
    }

    /// The leftmost match that starts at `start` or behind; what stands before `start` still counts
    /// for anchors and word boundaries. `start` must lie on a character border.
    pub(crate) fn find_at(&self, text: &str, start: usize) -> Option<Range<usize>> {
        search::search(self.program(), text, start, search::Wanted::Leftmost)
    }
}

#[cfg(test)]
mod tests;
