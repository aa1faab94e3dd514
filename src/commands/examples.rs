//! The examples that rules carry in `[rules.test]`, judged by the same engine as calls.

use super::{explain, judge};
use crate::checker::Verdict;
use crate::decision::{self, Approval, Call, Checkers, Decision, Programs};
use crate::event::Phase;
use crate::rules::{Diagnostic, Place, Rule, Spelling, When};
use crate::shell::Wrapper;
use crate::world::World;

/// The examples of `rule` that do not come out as it says; `wrappers` are those of the settings.
pub(crate) fn failures(world: &World, wrappers: &[Wrapper], rule: &Rule) -> Vec<Diagnostic> {
    let try_rule = |command: &str| try_rule(world, wrappers, rule, command);
    let mut failures = Vec::new();
    let mut expect = |holds: bool, place: &Place, message: String| {
        if !holds {
            failures.push(Diagnostic { place: place.clone(), message });
        }
    };
    for (command, place) in &rule.tests.fires {
        expect(
            try_rule(command).fired,
            place,
            format!("`{}` must fire on this command and does not", rule.id),
        );
    }
    for (command, place) in &rule.tests.ignores {
        expect(
            !try_rule(command).fired,
            place,
            format!("`{}` must ignore this command and fires", rule.id),
        );
    }
    for (before, after, place) in &rule.tests.rewrites {
        let found = try_rule(before).rewritten.unwrap_or_else(|| before.clone());
        expect(
            found == *after,
            place,
            format!("`{}` must make this `{after}`, and makes it `{found}`", rule.id),
        );
    }
    failures
}

/// What one rule alone does with a command.
struct Trial {
    fired: bool,
    rewritten: Option<String>,
}

fn try_rule(world: &World, wrappers: &[Wrapper], rule: &Rule, command: &str) -> Trial {
    let mut event = explain::shell_event(world, command);
    event.phase = match rule.when {
        When::At(phase) => phase,
        When::Either => Phase::Pre,
    };
    let parsed = judge::parse(world, &event, wrappers);
    let call = Call {
        event: &event,
        shell: parsed.as_ref(),
        approval: Approval::None,
        spelling: Spelling::Steer,
    };
    let mut asked = NoChecker { asked: false };
    let decision = decision::decide(&call, std::slice::from_ref(rule), &mut asked, &AllThere);
    let Decision { spoken, input, .. } = decision;
    let rewritten = input.and_then(|input| Some(input.get("command")?.as_str()?.to_owned()));
    Trial { fired: asked.asked || !spoken.is_empty(), rewritten }
}

/// Notes that a checker would be asked; examples start no program.
struct NoChecker {
    asked: bool,
}

impl Checkers for NoChecker {
    fn ask(&mut self, _: &Rule) -> Verdict {
        self.asked = true;
        Verdict::Pass
    }

    fn could_block(&mut self, _: &Rule) -> bool {
        false
    }
}

/// Examples hold wherever they are tried: whatever a rewrite names is there.
struct AllThere;

impl Programs for AllThere {
    fn finds(&self, _: &str) -> bool {
        true
    }
}
