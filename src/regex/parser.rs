//! Reads a pattern into a tree, and knows of each part how large its program will be.

use super::classes::{self, Class, Folding, Item, Operation, Set};
use super::{Error, MAX_SIZE};

/// How deep groups, classes and repetitions of repetitions may nest: what bounds every recursion.
const MAX_DEPTH: usize = 200;
/// Longer patterns are refused, which bounds the memory of the tree.
const MAX_LENGTH: usize = 64 * 1024;

const ASCII_ONLY: &str = "without the flag `u` this could match a part of a character; use `(?u)`";
const BACK_REFERENCE: &str = "back-references are not supported: matching time must stay linear in the text; write the text out";
const CLASS_NAME: &str =
    "unknown class name; known are `[:alpha:]`, `[:digit:]`, `[:space:]` and the like";
const CLASS_OPEN: &str = "character class has no closing `]`; write `\\[` for the sign itself";
const CODE_POINT: &str = "this is no character; write 2, 4 or 8 hex digits behind `\\x`, `\\u` or `\\U`, or any number in braces";
const COUNT: &str =
    "a repetition count looks like `{2}`, `{2,}` or `{2,5}`; write `\\{` for the sign itself";
const COUNT_REVERSED: &str = "the repetition's minimum is above its maximum; swap them";
const ESCAPE_OPEN: &str = "`\\` stands at the end; write `\\\\` for the sign itself";
const ESCAPE_UNKNOWN: &str = "unknown escape; leave the `\\` out if the character itself is meant";
const FLAG_TWICE: &str = "a flag or `-` stands twice; leave one out";
const FLAG_UNKNOWN: &str = "unknown flag or kind of group; known are the flags i, m, s, U, u, x, R and the groups `(?:…)` and `(?<name>…)`";
const GROUP_NAME: &str =
    "a group name consists of letters, digits and `_`, starts with no digit, and ends at `>`";
const GROUP_NAME_TWICE: &str = "another group has the same name; rename one of them";
const GROUP_OPEN: &str = "group has no closing `)`; write `\\(` for the sign itself";
const GROUP_UNOPENED: &str = "`)` closes no group; write `\\)` for the sign itself";
const LOOK_AROUND: &str = "look-around is not supported: matching time must stay linear in the text; use a second condition (`not_matches`) instead";
const NOT_IN_CLASS: &str =
    "an anchor or a set cannot stand here in a class; write a single character";
const PROPERTY: &str = "unknown or unsupported property; known are L, Lu, Ll, M, N, Nd, P, S, Z, Alphabetic, Latin, Greek, Cyrillic, Han and a few more";
const RANGE_REVERSED: &str = "the range ends before it starts; swap its ends or escape the `-`";
const REPETITION_MISSING: &str =
    "nothing stands before this repetition; write `\\` before the sign itself";
const TOO_DEEP: &str = "groups, classes or repetitions nest deeper than 200 levels; use fewer";
const TOO_LARGE: &str = "the repetitions come to more than 8192 steps; use smaller counts";
const TOO_LONG: &str = "the pattern is longer than 64 KiB; split it into several patterns";
const WORD_EDGE: &str =
    "unknown word boundary; known are `\\b{start}`, `\\b{end}`, `\\b{start-half}`, `\\b{end-half}`";

/// A condition on the place between two characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assertion {
    TextStart,
    TextEnd,
    LineStart { crlf: bool },
    LineEnd { crlf: bool },
    Word { edge: WordEdge, ascii: bool },
}

/// Which side of a word a place is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordEdge {
    Any,
    None,
    Start,
    End,
    StartHalf,
    EndHalf,
}

/// What a part of a pattern is.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Char(char),
    /// A class or set, by its number.
    Class(usize),
    Assertion(Assertion),
    Concat(Vec<Node>),
    Alternate(Vec<Node>),
    Repeat {
        node: Box<Node>,
        min: u32,
        max: Option<u32>,
        greedy: bool,
    },
}

/// A part of a pattern, with what its surroundings must know of it.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// How many instructions it will come to; never fewer.
    pub(super) size: usize,
    /// Whether it can match nothing.
    pub(super) nullable: bool,
    /// How many repetitions nest in it.
    height: usize,
}

