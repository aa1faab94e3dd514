use super::*;
use crate::rules::{Place, Program};
use std::rc::Rc;

fn finish(file: &str, max_retries: u32) -> Finish {
    let place = Place { file: Rc::from(Path::new(file)), line: 1, column: 1 };
    let check = Check {
        name: None,
        program: Program::Command("true".to_owned()),
        inputs: None,
        timeout: None,
        place,
    };
    Finish { fail_fast: true, max_retries, checks: vec![check] }
}

fn failure(name: &str) -> Failure {
    Failure {
        name: name.to_owned(),
        cause: "failed".to_owned(),
        tail: Vec::new(),
        printed: 0,
        log: None,
    }
}

/// What was seen, what stood there after the checks, whether it ran again, failed, was unsettled.
fn memory(text: &str) -> Memory {
    let word = |index| text.split(' ').nth(index).filter(|word| *word != "-");
    Memory {
        seen: word(0).map(str::to_owned),
        after: word(1).map(str::to_owned),
        again: text.contains("again"),
        failed: text.contains("failed"),
        unsettled: text.contains("unsettled"),
    }
}

#[test]
fn a_check_is_due_by_what_changed_since_its_own_last_run() {
    for (remembered, now, background, due, why) in [
        ("- -", "a", false, true, "never seen"),
        ("a a", "a", false, false, "as it was"),
        ("a a", "b", false, true, "changed"),
        ("a a", "", false, true, "no snapshot"),
        ("a a failed", "a", false, true, "failed before"),
        ("a b", "b", false, true, "changed by checks"),
        ("a b again", "b", false, false, "changed by checks again"),
        ("a b again", "c", false, true, "and then by others"),
        ("a b again failed", "b", false, true, "changed by checks, failed"),
        ("a - again", "b", false, true, "not known what checks changed"),
        ("a a unsettled", "a", true, false, "tasks still run"),
        ("a a unsettled", "a", false, true, "tasks have ended"),
    ] {
        let now = (!now.is_empty()).then(|| now.to_owned());
        let found = is_due(&memory(remembered), now.as_ref(), background);
        assert_eq!(found, due, "{why}");
    }
}

#[test]
fn every_file_has_a_count_of_its_own() {
    let configurations = [finish("/a.toml", 2), finish("/b.toml", 1), finish("/c.toml", 0)];
    let event = Json::Null;
    let request = Request {
        directory: Path::new("/"),
        configurations: &configurations,
        problems: None,
        event: &event,
        background: false,
        deadline: Instant::now(),
        watch_stdin: false,
    };
    let mut state = State::default();
    let mut round = |failing: [bool; 3]| {
        let failures = ["a", "b", "c"].map(failure);
        let failures: Vec<Vec<Failure>> = failures
            .into_iter()
            .zip(failing)
            .map(|(failure, failing)| if failing { vec![failure] } else { Vec::new() })
            .collect();
        let verdict = Verdict::of(&request, &failures, &mut state);
        let names = |failures: &[&Failure]| {
            failures.iter().map(|failure| failure.name.as_str()).collect::<String>()
        };
        (names(&verdict.held), names(&verdict.given_up))
    };
    let expect = |held: &str, given_up: &str| (held.to_owned(), given_up.to_owned());
    assert_eq!(round([true, true, true]), expect("ab", "c"));
    assert_eq!(round([true, true, false]), expect("a", "b"));
    assert_eq!(round([true, true, false]), expect("", "ab"));
    assert_eq!(round([false, true, false]), expect("", "b"));
    assert_eq!(round([true, false, false]), expect("a", ""), "what passed starts anew");
    assert_eq!(round([true, true, false]), expect("ab", ""));
}

#[test]
fn an_agent_is_held_only_for_what_was_counted() {
    let lint = failure("Lint");
    let verdict = || Verdict {
        held: vec![&lint],
        given_up: Vec::new(),
        agent: Some("a problem"),
        person: None,
    };
    let counted = verdict().outcome(Ok(()));
    assert!(
        counted
            .agent
            .is_some_and(|text| text.starts_with("a problem\n\n") && text.contains("Lint: failed"))
    );
    assert_eq!(counted.person, None);
    let lost = verdict().outcome(Err("disk full".to_owned()));
    assert_eq!(lost.agent, None);
    assert!(
        lost.person
            .is_some_and(|text| text.starts_with("a problem\n\n") && text.contains("disk full"))
    );
}

#[test]
fn a_check_is_remembered_by_what_it_is() {
    let mut finish = finish("/a.toml", 1);
    let mut keys = vec![key(&finish.checks[0])];
    finish.checks[0].name = Some("n".to_owned());
    keys.push(key(&finish.checks[0]));
    finish.checks[0].program = Program::Script("true".into());
    keys.push(key(&finish.checks[0]));
    finish.checks[0].inputs = Some(Vec::new());
    keys.push(key(&finish.checks[0]));
    finish.checks[0].place.file = Rc::from(Path::new("/b.toml"));
    keys.push(key(&finish.checks[0]));
    finish.checks[0].place.line = 7;
    let moved = key(&finish.checks[0]);
    assert_eq!(keys.last(), Some(&moved), "a line above it changes nothing");
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 5);
}
