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
}

impl Word {
    /// Appends `text`, joining it to a preceding part of the same literal kind.
    pub(super) fn push(&mut self, kind: Kind, text: &str) {
        let joins = self.value_from != Some(self.parts.len());
        match self.parts.last_mut() {
            Some(last) if joins && last.kind == kind => last.text.push_str(text),
            _ => self.parts.push(Part {
                text: text.to_owned(),
                kind,
            }),
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
            [
                Part {
                    text,
                    kind: Kind::Bare,
                },
            ] => Some(text),
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
        .map(|part| {
            if part.kind == Kind::Computed {
                "$!"
            } else {
                part.text.as_str()
            }
        })
        .collect()
}

/// The joined text of `parts`.
pub(super) fn concat(parts: &[Part]) -> String {
    parts.iter().map(|part| part.text.as_str()).collect()
}

/// True when no part depends on the run.
pub(super) fn is_static(parts: &[Part]) -> bool {
    parts
        .iter()
        .all(|part| matches!(part.kind, Kind::Bare | Kind::Quoted | Kind::Value))
}

/// Length in bytes of the identifier (POSIX "name") at the start of `text`.
pub(super) fn identifier(text: &str) -> usize {
    let bytes = text.as_bytes();
    match bytes.first() {
        Some(first) if first.is_ascii_alphabetic() || *first == b'_' => bytes
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
            .count(),
        _ => 0,
    }
}

/// What is left of the expansion limits while one text is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    words: usize,
    bytes: usize,
}

/// Limits of one word (SPEC: "a brace expansion beyond 1,024 words or 64 KiB").
const WORD_LIMIT: Budget = Budget {
    words: 1_024,
    bytes: 64 * 1_024,
};

impl Budget {
    /// The limits of a text of `length` bytes: many words, each within its own limit, must not
    /// multiply it.
    pub(super) fn of_text(length: usize) -> Self {
        Self {
            words: 4 * WORD_LIMIT.words + length / 16,
            bytes: 4 * WORD_LIMIT.bytes + length,
        }
    }

    /// Takes `words` and `bytes` away; false, taking nothing, when they are not there.
    pub(super) fn take(&mut self, words: usize, bytes: usize) -> bool {
        let enough = words <= self.words && bytes <= self.bytes;
        if enough {
            self.words -= words;
            self.bytes -= bytes;
        }
        enough
    }
}

/// One byte-sized symbol of a word under brace expansion: a live brace sign or a literal piece.
enum Symbol<'w> {
    Open,
    Comma,
    Close,
    Text(&'w str, Kind),
}

/// A node of the brace grammar.
enum Node<'w> {
    Text(&'w str, Kind),
    Choice(Vec<Vec<Node<'w>>>),
    Range(Vec<String>),
}

/// Brace expansion (bash manual, "Brace Expansion"): the words `word` stands for, or None when
/// they exceed the limits. The size is counted before anything is built.
pub(super) fn expand_braces(word: &Word, budget: &mut Budget) -> Option<Vec<Vec<Part>>> {
    let symbols = symbols(word);
    if !symbols.iter().any(|symbol| matches!(symbol, Symbol::Open)) {
        return Some(vec![word.parts.clone()]);
    }
    let nodes = parse_braces(symbols);
    let (words, bytes) = size(&nodes);
    if words == 1 {
        return Some(vec![word.parts.clone()]);
    }
    if words > WORD_LIMIT.words || bytes > WORD_LIMIT.bytes || !budget.take(words, bytes) {
        return None;
    }
    Some(build(&nodes))
}

/// Cuts the word at its live `{`, `,` and `}`.
fn symbols(word: &Word) -> Vec<Symbol<'_>> {
    let mut symbols = Vec::new();
    for part in &word.parts {
        if part.kind != Kind::Bare {
            symbols.push(Symbol::Text(&part.text, part.kind));
            continue;
        }
        let mut rest = part.text.as_str();
        while let Some(at) = rest.find(['{', ',', '}']) {
            let (before, from) = rest.split_at(at);
            if !before.is_empty() {
                symbols.push(Symbol::Text(before, Kind::Bare));
            }
            symbols.push(match from.as_bytes().first() {
                Some(b'{') => Symbol::Open,
                Some(b',') => Symbol::Comma,
                _ => Symbol::Close,
            });
            rest = from.get(1..).unwrap_or_default();
        }
        if !rest.is_empty() {
            symbols.push(Symbol::Text(rest, Kind::Bare));
        }
    }
    symbols
}

/// A brace that is open: its finished alternatives and the one being read.
#[derive(Default)]
struct Level<'w> {
    done: Vec<Vec<Node<'w>>>,
    current: Vec<Node<'w>>,
}