/// A whole pattern.
#[derive(Clone, Debug)]
pub(super) struct Syntax {
    pub(super) root: Node,
    pub(super) classes: Vec<Item>,
}

impl Node {
    fn leaf(kind: Kind) -> Node {
        let nullable = matches!(kind, Kind::Assertion(_));
        Node { kind, size: 1, nullable, height: 0 }
    }

    fn concat(mut nodes: Vec<Node>) -> Node {
        match nodes.pop() {
            Some(only) if nodes.is_empty() => return only,
            last => nodes.extend(last),
        }
        Node {
            size: nodes.iter().map(|node| node.size).sum(),
            nullable: nodes.iter().all(|node| node.nullable),
            height: nodes.iter().map(|node| node.height).max().unwrap_or(0),
            kind: Kind::Concat(nodes),
        }
    }

    fn alternate(nodes: Vec<Node>) -> Node {
        Node {
            size: nodes.iter().map(|node| node.size + 2).sum(),
            nullable: nodes.iter().any(|node| node.nullable),
            height: nodes.iter().map(|node| node.height).max().unwrap_or(0),
            kind: Kind::Alternate(nodes),
        }
    }

    /// A repetition, unless its program would be too large or it nests too deep.
    fn repeat(node: Node, min: u32, max: Option<u32>, greedy: bool) -> Result<Node, &'static str> {
        if max == Some(0) || node.size == 0 {
            return Ok(Node::concat(Vec::new()));
        }
        let copies = usize::try_from(max.unwrap_or(min.max(1))).unwrap_or(usize::MAX);
        let size = copies.saturating_mul(node.size + 1).saturating_add(1);
        let exact = copies.saturating_mul(node.size);
        let size = if max == Some(min) { exact } else { size };
        let height = node.height + 1;
        match (size > MAX_SIZE, height > MAX_DEPTH) {
            (true, _) => Err(TOO_LARGE),
            (_, true) => Err(TOO_DEEP),
            _ => {
                let nullable = node.nullable || min == 0;
                let kind = Kind::Repeat { node: Box::new(node), min, max, greedy };
                Ok(Node { kind, size, nullable, height })
            }
        }
    }
}

/// The flags that are on at a place in the pattern.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "one for each letter of the syntax")]
struct Flags {
    ignore_case: bool,
    multi_line: bool,
    dot_all: bool,
    swap_greed: bool,
    unicode: bool,
    verbose: bool,
    crlf: bool,
}

impl Flags {
    fn folding(self) -> Folding {
        match (self.ignore_case, self.unicode) {
            (false, _) => Folding::Off,
            (true, false) => Folding::Ascii,
            (true, true) => Folding::Unicode,
        }
    }
}

/// What an escape stands for.
enum Escape {
    Char(char),
    Set(Item),
    Assertion(Assertion),
}

struct Parser<'a> {
    text: &'a str,
    offset: usize,
    depth: usize,
    flags: Flags,
    names: Vec<&'a str>,
    classes: Vec<Item>,
}

/// Reads a pattern whose program is within bounds.
pub(super) fn parse(text: &str) -> Result<Syntax, Error> {
    if text.len() > MAX_LENGTH {
        return Err(Error { offset: MAX_LENGTH, problem: TOO_LONG });
    }
    let flags = Flags {
        ignore_case: false,
        multi_line: false,
        dot_all: false,
        swap_greed: false,
        unicode: true,
        verbose: false,
        crlf: false,
    };
    let names = Vec::new();
    let mut parser = Parser { text, offset: 0, depth: 0, flags, names, classes: Vec::new() };
    let root = parser.alternation()?;
    if parser.peek().is_some() {
        return parser.fail(parser.offset, GROUP_UNOPENED);
    }
    if root.size > MAX_SIZE {
        return parser.fail(0, TOO_LARGE);
    }
    Ok(Syntax { root, classes: parser.classes })
}

