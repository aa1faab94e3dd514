#![doc = include_str!("../manual/01-event.md")]
//!
//! Promises: paths are absolute and physical, without duplicates and in order; the arguments stand
//! as they came; strings borrow from the payload. Reading and resolving ends on every input.
//! Never: reads the environment, follows what shell text would do, or reconstructs a file.

mod fields;
pub(crate) mod neutral;
pub(crate) mod patch;
pub(crate) mod paths;

pub(crate) use fields::{Fields, InputError};

use crate::json::Json;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What sort of operation a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Runs shell text.
    Shell,
    /// Writes a whole file.
    FileWrite,
    /// Changes parts of files: edits, notebook cells, patches.
    FileEdit,
    /// Anything else, reads included.
    Other,
}

impl Kind {
    /// Every kind.
    pub(crate) const ALL: [Self; 4] = [Self::Shell, Self::FileWrite, Self::FileEdit, Self::Other];

    /// Its name in neutral events and rule files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::FileWrite => "file_write",
            Self::FileEdit => "file_edit",
            Self::Other => "other",
        }
    }

    /// The kind of this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What a call does to one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// The whole body is supplied.
    Write,
    /// A part is supplied.
    Edit,
    /// The file goes.
    Delete,
}

impl Operation {
    /// Every operation.
    pub(crate) const ALL: [Self; 3] = [Self::Write, Self::Edit, Self::Delete];

    /// Its name in neutral events.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Edit => "edit",
            Self::Delete => "delete",
        }
    }

    /// The operation of this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

/// One file target with the text that was supplied for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Change<'a> {
    /// Physical absolute path.
    pub(crate) path: PathBuf,
    /// What happens to it.
    pub(crate) operation: Operation,
    /// The supplied text, never a reconstruction; empty for a deletion.
    pub(crate) content: Cow<'a, str>,
}

/// Whether the tool is about to run or has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Before the tool.
    Pre,
    /// After it.
    Post,
}

impl Phase {
    /// Its name in neutral events and rule files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pre => "pre",
            Self::Post => "post",
        }
    }
}

/// One intercepted call in neutral form: what checkers read and rules match on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event<'a> {
    /// Kind of operation.
    pub(crate) kind: Kind,
    /// Shell text; `None` for every other kind.
    pub(crate) command: Option<Cow<'a, str>>,
    /// Physical absolute working directory of the operation.
    pub(crate) cwd: PathBuf,
    /// Whether the harness told `cwd`; else it is where our process runs, and no workspace is known.
    pub(crate) cwd_told: bool,
    /// Physical absolute file targets, without duplicates, in order.
    pub(crate) paths: Vec<PathBuf>,
    /// The file that a file tool names, physically, reads included. Rules see it, checkers do not:
    /// they have `paths`, which are those that change.
    pub(crate) file: Option<PathBuf>,
    /// The harness's name: `claude`, `codex`, `pi` …
    pub(crate) harness: Cow<'a, str>,
    /// The harness's own name of the tool.
    pub(crate) tool_name: Cow<'a, str>,
    /// The name this tool has in Claude Code, which rules may use in every harness.
    pub(crate) canonical_tool: Cow<'a, str>,
    /// The original arguments; always an object.
    pub(crate) tool_input: Json<'a>,
    /// The files the call changes, as far as its arguments say.
    pub(crate) changes: Vec<Change<'a>>,
    /// The harness's id of the call.
    pub(crate) tool_use_id: Option<Cow<'a, str>>,
    /// The harness's id of the session.
    pub(crate) session_id: Option<Cow<'a, str>>,
    /// The harness's id of the turn: what one message of the person started.
    pub(crate) turn_id: Option<Cow<'a, str>>,
    /// The harness's id of the subagent, when one made the call.
    pub(crate) agent_id: Option<Cow<'a, str>>,
    /// The subagent's type, for the log.
    pub(crate) agent_type: Option<Cow<'a, str>>,
    /// The session's directory, where the harness tells it.
    pub(crate) session_cwd: Option<PathBuf>,
    /// Whether the person lets the harness use what the project brings along; a harness that does not
    /// ask trusts it.
    pub(crate) project_trusted: bool,
    /// Before or after the tool.
    pub(crate) phase: Phase,
    /// After the tool: what it returned.
    pub(crate) tool_response: Option<Json<'a>>,
    /// After the tool: whether it failed.
    pub(crate) tool_failed: Option<bool>,
    /// Fields of a neutral event that we do not know, kept for checkers.
    pub(crate) extra: Vec<(Cow<'a, str>, Json<'a>)>,
}

