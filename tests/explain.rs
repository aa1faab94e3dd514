//! `check 'COMMAND'` and `check --batch`: what is printed, for people, programs and terminals.
#![expect(clippy::unwrap_used, reason = "a failure to set up is a failed test")]

#[expect(dead_code, reason = "each test target uses a part")]
mod support;

use std::process::Command;
use support::{Outcome, Place, blocks, checker, quoted};

fn acting(id: &str, conditions: &str, action: &str) -> String {
    format!(
        "[[rules]]\nid = \"{id}\"\n[[rules.match]]\nany = \"parsed.segments\"\n{conditions}\n[rules.action]\n{action}\n"
    )
}

const ZAP: &str = "head = { any_of = [\"zap\"] }";
const DENY: &str = "kind = \"deny\"\nmessage = \"No zapping.\\nUse zip.\"";

fn with(rules: &str) -> Place {
    Place::new().project(".i-insist/a.toml", rules)
}

#[test]
fn the_layout_for_people() {
    let rules = acting("a", ZAP, DENY)
        + &acting("near", &format!("{ZAP}\nargs = {{ any_of = [\"-9\"] }}"), DENY)
        + &acting(
            "held",
            "head = { any_of = [\"ls\"] }",
            "kind = \"rewrite\"\nreplace_head = \"no-such-program\"",
        )
        + &acting("far", "head = { any_of = [\"zop\"] }\nargs = { any_of = [\"x\"] }", DENY);
    let place = with(&rules);
    place.run(&["check", "ls 'a b' > out | X=1 sudo zap -1 && $(which zip)"], "").is(
        1,
        r#"command  ls 'a b' > out | X=1 sudo zap -1 && $(which zip)
segments
  head=ls args=["a b"] pipeline_start=true in_workspace=true depth=0 redirect=>out
  head=zap args=["-1"] pipeline_start=false in_workspace=true depth=0 wrappers=["X=1", "sudo"]
  head=$() args=[] pipeline_start=true in_workspace=true depth=0 dynamic=true
  head=which args=["zip"] pipeline_start=true in_workspace=true depth=1
matched  a
nearest  near: `args` does not hold for `zap`
action   deny
message
  No zapping.
  Use zip.
"#,
        "",
    );
    place.run(&["check", "ls"], "").is(
        0,
        "command  ls\nsegments\n  head=ls args=[] pipeline_start=true in_workspace=true depth=0\nmatched  -\n\
         held     held: `no-such-program` is not on PATH\naction   allow\n",
        "",
    );
    place.run(&["check", ""], "").is(0, "command\nsegments\nmatched  -\naction   allow\n", "");
    place
        .run(&["check", "zap 'x"], "")
        .shows(&["\nincomplete the text ends in the middle of something\nmatched  a\n"]);
}

#[test]
fn a_rewrite_shows_the_command_or_the_input() {
    let rewrite = |edit: &str| with(&acting("a", ZAP, &format!("kind = \"rewrite\"\n{edit}")));
    rewrite("replace_head = \"ls\"")
        .run(&["check", "zap x"], "")
        .shows(&["matched  a\naction   rewrite\nrewrite  ls x\n"]);
    rewrite("replace_head = \"ls\"\nset = { timeout = 5 }")
        .run(&["check", "zap x"], "")
        .shows(&["rewrite  {\"command\":\"ls x\",\"timeout\":5}\n"]);
}

#[test]
fn the_status_is_0_or_1_when_denied_or_2_on_errors() {
    let status = |place: &Place, command: &str| place.run(&["check", command], "").status;
    let place = with(
        &(acting("a", ZAP, DENY)
            + &acting("b", "head = { any_of = [\"zip\"] }", "kind = \"ask\"\nmessage = \"?\"")
            + &acting("c", "head = { any_of = [\"zop\"] }", "kind = \"context\"\nmessage = \"m\"")),
    );
    assert_eq!(status(&place, "ls"), Some(0));
    assert_eq!(status(&place, "zop"), Some(0));
    assert_eq!(status(&place, "zap"), Some(1));
    // There is nobody to ask.
    assert_eq!(status(&place, "zip"), Some(1));
    assert_eq!(status(&place, "HUMAN_PERMISSION_GRANTED=1 zap"), Some(0));
    assert_eq!(status(&with(&blocks("a")), "ls"), Some(1));
    assert_eq!(status(&with(&checker("a", "exit 3", "")), "ls"), Some(2));
    assert_eq!(status(&with("x = 1"), "ls"), Some(2));
    assert_eq!(status(&Place::new().without("HOME"), "ls"), Some(2));
    // What the engine itself refuses.
    assert_eq!(status(&Place::new(), "claude -p 'I insist'"), Some(1));
    for arguments in [
        &["check", "--jsn", "ls"][..],
        &["check", "--json"],
        &["check", "--"],
        &["check", "--batch", "x"],
    ] {
        Place::new().run(arguments, "").refuses(&["i-insist: check "]);
    }
}