impl<'a> Parser<'a> {
    #[expect(clippy::unused_self, reason = "reads better at its many calls")]
    fn fail<T>(&self, offset: usize, problem: &'static str) -> Result<T, Error> {
        Err(Error { offset, problem })
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.offset..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.offset += character.len_utf8();
        Some(character)
    }

    /// Takes `text` if it stands here.
    fn eat(&mut self, text: &str) -> bool {
        let here = self.rest().starts_with(text);
        self.offset += if here { text.len() } else { 0 };
        here
    }

    /// Takes what fits, at least nothing.
    fn take_while(&mut self, fits: fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let taken = rest.split_once(|c| !fits(c)).map_or(rest, |(taken, _)| taken);
        self.offset += taken.len();
        taken
    }

    /// With the flag `x`, takes blanks and comments.
    fn skip_space(&mut self) {
        while self.flags.verbose {
            self.take_while(char::is_whitespace);
            if !self.eat("#") {
                break;
            }
            self.take_while(|c| c != '\n');
        }
    }

    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.depth == MAX_DEPTH {
            return self.fail(self.offset, TOO_DEEP);
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Branches between `|`, up to `)` or the end.
    fn alternation(&mut self) -> Result<Node, Error> {
        let mut branches = Vec::new();
        let mut nodes = Vec::new();
        // Whether a repetition here has something to repeat: flags are nothing.
        let mut repeatable = false;
        loop {
            self.skip_space();
            let start = self.offset;
            match self.peek() {
                None | Some(')') => break,
                Some('|') => {
                    self.take();
                    branches.push(Node::concat(std::mem::take(&mut nodes)));
                    repeatable = false;
                }
                Some('*' | '+' | '?' | '{') => match nodes.pop() {
                    Some(node) if repeatable => nodes.push(self.repetition(node)?),
                    _ => return self.fail(start, REPETITION_MISSING),
                },
                Some('(') => {
                    self.take();
                    let group = self.group(start)?;
                    repeatable = group.is_some();
                    nodes.extend(group);
                }
                Some(_) => {
                    nodes.push(self.atom(start)?);
                    repeatable = true;
                }
            }
        }
        branches.push(Node::concat(nodes));
        Ok(if branches.len() == 1 { Node::concat(branches) } else { Node::alternate(branches) })
    }

    fn repetition(&mut self, node: Node) -> Result<Node, Error> {
        let start = self.offset;
        let (min, max) = match self.take() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            _ => self.counts(start)?,
        };
        let greedy = self.eat("?") == self.flags.swap_greed;
        let repeated = Node::repeat(node, min, max, greedy);
        repeated.or_else(|problem| self.fail(start, problem))
    }

    /// `{2}`, `{2,}` or `{2,5}`, its brace taken.
    fn counts(&mut self, start: usize) -> Result<(u32, Option<u32>), Error> {
        let inside = self.take_while(|c| c.is_ascii_digit() || c.is_whitespace() || c == ',');
        let number = |digits: &str| {
            let digits = digits.trim();
            let digital = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            // A count beyond u32 is too large in any case.
            digital.then(|| digits.parse().unwrap_or(u32::MAX))
        };
        let counts = match inside.split_once(',') {
            None => number(inside).map(|count| (count, Some(count))),
            Some((min, max)) if max.trim().is_empty() => number(min).map(|min| (min, None)),
            Some((min, max)) => number(min).zip(number(max).map(Some)),
        };
        match counts {
            Some((min, Some(max))) if min > max => self.fail(start, COUNT_REVERSED),
            Some(counts) if self.eat("}") => Ok(counts),
            _ => self.fail(start, COUNT),
        }
    }

    /// A group, its parenthesis taken; `None` when it only sets flags.
    fn group(&mut self, start: usize) -> Result<Option<Node>, Error> {
        self.skip_space();
        if ["?=", "?!", "?<=", "?<!"].iter().any(|prefix| self.rest().starts_with(prefix)) {
            return self.fail(start, LOOK_AROUND);
        }
        if self.rest().starts_with("?P=") {
            return self.fail(start, BACK_REFERENCE);
        }
        let mut inner = self.flags;
        if self.eat("?P<") || self.eat("?<") {
            self.group_name()?;
        } else if self.eat("?") {
            inner = self.new_flags(start)?;
            if self.eat(")") {
                self.flags = inner;
                return Ok(None);
            }
            self.take(); // the colon
        }
        let outer = std::mem::replace(&mut self.flags, inner);
        let node = self.nested(Self::alternation)?;
        self.flags = outer;
        if self.eat(")") { Ok(Some(node)) } else { self.fail(start, GROUP_OPEN) }
    }

