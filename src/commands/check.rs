//! `check < EVENT.json` and `protect-config < EVENT.json`: one neutral event, one verdict.

use super::judge::{self, Judged, Refusal};
use super::{Exit, complain, explain, payload, usage_error};
use crate::decision::Strength;
use crate::event::neutral;
use crate::harness::{Moment, instead};
use crate::json::Json;
use crate::protect;
use crate::rules::Spelling;
use crate::sys::{self, LastWord, Stream};
use crate::world::World;
use std::io;
use std::time::{Duration, Instant};

/// Checks a command, a batch of them, or the event on standard input.
pub(crate) fn run(arguments: &[String]) -> Exit {
    match arguments {
        [] => event(),
        words => explain::run(Spelling::Guard, words),
    }
}

/// Prints whether the event on standard input is blocked, and why.
fn event() -> Exit {
    let time = Duration::from_secs(Moment::PreToolUse.limits().own_seconds);
    sys::answer_even_when_dying(LastWord {
        stream: Stream::Stdout,
        status: 2,
        before: r#"{"blocked":true,"message":"i-insist: "#.to_owned(),
        after: "\"}\n".to_owned(),
        deadline: time,
    });
    let deadline = Instant::now() + time;
    let (blocked, message, exit) = match verdict(deadline) {
        Ok(Judged { decision, .. }) => {
            let exit = if decision.failed { Exit::Failed } else { Exit::Done };
            let message = match (decision.strength, &decision.input) {
                (Strength::Allow, _) => None,
                (Strength::Rewrite, Some(input)) => {
                    Some(format!("{}\n\n{}", decision.message(), instead(input)))
                }
                _ => Some(decision.message()),
            };
            (decision.strength >= Strength::Rewrite, message, exit)
        }
        Err(CheckError::Refused(refusal @ Refusal::Own(_))) => {
            (true, Some(refusal.to_string()), Exit::Done)
        }
        Err(error) => (true, Some(error.to_string()), Exit::Failed),
    };
    let answer = Json::object([
        ("blocked", Json::Bool(blocked)),
        ("message", message.map_or(Json::Null, Json::string)),
    ]);
    let text = format!("{}\n", answer.to_text());
    match sys::reply(Stream::Stdout, text.as_bytes(), i32::from(exit as u8)) {
        Ok(()) => exit,
        Err(_) => Exit::Failed,
    }
}

enum CheckError {
    Input(String),
    Refused(Refusal),
}

impl std::fmt::Display for CheckError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Input(problem) => formatter.write_str(problem),
            Self::Refused(refusal) => refusal.fmt(formatter),
        }
    }
}

fn verdict(deadline: Instant) -> Result<Judged, CheckError> {
    let text = payload::read(&mut io::stdin().lock())
        .map_err(|error| CheckError::Input(error.to_string()))?;
    let world = World::from_environment().map_err(|error| CheckError::Input(error.to_string()))?;
    let json = Json::parse(&text)
        .map_err(|error| CheckError::Input(format!("input: invalid JSON: {error}")))?;
    let mut event =
        neutral::read(&json, &world.home).map_err(|error| CheckError::Input(error.to_string()))?;
    judge::judge(&world, Spelling::Guard, &mut event, || false, deadline)
        .map_err(CheckError::Refused)
}

/// Answers `true` or `false` like any checker: whether the event on standard input would change
/// protected configuration.
pub(crate) fn protect_config(arguments: &[String]) -> Exit {
    if !arguments.is_empty() {
        return usage_error("protect-config takes its event on standard input");
    }
    match touches(&mut io::stdin().lock()) {
        Ok(touches) => {
            super::say(if touches { "true" } else { "false" });
            Exit::Done
        }
        Err(problem) => {
            complain(&format!("i-insist: {problem}"));
            Exit::Failed
        }
    }
}

fn touches(input: &mut dyn io::BufRead) -> Result<bool, String> {
    let text = payload::read(input).map_err(|error| error.to_string())?;
    let world = World::from_environment().map_err(|error| error.to_string())?;
    let json = Json::parse(&text).map_err(|error| format!("input: invalid JSON: {error}"))?;
    let mut event = neutral::read(&json, &world.home).map_err(|error| error.to_string())?;
    let (parsed, guarded) =
        judge::for_protection(&world, &mut event).map_err(|refusal| refusal.to_string())?;
    Ok(protect::examine(&event, parsed.as_ref(), &guarded, &world.home).is_some())
}
