//! Every key, default and error of pi-hooks' file, and what its patterns cover.

use super::*;
use crate::event::{Change, Kind};
use crate::json::Json;
use crate::matching::{Document, Outcome};

const EXAMPLE: &str = include_str!("../../examples/pi-hooks.json");

fn parsed(text: &str) -> PiHooksFile {
    let read = read(Path::new("/r/.pi-hooks.json"), Path::new("/r"), text.as_bytes());
    read.unwrap_or_else(|problems| panic!("{text}: {problems:?}"))
}

fn problems(text: &str) -> Vec<String> {
    let read = read(Path::new("p.json"), Path::new("/r"), text.as_bytes());
    let problems = read.err().unwrap_or_default();
    problems.iter().map(ToString::to_string).collect()
}

/// Whether a rule with this `match` covers the event.
fn covers(pattern: &str, event: &Event<'_>) -> bool {
    let text = format!(
        r#"{{"tool_call": {{"rules": [{{"match": {pattern}, "action": "block", "reason": "r"}}]}}}}"#
    );
    let file = parsed(&text);
    let document = Document::new(
        event.tool_name.as_ref(),
        &event.tool_input,
        facts(event).into(),
        None,
        event.to_json(),
    );
    file.rules[0].matches[0].evaluate(&document) != Outcome::Missed
}

fn call<'a>(tool: &'a str, canonical: &'a str, input: &'a Json<'a>) -> Event<'a> {
    let mut event = Event::new(Kind::Other, "pi", tool, "/r".into());
    event.canonical_tool = canonical.into();
    event.tool_input = crate::event::view(input);
    event
}

#[test]
fn the_example_says_what_it_seems_to_say() {
    let file = parsed(EXAMPLE);
    let effects: Vec<_> = file.rules.iter().map(|rule| &rule.effect).collect();
    assert!(matches!(effects[..], [Effect::Deny { .. }, Effect::Context { .. }]));
    for (number, rule) in file.rules.iter().enumerate() {
        assert_eq!(rule.id, format!("pi-hooks/{}", number + 1));
        assert_eq!(rule.when, When::At(Phase::Pre));
        assert!(rule.enabled && rule.overridable && rule.layer == Layer::PiHooks);
    }
    let finish = file.finish.unwrap();
    assert_eq!((finish.fail_fast, finish.max_retries), (true, 3));
    let checks: Vec<_> = finish
        .checks
        .iter()
        .map(|check| (check.name.as_deref(), &check.program, check.inputs.is_some()))
        .collect();
    assert_eq!(
        checks,
        [
            (Some("Lint"), &Program::Command("pnpm lint".into()), true),
            (None, &Program::Script(".pi-hooks/check.ts".into()), false),
        ]
    );
}

