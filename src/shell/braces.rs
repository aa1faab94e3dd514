//! Brace expansion (bash manual, "Brace Expansion"), within limits that are checked before anything
//! is built.

use super::parser::MAX_NESTING;
use super::words::{Kind, Part, Word};

/// What is left of the expansion limits while one text is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    words: usize,
    bytes: usize,
}

/// Limits of one word, as the manual page `shell` states them.
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
    Range(Sequence),
}

/// Brace expansion (bash manual, "Brace Expansion"): the words `word` stands for, or None when
/// they exceed the limits. The size is counted before anything is built.
pub(super) fn expand_braces(word: &Word, budget: &mut Budget) -> Option<Vec<Vec<Part>>> {
    let symbols = symbols(word);
    if !symbols.iter().any(|symbol| matches!(symbol, Symbol::Open)) {
        return Some(vec![word.parts.clone()]);
    }
    let nodes = parse_braces(&symbols)?;
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

/// For each symbol, whether it is a sign of a brace that expands: one that is closed and holds a
/// comma of its own or is a range. Linear, whatever is open or closed in whatever order.
fn live_signs(symbols: &[Symbol<'_>]) -> Vec<bool> {
    let mut live = vec![false; symbols.len()];
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    for (index, symbol) in symbols.iter().enumerate() {
        match symbol {
            Symbol::Text(..) => {}
            Symbol::Open => open.push((index, Vec::new())),
            Symbol::Comma => {
                if let Some((_, commas)) = open.last_mut() {
                    commas.push(index);
                }
            }
            Symbol::Close => {
                let Some((start, commas)) = open.pop() else {
                    continue;
                };
                if !commas.is_empty() || range_between(symbols, start, index).is_some() {
                    for sign in commas.into_iter().chain([start, index]) {
                        if let Some(flag) = live.get_mut(sign) {
                            *flag = true;
                        }
                    }
                }
            }
        }
    }
    live
}

/// The range that is all that stands between two braces.
fn range_between(symbols: &[Symbol<'_>], open: usize, close: usize) -> Option<Sequence> {
    match symbols.get(open + 1..close)? {
        [Symbol::Text(text, Kind::Bare)] => range(text),
        _ => None,
    }
}

/// A brace being read: its finished alternatives and the current one.
#[derive(Default)]
struct Level<'w> {
    done: Vec<Vec<Node<'w>>>,
    current: Vec<Node<'w>>,
}

/// The nodes of a word; `None` when braces stand too deep in each other.
fn parse_braces<'w>(symbols: &[Symbol<'w>]) -> Option<Vec<Node<'w>>> {
    let live = live_signs(symbols);
    let mut levels = vec![Level::default()];
    for (index, symbol) in symbols.iter().enumerate() {
        let live = live.get(index).copied().unwrap_or_default();
        if levels.len() > MAX_NESTING as usize {
            return None;
        }
        let level = levels.last_mut()?;
        match symbol {
            Symbol::Text(text, kind) => level.current.push(Node::Text(text, *kind)),
            Symbol::Open if live => levels.push(Level::default()),
            Symbol::Comma if live => level.done.push(std::mem::take(&mut level.current)),
            Symbol::Close if live => {
                let closed = close(levels.pop()?);
                levels.last_mut()?.current.push(closed);
            }
            Symbol::Open => level.current.push(Node::Text("{", Kind::Bare)),
            Symbol::Comma => level.current.push(Node::Text(",", Kind::Bare)),
            Symbol::Close => level.current.push(Node::Text("}", Kind::Bare)),
        }
    }
    Some(levels.pop()?.current)
}

/// A brace that met its `}`: a range where it holds no comma.
fn close(mut level: Level<'_>) -> Node<'_> {
    if let ([], [Node::Text(text, _)]) = (level.done.as_slice(), level.current.as_slice())
        && let Some(sequence) = range(text)
    {
        return Node::Range(sequence);
    }
    level.done.push(level.current);
    Node::Choice(level.done)
}

/// A sequence expression; its terms are made only when they are wanted.
struct Sequence {
    first: i64,
    last: i64,
    step: u64,
    letters: bool,
    /// Numbers are padded with zeros to this width.
    width: usize,
}

impl Sequence {
    fn count(&self) -> usize {
        usize::try_from(self.first.abs_diff(self.last) / self.step)
            .map_or(usize::MAX, |steps| steps.saturating_add(1))
    }

    /// The term at `index`, which is below `count`.
    fn term(&self, index: usize) -> String {
        let offset = i64::try_from((index as u64).saturating_mul(self.step)).unwrap_or(i64::MAX);
        let value = if self.first <= self.last {
            self.first.saturating_add(offset)
        } else {
            self.first.saturating_sub(offset)
        };
        match u8::try_from(value) {
            Ok(letter) if self.letters => char::from(letter).to_string(),
            _ => format!("{value:0width$}", width = self.width),
        }
    }

    /// At least the bytes of the longest term.
    fn longest(&self) -> usize {
        self.term(0)
            .len()
            .max(format!("{:0width$}", self.last, width = self.width).len())
    }
}

/// `1..5`, `a..e`, `01..10..2`; None for anything else.
fn range(text: &str) -> Option<Sequence> {
    let mut fields = text.split("..");
    let (from, to, step) = (fields.next()?, fields.next()?, fields.next());
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
    if let (Some(first), Some(last)) = (letter(from), letter(to)) {
        return Some(Sequence {
            first,
            last,
            step,
            letters: true,
            width: 0,
        });
    }
    let padded = |field: &str| {
        let digits = field.trim_start_matches(['-', '+']);
        digits.starts_with('0') && digits.len() > 1
    };
    let width = if padded(from) || padded(to) {
        from.len().max(to.len())
    } else {
        0
    };
    Some(Sequence {
        first: from.parse().ok()?,
        last: to.parse().ok()?,
        step,
        letters: false,
        width,
    })
}

/// How many words and bytes `nodes` expands to.
fn size(nodes: &[Node<'_>]) -> (usize, usize) {
    let (mut words, mut bytes) = (1_usize, 0_usize);
    for node in nodes {
        let (node_words, node_bytes) = match node {
            Node::Text(text, _) => (1, text.len()),
            Node::Range(sequence) => (
                sequence.count(),
                sequence.count().saturating_mul(sequence.longest()),
            ),
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
    let mut words = combine(nodes);
    // An alternative that leaves nothing at all leaves no word ("{,}" alone).
    words.retain(|word| {
        word.iter().any(|part| {
            part.kind == Kind::Quoted || !part.text.is_empty() || part.kind == Kind::Computed
        })
    });
    words
}

fn combine(nodes: &[Node<'_>]) -> Vec<Vec<Part>> {
    let mut words: Vec<Vec<Part>> = vec![Vec::new()];
    for node in nodes {
        let tails: Vec<Vec<Part>> = match node {
            Node::Text(text, kind) => vec![vec![Part {
                text: (*text).to_owned(),
                kind: *kind,
            }]],
            Node::Range(sequence) => (0..sequence.count())
                .map(|index| {
                    vec![Part {
                        text: sequence.term(index),
                        kind: Kind::Bare,
                    }]
                })
                .collect(),
            Node::Choice(choices) => choices.iter().flat_map(|choice| combine(choice)).collect(),
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
    words
}
