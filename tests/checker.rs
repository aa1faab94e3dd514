//! Checkers that misbehave in every known way, as real processes: the verdict, its message, and
//! that nothing is left of them. A test target of its own, since a supervisor takes every child of
//! its process for its own.
#![expect(dead_code, reason = "includes modules of the program and uses a part of them")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a failure to set up is a failed test")]

#[path = "../src/checker/mod.rs"]
mod checker;
#[path = "../src/json.rs"]
mod json;
#[path = "../src/sys.rs"]
mod sys;

use checker::{Checker, Verdict, run};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A directory that is there as long as the value.
struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        let number = NUMBER.fetch_add(1, SeqCst);
        let path =
            env::temp_dir().join(format!("i-insist-checker-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path.canonicalize().unwrap())
    }

    /// Not while another test forks: the child would hold the file open for writing, and a file
    /// that is being written to cannot be executed.
    fn file(&self, name: &str, mode: u32, text: &[u8]) {
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        fs::write(self.0.join(name), text).unwrap();
        fs::set_permissions(self.0.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// One question to one checker.
struct Ask<'a> {
    argv: Vec<String>,
    place: &'a Place,
    timeout: Duration,
    hook_time: Duration,
    message: Option<&'a str>,
    event: usize,
}

fn ask<'a>(place: &'a Place, argv: &[&str]) -> Ask<'a> {
    Ask {
        argv: argv.iter().map(|text| (*text).to_owned()).collect(),
        place,
        timeout: Duration::from_mins(1),
        hook_time: Duration::from_mins(10),
        message: Some("no, thanks"),
        event: 2,
    }
}

fn shell<'a>(place: &'a Place, script: &str) -> Ask<'a> {
    ask(place, &["sh", "-c", script])
}

impl Ask<'_> {
    /// The verdict, after looking that the checker left no process and no zombie. Everything it
    /// starts runs in the place's directory, or names it in its arguments.
    fn verdict(&self) -> Verdict {
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let checker = Checker {
            argv: &self.argv,
            directory: &self.place.0,
            timeout: self.timeout,
            message: self.message,
        };
        let event = vec![b' '; self.event];
        let mut chunks = event.chunks(1 << 16).map(<[u8]>::to_vec);
        let deadline = Instant::now() + self.hook_time;
        let verdict = run(&checker, "team/vault", &mut chunks, deadline);
        assert_eq!(sys::children(), [], "children or zombies are left");
        assert!(!sys::reap_all(), "something was left to be reaped");
        verdict
    }

    fn passes(&self) {
        assert_eq!(self.verdict(), Verdict::Pass);
    }

    fn blocks(&self, message: &str) {
        assert_eq!(self.verdict(), Verdict::Block(message.to_owned()));
    }

    /// Broken, with a text that names the rule and all of `parts`.
    fn breaks(&self, parts: &[&str]) {
        let verdict = self.verdict();
        let Verdict::Broken(text) = &verdict else { panic!("not broken: {verdict:?}") };
        for part in ["checker", "team/vault"].iter().chain(parts) {
            assert!(text.contains(part), "{part:?} is not in {text:?}");
        }
    }
}

/// The processes that run in `place`, apart from those on their way out.
fn living_in(place: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let cwd = fs::read_link(entry.path().join("cwd"));
        if cwd.is_ok_and(|cwd| cwd == place) {
            found.push(fs::read_to_string(entry.path().join("stat")).unwrap_or_default());
        }
    }
    found
}

