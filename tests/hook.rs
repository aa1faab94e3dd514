//! One tool call through the hook: gates, checkers, what is answered, and what is logged.
#![expect(clippy::unwrap_used, reason = "a failure to set up is a failed test")]
#![expect(clippy::print_stdout, reason = "tells which case runs")]

#[expect(dead_code, reason = "each test target uses a part")]
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use support::{Place, blocks, checker, object, quoted};

#[test]
fn p42_a_pass_prints_nothing() {
    let place =
        Place::new().project(".i-insist/a.toml", checker("a", "echo false", "message = \"no\""));
    place.edit("x").passes();
    place.bash("ls").passes();
    for name in [
        "claude/PreToolUse-Read",
        "claude/PreToolUse-Agent",
        "claude/PreToolUse-mcp__demo__note",
        "claude/PreToolUse-Monitor",
    ] {
        place.hook("claude", "pre-tool-use", place.sample(name)).passes();
    }
    for name in
        ["codex/PreToolUse-apply_patch", "codex/PreToolUse-Bash", "codex/PreToolUse-spawn_agent"]
    {
        place.hook("codex", "pre-tool-use", place.sample(name)).passes();
    }
    let skill = place.sample("claude/PreSkillShellCommand");
    place.hook("claude", "pre-skill-shell-command", skill).passes();
}

#[test]
fn a_block_reaches_the_model_word_for_word_and_the_person_learns_the_rule() {
    let place = Place::new().project(
        ".i-insist/a.toml",
        checker("team/vault", "echo true", "message = \" no \\\"x\\\"\\n\""),
    );
    let answer = place.edit("x");
    answer.is(
        0,
        "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\",\
         \"permissionDecisionReason\":\" no \\\"x\\\"\\n\"},\
         \"systemMessage\":\"i-insist: blocked by `team/vault`; to override, say \\\"I insist\\\" in your message.\"}",
        "",
    );
    let firm = Place::new().project(".i-insist/a.toml", blocks("firm") + "overridable = false\n");
    firm.edit("x").shows(&["blocked by `firm`; nothing overrides it."]);
}

#[test]
fn a_skill_line_is_refused_by_status() {
    let place = Place::new().project(".i-insist/a.toml", blocks("a"));
    let skill = place.sample("claude/PreSkillShellCommand");
    place.hook("claude", "pre-skill-shell-command", skill).is(2, "", "blocked by a\n");
}

#[test]
fn gates() {
    let cases = [
        ("", true),
        ("enabled = false", false),
        ("harness = [\"claude\"]", true),
        ("harness = [\"codex\"]", false),
        ("agents = [\"claude\", \"codex\"]", true),
        ("tool = \"Edit\"", true),
        ("tool = [\"Write\", \"Edit\"]", true),
        ("tool = \"edit\"", false),
        ("tool = \"Bash\"", false),
        ("kind = \"file_edit\"", true),
        ("kind = \"shell\"", false),
        ("phase = \"pre\"", true),
        ("phase = \"post\"", false),
    ];
    for (gate, blocked) in cases {
        let place = Place::new().project(".i-insist/a.toml", blocks("a") + gate);
        let answer = place.edit("x");
        println!("{gate}");
        if blocked {
            answer.denies("blocked by a");
        } else {
            answer.passes();
        }
    }
}

#[test]
fn a_canonical_tool_name_holds_in_every_harness() {
    let place = Place::new().project(".i-insist/a.toml", blocks("a") + "tool = \"Edit\"");
    let patch = place.sample("codex/PreToolUse-apply_patch");
    place.hook("codex", "pre-tool-use", &patch).denies("blocked by a");
    let place = Place::new().project(".i-insist/a.toml", blocks("a") + "tool = \"Write\"");
    place.hook("codex", "pre-tool-use", place.sample("codex/PreToolUse-apply_patch")).passes();
}

