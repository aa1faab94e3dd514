//! pi-hooks' file in every harness, and Pi's hook as its bridge calls it.
#![expect(clippy::unwrap_used, reason = "a failure to set up is a failed test")]

#[expect(dead_code, reason = "each test target uses a part")]
mod support;

use std::fs;
use std::io::Write;
use std::thread;
use std::time::Duration;
use support::{Outcome, Place, checker, object, quoted};

/// A block that stands between two nudges, all three for the same calls, and a nudge for a file.
const HOOKS: &str = r#"{"tool_call": {"rules": [
    {"match": {"tool": "bash", "arguments": {"command": "*rm*"}}, "action": "nudge", "text": "first"},
    {"match": {"tool": "bash", "arguments": {"command": "*rm -rf*"}}, "action": "block", "reason": "no"},
    {"match": {"tool": "*", "arguments": {"command": "*rm*"}}, "action": "nudge", "text": "second"},
    {"match": {"tool": "*", "arguments": {"path": "**/.env*"}}, "action": "nudge", "text": "secret"}
]}}"#;

/// A question of the bridge in turn `turn`.
fn ask(place: &Place, event: &str, turn: &str, more: &str) -> Outcome {
    let cwd = quoted(&place.in_project(""));
    let payload = format!(r#"{{"session_id":"s","turn_id":"{turn}","cwd":{cwd},{more}}}"#);
    place.hook("pi", event, payload)
}

/// A shell call in turn `turn`, of a project that is trusted or not.
fn bash(place: &Place, turn: &str, command: &str, trusted: bool) -> Outcome {
    let input = object(&[("command", command)]);
    let more = format!(r#""tool_name":"bash","tool_input":{input},"trusted":{trusted}"#);
    ask(place, "pre-tool-use", turn, &more)
}

fn says(place: &Place, turn: &str, text: &str, more: &str) {
    let more = format!(r#""prompt":{}{more}"#, quoted(text));
    ask(place, "user-prompt-submit", turn, &more).passes();
}

#[test]
fn a_block_gets_no_nudges_and_nudges_add_up() {
    let place = Place::new().project(".pi/pi-hooks.json", HOOKS);
    bash(&place, "1", "rm -rf x", true).is(
        0,
        r#"{"decision":"block","reason":"no","notice":"i-insist: blocked by `pi-hooks/2`; to override, say \"I insist\" in your message."}"#,
        "",
    );
    bash(&place, "1", "rm x", true).is(0, r#"{"guidance":"first\n\nsecond"}"#, "");
    bash(&place, "1", "ls", true).passes();
    let read = r#""tool_name":"read","tool_input":{"path":"@sub/../.env.local"}"#;
    ask(&place, "pre-tool-use", "1", read).is(0, r#"{"guidance":"secret"}"#, "");
}

#[test]
fn it_holds_in_the_other_harnesses() {
    let place = Place::new().project(".pi-hooks.json", HOOKS);
    place.bash("rm -rf x").denies("no");
    place.bash("rm x").shows(&[r#""additionalContext":"first\n\nsecond""#]);
    place.bash("ls").passes();
    place.edit(".env").shows(&[r#""additionalContext":"secret""#]);
    place.edit("env").passes();
    let secret = quoted(&place.in_project(".env"));
    let read = place.call("Read", &format!(r#"{{"file_path":{secret}}}"#));
    place.hook("claude", "pre-tool-use", read).shows(&["secret"]);
    let patch = "*** Begin Patch\n*** Add File: .env\n+a\n*** End Patch";
    let payload = format!(
        r#"{{"session_id":"s","turn_id":"t","cwd":{},"hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{}}}"#,
        quoted(&place.in_project("")),
        object(&[("command", patch)]),
    );
    place.hook("codex", "pre-tool-use", payload).shows(&["secret"]);
}

#[test]
fn the_first_name_at_the_root_of_the_repository_counts() {
    let rule = |reason: &str| {
        format!(
            r#"{{"tool_call": {{"rules": [{{"match": {{"tool": "bash"}}, "action": "block", "reason": "{reason}"}}]}}}}"#
        )
    };
    let place = Place::new()
        .project(".git/HEAD", "")
        .project(".pi-hooks.json", rule("second"))
        .project("sub/.pi-hooks.json", rule("below"));
    let bash = |place: &Place, directory: &str| {
        let cwd = quoted(&place.in_project(directory));
        let payload =
            format!(r#"{{"cwd":{cwd},"tool_name":"bash","tool_input":{{"command":"ls"}}}}"#);
        place.hook("pi", "pre-tool-use", payload)
    };
    bash(&place, "").shows(&["second"]);
    bash(&place, "sub").shows(&["second"]);
    let place = place.project(".pi/pi-hooks.json", rule("first"));
    bash(&place, "sub").shows(&["first"]);
    // A worktree's `.git` is a file.
    let place = place.project("sub/.git", "gitdir: elsewhere");
    bash(&place, "sub").shows(&["below"]);
    fs::remove_file(place.at("project/.pi/pi-hooks.json")).unwrap();
    let place = place.link("project/.pi/pi-hooks.json", "nowhere");
    bash(&place, "").shows(&["is a link that leads nowhere"]);
}

#[test]
fn what_is_wrong_blocks_with_its_place_and_validate_lists_it() {
    let place = Place::new().project(".pi/pi-hooks.json", "{\"tool_call\": {\n \"rule\": []}}");
    let problem = "/.pi/pi-hooks.json:2:2: unknown field `rule`, did you mean `rules`?";
    bash(&place, "1", "ls", true).shows(&[r#""decision":"block""#, problem]);
    says(&place, "1", "I insist", "");
    bash(&place, "1", "ls", true).shows(&[r#""decision":"block""#, problem]);
    let listed = place.run(&["validate"], "");
    listed.shows(&[problem, "1 problem"]);
    let named = place.run(&["validate", ".pi/pi-hooks.json"], "");
    named.shows(&[".pi/pi-hooks.json:2:2: unknown field"]);
    let place = Place::new().project(".pi/pi-hooks.json", HOOKS);
    place.run(&["validate"], "").shows(&["pi-hooks/2: active, deny", "ok: 4 rules"]);
}

#[test]
fn approval_holds_for_its_turn_and_is_no_machines_to_give() {
    let place = Place::new().project(".pi-hooks.json", HOOKS);
    let blocked = |turn: &str| bash(&place, turn, "rm -rf x", true).shows(&["block"]);
    says(&place, "run/1", "i INSIST", "");
    bash(&place, "run/1", "rm -rf x", true).is(0, r#"{"guidance":"first\n\nsecond"}"#, "");
    blocked("run/2");
    says(&place, "run/2", "thanks", "");
    blocked("run/2");
    blocked("run/1");
    says(&place, "run/3", "I insist", r#","nested":true"#);
    says(&place, "run/3", "I insist", r#","source":"extension""#);
    blocked("run/3");
    says(&place, "run/3", "I insist", r#","source":"rpc","nested":false"#);
    let finished = ask(&place, "before-finish", "run/3", r#""hook_event_name":"BeforeFinish""#);
    finished.passes();
    blocked("run/3");
    says(&place, "run/4", "I insist", "");
    ask(&place, "session-start", "run/4", r#""reason":"resume""#).shows(&["guidance"]);
    blocked("run/4");
}

#[test]
fn a_project_that_is_not_trusted_starts_no_checker() {
    let place = Place::new()
        .home(".i-insist/a.toml", checker("own", "echo '\"own\"'", "kind = \"file_write\""))
        .project(".i-insist/a.toml", checker("theirs", "touch ../spawned; echo '\"theirs\"'", ""))
        .project(".pi-hooks.json", HOOKS);
    bash(&place, "1", "ls", false).is(
        0,
        r#"{"notice":"i-insist: this project is not trusted, so the checker of `theirs` was not run."}"#,
        "",
    );
    bash(&place, "1", "rm -rf x", false).shows(&[r#""decision":"block","reason":"no""#]);
    let write = r#""tool_name":"write","tool_input":{"path":"a","content":""},"trusted":false"#;
    ask(&place, "pre-tool-use", "1", write).shows(&[r#""reason":"own""#]);
    assert!(!place.at("project/spawned").exists());
    bash(&place, "1", "ls", true).shows(&[r#""reason":"theirs""#]);
    assert!(place.at("project/spawned").exists());
}

#[test]
fn the_result_is_asked_for_where_a_rule_waits_for_it() {
    let rule = "[[rules]]\nid = \"a\"\nphase = \"post\"\ntool = \"Bash\"\n[[rules.match]]\n\"event.tool_failed\" = { is = true }\n\
                [rules.action]\nkind = \"context\"\nmessage = \"look\"\n";
    let place = Place::new().project(".i-insist/a.toml", rule);
    bash(&place, "1", "ls", true).is(0, r#"{"after":true}"#, "");
    let after = |failed: bool| {
        let more = format!(
            r#""tool_name":"bash","tool_input":{{"command":"ls"}},"tool_output":"o","is_error":{failed}"#
        );
        ask(&place, "post-tool-use", "1", &more)
    };
    after(true).is(0, r#"{"guidance":"look"}"#, "");
    after(false).passes();
    let read = r#""tool_name":"read","tool_input":{"path":"a"}"#;
    ask(&place, "pre-tool-use", "1", read).passes();
}

#[test]
fn what_cannot_be_read_blocks_a_call_and_never_a_prompt() {
    let place = Place::new();
    place.hook("pi", "pre-tool-use", "{").shows(&[r#""decision":"block""#, "invalid JSON"]);
    ask(&place, "pre-tool-use", "1", r#""tool_name":"bash","tool_input":{}"#)
        .shows(&[r#""decision":"block""#, "command is missing"]);
    place.hook("pi", "user-prompt-submit", "{").shows(&[r#"{"notice":"#]);
    place.hook("pi", "before-finish", "{").shows(&[r#"{"notice":"#]);
    let wrong = ask(&place, "stop", "1", r#""hook_event_name":"Stop""#);
    wrong.shows(&["hook_event_name must be `BeforeFinish`"]);
    assert_eq!(place.hook("pi", "no-such-event", "{}").status, Some(2));
}

const CHECKS: &str = r#"{"agent_before_settle": {"maxRetries": 1, "checks": [
    {"name": "Lint", "type": "command", "command": "cat state; test \"$(cat state)\" = good"}
]}}"#;

fn finish(place: &Place, trusted: bool) -> Outcome {
    let more = format!(r#""hook_event_name":"BeforeFinish","continues":0,"trusted":{trusted}"#);
    ask(place, "before-finish", "1", &more)
}

#[test]
fn checks_send_the_agent_back_until_they_pass_or_it_was_sent_often_enough() {
    let place = Place::new().project(".pi-hooks.json", CHECKS).project("state", "broken\n");
    ask(&place, "session-start", "0", r#""reason":"startup""#).shows(&["guidance"]);
    let back = finish(&place, true);
    back.shows(&[
        r#"{"continue":true,"message":"i-insist: a check failed."#,
        "Lint: exited with status 1\\nbroken",
    ]);
    let told = finish(&place, true);
    told.shows(&[r#"{"notice":"i-insist: finished with failing checks: Lint"#]);
    says(&place, "2", "go on", "");
    finish(&place, true).shows(&[r#"{"continue":true"#]);
    let place = place.project("state", "good\n");
    finish(&place, true).passes();
}

#[test]
fn the_same_checks_hold_in_the_other_harnesses() {
    for harness in ["claude", "codex"] {
        let place = Place::new().project(".pi/pi-hooks.json", CHECKS).project("state", "broken\n");
        let payload = place.payload("Stop", "1", r#""stop_hook_active":false"#);
        let back = place.hook(harness, "stop", &payload);
        back.shows(&[r#"{"decision":"block","reason":"i-insist: a check failed."#, "Lint: exited"]);
        let place = place.project("state", "good\n");
        place.hook(harness, "stop", &payload).passes();
    }
}

#[test]
fn checks_of_a_project_that_is_not_trusted_are_not_run() {
    let touch = |name: &str| format!("[finish]\n[[finish.checks]]\ncommand = \"touch {name}\"\n");
    let place = Place::new()
        .home(".i-insist/a.toml", touch("own"))
        .project(".i-insist/a.toml", touch("guards"))
        .project(".pi-hooks.json", CHECKS);
    finish(&place, false).is(
        0,
        r#"{"notice":"i-insist: this project is not trusted, so its checks before finishing were not run."}"#,
        "",
    );
    assert!(place.at("project/own").exists() && !place.at("project/guards").exists());
    finish(&place, true).shows(&[r#"{"continue":true"#]);
    assert!(place.at("project/guards").exists());
}

#[test]
fn a_client_that_goes_away_ends_its_check() {
    let checks = CHECKS.replace("cat state;", "setsid sleep 300 & touch started; wait;");
    let place = Place::new().project(".pi-hooks.json", checks);
    let mut child = place.command(&["hook", "--harness", "pi", "before-finish"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let cwd = quoted(&place.in_project(""));
    let question = format!(r#"{{"session_id":"s","cwd":{cwd},"held_open":true}}"#);
    stdin.write_all(question.as_bytes()).unwrap();
    while !place.at("project/started").exists() {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before the client did");
        thread::sleep(Duration::from_millis(10));
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("were interrupted"), "{said}");
    // Looks that nothing is left.
    finish(&place, false).shows(&["not trusted"]);
}
