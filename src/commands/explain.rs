//! `check 'COMMAND'` and `check --batch`: what a shell command is read as, and what the rules make of it.

use super::judge::{self, Judged, Refusal};
use super::{Exit, complain, say, say_labelled, usage_error};
use crate::decision::{self, NearMiss, Strength};
use crate::event::{Event, Kind, neutral, paths};
use crate::json::Json;
use crate::rules::Spelling;
use crate::world::World;
use std::borrow::Cow;
use std::io::{self, BufRead};
use std::time::{Duration, Instant};

/// How many near misses are shown.
const MOST_NEAR: usize = 3;

/// Explains what the words of `check` name: one command, or with `--batch` what standard input holds.
pub(crate) fn run(spelling: Spelling, words: &[String]) -> Exit {
    match words {
        [option] if option == "--batch" => batch(spelling),
        // Behind `--` every word is the command's.
        [separator, command @ ..] if separator == "--" => explain(spelling, command, false),
        [option, command @ ..] if option == "--json" => explain(spelling, command, true),
        [option, ..] if option.starts_with("--") => {
            usage_error(&format!("check has no option `{option}`"))
        }
        [command @ .., option] if option == "--json" => explain(spelling, command, true),
        command => explain(spelling, command, false),
    }
}

/// Explains one command: for people, or as one JSON object.
fn explain(spelling: Spelling, words: &[String], as_json: bool) -> Exit {
    if words.is_empty() {
        return usage_error("check takes a command");
    }
    let world = match World::from_environment() {
        Ok(world) => world,
        Err(problem) => {
            complain(&format!("i-insist: {problem}"));
            return Exit::Failed;
        }
    };
    let text = words.join(" ");
    let mut event = shell_event(&world, &text);
    let judged = judge_event(&world, spelling, &mut event);
    let denied = match &judged {
        // A steer file that is left out is no reason to fail for a hook, but one for its author.
        Ok(judged) if judged.decision.failed || !judged.notices.is_empty() => Exit::Failed,
        // Nobody can be asked here, and then an ask is a denial.
        Ok(judged) if judged.decision.strength >= Strength::Ask => Exit::No,
        Ok(_) => Exit::Done,
        Err(Refusal::Own(_)) => Exit::No,
        Err(_) => Exit::Failed,
    };
    if as_json {
        say(&as_object(&event, judged.as_ref()).to_text());
    } else {
        for (label, text) in for_people(&event, judged.as_ref()) {
            say_labelled(label, &text);
        }
    }
    denied
}

/// Reads a command (a JSON string) or a neutral event (an object) from each line, and prints an
/// object for each.
fn batch(spelling: Spelling) -> Exit {
    let world = match World::from_environment() {
        Ok(world) => world,
        Err(problem) => {
            complain(&format!("i-insist: {problem}"));
            return Exit::Failed;
        }
    };
    let mut exit = Exit::Done;
    for line in io::stdin().lock().split(b'\n') {
        let line = match line {
            Ok(line) => line,
            Err(error) => {
                complain(&format!("i-insist: input: {error}"));
                return Exit::Failed;
            }
        };
        if line.trim_ascii().is_empty() {
            continue;
        }
        match batch_line(&world, spelling, &line) {
            Ok(answer) => say(&answer),
            Err(problem) => {
                exit = Exit::Failed;
                say(&Json::object([("error", Json::string(problem))]).to_text());
            }
        }
    }
    exit
}

fn batch_line(world: &World, spelling: Spelling, line: &[u8]) -> Result<String, String> {
    let line = str::from_utf8(line).map_err(|error| format!("input: not UTF-8: {error}"))?;
    let json = Json::parse(line).map_err(|error| format!("input: invalid JSON: {error}"))?;
    let mut event = match json.as_str() {
        Some(text) => shell_event(world, text),
        None => neutral::read(&json, &world.home).map_err(|error| error.to_string())?,
    };
    let judged = judge_event(world, spelling, &mut event);
    Ok(as_object(&event, judged.as_ref()).to_text())
}

/// A shell call of no harness, where we are: the rules of every harness look at it.
pub(crate) fn shell_event<'a>(world: &World, text: &'a str) -> Event<'a> {
    let cwd = paths::physical(&world.current_directory);
    let mut event = Event::new(Kind::Shell, "", "Bash", cwd);
    event.command = Some(Cow::Borrowed(text));
    event.tool_input = Json::object([("command", Json::string(text))]);
    event
}

fn judge_event(
    world: &World,
    spelling: Spelling,
    event: &mut Event<'_>,
) -> Result<Judged, Refusal> {
    judge::judge(world, spelling, event, || false, Instant::now() + Duration::from_secs(570))
}

/// What became of the call, in one word.
fn outcome(judged: Result<&Judged, &Refusal>) -> &'static str {
    match judged.map(|judged| judged.decision.strength) {
        Err(_) | Ok(Strength::Deny) => "deny",
        Ok(Strength::Ask) => "ask",
        Ok(Strength::Rewrite) => "rewrite",
        Ok(Strength::Context) => "context",
        Ok(Strength::Allow) => "allow",
    }
}

