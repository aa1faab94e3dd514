//! Glob patterns: one dialect for values and for repository paths.
//!
//! A pattern covers the whole text, byte by byte, and case counts:
//!
//! | sign | meaning |
//! | --- | --- |
//! | `*` | any run of bytes, also none |
//! | `?` | one byte |
//! | `[a-z]`, `[!a]`, `[^a]` | one byte of the class, or none of it; `]` in first place is literal |
//! | `{a,b}` | either; nests; an empty alternative does not count |
//! | `**/` at the start of a segment | any directories, also none |
//! | `\x` | `x` itself |
//!
//! Promises: reading and matching take at most (length of the pattern) × (length of the text)
//! steps; what is outside the dialect is an error with its place. Never: touches the disk, matches
//! a part of the text, backtracks.

use std::fmt;

/// What the wildcards do at a `/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stars {
    /// For values: `*`, `?` and classes match it like any other byte.
    CrossSlash,
    /// For repository paths: `*`, `?` and classes stop there, and only `**` crosses it.
    StopAtSlash,
}

/// Longer patterns are refused, which bounds the memory a pattern can take.
const MAX_LENGTH: usize = 64 * 1024;

const TOO_LONG: &str = "the pattern is longer than 64 KiB; split it into several patterns";
const CLASS_OPEN: &str = "`[` has no closing `]`; write `\\[` for the sign itself";
const CLASS_NAMED: &str = "named classes are not supported; write the range, as in `[a-z]`";
const CLASS_NOT_ASCII: &str =
    "a class holds ASCII characters only; write alternatives, as in `{ä,ö}`";
const RANGE_REVERSED: &str = "the range ends before it starts; swap its ends or put `-` last";
const RANGE_CHAINED: &str = "a range cannot start with the end of another; put a literal `-` last";
const BRACE_OPEN: &str = "`{` has no closing `}`; write `\\{` for the sign itself";
const BRACE_UNOPENED: &str = "`}` closes nothing; write `\\}` for the sign itself";
const ESCAPE_OPEN: &str = "`\\` stands at the end; write `\\\\` for the sign itself";

/// Why a text is no pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Error {
    /// Byte offset in the pattern.
    pub(crate) offset: usize,
    problem: &'static str,
}

impl Error {
    fn at(offset: usize, problem: &'static str) -> Error {
        Error { offset, problem }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Error { offset, problem } = self;
        write!(out, "invalid glob at byte {offset}: {problem}")
    }
}

/// A set of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ByteSet([u64; 4]);

impl ByteSet {
    fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte / 64)] |= 1 << (byte % 64);
    }

    fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte / 64)] & (1 << (byte % 64)) != 0
    }

    fn inverted(self) -> ByteSet {
        ByteSet(self.0.map(|word| !word))
    }
}

/// One state of the automaton; unless it says otherwise, the next one follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// Takes this byte.
    Byte(u8),
    /// Takes a byte of the set.
    Set(ByteSet),
    /// Takes any number of bytes, `/` only if told so.
    Run { crosses: bool },
    /// Goes on at one of several states.
    Fork(Vec<usize>),
    /// Goes on elsewhere.
    Jump(usize),
}

/// A pattern, ready to be matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    states: Vec<State>,
}

impl Pattern {
    /// Reads a pattern.
    pub(crate) fn new(text: &str, stars: Stars) -> Result<Pattern, Error> {
        if text.len() > MAX_LENGTH {
            return Err(Error::at(MAX_LENGTH, TOO_LONG));
        }
        let parser = Parser {
            text: text.as_bytes(),
            offset: 0,
            crosses: stars == Stars::CrossSlash,
            states: Vec::new(),
            open: Vec::new(),
        };
        Ok(Pattern { states: parser.parse()? })
    }

    /// Whether the pattern covers all of `text`.
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.matches_bytes(text.as_bytes())
    }

    /// The same for a path, whose bytes need not be UTF-8.
    pub(crate) fn matches_bytes(&self, text: &[u8]) -> bool {
        let end = self.states.len();
        let mut threads = Threads { seen: vec![usize::MAX; end + 1], waiting: Vec::new() };
        let (mut now, mut next) = (Vec::new(), Vec::new());
        threads.follow(&self.states, 0, 0, &mut now);
        for (position, &byte) in text.iter().enumerate() {
            if now.is_empty() {
                return false;
            }
            for &state in &now {
                let goes_to = match &self.states[state] {
                    State::Byte(wanted) => (*wanted == byte).then_some(state + 1),
                    State::Set(set) => set.contains(byte).then_some(state + 1),
                    State::Run { crosses } => (*crosses || byte != b'/').then_some(state),
                    State::Fork(_) | State::Jump(_) => None,
                };
                if let Some(target) = goes_to {
                    threads.follow(&self.states, target, position + 1, &mut next);
                }
            }
            std::mem::swap(&mut now, &mut next);
            next.clear();
        }
        // The state behind the last one is the accepting one.
        threads.seen[end] == text.len()
    }
}

