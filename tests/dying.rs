//! The built program under attack: signals from outside while a checker runs, too little memory or
//! stack, streams that nobody reads. Whatever happens, a call that a rule blocks stays blocked.
//! There is no switch for faults in the program; all of them come from outside.
#![expect(clippy::unwrap_used, reason = "a failure to set up is a failed test")]

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

const PROGRAM: &str = env!("CARGO_BIN_EXE_i-insist");
const RUN: &str = "exec \"$@\"";
/// Ready only after the end of its input: by then the hook has surely noted what to kill.
const SLOW: &str = "cat >../ready.part; mv ../ready.part ../ready; sleep 600; echo false";
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A home whose one rule has this checker, a script.
struct Home(PathBuf);

impl Home {
    fn with_checker(script: &str) -> Self {
        let number = NUMBER.fetch_add(1, SeqCst);
        let path = env::temp_dir().join(format!("i-insist-dying-{}-{number}", std::process::id()));
        fs::create_dir_all(path.join(".i-insist")).unwrap();
        let rule = format!(
            "[[rules]]\nid = \"test/guard\"\ntimeout = 300\nmessage = \"the guard says no\"\n\
             checker = [\"sh\", \"-c\", '''{script}''']\n"
        );
        fs::write(path.join(".i-insist/test.toml"), rule).unwrap();
        Self(path.canonicalize().unwrap())
    }

    /// Starts the hook below `prefix`, a piece of shell that ends by running `"$@"`.
    fn start(&self, prefix: &str) -> Child {
        Command::new("sh")
            .args(["-c", prefix, "sh", PROGRAM, "hook", "--harness", "claude", "pre-tool-use"])
            .env_clear()
            .env("PATH", env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.0)
            .current_dir(&self.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Runs the hook on a call whose command is this text, a JSON string without its quotes.
    fn run(&self, prefix: &str, command: &str) -> Output {
        let mut child = self.start(prefix);
        feed(&mut child, &self.0, command);
        child.wait_with_output().unwrap()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// A program that died early reads nothing; that is for the test to notice by its answer.
fn feed(child: &mut Child, cwd: &Path, command: &str) {
    let payload = format!(
        "{{\"session_id\":\"s\",\"transcript_path\":\"/t\",\"cwd\":\"{}\",\"hook_event_name\":\"PreToolUse\",\
         \"tool_name\":\"Bash\",\"tool_input\":{{\"command\":\"{command}\"}},\"tool_use_id\":\"u\"}}\n",
        cwd.display()
    );
    let written = child.stdin.take().unwrap().write_all(payload.as_bytes());
    assert!(
        written.is_ok() || written.is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    );
}

/// One of the two forms of a denial, and nothing but it.
fn is_denial(output: &Output) -> bool {
    let stdout = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(0) => stdout.contains("\"permissionDecision\":\"deny\""),
        Some(2) => stdout.is_empty() && !output.stderr.trim_ascii().is_empty(),
        _ => false,
    }
}

/// Waits until the checker runs, sends a signal to the hook, and returns what a client sees.
fn signalled(home: &Home, signal: &str) -> Output {
    let mut child = home.start(RUN);
    feed(&mut child, &home.0, "true");
    let until = Instant::now() + Duration::from_mins(1);
    while !home.0.join("ready").exists() && Instant::now() < until {
        thread::sleep(Duration::from_millis(5));
    }
    assert!(
        Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success()
    );
    child.wait_with_output().unwrap()
}

/// Whether the kernel comes to end all processes that run in the directory of the rules.
fn checker_ends(home: &Home) -> bool {
    let directory = home.0.join(".i-insist");
    let until = Instant::now() + Duration::from_mins(1);
    let runs = || {
        let mut entries = fs::read_dir("/proc").unwrap().flatten();
        entries
            .any(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == directory))
    };
    while runs() && Instant::now() < until {
        thread::sleep(Duration::from_millis(5));
    }
    !runs()
}

/// Whether whoever started the tests had them ignore this signal, as nohup(1) and the background
/// jobs of scripts do: then the hook ignores it too.
fn is_ignored(signal: &str) -> bool {
    let number = ["-HUP", "-INT", "-QUIT"].iter().position(|name| *name == signal);
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    let mask = u64::from_str_radix(mask, 16).unwrap();
    number.is_some_and(|number| mask >> number & 1 == 1)
}

#[test]
fn signals_while_a_checker_runs() {
    for signal in ["-SEGV", "-BUS", "-ABRT", "-ILL", "-FPE", "-TERM", "-INT", "-HUP", "-QUIT"] {
        if is_ignored(signal) {
            continue;
        }
        let home = Home::with_checker(SLOW);
        let output = signalled(&home, signal);
        assert!(is_denial(&output), "{signal}: {output:?}");
        assert!(checker_ends(&home), "{signal}: the checker lives on");
    }
}

#[test]
fn a_request_to_stop_names_the_rule() {
    let home = Home::with_checker(SLOW);
    let output = signalled(&home, "-TERM");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(text.contains("test/guard") && text.contains("SIGTERM"), "{text}");
}

/// From far too little to plenty. Below some size the kernel cannot even start the program; no run
/// that starts may pass the call, and at some size it starts and then breaks down.
#[test]
fn too_little_memory_or_stack() {
    const MEMORY: [u32; 8] = [1_500, 2_000, 3_000, 4_000, 6_000, 8_000, 12_000, 80_000];
    const STACK: [u32; 6] = [16, 24, 32, 48, 64, 256];
    let home = Home::with_checker("echo true");
    let command = "x".repeat(1 << 20);
    let memory = MEMORY.map(|size| format!("ulimit -v {size}"));
    let stack = STACK.map(|size| format!("ulimit -s {size}"));
    let mut broke_down = 0;
    for limit in memory.iter().chain(&stack) {
        let limited = format!("{limit}; exec \"$@\"");
        let shell = ["-c", &limited, "sh", PROGRAM, "--version"];
        if Command::new("sh").args(shell).output().unwrap().status.success() {
            let output = home.run(&limited, &command);
            assert!(is_denial(&output), "{limit}: {output:?}");
            let stderr = String::from_utf8_lossy(&output.stderr);
            broke_down += u32::from(stderr.contains("the program broke down"));
        }
    }
    assert!(broke_down > 0, "no limit was tight enough to be a test");
    let output = home.run(RUN, &command);
    assert_eq!(output.status.code(), Some(0), "the twin without a limit: {output:?}");
    assert!(is_denial(&output));
}

#[test]
fn a_stdout_that_nobody_reads() {
    let home = Home::with_checker("echo true");
    for closed in [">&-", ">/dev/null", ">/dev/full", "</dev/null >&-"] {
        let output = home.run(&format!("exec \"$@\" {closed}"), "true");
        assert_eq!(output.status.code(), Some(2), "{closed}: {output:?}");
        assert!(!output.stderr.trim_ascii().is_empty(), "{closed}");
    }
    let mut child = home.start(RUN);
    drop(child.stdout.take());
    feed(&mut child, &home.0, "true");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(!output.stderr.trim_ascii().is_empty());
}

/// Nothing to say needs no reader.
#[test]
fn a_pass_needs_no_stdout() {
    let home = Home::with_checker("echo false");
    for closed in [">&-", ">/dev/full", ""] {
        let output = home.run(&format!("exec \"$@\" {closed}"), "true");
        assert_eq!(output.status.code(), Some(0), "{closed}: {output:?}");
        assert!(output.stdout.is_empty(), "{closed}: {output:?}");
    }
}
