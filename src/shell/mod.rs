#![doc = include_str!("../manual/05-shell.md")]
//!
//! Promises: linear in the text, an end on every input, no panic; spans lie on character borders.
//! Never: runs anything, touches the disk, guesses a value it did not see assigned.
//!
//! `lexer` reads words, `parser` and `compound` the grammar, `words` expands, `peel` knows the
//! wrappers, `reenter` what is a script again, `workspace` where a command runs.

use std::ops::Range;
use std::path::{Path, PathBuf};

mod ansi;
mod braces;
mod compound;
mod lexer;
mod parser;
mod peel;
mod redirection;
mod reenter;
mod scripts;
mod substitution;
#[cfg(test)]
mod tests;
mod words;
mod workspace;
mod wrappers;

use parser::{Command, Parser, Shared};
use reenter::Reader;
use words::{Kind, Word};
use workspace::Directories;

/// A wrapper that the user's settings add to the known ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wrapper {
    /// Basename of the program.
    pub(crate) name: String,
    /// Its options that take a value, as written: `-C`, `--file`.
    pub(crate) value_options: Vec<String>,
}

/// What is known about the call around the text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options<'a> {
    /// Where the text runs.
    pub(crate) cwd: Option<&'a Path>,
    /// The session's directory, the workspace; `cwd` where it is not known.
    pub(crate) session_cwd: Option<&'a Path>,
    /// The home directory, for `~` and a bare `cd`.
    pub(crate) home: Option<&'a Path>,
    /// Wrappers from the user's settings.
    pub(crate) wrappers: &'a [Wrapper],
}

/// The segments of one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parsed {
    /// In source order; a command stands before those inside its substitutions and scripts.
    pub(crate) segments: Vec<Segment>,
    /// False when the text ends in an open quote, here-document or construct, or bash refuses it.
    pub(crate) complete: bool,
    /// True when nesting or an expansion went beyond the limits, so that not all was read.
    pub(crate) limited: bool,
    /// The assignments before the command word of the first simple command.
    leading: Vec<(String, Option<String>)>,
}

/// One simple command that would run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Basename of the command word; empty for a command of redirections only.
    pub(crate) head: String,
    /// Arguments without quotes and redirections; substitutions contribute no text.
    pub(crate) args: Vec<String>,
    /// True when first in its pipeline.
    pub(crate) pipeline_start: bool,
    /// Whether it reaches into the workspace; `None` when that is not known.
    pub(crate) in_workspace: Option<bool>,
    /// 0 on the command line, one more inside each substitution and nested script.
    pub(crate) depth: u32,
    /// What was peeled, outermost first: keywords, assignments, wrappers, git's own options.
    pub(crate) wrappers: Vec<String>,
    /// Redirections in order; those of a compound command stand on its first command.
    pub(crate) redirects: Vec<Redirect>,
    /// Assignments before the command word.
    pub(crate) assignments: Vec<Assignment>,
    /// True when the head, or the script a shell would run, is not known before it runs.
    pub(crate) dynamic: bool,
    /// For each argument, whether its value is not known before it runs.
    pub(crate) dynamic_args: Vec<bool>,
    /// Bytes of the whole command in the original text, when it stands there.
    pub(crate) span: Option<Range<usize>>,
    /// Where head and arguments stand, for a command at depth 0 that can be rewritten.
    pub(crate) spans: Option<Spans>,
    /// What a here-document or here-string feeds it, when that text is known.
    pub(crate) stdin: Option<String>,
    /// Where it runs, `cd`s before it included; `None` when not known.
    pub(crate) directory: Option<PathBuf>,
}

/// A redirection, its descriptor left out; the target of a here-document is its delimiter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Redirect {
    /// The operator: `>`, `>>`, `<`, `&>`, `<<<` …
    pub(crate) op: String,
    /// The word behind it, unquoted.
    pub(crate) target: String,
}

/// `NAME=value` before a command word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    /// The variable, with a subscript where there is one.
    pub(crate) name: String,
    /// The value, unquoted.
    pub(crate) value: String,
}

/// Where the words of a segment stand in the original text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spans {
    /// The command word, with its quotes and directory.
    pub(crate) head: Range<usize>,
    /// Each argument; `None` for one that an expansion made.
    pub(crate) args: Vec<Option<Range<usize>>>,
}

impl Parsed {
    /// True when the first simple command has a command word and, before it, the literal
    /// assignment `name=value` with the value unquoted.
    pub(crate) fn grants_permission(&self, name: &str, value: &str) -> bool {
        self.leading
            .iter()
            .any(|(assigned, unquoted)| assigned == name && unquoted.as_deref() == Some(value))
    }
}

/// Reads `text` as a shell would.
pub(crate) fn parse(text: &str, options: &Options<'_>) -> Parsed {
    let mut shared = Shared::new(Directories::new(options.cwd, options.home), copies(text));
    let well = Parser::new(text, &mut shared, true).script();
    let leading = leading(shared.commands.first());
    let mut reader = Reader::new(options, shared.copies, text.len());
    let mut parsed = Parsed {
        complete: well && !shared.incomplete,
        limited: shared.limited,
        leading,
        ..Parsed::default()
    };
    reader.read_text(&shared, &mut parsed);
    parsed
}

/// How many bytes may be read again (scripts in words, escaped backquotes): a few times the text,
/// so that copies nested in copies stay linear. Beyond that the text counts as limited.
fn copies(text: &str) -> usize {
    4 * 1_024 + 8 * text.len()
}

/// The leading assignments of the first simple command, when it has a command word; the value
/// only where it is one unquoted literal.
fn leading(first: Option<&Command>) -> Vec<(String, Option<String>)> {
    let first = first.filter(|command| command.depth == 0 && !command.words.is_empty());
    let assignments = first.map(|command| command.assignments.as_slice()).unwrap_or_default();
    let pair = |word: &Word| {
        let name = word.parts.first()?.text.strip_suffix('=')?.to_owned();
        let value = match word.value()? {
            [part] if part.kind == Kind::Bare => Some(part.text.clone()),
            _ => None,
        };
        Some((name, value))
    };
    assignments.iter().filter_map(pair).collect()
}

/// The simple commands before peeling, re-entry and brace expansion, for tests against bash:
/// words, pipeline start and depth of each; and whether the text is complete.
#[cfg(test)]
pub(crate) fn raw(text: &str) -> (Vec<(Vec<String>, bool, u32)>, bool) {
    let mut shared = Shared::new(Directories::default(), copies(text));
    let well = Parser::new(text, &mut shared, true).script();
    let complete = well && !shared.limited;
    let words = |word: &Word| {
        if word.text().is_empty() && !word.is_static() { "$()".to_owned() } else { word.text() }
    };
    let rows = shared.commands.iter().map(|command| {
        (command.words.iter().map(words).collect(), command.pipeline_start, command.depth)
    });
    (rows.collect(), complete)
}