#[test]
fn defaults() {
    for text in [
        "{}",
        r#"{"$schema": "s"}"#,
        r#"{"tool_call": {}}"#,
        r#"{"agent_before_settle": {"checks": []}}"#,
    ] {
        let file = parsed(text);
        assert!(file.rules.is_empty() && file.finish.is_none(), "{text}");
    }
    let settle = |keys: &str| {
        parsed(&format!(
            r#"{{"agent_before_settle": {{{keys} "checks": [{{"type": "command", "command": "c"}}]}}}}"#
        ))
        .finish
        .unwrap()
    };
    let finish = settle("");
    assert_eq!((finish.fail_fast, finish.max_retries), (true, 3));
    assert!(finish.checks[0].inputs.is_none() && finish.checks[0].timeout.is_none());
    let finish = settle(r#""failFast": false, "maxRetries": 0,"#);
    assert_eq!((finish.fail_fast, finish.max_retries), (false, 0));
}

#[test]
#[rustfmt::skip]
fn every_problem_has_its_place() {
    let rule = |inner: &str| format!("{{\"tool_call\": {{\"rules\": [\n{inner}]}}}}");
    let check = |inner: &str| format!("{{\"agent_before_settle\": {{\"checks\": [\n{inner}]}}}}");
    let table = [
        ("{", "1:2: invalid JSON: expected a key in double quotes"),
        ("[]", "1:1: the file must be an object, found an array"),
        ("{\"tool_cal\": {}}", "1:2: unknown field `tool_cal`, did you mean `tool_call`?"),
        ("{\"$schema\": 1}", "1:13: $schema must be a string, found a number"),
        ("{\"tool_call\": null}", "1:15: tool_call must be an object, found null"),
        ("{\"tool_call\": {}, \"tool_call\": {}}", "1:19: `tool_call` is given twice"),
        ("{\"tool_call\": {\"rule\": []}}", "1:16: unknown field `rule`, did you mean `rules`?"),
        ("{\"é\": 1,\n \"tool_call\": {\"rules\": {}}}", "1:2: unknown field `é`, the file has `$schema`, `tool_call`, `agent_before_settle`"),
        ("{\"tool_call\":\n {\"rules\": {}}}", "2:12: rules must be an array, found an object"),
        (&rule("3"), "2:1: rules must be an object, found a number"),
        (&rule("{\"action\": \"block\", \"reason\": \"r\"}"), "2:1: a rule that blocks needs `match`"),
        (&rule("{\"match\": {\"tool\": \"x\"}}"), "2:1: a rule needs `action`"),
        (&rule("{\"match\": {\"tool\": \"x\"}, \"action\": \"blok\"}"), "2:36: unknown action `blok`, did you mean `block`?"),
        (&rule("{\"match\": {\"tool\": \"x\"}, \"action\": 1}"), "2:36: action must be one of `block`, `nudge`, found a number"),
        (&rule("{\"match\": {\"tool\": \"x\"}, \"action\": \"block\"}"), "2:1: a rule that blocks needs `reason`"),
        (&rule("{\"match\": {\"tool\": \"x\"}, \"action\": \"nudge\"}"), "2:1: a rule that nudges needs `text`"),
        (&rule("{\"match\": {\"tool\": \"x\"}, \"action\": \"nudge\", \"text\": \" \"}"), "2:53: text must be a nonempty string, found an empty string"),
        (&rule("{\"match\": {\"tool\": \"x\"}, \"action\": \"nudge\", \"text\": \"t\", \"reason\": \"r\"}"), "2:58: unknown field `reason`, a rule that nudges has `match`, `action`, `text`"),
        (&rule("{\"match\": {}, \"action\": \"block\", \"reason\": \"r\"}"), "2:11: `match` needs `tool`"),
        (&rule("{\"match\": {\"tool\": [\"x\"]}, \"action\": \"block\", \"reason\": \"r\"}"), "2:20: tool must be a string, found an array"),
        (&rule("{\"match\": {\"tool\": \"[\"}, \"action\": \"block\", \"reason\": \"r\"}"), "2:20: `tool`: invalid glob at byte 0: `[` has no closing `]`; write `\\[` for the sign itself"),
        (&rule("{\"match\": {\"tool\": \"x\", \"arguments\": []}, \"action\": \"block\", \"reason\": \"r\"}"), "2:38: arguments must be an object, found an array"),
        (&rule("{\"match\": {\"tool\": \"x\", \"arguments\": {\"n\": 5}}, \"action\": \"block\", \"reason\": \"r\"}"), "2:44: n must be a string, found a number"),
        ("{\"agent_before_settle\": {\"failfast\": true}}", "1:26: unknown field `failfast`, did you mean `failFast`?"),
        ("{\"agent_before_settle\": {\"failFast\": 1}}", "1:38: failFast must be a boolean, found a number"),
        ("{\"agent_before_settle\": {\"maxRetries\": -1}}", "1:40: maxRetries must be a whole number from 0, found a number"),
        ("{\"agent_before_settle\": {\"maxRetries\": 1.5}}", "1:40: maxRetries must be a whole number from 0, found a number"),
        (&check("{\"command\": \"c\"}"), "2:1: a check needs `type`"),
        (&check("{\"type\": \"scrip\", \"path\": \"p\"}"), "2:10: unknown type `scrip`, did you mean `script`?"),
        (&check("{\"type\": \"command\"}"), "2:1: a check needs `command`"),
        (&check("{\"type\": \"script\"}"), "2:1: a check needs `path`"),
        (&check("{\"type\": \"script\", \"path\": \"p\", \"command\": \"c\"}"), "2:44: `command` does not belong to a check of type `script`"),
        (&check("{\"type\": \"command\", \"command\": \"\"}"), "2:32: command must be a nonempty string, found an empty string"),
        (&check("{\"type\": \"command\", \"command\": \"c\", \"inputs\": \"x\"}"), "2:47: inputs must be an array, found a string"),
        (&check("{\"type\": \"command\", \"command\": \"c\", \"inputs\": [1]}"), "2:48: inputs must be a string, found a number"),
        (&check("{\"type\": \"command\", \"command\": \"c\", \"timeout\": 1}"), "2:37: unknown field `timeout`, a check has `name`, `type`, `command`, `path`, `inputs`"),
        (&check("{\"type\": \"command\", \"command\": \"c\", \"name\": 1}"), "2:45: name must be a nonempty string, found a number"),
    ];
    for (text, problem) in table {
        assert_eq!(problems(text).first().map(String::as_str), Some(format!("p.json:{problem}").as_str()), "{text}");
    }
    let several = problems("{\"a\": 1, \"tool_call\": {\"b\": 2}, \"agent_before_settle\": 3}");
    assert_eq!(several.len(), 3, "{several:?}");
    assert!(read(Path::new("p.json"), Path::new("/r"), b"\xff").is_err());
}

#[test]
fn tool_patterns_cover_the_own_name_and_that_of_pi() {
    let empty = Json::Object(Vec::new());
    for (tool, canonical, pattern, wanted) in [
        ("bash", "Bash", "bash", true),
        ("Bash", "Bash", "bash", true),
        ("Bash", "Bash", "Bash", true),
        ("bash", "Bash", "Bash", false),
        ("Bash", "Bash", "ba*", true),
        ("powershell", "Bash", "{bash,edit}", true),
        ("NotebookEdit", "NotebookEdit", "edit", true),
        ("Glob", "Glob", "find", true),
        ("mcp__demo__greet", "mcp__demo__greet", "mcp__*", true),
        ("read", "Read", "write", false),
        ("read", "Read", "rea", false),
    ] {
        let event = call(tool, canonical, &empty);
        let text = format!(r#"{{"tool": "{pattern}"}}"#);
        assert_eq!(covers(&text, &event), wanted, "{pattern} {tool}");
    }
    // A patch that adds a file writes it.
    let mut patch = call("apply_patch", "Edit", &empty);
    assert!(!covers(r#"{"tool": "write"}"#, &patch) && covers(r#"{"tool": "edit"}"#, &patch));
    patch.add_changes(vec![Change {
        path: "/r/src/a".into(),
        operation: Operation::Write,
        content: "".into(),
    }]);
    assert!(covers(r#"{"tool": "write"}"#, &patch));
    assert!(covers(r#"{"tool": "edit", "arguments": {"path": "src/*"}}"#, &patch));
}

#[test]
fn path_patterns_cover_every_spelling_of_the_file() {
    for (input, file, pattern, wanted) in [
        (r#"{"path": ".env"}"#, "/r/.env", "**/.env*", true),
        (r#"{"path": "@.env"}"#, "/r/.env", ".env", true),
        (r#"{"path": "@.env"}"#, "/r/.env", "@.env", true),
        (r#"{"file_path": "/r/sub/.env"}"#, "/r/sub/.env", "sub/.env", true),
        (r#"{"file_path": "/r/sub/.env"}"#, "/r/sub/.env", "/r/sub/*", true),
        (r#"{"path": ".env.example"}"#, "/r/.env.example", "**/.env", false),
        (r#"{"path": "environment"}"#, "/r/environment", "**/.env*", false),
    ] {
        let input = Json::parse(input).unwrap();
        let mut event = call("read", "Read", &input);
        event.file = Some(file.into());
        let text = format!(r#"{{"tool": "read", "arguments": {{"path": "{pattern}"}}}}"#);
        assert_eq!(covers(&text, &event), wanted, "{pattern} {file}");
    }
    let none = Json::Object(Vec::new());
    assert!(!covers(r#"{"tool": "*", "arguments": {"path": "*"}}"#, &call("ls", "LS", &none)));
}

#[test]
fn arguments_must_all_be_covering_strings() {
    let input =
        r#"{"command": "a\nrm -rf /x", "n": 5, "list": ["x"], "event": "e", "a.b": "dotted"}"#;
    let input = Json::parse(input).unwrap();
    let event = call("bash", "Bash", &input);
    for (arguments, wanted) in [
        (r#"{"command": "*rm -rf*"}"#, true),
        (r#"{"command": "rm -rf*"}"#, false),
        (r#"{"command": "*rm -rf*", "missing": "*"}"#, false),
        (r#"{"n": "*"}"#, false),
        (r#"{"list": "*"}"#, false),
        (r#"{"event": "e"}"#, true),
        (r#"{"a.b": "dotted"}"#, true),
        (r#"{"tool_name": "*"}"#, false),
        ("{}", true),
    ] {
        let text = format!(r#"{{"tool": "bash", "arguments": {arguments}}}"#);
        assert_eq!(covers(&text, &event), wanted, "{arguments}");
    }
}
