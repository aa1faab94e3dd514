#![doc = include_str!("../manual/12-protect.md")]
//!
//! Promises: judged on targets and segments, so that reading and mentioning pass; an operand is
//! resolved as the system would resolve it, and only when its command could change it. Never:
//! changes anything, knows where a harness keeps its hooks beyond the names below, reads a file.
//!
//! `guarded` knows what is protected, `operands`, `search` and `code` what commands do with their
//! words, `clients` which commands change what hooks run.

mod clients;
mod code;
mod guarded;
mod operands;
mod search;
mod shell;

pub(crate) use guarded::Guarded;

use crate::event::{Event, Kind, paths};
use crate::json::Json;
use crate::shell::Parsed;
use std::fmt;
use std::path::Path;

/// What a call would change that is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Touch(String);

impl fmt::Display for Touch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} is protected configuration; changing it needs human approval", self.0)
    }
}

/// Whether the call would change protected configuration, and what.
pub(crate) fn examine(
    event: &Event<'_>,
    parsed: Option<&Parsed>,
    guarded: &Guarded,
    home: &Path,
) -> Option<Touch> {
    let edited = event.paths.iter().find(|path| guarded.covers(path).is_some());
    let edited = edited.filter(|_| event.kind != Kind::Other);
    if let Some(path) = edited {
        return Some(Touch(path.display().to_string()));
    }
    match event.kind {
        Kind::Shell => shell::examine(event, parsed?, guarded, home),
        // The event's paths are physical; a link of a protected name shows in the arguments.
        Kind::FileWrite | Kind::FileEdit => named_path(&event.tool_input, &|text| {
            guarded::has_protected_name(Path::new(text), guarded::Wildcards::Literal)
        }),
        Kind::Other if changes_by_name(&event.tool_name) => {
            named_path(&event.tool_input, &|text| {
                let path = text.strip_prefix("file://").unwrap_or(text);
                guarded::has_protected_name(Path::new(path), guarded::Wildcards::Literal)
                    || guarded.covers(&paths::resolve(path, &event.cwd, home)).is_some()
            })
        }
        Kind::Other => None,
    }
}

/// Whether a tool nobody knows, such as one of an MCP server, says that it changes something.
fn changes_by_name(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    [
        "write", "edit", "create", "move", "rename", "delete", "remove", "patch", "replace",
        "insert", "append", "update", "copy", "save",
    ]
    .iter()
    .any(|verb| tool.contains(verb))
}

/// The first argument that is a protected path and whose key says that it is one.
fn named_path(input: &Json<'_>, protected: &dyn Fn(&str) -> bool) -> Option<Touch> {
    const KEYS: [&str; 8] = ["path", "file", "dir", "folder", "source", "target", "dest", "uri"];
    // The reader bounds the nesting, and with it this recursion.
    fn walk(value: &Json<'_>, is_path: bool, protected: &dyn Fn(&str) -> bool) -> Option<Touch> {
        match value {
            Json::String(text) => (is_path && protected(text)).then(|| Touch(text.to_string())),
            Json::Array(items) => items.iter().find_map(|item| walk(item, is_path, protected)),
            Json::Object(members) => members.iter().find_map(|(key, item)| {
                let key = key.to_ascii_lowercase();
                walk(item, KEYS.iter().any(|part| key.contains(part)), protected)
            }),
            Json::Null | Json::Bool(_) | Json::Number(_) => None,
        }
    }
    walk(input, false, protected)
}

#[cfg(test)]
mod tests;
