//! Reading a neutral event, as `i-insist check` takes it.
//!
//! Promises: whatever contradicts the manual page `event` is an error that names the field; what we
//! do not know is kept. Never: guesses a kind from a tool's name.

use super::fields::{Fields, InputError, usable, wrong_type};
use super::{Change, Event, Kind, Operation, Phase, paths, view};
use crate::json::Json;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// The fields with a meaning; all others are kept as they are.
const KNOWN: [&str; 17] = [
    "kind",
    "command",
    "cwd",
    "paths",
    "harness",
    "tool_name",
    "tool_input",
    "changes",
    "tool_use_id",
    "session_id",
    "turn_id",
    "agent_id",
    "agent_type",
    "session_cwd",
    "phase",
    "tool_response",
    "tool_failed",
];

/// Reads an event. `kind`, `cwd`, `harness`, `tool_name` and `tool_input` must be there.
pub(crate) fn read<'a>(json: &'a Json<'a>, home: &Path) -> Result<Event<'a>, InputError> {
    let fields = Fields::of(json, "the event")?;
    let kind =
        word(&fields, "kind", KINDS, Kind::from_name)?.ok_or_else(|| fields.missing("kind"))?;
    let cwd = fields.directory("cwd")?;
    let tool_name = fields.name_text("tool_name")?;
    let mut event = Event::new(kind, fields.name_text("harness")?, tool_name, cwd);
    event.tool_input = view(fields.object("tool_input")?.json());
    event.canonical_tool = Cow::Borrowed(canonical(kind, tool_name));
    event.command = command(&fields, kind)?;
    event.add_paths(targets(&fields, &event.cwd, home)?);
    event.add_changes(changes(&fields, &event.cwd, home)?);
    event.tool_use_id = fields.id("tool_use_id")?;
    event.session_id = fields.id("session_id")?;
    event.turn_id = fields.id("turn_id")?;
    event.agent_id = fields.id("agent_id")?;
    event.agent_type = fields.id("agent_type")?;
    if fields.get("session_cwd").is_some() {
        event.session_cwd = Some(fields.directory("session_cwd")?);
    }
    event.phase = word(&fields, "phase", "`pre` or `post`", phase)?.unwrap_or(Phase::Pre);
    event.tool_response = fields.get("tool_response").map(view);
    event.tool_failed = fields.flag("tool_failed")?;
    let unknown = fields.entries().iter();
    event.extra = unknown
        .filter(|(key, _)| !KNOWN.contains(&&**key))
        .map(|(key, value)| (Cow::Borrowed(&**key), view(value)))
        .collect();
    Ok(event)
}

/// The tool's name in Claude Code, as far as a kind tells it.
fn canonical(kind: Kind, tool_name: &str) -> &str {
    match (kind, tool_name) {
        (Kind::Shell, _) => "Bash",
        (Kind::FileWrite, _) => "Write",
        (Kind::FileEdit, "MultiEdit" | "NotebookEdit") | (Kind::Other, _) => tool_name,
        (Kind::FileEdit, _) => "Edit",
    }
}

/// The shell text. A shell call without one could not be judged, and would pass unseen.
fn command<'a>(fields: &Fields<'a>, kind: Kind) -> Result<Option<Cow<'a, str>>, InputError> {
    let command = fields.optional_text("command")?;
    match (kind, command) {
        (Kind::Shell, None) => {
            let input = fields.object("tool_input")?;
            Ok(Some(Cow::Borrowed(input.text("command")?)))
        }
        (Kind::Shell, Some(command)) => Ok(Some(Cow::Borrowed(command))),
        (_, None) => Ok(None),
        (_, Some(_)) => Err(InputError::new("command must be null unless kind is `shell`")),
    }
}

fn targets(fields: &Fields<'_>, cwd: &Path, home: &Path) -> Result<Vec<PathBuf>, InputError> {
    let items = fields.items("paths")?.iter().enumerate();
    items
        .map(|(index, item)| {
            let name = format!("paths[{index}]");
            let text = item.as_str().ok_or_else(|| wrong_type(&name, "a string", item))?;
            Ok(paths::resolve(usable(text, &name)?, cwd, home))
        })
        .collect()
}

fn changes<'a>(
    fields: &Fields<'a>,
    cwd: &Path,
    home: &Path,
) -> Result<Vec<Change<'a>>, InputError> {
    let entries = fields.objects("changes")?.into_iter();
    entries
        .map(|entry| {
            let path = paths::resolve(entry.name_text("path")?, cwd, home);
            let operation = word(&entry, "operation", OPERATIONS, Operation::from_name)?
                .ok_or_else(|| entry.missing("operation"))?;
            let content = match operation {
                Operation::Delete => entry.optional_text("content")?.unwrap_or_default(),
                Operation::Write | Operation::Edit => entry.text("content")?,
            };
            Ok(Change { path, operation, content: Cow::Borrowed(content) })
        })
        .collect()
}

fn phase(name: &str) -> Option<Phase> {
    [Phase::Pre, Phase::Post].into_iter().find(|phase| phase.name() == name)
}

const KINDS: &str = "`shell`, `file_write`, `file_edit` or `other`";
const OPERATIONS: &str = "`write`, `edit` or `delete`";

/// A field that holds one of a few words, which `known` lists.
fn word<T>(
    fields: &Fields<'_>,
    key: &str,
    known: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, InputError> {
    let Some(text) = fields.optional_text(key)? else {
        return Ok(None);
    };
    read(text).map(Some).ok_or_else(|| {
        let name = fields.name(key);
        let found: String = text.chars().take(40).collect();
        InputError::new(format!("{name} must be {known}, found `{found}`"))
    })
}
