//! The checks before finishing, as the clients call them: payloads of Claude Code and Codex go to the
//! built program, which runs real checks in real repositories.
#![expect(clippy::unwrap_used, reason = "a failure to set up is a failed test")]

#[path = "support/finish.rs"]
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use support::{PROGRAM, World};

const FAILING: &str = "[finish]\nmax_retries = 2\n[[finish.checks]]\nname = \"Lint\"\ncommand = \"echo bad line 7; exit 3\"\n";

#[test]
fn a_failing_check_sends_both_clients_back_until_it_is_repaired() {
    for harness in ["claude", "codex"] {
        let world = World::repository();
        world.guard("[finish]\n[[finish.checks]]\nname = \"Lint\"\ncommand = \"cat state; test \\\"$(cat state)\\\" = good\"\n");
        world.start(harness, "startup");
        assert_eq!(world.stop(harness), "", "nothing changed yet");
        world.write("state", "broken");
        let reply = world.stop(harness);
        assert!(
            reply.starts_with(r#"{"decision":"block","reason":"i-insist: a check failed."#),
            "{reply}"
        );
        assert!(reply.contains(r"Lint: exited with status 1\nbroken"), "{reply}");
        assert!(world.stop(harness).contains("\"block\""), "a check that failed stays due");
        world.write("state", "good");
        assert_eq!(world.stop(harness), "");
        assert_eq!(world.stop(harness), "");
    }
}

#[test]
fn after_max_retries_the_agent_may_finish_and_the_person_is_told() {
    let world = World::repository();
    world.guard(FAILING);
    for _ in 0..2 {
        assert!(world.stop("claude").contains("\"block\""));
    }
    let told = world.stop("claude");
    assert!(
        told.starts_with(
            r#"{"systemMessage":"i-insist: finished with failing checks: Lint (log: "#
        ),
        "{told}"
    );
    assert!(!told.contains("\"decision\""));
    assert_eq!(world.stop("claude").get(..20), told.get(..20), "and again");
    let other = world.stop_of("claude", "another", 0);
    assert!(other.contains("\"block\""), "another session has its own count");
}

#[test]
fn the_count_starts_anew_with_a_persons_message_and_with_no_other() {
    let world = World::repository();
    world.guard(FAILING);
    let finishes = || !world.stop("claude").contains("\"block\"");
    assert_eq!([finishes(), finishes(), finishes()], [false, false, true]);
    world.prompt("claude", "<task-notification>done</task-notification>");
    assert!(finishes(), "a report of a task is nobody's word");
    world.nested("claude", "user-prompt-submit", &world.prompt_payload("go on"));
    assert!(finishes(), "nor is the word of another agent");
    world.start("claude", "compact");
    assert!(finishes(), "nor is a compaction");
    world.prompt("claude", "try once more");
    assert_eq!([finishes(), finishes(), finishes()], [false, false, true]);
}

#[test]
fn a_count_that_cannot_be_stored_holds_nobody() {
    let world = World::repository();
    world.guard(FAILING);
    // A file in place of the directory: root may write anywhere else.
    fs::create_dir_all(world.home.join(".cache/i-insist")).unwrap();
    fs::write(world.home.join(".cache/i-insist/finish"), "").unwrap();
    let reply = world.stop("claude");
    assert!(reply.contains("\"systemMessage\"") && reply.contains("cannot be counted"), "{reply}");
    assert!(!reply.contains("\"decision\""));
    let nameless =
        world.hook("claude", "stop", &format!("{{\"cwd\":\"{}\"}}", world.root.display()));
    assert!(nameless.contains("the session has no id") && !nameless.contains("\"decision\""));
}

#[test]
fn a_client_below_another_agents_shell_runs_no_check_and_changes_nothing() {
    let world = World::repository();
    world.guard("[finish]\n[[finish.checks]]\ncommand = \"echo >>$HOME/ran; exit 1\"\n");
    assert_eq!(world.nested("claude", "stop", &world.stop_payload("s", 0)), "");
    assert!(
        !world.home.join("ran").exists() && !world.home.join(".cache/i-insist/finish").exists()
    );
    assert!(world.stop("claude").contains("\"block\""));
}

#[test]
fn an_approval_skips_no_check_and_lasts_until_the_finish_is_let_through() {
    let world = World::repository();
    world.guard(
        "[finish]\nmax_retries = 1\n[[finish.checks]]\ncommand = \"exit 1\"\n\
                 [[rules]]\nid = \"no\"\nchecker = [\"echo\", \"true\"]\nmessage = \"no\"\n",
    );
    let call = || {
        let input = format!(
            "{{\"session_id\":\"s\",\"cwd\":\"{}\",\"tool_name\":\"Bash\",\"tool_input\":{{\"command\":\"ls\"}}}}",
            world.root.display()
        );
        world.hook("claude", "pre-tool-use", &input)
    };
    assert!(call().contains("deny"));
    world.prompt("claude", "I insist");
    assert!(!call().contains("deny"));
    assert!(world.stop("claude").contains("\"block\""));
    assert!(!call().contains("deny"), "the agent was sent back, so the response goes on");
    let told = world.stop("claude");
    assert!(
        told.contains("finished with failing checks") && told.contains("you insisted"),
        "{told}"
    );
    assert!(call().contains("deny"));
}

#[test]
fn an_invalid_file_is_told_the_agent_once_and_the_others_still_check() {
    let world = World::repository();
    world.guard(FAILING);
    fs::write(world.root.join(".i-insist/broken.toml"), "[finish]\nfail_fats = true\n").unwrap();
    let first = world.stop("claude");
    assert!(
        first.contains("\"block\"") && first.contains("broken.toml:2:1") && first.contains("Lint"),
        "{first}"
    );
    let second = world.stop("claude");
    assert!(
        second.contains("\"block\"")
            && second.contains("\"systemMessage\":\"i-insist: configuration"),
        "{second}"
    );
    fs::remove_file(world.root.join(".i-insist/test.toml")).unwrap();
    let third = world.stop("claude");
    assert!(!third.contains("\"block\"") && third.contains("broken.toml:2:1"), "{third}");
}

#[test]
fn fail_fast_and_max_retries_hold_for_their_own_file() {
    let world = World::repository();
    let note = |name: &str| {
        format!(
            "[[finish.checks]]\nname = \"{name}\"\ncommand = \"echo {name} >>$HOME/ran; exit 1\"\n"
        )
    };
    let home = format!("[finish]\nmax_retries = 0\n{}{}", note("home1"), note("home2"));
    fs::create_dir_all(world.home.join(".i-insist")).unwrap();
    fs::write(world.home.join(".i-insist/a.toml"), home).unwrap();
    world.guard(&format!(
        "[finish]\nfail_fast = false\nmax_retries = 1\n{}{}",
        note("own1"),
        note("own2")
    ));
    let reply = world.stop("codex");
    assert_eq!(
        world.ran(),
        ["home1", "own1", "own2"],
        "home's file first, and it stops at its first failure"
    );
    assert!(reply.contains("\"block\"") && reply.contains("2 checks failed"), "{reply}");
    assert!(reply.contains("systemMessage") && reply.contains("failing checks: home1"), "{reply}");
    let reply = world.stop("codex");
    assert!(
        !reply.contains("\"block\"") && reply.contains("own1") && reply.contains("own2"),
        "{reply}"
    );
}

#[test]
fn without_checks_git_is_never_asked_and_nothing_is_written() {
    let world = World::repository();
    world.program("git", "#!/bin/sh\necho \"$@\" >>$HOME/git-was-called\nexec /usr/bin/env -i PATH=/usr/bin:/usr/local/bin git \"$@\"\n");
    world.start("claude", "startup");
    world.write("new", "x");
    assert_eq!(world.stop("claude"), "");
    assert!(!world.home.join("git-was-called").exists());
    assert!(!world.home.join(".cache").exists());
    world.guard("[finish]\n[[finish.checks]]\ncommand = \"true\"\n");
    world.start("claude", "resume");
    assert!(world.home.join("git-was-called").exists(), "the twin");
}

#[test]
fn logs_of_failing_checks_stay_private_and_those_of_passing_ones_go() {
    let world = World::repository();
    world.guard(
        "[finish]\nfail_fast = false\n[[finish.checks]]\ncommand = \"seq 300\"\n\
                 [[finish.checks]]\nname = \"long\"\ncommand = \"seq 1000 1300 >&2; false\"\n",
    );
    let reply = world.stop("claude");
    let logs: Vec<_> =
        fs::read_dir(world.temporary()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(logs.len(), 1, "{logs:?}");
    assert_eq!(fs::metadata(&logs[0]).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(fs::read_to_string(&logs[0]).unwrap().starts_with("1000\n"));
    assert!(reply.contains(&format!("all of it: {}]", logs[0].display())), "{reply}");
    assert!(reply.contains(r"\n1300") && !reply.contains(r"\n1100\n"));
}

#[test]
fn a_gibibyte_of_output_takes_no_memory() {
    let world = World::repository();
    world.guard("[finish]\n[[finish.checks]]\ncommand = \"yes | head -c 1073741824; echo the end; false\"\n");
    // The address space of the hook and of its checks; 64 MiB would hold a sixteenth of the output.
    let reply =
        world.below("ulimit -v 65536; exec \"$@\"", "claude", "stop", &world.stop_payload("s", 0));
    assert!(reply.contains(r"y\nthe end"), "{}", reply.len());
    assert!(reply.contains("the end of 1073741832 bytes"), "{reply}");
}

#[test]
fn a_check_is_cut_off_at_its_timeout_with_all_its_descendants() {
    let world = World::repository();
    world.guard(
        "[finish]\n[[finish.checks]]\nname = \"slow\"\ntimeout = 0.5\n\
                 command = \"setsid sh -c 'echo $$ >$HOME/pid; exec sleep 600' & sleep 600\"\n",
    );
    let reply = world.stop("claude");
    assert!(reply.contains("slow: was cut off at its timeout of 0.5 s"), "{reply}");
    let pid = fs::read_to_string(world.home.join("pid")).unwrap();
    assert!(!std::path::Path::new("/proc").join(pid.trim()).exists());
}

#[test]
fn an_interruption_kills_the_check_and_is_no_retry() {
    let world = World::repository();
    world.guard("[finish]\nmax_retries = 1\n[[finish.checks]]\ncommand = \"\
                 setsid sh -c 'echo $$ >$HOME/part; mv $HOME/part $HOME/pid; exec sleep 600' & sleep 600\"\n");
    let hook = world.spawn("claude", "stop", &world.stop_payload("s", 0));
    let pid = world.await_file("pid");
    support::signal(hook.id(), "TERM");
    let output = hook.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("were interrupted"));
    assert!(!std::path::Path::new("/proc").join(pid.trim()).exists());
    world.guard("[finish]\nmax_retries = 1\n[[finish.checks]]\ncommand = \"exit 1\"\n");
    assert!(world.stop("claude").contains("\"block\""));
}

#[test]
fn checks_run_at_the_root_and_outside_a_repository_in_the_sessions_directory() {
    let world = World::repository();
    world.guard("[finish]\n[[finish.checks]]\ncommand = \"pwd -P; false\"\n");
    let below = world.root.join("a/b");
    fs::create_dir_all(&below).unwrap();
    let payload = format!("{{\"session_id\":\"s\",\"cwd\":\"{}\"}}", below.display());
    let reply = world.hook("claude", "stop", &payload);
    assert!(reply.contains(&format!("\\n{}\"", world.root.display())), "{reply}");
    let plain = World::directory();
    plain.guard("[finish]\n[[finish.checks]]\ncommand = \"pwd -P; false\"\n");
    let reply = plain.stop("claude");
    assert!(reply.contains(&format!("\\n{}\"", plain.root.display())), "{reply}");
}

#[test]
fn an_agent_that_left_the_repository_still_finishes_in_it() {
    let world = World::repository();
    world.guard(FAILING);
    world.start("claude", "startup");
    world.write("new", "x");
    let payload = format!("{{\"session_id\":\"s\",\"cwd\":\"{}\"}}", world.temporary().display());
    assert!(world.hook("claude", "stop", &payload).contains("Lint"));
}

#[test]
fn validate_and_status_list_the_checks_and_warn_of_more_retries_than_a_client_takes() {
    let world = World::repository();
    for (retries, warned) in [(8, false), (9, true)] {
        world.guard(&format!("[finish]\nmax_retries = {retries}\n[[finish.checks]]\nname = \"Lint\"\ncommand = \"true\"\n"));
        let (status, out) = world.command(&["validate"]);
        assert!(status == 0 && out.contains("finish check Lint ("), "{out}");
        assert_eq!(out.contains("warning: max_retries = 9"), warned);
        assert!(world.command(&["status"]).1.contains("finish check Lint ("));
    }
    assert!(PROGRAM.ends_with("i-insist"));
}

/// A world where nothing can be found but what a check needs anyhow, and these stand-ins.
fn with_runtimes(names: &[&str]) -> World {
    let mut world = World::repository();
    world.path = world.home.join("bin").into();
    for name in names {
        let text =
            "#!/bin/sh\n[ \"$1\" = --version ] && echo v20.1.0 && exit\necho $0 runs; exit 5\n";
        world.program(name, text);
    }
    world
}

#[test]
fn scripts_run_in_the_first_runtime_that_can() {
    for (script, runtimes, expected) in [
        ("check.ts", &["bun", "deno", "node", "tsx"][..], "bin/bun runs"),
        ("check.ts", &["deno", "node", "tsx"], "bin/deno runs"),
        ("check.ts", &["node", "tsx"], "bin/tsx runs"),
        ("check.mts", &["node", "tsx"], "bin/tsx runs"),
        ("check.js", &["node", "tsx"], "bin/node runs"),
        ("check.mjs", &["node", "tsx"], "bin/node runs"),
        ("check.mjs", &["tsx"], "bin/tsx runs"),
        ("check.ts", &["node"], "needs bun, deno, node (22.6 or later for TypeScript) or tsx"),
        ("check.js", &[], "needs bun, deno, node (22.6 or later for TypeScript) or tsx"),
    ] {
        let world = with_runtimes(runtimes);
        world.guard(&format!("[finish]\n[[finish.checks]]\nscript = \"{script}\"\n"));
        let reply = world.stop("claude");
        assert!(
            reply.contains("\"block\"") && reply.contains(expected),
            "{script} {runtimes:?}: {reply}"
        );
    }
}

#[test]
fn tsx_may_lie_in_the_repository() {
    let world = with_runtimes(&["node"]);
    world.write("node_modules/.bin/tsx", "#!/bin/sh\necho own tsx runs; exit 5\n");
    world.guard("[finish]\n[[finish.checks]]\nscript = \"check.ts\"\n");
    assert!(world.stop("claude").contains("needs bun"), "it cannot be executed");
    fs::set_permissions(
        world.root.join("node_modules/.bin/tsx"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    assert!(world.stop("claude").contains("own tsx runs"));
}

#[test]
fn a_runtime_that_ends_well_has_not_passed_the_check() {
    let world = with_runtimes(&[]);
    world.program("bun", "#!/bin/sh\necho all is well\n");
    world.guard("[finish]\n[[finish.checks]]\nscript = \"check.ts\"\n");
    let reply = world.stop("claude");
    assert!(
        reply.contains(r"check.ts: ended before its function had returned\nall is well"),
        "{reply}"
    );
}

#[test]
fn pi_hooks_checks_run_last_and_in_every_client() {
    let world = World::repository();
    world
        .guard("[finish]\n[[finish.checks]]\nname = \"own\"\ncommand = \"echo own >>$HOME/ran\"\n");
    world.write(
        ".pi/pi-hooks.json",
        r#"{"agent_before_settle": {"maxRetries": 1, "checks": [
            {"name": "theirs", "type": "command", "command": "echo theirs >>$HOME/ran; exit 1"},
            {"type": "command", "command": "echo not reached >>$HOME/ran"}]}}"#,
    );
    for harness in ["claude", "codex"] {
        assert!(world.stop(harness).contains("theirs: exited with status 1"));
        assert_eq!(world.ran(), ["own", "theirs"]);
        assert!(world.stop(harness).contains("finished with failing checks: theirs"));
        assert_eq!(world.ran(), ["theirs"]);
    }
    world.write(".pi/pi-hooks.json", "{\"agent_before_settle\": {\"maxretries\": 1}}");
    assert!(world.stop_of("claude", "new", 0).contains("pi-hooks.json:1:"));
}

#[test]
fn a_check_that_the_hooks_own_time_cuts_off_has_failed() {
    let world = World::repository();
    world.guard(
        "[finish]\nfail_fast = false\n[[finish.checks]]\nname = \"long\"\ncommand = \"sleep 600\"\n\
                 [[finish.checks]]\nname = \"next\"\ncommand = \"true\"\n",
    );
    let shell = "I_INSIST_TEST_SECONDS=2 exec \"$@\"";
    let reply = world.below(shell, "claude", "stop", &world.stop_payload("s", 0));
    assert!(reply.contains("\"block\""), "{reply}");
    assert!(reply.contains("long: was cut off, since the hook's own time ran out"), "{reply}");
    assert!(
        reply.contains("next: did not run, since the hook's own time ran out before"),
        "{reply}"
    );
}

#[test]
fn a_file_that_is_to_be_trusted_first_runs_nothing() {
    let world = World::repository();
    world.general("[settings]\nrequire_trust = true\n");
    world.guard("[finish]\n[[finish.checks]]\ncommand = \"echo ran >>$HOME/ran\"\n");
    let reply = world.stop("claude");
    assert!(reply.contains("i-insist trust") && world.ran().is_empty(), "{reply}");
    assert_eq!(world.command(&["trust", ".i-insist/test.toml"]).0, 0);
    world.stop("claude");
    assert_eq!(world.ran(), ["ran"]);
}

#[test]
fn sessions_at_the_same_time_count_for_themselves() {
    let world = World::repository();
    world.guard(FAILING);
    std::thread::scope(|scope| {
        for session in ["a", "b", "c", "d"] {
            let world = &world;
            scope.spawn(move || {
                let held: Vec<bool> = (0..4)
                    .map(|_| world.stop_of("claude", session, 0).contains("\"block\""))
                    .collect();
                assert_eq!(held, [true, true, false, false], "{session}");
            });
        }
    });
}

#[test]
fn a_hook_that_is_killed_has_sent_nobody_back() {
    let world = World::repository();
    world.guard("[finish]\nmax_retries = 1\n[[finish.checks]]\ncommand = \"echo $$ >$HOME/part; mv $HOME/part $HOME/pid; exec sleep 600\"\n");
    let mut hook = world.spawn("claude", "stop", &world.stop_payload("s", 0));
    let pid = world.await_file("pid");
    hook.kill().unwrap();
    hook.wait().unwrap();
    world.guard(&FAILING.replace("max_retries = 2", "max_retries = 1"));
    assert!(world.stop("claude").contains("\"block\""));
    assert!(!world.stop("claude").contains("\"block\""));
    // The kernel ends the check together with the hook (Linux, PR_SET_PDEATHSIG).
    let ended = |_| !std::path::Path::new("/proc").join(pid.trim()).join("exe").exists();
    assert!((0..600).any(|round| ended(round) || {
        std::thread::sleep(std::time::Duration::from_millis(10));
        false
    }));
}

#[test]
fn what_checks_run_is_protected() {
    let world = World::repository();
    world.guard(
        "[finish]\n[[finish.checks]]\nscript = \"tools/check.ts\"\n[[finish.checks]]\ncommand = \"sh tools/lint.sh src\"\n\
         [[finish.checks]]\ncommand = \"./tools/direct src/code.ts\"\n[[finish.checks]]\ncommand = \"grep x kept.txt\"\n\
         [[rules]]\nid = \"guard\"\nchecker = [\"i-insist\", \"protect-config\"]\nmessage = \"protected\"\n",
    );
    world.write("tools/lint.sh", "true\n");
    world.write("tools/direct", "true\n");
    for (file, denied) in [
        ("tools/check.ts", true),
        ("tools/lint.sh", true),
        ("tools/direct", true),
        ("tools/other.sh", false),
        ("kept.txt", false),
        ("src/code.ts", false),
    ] {
        let payload = format!(
            "{{\"session_id\":\"s\",\"cwd\":\"{}\",\"tool_name\":\"Write\",\"tool_input\":{{\"file_path\":\"{file}\",\"content\":\"x\"}}}}",
            world.root.display()
        );
        let reply = world.hook("claude", "pre-tool-use", &payload);
        assert_eq!(reply.contains("deny"), denied, "{file}: {reply}");
    }
}