/// One pass with a stack of open braces; a brace without its partner, or without a comma or a
/// range inside, is literal.
fn parse_braces(symbols: Vec<Symbol<'_>>) -> Vec<Node<'_>> {
    let mut levels = vec![Level::default()];
    for symbol in symbols {
        let outermost = levels.len() == 1;
        let Some(level) = levels.last_mut() else {
            break;
        };
        match symbol {
            Symbol::Text(text, kind) => level.current.push(Node::Text(text, kind)),
            Symbol::Comma if outermost => level.current.push(Node::Text(",", Kind::Bare)),
            Symbol::Close if outermost => level.current.push(Node::Text("}", Kind::Bare)),
            Symbol::Comma => level.done.push(std::mem::take(&mut level.current)),
            Symbol::Open => levels.push(Level::default()),
            Symbol::Close => {
                let closed = close(levels.pop().unwrap_or_default());
                if let Some(outer) = levels.last_mut() {
                    outer.current.extend(closed);
                }
            }
        }
    }
    while levels.len() > 1 {
        let open = literal(levels.pop().unwrap_or_default());
        if let Some(outer) = levels.last_mut() {
            outer.current.extend(open);
        }
    }
    levels.pop().unwrap_or_default().current
}

/// A brace that met its `}`.
fn close(mut level: Level<'_>) -> Vec<Node<'_>> {
    if level.done.is_empty() {
        if let [Node::Text(text, Kind::Bare)] = level.current.as_slice()
            && let Some(range) = range(text)
        {
            return vec![Node::Range(range)];
        }
        let mut nodes = literal(level);
        nodes.push(Node::Text("}", Kind::Bare));
        return nodes;
    }
    level.done.push(level.current);
    vec![Node::Choice(level.done)]
}

/// The nodes of a brace that is no expansion, with its signs as text.
fn literal(level: Level<'_>) -> Vec<Node<'_>> {
    let mut nodes = vec![Node::Text("{", Kind::Bare)];
    for alternative in level.done {
        nodes.extend(alternative);
        nodes.push(Node::Text(",", Kind::Bare));
    }
    nodes.extend(level.current);
    nodes
}

/// `1..5`, `a..e`, `01..10..2`: the terms, None for anything else. A range longer than the limit
/// gives one term more than it and stops.
fn range(text: &str) -> Option<Vec<String>> {
    let mut fields = text.split("..");
    let (first, last, step) = (fields.next()?, fields.next()?, fields.next());
    if fields.next().is_some() {
        return None;
    }
    let step = step
        .map_or(Some(1), |step| step.parse::<i64>().ok())?
        .unsigned_abs()
        .max(1);
    let letter = |field: &str| match field.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Some(i64::from(*letter)),
        _ => None,
    };
    if let (Some(first), Some(last)) = (letter(first), letter(last)) {
        return Some(terms(first, last, step, |term| {
            u8::try_from(term).map_or_else(|_| String::new(), |byte| char::from(byte).to_string())
        }));
    }
    let padded = |field: &str| {
        field.trim_start_matches(['-', '+']).starts_with('0')
            && field.trim_start_matches(['-', '+']).len() > 1
    };
    let width = if padded(first) || padded(last) {
        first.len().max(last.len())
    } else {
        0
    };
    Some(terms(
        first.parse().ok()?,
        last.parse().ok()?,
        step,
        |term| format!("{term:0width$}"),
    ))
}

/// The terms from `first` to `last`, in either direction.
fn terms(first: i64, last: i64, step: u64, show: impl Fn(i64) -> String) -> Vec<String> {
    let count = first.abs_diff(last) / step;
    let count = count.min(WORD_LIMIT.words as u64 + 1);
    let term = |index: u64| {
        let offset = i64::try_from(index.saturating_mul(step)).unwrap_or(i64::MAX);
        if first <= last {
            first.saturating_add(offset)
        } else {
            first.saturating_sub(offset)
        }
    };
    (0..=count).map(|index| show(term(index))).collect()
}

/// How many words and bytes `nodes` expands to.
fn size(nodes: &[Node<'_>]) -> (usize, usize) {
    let (mut words, mut bytes) = (1_usize, 0_usize);
    for node in nodes {
        let (node_words, node_bytes) = match node {
            Node::Text(text, _) => (1, text.len()),
            Node::Range(terms) => (terms.len(), terms.iter().map(String::len).sum()),
            Node::Choice(choices) => choices
                .iter()
                .map(|choice| size(choice))
                .fold((0_usize, 0_usize), |sum, each| {
                    (sum.0.saturating_add(each.0), sum.1.saturating_add(each.1))
                }),
        };
        // Every word so far meets every word of the node, so each side's bytes are repeated.
        bytes = bytes
            .saturating_mul(node_words)
            .saturating_add(node_bytes.saturating_mul(words));
        words = words.saturating_mul(node_words);
    }
    (words, bytes)
}

/// Builds the words, leftmost choice slowest, as bash orders them.
fn build(nodes: &[Node<'_>]) -> Vec<Vec<Part>> {
    let mut words: Vec<Vec<Part>> = vec![Vec::new()];
    for node in nodes {
        let tails: Vec<Vec<Part>> = match node {
            Node::Text(text, kind) => vec![vec![Part {
                text: (*text).to_owned(),
                kind: *kind,
            }]],
            Node::Range(terms) => terms
                .iter()
                .map(|term| {
                    vec![Part {
                        text: term.clone(),
                        kind: Kind::Bare,
                    }]
                })
                .collect(),
            Node::Choice(choices) => choices.iter().flat_map(|choice| build(choice)).collect(),
        };
        words = words
            .iter()
            .flat_map(|word| {
                tails
                    .iter()
                    .map(move |tail| word.iter().chain(tail).cloned().collect())
            })
            .collect();
    }
    // An alternative that leaves nothing at all leaves no word ("{,}" alone).
    words.retain(|word| {
        word.iter().any(|part| {
            part.kind == Kind::Quoted || !part.text.is_empty() || part.kind == Kind::Computed
        })
    });
    words
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
                word.push(Part {
                    text: field.to_owned(),
                    kind: Kind::Value,
                });
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
                self.lose()
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