    fn group_name(&mut self) -> Result<(), Error> {
        let start = self.offset;
        let letter = |c: char| c == '_' || c.is_alphabetic();
        let name = self.take_while(|c| {
            matches!(c, '_' | '.' | '[' | ']') || c.is_alphabetic() || c.is_numeric()
        });
        if !name.starts_with(letter) || !self.eat(">") {
            return self.fail(start, GROUP_NAME);
        }
        if self.names.contains(&name) {
            return self.fail(start, GROUP_NAME_TWICE);
        }
        self.names.push(name);
        Ok(())
    }

    /// The flags behind `(?`, up to `:` or `)`.
    fn new_flags(&mut self, group: usize) -> Result<Flags, Error> {
        let mut flags = self.flags;
        let start = self.offset;
        let mut on = true;
        while !self.rest().starts_with([':', ')']) {
            let offset = self.offset;
            let seen = self.text.get(start..offset).unwrap_or("");
            let Some(letter) = self.take() else {
                return self.fail(group, GROUP_OPEN);
            };
            if seen.contains(letter) {
                return self.fail(offset, FLAG_TWICE);
            }
            match letter {
                '-' => on = false,
                'i' => flags.ignore_case = on,
                'm' => flags.multi_line = on,
                's' => flags.dot_all = on,
                'U' => flags.swap_greed = on,
                'u' => flags.unicode = on,
                'x' => flags.verbose = on,
                'R' => flags.crlf = on,
                _ => return self.fail(offset, FLAG_UNKNOWN),
            }
        }
        let written = self.text.get(start..self.offset).unwrap_or("");
        if written.ends_with('-') {
            return self.fail(self.offset - 1, FLAG_UNKNOWN);
        }
        if written.is_empty() && self.rest().starts_with(')') {
            return self.fail(start - 1, REPETITION_MISSING);
        }
        Ok(flags)
    }

    /// One character, set, class or anchor.
    fn atom(&mut self, start: usize) -> Result<Node, Error> {
        let Flags { multi_line, crlf, .. } = self.flags;
        let assertion = |assertion| Ok(Node::leaf(Kind::Assertion(assertion)));
        match self.take() {
            Some('^') if multi_line => assertion(Assertion::LineStart { crlf }),
            Some('^') => assertion(Assertion::TextStart),
            Some('$') if multi_line => assertion(Assertion::LineEnd { crlf }),
            Some('$') => assertion(Assertion::TextEnd),
            Some('.') => {
                let predicate: fn(char) -> bool = match (self.flags.dot_all, crlf) {
                    (true, _) => |_| true,
                    (false, true) => |c| !matches!(c, '\r' | '\n'),
                    (false, false) => |c| c != '\n',
                };
                self.class_node(self.item(Set::Named(predicate), false), start)
            }
            Some('[') => {
                let class = self.nested(|parser| parser.class(start))?;
                self.class_node(Item::Class(class), start)
            }
            Some('\\') => match self.escape(start)? {
                Escape::Char(character) => self.character(character, start),
                Escape::Set(item) => self.class_node(item, start),
                Escape::Assertion(kind) => assertion(kind),
            },
            Some(character) => self.character(character, start),
            None => self.fail(start, ESCAPE_OPEN),
        }
    }

    fn item(&self, set: Set, negated: bool) -> Item {
        Item::Set { set, negated, folding: self.flags.folding() }
    }

    fn character(&mut self, character: char, start: usize) -> Result<Node, Error> {
        let folds = match self.flags.folding() {
            Folding::Off => false,
            Folding::Ascii => character.is_ascii_alphabetic(),
            Folding::Unicode => classes::has_cases(character),
        };
        if !folds {
            return Ok(Node::leaf(Kind::Char(character)));
        }
        self.class_node(self.item(Set::Range(character, character), false), start)
    }

