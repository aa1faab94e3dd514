//! A person's home with a repository in it, and a client that calls the hooks.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;
use std::{env, fs, thread};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_i-insist");
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// There as long as the value.
pub(crate) struct World {
    pub(crate) home: PathBuf,
    pub(crate) root: PathBuf,
    /// Where the hook looks for programs.
    pub(crate) path: OsString,
}

impl World {
    /// A home with a directory `project` that belongs to no repository.
    pub(crate) fn directory() -> Self {
        let number = NUMBER.fetch_add(1, SeqCst);
        let home = env::temp_dir().join(format!("i-insist-finish-{}-{number}", std::process::id()));
        for folder in ["project", "temporary", "bin"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        let home = home.canonicalize().unwrap();
        let root = home.join("project");
        let mut path = OsString::from(home.join("bin"));
        path.push(":");
        path.push(env::var_os("PATH").unwrap());
        Self { home, root, path }
    }

    /// The same as a repository with one commit.
    pub(crate) fn repository() -> Self {
        let world = Self::directory();
        world.git("init -q -b main");
        world.write("kept.txt", "kept\n");
        world.write("src/code.ts", "export const one = 1;\n");
        world.write(".gitignore", "ignored/\n*.log\n");
        world.git("add -A");
        world.git("commit -q -m first");
        world
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn guard(&self, text: &str) {
        self.write(".i-insist/test.toml", text);
    }

    /// A guard file for every repository.
    pub(crate) fn general(&self, text: &str) {
        let folder = self.home.join(".i-insist");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("test.toml"), text).unwrap();
    }

    /// A program that is found before all others.
    pub(crate) fn program(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        let path = self.home.join("bin").join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn temporary(&self) -> PathBuf {
        self.home.join("temporary")
    }

    pub(crate) fn git(&self, arguments: &str) {
        self.shell(&format!("git {arguments}"));
    }

    /// A piece of shell in the repository; what it prints.
    pub(crate) fn shell(&self, text: &str) -> String {
        let text = format!("set -e; {text}");
        let mut shell = self.prepared("/bin/sh");
        let output = shell.args(["-c", &text]).output().unwrap();
        assert!(output.status.success(), "{text}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn prepared(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", &self.path)
            .env("HOME", &self.home)
            .env("TMPDIR", self.temporary())
            .env("GIT_AUTHOR_NAME", "a")
            .env("GIT_AUTHOR_EMAIL", "a@example.com")
            .env("GIT_COMMITTER_NAME", "a")
            .env("GIT_COMMITTER_EMAIL", "a@example.com")
            .current_dir(&self.root);
        command
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.prepared(PROGRAM).args(arguments).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.code().unwrap(), text)
    }

    /// Calls a hook and returns what it prints.
    pub(crate) fn hook(&self, harness: &str, event: &str, payload: &str) -> String {
        self.below("exec \"$@\"", harness, event, payload)
    }

    /// The same below a piece of shell that ends by running `"$@"`.
    pub(crate) fn below(&self, shell: &str, harness: &str, event: &str, payload: &str) -> String {
        let mut command = self.prepared("/bin/sh");
        let words = ["-c", shell, "sh", PROGRAM, "hook", "--harness", harness, event];
        let child = fed(command.args(words), payload);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{event}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The same without waiting.
    pub(crate) fn spawn(&self, harness: &str, event: &str, payload: &str) -> Child {
        let mut command = self.prepared(PROGRAM);
        fed(command.args(["hook", "--harness", harness, event]), payload)
    }

    /// The same in a client that another agent's shell has started.
    pub(crate) fn nested(&self, harness: &str, event: &str, payload: &str) -> String {
        self.below("CLAUDE_CODE_EXECPATH=/x exec \"$@\"", harness, event, payload)
    }

    pub(crate) fn start(&self, harness: &str, source: &str) {
        let payload = format!(
            "{{\"session_id\":\"s\",\"cwd\":\"{}\",\"source\":\"{source}\"}}",
            self.root.display()
        );
        self.hook(harness, "session-start", &payload);
    }

    pub(crate) fn prompt_payload(&self, text: &str) -> String {
        format!(
            "{{\"session_id\":\"s\",\"cwd\":\"{}\",\"prompt\":\"{text}\"}}",
            self.root.display()
        )
    }

    pub(crate) fn prompt(&self, harness: &str, text: &str) {
        self.hook(harness, "user-prompt-submit", &self.prompt_payload(text));
    }

    pub(crate) fn stop_payload(&self, session: &str, tasks: usize) -> String {
        let tasks = vec!["{\"id\":\"t\"}"; tasks].join(",");
        format!(
            "{{\"session_id\":\"{session}\",\"cwd\":\"{}\",\"background_tasks\":[{tasks}]}}",
            self.root.display()
        )
    }

    pub(crate) fn stop(&self, harness: &str) -> String {
        self.stop_of(harness, "s", 0)
    }

    pub(crate) fn stop_of(&self, harness: &str, session: &str, tasks: usize) -> String {
        self.hook(harness, "stop", &self.stop_payload(session, tasks))
    }

    /// What checks have noted in the home's file `ran` since the last question.
    pub(crate) fn ran(&self) -> Vec<String> {
        let path = self.home.join("ran");
        let text = fs::read_to_string(&path).unwrap_or_default();
        drop(fs::remove_file(path));
        text.lines().map(str::to_owned).collect()
    }

    /// Waits for a file of the home.
    pub(crate) fn await_file(&self, name: &str) -> String {
        for _ in 0..6_000 {
            if let Ok(text) = fs::read_to_string(self.home.join(name)) {
                return text;
            }
            thread::sleep(Duration::from_millis(10));
        }
        String::new()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        drop(Command::new("chmod").args(["-R", "u+rwX"]).arg(&self.home).output());
        drop(fs::remove_dir_all(&self.home));
    }
}

fn fed(command: &mut Command, payload: &str) -> Child {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    child
}

pub(crate) fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status();
    assert!(sent.unwrap().success());
}
