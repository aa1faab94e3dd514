//! The match document of a call.

use crate::event::Event;
use crate::json::Json;
use crate::matching::Document;
use crate::rules::pi_hooks;
use crate::shell::{Parsed, Segment};
use std::borrow::Cow;

/// What conditions see of a call: its input, Claude's names for a command and a file where the
/// harness has others, what pi-hooks' patterns look at, the segments of a shell call, and the event.
pub(super) fn of<'a>(event: &'a Event<'a>, shell: Option<&'a Parsed>) -> Document<'a> {
    let mut aliases: Vec<(Cow<'a, str>, Json<'a>)> = Vec::new();
    // A tool that goes by another name takes no notice of an argument that only Claude's has.
    let native =
        event.tool_name == event.canonical_tool && event.tool_input.get("notebook_path").is_none();
    let lacks = |name: &str| !native || event.tool_input.get(name).is_none();
    if let Some(command) = event.command.as_ref().filter(|_| lacks("command")) {
        aliases.push(("command".into(), Json::string(command.as_ref())));
    }
    let read = event.file.as_ref();
    let read = read.filter(|_| event.canonical_tool == "Read");
    let files = event.changes.iter().map(|change| &change.path).chain(read);
    let mut files: Vec<Json<'a>> = files.map(|file| Json::string(file.to_string_lossy())).collect();
    if !files.is_empty() && lacks("file_path") {
        let file = match files.len() {
            1 => files.remove(0),
            // A condition on a list looks at each: a patch hides no file behind its first.
            _ => Json::Array(files),
        };
        aliases.push(("file_path".into(), file));
    }
    aliases.extend(pi_hooks::facts(event));
    Document::new(
        event.tool_name.as_ref(),
        &event.tool_input,
        aliases,
        shell.map(parsed),
        event.to_json(),
    )
}

/// `parsed` as rules and people see it.
pub(crate) fn parsed(parsed: &Parsed) -> Json<'_> {
    Json::object([
        ("segments", Json::Array(parsed.segments.iter().map(segment).collect())),
        ("complete", Json::Bool(parsed.complete)),
        ("limited", Json::Bool(parsed.limited)),
    ])
}

fn segment(segment: &Segment) -> Json<'_> {
    let texts = |texts: &'_ [String]| {
        Json::Array(texts.iter().map(|text| Json::string(text.clone())).collect())
    };
    let mut fields = vec![
        ("head", Json::string(segment.head.as_str())),
        ("args", texts(&segment.args)),
        ("pipeline_start", Json::Bool(segment.pipeline_start)),
    ];
    // Absent when unknown, so that a rule that asks for it declines rather than guesses.
    fields.extend(segment.in_workspace.map(|inside| ("in_workspace", Json::Bool(inside))));
    let redirects = segment.redirects.iter().map(|redirect| {
        Json::object([
            ("op", Json::string(redirect.op.as_str())),
            ("target", Json::string(redirect.target.as_str())),
        ])
    });
    let assignments = segment.assignments.iter().map(|assignment| {
        Json::object([
            ("name", Json::string(assignment.name.as_str())),
            ("value", Json::string(assignment.value.as_str())),
        ])
    });
    fields.extend([
        ("depth", Json::from(u64::from(segment.depth))),
        ("wrappers", texts(&segment.wrappers)),
        ("redirects", Json::Array(redirects.collect())),
        ("assignments", Json::Array(assignments.collect())),
        ("dynamic", Json::Bool(segment.dynamic)),
    ]);
    if let Some(span) = &segment.span {
        fields.push((
            "span",
            Json::Array([span.start, span.end].map(|at| Json::from(at as u64)).into()),
        ));
    }
    Json::object(fields)
}

/// A segment in one line for people; what is empty or false is left out behind `depth`.
pub(crate) fn segment_line(segment: &Segment) -> String {
    let mut fields = vec![
        format!("head={}", segment.head.escape_debug()),
        format!("args={:?}", segment.args),
        format!("pipeline_start={}", segment.pipeline_start),
    ];
    fields.extend(segment.in_workspace.map(|inside| format!("in_workspace={inside}")));
    fields.push(format!("depth={}", segment.depth));
    if !segment.wrappers.is_empty() {
        fields.push(format!("wrappers={:?}", segment.wrappers));
    }
    let redirects = segment.redirects.iter();
    fields.extend(
        redirects
            .map(|redirect| format!("redirect={}{}", redirect.op, redirect.target.escape_debug())),
    );
    if segment.dynamic {
        fields.push("dynamic=true".to_owned());
    }
    fields.join(" ")
}
