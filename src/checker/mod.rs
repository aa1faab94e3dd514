#![doc = include_str!("../manual/07-checker.md")]
//!
//! Promises: every way a checker can behave ends in a verdict, at the latest at its time-out, and
//! whatever is not exactly an answer blocks, with a reason that names the rule and the cause. Never:
//! runs a shell, lets a checker's descendants live on, takes a doubtful answer for a pass.

pub(crate) mod process;

use crate::json::Json;
use process::{End, Finished, Job};
use std::path::Path;
use std::time::{Duration, Instant};

/// No answer is longer.
const OUTPUT_LIMIT: usize = 1 << 20;

/// A rule's program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checker<'a> {
    /// The program and its arguments; never empty.
    pub(crate) argv: &'a [String],
    /// The directory of the rule's file, in which the program runs.
    pub(crate) directory: &'a Path,
    /// How long it may take.
    pub(crate) timeout: Duration,
    /// The rule's message. With one the program answers `true` or `false`, without one `null` or
    /// the message itself.
    pub(crate) message: Option<&'a str>,
}

/// What a checker says about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing against it.
    Pass,
    /// Blocked, with this message.
    Block(String),
    /// The checker failed, which blocks too; the text names rule and cause.
    Broken(String),
}

/// Asks the checker of `rule` about an event, which is handed to it as JSON, piece by piece.
/// Everything the checker started is gone afterwards.
pub(crate) fn run(
    checker: &Checker<'_>,
    rule: &str,
    event: &mut dyn Iterator<Item = Vec<u8>>,
    hook_deadline: Instant,
) -> Verdict {
    let start = Instant::now();
    if hook_deadline <= start {
        return Verdict::Broken(format!(
            "rule `{rule}`: the checker was not asked, because the hook's own time had run out before"
        ));
    }
    let own_deadline = start.checked_add(checker.timeout).unwrap_or(hook_deadline);
    let deadline = own_deadline.min(hook_deadline);
    let mut job = Job {
        argv: checker.argv,
        directory: checker.directory,
        input: event,
        deadline,
        log: None,
        output_limit: OUTPUT_LIMIT,
        watch_stdin: false,
    };
    let finished = match process::run(&mut job) {
        Ok(finished) => finished,
        Err(cause) => {
            return Verdict::Broken(format!("rule `{rule}`: checker cannot be started: {cause}"));
        }
    };
    let own_time = (own_deadline <= hook_deadline).then_some(checker.timeout);
    let verdict = match complaint(finished.end, own_time) {
        None => read_answer(&finished.stdout, checker.message),
        Some(complaint) => Err(complaint),
    };
    verdict.unwrap_or_else(|complaint| Verdict::Broken(explain(rule, &complaint, &finished)))
}

/// A time in seconds, as a rule file has it.
fn seconds(time: Duration) -> String {
    let digits = format!("{}.{:03}", time.as_secs(), time.subsec_millis());
    digits.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// What is wrong with the way a checker ended. `own_time` is its time-out, unless the hook's own
/// deadline came first.
fn complaint(end: End, own_time: Option<Duration>) -> Option<String> {
    match end {
        End::Exited(0) => None,
        End::Exited(status) => Some(format!("exited with status {status}")),
        End::Signaled(signal) => Some(format!("was killed by {}", signal_name(signal))),
        End::TimedOut => Some(match own_time {
            Some(time) => format!("did not answer within its timeout of {} s", seconds(time)),
            None => "did not answer before the hook's own time ran out".to_owned(),
        }),
        End::TooMuchOutput => Some("printed more than 1 MiB".to_owned()),
        End::Interrupted(signal) => {
            Some(format!("was stopped, because the hook received {}", signal_name(signal)))
        }
        End::Abandoned => Some("was stopped, because the client has gone".to_owned()),
    }
}

/// Reads an answer in the protocol that the presence of a message chooses.
fn read_answer(output: &[u8], message: Option<&str>) -> Result<Verdict, String> {
    let wanted = match message {
        Some(_) => "must print a JSON boolean",
        None => "must print null or a nonempty JSON string",
    };
    let wrong = |found: &str| format!("{wanted}, but printed {found}");
    if output.starts_with(b"\xEF\xBB\xBF") {
        return Err(wrong("a byte order mark"));
    }
    let text =
        str::from_utf8(output).map_err(|error| wrong(&format!("invalid UTF-8 ({error})")))?;
    if text.trim().is_empty() {
        return Err(wrong("nothing"));
    }
    let answer = Json::parse(text)
        .map_err(|error| wrong(&format!("what is not one JSON value ({error})")))?;
    match (message, answer) {
        (Some(message), Json::Bool(true)) => Ok(Verdict::Block(message.to_owned())),
        (Some(_), Json::Bool(false)) | (None, Json::Null) => Ok(Verdict::Pass),
        (None, Json::String(reason)) if !reason.trim().is_empty() => {
            Ok(Verdict::Block(reason.into_owned()))
        }
        (_, other) => Err(wrong(kind_of(&other))),
    }
}

fn kind_of(value: &Json<'_>) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(true) => "true",
        Json::Bool(false) => "false",
        Json::Number(_) => "a number",
        Json::String(text) if text.trim().is_empty() => "a blank string",
        Json::String(_) => "a string",
        Json::Array(_) => "an array",
        Json::Object(_) => "an object",
    }
}

/// Rule, cause, and the end of what the checker wrote to stderr.
fn explain(rule: &str, complaint: &str, finished: &Finished) -> String {
    let stderr = String::from_utf8_lossy(&finished.stderr_tail);
    // The tail may begin in the middle of a character.
    let stderr = stderr.trim_start_matches(char::REPLACEMENT_CHARACTER).trim();
    if stderr.is_empty() {
        format!("rule `{rule}`: checker {complaint}")
    } else {
        format!("rule `{rule}`: checker {complaint}\nThe end of its stderr:\n{stderr}")
    }
}

/// A signal's number, with its name where one is used to it; those numbers are the same everywhere.
pub(crate) fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({name})")
}