#[test]
fn p5_a_rule_on_a_file_sees_every_file_of_a_patch() {
    let place = Place::new().project(
        ".i-insist/a.toml",
        "[[rules]]\nname = \"env\"\ntool = \"Edit\"\n[[rules.match]]\nfile_path = { glob = [\"**/.env*\"] }\n\
         [rules.action]\nkind = \"deny\"\nmessage = \"no env\"\n",
    );
    let patch = |patch: &str, more: &str| {
        let payload =
            place.call("apply_patch", &format!("{{\"command\":{}{more}}}", quoted(patch)));
        place.hook("codex", "pre-tool-use", payload)
    };
    let (first, second) = ("*** Update File: a\n+x\n", "*** Add File: sub/.env\n+x\n");
    patch(first, "").passes();
    patch(second, "").denies("no env");
    patch(&format!("{first}{second}"), "").denies("no env");
    patch("*** Update File: .env\n*** Move to: b\n", "").denies("no env");
    // The tool takes no notice of an argument of this name; a rule must not either.
    patch(second, ",\"file_path\":\"/a\"").denies("no env");
    patch(first, ",\"file_path\":\"/.env\"").passes();
}

#[test]
fn p11_a_path_through_a_link_and_back_is_judged_in_both_its_readings() {
    let rule = "[[rules]]\nname = \"secret\"\n[[rules.match]]\n\"event.paths\" = { glob = [\"**/project/secret/*\"] }\n\
        [rules.action]\nkind = \"deny\"\nmessage = \"no\"\n";
    let place = Place::new()
        .home("elsewhere/deep/x", "")
        .project(".i-insist/a.toml", rule)
        .link("project/link", "../elsewhere/deep");
    let write = |path: &str| {
        let path = place.in_project(path);
        let input = object(&[("file_path", &path), ("content", "x")]);
        place.hook("claude", "pre-tool-use", place.call("Write", &input))
    };
    let patch = |path: &str| {
        let input = object(&[("command", &format!("*** Add File: {path}\n+x"))]);
        place.hook("codex", "pre-tool-use", place.call("apply_patch", &input))
    };
    let pi = |path: &str| {
        let input = object(&[("path", path), ("content", "x")]);
        place.hook("pi", "pre-tool-use", place.call("write", &input))
    };
    for path in ["secret/x", "link/../secret/x", "link/../../project/secret/x"] {
        write(path).denies("no");
        patch(path).denies("no");
        pi(path).shows(&[r#""reason":"no""#]);
    }
    for path in ["link/../open/x", "link/secret/x", "secret/../x"] {
        write(path).passes();
        patch(path).passes();
        pi(path).passes();
    }
}

#[test]
fn both_protocols() {
    let boolean = "message = \"no\"";
    let cases = [
        ("echo true", boolean, Some("no")),
        ("echo false", boolean, None),
        ("echo null", "", None),
        ("echo '\" own words \"'", "", Some(" own words ")),
    ];
    for (script, message, reason) in cases {
        let place = Place::new().project(".i-insist/a.toml", checker("a", script, message));
        match reason {
            Some(reason) => place.edit("x").denies(reason),
            None => place.edit("x").passes(),
        }
    }
    let broken = [
        ("echo null", boolean, "must print a JSON boolean"),
        ("echo '\"no\"'", boolean, "must print a JSON boolean"),
        ("echo true", "", "must print null or a nonempty JSON string"),
        ("echo '\"\"'", "", "must print null or a nonempty JSON string"),
        ("true", boolean, "must print a JSON boolean"),
        ("echo false false", boolean, "must print a JSON boolean"),
        ("echo false; exit 3", boolean, "exited with status 3"),
        ("echo why >&2; kill -9 $$", boolean, "why"),
    ];
    for (script, message, cause) in broken {
        let place = Place::new().project(".i-insist/a.toml", checker("team/a", script, message));
        place.edit("x").denies_with(&["rule `team/a`: checker ", cause]);
    }
}

#[test]
fn a_missing_checker_and_a_timeout_block() {
    let missing = "[[rules]]\nid = \"a\"\nchecker = [\"no-such-program\"]\n";
    let place = Place::new().project(".i-insist/a.toml", missing);
    place.edit("x").denies_with(&["rule `a`: checker cannot be started"]);
    let slow = checker("a", "sleep 600 & sleep 600", "timeout = 0.05");
    let place = Place::new().project(".i-insist/a.toml", slow);
    place.edit("x").denies_with(&["did not answer within its timeout of 0.05 s"]);
}

#[test]
fn the_checker_reads_the_event_in_the_directory_of_its_rule() {
    let place =
        Place::new().project(".i-insist/a.toml", checker("a", "cat >event.json; echo null", ""));
    place.edit("x").passes();
    let event = fs::read_to_string(place.at("project/.i-insist/event.json")).unwrap();
    let path = quoted(&place.in_project("x"));
    for part in [
        r#"{"kind":"file_edit","command":null,"cwd":"#.to_owned(),
        format!(r#""paths":[{path}],"harness":"claude","tool_name":"Edit""#),
        format!(r#""changes":[{{"path":{path},"operation":"edit","content":"b"}}]"#),
        r#""session_id":"session-1","turn_id":"prompt-1""#.to_owned(),
    ] {
        assert!(event.contains(&part), "{part} is not in {event}");
    }
}

#[test]
fn the_first_block_ends_the_search() {
    let later = checker("b", "touch started; echo true", "message = \"b\"");
    let place = Place::new().project(".i-insist/a.toml", blocks("a") + &later);
    place.edit("x").denies("blocked by a");
    assert!(!place.at("project/.i-insist/started").exists());
    // Its twin: behind a rule that passes, the later one is asked.
    let passes = checker("a", "echo false", "message = \"a\"");
    let later = checker("b", "touch started; echo true", "message = \"b\"");
    let place = Place::new().project(".i-insist/a.toml", passes + &later);
    place.edit("x").denies("b");
    assert!(place.at("project/.i-insist/started").exists());
}

#[test]
fn after_the_tool_a_block_is_feedback_and_a_failure_is_the_persons() {
    let rule = |script| checker("a", script, "message = \"look again\"\nphase = \"post\"");
    let place = Place::new().project(".i-insist/a.toml", rule("echo true"));
    place.edit("x").passes();
    for harness in ["claude", "codex"] {
        let sample = place.sample(&format!("{harness}/PostToolUse-Bash"));
        let answer = place.hook(harness, "post-tool-use", sample);
        answer.shows(&[r#"{"decision":"block","reason":"look again""#]);
        assert_eq!((answer.status, answer.stderr.as_str()), (Some(0), ""));
    }
    let failed = place.sample("claude/PostToolUseFailure-Bash");
    place
        .hook("claude", "post-tool-use-failure", failed)
        .shows(&[r#""additionalContext":"look again""#]);
    let place = Place::new().project(".i-insist/a.toml", rule("exit 1"));
    let sample = place.sample("claude/PostToolUse-Bash");
    place
        .hook("claude", "post-tool-use", &sample)
        .tells(&["rule `a`: checker exited with status 1"]);
    let place = Place::new().project(".i-insist/a.toml", "nonsense");
    let sample = place.sample("claude/PostToolUse-Bash");
    place.hook("claude", "post-tool-use", &sample).tells(&["a.toml:1:9"]);
}

#[test]
fn p16_slow_checkers_are_cut_off_by_our_own_deadline() {
    let slow = |id| checker(id, "sleep 2; echo false", "message = \"no\"\ntimeout = 60");
    let place = Place::new()
        .project(".i-insist/a.toml", slow("a") + &slow("b") + &slow("c"))
        .variable("I_INSIST_TEST_SECONDS", "3");
    place
        .edit("x")
        .denies_with(&["rule `b`: checker did not answer before the hook's own time ran out"]);
}

#[test]
fn the_session_is_told_once_how_a_block_is_overridden() {
    let place = Place::new();
    for harness in ["claude", "codex"] {
        let start = place.sample(&format!("{harness}/SessionStart-startup"));
        place
            .hook(harness, "session-start", start)
            .shows(&[r#""hookEventName":"SessionStart","additionalContext":"i-insist checks"#]);
        let compact = place.sample(&format!("{harness}/SessionStart-compact"));
        place.hook(harness, "session-start", compact).passes();
    }
    let place = place.home(".i-insist/a.toml", "[settings]\nannounce = false\n");
    let start = place.sample("claude/SessionStart-startup");
    place.hook("claude", "session-start", start).passes();
}

// ------------------------------------------------------------------------------------- the log

fn stamped(line: &str) -> String {
    let (_, rest) = line.split_once(',').unwrap();
    format!("{{{rest}")
}

#[test]
fn a_line_for_each_denial_and_each_shell_call() {
    let place = Place::new().project(".i-insist/a.toml", blocks("a") + "kind = \"file_edit\"");
    place.bash("ls").passes();
    place.edit("x").denies("blocked by a");
    place.hook("claude", "pre-tool-use", place.sample("claude/PreToolUse-Read")).passes();
    let cwd = quoted(&place.at("project").to_string_lossy());
    let input =
        object(&[("file_path", &place.in_project("x")), ("old_string", "a"), ("new_string", "b")]);
    let line = |outcome, rules, tool, input: &str| {
        format!(
            r#"{{"event":"PreToolUse","outcome":"{outcome}","rules":{rules},"tool_name":"{tool}","tool_input":{input},"updated_command":null,"harness":"claude","agent_type":null,"session_id":"session-1","cwd":{cwd}}}"#
        )
    };
    let log = place.log();
    assert!(log.iter().all(|line| line.starts_with(r#"{"ts_ms":1"#)));
    let log: Vec<String> = log.iter().map(|line| stamped(line)).collect();
    assert_eq!(
        log,
        [
            line("allow", "[]", "Bash", r#"{"command":"ls"}"#),
            line("deny", r#"["a"]"#, "Edit", &input),
        ]
    );
    let mode = |path| fs::metadata(place.at(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(".local/state/i-insist"), 0o700);
    assert_eq!(mode(".local/state/i-insist/audit.jsonl"), 0o600);
}

#[test]
fn what_the_engine_refuses_is_logged_and_what_no_rule_read_too() {
    let place = Place::new();
    place.bash("i-insist hook --harness claude user-prompt-submit").denies_with(&["its own hook"]);
    let place = place.project(".i-insist/a.toml", "nonsense");
    place.edit("x").denies_with(&["a.toml:1:9"]);
    let log = place.log();
    assert_eq!(log.len(), 2, "{log:?}");
    assert!(log.iter().all(|line| line.contains(r#""outcome":"deny","rules":[]"#)), "{log:?}");
}

#[test]
fn long_texts_are_cut_in_the_log_alone() {
    let place = Place::new()
        .project(".i-insist/a.toml", checker("a", "grep -c xxxx >count; echo '\"no\"'", ""));
    let input = object(&[("file_path", "/x"), ("content", &"x".repeat(5000))]);
    place.hook("claude", "pre-tool-use", place.call("Write", &input)).denies("no");
    let log = place.log();
    assert!(log[0].contains("xx… [3976 more bytes]"), "{log:?}");
    assert!(log[0].len() < 2000);
}

#[test]
fn a_log_that_cannot_be_written_changes_nothing() {
    let place = Place::new()
        .home(".local/state/i-insist/audit.jsonl/in-the-way", "")
        .project(".i-insist/a.toml", blocks("a") + "kind = \"file_edit\"");
    place.bash("ls").passes();
    place.edit("x").denies("blocked by a");
    let place = Place::new().home(".local", "a file in the way");
    place.bash("ls").passes();
    // To open a FIFO that nobody reads would be to wait.
    let place = Place::new().home(".local/state/i-insist/x", "");
    let log = place.at(".local/state/i-insist/audit.jsonl");
    let mut mkfifo = std::process::Command::new("mkfifo");
    place.furnish(mkfifo.arg(&log));
    place.outcome(mkfifo, b"").passes();
    place.bash("ls").passes();
}

// ----------------------------------------------------------------------------- steer's spelling

fn steer(place: &Place, payload: &str) -> support::Outcome {
    place.run(&["steer", "hook", "--event", "PreToolUse"], payload)
}

#[test]
fn steers_spelling_decides_alike_and_logs_in_its_own_place() {
    let place = Place::new().project(".i-insist/a.toml", blocks("a") + "kind = \"file_edit\"");
    let edit = place.editing("x");
    steer(&place, &edit).denies("blocked by a");
    place.run(&["steer", "hook", "--event=PreToolUse"], &edit).denies("blocked by a");
    steer(&place, &place.sample("codex/PreToolUse-apply_patch")).denies("blocked by a");
    steer(&place, &place.sample("claude/PreToolUse-Bash")).passes();
    assert_eq!(place.log(), [""; 0]);
    let log = fs::read_to_string(place.at(".local/state/steer/steer.jsonl")).unwrap();
    assert_eq!(log.lines().count(), 3, "{log}");
}

#[test]
fn a_broken_patch_takes_no_command_beside_it_past_the_rules() {
    let rule = "[[rules]]\nname = \"no-rm\"\ntool = \"Bash\"\n[[rules.match]]\nany = \"parsed.segments\"\n\
        head = { any_of = [\"rm\"] }\n[rules.action]\nkind = \"deny\"\nmessage = \"no rm\"\n";
    let broken = "true || apply_patch '*** Begin Patch'; ";
    let place = Place::new()
        .project(".steer.toml", rule)
        .project(".i-insist/a.toml", blocks("a") + "kind = \"file_edit\"");
    let call = |command: &str| place.call("Bash", &object(&[("command", command)]));
    steer(&place, &call(&format!("{broken}rm x"))).denies("no rm");
    steer(&place, &call(&format!("{broken}ls"))).passes();
    place.bash(&format!("{broken}ls")).denies("i-insist: invalid input: the patch names no file");
    // A guard file speaks in both spellings.
    let place = Place::new().project(".i-insist/a.toml", rule);
    steer(&place, &call(&format!("{broken}rm x"))).denies("no rm");
}

#[test]
fn the_program_called_steer_speaks_steer() {
    let place = Place::new()
        .project(".i-insist/a.toml", blocks("a"))
        .link("bin/steer", env!("CARGO_BIN_EXE_i-insist"));
    let mut command = std::process::Command::new(place.at("bin/steer"));
    place.furnish(command.args(["hook", "--event", "PreToolUse"]));
    place.outcome(command, place.editing("x").as_bytes()).denies("blocked by a");
    let mut command = std::process::Command::new(place.at("bin/steer"));
    place.furnish(command.args(["hook", "--event", "PreToolUse"]));
    place.outcome(command, b"nonsense").tells(&["invalid JSON"]);
}

#[test]
fn a_wrong_steer_file_is_left_out_and_the_person_is_told() {
    let place = Place::new()
        .project(".steer.toml", "[[rules]]\nname = \"x\"\nmesage = 1\n")
        .project(".i-insist/a.toml", blocks("a") + "kind = \"file_edit\"");
    place.bash("ls").tells(&["left out", ".steer.toml:3:1", "did you mean `message`?"]);
    place.edit("x").denies("blocked by a");
    place.edit("x").shows(&["left out"]);
    // What is no file hides the one above it, and is told.
    let place = Place::new().link("project/.steer.toml", "/dev/null");
    let hides = ["left out", ".steer.toml", "is not a file"];
    place.bash("ls").tells(&hides);
    let place = Place::new().link(".config/steer/config.toml", "/dev");
    place.bash("ls").tells(&["left out", "config.toml"]);
}
