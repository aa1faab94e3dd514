//! Reading what the payloads of Claude Code and of the clients that copy its protocol share.
//!
//! Promises: a field of the wrong type is an error that names it. Never: reads a tool's arguments.

use super::{Environment, Harness, Moment, Origin, SessionStart, Stop};
use crate::event::{Event, Fields, InputError, Kind, Phase, view};

/// Session, turn and directory; `turn` is what the client calls the turn's id.
pub(super) fn origin<'a>(
    payload: &Fields<'a>,
    turn: &str,
    environment: &Environment,
) -> Result<Origin<'a>, InputError> {
    let ours = environment.working_directory.as_ref();
    let cwd = match ours {
        Some(ours) if environment.cwd_optional && payload.get("cwd").is_none() => ours.clone(),
        _ => payload.directory("cwd")?,
    };
    Ok(Origin {
        session_id: payload.id("session_id")?,
        turn_id: payload.id(turn)?,
        cwd,
        project_trusted: true,
    })
}

/// A call of kind [`Kind::Other`], with everything but what the arguments mean.
pub(super) fn call<'a>(
    harness: Harness,
    moment: Moment,
    payload: &Fields<'a>,
    turn: &str,
    environment: &Environment,
) -> Result<Event<'a>, InputError> {
    let origin = origin(payload, turn, environment)?;
    let name = payload.name_text("tool_name")?;
    let mut event = Event::new(Kind::Other, harness.name(), name, origin.cwd);
    event.cwd_told = payload.get("cwd").is_some();
    event.session_id = origin.session_id;
    event.turn_id = origin.turn_id;
    event.session_cwd = Some(event.cwd.clone());
    event.tool_use_id = payload.id("tool_use_id")?;
    event.agent_id = payload.id("agent_id")?;
    event.agent_type = payload.id("agent_type")?;
    // A tool without parameters may come without arguments.
    if payload.get("tool_input").is_some() {
        event.tool_input = view(payload.object("tool_input")?.json());
    }
    if matches!(moment, Moment::PostToolUse | Moment::PostToolUseFailure) {
        event.phase = Phase::Post;
        event.tool_response = payload.get("tool_response").map(view);
    }
    Ok(event)
}

/// A session's start.
pub(super) fn session_start<'a>(
    payload: &Fields<'a>,
    turn: &str,
    environment: &Environment,
) -> Result<SessionStart<'a>, InputError> {
    let source = payload.text("source")?;
    Ok(SessionStart {
        origin: origin(payload, turn, environment)?,
        source,
        compacted: source == "compact",
    })
}

/// The agent wants to finish.
pub(super) fn stop<'a>(
    payload: &Fields<'a>,
    turn: &str,
    environment: &Environment,
) -> Result<Stop<'a>, InputError> {
    Ok(Stop {
        origin: origin(payload, turn, environment)?,
        sent_back: payload.flag("stop_hook_active")?.unwrap_or(false),
        background_tasks: payload.items("background_tasks")?.len(),
        held_open: false,
    })
}
