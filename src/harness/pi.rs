//! Pi, through the bridge that `install` puts beside its extensions.
//!
//! Promises: a path is read as Pi's tools read it; an answer holds the keys that the bridge knows and
//! no others, for it blocks on any other. Never: asks, since the bridge cannot.

use super::payload::{call, origin};
use super::reply::{self, Answer, Part, Reply};
use super::{Author, Environment, Harness, Message, Moment, Origin, Prompt, SessionStart, Stop};
use crate::event::{Change, Event, Fields, InputError, Kind, Operation, paths, view};
use crate::json::Json;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// What the bridge calls a turn's id: new with every message of the person.
const TURN: &str = "turn_id";

/// The extension that asks us, less the program's path and the time-outs, which `install` puts first.
pub(crate) const BRIDGE: &str = include_str!("pi_bridge.ts");

/// Reads the question about `moment`.
pub(super) fn decode<'a>(
    moment: Moment,
    payload: &Fields<'a>,
    environment: &Environment,
    home: &Path,
) -> Result<Message<'a>, InputError> {
    Ok(match moment {
        Moment::PreToolUse | Moment::PostToolUse => {
            Message::Tool(Box::new(tool(moment, payload, environment, home)?))
        }
        Moment::UserPromptSubmit => Message::Prompt(Prompt {
            origin: place(payload, environment)?,
            text: payload.text("prompt")?,
            author: author(payload, environment)?,
        }),
        Moment::SessionStart => Message::SessionStart(SessionStart {
            origin: place(payload, environment)?,
            source: payload.text("reason")?,
            // Compaction starts no session in Pi.
            compacted: false,
        }),
        Moment::Stop => Message::Stop(Stop {
            origin: place(payload, environment)?,
            sent_back: matches!(payload.get("continues"), Some(Json::Number(times)) if times != "0"),
            background_tasks: 0,
            held_open: payload.flag("held_open")?.unwrap_or(false),
        }),
        Moment::PreSkillShellCommand | Moment::PostToolUseFailure | Moment::ConfigChange => {
            let name = moment.client_name();
            return Err(InputError::new(format!("Pi has no event {name}")));
        }
    })
}

fn place<'a>(payload: &Fields<'a>, environment: &Environment) -> Result<Origin<'a>, InputError> {
    Ok(Origin { project_trusted: trusted(payload)?, ..origin(payload, TURN, environment)? })
}

/// Whether the person lets Pi use what the project brings along. The bridge always says; a question
/// that does not comes from elsewhere, and withholding its checkers would let calls pass.
fn trusted(payload: &Fields<'_>) -> Result<bool, InputError> {
    Ok(payload.flag("trusted")?.unwrap_or(true))
}

fn author(payload: &Fields<'_>, environment: &Environment) -> Result<Author, InputError> {
    let nested = payload.flag("nested")?.unwrap_or(false);
    Ok(if nested || environment.nested {
        Author::Machine("the client was started by another agent")
    } else if payload.optional_text("source")? == Some("extension") {
        Author::Machine("an extension sent it")
    } else {
        Author::Person
    })
}

fn tool<'a>(
    moment: Moment,
    payload: &Fields<'a>,
    environment: &Environment,
    home: &Path,
) -> Result<Event<'a>, InputError> {
    let mut event = call(Harness::Pi, moment, payload, TURN, environment)?;
    event.tool_use_id = payload.id("tool_call_id")?;
    event.project_trusted = trusted(payload)?;
    if moment == Moment::PostToolUse {
        event.tool_response = payload.get("tool_output").map(view);
        event.tool_failed = payload.flag("is_error")?;
    }
    let input = || payload.object("tool_input");
    match payload.text("tool_name")? {
        "bash" | "powershell" => {
            event.kind = Kind::Shell;
            event.canonical_tool = Cow::Borrowed("Bash");
            event.command = Some(Cow::Borrowed(input()?.text("command")?));
        }
        "write" => {
            let content = Cow::Borrowed(input()?.text("content")?);
            changes(&mut event, &input()?, Operation::Write, content, home)?;
        }
        "edit" => {
            let content = replacements(&input()?)?;
            changes(&mut event, &input()?, Operation::Edit, content, home)?;
        }
        // A script: the tools that it calls are asked about one by one.
        "codemode" => {}
        name => {
            let canonical = match name {
                "read" => "Read",
                "grep" => "Grep",
                "find" => "Glob",
                "ls" => "LS",
                _ => return Ok(event),
            };
            event.canonical_tool = Cow::Borrowed(canonical);
            let path = input()?.get("path").and_then(Json::as_str);
            event.file = path.map(|path| resolve(path, &event.cwd, home));
        }
    }
    Ok(event)
}

fn changes<'a>(
    event: &mut Event<'a>,
    input: &Fields<'a>,
    operation: Operation,
    content: Cow<'a, str>,
    home: &Path,
) -> Result<(), InputError> {
    (event.kind, event.canonical_tool) = match operation {
        Operation::Write => (Kind::FileWrite, Cow::Borrowed("Write")),
        Operation::Edit | Operation::Delete => (Kind::FileEdit, Cow::Borrowed("Edit")),
    };
    let path = spelled(input.name_text("path")?, &event.cwd, home);
    let other =
        paths::folded(&path).map(|path| Change { path, operation, content: content.clone() });
    let change = Change { path: paths::physical(&path), operation, content };
    event.add_changes(std::iter::once(change).chain(other).collect());
    Ok(())
}

