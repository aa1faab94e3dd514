//! The published schemas of both forms say what the readers read.

use super::schema::Section;
use super::{action, block, guard, pi_hooks, rule};
use crate::json::Json;
use std::path::Path;

const PI_HOOKS_SCHEMA: &str = include_str!("../../examples/config.schema.json");
const PI_HOOKS: &str = include_str!("../../examples/pi-hooks.json");
const GUARD_SCHEMA: &str = include_str!("../../examples/guard.schema.json");
const GUARD: [&str; 4] = [
    include_str!("../../examples/guard.toml"),
    include_str!("../../examples/config-protection.toml"),
    include_str!("../../examples/posix-sh/.i-insist/freeze.toml"),
    include_str!("../../examples/project/.i-insist/protected-folders.toml"),
];

/// The properties of all objects that have some, and no others or only conditions.
fn published<'s>(schema: &'s Json<'s>, found: &mut Vec<Vec<&'s str>>) {
    if let Some(properties) = schema.get("properties").and_then(Json::as_object) {
        let others = schema.get("additionalProperties").unwrap();
        assert!(*others == Json::Bool(false) || others.get("$ref").is_some());
        found.push(properties.iter().map(|(key, _)| key.as_ref()).collect());
    }
    let entries = schema.as_object().unwrap_or_default().iter();
    let items = schema.as_array().unwrap_or_default();
    for value in entries.map(|(_, value)| value).chain(items) {
        published(value, found);
    }
}

/// Asserts that the schema's objects are `sections`. An object that is published in parts, so that
/// keys exclude each other, is the union of these.
fn says(schema: &str, sections: &[&Section], parts: &[(&str, &[&[&str]])]) {
    let schema = Json::parse(schema).unwrap();
    let mut found = Vec::new();
    published(&schema, &mut found);
    for section in sections {
        let own = parts.iter().find(|(name, _)| *name == section.name);
        let wanted: Vec<Vec<&str>> = match own {
            None => vec![section.fields.to_vec()],
            Some((_, missing)) => missing
                .iter()
                .map(|missing| {
                    let kept = section.fields.iter().filter(|key| !missing.contains(key));
                    kept.copied().collect()
                })
                .collect(),
        };
        for keys in wanted {
            let same = |other: &Vec<&str>| {
                other.len() == keys.len() && keys.iter().all(|key| other.contains(key))
            };
            let place = found.iter().position(same);
            found.remove(place.unwrap_or_else(|| panic!("{}: {keys:?}", section.name)));
        }
    }
    assert_eq!(found, Vec::<Vec<&str>>::new(), "nobody reads these");
}

#[test]
fn the_schemas_have_the_keys_that_are_read() {
    let by_type: &[&[&str]] = &[&["path"], &["command"]];
    says(PI_HOOKS_SCHEMA, &pi_hooks::sections(), &[("a check", by_type)]);
    let sections = [
        guard::sections().as_slice(),
        rule::sections().as_slice(),
        action::sections().as_slice(),
        block::sections().as_slice(),
    ]
    .concat();
    let by_program: &[&[&str]] = &[&["script"], &["command"]];
    let by_effect: &[&[&str]] = &[&["action"], &["checker", "timeout", "message"]];
    says(GUARD_SCHEMA, &sections, &[("[[finish.checks]]", by_program), ("[[rules]]", by_effect)]);
}

/// As much of JSON Schema as ours use.
fn accepts(root: &Json<'_>, schema: &Json<'_>, value: &Json<'_>) -> bool {
    let holds = |keyword: &str, wanted: &Json<'_>| match keyword {
        "$schema" | "title" | "description" | "default" | "$defs" => true,
        "$ref" => {
            let name = wanted.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
            accepts(root, root.get("$defs").unwrap().get(name).unwrap(), value)
        }
        "type" => is_a(wanted.as_str().unwrap(), value),
        "minimum" => number(value).is_none_or(|number| number >= 0.0),
        "exclusiveMinimum" => number(value).is_none_or(|number| number > 0.0),
        "pattern" => value.as_str().is_none_or(|text| !text.trim().is_empty()),
        "const" => value == wanted,
        "enum" => wanted.as_array().unwrap().contains(value),
        "required" => {
            let mut keys = wanted.as_array().unwrap().iter();
            keys.all(|key| value.get(key.as_str().unwrap()).is_some())
        }
        "properties" => wanted.as_object().unwrap().iter().all(|(key, schema)| {
            let own = value.get(key);
            own.is_none_or(|value| accepts(root, schema, value))
        }),
        "additionalProperties" => {
            let own = |key: &str| schema.get("properties").and_then(|own| own.get(key)).is_some();
            let mut entries = value.as_object().unwrap_or_default().iter();
            entries.all(|(key, value)| {
                own(key) || *wanted != Json::Bool(false) && accepts(root, wanted, value)
            })
        }
        "items" => {
            let mut items = value.as_array().unwrap_or_default().iter();
            items.all(|item| accepts(root, wanted, item))
        }
        "oneOf" => {
            let alternatives = wanted.as_array().unwrap().iter();
            let holding = alternatives.filter(|schema| accepts(root, schema, value));
            holding.count() == 1
        }
        other => panic!("unknown keyword {other}"),
    };
    let keywords = schema.as_object().unwrap_or_default();
    keywords.iter().all(|(keyword, wanted)| holds(keyword, wanted))
}

