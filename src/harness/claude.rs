//! Claude Code.
//!
//! Promises: every tool that runs shell text or changes files is read as what it is; an unknown tool
//! passes as it came. Never: answers `allow`, which would skip the client's own permission question;
//! its rewrites count without a decision.

use super::payload::{call, origin, session_start, stop};
use super::reply::{self, Answer, Dialect, Reply};
use super::{Author, Environment, Harness, Message, Moment, Prompt, SettingsChange};
use crate::event::{Change, Event, Fields, InputError, Kind, Operation, paths, view};
use crate::json::Json;
use std::borrow::Cow;
use std::path::Path;

/// What this client calls a turn's id.
const TURN: &str = "prompt_id";
/// How the client opens a prompt that no person wrote, and what it is.
const MACHINE_OPENINGS: [(&str, &str); 4] = [
    // Of a background task, monitor, agent or workflow.
    ("<task-notification>", "it reports on a background task"),
    ("<agent-message", ANOTHER_AGENT),
    ("<teammate-message", ANOTHER_AGENT),
    ("Another Claude session sent a message:", ANOTHER_AGENT),
];
const ANOTHER_AGENT: &str = "it is another agent's message";

/// Reads the payload of `moment`.
pub(super) fn decode<'a>(
    moment: Moment,
    payload: &Fields<'a>,
    environment: &Environment,
    home: &Path,
) -> Result<Message<'a>, InputError> {
    Ok(match moment {
        Moment::PreToolUse
        | Moment::PreSkillShellCommand
        | Moment::PostToolUse
        | Moment::PostToolUseFailure => {
            Message::Tool(Box::new(tool(moment, payload, environment, home)?))
        }
        Moment::UserPromptSubmit => {
            let text = payload.text("prompt")?;
            Message::Prompt(Prompt {
                origin: origin(payload, TURN, environment)?,
                text,
                author: author(text, environment),
            })
        }
        Moment::SessionStart => Message::SessionStart(session_start(payload, TURN, environment)?),
        Moment::Stop => Message::Stop(stop(payload, TURN, environment)?),
        Moment::ConfigChange => {
            Message::SettingsChange(settings_change(payload, environment, home)?)
        }
    })
}

/// Scheduled prompts look like a person's; the calls that schedule them are judged instead.
fn author(text: &str, environment: &Environment) -> Author {
    if environment.nested {
        return Author::Machine("the client was started by another agent");
    }
    let text = text.trim_start();
    let machine = MACHINE_OPENINGS.iter().find(|(opening, _)| text.starts_with(opening));
    machine.map_or(Author::Person, |(_, what)| Author::Machine(what))
}

fn settings_change<'a>(
    payload: &Fields<'a>,
    environment: &Environment,
    home: &Path,
) -> Result<SettingsChange<'a>, InputError> {
    let origin = origin(payload, TURN, environment)?;
    let path = match payload.get("file_path") {
        Some(_) => {
            let path = payload.name_text("file_path")?;
            Some(paths::resolve(path, &origin.cwd, home))
        }
        None => None,
    };
    Ok(SettingsChange { origin, source: payload.optional_text("source")?, path })
}

fn tool<'a>(
    moment: Moment,
    payload: &Fields<'a>,
    environment: &Environment,
    home: &Path,
) -> Result<Event<'a>, InputError> {
    let mut event = call(Harness::Claude, moment, payload, TURN, environment)?;
    match moment {
        Moment::PostToolUse => event.tool_failed = Some(false),
        Moment::PostToolUseFailure => {
            event.tool_failed = Some(true);
            event.tool_response = payload.get("error").map(view);
        }
        Moment::PreToolUse
        | Moment::PreSkillShellCommand
        | Moment::UserPromptSubmit
        | Moment::SessionStart
        | Moment::Stop
        | Moment::ConfigChange => {}
    }
    match payload.text("tool_name")? {
        // The client drops a `cwd` or `workdir` that its tool does not have, so we do not look.
        "Bash" | "Monitor" => {
            event.kind = Kind::Shell;
            event.command = Some(Cow::Borrowed(payload.object("tool_input")?.text("command")?));
            // Both run shell text, so a rule about one holds for the other.
            event.canonical_tool = Cow::Borrowed("Bash");
        }
        "Task" => event.canonical_tool = Cow::Borrowed("Agent"),
        "Read" => {
            // What is no text the client refuses itself.
            let path = payload.object("tool_input")?.get("file_path").and_then(Json::as_str);
            event.file = path.map(|path| paths::resolve(path, &event.cwd, home));
        }
        name => {
            if let Some(target) = FileTool::from_name(name) {
                target.read(&mut event, &payload.object("tool_input")?, home)?;
            }
        }
    }
    Ok(event)
}

/// A tool that changes one file.
#[derive(Clone, Copy)]
enum FileTool {
    Write,
    Edit,
    MultiEdit,
    NotebookEdit,
}

impl FileTool {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "Write" => Self::Write,
            "Edit" => Self::Edit,
            "MultiEdit" => Self::MultiEdit,
            "NotebookEdit" => Self::NotebookEdit,
            _ => return None,
        })
    }

    /// Reads the arguments: the file and the supplied text.
    fn read<'a>(
        self,
        event: &mut Event<'a>,
        input: &Fields<'a>,
        home: &Path,
    ) -> Result<(), InputError> {
        let path_key = match self {
            Self::NotebookEdit => "notebook_path",
            Self::Write | Self::Edit | Self::MultiEdit => "file_path",
        };
        let path = input.name_text(path_key)?;
        let content = match self {
            Self::Write => Cow::Borrowed(input.text("content")?),
            Self::Edit => Cow::Borrowed(input.text("new_string")?),
            Self::MultiEdit => replacements(input)?,
            // A cell that goes has no source.
            Self::NotebookEdit if input.optional_text("edit_mode")? == Some("delete") => {
                Cow::Borrowed(input.optional_text("new_source")?.unwrap_or_default())
            }
            Self::NotebookEdit => Cow::Borrowed(input.text("new_source")?),
        };
        let (kind, operation) = match self {
            Self::Write => (Kind::FileWrite, Operation::Write),
            Self::Edit | Self::MultiEdit | Self::NotebookEdit => (Kind::FileEdit, Operation::Edit),
        };
        event.kind = kind;
        let other = paths::other_reading(path, &event.cwd, home);
        let readings = std::iter::once(paths::resolve(path, &event.cwd, home)).chain(other);
        let change = |path| Change { path, operation, content: content.clone() };
        event.add_changes(readings.map(change).collect());
        Ok(())
    }
}

/// The replacement texts of several edits, joined with newlines.
fn replacements<'a>(input: &Fields<'a>) -> Result<Cow<'a, str>, InputError> {
    let edits = input.objects("edits")?;
    let texts: Vec<&'a str> =
        edits.iter().map(|edit| edit.text("new_string")).collect::<Result<_, _>>()?;
    match *texts {
        [] => Err(input.missing("edits")),
        [only] => Ok(Cow::Borrowed(only)),
        _ => Ok(Cow::Owned(texts.join("\n"))),
    }
}

/// Writes the answer to `moment`.
pub(super) fn encode(moment: Moment, answer: Answer<'_>, environment: &Environment) -> Reply {
    let dialect = Dialect { can_ask: environment.attended, rewrite_decision: None };
    reply::encode(moment, answer, dialect)
}
