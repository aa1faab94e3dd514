//! `install`, `uninstall`, `ensure` and `status` as a person calls them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

const PROGRAM: &str = env!("CARGO_BIN_EXE_i-insist");

/// A home directory with nothing in it, and no client on `PATH`.
struct Home(PathBuf);

impl Home {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::SeqCst);
        let name = format!("i-insist-commands-{}-{count}", std::process::id());
        let home = std::env::temp_dir().join(name);
        fs::create_dir_all(home.join("work")).unwrap();
        Self(home)
    }

    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let Output { status, stdout, stderr } = Command::new(PROGRAM)
            .args(arguments)
            .env_clear()
            .env("HOME", &self.0)
            .env("PATH", self.0.join("bin"))
            .env("CODEX_HOME", self.0.join("codex"))
            .current_dir(self.0.join("work"))
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (status.code().unwrap(), text(stdout), text(stderr))
    }

    fn put(&self, name: &str, text: &str) {
        fs::create_dir_all(self.0.join(name).parent().unwrap()).unwrap();
        fs::write(self.0.join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap_or_default()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

#[test]
fn install_twice_and_uninstall() {
    let home = Home::new();
    let settings = "{\n\t\"model\": \"x\"\n}";
    home.put(".claude/settings.json", settings);
    let (exit, out, err) = home.run(&["install", "claude"]);
    assert_eq!((exit, err.as_str()), (0, ""));
    assert!(out.contains("registered in") && out.contains("i-insist.toml"), "{out}");
    let installed = home.read(".claude/settings.json");
    let line = format!("\"command\": \"{PROGRAM} hook --harness claude pre-tool-use\"");
    assert!(installed.contains(&line), "{installed}");
    assert!(home.read(".i-insist/i-insist.toml").contains("protect-config"));

    assert!(home.run(&["install", "claude"]).1.contains("already registered"));
    assert_eq!(home.read(".claude/settings.json"), installed);
    assert_eq!(home.run(&["uninstall", "claude"]).0, 0);
    assert_eq!(home.read(".claude/settings.json"), settings);
}

#[test]
fn the_bare_name_is_written_when_path_leads_here() {
    let home = Home::new();
    fs::create_dir_all(home.0.join("bin")).unwrap();
    std::os::unix::fs::symlink(PROGRAM, home.0.join("bin/i-insist")).unwrap();
    assert_eq!(home.run(&["install", "claude"]).0, 0);
    let installed = home.read(".claude/settings.json");
    assert!(
        installed.contains("\"command\": \"i-insist hook --harness claude stop\""),
        "{installed}"
    );
}

#[test]
fn a_rehearsal_writes_nothing() {
    let home = Home::new();
    let (exit, out, _) = home.run(&["install", "claude", "--dry-run"]);
    assert!(exit == 0 && out.contains("+++ ") && out.contains("@@ -0,0 +1,"), "{out}");
    assert_eq!(fs::read_dir(&home.0).unwrap().count(), 1);
}

#[test]
fn malformed_settings_are_refused_with_their_place() {
    let home = Home::new();
    home.put(".claude/settings.json", "{\n  \"a\": 1,\n}\n");
    let (exit, out, err) = home.run(&["install", "claude"]);
    assert_eq!((exit, out.as_str()), (2, ""));
    assert!(err.contains("invalid JSON: line 3 column 1"), "{err}");
    assert_eq!(home.read(".claude/settings.json"), "{\n  \"a\": 1,\n}\n");
}

#[test]
fn ensure_finds_clients_by_their_configuration_and_respects_switches() {
    let home = Home::new();
    assert_eq!(home.run(&["ensure"]).0, 1);
    home.put("codex/config.toml", "model = \"x\"\n");
    let (exit, out, _) = home.run(&["ensure"]);
    assert!(exit == 0 && out.contains("/hooks"), "{out}");
    assert!(home.read("codex/hooks.json").contains("hook --harness codex session-start"));
    assert_eq!(home.read("codex/config.toml"), "model = \"x\"\n");
    assert!(home.run(&["status"]).1.contains("trust: unknown"));

    home.put("codex/config.toml", "[features]\nhooks = false\n");
    let (exit, _, err) = home.run(&["ensure"]);
    assert!(exit == 2 && err.contains("disabled"), "{err}");
    let (exit, out, _) = home.run(&["status"]);
    assert!(exit == 1 && out.contains("disabled"), "{out}");
}