/// Which states were reached, and at which position last.
struct Threads {
    seen: Vec<usize>,
    waiting: Vec<usize>,
}

impl Threads {
    /// Adds to `reached` all states that `from` leads to without taking a byte. A state seen at this
    /// position is refused, so each byte visits each state at most once: states × bytes steps in all.
    fn follow(&mut self, states: &[State], from: usize, position: usize, reached: &mut Vec<usize>) {
        self.waiting.push(from);
        while let Some(state) = self.waiting.pop() {
            if self.seen[state] == position {
                continue;
            }
            self.seen[state] = position;
            match states.get(state) {
                Some(State::Fork(targets)) => self.waiting.extend(targets),
                Some(State::Jump(target)) => self.waiting.push(*target),
                Some(State::Run { .. }) => {
                    reached.push(state);
                    self.waiting.push(state + 1);
                }
                Some(State::Byte(_) | State::Set(_)) => reached.push(state),
                None => {} // accepting; nothing goes on from there
            }
        }
    }
}

/// An alternation whose `}` has not come yet.
struct Open {
    /// Where its `{` stands in the text.
    offset: usize,
    /// Its `Fork` state.
    fork: usize,
    /// The first state of the current alternative.
    branch: usize,
    /// The `Jump` at the end of each finished alternative, which must lead behind the `}`.
    jumps: Vec<usize>,
}

struct Parser<'a> {
    text: &'a [u8],
    offset: usize,
    crosses: bool,
    states: Vec<State>,
    open: Vec<Open>,
}

