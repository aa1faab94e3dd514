//! The installer is killed, failed and raced at each of its system calls; the settings must never
//! be less than the old bytes or the new.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![cfg(target_os = "linux")]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

const PROGRAM: &str = env!("CARGO_BIN_EXE_i-insist");
const OLD: &str = "{\n  \"model\": \"x\",\n  \"hooks\": {}\n}\n";

/// A home directory whose settings file is a link.
struct Home(PathBuf);

impl Home {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::SeqCst);
        let name = format!("i-insist-crash-{}-{count}", std::process::id());
        let home = std::env::temp_dir().join(name);
        for folder in ["real", ".claude", "work"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        fs::write(home.join("real/settings.json"), OLD).unwrap();
        std::os::unix::fs::symlink("../real/settings.json", home.join(".claude/settings.json"))
            .unwrap();
        Self(home)
    }

    /// Before `uninstall` something must be installed.
    fn ready_for(action: &str) -> Self {
        let home = Self::new();
        if action == "uninstall" {
            assert!(
                home.command(PROGRAM, &["install", "claude"]).output().unwrap().status.success()
            );
        }
        home
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .env("HOME", &self.0)
            .env("PATH", "/usr/bin:/bin")
            .current_dir(self.0.join("work"));
        command
    }

    /// Runs `action` under strace with `options`.
    fn trace(&self, options: &[&str], action: &str) -> Output {
        let log = self.0.join("log");
        let mut arguments = vec!["-o", log.to_str().unwrap()];
        arguments.extend_from_slice(options);
        arguments.extend_from_slice(&[PROGRAM, action, "claude"]);
        let output = self.command("strace", &arguments).output();
        output.unwrap_or_else(|error| panic!("strace must be installed for this test: {error}"))
    }

    fn settings(&self) -> String {
        assert!(self.0.join(".claude/settings.json").is_symlink());
        fs::read_to_string(self.0.join("real/settings.json")).unwrap()
    }

    /// Files that only a running installer may have.
    fn litter(&self) -> Vec<PathBuf> {
        let folders = ["real", ".claude", ".i-insist", ".local/state/i-insist/registrations"];
        let names = folders.iter().filter_map(|folder| fs::read_dir(self.0.join(folder)).ok());
        let paths = names.flatten().map(|entry| entry.unwrap().path());
        paths.filter(|path| path.to_str().unwrap().contains(".i-insist-")).collect()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// One system call of the undisturbed run: its name, and the how-manieth of that name it is.
struct Call {
    name: String,
    number: usize,
    line: String,
}

/// The calls from the first one that names the home on, the answer to the person left out.
fn calls(home: &Home, action: &str) -> Vec<Call> {
    let output = home.trace(&["-s", "200"], action);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let log = fs::read_to_string(home.0.join("log")).unwrap();
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut calls = Vec::new();
    for line in log.lines() {
        let Some((name, rest)) = line.split_once('(') else {
            continue;
        };
        let number = numbers.entry(name).or_default();
        *number += 1;
        let names_home = line.contains(home.0.to_str().unwrap());
        let answers = name == "write" && (rest.starts_with("1,") || rest.starts_with("2,"));
        let ends = name.starts_with("exit") || name == "execve";
        if (names_home || !calls.is_empty()) && !answers && !ends {
            calls.push(Call { name: name.to_owned(), number: *number, line: line.to_owned() });
        }
    }
    assert!(calls.len() > 20, "the trace is not whole:\n{log}");
    calls
}

/// What the settings are when nothing disturbs.
fn new_text(action: &str) -> String {
    let home = Home::ready_for(action);
    assert!(home.command(PROGRAM, &[action, "claude"]).output().unwrap().status.success());
    assert_eq!(home.litter(), [] as [PathBuf; 0]);
    home.settings()
}

#[test]
fn p25_killed_at_each_call_it_leaves_the_old_bytes_or_the_new() {
    for action in ["install", "uninstall"] {
        let new = new_text(action);
        let (mut kept, mut changed) = (0, 0);
        for call in calls(&Home::ready_for(action), action) {
            let home = Home::ready_for(action);
            let old = home.settings();
            let inject = format!("inject={}:signal=KILL:when={}", call.name, call.number);
            let output = home.trace(&["-e", &inject], action);
            assert!(!output.status.success(), "not killed at {}", call.line);
            let text = home.settings();
            assert!(text == old || text == new, "{}\n{text}", call.line);
            *(if text == old { &mut kept } else { &mut changed }) += 1;
            // The next run finishes the work and cleans up.
            let output = home.command(PROGRAM, &[action, "claude"]).output().unwrap();
            assert!(output.status.success(), "{}\n{output:?}", call.line);
            assert_eq!(home.settings(), new, "{}", call.line);
            assert!(home.litter().is_empty(), "{}\n{:?}", call.line, home.litter());
        }
        assert!(kept > 0 && changed > 0, "{action}: {kept} old, {changed} new");
    }
}

#[test]
fn failed_at_each_call_its_exit_status_tells_what_the_file_holds() {
    const CHANGING: &[&str] =
        &["openat", "write", "fsync", "rename", "unlink", "mkdir", "fchown", "fchmod", "flock"];
    for action in ["install", "uninstall"] {
        let new = new_text(action);
        let calls = calls(&Home::ready_for(action), action);
        for call in calls.iter().filter(|call| CHANGING.contains(&call.name.as_str())) {
            // A file that cannot be removed stays, and so does a lock that cannot be taken: it may be
            // another's.
            for error in ["ENOSPC", "EIO", "EACCES"] {
                let home = Home::ready_for(action);
                let old = home.settings();
                let inject = format!("inject={}:error={error}:when={}", call.name, call.number);
                let output = home.trace(&["-e", &inject], action);
                let text = home.settings();
                let expected = if output.status.success() { &new } else { &old };
                assert_eq!(&text, expected, "{error} at {}\n{output:?}", call.line);
                assert!(output.status.success() || !output.stderr.is_empty(), "{}", call.line);
                assert!(
                    ["unlink", "flock"].contains(&call.name.as_str()) || home.litter().is_empty(),
                    "{error} at {}\n{:?}",
                    call.line,
                    home.litter()
                );
            }
        }
    }
}

#[test]
fn the_order_of_calls_survives_a_power_failure() {
    let home = Home::new();
    let lines: Vec<String> = calls(&home, "install").into_iter().map(|call| call.line).collect();
    let after = |from: usize, part: &str, name: &str| {
        let found =
            lines.iter().skip(from).position(|line| line.contains(part) && line.contains(name));
        from + found.unwrap_or_else(|| panic!("no {part} {name} in\n{}", lines.join("\n")))
    };
    let opened = after(0, "O_EXCL", "settings.json.i-insist-new");
    let written = after(opened, "write(", "");
    let synced = after(written, "fsync(", "");
    let renamed = after(synced, "rename", "settings.json.i-insist-new");
    let folder = after(renamed, "openat(", "real\"");
    after(folder, "fsync(", "");
}

#[test]
fn p34_many_at_once_leave_valid_files_with_each_registration_at_most_once() {
    let home = Home::new();
    let actions = [
        ["install", "claude"],
        ["uninstall", "codex"],
        ["install", "codex"],
        ["uninstall", "claude"],
    ];
    let spawn = |number: usize| home.command(PROGRAM, &actions[number % 4]).spawn().unwrap();
    let children: Vec<_> = (0..32).map(spawn).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let count = |file: &Path, harness: &str| {
        let text = fs::read_to_string(file).unwrap_or_default();
        assert!(text.is_empty() || text.trim_end().ends_with('}'), "{text}");
        let count = text.matches(&format!("hook --harness {harness} stop")).count();
        assert!(count <= 1, "{text}");
        count
    };
    let (claude, codex) = (home.0.join("real/settings.json"), home.0.join(".codex/hooks.json"));
    count(&claude, "claude");
    count(&codex, "codex");
    for action in [["install", "claude"], ["install", "codex"]] {
        assert!(home.command(PROGRAM, &action).output().unwrap().status.success());
    }
    assert_eq!((count(&claude, "claude"), count(&codex, "codex")), (1, 1));
    for action in [["uninstall", "claude"], ["uninstall", "codex"]] {
        assert!(home.command(PROGRAM, &action).output().unwrap().status.success());
    }
    assert_eq!(home.settings(), OLD);
    assert!(!codex.exists());
    assert!(home.litter().is_empty(), "{:?}", home.litter());
}
