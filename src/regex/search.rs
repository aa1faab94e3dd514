//! Runs a program over a text: all threads side by side, one character after the other.

use super::classes::{Item, is_word};
use super::parser::{Assertion, WordEdge};
use super::program::{Instruction, Program};
use std::ops::Range;

/// Which match is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Whether there is one: the first that comes ends the search.
    Any,
    /// The leftmost, and of those the one with the strongest preference.
    Leftmost,
}

/// A place in the program, and where in the text its match began.
#[derive(Clone, Copy)]
struct Thread {
    instruction: usize,
    start: usize,
}

/// The first match at or behind `start`, which must lie on a character border.
pub(super) fn search(
    program: &Program,
    text: &str,
    start: usize,
    wanted: Wanted,
) -> Option<Range<usize>> {
    let (before, rest) = text.split_at_checked(start)?;
    let mut machine = Machine {
        program,
        seen: vec![usize::MAX; program.instructions.len()],
        waiting: Vec::new(),
        threads: Vec::new(),
        answers: vec![Answers::default(); program.classes.len()],
    };
    let mut found = None;
    let mut arriving: Vec<Thread> = Vec::new();
    let mut previous = before.chars().next_back();
    let mut characters = rest.chars();
    let mut position = start;
    loop {
        if let (true, Instruction::Char(first)) = (arriving.is_empty(), program.instructions[0]) {
            // Nothing is under way: straight to where a match could begin.
            let rest = characters.as_str();
            let (skipped, rest) = rest.split_at_checked(rest.find(first)?)?;
            position += skipped.len();
            previous = skipped.chars().next_back().or(previous);
            characters = rest.chars();
        }
        let next = characters.next();
        machine.threads.clear();
        for thread in arriving.drain(..) {
            machine.follow(thread, position, previous, next);
        }
        if found.is_none() {
            // A later start ranks behind every thread that is under way.
            machine.follow(Thread { instruction: 0, start: position }, position, previous, next);
        }
        if let Some(end) = machine.step(next, &mut arriving) {
            found = Some(end.start..position);
            if wanted == Wanted::Any {
                return found;
            }
        }
        if found.is_some() && arriving.is_empty() {
            return found;
        }
        let Some(character) = next else { return found };
        position += character.len_utf8();
        previous = next;
    }
}

/// What a class said of the characters so far: all ASCII ones and the last of the others. A copy of
/// a class asks again only for what is new, so a text costs as if each stood in the pattern once.
#[derive(Clone, Copy, Default)]
struct Answers {
    ascii_known: u128,
    ascii_inside: u128,
    other: (char, bool),
}

impl Answers {
    fn of(&mut self, class: &Item, character: char) -> bool {
        if !character.is_ascii() {
            if self.other.0 != character {
                self.other = (character, class.contains(character));
            }
            return self.other.1;
        }
        let bit = 1 << u32::from(character);
        if self.ascii_known & bit == 0 {
            self.ascii_known |= bit;
            self.ascii_inside |= if class.contains(character) { bit } else { 0 };
        }
        self.ascii_inside & bit != 0
    }
}

struct Machine<'a> {
    program: &'a Program,
    /// For each instruction, the position at which it was reached last.
    seen: Vec<usize>,
    waiting: Vec<usize>,
    /// The threads at this position that take a character or have matched, the preferred first.
    threads: Vec<Thread>,
    /// For each class, what it said.
    answers: Vec<Answers>,
}

impl Machine<'_> {
    /// Adds all threads that `thread` leads to without taking a character. An instruction reached
    /// before at this position is refused: the earlier thread is preferred, and each position
    /// visits each instruction at most once, which bounds the whole search.
    fn follow(
        &mut self,
        thread: Thread,
        position: usize,
        previous: Option<char>,
        next: Option<char>,
    ) {
        self.waiting.push(thread.instruction);
        while let Some(instruction) = self.waiting.pop() {
            if self.seen[instruction] == position {
                continue;
            }
            self.seen[instruction] = position;
            match self.program.instructions[instruction] {
                Instruction::Split { first, second } => self.waiting.extend([second, first]),
                Instruction::Jump(target) => self.waiting.push(target),
                Instruction::Assert(assertion) => {
                    if assertion.holds(previous, next) {
                        self.waiting.push(instruction + 1);
                    }
                }
                Instruction::Char(_) | Instruction::Class(_) | Instruction::Match => {
                    self.threads.push(Thread { instruction, ..thread });
                }
            }
        }
    }

    /// Lets every thread take `next`. A thread that has matched is given back, and those that rank
    /// behind it end.
    fn step(&mut self, next: Option<char>, arriving: &mut Vec<Thread>) -> Option<Thread> {
        for &thread in &self.threads {
            let taken = match (self.program.instructions[thread.instruction], next) {
                (Instruction::Match, _) => return Some(thread),
                (Instruction::Char(wanted), Some(next)) => wanted == next,
                (Instruction::Class(number), Some(next)) => {
                    self.answers[number].of(&self.program.classes[number], next)
                }
                _ => false,
            };
            if taken {
                arriving.push(Thread { instruction: thread.instruction + 1, ..thread });
            }
        }
        None
    }
}

impl Assertion {
    /// Whether it holds between two characters, which are absent at the ends of the text.
    fn holds(self, previous: Option<char>, next: Option<char>) -> bool {
        match self {
            Assertion::TextStart => previous.is_none(),
            Assertion::TextEnd => next.is_none(),
            Assertion::LineStart { crlf: false } => matches!(previous, None | Some('\n')),
            Assertion::LineEnd { crlf: false } => matches!(next, None | Some('\n')),
            // Between the two halves of a line end there is neither start nor end of a line.
            Assertion::LineStart { crlf: true } => {
                matches!(previous, None | Some('\n'))
                    || previous == Some('\r') && next != Some('\n')
            }
            Assertion::LineEnd { crlf: true } => {
                matches!(next, None | Some('\r')) || next == Some('\n') && previous != Some('\r')
            }
            Assertion::Word { edge, ascii } => {
                let word = |side: Option<char>| {
                    side.is_some_and(|c| is_word(c) && (c.is_ascii() || !ascii))
                };
                let (before, after) = (word(previous), word(next));
                match edge {
                    WordEdge::Any => before != after,
                    WordEdge::None => before == after,
                    WordEdge::Start => !before && after,
                    WordEdge::End => before && !after,
                    WordEdge::StartHalf => !before,
                    WordEdge::EndHalf => !after,
                }
            }
        }
    }
}
