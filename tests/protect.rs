//! The checker `protect-config` as a program, and as the rule that `install` writes, behind the hook.
#![expect(clippy::unwrap_used, reason = "a failure to set up is a failed test")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const RULE: &str = r#"
[[rules]]
id = "i-insist/config-protection"
checker = ["i-insist", "protect-config"]
message = "Protected configuration: changing it needs human approval."
"#;

/// A home with the rule, and a project with a checker of its own.
struct Home(PathBuf);

impl Home {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir()
            .join(format!("i-insist-protect-run-{name}-{}", std::process::id()));
        drop(fs::remove_dir_all(&root));
        for (file, text) in [
            ("home/.i-insist/i-insist.toml", RULE),
            (
                "p/.i-insist/team.toml",
                "[[rules]]\nid = 'team/x'\nchecker = ['python3', '../tools/guard.py']\nmessage = 'x'\ntool = 'Nothing'\n",
            ),
            ("p/tools/guard.py", ""),
        ] {
            let file = root.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        Self(root.canonicalize().unwrap())
    }

    fn run(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_i-insist"))
            .args(arguments)
            .env_clear()
            .env("HOME", self.0.join("home"))
            .env("PATH", "/usr/bin:/bin")
            .current_dir(self.0.join("p"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    /// What the checker answers about a shell command.
    fn checks(&self, harness: &str, command: &str) -> String {
        let event = format!(
            r#"{{"kind":"shell","command":{command:?},"cwd":"{}","harness":"{harness}","tool_name":"Bash","tool_input":{{"command":{command:?}}}}}"#,
            self.0.join("p").display()
        );
        let output = self.run(&["protect-config"], &event);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{command}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// What the hook answers to a client about a call.
    fn hook(&self, harness: &str, tool: &str, input: &str) -> String {
        let payload = format!(
            r#"{{"session_id":"s","turn_id":"t","prompt_id":"t","cwd":"{}","hook_event_name":"PreToolUse","tool_name":"{tool}","tool_input":{input},"tool_use_id":"u"}}"#,
            self.0.join("p").display()
        );
        let output = self.run(&["hook", "--harness", harness, "pre-tool-use"], &payload);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{input}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

#[test]
fn the_checker_answers_true_or_false() {
    let home = Home::new("checker");
    for command in [
        "rm .i-insist/team.toml",
        "cd .i-insist && rm x",
        "echo x > ~/.claude/settings.json",
        "i-insist uninstall claude",
        "rm tools/guard.py",
        "rm -rf ~/.local/state/i-insist",
    ] {
        assert_eq!(home.checks("claude", command), "true\n", "{command}");
    }
    for command in [
        "echo .i-insist",
        "cat .i-insist/team.toml",
        "rm x",
        "python3 tools/guard.py",
        "rm -rf ~/.local/state/other",
    ] {
        assert_eq!(home.checks("claude", command), "false\n", "{command}");
    }
}

#[test]
fn the_running_program_is_protected() {
    let home = Home::new("program");
    let program = Path::new(env!("CARGO_BIN_EXE_i-insist")).display().to_string();
    assert_eq!(home.checks("claude", &format!("cp /bin/true {program}")), "true\n");
    assert_eq!(home.checks("claude", &format!("cp {program} /tmp/x")), "false\n");
}

#[test]
fn a_typed_shell_is_blocked_in_codex_alone() {
    let home = Home::new("typed");
    assert_eq!(home.checks("codex", "bash"), "true\n");
    assert_eq!(home.checks("claude", "bash"), "false\n");
}

#[test]
fn an_event_that_cannot_be_read_is_an_error() {
    let home = Home::new("input");
    let output = home.run(&["protect-config"], "{\"kind\":\"shell\"");
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8(output.stderr).unwrap().contains("invalid JSON"));
}

#[test]
fn the_rule_blocks_calls_behind_the_hook() {
    let home = Home::new("hook");
    let message = "Protected configuration: changing it needs human approval.";
    let path = home.0.join("p/.i-insist/team.toml");
    let edit = format!(r#"{{"file_path":{path:?},"old_string":"a","new_string":"b"}}"#);
    let diff = r#"{"command":"*** Begin Patch\n*** Update File: .i-insist/team.toml\n@@\n-a\n+b\n*** End Patch"}"#;
    for (harness, tool, input) in [
        ("claude", "Bash", r#"{"command":"sed -i s/x/y/ .i-insist/team.toml"}"#),
        ("codex", "Bash", r#"{"command":"bash -lc 'rm .i-insist/team.toml'"}"#),
        (
            "codex",
            "Bash",
            r#"{"command":"apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: .i-insist/team.toml\n*** End Patch\nEOF"}"#,
        ),
        ("codex", "apply_patch", diff),
        ("claude", "Edit", &edit),
        ("claude", "mcp__filesystem__write_file", r#"{"path":".i-insist/x.toml","content":""}"#),
    ] {
        let answer = home.hook(harness, tool, input);
        assert!(answer.contains(message) && answer.contains("\"deny\""), "{input}: {answer}");
    }
    for (harness, tool, input) in [
        ("claude", "Bash", r#"{"command":"git commit -m 'rm .i-insist/team.toml'"}"#),
        ("codex", "Bash", r#"{"command":"bash -lc 'cat .i-insist/team.toml'"}"#),
        ("claude", "Read", &format!(r#"{{"file_path":{path:?}}}"#)),
        ("claude", "Edit", r#"{"file_path":"notes.md","old_string":"a","new_string":".i-insist"}"#),
        ("codex", "apply_patch", &diff.replace(".i-insist/", ".i-insist-notes/")),
    ] {
        assert_eq!(home.hook(harness, tool, input), "", "{input}");
    }
}
