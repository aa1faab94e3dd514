//! The answer that a dying process still gives. Each test runs this very binary once more, as a
//! victim that breaks down in one way; what the victim says and how it ends is what a client sees.
//! Without the usual harness, since a victim must break down in its main thread.
#![expect(dead_code, reason = "includes modules of the program and uses a part of them")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a failure to set up is a failed test")]
#![expect(clippy::print_stdout, reason = "tells which test runs")]
#![expect(clippy::exit, reason = "a victim ends in many ways")]

#[path = "../src/checker/mod.rs"]
mod checker;
#[path = "../src/json.rs"]
mod json;
#[path = "../src/sys.rs"]
mod sys;

use std::path::Path;
use std::process::{self, Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, hint, thread};
use sys::{LastWord, Stream};

/// Names the fault that makes this process a victim.
const FAULT: &str = "I_INSIST_TEST_FAULT";

const TESTS: &[(&str, fn())] = &[
    ("own_faults", own_faults),
    ("deadline", deadline),
    ("signals_from_outside", signals_from_outside),
    ("what_the_caller_ignores_stays_ignored", what_the_caller_ignores_stays_ignored),
    ("nothing_is_said_after_the_reply", nothing_is_said_after_the_reply),
    (
        "a_large_reply_gets_through_a_pipe_that_does_not_block",
        a_large_reply_gets_through_a_pipe_that_does_not_block,
    ),
    ("stdout_that_nobody_reads", stdout_that_nobody_reads),
    (
        "a_request_to_stop_ends_the_checker_and_all_its_descendants",
        a_request_to_stop_ends_the_checker_and_all_its_descendants,
    ),
    ("a_crash_ends_the_checker", a_crash_ends_the_checker),
];

/// Runs the fault that the environment names, else the tests whose names contain an argument.
fn main() {
    if let Ok(fault) = env::var(FAULT) {
        victim(&fault);
    }
    let filters: Vec<String> = env::args().skip(1).filter(|text| !text.starts_with('-')).collect();
    for (name, test) in TESTS {
        if filters.is_empty() || filters.iter().any(|filter| name.contains(filter)) {
            println!("test last_word::{name}");
            test();
        }
    }
}

fn victim(fault: &str) -> ! {
    let form = |stream, status, before: &str, after: &str| LastWord {
        stream,
        status,
        before: before.to_owned(),
        after: after.to_owned(),
        deadline: Duration::from_mins(5),
    };
    let refusal = form(Stream::Stderr, 2, "blocked: ", "\n");
    let answer = form(Stream::Stdout, 0, "{\"systemMessage\":\"", "\"}");
    let (form, fault) = fault.split_once(' ').unwrap();
    let mut word = if form == "refusal" { refusal } else { answer };
    if fault.starts_with("late") {
        word.deadline = Duration::from_secs(1);
    }
    sys::answer_even_when_dying(word);
    break_down(fault);
    process::exit(99);
}

fn break_down(fault: &str) {
    match fault {
        "panic" => panic!("a \"quoted\"\nline with \\ and \u{1}"),
        "index" => drop(hint::black_box(Vec::<u8>::new())[hint::black_box(3)]),
        "drop" => {
            struct Bomb;
            impl Drop for Bomb {
                fn drop(&mut self) {
                    panic!("in a destructor");
                }
            }
            drop(Bomb);
        }
        "overflow" => drop(overflow(1)),
        "overflow in a thread" => drop(thread::spawn(|| overflow(1)).join()),
        "memory" => drop(hint::black_box(vec![1_u8; hint::black_box(1 << 46)])),
        "memory bit by bit" => {
            let mut all = Vec::new();
            loop {
                all.push(hint::black_box(vec![1_u8; 1 << 16]));
            }
        }
        "abort" => std::process::abort(),
        "wait" | "late" => wait_for_ever(),
        "late in a system call" => drop(fs::read("fifo")),
        "reply" => {
            sys::reply(Stream::Stdout, b"{\"deny\":1}", 0).unwrap();
            sys::reply(Stream::Stdout, b"again", 1).unwrap();
            panic!("after the reply");
        }
        "pass" => {
            sys::reply(Stream::Stdout, b"", 0).unwrap();
            panic!("after the reply");
        }
        "large reply" => {
            let stdout = std::io::stdout();
            sys::set_nonblocking(std::os::fd::AsFd::as_fd(&stdout)).unwrap();
            sys::reply(Stream::Stdout, &vec![b'x'; 1 << 20], 0).unwrap();
            process::exit(0);
        }
        "stdout" => {
            let read = sys::stdout_is_read();
            process::exit(if read { 10 } else { 11 });
        }
        "checker" => {
            // Ready only after the end of its input: by then we have surely noted what to kill.
            let argv =
                ["sh", "-c", "setsid sleep 600 & cat; echo ready >ready; sleep 600; sleep 600"];
            let argv = argv.map(str::to_owned);
            let checker = checker::Checker {
                argv: &argv,
                directory: &env::current_dir().unwrap(),
                timeout: Duration::from_secs(200),
                message: None,
            };
            let deadline = Instant::now() + Duration::from_secs(200);
            let verdict = checker::run(&checker, "team/slow", &mut std::iter::empty(), deadline);
            sys::reply(Stream::Stderr, format!("{verdict:?}").as_bytes(), 2).unwrap();
            process::exit(2);
        }
        other => panic!("no such fault: {other}"),
    }
}