    fn class_node(&mut self, class: Item, start: usize) -> Result<Node, Error> {
        // Without the flag `u`, all characters beyond ASCII are in a class or none is.
        if !self.flags.unicode && class.contains('\u{80}') {
            return self.fail(start, ASCII_ONLY);
        }
        self.classes.push(class);
        Ok(Node::leaf(Kind::Class(self.classes.len() - 1)))
    }

    /// `[…]`, its bracket taken.
    fn class(&mut self, start: usize) -> Result<Class, Error> {
        self.skip_space();
        let negated = self.eat("^");
        let mut items = Vec::new();
        self.skip_space();
        while self.eat("-") {
            items.push(self.item(Set::Range('-', '-'), false));
            self.skip_space();
        }
        if items.is_empty() && self.eat("]") {
            items.push(self.item(Set::Range(']', ']'), false));
        }
        let mut terms = Vec::new();
        let mut operation = Operation::Union;
        loop {
            self.skip_space();
            let offset = self.offset;
            let next = if self.eat("&&") {
                Operation::Intersection
            } else if self.eat("--") {
                Operation::Difference
            } else if self.eat("~~") {
                Operation::SymmetricDifference
            } else if self.eat("]") {
                terms.push((operation, items));
                return Ok(Class { negated, terms });
            } else if let Some(item) = self.named_class()? {
                items.push(item);
                continue;
            } else if self.eat("[") {
                items.push(Item::Class(self.nested(|parser| parser.class(offset))?));
                continue;
            } else {
                items.push(self.class_item(start)?);
                continue;
            };
            terms.push((operation, std::mem::take(&mut items)));
            operation = next;
        }
    }

    /// `[:alpha:]` or `[:^alpha:]`; nothing is taken when something else stands here.
    fn named_class(&mut self) -> Result<Option<Item>, Error> {
        let start = self.offset;
        if self.eat("[:") {
            let negated = self.eat("^");
            let name = self.take_while(|c| c.is_ascii_alphabetic());
            if self.eat(":]") {
                let Some(predicate) = classes::posix_class(name) else {
                    return self.fail(start, CLASS_NAME);
                };
                return Ok(Some(self.item(Set::Named(predicate), negated)));
            }
            self.offset = start;
        }
        Ok(None)
    }

    /// A set, a character or a range in a class that began at `class`.
    fn class_item(&mut self, class: usize) -> Result<Item, Error> {
        let start = self.offset;
        let low = match self.class_part(class)? {
            Escape::Set(item) => return Ok(item),
            Escape::Char(low) => low,
            Escape::Assertion(_) => return self.fail(start, NOT_IN_CLASS),
        };
        self.skip_space();
        let after = self.offset;
        let mut high = low;
        if self.eat("-") {
            self.skip_space();
            if self.rest().starts_with([']', '-']) {
                self.offset = after;
            } else {
                let offset = self.offset;
                let Escape::Char(end) = self.class_part(class)? else {
                    return self.fail(offset, NOT_IN_CLASS);
                };
                high = end;
            }
        }
        if high < low {
            return self.fail(start, RANGE_REVERSED);
        }
        if !self.flags.unicode && !high.is_ascii() {
            return self.fail(start, ASCII_ONLY);
        }
        Ok(self.item(Set::Range(low, high), false))
    }

    fn class_part(&mut self, class: usize) -> Result<Escape, Error> {
        let start = self.offset;
        match self.take() {
            Some('\\') => self.escape(start),
            Some(character) => Ok(Escape::Char(character)),
            None => self.fail(class, CLASS_OPEN),
        }
    }

