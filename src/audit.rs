#![doc = include_str!("manual/13-audit.md")]
//!
//! Promises: one write per line. Never: changes a decision; what cannot be logged is lost.

use crate::event::Event;
use crate::json::Json;
use crate::rules::Spelling;
use crate::sys;
use std::borrow::Cow;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The longest command that is kept whole, in bytes.
const MAX_COMMAND: usize = 64 * 1024;

/// The longest other text of a call's input that is kept whole, in bytes.
const MAX_TEXT: usize = 1024;

/// What became of a call, or that a person approved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry<'a> {
    /// Milliseconds since 1970-01-01 UTC.
    pub(crate) time: u64,
    /// The client's name of the event.
    pub(crate) event: &'a str,
    /// `deny`, `ask`, `rewrite`, `context`, `allow` or `approved`.
    pub(crate) outcome: &'static str,
    /// The rules that spoke, strongest first.
    pub(crate) rules: &'a [String],
    /// The command that runs instead.
    pub(crate) updated_command: Option<&'a str>,
    /// The call; `None` for a person's approval.
    pub(crate) call: Option<&'a Event<'a>>,
    /// The harness's name.
    pub(crate) harness: &'a str,
    /// The session.
    pub(crate) session_id: Option<&'a str>,
    /// The working directory.
    pub(crate) cwd: &'a Path,
}

impl Entry<'_> {
    /// The line, without its end.
    pub(crate) fn to_line(&self, spelling: Spelling) -> String {
        let text =
            |text: Option<&str>| text.map_or(Json::Null, |text| Json::string(text.to_owned()));
        let input = self.call.map_or(Json::Null, |call| match spelling {
            Spelling::Guard => shortened(&call.tool_input),
            Spelling::Steer => call.tool_input.clone(),
        });
        Json::object([
            ("ts_ms", Json::from(self.time)),
            ("event", text(Some(self.event))),
            ("outcome", text(Some(self.outcome))),
            (
                "rules",
                Json::Array(self.rules.iter().map(|rule| Json::string(rule.as_str())).collect()),
            ),
            ("tool_name", text(self.call.map(|call| call.tool_name.as_ref()))),
            ("tool_input", input),
            ("updated_command", text(self.updated_command)),
            ("harness", text(Some(self.harness))),
            ("agent_type", text(self.call.and_then(|call| call.agent_type.as_deref()))),
            ("session_id", text(self.session_id)),
            ("cwd", text(Some(&self.cwd.to_string_lossy()))),
        ])
        .to_text()
    }
}

/// Where the log of `spelling` is; `state` is our own state directory.
pub(crate) fn file(state: &Path, spelling: Spelling) -> PathBuf {
    match spelling {
        Spelling::Guard => state.join("audit.jsonl"),
        Spelling::Steer => state.with_file_name("steer").join("steer.jsonl"),
    }
}

/// Appends a line.
///
/// # Errors
/// When the file cannot be written; callers go on.
pub(crate) fn append(file: &Path, line: &str) -> io::Result<()> {
    let open = || {
        let mut options = OpenOptions::new();
        // What is no file, a FIFO say, must not hold the call up.
        options.custom_flags(sys::WITHOUT_WAITING);
        options.append(true).create(true).mode(0o600).open(file)
    };
    let mut log = match (open(), file.parent()) {
        (Err(error), Some(directory)) if error.kind() == ErrorKind::NotFound => {
            let mut builder = DirBuilder::new();
            builder.recursive(true).mode(0o700).create(directory)?;
            open()?
        }
        (opened, _) => opened?,
    };
    // One write, which O_APPEND puts at the end whole (write(2)).
    log.write_all(format!("{line}\n").as_bytes())
}

/// The input with its long texts cut; a shell command has more room.
fn shortened<'a>(input: &'a Json<'a>) -> Json<'a> {
    let Some(members) = input.as_object() else {
        return shortened_value(input);
    };
    let member = |(key, value): &'a (Cow<'a, str>, Json<'a>)| {
        let command = value.as_str().filter(|_| key == "command");
        let value = command
            .map_or_else(|| shortened_value(value), |text| Json::String(cut(text, MAX_COMMAND)));
        (key.clone(), value)
    };
    Json::Object(members.iter().map(member).collect())
}

fn shortened_value<'a>(value: &'a Json<'a>) -> Json<'a> {
    match value {
        Json::String(text) => Json::String(cut(text, MAX_TEXT)),
        Json::Array(items) => Json::Array(items.iter().map(shortened_value).collect()),
        Json::Object(members) => Json::Object(
            members.iter().map(|(key, value)| (key.clone(), shortened_value(value))).collect(),
        ),
        Json::Null | Json::Bool(_) | Json::Number(_) => value.clone(),
    }
}

fn cut(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    // The first three bytes back from there hold a character's border (UTF-8, RFC 3629).
    let border = (0..=most).rev().find(|at| text.is_char_boundary(*at));
    let (kept, rest) = text.split_at(border.unwrap_or_default());
    Cow::Owned(format!("{kept}… [{} more bytes]", rest.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_on_a_character_border_and_commands_have_more_room() {
        let long = "é".repeat(1000);
        let text = format!(
            r#"{{"command":"{long}","content":"{long}","edits":[{{"new":"{long}"}}],"n":1.50}}"#
        );
        let input = Json::parse(&text).unwrap();
        let cut = shortened(&input);
        assert_eq!(cut.get("command").unwrap().as_str().unwrap(), long);
        let expected = format!("{}… [976 more bytes]", "é".repeat(512));
        assert_eq!(cut.get("content").unwrap().as_str().unwrap(), expected);
        assert_eq!(
            cut.get("edits").unwrap().as_array().unwrap()[0].get("new").unwrap().as_str().unwrap(),
            expected
        );
        assert_eq!(cut.get("n").unwrap().to_text(), "1.50");
    }
}