impl<'a> Event<'a> {
    /// A call of `kind` before the tool runs, about which nothing else is known.
    pub(crate) fn new(kind: Kind, harness: &'a str, tool_name: &'a str, cwd: PathBuf) -> Self {
        Self {
            kind,
            command: None,
            cwd,
            cwd_told: true,
            paths: Vec::new(),
            file: None,
            harness: Cow::Borrowed(harness),
            tool_name: Cow::Borrowed(tool_name),
            canonical_tool: Cow::Borrowed(tool_name),
            tool_input: Json::Object(Vec::new()),
            changes: Vec::new(),
            tool_use_id: None,
            session_id: None,
            turn_id: None,
            agent_id: None,
            agent_type: None,
            session_cwd: None,
            project_trusted: true,
            phase: Phase::Pre,
            tool_response: None,
            tool_failed: None,
            extra: Vec::new(),
        }
    }

    /// Adds file targets, each path once.
    pub(crate) fn add_paths(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        let mut known = BTreeSet::new();
        known.extend(self.paths.iter().cloned());
        for path in paths {
            if known.insert(path.clone()) {
                self.paths.push(path);
            }
        }
    }

    /// Adds changes, and their paths to the file targets.
    pub(crate) fn add_changes(&mut self, changes: Vec<Change<'a>>) {
        self.add_paths(changes.iter().map(|change| change.path.clone()));
        self.changes.extend(changes);
    }

    /// The event as checkers read it: the table of the manual in its order, then unknown fields.
    pub(crate) fn to_json(&self) -> Json<'_> {
        let changes = self.changes.iter().map(|change| {
            Json::object([
                ("path", path(&change.path)),
                ("operation", Json::string(change.operation.name())),
                ("content", Json::string(&*change.content)),
            ])
        });
        let fields = [
            ("kind", Json::string(self.kind.name())),
            ("command", text(self.command.as_ref())),
            ("cwd", path(&self.cwd)),
            ("paths", Json::Array(self.paths.iter().map(|target| path(target)).collect())),
            ("harness", Json::string(&*self.harness)),
            ("tool_name", Json::string(&*self.tool_name)),
            ("tool_input", view(&self.tool_input)),
            ("changes", Json::Array(changes.collect())),
            ("tool_use_id", text(self.tool_use_id.as_ref())),
            ("session_id", text(self.session_id.as_ref())),
            ("turn_id", text(self.turn_id.as_ref())),
            ("agent_id", text(self.agent_id.as_ref())),
            (
                "session_cwd",
                self.session_cwd.as_ref().map_or(Json::Null, |directory| path(directory)),
            ),
            ("phase", Json::string(self.phase.name())),
            ("tool_response", self.tool_response.as_ref().map_or(Json::Null, view)),
            ("tool_failed", self.tool_failed.map_or(Json::Null, Json::Bool)),
        ];
        let extra = self.extra.iter().map(|(key, value)| (&**key, view(value)));
        Json::object(fields.into_iter().chain(extra))
    }
}

/// The same value with borrowed strings: copies the structure, never the text.
pub(crate) fn view<'v>(json: &'v Json<'_>) -> Json<'v> {
    // The reader bounds the nesting, and with it this recursion.
    match json {
        Json::Null => Json::Null,
        Json::Bool(truth) => Json::Bool(*truth),
        Json::Number(digits) => Json::Number(Cow::Borrowed(digits)),
        Json::String(text) => Json::String(Cow::Borrowed(text)),
        Json::Array(items) => Json::Array(items.iter().map(view).collect()),
        Json::Object(entries) => Json::Object(
            entries.iter().map(|(key, value)| (Cow::Borrowed(&**key), view(value))).collect(),
        ),
    }
}

/// A path as JSON; JSON has no form for bytes that are not UTF-8, they become U+FFFD.
fn path(path: &Path) -> Json<'_> {
    Json::String(path.to_string_lossy())
}

fn text<'v>(text: Option<&'v Cow<'_, str>>) -> Json<'v> {
    text.map_or(Json::Null, |text| Json::String(Cow::Borrowed(text)))
}

#[cfg(test)]
mod tests;
