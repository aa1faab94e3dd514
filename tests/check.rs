//! `check < EVENT.json`: one neutral event, one verdict, and its exit status.
#![expect(clippy::unwrap_used, reason = "a failure to set up is a failed test")]

#[expect(dead_code, reason = "each test target uses a part")]
mod support;

use support::{Outcome, Place, blocks, checker, object, quoted};

/// A neutral event with `more` members.
fn event(place: &Place, more: &str) -> String {
    format!(
        r#"{{"cwd":{},"harness":"claude","tool_name":"T","tool_input":{{}},{more}}}"#,
        quoted(&place.at("project").to_string_lossy())
    )
}

fn shell(place: &Place, command: &str) -> String {
    event(place, &format!(r#""kind":"shell","command":{}"#, quoted(command)))
}

fn check(place: &Place, event: &str) -> Outcome {
    place.run(&["check"], event)
}

#[track_caller]
fn answers(outcome: &Outcome, status: i32, blocked: bool, message: &str) {
    let text = format!("{{\"blocked\":{blocked},\"message\":{message}}}\n");
    outcome.is(status, &text, "");
}

#[test]
fn both_decisions_end_with_0_and_a_failure_with_2() {
    let place = Place::new().project(".i-insist/a.toml", blocks("a") + "kind = \"shell\"");
    answers(&check(&place, &event(&place, r#""kind":"other""#)), 0, false, "null");
    answers(&check(&place, &shell(&place, "ls")), 0, true, r#""blocked by a""#);
    let place = Place::new().project(".i-insist/a.toml", checker("a", "exit 3", ""));
    answers(
        &check(&place, &shell(&place, "ls")),
        2,
        true,
        r#""rule `a`: checker exited with status 3""#,
    );
    let place = Place::new().project(".i-insist/a.toml", "nonsense");
    let broken = check(&place, &shell(&place, "ls"));
    broken.shows(&[r#"{"blocked":true,"message":"i-insist: configuration "#, "a.toml:1:9"]);
    assert_eq!((broken.status, broken.stderr.as_str()), (Some(2), ""));
}

#[test]
fn what_is_no_event_is_blocked_with_status_2() {
    let place = Place::new();
    let cases = [
        (String::new(), "invalid JSON"),
        ("nonsense".to_owned(), "invalid JSON"),
        ("[]".to_owned(), "must be an object"),
        (event(&place, r#""kind":"shell""#), "tool_input.command is missing"),
        (
            event(&place, r#""kind":"odd""#),
            "kind must be `shell`, `file_write`, `file_edit` or `other`, found",
        ),
        (event(&place, r#""kind":"other","command":"ls""#), "command must be null"),
        (event(&place, r#""kind":"other","paths":["a\u0000"]"#), "NUL"),
        (
            event(&place, r#""kind":"other""#).replace("\"tool_name\":\"T\",", ""),
            "tool_name is missing",
        ),
        (
            event(&place, r#""kind":"other""#).replace("\"harness\":\"claude\",", ""),
            "harness is missing",
        ),
        (
            event(&place, r#""kind":"other""#).replace("\"tool_input\":{},", ""),
            "tool_input is missing",
        ),
    ];
    for (event, cause) in cases {
        let outcome = check(&place, &event);
        outcome.shows(&[r#"{"blocked":true,"message":""#, "input", cause]);
        assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(2), ""), "{event}");
    }
    place.run(&["check", "--json"], "").refuses(&["check takes a command"]);
}

#[test]
fn paths_of_changes_join_the_targets_and_unknown_fields_reach_the_checker() {
    let place =
        Place::new().project("sub/.i-insist/a.toml", checker("a", "cat >seen; echo '\"no\"'", ""));
    let change =
        r#""kind":"file_edit","changes":[{"path":"sub/x","operation":"delete"}],"odd":[1.50]"#;
    answers(&check(&place, &event(&place, change)), 0, true, r#""no""#);
    let seen = std::fs::read_to_string(place.at("project/sub/.i-insist/seen")).unwrap();
    let path = quoted(&place.in_project("sub/x"));
    for part in [
        format!(r#""paths":[{path}]"#),
        format!(r#""changes":[{{"path":{path},"operation":"delete","content":""}}]"#),
        r#""odd":[1.50]"#.to_owned(),
        r#""phase":"pre","tool_response":null,"tool_failed":null"#.to_owned(),
    ] {
        assert!(seen.contains(&part), "{part} is not in {seen}");
    }
}

#[test]
fn it_knows_the_prefix_but_no_approval_and_logs_nothing() {
    let place = Place::new().project(".i-insist/a.toml", blocks("a"));
    place.says("prompt-1", "I insist").passes();
    let logged = place.log();
    let ids = r#""session_id":"session-1","turn_id":"prompt-1","kind":"other""#;
    answers(&check(&place, &event(&place, ids)), 0, true, r#""blocked by a""#);
    let prefixed = shell(&place, "HUMAN_PERMISSION_GRANTED=1 touch x");
    answers(&check(&place, &prefixed), 0, false, "null");
    assert_eq!(place.log(), logged);
}

#[test]
fn the_engines_own_refusal_is_a_decision() {
    let place = Place::new();
    let own = check(
        &place,
        &shell(&place, "HUMAN_PERMISSION_GRANTED=1 i-insist hook --harness claude stop"),
    );
    own.shows(&[r#"{"blocked":true,"message":"i-insist: an agent must not call its own hook"#]);
    assert_eq!(own.status, Some(0));
    answers(&check(&place, &shell(&place, "i-insist help hook")), 0, false, "null");
}

#[test]
fn the_hook_and_check_judge_alike() {
    let place = Place::new().project(
        ".i-insist/a.toml",
        checker("a", "grep -q secret && echo '\"no\"' || echo null", ""),
    );
    for (command, blocked) in [("cat secret", true), ("cat public", false)] {
        let outcome = check(&place, &shell(&place, command));
        answers(&outcome, 0, blocked, if blocked { r#""no""# } else { "null" });
        if blocked {
            place.bash(command).denies("no");
        } else {
            place.bash(command).passes();
        }
    }
    let codex = place.call("Bash", &object(&[("command", "cat secret")]));
    place.hook("codex", "pre-tool-use", codex).denies("no");
}