fn message(judged: Result<&Judged, &Refusal>) -> Option<String> {
    match judged {
        Ok(judged) if judged.decision.spoken.is_empty() => None,
        Ok(judged) => Some(judged.decision.message()),
        Err(refusal) => Some(refusal.to_string()),
    }
}

fn rewritten(judged: &Judged) -> Option<&str> {
    judged.decision.input.as_ref()?.get("command")?.as_str()
}

/// The rewritten command; where a rule sets other fields, the whole input.
fn changed(event: &Event<'_>, input: &Json<'_>) -> String {
    match (input, input.get("command").and_then(Json::as_str)) {
        (Json::Object(members), Some(command))
            if members.iter().all(|(key, value)| {
                key == "command" || event.tool_input.get(key) == Some(value)
            }) =>
        {
            command.to_owned()
        }
        _ => input.to_text(),
    }
}

fn near(event: &Event<'_>, judged: &Judged) -> Vec<NearMiss> {
    let mut near = decision::near_misses(event, judged.parsed.as_ref(), &judged.rules);
    near.truncate(MOST_NEAR);
    near
}

/// The explanation: labels, each with its text.
fn for_people(event: &Event<'_>, judged: Result<&Judged, &Refusal>) -> Vec<(&'static str, String)> {
    let mut lines = vec![("command", event.command.as_deref().unwrap_or_default().to_owned())];
    if let Ok(Judged { parsed: Some(parsed), .. }) = judged {
        lines.push(("segments", String::new()));
        lines.extend(parsed.segments.iter().map(|segment| ("", decision::segment_line(segment))));
        if !parsed.complete {
            lines.push(("incomplete", "the text ends in the middle of something".to_owned()));
        }
    }
    let names: Vec<&str> = judged.map_or(Vec::new(), |judged| {
        judged.decision.spoken.iter().map(|spoken| spoken.rule.as_str()).collect()
    });
    lines.push(("matched", if names.is_empty() { "-".to_owned() } else { names.join(", ") }));
    if let Ok(judged) = judged {
        lines.extend(
            judged.decision.held.iter().map(|(rule, held)| ("held", format!("{rule}: {held}"))),
        );
        lines.extend(near(event, judged).iter().map(|miss| ("nearest", miss.to_string())));
        lines.extend(judged.notices.iter().map(|notice| ("notice", notice.clone())));
    }
    lines.push(("action", outcome(judged).to_owned()));
    if let Some(input) = judged.ok().and_then(|judged| judged.decision.input.as_ref()) {
        lines.push(("rewrite", changed(event, input)));
    }
    if let Some(message) = message(judged).filter(|message| !message.is_empty()) {
        lines.push(("message", String::new()));
        lines.extend(message.lines().map(|line| ("", line.to_owned())));
    }
    lines
}

fn as_object<'a>(event: &'a Event<'a>, judged: Result<&'a Judged, &Refusal>) -> Json<'a> {
    let texts = |texts: Vec<String>| Json::Array(texts.into_iter().map(Json::string).collect());
    let text = |text: Option<String>| text.map_or(Json::Null, Json::string);
    let mut members: Vec<(&str, Json<'a>)> =
        vec![("command", event.command.as_deref().map_or(Json::Null, Json::string))];
    let parsed = judged.ok().and_then(|judged| judged.parsed.as_ref());
    if let Some(Json::Object(parsed)) = parsed.map(decision::parsed) {
        members.push((
            "segments",
            parsed
                .iter()
                .find(|(key, _)| key == "segments")
                .map_or(Json::Null, |(_, value)| value.clone()),
        ));
    }
    members.push(("complete", parsed.map_or(Json::Null, |parsed| Json::Bool(parsed.complete))));
    members.push(("outcome", Json::string(outcome(judged))));
    let rules = judged.map_or(Vec::new(), |judged| {
        judged.decision.spoken.iter().map(|spoken| spoken.rule.clone()).collect()
    });
    members.push(("rules", texts(rules)));
    members.push(("rewrite", text(judged.ok().and_then(rewritten).map(str::to_owned))));
    if let Ok(judged) = judged {
        let pair = |rule: &str, reason: String| {
            Json::object([
                ("rule", Json::string(rule.to_owned())),
                ("reason", Json::string(reason)),
            ])
        };
        members.push((
            "held",
            Json::Array(
                judged
                    .decision
                    .held
                    .iter()
                    .map(|(rule, held)| pair(rule, held.to_string()))
                    .collect(),
            ),
        ));
        members.push((
            "nearest",
            Json::Array(
                near(event, judged)
                    .iter()
                    .map(|miss| pair(&miss.rule, miss.reason.clone()))
                    .collect(),
            ),
        ));
    }
    members.push(("message", text(message(judged))));
    Json::object(members)
}
