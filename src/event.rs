//! The neutral event: one intercepted call, whatever harness it came from.

use crate::json::Json;
use std::borrow::Cow;
use std::path::PathBuf;

/// What sort of operation a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Runs shell text.
    Shell,
    /// Writes a whole file.
    FileWrite,
    /// Changes parts of files: edits, notebook cells, patches.
    FileEdit,
    /// Anything else, reads included.
    Other,
}

/// What a call does to one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The whole body is supplied.
    Write,
    /// A part is supplied.
    Edit,
    /// The file goes.
    Delete,
}

/// One file target with the text that was supplied for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Change<'a> {
    /// Physical absolute path.
    pub path: PathBuf,
    /// What happens to it.
    pub operation: Operation,
    /// The supplied text, never a reconstruction; empty for a deletion.
    pub content: Cow<'a, str>,
}

/// Whether the tool is about to run or has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Before the tool.
    Pre,
    /// After it.
    Post,
}

/// One intercepted call in neutral form: what checkers read and rules match on.
#[derive(Clone, Debug, PartialEq)]
pub struct Event<'a> {
    /// Kind of operation.
    pub kind: Kind,
    /// Shell text; `None` for every other kind.
    pub command: Option<Cow<'a, str>>,
    /// Physical absolute working directory of the operation.
    pub cwd: PathBuf,
    /// Physical absolute file targets, without duplicates, in order.
    pub paths: Vec<PathBuf>,
    /// The harness's name: `claude`, `codex`, `pi` …
    pub harness: Cow<'a, str>,
    /// The harness's own name of the tool.
    pub tool_name: Cow<'a, str>,
    /// The name this tool has in Claude Code, which rules may use in every harness.
    pub canonical_tool: Cow<'a, str>,
    /// The original arguments; always an object.
    pub tool_input: Json<'a>,
    /// The files the call changes, as far as its arguments say.
    pub changes: Vec<Change<'a>>,
    /// The harness's id of the call.
    pub tool_use_id: Option<Cow<'a, str>>,
    /// The harness's id of the session.
    pub session_id: Option<Cow<'a, str>>,
    /// The harness's id of the turn: what one message of the person started.
    pub turn_id: Option<Cow<'a, str>>,
    /// The harness's id of the subagent, when one made the call.
    pub agent_id: Option<Cow<'a, str>>,
    /// The subagent's type, for the log.
    pub agent_type: Option<Cow<'a, str>>,
    /// The session's directory, where the harness tells it.
    pub session_cwd: Option<PathBuf>,
    /// Before or after the tool.
    pub phase: Phase,
    /// After the tool: what it returned.
    pub tool_response: Option<Json<'a>>,
    /// After the tool: whether it failed.
    pub tool_failed: Option<bool>,
    /// Fields of a neutral event that we do not know, kept for checkers.
    pub extra: Vec<(Cow<'a, str>, Json<'a>)>,
}
