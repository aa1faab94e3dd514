//! Words: what a word is made of after quote removal, brace expansion, and the variables whose
//! value the text itself shows.
//!
//! Never: guesses a value. What is not known before the command runs is marked so.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Where a stretch of a word comes from; expansions treat each kind differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Unquoted and literal: braces and patterns in it are live.
    Bare,
    /// Quoted or escaped: every byte means itself.
    Quoted,
    /// The unquoted value of a variable that is known: split at blanks, braces are literal.
    Value,
    /// A parameter, an arithmetic expression or an array, kept as its source; value unknown.
    Variable,
    /// A command or process substitution: no text, value unknown.
    Computed,
}

/// One stretch of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) text: String,
    pub(super) kind: Kind,
}

/// A word as the parser read it: quotes removed, nothing expanded but known variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) parts: Vec<Part>,
    /// Bytes of the text that was being read.
    pub(super) span: Range<usize>,
    /// For `NAME=value`: the index of the value's first part; the parts before spell `NAME=`.
    pub(super) value_from: Option<usize>,
    /// The value of a known variable is in it.
    pub(super) expanded: bool,
}

impl Word {
    /// Appends `text`, joining it to a preceding part of the same literal kind.
    pub(super) fn push(&mut self, kind: Kind, text: &str) {
        let joins = self.value_from != Some(self.parts.len());
        match self.parts.last_mut() {
            Some(last) if joins && last.kind == kind => last.text.push_str(text),
            _ => self.parts.push(Part { text: text.to_owned(), kind }),
        }
    }

    /// The whole text; substitutions contribute none.
    pub(super) fn text(&self) -> String {
        concat(&self.parts)
    }

    /// True when the value is known before the command runs.
    pub(super) fn is_static(&self) -> bool {
        is_static(&self.parts)
    }

    /// The text of a word that is one unquoted literal.
    pub(super) fn bare(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part { text, kind: Kind::Bare }] => Some(text),
            _ => None,
        }
    }

    /// The parts behind `NAME=`, of an assignment.
    pub(super) fn value(&self) -> Option<&[Part]> {
        self.parts.get(self.value_from?..)
    }
}

/// The text as a script that is read again: a substitution becomes `$!`, a parameter whose value
/// nobody knows, so that words beside it keep their place.
pub(super) fn script(parts: &[Part]) -> String {
    parts
        .iter()
        .map(|part| if part.kind == Kind::Computed { "$!" } else { part.text.as_str() })
        .collect()
}

/// The joined text of `parts`.
pub(super) fn concat(parts: &[Part]) -> String {
    parts.iter().map(|part| part.text.as_str()).collect()
}

/// True when no part depends on the run.
pub(super) fn is_static(parts: &[Part]) -> bool {
    parts.iter().all(|part| matches!(part.kind, Kind::Bare | Kind::Quoted | Kind::Value))
}

/// Length in bytes of the identifier (POSIX "name") at the start of `text`.
pub(super) fn identifier(text: &str) -> usize {
    let bytes = text.as_bytes();
    match bytes.first() {
        Some(first) if first.is_ascii_alphabetic() || *first == b'_' => {
            bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
        }
        _ => 0,
    }
}

/// Splits at the blanks of known values, as field splitting with the standard `IFS` does.
pub(super) fn split_values(parts: Vec<Part>) -> Vec<Vec<Part>> {
    if parts.iter().all(|part| part.kind != Kind::Value) {
        return vec![parts];
    }
    let (mut words, mut word): (Vec<Vec<Part>>, Vec<Part>) = (Vec::new(), Vec::new());
    for part in parts {
        if part.kind != Kind::Value {
            word.push(part);
            continue;
        }
        for (index, field) in part.text.split([' ', '\t', '\n']).enumerate() {
            if index > 0 && !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            if !field.is_empty() {
                word.push(Part { text: field.to_owned(), kind: Kind::Value });
            }
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Variables that the shell itself changes: never taken for known.
const SELF_CHANGING: &[&str] = &[
    "_",
    "COPROC",
    "DIRSTACK",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "FUNCNAME",
    "GROUPS",
    "HISTCMD",
    "LINENO",
    "MAPFILE",
    "OLDPWD",
    "OPTARG",
    "OPTIND",
    "PIPESTATUS",
    "PPID",
    "PWD",
    "RANDOM",
    "REPLY",
    "SECONDS",
    "SRANDOM",
    "UID",
];

/// The variables whose value the text shows.
#[derive(Debug, Default)]
pub(super) struct Variables {
    known: BTreeMap<String, String>,
    functions: BTreeSet<String>,
    /// Set by what can change any variable at any later time (`trap`, `source`, attributes).
    lost: bool,
}

impl Variables {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.known.get(name).map(String::as_str)
    }

    /// `name` now has `value`, or one that is not known.
    pub(super) fn assign(&mut self, name: &str, value: Option<String>) {
        if name == "IFS" {
            self.lose();
        }
        match value {
            Some(value)
                if !self.lost && !SELF_CHANGING.contains(&name) && !name.starts_with("BASH") =>
            {
                self.known.insert(name.to_owned(), value);
            }
            _ => {
                self.known.remove(name);
            }
        }
    }

    pub(super) fn define_function(&mut self, name: String) {
        self.functions.insert(name);
    }

    /// Anything may have changed by now.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }

    /// Anything may change at any time from now on.
    pub(super) fn lose(&mut self) {
        self.lost = true;
        self.known.clear();
    }

    /// What a simple command may do to the variables: a function of the text or a command not
    /// known may change all; others those they name (`read x`, `printf -v x`, `let x+=1`).
    pub(super) fn after_command(&mut self, words: &[Word]) {
        let Some((head, rest)) = words.split_first() else {
            return;
        };
        let name = head.text();
        match name.as_str() {
            "eval" | "source" | "." | "trap" => self.lose(),
            "declare" | "typeset" | "local"
                if rest.iter().any(|word| word.text().starts_with(['-', '+'])) =>
            {
                self.lose();
            }
            _ if self.known.is_empty() => {}
            _ if !head.is_static() || self.functions.contains(&name) => self.forget(),
            _ => {
                for word in rest {
                    let text = word.text();
                    if let Some(mentioned) = text.get(..identifier(&text)) {
                        self.known.remove(mentioned);
                    }
                }
            }
        }
    }
}
