//! What a rule does: its `checker`, or its `[rules.action]`.

use super::rule::{FILE, RULE, known_harness};
use super::schema::{Fields, Section, Source, shown, text};
use super::{Effect, Layer, Message};
use crate::json::Json;
use std::borrow::Cow;
use std::time::Duration;
use toml_reader::{Key, Kind, Value};

static ACTION: Section = Section {
    name: "[rules.action]",
    fields: &["kind", "message", "replace_head", "drop_args", "add_args", "set"],
    outer: &[&RULE, &FILE],
};
/// What a `rewrite` can do, and no other action.
const EDITS: [&str; 4] = ["replace_head", "drop_args", "add_args", "set"];
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// Every kind of table here, for the test of the published schema.
#[cfg(test)]
pub(super) fn sections() -> [&'static Section; 1] {
    [&ACTION]
}

/// A `checker` or an `action`, never both.
pub(super) fn effect(source: &mut Source<'_>, fields: Fields<'_>, layer: Layer) -> Option<Effect> {
    let (checker, action) = (fields.table.get("checker"), fields.table.get("action"));
    match (checker, action) {
        (Some(checker), None) => {
            if layer == Layer::Steer {
                source.problem(
                    checker.span.start,
                    "`checker` is for rules in `.i-insist`, steer's rules have an `action`",
                );
            }
            checker_effect(source, fields)
        }
        (None, Some(action)) => {
            for key in ["timeout", "message"] {
                if let Some(value) = fields.table.get(key) {
                    source.problem(
                        value.span.start,
                        format!(
                            "`{key}` here belongs to a `checker`, and this rule has an `action`"
                        ),
                    );
                }
            }
            if fields.table.get("match").is_none() {
                source.problem(
                    fields.offset,
                    "a rule with an `action` needs at least one `[[rules.match]]`",
                );
            }
            let action = source.fields(action, "action", &ACTION)?;
            action_effect(source, action, layer)
        }
        (both, _) => {
            let found = if both.is_some() { "both" } else { "neither" };
            source.problem(
                fields.offset,
                format!("a rule has either a `checker` or an `action`, found {found}"),
            );
            None
        }
    }
}

fn action_effect(source: &mut Source<'_>, fields: Fields<'_>, layer: Layer) -> Option<Effect> {
    let choices =
        [("deny", "deny"), ("ask", "ask"), ("rewrite", "rewrite"), ("context", "context")];
    let kind = source.choice(fields, "kind", &choices);
    let message = message(source, fields, layer);
    if kind.is_none() && fields.table.get("kind").is_none() {
        source.problem(
            fields.offset,
            "an action needs `kind`, one of `deny`, `ask`, `rewrite`, `context`",
        );
    }
    if kind == Some("rewrite") {
        return Some(rewrite_effect(source, fields, message));
    }
    for (key, value) in fields.table {
        if let Some(kind) = kind
            && EDITS.contains(&&*key.name)
        {
            let key = &key.name;
            source.problem(
                value.span.start,
                format!("`{key}` belongs to `rewrite`, and this action is `{kind}`"),
            );
        }
    }
    if message.is_none() && fields.table.get("message").is_none() {
        source.problem(fields.offset, "this action needs a `message`");
    }
    let message = message?;
    match kind? {
        "deny" => Some(Effect::Deny { message }),
        "ask" => Some(Effect::Ask { message }),
        _ => Some(Effect::Context { message }),
    }
}

/// A text, or one per harness. In steer's files it may be empty.
fn message(source: &mut Source<'_>, fields: Fields<'_>, layer: Layer) -> Option<Message> {
    let value = fields.table.get("message")?;
    let accepted =
        |value| text(value).filter(|text| layer == Layer::Steer || !text.trim_start().is_empty());
    if let Some(text) = accepted(value) {
        return Some(Message::Text(text.to_owned()));
    }
    let Some(table) = value.as_table().filter(|table| !table.is_empty()) else {
        source.wrong(value, "message", "a nonempty string or a table of such by harness");
        return None;
    };
    let mut texts = Vec::new();
    for (key, value) in table {
        known_harness(source, &key.name, key.span.start);
        match accepted(value) {
            Some(text) => texts.push((key.name.to_string(), text.to_owned())),
            None => {
                source.wrong(value, &format!("message.{}", shown(&key.name)), "a nonempty string");
            }
        }
    }
    Some(Message::PerHarness(texts))
}

fn checker_effect(source: &mut Source<'_>, fields: Fields<'_>) -> Option<Effect> {
    let timeout = source.seconds(fields, "timeout").unwrap_or(DEFAULT_TIMEOUT);
    let message = source.string(fields, "message").map(str::to_owned);
    let argv = source.texts(fields, "checker")?;
    if argv.first().is_none_or(|program| program.trim_start().is_empty()) {
        source.problem(
            fields.table.get("checker")?.span.start,
            "checker must be an array of strings that begins with a program",
        );
        return None;
    }
    Some(Effect::Checker { argv, timeout, message })
}

fn rewrite_effect(source: &mut Source<'_>, fields: Fields<'_>, message: Option<Message>) -> Effect {
    let replace_head = source.string(fields, "replace_head").map(str::to_owned);
    let drop_args = source.texts(fields, "drop_args").unwrap_or_default();
    let add_args = source.texts(fields, "add_args").unwrap_or_default();
    let set = assignments(source, fields);
    if EDITS.iter().all(|key| fields.table.get(key).is_none()) {
        source.problem(
            fields.offset,
            "a `rewrite` needs one of `replace_head`, `drop_args`, `add_args`, `set`",
        );
    }
    Effect::Rewrite { replace_head, drop_args, add_args, set, message }
}

/// `set`: fields of the tool's input with their new values.
fn assignments(source: &mut Source<'_>, fields: Fields<'_>) -> Vec<(String, Json<'static>)> {
    let Some(value) = fields.table.get("set") else {
        return Vec::new();
    };
    let Some(table) = value.as_table().filter(|table| !table.is_empty()) else {
        source.wrong(value, "set", "a table of input fields");
        return Vec::new();
    };
    let mut assignments = Vec::new();
    for (key, value) in table {
        match json(value) {
            Some(json) => assignments.push((key.name.to_string(), json)),
            None => {
                source.wrong(value, &format!("set.{}", shown(&key.name)), "a value that JSON has");
            }
        }
    }
    assignments
}

/// The same value in JSON, which has neither dates nor infinite numbers.
pub(super) fn json(value: &Value<'_>) -> Option<Json<'static>> {
    Some(match &value.kind {
        Kind::String(text) => Json::String(Cow::Owned(text.to_string())),
        Kind::Integer(number) => Json::Number(Cow::Owned(number.to_string())),
        Kind::Float(number) if number.is_finite() => {
            Json::Number(Cow::Owned(format!("{number:?}")))
        }
        Kind::Boolean(truth) => Json::Bool(*truth),
        Kind::Array(values) => Json::Array(values.iter().map(json).collect::<Option<_>>()?),
        Kind::Table(table) => {
            let entry = |(key, value): &(Key<'_>, Value<'_>)| {
                Some((Cow::Owned(key.name.to_string()), json(value)?))
            };
            Json::Object(table.iter().map(entry).collect::<Option<_>>()?)
        }
        Kind::Float(_) | Kind::Datetime(_) => return None,
    })
}
