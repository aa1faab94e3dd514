#![doc = include_str!("../manual/08-decision.md")]
//!
//! Promises: the order of the rules of one kind never changes the outcome, only whose message is
//! shown; what fails blocks. Never: spawns, reads or prints; checkers are handed in.

mod document;
mod near;
mod rewrite;
#[cfg(test)]
mod tests;

pub(crate) use document::{parsed, segment_line};
pub(crate) use near::{NearMiss, misses as near_misses};
pub(crate) use rewrite::{Held, Programs};

use crate::checker::Verdict;
use crate::event::Event;
use crate::json::Json;
use crate::matching::{Document, Outcome};
use crate::rules::{Effect, Layer, Message, Rule, Spelling};
use crate::shell::Parsed;
use rewrite::Edit;
use std::cell::OnceCell;

/// What is done to a call; a later one is stronger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// Nothing: the call runs as it is.
    Allow,
    /// It runs, and the model is told something.
    Context,
    /// It runs with other input.
    Rewrite,
    /// The person is asked.
    Ask,
    /// It does not run.
    Deny,
}

/// Whether the person approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Approval {
    /// Nobody did.
    None,
    /// The person's message, or the prefix of this call, did.
    Granted,
}

/// A rule that spoke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spoken {
    /// Its id.
    pub(crate) rule: String,
    /// What it asks for.
    pub(crate) strength: Strength,
    /// Its message, as it stands in the rule or came from the checker.
    pub(crate) message: String,
    /// Whether the person can override it.
    pub(crate) overridable: bool,
}

/// The outcome of all rules together.
#[derive(Debug, PartialEq)]
pub(crate) struct Decision {
    /// What is done.
    pub(crate) strength: Strength,
    /// The rules that spoke, strongest first, then in the order of the search.
    pub(crate) spoken: Vec<Spoken>,
    /// The whole new input, when `strength` is `Rewrite`.
    pub(crate) input: Option<Json<'static>>,
    /// Rewrites that were held back, and why.
    pub(crate) held: Vec<(String, Held)>,
    /// Rules that were not asked because the person approved.
    pub(crate) overridden: Vec<String>,
    /// Whether a checker failed: the call is blocked, and `check` ends with an error.
    pub(crate) failed: bool,
}

impl Decision {
    /// The text for the model: each message once trimmed, none empty, a blank line between.
    pub(crate) fn message(&self) -> String {
        // One blocking guard rule alone is shown to the byte.
        if let [only] = self.spoken.as_slice() {
            return only.message.clone();
        }
        let messages: Vec<&str> = self
            .spoken
            .iter()
            .map(|spoken| spoken.message.trim())
            .filter(|message| !message.is_empty())
            .collect();
        messages.join("\n\n")
    }
}

/// Where checkers come from: started as processes, or answered in our own.
pub(crate) trait Checkers {
    /// Asks the checker of `rule` about the call.
    fn ask(&mut self, rule: &Rule) -> Verdict;

    /// Whether a rule that is skipped could have blocked, without starting anything.
    fn could_block(&mut self, rule: &Rule) -> bool;
}

/// What the search looks at.
pub(crate) struct Call<'a> {
    /// The call.
    pub(crate) event: &'a Event<'a>,
    /// Its shell text taken apart; `None` for every other kind.
    pub(crate) shell: Option<&'a Parsed>,
    /// Whether the person approved.
    pub(crate) approval: Approval,
    /// Whose contract holds.
    pub(crate) spelling: Spelling,
}

/// Judges a call by `rules`, which stand in the order of the search: guard rules, then those of
/// pi-hooks, then those of steer files.
pub(crate) fn decide(
    call: &Call<'_>,
    rules: &[Rule],
    checkers: &mut dyn Checkers,
    programs: &dyn Programs,
) -> Decision {
    let mut search = Search {
        call,
        document: OnceCell::new(),
        spoken: Vec::new(),
        nudges: Vec::new(),
        edits: Vec::new(),
        overridden: Vec::new(),
        blocked: false,
        failed: false,
    };
    for rule in rules {
        // Guard rules and pi-hooks' blocks end at the first that blocks; steer's are all heard.
        if rule.layer == Layer::Steer || !search.blocked {
            search.judge(rule, checkers);
        }
    }
    search.conclude(programs)
}