impl Parser<'_> {
    fn parse(mut self) -> Result<Vec<State>, Error> {
        let crosses = self.crosses;
        while let Some(byte) = self.take() {
            let start = self.offset - 1;
            match byte {
                b'*' if self.peek() == Some(b'*') => self.two_stars(),
                b'*' => self.states.push(State::Run { crosses }),
                b'?' => self.push_set(ByteSet::default().inverted()),
                b'[' => self.class(start)?,
                b'{' => {
                    let fork = self.states.len();
                    self.states.push(State::Fork(Vec::new()));
                    self.open.push(Open {
                        offset: start,
                        fork,
                        branch: fork + 1,
                        jumps: Vec::new(),
                    });
                }
                b',' if !self.open.is_empty() => self.end_branch(),
                b'}' if self.open.is_empty() => {
                    return Err(Error::at(start, BRACE_UNOPENED));
                }
                b'}' => self.close_brace(),
                b'\\' => {
                    let escaped = self.take().ok_or(Error::at(start, ESCAPE_OPEN))?;
                    self.states.push(State::Byte(escaped));
                }
                literal => self.states.push(State::Byte(literal)),
            }
        }
        match self.open.last() {
            Some(open) => Err(Error::at(open.offset, BRACE_OPEN)),
            None => Ok(self.states),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.offset).copied()
    }

    fn take(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.offset += 1;
        Some(byte)
    }

    fn push_set(&mut self, mut set: ByteSet) {
        if !self.crosses {
            set.0[0] &= !(1 << b'/');
        }
        self.states.push(State::Set(set));
    }

    /// `**`, its first star taken. It is more than `*` only where it fills a segment.
    fn two_stars(&mut self) {
        let branch = self.open.last().map_or(0, |open| open.branch);
        let starts_segment =
            self.states.len() == branch || self.states.last() == Some(&State::Byte(b'/'));
        self.offset += 1;
        let crosses = match self.peek() {
            Some(b'/') if starts_segment => {
                // Nothing, or anything that ends in `/`.
                self.offset += 1;
                let run = self.states.len() + 1;
                self.states.push(State::Fork(vec![run, run + 2]));
                self.states.push(State::Run { crosses: true });
                return self.states.push(State::Byte(b'/'));
            }
            None => starts_segment,
            Some(b',' | b'}') => starts_segment && !self.open.is_empty(),
            Some(_) => false,
        };
        let crosses = crosses || self.crosses;
        self.states.push(State::Run { crosses });
    }

    /// Ends an alternative, at `,` or `}`. One without states does not count.
    fn end_branch(&mut self) {
        let Some(open) = self.open.last_mut() else {
            return;
        };
        if self.states.len() > open.branch {
            if let State::Fork(targets) = &mut self.states[open.fork] {
                targets.push(open.branch);
            }
            open.jumps.push(self.states.len());
            self.states.push(State::Jump(0));
            open.branch = self.states.len();
        }
    }

    fn close_brace(&mut self) {
        self.end_branch();
        let Some(open) = self.open.pop() else { return };
        if open.jumps.is_empty() {
            // No alternative counts: the braces stand for nothing.
            self.states.truncate(open.fork);
        }
        let end = self.states.len();
        for jump in open.jumps {
            self.states[jump] = State::Jump(end);
        }
    }

    /// `[…]`, its bracket taken.
    fn class(&mut self, start: usize) -> Result<(), Error> {
        let open = Error::at(start, CLASS_OPEN);
        let mut set = ByteSet::default();
        let negated = matches!(self.peek(), Some(b'!' | b'^'));
        self.offset += usize::from(negated);
        let first = self.offset;
        let mut after_range = false;
        loop {
            let offset = self.offset;
            let low = self.take().ok_or(open)?;
            if low == b']' && offset > first {
                break;
            }
            if low == b'[' && self.peek() == Some(b':') {
                return Err(Error::at(offset, CLASS_NAMED));
            }
            if after_range && low == b'-' && self.peek() != Some(b']') {
                return Err(Error::at(offset, RANGE_CHAINED));
            }
            let low = self.member(low, offset, open)?;
            after_range =
                self.peek() == Some(b'-') && self.text.get(self.offset + 1) != Some(&b']');
            let high = if after_range {
                self.offset += 1;
                let high = self.take().ok_or(open)?;
                self.member(high, self.offset - 1, open)?
            } else {
                low
            };
            if high < low {
                return Err(Error::at(offset, RANGE_REVERSED));
            }
            (low..=high).for_each(|byte| set.insert(byte));
        }
        self.push_set(if negated { set.inverted() } else { set });
        Ok(())
    }

    /// One member of a class, which starts with `byte`.
    fn member(&mut self, byte: u8, offset: usize, open: Error) -> Result<u8, Error> {
        let byte = if byte == b'\\' { self.take().ok_or(open)? } else { byte };
        if byte.is_ascii() { Ok(byte) } else { Err(Error::at(offset, CLASS_NOT_ASCII)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern, Stars::CrossSlash).unwrap().matches(text)
    }

    fn path(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern, Stars::StopAtSlash).unwrap().matches_bytes(text.as_bytes())
    }

    /// Pattern, texts it covers, texts it does not.
    type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

    fn check(rows: &[Row], matches: fn(&str, &str) -> bool) {
        for (pattern, yes, no) in rows {
            for text in *yes {
                assert!(matches(pattern, text), "{pattern} should match {text:?}");
            }
            for text in *no {
                assert!(!matches(pattern, text), "{pattern} should not match {text:?}");
            }
        }
    }

    #[test]
    fn on_values_a_star_matches_anything() {
        check(
            &[
                ("*", &["", "a", "a/b", "a\nb", ".x", "ä"], &[]),
                ("*.env", &[".env", "a/.env", "b.env"], &[".envrc", "env"]),
                (
                    "http://localhost*",
                    &["http://localhost:80/x"],
                    &["http://other/http://localhost"],
                ),
                ("a*b*c", &["abc", "a/b\nc", "abcbc"], &["abcd", "xabc"]),
                ("**/.env*", &[".env", "a/.env.local", "a/b/.envrc", "/.env"], &["a.env", "x.env"]),
                ("**/*", &[".git/config", "a"], &[]),
                ("/**", &["/", "/a", "/a/b"], &["", "a", "a/b"]),
                ("x/**", &["x/a", "x/a/b"], &["x", "xa"]),
                ("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["ab", "axb", "a/xb"]),
                ("a**b", &["ab", "axb", "a/b"], &["a", "b"]),
                ("**/.arch/members.yml", &["/r/.arch/members.yml"], &["/r/foo.arch/members.yml"]),
                ("?", &["a", "/", "\n"], &["", "ab", "ä"]),
            ],
            value,
        );
    }

    #[test]
    fn on_repository_paths_a_star_stops_at_a_slash() {
        check(
            &[
                ("*", &["a", ".x", ""], &["a/b"]),
                ("src/*.ts", &["src/a.ts", "src/.ts"], &["src/a/b.ts", "src/a.tsx"]),
                ("src/**/*.ts", &["src/a.ts", "src/a/b.ts", "src/a/b/c.ts"], &["a/src/b.ts"]),
                ("**", &["a", "a/b", ""], &[]),
                ("**/x", &["x", "a/x", "a/b/x"], &["ax", "a/bx"]),
                ("a/**", &["a/b", "a/b/c"], &["a", "b/a"]),
                ("a**b", &["ab", "axxb"], &["a/b"]),
                ("a?b", &["axb"], &["a/b"]),
                ("a[!x]b", &["ayb"], &["a/b", "axb"]),
                ("a[,-0]b", &["a.b", "a0b"], &["a/b"]),
                ("{a/**,b}", &["a/x/y", "b"], &["a", "b/x"]),
                ("{**/a,**}x", &["ax", "b/ax", "x", "bx"], &["c"]),
                ("***/a", &["b/a"], &["b/c/a"]),
            ],
            path,
        );
        let pattern = Pattern::new("src/*", Stars::StopAtSlash).unwrap();
        assert!(pattern.matches_bytes(b"src/\xff\xfe"));
    }

    #[test]
    fn the_whole_value_counts_and_case_counts() {
        check(
            &[("abc", &["abc"], &["ABC", "abcd", "xabc", "abc\n", ""]), ("", &[""], &["a"])],
            value,
        );
    }

    #[test]
    fn classes() {
        check(
            &[
                ("[a-c]", &["a", "c"], &["d", "", "-", "ab"]),
                ("[!a-c]", &["d", "/", "]"], &["a"]),
                ("[^a]", &["b", "^"], &["a"]),
                ("[]a]", &["]", "a"], &["b"]),
                ("[!]a]", &["b"], &["]", "a"]),
                ("[a-]", &["a", "-"], &["b"]),
                ("[-a]", &["a", "-"], &["b"]),
                ("[a-c-]", &["b", "-"], &["d"]),
                ("[/]", &["/"], &["a"]),
                ("[*?{,}]", &["*", "?", "{", ",", "}"], &["a"]),
                (r"[\]x]", &["]", "x"], &["\\"]),
                (r"[\\]", &["\\"], &["]"]),
                (r"[\a-c]", &["b"], &["\\"]),
            ],
            value,
        );
    }

    #[test]
    fn alternatives_nest_and_an_empty_one_does_not_count() {
        check(
            &[
                ("{a,b}", &["a", "b"], &["", "ab", "c"]),
                ("x{a,{b,c}d}y", &["xay", "xbdy", "xcdy"], &["xby", "xdy", "xy"]),
                ("foo{,.txt}", &["foo.txt"], &["foo"]),
                ("a{}b", &["ab"], &["a{}b"]),
                ("a{,{,}}b", &["ab"], &[]),
                ("{{},a}", &["a"], &[""]),
                ("{*.a,*.b}", &["x.a", "x.b"], &["x.c"]),
                (r"{a\,b,c}", &["a,b", "c"], &["a", "b"]),
                ("a,b", &["a,b"], &["a"]),
            ],
            value,
        );
    }

    #[test]
    fn a_backslash_escapes_and_regex_signs_are_literal() {
        check(
            &[
                (r"\*\?\[\{\}\\", &[r"*?[{}\"], &["a"]),
                (r"\a", &["a"], &[r"\a"]),
                (r"\ä", &["ä"], &[]),
                (".+(x|y)$^", &[".+(x|y)$^"], &["ax"]),
            ],
            value,
        );
    }

    #[test]
    fn errors_name_place_and_way_out() {
        for (pattern, offset, problem) in [
            ("a[b", 1, CLASS_OPEN),
            ("[]", 0, CLASS_OPEN),
            ("[!", 0, CLASS_OPEN),
            ("[a-", 0, CLASS_OPEN),
            (r"[\", 0, CLASS_OPEN),
            ("[[:alpha:]]", 1, CLASS_NAMED),
            ("[aä]", 2, CLASS_NOT_ASCII),
            ("[a-ä]", 3, CLASS_NOT_ASCII),
            ("[z-a]", 1, RANGE_REVERSED),
            ("[a-c-e]", 4, RANGE_CHAINED),
            ("a{b", 1, BRACE_OPEN),
            ("{a,{b}", 0, BRACE_OPEN),
            ("a}", 1, BRACE_UNOPENED),
            (r"ab\", 2, ESCAPE_OPEN),
        ] {
            assert_eq!(
                Pattern::new(pattern, Stars::CrossSlash),
                Err(Error { offset, problem }),
                "{pattern}"
            );
        }
        assert_eq!(
            Pattern::new("ab{", Stars::CrossSlash).unwrap_err().to_string(),
            r"invalid glob at byte 2: `{` has no closing `}`; write `\{` for the sign itself"
        );
        assert!(Pattern::new(&"a".repeat(MAX_LENGTH), Stars::CrossSlash).is_ok());
        assert!(Pattern::new(&"a".repeat(MAX_LENGTH + 1), Stars::CrossSlash).is_err());
    }

    #[test]
    fn deep_nests_and_many_stars_end() {
        let depth = 10_000;
        let nest = "{a,".repeat(depth) + "b" + &"}".repeat(depth);
        assert!(value(&nest, "b") && value(&nest, "a") && !value(&nest, "c"));
        let text = "a".repeat(10_000);
        assert!(!value(&("*a".repeat(50) + "b"), &text));
        assert!(!value(&("{*a,*a*}".repeat(20) + "b"), &text));
    }
}
