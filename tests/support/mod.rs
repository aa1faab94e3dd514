//! A home, a project and the built program: every process test is a sentence of these words.
//!
//! Promises: the program sees no variable of ours but `PATH`; nothing it started outlives a run
//! unnoticed; every stream and the status are looked at.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A temporary home, and a project in it, as long as the value lives.
pub(crate) struct Place {
    root: PathBuf,
    variables: Vec<(String, Option<String>)>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let root =
            std::env::temp_dir().join(format!("i-insist-test-{}-{number}", std::process::id()));
        drop(fs::remove_dir_all(&root));
        fs::create_dir_all(root.join("home/project")).unwrap();
        let root = root.canonicalize().unwrap();
        Self { root, variables: Vec::new() }
    }

    /// A path below the home directory.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.root.join("home").join(path)
    }

    /// A path below the project, as text.
    pub(crate) fn in_project(&self, path: &str) -> String {
        format!("{}/{path}", self.at("project").display())
    }

    /// Puts a file below the home directory.
    pub(crate) fn home(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        write(&self.at(path), text.as_ref());
        self
    }

    /// Puts a file below the project.
    pub(crate) fn project(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        write(&self.at("project").join(path), text.as_ref());
        self
    }

    /// Puts a program below the home directory.
    pub(crate) fn program(self, path: &str, text: &str) -> Self {
        let place = self.home(path, text);
        fs::set_permissions(place.at(path), fs::Permissions::from_mode(0o755)).unwrap();
        place
    }

    /// Puts a link below the home directory.
    pub(crate) fn link(self, path: &str, target: impl AsRef<Path>) -> Self {
        let link = self.at(path);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, link).unwrap();
        self
    }

    /// Sets a variable for the runs that follow.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.into(), Some(value.into())));
        self
    }

    /// Takes a variable away from the runs that follow.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.variables.push((name.into(), None));
        self
    }

    /// The program in this place; nothing of our own environment reaches it but `PATH`.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_i-insist"));
        self.furnish(command.args(arguments));
        command
    }

    /// Gives any command the place's environment, directory and streams.
    pub(crate) fn furnish(&self, command: &mut Command) {
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.at(""))
            .env("I_INSIST_TEST_PLACE", &self.root)
            .current_dir(self.at("project"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for (name, value) in &self.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
    }

    /// Runs the program with `input` to its end.
    pub(crate) fn run(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Outcome {
        self.outcome(self.command(arguments), input.as_ref())
    }

    /// Runs a command with `input` to its end, and looks that nothing of it is left.
    pub(crate) fn outcome(&self, mut command: Command, input: &[u8]) -> Outcome {
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let output = thread::scope(|scope| {
            // A program that does not read its input is no failure of the test.
            scope.spawn(move || drop(stdin.write_all(input)));
            child.wait_with_output().unwrap()
        });
        assert_eq!(self.processes(), Vec::<PathBuf>::new(), "processes are left");
        Outcome {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// One hook call.
    pub(crate) fn hook(&self, harness: &str, event: &str, payload: impl AsRef<[u8]>) -> Outcome {
        self.run(&["hook", "--harness", harness, event], payload)
    }

    /// A shell call before it runs, in Claude.
    pub(crate) fn bash(&self, command: &str) -> Outcome {
        let payload = self.call("Bash", &object(&[("command", command)]));
        self.hook("claude", "pre-tool-use", payload)
    }

    /// An edit of a file of the project before it is made, in Claude.
    pub(crate) fn edit(&self, path: &str) -> Outcome {
        let payload = self.editing(path);
        self.hook("claude", "pre-tool-use", payload)
    }

    /// The payload of such an edit.
    pub(crate) fn editing(&self, path: &str) -> String {
        let path = self.in_project(path);
        let input = [("file_path", path.as_str()), ("old_string", "a"), ("new_string", "b")];
        self.call("Edit", &object(&input))
    }

    /// A call before it runs, as Claude tells it.
    pub(crate) fn call(&self, tool: &str, input: &str) -> String {
        let more = format!(r#""tool_name":{},"tool_input":{input}"#, quoted(tool));
        self.payload("PreToolUse", "prompt-1", &more)
    }

    /// A person's message in turn `turn`, in Claude.
    pub(crate) fn says(&self, turn: &str, text: &str) -> Outcome {
        let more = format!(r#""prompt":{}"#, quoted(text));
        let payload = self.payload("UserPromptSubmit", turn, &more);
        self.hook("claude", "user-prompt-submit", payload)
    }

    /// What Claude sends at `event`, with `more` members.
    pub(crate) fn payload(&self, event: &str, turn: &str, more: &str) -> String {
        format!(
            r#"{{"session_id":"session-1","cwd":{},"prompt_id":{},"hook_event_name":{},{more}}}"#,
            quoted(&self.at("project").to_string_lossy()),
            quoted(turn),
            quoted(event),
        )
    }

    /// A recorded payload, moved to this place's project.
    pub(crate) fn sample(&self, name: &str) -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/payloads");
        let text = fs::read_to_string(path.join(format!("{name}.json"))).unwrap();
        text.replace("/home/dev/project", &self.at("project").to_string_lossy())
    }

    /// The lines of the log.
    pub(crate) fn log(&self) -> Vec<String> {
        let text = fs::read_to_string(self.at(".local/state/i-insist/audit.jsonl"));
        text.unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// Processes that still run with this place's environment.
    fn processes(&self) -> Vec<PathBuf> {
        let mark = format!("I_INSIST_TEST_PLACE={}\0", self.root.display());
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries
            .map(|entry| entry.path())
            .filter(|process| {
                fs::read(process.join("environ"))
                    .is_ok_and(|text| text.windows(mark.len()).any(|part| part == mark.as_bytes()))
            })
            .collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.root));
    }
}

fn write(path: &Path, text: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A JSON string.
pub(crate) fn quoted(text: &str) -> String {
    let mut json = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\t' => json.push_str("\\t"),
            _ => json.push(character),
        }
    }
    json + "\""
}

/// A JSON object of strings.
pub(crate) fn object(members: &[(&str, &str)]) -> String {
    let members: Vec<String> =
        members.iter().map(|(key, value)| format!("{}:{}", quoted(key), quoted(value))).collect();
    format!("{{{}}}", members.join(","))
}

/// A rule with a checker, whose program is a script of `sh`.
pub(crate) fn checker(id: &str, script: &str, more: &str) -> String {
    format!(
        "[[rules]]\nid = {}\nchecker = [\"sh\", \"-c\", {}]\n{more}\n",
        quoted(id),
        quoted(script)
    )
}

/// A rule that blocks every call.
pub(crate) fn blocks(id: &str) -> String {
    checker(id, "echo true", &format!("message = \"blocked by {id}\""))
}

/// All that came out of one run.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    /// Nothing at all: the call, prompt or event goes on.
    #[track_caller]
    pub(crate) fn passes(&self) {
        self.is(0, "", "");
    }

    /// Exactly this.
    #[track_caller]
    pub(crate) fn is(&self, status: i32, stdout: &str, stderr: &str) {
        assert_eq!(
            (self.status, self.stdout.as_str(), self.stderr.as_str()),
            (Some(status), stdout, stderr)
        );
    }

    /// Denied before the tool runs, with exactly this reason.
    #[track_caller]
    pub(crate) fn denies(&self, reason: &str) {
        self.denies_with(&[&format!(r#""permissionDecisionReason":{}}}"#, quoted(reason))]);
    }

    /// Denied before the tool runs; the answer holds these parts.
    #[track_caller]
    pub(crate) fn denies_with(&self, parts: &[&str]) {
        assert_eq!((self.status, self.stderr.as_str()), (Some(0), ""), "{self:?}");
        let form =
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","#;
        assert!(self.stdout.starts_with(form), "no denial: {self:?}");
        self.shows(parts);
    }

    /// Refused by exit status 2; stderr holds these parts.
    #[track_caller]
    pub(crate) fn refuses(&self, parts: &[&str]) {
        assert_eq!((self.status, self.stdout.as_str()), (Some(2), ""), "{self:?}");
        for part in parts {
            assert!(self.stderr.contains(part), "{part:?} is not in {self:?}");
        }
    }

    /// Goes on, and the person alone is told something that holds these parts.
    #[track_caller]
    pub(crate) fn tells(&self, parts: &[&str]) {
        assert_eq!((self.status, self.stderr.as_str()), (Some(0), ""), "{self:?}");
        assert!(self.stdout.starts_with(r#"{"systemMessage":""#), "{self:?}");
        self.shows(parts);
    }

    /// Standard output holds these parts.
    #[track_caller]
    pub(crate) fn shows(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.stdout.contains(part), "{part:?} is not in {self:?}");
        }
    }
}
