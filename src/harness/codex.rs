//! The Codex CLI.
//!
//! Promises: a patch is read as a patch, wherever it stands; answers hold nothing that makes the client
//! refuse them as a whole, which would let the call run. Never: asks, which it does not support.

use super::payload::{call, origin, session_start, stop};
use super::reply::{self, Answer, Dialect, Reply};
use super::{Author, Environment, Harness, Message, Moment, Prompt};
use crate::event::{Event, Fields, InputError, Kind, patch, paths};
use std::borrow::Cow;
use std::path::Path;

/// What this client calls a turn's id.
const TURN: &str = "turn_id";

/// Reads the payload of `moment`.
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
            origin: origin(payload, TURN, environment)?,
            text: payload.text("prompt")?,
            author: author(payload, environment),
        }),
        Moment::SessionStart => Message::SessionStart(session_start(payload, TURN, environment)?),
        Moment::Stop => Message::Stop(stop(payload, TURN, environment)?),
        Moment::PreSkillShellCommand | Moment::PostToolUseFailure | Moment::ConfigChange => {
            let name = moment.client_name();
            return Err(InputError::new(format!("Codex has no event {name}")));
        }
    })
}

fn author(payload: &Fields<'_>, environment: &Environment) -> Author {
    if environment.nested {
        Author::Machine("the client was started by another agent")
    } else if payload.get("agent_id").is_some() {
        Author::Machine("it is the task of a subagent")
    } else {
        Author::Person
    }
}

fn tool<'a>(
    moment: Moment,
    payload: &Fields<'a>,
    environment: &Environment,
    home: &Path,
) -> Result<Event<'a>, InputError> {
    let mut event = call(Harness::Codex, moment, payload, TURN, environment)?;
    // The payload's `cwd` is that of the call; the session's is where the hook is started.
    if let Some(directory) = &environment.working_directory {
        event.session_cwd = Some(directory.clone());
    }
    match payload.text("tool_name")? {
        "Bash" => {
            let input = payload.object("tool_input")?;
            event.kind = Kind::Shell;
            event.command = Some(Cow::Borrowed(input.text("command")?));
            for key in ["workdir", "cwd"] {
                if input.get(key).is_some() {
                    event.cwd = paths::resolve(input.name_text(key)?, &event.cwd, home);
                    break;
                }
            }
        }
        "apply_patch" => {
            let text = payload.object("tool_input")?.text("command")?;
            event.kind = Kind::FileEdit;
            event.canonical_tool = Cow::Borrowed("Edit");
            let changes = patch::parse(text, &event.cwd, home)?;
            event.add_changes(changes);
        }
        _ => {}
    }
    Ok(event)
}

/// Writes the answer to `moment`.
pub(super) fn encode(moment: Moment, answer: Answer<'_>) -> Reply {
    let dialect = Dialect { can_ask: false, rewrite_decision: Some("allow") };
    reply::encode(moment, answer, dialect)
}
