//! From the tree of a pattern to the program that `search` runs.

use super::classes::Item;
use super::parser::{Assertion, Kind, Node, Syntax};

/// One instruction; unless it says otherwise, the next one follows it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Instruction {
    /// Takes this character.
    Char(char),
    /// Takes a character of the class with this number.
    Class(usize),
    /// Goes on where this holds.
    Assert(Assertion),
    /// Goes on at both, the first being preferred.
    Split { first: usize, second: usize },
    /// Goes on elsewhere.
    Jump(usize),
    /// The pattern has matched.
    Match,
}

/// A pattern as a program.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) instructions: Vec<Instruction>,
    pub(super) classes: Vec<Item>,
}

impl Program {
    /// Makes the program of a tree, whose size the parser has found to be within bounds.
    pub(super) fn new(syntax: &Syntax) -> Program {
        let mut program = Program {
            instructions: Vec::with_capacity(syntax.root.size + 1),
            classes: syntax.classes.clone(),
        };
        program.emit(&syntax.root);
        program.push(Instruction::Match);
        program
    }

    fn push(&mut self, instruction: Instruction) -> usize {
        self.instructions.push(instruction);
        self.instructions.len() - 1
    }

    fn emit(&mut self, node: &Node) {
        match &node.kind {
            Kind::Char(character) => drop(self.push(Instruction::Char(*character))),
            Kind::Class(number) => drop(self.push(Instruction::Class(*number))),
            Kind::Assertion(assertion) => drop(self.push(Instruction::Assert(*assertion))),
            Kind::Concat(nodes) => nodes.iter().for_each(|node| self.emit(node)),
            Kind::Alternate(nodes) => self.emit_alternation(nodes),
            Kind::Repeat { node, min, max: None, greedy } => self.emit_endless(node, *min, *greedy),
            Kind::Repeat { node, min, max: Some(max), greedy } => {
                (0..*min).for_each(|_| self.emit(node));
                let mut splits = Vec::new();
                for _ in *min..*max {
                    splits.push(self.push(Instruction::Match));
                    self.emit(node);
                }
                let end = self.instructions.len();
                for split in splits {
                    self.instructions[split] = choice(*greedy, split + 1, end);
                }
            }
        }
    }

    fn emit_alternation(&mut self, nodes: &[Node]) {
        let mut jumps = Vec::new();
        for (number, node) in nodes.iter().enumerate() {
            if number + 1 == nodes.len() {
                self.emit(node);
                continue;
            }
            let split = self.push(Instruction::Match);
            self.emit(node);
            jumps.push(self.push(Instruction::Match));
            self.instructions[split] = choice(true, split + 1, self.instructions.len());
        }
        for jump in jumps {
            self.instructions[jump] = Instruction::Jump(self.instructions.len());
        }
    }

    fn emit_endless(&mut self, node: &Node, min: u32, greedy: bool) {
        if min == 0 {
            let split = self.push(Instruction::Match);
            if node.nullable {
                // `(x+)?` instead of `x*`: a round that took nothing must still be able to leave
                // the loop with the preference of that round.
                self.emit_endless(node, 1, greedy);
            } else {
                self.emit(node);
                self.push(Instruction::Jump(split));
            }
            self.instructions[split] = choice(greedy, split + 1, self.instructions.len());
            return;
        }
        (1..min).for_each(|_| self.emit(node));
        let start = self.instructions.len();
        self.emit(node);
        self.push(choice(greedy, start, self.instructions.len() + 1));
    }
}

/// A split between one more round and the end of a repetition.
fn choice(greedy: bool, round: usize, end: usize) -> Instruction {
    let (first, second) = if greedy { (round, end) } else { (end, round) };
    Instruction::Split { first, second }
}