fn nobody_lives_in(place: &Place) {
    // Elsewhere a killed group ends in the kernel's own time, with nobody to wait for it.
    let until = Instant::now() + Duration::from_secs(if portable() { 60 } else { 0 });
    while Instant::now() < until && !living_in(&place.0).is_empty() {
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(living_in(&place.0), Vec::<String>::new());
}

fn portable() -> bool {
    env::var_os("I_INSIST_TEST_PORTABLE").is_some()
}

#[test]
fn boolean_protocol() {
    let place = Place::new();
    shell(&place, "echo true").blocks("no, thanks");
    shell(&place, "echo false").passes();
    shell(&place, "printf ' \\n\\tfalse\\r\\n '").passes();
    for (script, found) in [
        ("echo null", "but printed null"),
        ("echo '\"no\"'", "but printed a string"),
        ("echo 0", "but printed a number"),
        ("echo '[true]'", "but printed an array"),
        ("echo '{\"block\": true}'", "but printed an object"),
        (":", "but printed nothing"),
        ("echo; echo", "but printed nothing"),
        ("echo true false", "not one JSON value"),
        ("echo false; echo false", "not one JSON value"),
        ("echo True", "not one JSON value"),
        ("echo 'all is well'", "not one JSON value"),
        ("printf '\\357\\273\\277false'", "a byte order mark"),
        ("printf '\"\\377\"'", "invalid UTF-8"),
        ("printf 'false\\0'", "not one JSON value"),
    ] {
        shell(&place, script).breaks(&["checker must print a JSON boolean", found]);
    }
}

#[test]
fn verdict_protocol() {
    let place = Place::new();
    let verdict = |script: &str| Ask { message: None, ..shell(&place, script) };
    verdict("echo null").passes();
    verdict("echo '\"keep \\u0022off\\u0022\"'").blocks("keep \"off\"");
    for (script, found) in [
        ("echo true", "but printed true"),
        ("echo false", "but printed false"),
        ("echo '\"\"'", "but printed a blank string"),
        ("echo '\" \"'", "but printed a blank string"),
        (":", "but printed nothing"),
        ("echo null null", "not one JSON value"),
    ] {
        verdict(script).breaks(&["checker must print null or a nonempty JSON string", found]);
    }
}

#[test]
fn ways_to_end() {
    let place = Place::new();
    shell(&place, "echo false; echo reason one >&2; exit 3")
        .breaks(&["exited with status 3", "reason one"]);
    shell(&place, "echo false; echo gone >&2; kill -SEGV $$")
        .breaks(&["killed by signal 11", "gone"]);
    shell(&place, "kill -KILL 0").breaks(&["killed by signal 9 (SIGKILL)"]);
    // Killing its own group ends the checker alone, for we are not in it.
    shell(&place, "trap '' TERM; kill 0; echo false").passes();
    shell(&place, "kill 0; sleep 600").breaks(&["killed by signal 15 (SIGTERM)"]);
}

#[test]
fn event_is_not_read() {
    let place = Place::new();
    let large = |script: &str| Ask { event: 8 << 20, ..shell(&place, script) };
    large("echo false").passes();
    large("exec <&-; echo true").blocks("no, thanks");
    large("head -c 100000 >seen; echo false").passes();
    large("echo false; wc -c >seen").passes();
    assert_eq!(fs::read_to_string(place.0.join("seen")).unwrap().trim(), "8388608");
    large("wc -c >seen; echo true").blocks("no, thanks");
}

#[test]
fn output_is_bounded() {
    let place = Place::new();
    shell(&place, "head -c 100000000 /dev/zero").breaks(&["printed more than 1 MiB"]);
    shell(&place, "exec yes").breaks(&["printed more than 1 MiB"]);
    shell(&place, "head -c 1048570 /dev/zero | tr '\\0' ' '; echo true").blocks("no, thanks");
    shell(&place, "head -c 1048576 /dev/zero | tr '\\0' ' '; echo true")
        .breaks(&["printed more than 1 MiB"]);
    shell(&place, "head -c 8000000 /dev/zero >&2; echo false").passes();
    shell(&place, "head -c 8000000 /dev/zero | tr '\\0' x >&2; echo the end >&2; exit 1")
        .breaks(&["exited with status 1", "xxx", "the end"]);
    Ask { timeout: Duration::from_millis(300), ..shell(&place, "exec yes >&2") }
        .breaks(&["timeout of 0.3"]);
    nobody_lives_in(&place);
}

#[test]
fn stdout_is_closed_early() {
    let place = Place::new();
    shell(&place, "echo false; exec >&-; sleep 0.1").passes();
    shell(&place, "exec >&- 2>&-; sleep 0.1")
        .breaks(&["must print a JSON boolean, but printed nothing"]);
}

#[test]
fn time_is_up() {
    let place = Place::new();
    let short = |script: &str| Ask { timeout: Duration::from_millis(50), ..shell(&place, script) };
    short("echo false; echo slow >&2; sleep 600")
        .breaks(&["did not answer within its timeout of 0.05"]);
    short("trap '' TERM INT HUP; while :; do sleep 600; done").breaks(&["timeout of 0.05 s"]);
    short("exec >&- 2>&- <&-; sleep 600").breaks(&["timeout of 0.05 s"]);
    let hook = Ask { hook_time: Duration::from_millis(50), ..shell(&place, "sleep 600") };
    hook.breaks(&["before the hook's own time ran out"]);
    let none = Ask { hook_time: Duration::ZERO, ..shell(&place, "touch ran; echo false") };
    none.breaks(&["was not asked"]);
    assert!(!place.0.join("ran").exists());
    nobody_lives_in(&place);
}

#[test]
fn group_is_gone() {
    let place = Place::new();
    let start = Instant::now();
    shell(&place, "sleep 600 & echo false").passes();
    shell(&place, "(trap '' TERM HUP; sleep 600; sleep 600) & echo true").blocks("no, thanks");
    shell(&place, "nohup sleep 600 >nohup.out 2>&1 <&- & echo false").passes();
    shell(&place, "while :; do echo false; done & echo false").verdict();
    assert!(start.elapsed() < Duration::from_mins(5), "waited for a background child");
    nobody_lives_in(&place);
}

const DOUBLE_FORK: &str = "
import os, sys, time
def child():
    return os.fork() == 0
if child():
    os.setsid()
    if child():
        if child():
            os.setsid()
        time.sleep(600)
    os._exit(0)
time.sleep(0.2)
sys.stdout.write('false')
";

#[test]
fn detached_descendants_are_gone() {
    if portable() {
        return; // Without a subreaper nobody can find them; the manual says so.
    }
    let place = Place::new();
    place.file("daemon.py", 0o644, DOUBLE_FORK.as_bytes());
    shell(&place, "setsid sleep 600 & sleep 0.1; echo false").passes();
    nobody_lives_in(&place);
    shell(&place, "setsid -f sleep 600; echo false").passes();
    nobody_lives_in(&place);
    ask(&place, &["python3", "daemon.py"]).passes();
    nobody_lives_in(&place);
    let late = Ask {
        timeout: Duration::from_secs(1),
        ..shell(&place, "python3 daemon.py; setsid -f sleep 600; sleep 600")
    };
    late.breaks(&["timeout of 1 s"]);
    nobody_lives_in(&place);
    shell(&place, "for i in 1 2 3 4 5 6 7 8; do setsid -f sh -c 'setsid -f sleep 600; sleep 600'; done; echo true")
        .blocks("no, thanks");
    nobody_lives_in(&place);
}

#[test]
fn program_cannot_be_started() {
    let place = Place::new();
    fs::create_dir(place.0.join("folder")).unwrap();
    place.file("plain", 0o755, b"echo false\n");
    place.file("locked", 0o644, b"#!/bin/sh\necho false\n");
    place.file("lost", 0o755, b"#!/nowhere/python3 -u\n");
    place.file("windows", 0o755, b"#!/bin/sh\r\necho false\r\n");
    place.file("empty", 0o755, b"");
    place.file("bare", 0o755, b"#!\necho false\n");
    std::os::unix::fs::symlink("nowhere", place.0.join("dangling")).unwrap();
    for (program, cause) in [
        ("./missing", "./missing does not exist"),
        ("./dangling", "./dangling does not exist"),
        ("i-insist-missing-program", "no program `i-insist-missing-program` on PATH"),
        ("./folder", "./folder is a directory"),
        ("./plain", "./plain is neither a binary"),
        ("./empty", "./empty is neither a binary"),
        ("./bare", "./bare is neither a binary"),
        ("./locked", "./locked has no execute permission"),
        ("./lost", "the interpreter \"/nowhere/python3\""),
        ("./windows", "the interpreter \"/bin/sh\\r\""),
        ("", "no program is named"),
        ("./a\0b", "cannot be started"),
    ] {
        ask(&place, &[program]).breaks(&["cannot be started", cause]);
    }
    let gone = Place(place.0.join("gone"));
    ask(&gone, &["sh", "-c", "echo false"]).breaks(&["cannot be started", "the directory"]);
}

#[test]
fn what_the_checker_sees() {
    let place = Place::new();
    place.file("check", 0o755, b"#!/bin/sh\necho $*; pwd -P; ls /proc/self/fd | tr '\\n' ' '\n");
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    // A descriptor such as a client leaves open: not close-on-exec.
    let kept = fs::File::open("/dev/null").unwrap();
    let kept = Command::new("true").stdin(kept).status().is_ok();
    assert!(kept);
    let argv = ["./check".to_owned(), "a b".to_owned(), "*".to_owned()];
    let mut job = checker::process::Job {
        argv: &argv,
        directory: &place.0,
        input: &mut std::iter::empty(),
        deadline: Instant::now() + Duration::from_mins(1),
        log: None,
        output_limit: 1 << 20,
        watch_stdin: false,
    };
    let finished = checker::process::run(&mut job).unwrap();
    let output = String::from_utf8(finished.stdout).unwrap();
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines[0], "a b check");
    assert_eq!(Path::new(lines[1]), place.0);
    assert_eq!(lines[2].trim(), "0 1 2 3", "the fourth is the listing's own");
}

#[test]
fn output_goes_to_a_log() {
    let place = Place::new();
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let log = fs::File::create(place.0.join("log")).unwrap();
    let argv = ["sh", "-c", "echo one; echo two >&2; exit 7"].map(str::to_owned);
    let mut job = checker::process::Job {
        argv: &argv,
        directory: &place.0,
        input: &mut std::iter::empty(),
        deadline: Instant::now() + Duration::from_mins(1),
        log: Some(&log),
        output_limit: 1 << 20,
        watch_stdin: false,
    };
    let finished = checker::process::run(&mut job).unwrap();
    assert_eq!(finished.end, checker::process::End::Exited(7));
    assert_eq!(fs::read_to_string(place.0.join("log")).unwrap(), "one\ntwo\n");
}

/// All of the above once more, with what other systems have in place of Linux's own calls.
#[test]
fn portable_stand_ins() {
    if portable() {
        return;
    }
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let again = Command::new(env::current_exe().unwrap())
        .env("I_INSIST_TEST_PORTABLE", "1")
        .output()
        .unwrap();
    // What it had to leave behind has become ours, since we are a subreaper.
    while sys::reap_all() {
        thread::sleep(Duration::from_millis(1));
    }
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stdout));
}
