//! The failure policy, and payloads of every bad kind: a verdict or a clear denial, never a hang.
#![expect(clippy::unwrap_used, reason = "a failure to set up is a failed test")]
#![expect(clippy::print_stdout, reason = "tells which case runs")]

#[expect(dead_code, reason = "each test target uses a part")]
mod support;

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use support::{Place, blocks, checker, object, quoted};

#[test]
fn an_invalid_rule_file_blocks_with_its_place_in_both_harnesses() {
    let cases = [
        ("[[rules]]\nid = \"a\"\nmesage = \"no\"\n", ":3:1: "),
        // On a disabled rule as well.
        ("[[rules]]\nid = \"a\"\nenabled = false\nchecker = 1\n", ":4:11: "),
        ("[[rules]\n", ":1:8: "),
    ];
    for (text, position) in cases {
        let place = Place::new().project(".i-insist/bad.toml", text);
        let file = place.in_project(".i-insist/bad.toml");
        let at = format!("configuration {file}{position}");
        let call = place.call("Bash", r#"{"command":"ls"}"#);
        for harness in ["claude", "codex"] {
            let answer = place.hook(harness, "pre-tool-use", &call);
            answer.denies_with(&[&at, "i-insist validate", "i-insist uninstall"]);
        }
        // An approval does not heal it, nor the prefix.
        place.says("prompt-1", "I insist").passes();
        place.edit("x").denies_with(&[&at]);
        place.bash("HUMAN_PERMISSION_GRANTED=1 ls").denies_with(&[&at]);
        steer(&place, &call).denies_with(&[&at]);
    }
}

#[test]
fn all_problems_of_all_files_are_told() {
    let place = Place::new()
        .home(".i-insist/a.toml", "one = 1\ntwo = 2\n")
        .project(".i-insist/b.toml", "three = 3\n");
    place.edit("x").denies_with(&["a.toml:1:1", "a.toml:2:1", "b.toml:1:1"]);
}

fn steer(place: &Place, payload: impl AsRef<[u8]>) -> support::Outcome {
    place.run(&["steer", "hook", "--event", "PreToolUse"], payload)
}

#[test]
fn without_a_usable_home_calls_are_blocked() {
    for place in [
        Place::new().without("HOME"),
        Place::new().variable("HOME", ""),
        Place::new().variable("HOME", "home"),
    ] {
        let cause = "HOME is unset or not an absolute path";
        place.edit("x").denies_with(&[cause]);
        place.says("prompt-1", "hello").refuses(&[cause]);
        place.hook("claude", "stop", place.sample("claude/Stop")).tells(&[cause]);
        steer(&place, place.editing("x")).tells(&[cause]);
        place.run(&["check"], "{}").is(
            2,
            "{\"blocked\":true,\"message\":\"configuration: HOME is unset or not an absolute path; set it to your home directory\"}\n",
            "",
        );
    }
}

#[test]
fn unknown_harness_event_or_argument_blocks() {
    let place = Place::new();
    let payload = place.editing("x");
    place.hook("clause", "pre-tool-use", &payload).refuses(&["unknown harness `clause`"]);
    place.hook("claude", "pre-tool", &payload).refuses(&["unknown event `pre-tool`"]);
    place.run(&["hook"], &payload).refuses(&["--harness"]);
    place.run(&["hook", "--harness", "claude"], &payload).refuses(&["--harness"]);
    place.hook("codex", "config-change", &payload).refuses(&["ConfigChange"]);
    // The payload of another event is not meant for this line.
    place.hook("claude", "stop", &payload).tells(&["hook_event_name must be `Stop`"]);
    for arguments in [vec!["steer", "hook"], vec!["steer", "hook", "--event", "Stop"]] {
        place.run(&arguments, &payload).tells(&["--event PreToolUse or --event PostToolUse"]);
    }
}

#[test]
fn a_payload_that_is_no_call_is_denied_in_the_form_of_its_event() {
    let place = Place::new();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_input = place.call("x", &format!(r#"{{"a":{deep}}}"#));
    let many = place.call("x", &format!(r#"{{"a":[{}1]}}"#, "1,".repeat(1_000_000)));
    let no_command = place.call("Bash", "{}");
    let command_of_the_wrong_type = place.call("Bash", r#"{"command":["ls"]}"#);
    let twice = place.editing("x").replace("{\"file_path\"", "{\"file_path\":\"/y\",\"file_path\"");
    let mark = format!("\u{feff}{}", place.editing("x"));
    let raw_nul = place.editing("x").replace("project/x", "project/\0x");
    let behind = format!("{} {{}}", place.editing("x"));
    let cases: [(&[u8], &str); 15] = [
        (b"", "invalid JSON"),
        (b" \n", "invalid JSON"),
        (b"nonsense", "invalid JSON"),
        (b"{\"a\":", "invalid JSON"),
        (b"{\"a\":NaN}", "invalid JSON"),
        (b"[]", "must be an object"),
        (b"{}", "cwd is missing"),
        (deep.as_bytes(), "nesting exceeds the limit of 512 levels"),
        (deep_input.as_bytes(), "nesting exceeds the limit of 512 levels"),
        (many.as_bytes(), "exceeds the limit of 1,000,000"),
        (no_command.as_bytes(), "tool_input.command is missing"),
        (command_of_the_wrong_type.as_bytes(), "tool_input.command must be a string"),
        (twice.as_bytes(), "file_path is given twice"),
        (mark.as_bytes(), "byte order mark"),
        (raw_nul.as_bytes(), "control character"),
    ];
    for (payload, cause) in cases.into_iter().chain([(behind.as_bytes(), "unexpected text")]) {
        println!("{cause}");
        for harness in ["claude", "codex"] {
            place.hook(harness, "pre-tool-use", payload).denies_with(&[
                "i-insist: ",
                "input",
                cause,
            ]);
        }
        steer(&place, payload).tells(&[]);
    }
    place.hook("claude", "user-prompt-submit", "").refuses(&["invalid JSON"]);
    place.hook("claude", "config-change", "").refuses(&["invalid JSON"]);
    for event in ["post-tool-use", "stop", "session-start"] {
        place.hook("claude", event, "").tells(&["invalid JSON"]);
    }
}

#[test]
fn a_path_that_can_name_nothing_is_denied() {
    let place = Place::new();
    for (path, cause) in [("/a\\u0000b", "must not contain a NUL"), ("", "must not be empty")] {
        let input = format!(r#"{{"file_path":"{path}","content":""}}"#);
        let call = place.call("Write", &input.replace("\\\\", "\\"));
        place.hook("claude", "pre-tool-use", call).denies_with(&["file_path", cause]);
    }
}

#[test]
fn p33_odd_text_is_judged_not_passed() {
    let place = Place::new().project(".i-insist/a.toml", blocks("a"));
    let lone = place.call("Bash", r#"{"command":"echo \ud800 x"}"#);
    place.hook("claude", "pre-tool-use", lone).denies("blocked by a");
    let nul = place.call("Bash", r#"{"command":"echo \u0000 x"}"#);
    place.hook("claude", "pre-tool-use", nul).denies("blocked by a");
    let mut bytes = place.call("Bash", r#"{"command":"echo x"}"#).into_bytes();
    let at = bytes.len() - 4;
    bytes[at] = 0xff;
    place.hook("claude", "pre-tool-use", bytes).denies("blocked by a");
}

#[test]
fn p2_stdin_that_stays_open_behind_the_object() {
    let place = Place::new().project(".i-insist/a.toml", blocks("a"));
    let mut child =
        place.command(&["hook", "--harness", "claude", "pre-tool-use"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(place.editing("x").as_bytes()).unwrap();
    // `stdin` lives until the program has ended.
    let mut answer = String::new();
    child.stdout.take().unwrap().read_to_string(&mut answer).unwrap();
    assert!(answer.contains("blocked by a"), "{answer}");
    assert!(child.wait().unwrap().success());
    drop(stdin);
}

#[test]
fn a_closed_stdout_refuses_what_can_be_refused() {
    let place = Place::new().project(".i-insist/a.toml", blocks("a"));
    let closed = |arguments: &str, payload: &str| {
        let mut command = Command::new("sh");
        let script = format!("exec {} {arguments} >&-", env!("CARGO_BIN_EXE_i-insist"));
        place.furnish(command.args(["-c", &script]));
        place.outcome(command, payload.as_bytes())
    };
    let edit = place.editing("x");
    closed("hook --harness claude pre-tool-use", &edit).refuses(&["blocked by a"]);
    // A pass says nothing, so there is nothing that nobody hears.
    let start = place.sample("claude/SessionStart-startup");
    closed("hook --harness claude session-start", &start).passes();
    let place = Place::new();
    closed("hook --harness claude user-prompt-submit", &place.sample("claude/UserPromptSubmit"))
        .passes();
    // What fails open does so without a reader, too.
    closed("hook --harness claude stop", "nonsense").passes();
    closed("steer hook --event PreToolUse", "nonsense").passes();
}

#[test]
fn a_reader_that_went_away_refuses_what_can_be_refused() {
    let place = Place::new().project(".i-insist/a.toml", blocks("a"));
    let mut child =
        place.command(&["hook", "--harness", "claude", "pre-tool-use"]).spawn().unwrap();
    drop(child.stdout.take());
    let payload = place.editing("x");
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("blocked by a"));
}

/// Runs one hook with at most `mebibytes` of address space.
fn bounded(place: &Place, mebibytes: usize, payload: &[u8]) -> support::Outcome {
    let script = format!(
        "ulimit -v {}; exec {} hook --harness claude pre-tool-use",
        mebibytes * 1024,
        env!("CARGO_BIN_EXE_i-insist")
    );
    let mut command = Command::new("sh");
    place.furnish(command.args(["-c", &script]));
    place.outcome(command, payload)
}

const MIB: usize = 1 << 20;

#[test]
fn a_payload_of_100_mib_takes_less_than_three_times_its_size() {
    let place = Place::new()
        .project(".i-insist/a.toml", checker("a", "wc -c >size; echo '\"read\"'", "timeout = 300"));
    let content = "0123456789abcde\\n".repeat(100 * MIB / 17);
    let path = quoted(&place.in_project("x"));
    let input = format!(r#"{{"file_path":{path},"content":"{content}"}}"#);
    bounded(&place, 300, place.call("Write", &input).as_bytes()).denies("read");
    let size = std::fs::read_to_string(place.at("project/.i-insist/size")).unwrap();
    assert!(size.trim().parse::<usize>().unwrap() > 190 * MIB);
}

#[test]
fn a_shell_command_of_9_mib_is_read_within_bounds_and_a_longer_one_than_10_is_denied() {
    let place = Place::new();
    let command = format!("cat <<'E'\n{}\nE\n", "0123456789abcde ".repeat(9 * MIB / 16));
    let input = object(&[("command", &command)]);
    bounded(&place, 100, place.call("Bash", &input).as_bytes()).passes();
    let input = object(&[("command", &"a ".repeat(6 * MIB))]);
    bounded(&place, 100, place.call("Bash", &input).as_bytes())
        .denies_with(&["longer than 10 MiB"]);
}

#[test]
fn a_payload_beyond_256_mib_is_denied_by_that_name_and_read_to_its_end() {
    let place = Place::new();
    let mut child = place
        .command(&["hook", "--harness", "claude", "pre-tool-use"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let piece = vec![b' '; MIB];
    for _ in 0..257 {
        stdin.write_all(&piece).unwrap();
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("longer than 256 MiB"), "{stdout}");
    assert!(stdout.contains(r#""permissionDecision":"deny""#), "{stdout}");
    assert_eq!(output.status.code(), Some(0));
}