    /// An escape, its backslash taken.
    fn escape(&mut self, start: usize) -> Result<Escape, Error> {
        let Some(letter) = self.take() else {
            return self.fail(start, ESCAPE_OPEN);
        };
        let ascii = !self.flags.unicode;
        let word = |edge| Ok(Escape::Assertion(Assertion::Word { edge, ascii }));
        let set = |predicate, negated| Ok(Escape::Set(self.item(Set::Named(predicate), negated)));
        match letter {
            'd' | 'D' if ascii => set(|c| c.is_ascii_digit(), letter == 'D'),
            'd' | 'D' => set(classes::is_digit, letter == 'D'),
            's' | 'S' if ascii => set(classes::is_ascii_space, letter == 'S'),
            's' | 'S' => set(char::is_whitespace, letter == 'S'),
            'w' | 'W' if ascii => set(|c| c.is_ascii() && classes::is_word(c), letter == 'W'),
            'w' | 'W' => set(classes::is_word, letter == 'W'),
            'p' | 'P' => self.property(start, letter == 'P'),
            'A' => Ok(Escape::Assertion(Assertion::TextStart)),
            'z' => Ok(Escape::Assertion(Assertion::TextEnd)),
            'b' => word(self.word_edge()?),
            'B' => word(WordEdge::None),
            '<' => word(WordEdge::Start),
            '>' => word(WordEdge::End),
            'x' | 'u' | 'U' => self.code_point(start, letter),
            'a' => Ok(Escape::Char('\x07')),
            'f' => Ok(Escape::Char('\x0C')),
            'n' => Ok(Escape::Char('\n')),
            'r' => Ok(Escape::Char('\r')),
            't' => Ok(Escape::Char('\t')),
            'v' => Ok(Escape::Char('\x0B')),
            '0'..='9' | 'k' | 'g' => self.fail(start, BACK_REFERENCE),
            _ if letter.is_ascii_punctuation() => Ok(Escape::Char(letter)),
            ' ' if self.flags.verbose => Ok(Escape::Char(letter)),
            _ => self.fail(start, ESCAPE_UNKNOWN),
        }
    }

    /// What may stand in braces behind `\b`; a count may too.
    fn word_edge(&mut self) -> Result<WordEdge, Error> {
        let start = self.offset;
        for (written, edge) in [
            ("{start}", WordEdge::Start),
            ("{end}", WordEdge::End),
            ("{start-half}", WordEdge::StartHalf),
            ("{end-half}", WordEdge::EndHalf),
        ] {
            if self.eat(written) {
                return Ok(edge);
            }
        }
        let count = self.rest().strip_prefix('{').is_none_or(|inside| {
            inside.trim_start().starts_with(|c: char| !c.is_ascii_alphabetic() && c != '-')
        });
        if count { Ok(WordEdge::Any) } else { self.fail(start, WORD_EDGE) }
    }

    /// `\pL` or `\p{Greek}`, its letter taken.
    fn property(&mut self, start: usize, negated: bool) -> Result<Escape, Error> {
        if !self.flags.unicode {
            return self.fail(start, ASCII_ONLY);
        }
        let from = self.offset;
        let name = if self.eat("{") {
            let name = self.take_while(|c| c != '}');
            if !self.eat("}") {
                return self.fail(start, PROPERTY);
            }
            name
        } else {
            self.take();
            self.text.get(from..self.offset).unwrap_or("")
        };
        match classes::property(name) {
            Some(predicate) => Ok(Escape::Set(self.item(Set::Named(predicate), negated))),
            None => self.fail(start, PROPERTY),
        }
    }

    /// A character by its number in hex digits, the letter taken.
    fn code_point(&mut self, start: usize, letter: char) -> Result<Escape, Error> {
        let braces = self.eat("{");
        let length = match letter {
            'x' => 2,
            'u' => 4,
            _ => 8,
        };
        let digits = if braces {
            self.take_while(|c| c.is_ascii_hexdigit())
        } else {
            let digits = self.rest().get(..length).unwrap_or("");
            self.offset += digits.len();
            digits
        };
        let digital = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u32::from_str_radix(digits, 16).ok().filter(|_| digital);
        let Some(character) = number.and_then(char::from_u32) else {
            return self.fail(start, CODE_POINT);
        };
        if braces && !self.eat("}") {
            return self.fail(start, CODE_POINT);
        }
        if !self.flags.unicode && letter == 'x' && !braces && !character.is_ascii() {
            return self.fail(start, ASCII_ONLY);
        }
        Ok(Escape::Char(character))
    }
}