fn number(value: &Json<'_>) -> Option<f64> {
    if let Json::Number(digits) = value { digits.parse().ok() } else { None }
}

fn is_a(kind: &str, value: &Json<'_>) -> bool {
    match kind {
        "object" => value.as_object().is_some(),
        "array" => value.as_array().is_some(),
        "string" => value.as_str().is_some(),
        "boolean" => value.as_bool().is_some(),
        "number" => number(value).is_some(),
        "integer" => number(value).is_some_and(|number| number.fract() == 0.0),
        other => panic!("unknown type {other}"),
    }
}

#[test]
#[rustfmt::skip]
fn the_schema_of_pi_hooks_accepts_what_the_reader_accepts() {
    let schema = Json::parse(PI_HOOKS_SCHEMA).unwrap();
    for (text, wanted) in [
        (PI_HOOKS, true),
        ("{}", true),
        (r#"{"tool_call": {"rules": [{"match": {"tool": "x"}, "action": "block"}]}}"#, false),
        (r#"{"tool_call": {"rules": [{"match": {"tool": "x"}, "action": "nudge", "text": " "}]}}"#, false),
        (r#"{"tool_call": {"rules": [{"match": {"tool": "x", "arguments": {"a": 1}}, "action": "nudge", "text": "t"}]}}"#, false),
        (r#"{"agent_before_settle": {"maxRetries": -1}}"#, false),
        (r#"{"agent_before_settle": {"maxRetries": 1.5}}"#, false),
        (r#"{"agent_before_settle": {"checks": [{"type": "command", "path": "x"}]}}"#, false),
        (r#"{"agent_before_settle": {"checks": [{"type": "script", "path": "x"}]}}"#, true),
        (r#"{"other": 1}"#, false),
    ] {
        let value = Json::parse(text).unwrap();
        assert_eq!(accepts(&schema, &schema, &value), wanted, "{text}");
        let read = pi_hooks::read(Path::new("p"), Path::new("/"), text.as_bytes());
        assert_eq!(read.is_ok(), wanted, "{text}");
    }
}

#[test]
#[rustfmt::skip]
fn the_schema_of_guard_files_accepts_what_the_reader_accepts() {
    let schema = Json::parse(GUARD_SCHEMA).unwrap();
    let rule = |inner: &str| format!("[[rules]]\nid = \"a\"\n{inner}");
    let mut cases: Vec<(String, bool)> = GUARD.map(|text| (text.to_owned(), true)).into();
    cases.extend([
        (String::new(), true),
        ("[settings]\nannounce = false\n[[settings.wrappers]]\nname = \"x\"\nvalue_options = [\"-C\"]\n".into(), true),
        ("use = [\"*\"]\n".into(), true),
        ("use = [\"trash\"]\n".into(), false),
        ("other = 1\n".into(), false),
        (rule("checker = [\"x\"]\n"), true),
        (rule("checker = [\"x\"]\nname = \"b\"\n"), false),
        (rule("checker = [\"x\"]\ntimeout = 0\n"), false),
        (rule("checker = [\"x\"]\nmesage = \"m\"\n"), false),
        (rule("checker = [\"x\"]\ntool = [\"a\", \"b\"]\nphase = \"post\"\n"), true),
        (rule("checker = [\"x\"]\nphase = \"after\"\n"), false),
        (rule("message = \"m\"\n"), false),
        (rule("[[rules.match]]\na = { is = true }\n[rules.action]\nkind = \"deny\"\nmessage = \"m\"\n"), true),
        (rule("[[rules.match]]\na = { is = true }\n[rules.action]\nkind = \"denied\"\nmessage = \"m\"\n"), false),
        (rule("[[rules.match]]\na = { eq = true }\n[rules.action]\nkind = \"deny\"\nmessage = \"m\"\n"), false),
        (rule("[rules.action]\nkind = \"deny\"\nmessage = \"m\"\n"), false),
        ("[finish]\nfail_fast = false\n[[finish.checks]]\ncommand = \"c\"\n".into(), true),
        ("[finish]\n".into(), false),
        ("[[finish.checks]]\ncommand = \"c\"\nscript = \"s\"\n".into(), false),
        ("[[finish.checks]]\ncommand = \"c\"\n[finish]\nmax_retries = -1\n".into(), false),
    ]);
    for (text, wanted) in cases {
        let read = guard::read(Path::new("a.toml"), Path::new("/"), text.as_bytes(), guard::Scope::User);
        assert_eq!(read.is_ok(), wanted, "{text}\n{read:?}");
        let Ok(table) = toml_reader::parse(text.as_bytes()) else { continue };
        let entries = table.iter().map(|(key, value)| (key.name.to_string(), action::json(value).unwrap()));
        let value = Json::object(entries);
        assert_eq!(accepts(&schema, &schema, &value), wanted, "{text}");
    }
}