#[expect(unconditional_recursion, reason = "meant to exhaust the stack")]
fn overflow(depth: u64) -> u64 {
    let page = hint::black_box([depth; 512]);
    overflow(hint::black_box(page[3]) + 1) + page[5]
}

fn wait_for_ever() {
    tell_ready();
    loop {
        thread::sleep(Duration::from_mins(10));
    }
}

/// The test waits for this line before it sends a signal.
fn tell_ready() {
    fs::write("ready", "ready").unwrap();
}

/// A directory of its own for each test, named by it.
fn place(name: &str) -> std::path::PathBuf {
    let path = env::temp_dir().join(format!("i-insist-last-word-{}-{name}", std::process::id()));
    drop(fs::remove_dir_all(&path));
    fs::create_dir_all(&path).unwrap();
    path.canonicalize().unwrap()
}

/// Starts a victim in `place`, below `prefix`: a piece of shell that ends by running `"$@"`.
fn start(place: &Path, prefix: &str, fault: &str) -> Child {
    Command::new("sh")
        .args(["-c", prefix, "sh"])
        .arg(env::current_exe().unwrap())
        .env(FAULT, fault)
        .current_dir(place)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What a client sees: the exit status (`None` after a signal), stdout, stderr.
fn seen(child: Child) -> (Option<i32>, String, String) {
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn is_refusal(prefix: &str, fault: &str, cause: &str) {
    let place = place(&fault.replace(' ', "-"));
    let (status, stdout, stderr) = seen(start(&place, prefix, &format!("refusal {fault}")));
    assert_eq!(status, Some(2), "{fault}: {stdout} {stderr}");
    assert!(stderr.contains("blocked: ") && stderr.contains(cause), "{fault}: {stderr}");
    assert_eq!(stdout, "", "{fault}");
    fs::remove_dir_all(place).unwrap();
}

fn is_answer(prefix: &str, fault: &str, cause: &str) {
    let place = place(&format!("answer-{}", fault.replace(' ', "-")));
    let (status, stdout, stderr) = seen(start(&place, prefix, &format!("answer {fault}")));
    assert_eq!(status, Some(0), "{fault}: {stdout} {stderr}");
    let reply = json::Json::parse(&stdout).unwrap();
    let message = reply.get("systemMessage").and_then(json::Json::as_str).unwrap_or_default();
    assert!(message.contains(cause), "{fault}: {stdout}");
    fs::remove_dir_all(place).unwrap();
}

const RUN: &str = "exec \"$@\"";

fn own_faults() {
    for (prefix, fault, cause) in [
        (RUN, "panic", "a  quoted  line with   and  "),
        (RUN, "index", "index out of bounds"),
        (RUN, "drop", "in a destructor"),
        (RUN, "overflow", "the program broke down"),
        (RUN, "overflow in a thread", "the program broke down"),
        ("ulimit -s 256; exec \"$@\"", "overflow", "the program broke down"),
        (RUN, "memory", "the program broke down"),
        ("ulimit -v 300000; exec \"$@\"", "memory bit by bit", "the program broke down"),
        (RUN, "abort", "the program broke down"),
    ] {
        is_refusal(prefix, fault, cause);
        is_answer(prefix, fault, cause);
    }
}

fn deadline() {
    let fifo = "mkfifo fifo; exec \"$@\"";
    is_refusal(RUN, "late", "deadline");
    is_refusal(fifo, "late in a system call", "deadline");
    is_answer(fifo, "late in a system call", "deadline");
}

/// Waits for the victim to be ready, then sends it a signal.
fn signal(child: &Child, place: &Path, signal: &str) {
    let until = Instant::now() + Duration::from_mins(1);
    while !place.join("ready").exists() && Instant::now() < until {
        thread::sleep(Duration::from_millis(5));
    }
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
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

fn signals_from_outside() {
    let stop = "told to stop";
    let crash = "the program broke down";
    let blocked = "exec env --block-signal=TERM \"$@\"";
    for (prefix, name, cause) in [
        (RUN, "-TERM", stop),
        (RUN, "-INT", stop),
        (RUN, "-HUP", stop),
        (RUN, "-QUIT", stop),
        (blocked, "-TERM", stop),
        (RUN, "-SEGV", crash),
        (RUN, "-BUS", crash),
        (RUN, "-ILL", crash),
        (RUN, "-FPE", crash),
        (RUN, "-ABRT", crash),
        (RUN, "-XCPU", crash),
    ] {
        if is_ignored(name) {
            continue;
        }
        let place = place(&format!("signal{name}-{}", prefix.len()));
        let child = start(&place, prefix, "refusal wait");
        signal(&child, &place, name);
        let (status, _, stderr) = seen(child);
        assert_eq!(status, Some(2), "{name}: {stderr}");
        assert!(stderr.contains(cause), "{name}: {stderr}");
        fs::remove_dir_all(place).unwrap();
    }
}

fn what_the_caller_ignores_stays_ignored() {
    let place = place("nohup");
    let mut child = start(&place, "trap '' HUP; exec \"$@\"", "refusal wait");
    signal(&child, &place, "-HUP");
    signal(&child, &place, "-HUP");
    assert!(child.try_wait().unwrap().is_none(), "ended by a signal that it was told to ignore");
    signal(&child, &place, "-TERM");
    assert_eq!(seen(child).0, Some(2));
    fs::remove_dir_all(place).unwrap();
}

fn nothing_is_said_after_the_reply() {
    let place = place("reply");
    for form in ["refusal", "answer"] {
        let (status, stdout, stderr) = seen(start(&place, RUN, &format!("{form} reply")));
        assert_eq!((status, stdout.as_str()), (Some(0), "{\"deny\":1}"), "{stderr}");
        assert!(!stderr.contains("blocked"), "{stderr}");
        let (status, stdout, stderr) = seen(start(&place, RUN, &format!("{form} pass")));
        assert_eq!((status, stdout.as_str(), stderr.as_str()), (Some(0), "", ""));
    }
    fs::remove_dir_all(place).unwrap();
}

fn a_large_reply_gets_through_a_pipe_that_does_not_block() {
    let place = place("large");
    let (status, stdout, stderr) = seen(start(&place, RUN, "refusal large reply"));
    assert_eq!((status, stdout.len(), stderr.as_str()), (Some(0), 1 << 20, ""));
    fs::remove_dir_all(place).unwrap();
}

fn stdout_that_nobody_reads() {
    let place = place("stdout");
    for (prefix, status) in [
        (RUN, 10),
        ("exec \"$@\" >&-", 11),
        ("exec \"$@\" >/dev/null", 11),
        ("exec \"$@\" >file", 10),
    ] {
        assert_eq!(seen(start(&place, prefix, "refusal stdout")).0, Some(status), "{prefix}");
    }
    fs::remove_dir_all(place).unwrap();
}

/// The numbers of the processes that run in `place`, zombies apart.
fn living_in(place: &Path) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let here = entries
        .filter(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == place));
    here.map(|entry| fs::read_to_string(entry.path().join("stat")).unwrap_or_default()).collect()
}

/// The kernel ends a killed process in its own time.
fn soon_nobody_lives_in(place: &Path) {
    let until = Instant::now() + Duration::from_mins(1);
    while !living_in(place).is_empty() && Instant::now() < until {
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(living_in(place), Vec::<String>::new());
}

fn a_request_to_stop_ends_the_checker_and_all_its_descendants() {
    for name in ["-TERM", "-INT", "-HUP"] {
        if is_ignored(name) {
            continue;
        }
        let place = place(&format!("checker{name}"));
        let child = start(&place, RUN, "refusal checker");
        signal(&child, &place, name);
        let (status, _, stderr) = seen(child);
        assert_eq!(status, Some(2), "{stderr}");
        assert!(
            stderr.contains("team/slow") && stderr.contains("the hook received signal"),
            "{stderr}"
        );
        assert_eq!(living_in(&place), Vec::<String>::new());
        fs::remove_dir_all(place).unwrap();
    }
}

fn a_crash_ends_the_checker() {
    for (name, expected) in [("-SEGV", Some(2)), ("-KILL", None)] {
        let place = place(&format!("crash{name}"));
        let child = start(&place, RUN, "refusal checker");
        signal(&child, &place, name);
        let (status, _, stderr) = seen(child);
        assert_eq!(status, expected, "{stderr}");
        assert_eq!(stderr.contains("blocked: "), expected.is_some(), "{stderr}");
        let until = Instant::now() + Duration::from_mins(1);
        let shells = || living_in(&place).into_iter().filter(|stat| stat.contains("(sh)")).count();
        while shells() > 0 && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(shells(), 0);
        // What left the group outlives a crash; the test tidies up.
        for stat in living_in(&place) {
            let pid = stat.split(' ').next().unwrap_or_default().to_owned();
            assert!(Command::new("kill").args(["-KILL", &pid]).status().is_ok());
        }
        soon_nobody_lives_in(&place);
        fs::remove_dir_all(place).unwrap();
    }
}