struct Search<'a> {
    call: &'a Call<'a>,
    /// Made when the first rule has conditions on the call.
    document: OnceCell<Document<'a>>,
    spoken: Vec<Spoken>,
    /// Which of them are pi-hooks' nudges.
    nudges: Vec<usize>,
    edits: Vec<Edit<'a>>,
    overridden: Vec<String>,
    blocked: bool,
    failed: bool,
}

impl<'a> Search<'a> {
    fn judge(&mut self, rule: &'a Rule, checkers: &mut dyn Checkers) {
        let event = self.call.event;
        if !rule.enabled
            || !rule.when.admits(event.phase, self.call.spelling)
            || !rule.gates.admit(event)
        {
            return;
        }
        let Some(segments) = self.matched(rule) else {
            return;
        };
        let gives_way = self.call.approval == Approval::Granted && rule.overridable;
        if gives_way && !matches!(rule.effect, Effect::Context { .. }) {
            if checkers.could_block(rule) {
                self.overridden.push(rule.id.clone());
            }
            return;
        }
        match &rule.effect {
            Effect::Checker { .. } => match checkers.ask(rule) {
                Verdict::Pass => {}
                Verdict::Block(message) => self.speak(rule, Strength::Deny, message),
                Verdict::Broken(message) => {
                    self.failed = true;
                    self.speak(rule, Strength::Deny, message);
                }
            },
            Effect::Deny { message } => self.speak(rule, Strength::Deny, self.text(message)),
            Effect::Ask { message } => self.speak(rule, Strength::Ask, self.text(message)),
            Effect::Context { message } => self.speak(rule, Strength::Context, self.text(message)),
            Effect::Rewrite { .. } => self.edits.push(Edit { rule, segments }),
        }
    }

    /// The segments that a rule's blocks hold for; `None` when no block holds. A rule without blocks
    /// holds for every call.
    fn matched(&self, rule: &Rule) -> Option<Vec<usize>> {
        let mut segments = Vec::new();
        let mut holds = rule.matches.is_empty();
        for block in &rule.matches {
            let document =
                self.document.get_or_init(|| document::of(self.call.event, self.call.shell));
            if let Outcome::Held(elements) = block.evaluate(document) {
                holds = true;
                if block.binding.names_segments() {
                    segments.extend(elements);
                }
            }
        }
        segments.sort_unstable();
        segments.dedup();
        holds.then_some(segments)
    }

    fn text(&self, message: &Message) -> String {
        message.text(&self.call.event.harness).unwrap_or_default().to_owned()
    }

    fn speak(&mut self, rule: &Rule, strength: Strength, message: String) {
        self.blocked |= strength == Strength::Deny && rule.layer != Layer::Steer;
        if strength == Strength::Context && rule.layer == Layer::PiHooks {
            self.nudges.push(self.spoken.len());
        }
        self.spoken.push(Spoken {
            rule: rule.id.clone(),
            strength,
            message,
            overridable: rule.overridable,
        });
    }

    fn conclude(mut self, programs: &dyn Programs) -> Decision {
        let outcome = rewrite::apply(&self.edits, self.call.event, self.call.shell, programs);
        for index in outcome.made {
            let Some(rule) = self.edits.get(index).map(|edit| edit.rule) else {
                continue;
            };
            let message = rule.effect.message().map_or(String::new(), |message| self.text(message));
            self.speak(rule, Strength::Rewrite, message);
        }
        let strength =
            self.spoken.iter().map(|spoken| spoken.strength).max().unwrap_or(Strength::Allow);
        if strength >= Strength::Ask {
            // A call that is blocked gets no nudges. From the last on, so that no index shifts.
            for index in self.nudges.iter().rev() {
                self.spoken.remove(*index);
            }
        }
        // Strongest first; the sort is stable, so equals stay in the order of the search.
        self.spoken.sort_by_key(|spoken| std::cmp::Reverse(spoken.strength));
        Decision {
            strength,
            spoken: self.spoken,
            input: outcome.input.filter(|_| strength == Strength::Rewrite),
            held: outcome.held,
            overridden: self.overridden,
            failed: self.failed,
        }
    }
}
