//! The published schema of guard files, held against what the reader takes.

use super::super::pi_hooks::tests::accepts;
use super::super::{action, block, rule};
use super::*;
use crate::json::Json;
use std::borrow::Cow;
use toml_reader::{Kind, Table, Value};

const SCHEMA: &str = include_str!("../../examples/guard.schema.json");
const EXAMPLES: [&str; 3] = [
    include_str!("../../examples/guard.toml"),
    include_str!("../../examples/config-protection.toml"),
    include_str!("../../examples/finish.toml"),
];

/// A rule with this condition.
const CONDITION: &str = "[[rules]]\nname = \"a\"\n[rules.action]\nkind = \"deny\"\nmessage = \"no\"\n[[rules.match]]\n\
                         command = ";

/// The properties of one kind of object.
fn keys<'s>(schema: &'s Json<'s>, path: &[&str]) -> Vec<&'s str> {
    let mut object = schema;
    for step in path {
        object = object.get(step).unwrap();
    }
    let properties = object.get("properties").and_then(Json::as_object);
    properties
        .unwrap()
        .iter()
        .map(|(key, _)| key.as_ref())
        .collect()
}

#[test]
fn it_has_the_keys_that_are_read() {
    let schema = Json::parse(SCHEMA).unwrap();
    for (path, section) in [
        (&[][..], &FILE),
        (&["properties", "finish"], &FINISH),
        (&["properties", "settings"], &SETTINGS),
        (&["$defs", "check"], &CHECK),
        (&["$defs", "wrapper"], &WRAPPER),
        (&["$defs", "rule"], &rule::RULE),
        (&["$defs", "test"], &rule::TEST),
        (&["$defs", "action"], &action::ACTION),
        (&["$defs", "block"], &block::BLOCK),
        (&["$defs", "condition"], &block::OPERATORS),
    ] {
        assert_eq!(keys(&schema, path), section.fields, "{}", section.name);
    }
}

#[test]
fn it_accepts_what_the_reader_accepts() {
    let schema = Json::parse(SCHEMA).unwrap();
    let own = |text: &str, wanted| {
        let file = read(
            Path::new("a.toml"),
            Path::new("/r"),
            text.as_bytes(),
            Scope::User,
        );
        assert_eq!(file.is_ok(), wanted, "the reader: {text}: {file:?}");
        let table = toml_reader::parse(text.as_bytes()).unwrap();
        assert_eq!(
            accepts(&schema, &schema, &object(&table)),
            wanted,
            "the schema: {text}"
        );
    };
    EXAMPLES.iter().for_each(|text| own(text, true));
    for (text, wanted) in [
        ("", true),
        ("use = [\"*\"]", true),
        ("use = \"*\"", false),
        ("uses = []", false),
        ("[finish]", false),
        ("[[finish.checks]]\ncommand = \"x\"", true),
        ("[[finish.checks]]\nscript = \"x.ts\"\ntimeout = 0.5", true),
        ("[[finish.checks]]\nname = \"x\"", false),
        ("[[finish.checks]]\ncommand = \"x\"\nscript = \"y\"", false),
        ("[[finish.checks]]\ncommand = \" \"", false),
        ("[[finish.checks]]\ncommand = \"x\"\ntimeout = 0", false),
        (
            "[[finish.checks]]\ncommand = \"x\"\ninputs = \"src\"",
            false,
        ),
        (
            "[finish]\nmax_retries = -1\n[[finish.checks]]\ncommand = \"x\"",
            false,
        ),
        (
            "[finish]\nfail_fast = 1\n[[finish.checks]]\ncommand = \"x\"",
            false,
        ),
        (
            "[settings]\nannounce = false\nwrappers = [{name = \"w\", value_options = [\"-C\"]}]",
            true,
        ),
        ("[settings]\nwrappers = [{value_options = []}]", false),
        (
            "[[rules]]\nid = \"a\"\nchecker = [\"x\"]\ntool = [\"Bash\"]\nkind = \"shell\"\nphase = \"post\"",
            true,
        ),
        (
            "[[rules]]\nid = \"a\"\nname = \"a\"\nchecker = [\"x\"]",
            false,
        ),
        (
            "[[rules]]\nid = \"a\"\nchecker = [\"x\"]\nkind = \"shel\"",
            false,
        ),
        ("[[rules]]\nid = \"a\"", false),
        (
            "[[rules]]\nid = \"a\"\n[rules.action]\nkind = \"deny\"\nmessage = \"no\"",
            false,
        ),
        (
            &format!("{CONDITION}{{ any_of = [\"x\"], exists = true }}"),
            true,
        ),
        (&format!("{CONDITION}{{ anyof = [\"x\"] }}"), false),
        (&format!("{CONDITION}\"x\""), false),
    ] {
        own(text, wanted);
    }
}

/// TOML as the JSON that an editor shows its schema.
fn object<'a>(table: &'a Table<'_>) -> Json<'a> {
    Json::object(
        table
            .iter()
            .map(|(key, value)| (key.name.as_ref(), json(value))),
    )
}

fn json<'a>(value: &'a Value<'_>) -> Json<'a> {
    match &value.kind {
        Kind::String(text) => Json::string(text.as_ref()),
        Kind::Integer(number) => Json::Number(Cow::Owned(number.to_string())),
        Kind::Float(number) => Json::Number(Cow::Owned(number.to_string())),
        Kind::Boolean(truth) => Json::Bool(*truth),
        Kind::Datetime(moment) => Json::string(moment.text.as_str()),
        Kind::Array(items) => Json::Array(items.iter().map(json).collect()),
        Kind::Table(table) => object(table),
    }
}
