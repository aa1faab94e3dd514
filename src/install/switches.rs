//! Finds what makes a client not run our hooks: switches, and entries it drops the file for.
//!
//! Promises: only explicit settings count, and what cannot be read counts as an error. Never:
//! changes or clears one.

use super::clients::{Registration, Schema};
use super::replace;
use crate::json::Json;
use crate::spans;
use std::path::{Path, PathBuf};
use toml_reader::{Kind, Table, Value};

/// Why our hooks would not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// They are switched off.
    Disabled(String),
    /// A file cannot be read, by us or by the client.
    Unreadable(String),
}

impl From<String> for Problem {
    fn from(message: String) -> Self {
        Self::Unreadable(message)
    }
}

impl From<Problem> for String {
    fn from(problem: Problem) -> Self {
        match problem {
            Problem::Disabled(message) | Problem::Unreadable(message) => message,
        }
    }
}

/// The JSON settings that switch hooks off when they are true.
const JSON_SWITCHES: &[&str] = &["disableAllHooks", "allowManagedHooksOnly"];

/// Fails when a file of the user, the system, or an ancestor of `directory` switches hooks off.
pub(crate) fn check(client: &Registration, directory: &Path) -> Result<(), Problem> {
    let beside = client.settings.with_file_name("settings.local.json");
    let user = [client.settings.clone(), beside].into_iter().chain(client.switches.iter().cloned());
    let project = directory
        .ancestors()
        .flat_map(|ancestor| client.project_switches.iter().map(|name| ancestor.join(name)));
    user.chain(project).try_for_each(|path| check_file(&path, client.comments))
}

fn check_file(path: &Path, comments: bool) -> Result<(), Problem> {
    let Some(bytes) = replace::read(path)? else {
        return Ok(());
    };
    let found = if path.extension().is_some_and(|extension| extension == "toml") {
        toml_switch(&toml(path, &bytes)?)
    } else {
        let text = replace::text(path, bytes)?;
        let text = text.trim_start_matches('\u{FEFF}');
        let plain = if comments { spans::without_comments(text) } else { text.to_owned() };
        let settings = Json::parse(&plain)
            .map_err(|error| format!("configuration {}: invalid JSON: {error}", path.display()))?;
        let on = |name: &&&str| settings.get(name).and_then(Json::as_bool) == Some(true);
        JSON_SWITCHES.iter().find(on).map(|name| format!("\"{name}\": true"))
    };
    match found {
        Some(switch) => Err(Problem::Disabled(format!(
            "hooks are disabled by `{switch}` in {}",
            path.display()
        ))),
        None => Ok(()),
    }
}

fn toml<'b>(path: &Path, bytes: &'b [u8]) -> Result<Table<'b>, String> {
    toml_reader::parse(bytes).map_err(|error| {
        format!(
            "configuration {}: invalid TOML: line {} column {}: {}",
            path.display(),
            error.line,
            error.column,
            error.message
        )
    })
}

fn toml_switch(table: &Table) -> Option<String> {
    let features = table.get("features").and_then(Value::as_table);
    let off = |name: &&&str| boolean(features, name) == Some(false);
    match ["hooks", "codex_hooks"].iter().find(off) {
        Some(name) => Some(format!("features.{name} = false")),
        None => (boolean(Some(table), "allow_managed_hooks_only") == Some(true))
            .then(|| "allow_managed_hooks_only = true".to_owned()),
    }
}

fn boolean(table: Option<&Table>, name: &str) -> Option<bool> {
    if let Kind::Boolean(truth) = table?.get(name)?.kind { Some(truth) } else { None }
}

/// Fails when the user has switched off one of our hooks by itself. Codex keys this by place:
/// `hooks.state."FILE:EVENT:GROUP:HANDLER"`; `places` are those of ours in `settings`.
pub(crate) fn check_places(
    client: &Registration,
    places: &[(String, usize, usize)],
) -> Result<(), Problem> {
    let files = [Some(client.settings.clone()), client.settings.canonicalize().ok()];
    let files: Vec<PathBuf> = files.into_iter().flatten().collect();
    for path in client
        .switches
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
    {
        let Some(bytes) = replace::read(path)? else {
            continue;
        };
        let table = toml(path, &bytes)?;
        let state =
            table.get("hooks").and_then(Value::as_table).and_then(|hooks| hooks.get("state"));
        for (key, value) in state.and_then(Value::as_table).into_iter().flatten() {
            let ours = |(event, group, handler): &(String, usize, usize)| {
                files
                    .iter()
                    .any(|file| key.name == format!("{}:{event}:{group}:{handler}", file.display()))
            };
            if boolean(value.as_table(), "enabled") == Some(false) && places.iter().any(ours) {
                let name = &key.name;
                return Err(Problem::Disabled(format!(
                    "a hook is disabled by `[hooks.state.\"{name}\"]` in {}",
                    path.display()
                )));
            }
        }
    }
    Ok(())
}

/// Fails on what makes the client drop the whole file, however much else is right in it.
pub(crate) fn check_schema(settings: &Json, schema: &Schema) -> Result<(), String> {
    if let (Some(known), Some(members)) = (schema.top_level, settings.as_object())
        && let Some((key, _)) = members.iter().find(|(key, _)| !known.contains(&key.as_ref()))
    {
        return Err(format!("the client drops the whole file for its unknown key `{key}`"));
    }
    let events = settings.get("hooks").and_then(Json::as_object).unwrap_or_default();
    for (event, groups) in
        events.iter().filter(|(event, _)| schema.events.contains(&event.as_ref()))
    {
        for (at, group) in groups.as_array().unwrap_or_default().iter().enumerate() {
            let path = format!("hooks.{event}[{at}]");
            let handlers = group.get("hooks").and_then(Json::as_array);
            let handlers = handlers.ok_or_else(|| dropped(&path, "has no array `hooks`"))?;
            for (at, handler) in handlers.iter().enumerate() {
                check_handler(handler, schema)
                    .map_err(|why| dropped(&format!("{path}.hooks[{at}]"), why))?;
            }
        }
    }
    Ok(())
}

fn dropped(path: &str, why: &str) -> String {
    format!(
        "the client drops the whole file for one entry: `{path}` {why}; mend or remove it first"
    )
}

fn check_handler(handler: &Json, schema: &Schema) -> Result<(), &'static str> {
    let text = |key: &str| handler.get(key).and_then(Json::as_str);
    match text("type") {
        Some(kind) if schema.types.contains(&kind) => {}
        _ => return Err("has no `type` that the client knows"),
    }
    if text("type") == Some("command") && text("command").is_none() {
        return Err("has no `command`");
    }
    match handler.get("timeout") {
        None => {}
        Some(Json::Number(number)) if schema.whole_seconds && number.parse::<u64>().is_err() => {
            return Err("has a `timeout` that is no whole number");
        }
        Some(Json::Number(number))
            if schema.whole_seconds || number.parse::<f64>().is_ok_and(|seconds| seconds > 0.0) => {
        }
        Some(_) => return Err("has a `timeout` that is no positive number"),
    }
    match (schema.on_failure, handler.get("onFailure")) {
        (Some(known), Some(value))
            if !value.as_str().is_some_and(|value| known.contains(&value)) =>
        {
            Err("has an unknown `onFailure`")
        }
        _ => Ok(()),
    }
}