#[test]
fn json_is_for_programs() {
    let place = with(&acting("a", ZAP, DENY));
    let expected = r#"{"command":"zap x","segments":[{"head":"zap","args":["x"],"pipeline_start":true,"in_workspace":true,"depth":0,"wrappers":[],"redirects":[],"assignments":[],"dynamic":false,"span":[0,5]}],"complete":true,"outcome":"deny","rules":["a"],"rewrite":null,"held":[],"nearest":[],"message":"No zapping.\nUse zip."}
"#;
    place.run(&["check", "zap x", "--json"], "").is(1, expected, "");
    place.run(&["check", "--json", "zap", "x"], "").is(1, expected, "");
    // Behind `--` everything is the command's.
    let outcome = place.run(&["check", "--", "zap", "--json"], "");
    outcome.shows(&["command  zap --json\n"]);
    let outcome = with("x = 1").run(&["check", "--json", "ls"], "");
    outcome.shows(&[r#""outcome":"deny","rules":[],"#, "unknown field `x`"]);
    assert_eq!(outcome.status, Some(2));
}

#[test]
fn batch_reads_commands_and_events_and_answers_each_with_a_line() {
    let rules = acting("a", ZAP, DENY)
        + "[[rules]]\nid = \"env\"\n[[rules.match]]\n\"event.paths\" = { glob = [\"**/.env\"] }\n[rules.action]\nkind = \"deny\"\nmessage = \"m\"\n";
    let place = with(&rules);
    let event = |kind: &str, more: &str| {
        format!(
            r#"{{"kind":"{kind}","cwd":{},"harness":"mine","tool_name":"t","tool_input":{{}}{more}}}"#,
            quoted(&place.at("project").to_string_lossy())
        )
    };
    let lines = [
        quoted("ls | zap"),
        event("shell", r#","command":"echo zap""#),
        String::new(),
        event("file_write", r#","paths":["x/.env"]"#),
        event("other", ""),
        "{".to_owned(),
        "[]".to_owned(),
        event("shel", ""),
        quoted("zap 'x"),
    ];
    let outcome = place.run(&["check", "--batch"], lines.join("\n"));
    let expected = [
        r#"{"command":"ls | zap","segments":[{"head":"ls","#,
        r#""outcome":"allow","#,
        r#"{"command":null,"complete":null,"outcome":"deny","rules":["env"],"#,
        r#"{"command":null,"complete":null,"outcome":"allow","#,
        r#"{"error":"input: invalid JSON: "#,
        r#"{"error":"invalid input: "#,
        r#"{"error":"invalid input: "#,
        r#""complete":false,"outcome":"deny","rules":["a"]"#,
    ];
    let answers: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(answers.len(), expected.len(), "{outcome:?}");
    for (answer, part) in answers.iter().zip(expected) {
        assert!(answer.contains(part), "{part} is not in {answer}");
    }
    // A line that cannot be read is an error, and the others are answered.
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(2), ""));
    place
        .run(&["check", "--batch"], [quoted("zap").as_bytes(), b"\n\"\xff\"\n"].concat())
        .shows(&["\"deny\"", "{\"error\":\"input: not UTF-8"]);
    place.run(&["check", "--batch"], "").is(0, "", "");
    assert_eq!(place.run(&["check", "--batch"], quoted("zap")).status, Some(0));
}

#[test]
fn check_never_logs() {
    let place = with(&acting("a", ZAP, DENY));
    place.run(&["check", "zap"], "");
    place.run(&["check", "--batch"], quoted("zap"));
    place.run(&["steer", "check", "grep x ."], "");
    assert!(!place.at(".local").exists());
}

/// The same on a terminal.
fn on_terminal(place: &Place, arguments: &[&str]) -> Outcome {
    let mut command = Command::new("python3");
    command
        .args(["-c", "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"])
        .arg(env!("CARGO_BIN_EXE_i-insist"))
        .args(arguments);
    place.furnish(&mut command);
    place.outcome(command, b"")
}

#[test]
fn labels_are_bold_on_a_terminal_alone_and_never_with_no_color() {
    let bold = |place: &Place| on_terminal(place, &["check", "zap"]).stdout.contains('\u{1b}');
    let place = with(&acting("a", ZAP, DENY));
    assert!(bold(&place));
    assert!(!place.run(&["check", "zap"], "").stdout.contains('\u{1b}'));
    let outcome = on_terminal(&place, &["check", "zap"]);
    outcome.shows(&["\u{1b}[1mcommand\u{1b}[0m  zap\r\n", "\u{1b}[1mmatched\u{1b}[0m  a\r\n"]);
    assert_eq!(outcome.status, Some(1));
    let place = place.variable("NO_COLOR", "1");
    assert!(!bold(&place));
    // Empty counts as not set.
    assert!(bold(&place.variable("NO_COLOR", "")));
}

#[test]
fn on_a_terminal_no_text_steers_it() {
    let action = "kind = \"deny\"\nmessage = \"\\u001b[2Jno\\u0007 \\u202e\"";
    let place = with(&acting("a\\u001b[1m", "head = { glob = [\"zap*\"] }", action))
        .variable("NO_COLOR", "1");
    let wild = "zap\u{1b}[31m \u{9b}2J 'a\nb' \u{202e}x";
    let outcome = on_terminal(&place, &["check", wild]);
    let raw = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t') || c == '\u{202e}';
    assert!(!outcome.stdout.contains(raw), "{outcome:?}");
    outcome.shows(&["\\u{1b}[31m", "\\u{9b}2J", "\\u{1b}[2Jno\\u{7} \\u{202e}"]);
    // A second line cannot pass for a label.
    let outcome = on_terminal(&place, &["check", "zap\naction   allow"]);
    outcome.shows(&["command  zap\r\n         action   allow\r\n"]);
    for arguments in [&["check", "--json", wild][..], &["validate"]] {
        let outcome = on_terminal(&place, arguments);
        assert!(!outcome.stdout.contains(raw), "{outcome:?}");
    }
    // A program that reads it gets the bytes.
    place.run(&["check", wild], "").shows(&[&format!("command  {wild}\n")]);
}