/// The replacement texts of an edit, joined with newlines.
fn replacements<'a>(input: &Fields<'a>) -> Result<Cow<'a, str>, InputError> {
    let edits = input.objects("edits")?;
    let texts = edits.iter().map(|edit| edit.text("newText"));
    match texts.collect::<Result<Vec<_>, _>>()?.as_slice() {
        [] => Err(input.missing("edits")),
        [only] => Ok(Cow::Borrowed(only)),
        several => Ok(Cow::Owned(several.join("\n"))),
    }
}

/// The physical path of what [`spelled`] reads.
fn resolve(text: &str, cwd: &Path, home: &Path) -> PathBuf {
    paths::physical(&spelled(text, cwd, home))
}

/// The path that Pi's tools open for `text`: odd blanks are blanks, one leading `@` goes, `~`
/// is the home directory, `~user` is not, and a URL of a file is that file.
fn spelled(text: &str, cwd: &Path, home: &Path) -> PathBuf {
    let plain: String = text.chars().map(plain_blank).collect();
    let plain = plain.strip_prefix('@').unwrap_or(&plain);
    let path = match plain.strip_prefix("file://") {
        Some(url) => file_of_url(url),
        None => match plain.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                home.join(rest.trim_start_matches('/'))
            }
            _ => PathBuf::from(plain),
        },
    };
    cwd.join(path)
}

/// The blanks of Unicode that Pi takes for a space.
fn plain_blank(character: char) -> char {
    match character {
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    }
}

/// The path of a file URL from behind its `//` (WHATWG URL: a backslash is a slash, tabs and line
/// ends do not count, query and fragment go). The host is dropped: Pi refuses any but this machine.
fn file_of_url(url: &str) -> PathBuf {
    let path: String = url
        .chars()
        .filter(|character| !matches!(character, '\t' | '\n' | '\r'))
        .take_while(|character| !matches!(character, '?' | '#'))
        .map(|character| if character == '\\' { '/' } else { character })
        .collect();
    let host = path.find('/').unwrap_or(path.len());
    let (_, path) = path.split_at(host);
    PathBuf::from(format!("/{}", percent_decoded(path.trim_end_matches(' '))))
}

/// `%XX` as the byte it stands for (RFC 3986, 2.1).
fn percent_decoded(text: &str) -> String {
    let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let escape = digit(bytes.get(at + 1)).zip(digit(bytes.get(at + 2)));
        let code = escape.and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        if let Some(code) = code.filter(|_| byte == b'%') {
            decoded.push(code);
            at += 3;
        } else {
            decoded.push(byte);
            at += 1;
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// Writes the answer to `moment`, for the bridge.
pub(super) fn encode(moment: Moment, answer: Answer<'_>) -> Reply {
    match answer {
        Answer::Pass => Reply::default(),
        Answer::Notice { person } => Reply::json([notice(Some(person))]),
        Answer::Context { text, person } => {
            let heard =
                matches!(moment, Moment::PreToolUse | Moment::PostToolUse | Moment::SessionStart);
            Reply::json([guidance(text).filter(|_| heard), notice(person)])
        }
        Answer::Deny { reason, person } | Answer::Ask { reason, person } => {
            deny(moment, reason, person)
        }
        Answer::Rewrite { input, person, context } if moment == Moment::PreToolUse => {
            // The model goes on seeing the call it made, so it is told which one ran.
            let told = format!("{}\n\n{}", context.unwrap_or_default(), reply::ran(&input));
            let guidance = guidance(told.trim_start()).map(|(key, text)| (key, text.into_owned()));
            Reply::json([Some(("input", input)), guidance, notice(person)])
        }
        Answer::Rewrite { input, person, .. } => deny(moment, &reply::instead(&input), person),
    }
}

/// Refuses what `moment` announced, in the form that counts there.
fn deny(moment: Moment, reason: &str, person: Option<&str>) -> Reply {
    let reason = reply::never_blank(reason);
    match moment {
        Moment::PreToolUse | Moment::PreSkillShellCommand | Moment::ConfigChange => Reply::json([
            Some(("decision", Json::string("block"))),
            Some(("reason", Json::string(reason))),
            notice(person),
        ]),
        Moment::Stop => Reply::json([
            Some(("continue", Json::Bool(true))),
            Some(("message", Json::string(reason))),
            notice(person),
        ]),
        Moment::PostToolUse | Moment::PostToolUseFailure | Moment::SessionStart => {
            Reply::json([guidance(reason), notice(person)])
        }
        // A prompt that was not understood goes on: its turn is a new one, for which no approval of
        // an earlier message counts.
        Moment::UserPromptSubmit => Reply::json([notice(Some(reason))]),
    }
}

/// Asks the bridge to show us the result of the call too.
pub(super) fn ask_after(reply: Reply) -> Reply {
    let stdout = match reply.stdout.strip_suffix('}') {
        Some(open) => format!("{open},\"after\":true}}"),
        None => "{\"after\":true}".to_owned(),
    };
    Reply { stdout, ..reply }
}

/// Something for the agent, beside the result of its call or before its first turn.
fn guidance(text: &str) -> Option<Part<'_>> {
    (!text.trim().is_empty()).then(|| ("guidance", Json::string(reply::clipped(text))))
}

/// Something for the person.
fn notice(person: Option<&str>) -> Option<Part<'_>> {
    let text = person.filter(|text| !text.trim().is_empty())?;
    Some(("notice", Json::string(reply::clipped(text))))
}

#[cfg(test)]
#[path = "pi_tests.rs"]
mod tests;
