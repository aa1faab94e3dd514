//! The bridge's questions and the answers it takes.

use super::*;
use crate::harness::Answer;

const HOME: &str = "/home/dev";

/// The call that a question before `tool` is read as.
fn asked(tool: &str, input: &str, further: &str, check: impl Fn(&Event<'_>)) {
    let text = format!(
        r#"{{"hook_event_name":"PreToolUse","cwd":"/r","tool_name":"{tool}","tool_input":{input}{further}}}"#
    );
    let json = Json::parse(&text).unwrap();
    let environment = Environment::default();
    match Harness::Pi.decode(Moment::PreToolUse, &json, &environment, Path::new(HOME)) {
        Ok(Message::Tool(event)) => check(&event),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn p05_paths_are_read_as_pi_reads_them() {
    for (text, path) in [
        ("a", "/r/a"),
        ("@a", "/r/a"),
        ("@@a", "/r/@a"),
        ("a@b", "/r/a@b"),
        ("@/a/../b", "/b"),
        ("~", HOME),
        ("~/a", "/home/dev/a"),
        ("@~//a", "/home/dev/a"),
        ("~root/a", "/r/~root/a"),
        ("a\u{a0}b\u{202f}c\u{3000}d", "/r/a b c d"),
        ("\u{2000}a", "/r/ a"),
        ("file:///a%20b", "/a b"),
        ("@file:///a/%2e%2E/b", "/b"),
        ("file://localhost/a?b#c", "/a"),
        ("file:///a%23b", "/a#b"),
        ("file://\\\\a\\\\b", "/a/b"),
        ("file:///a\\tb", "/ab"),
        ("file:///a%zz%2", "/a%zz%2"),
        ("FILE:///a", "/r/FILE:/a"),
        ("file:/a", "/r/file:/a"),
    ] {
        let input = format!(r#"{{"path":"{text}","content":"c"}}"#);
        asked("write", &input, "", |event| {
            assert_eq!(event.paths, [PathBuf::from(path)], "{text}");
        });
        asked("read", &input, "", |event| {
            assert_eq!(event.file.as_deref(), Some(Path::new(path)), "{text}");
            assert!(event.paths.is_empty());
        });
    }
}

#[test]
fn tools_have_their_kinds_and_canonical_names() {
    for (tool, input, kind, canonical) in [
        ("bash", r#"{"command":"c"}"#, Kind::Shell, "Bash"),
        ("powershell", r#"{"command":"c"}"#, Kind::Shell, "Bash"),
        ("write", r#"{"path":"p","content":""}"#, Kind::FileWrite, "Write"),
        ("edit", r#"{"path":"p","edits":[{"newText":""}]}"#, Kind::FileEdit, "Edit"),
        ("read", r#"{"path":"p"}"#, Kind::Other, "Read"),
        ("grep", r#"{"pattern":"p"}"#, Kind::Other, "Grep"),
        ("find", r#"{"pattern":"p"}"#, Kind::Other, "Glob"),
        ("ls", "{}", Kind::Other, "LS"),
        ("codemode", r#"{"code":"c"}"#, Kind::Other, "codemode"),
        ("mcp__demo__greet", r#"{"command":"c"}"#, Kind::Other, "mcp__demo__greet"),
        ("Bash", r#"{"command":7}"#, Kind::Other, "Bash"),
    ] {
        asked(tool, input, "", |event| {
            assert_eq!((event.kind, event.canonical_tool.as_ref()), (kind, canonical), "{tool}");
            assert_eq!(event.command.is_some(), kind == Kind::Shell);
        });
    }
    let edits = r#"{"path":"p","edits":[{"oldText":"a","newText":"b"},{"newText":"c"}]}"#;
    asked("edit", edits, "", |event| {
        assert_eq!(event.changes[0].content, "b\nc");
    });
}

#[test]
fn what_cannot_be_read_is_an_error() {
    for (tool, input, problem) in [
        ("bash", "{}", "tool_input.command is missing"),
        ("bash", r#"{"command":["a"]}"#, "tool_input.command must be a string, found an array"),
        ("bash", "null", "tool_input is missing"),
        ("write", r#"{"path":"","content":""}"#, "tool_input.path must not be empty"),
        ("write", r#"{"path":"a"}"#, "tool_input.content is missing"),
        ("edit", r#"{"path":"a"}"#, "tool_input.edits is missing"),
        ("edit", r#"{"path":"a","edits":[{}]}"#, "tool_input.edits[0].newText is missing"),
        (
            "edit",
            r#"{"path":"a\u0000","edits":[{"newText":""}]}"#,
            "tool_input.path must not contain a NUL",
        ),
    ] {
        let text = format!(r#"{{"cwd":"/r","tool_name":"{tool}","tool_input":{input}}}"#);
        let json = Json::parse(&text).unwrap();
        let read =
            Harness::Pi.decode(Moment::PreToolUse, &json, &Environment::default(), Path::new(HOME));
        assert_eq!(read.unwrap_err().to_string(), format!("invalid input: {problem}"));
    }
}

#[test]
fn trust_and_persons_are_told_apart() {
    asked("ls", "{}", r#","trusted":false"#, |event| {
        assert!(!event.project_trusted);
    });
    asked("ls", "{}", r#","trusted":true"#, |event| {
        assert!(event.project_trusted);
    });
    asked("ls", "{}", "", |event| assert!(event.project_trusted));
    let author = |further: &str| {
        let text = format!(r#"{{"cwd":"/r","prompt":"I insist"{further}}}"#);
        let json = Json::parse(&text).unwrap();
        let environment = Environment::default();
        match Harness::Pi.decode(Moment::UserPromptSubmit, &json, &environment, Path::new(HOME)) {
            Ok(Message::Prompt(prompt)) => prompt.author == Author::Person,
            other => panic!("{other:?}"),
        }
    };
    assert!(author("") && author(r#","source":"rpc","nested":false"#));
    assert!(!author(r#","source":"interactive","nested":true"#));
    assert!(!author(r#","source":"extension","nested":false"#));
    let stop = |further: &str| {
        let text = format!(r#"{{"hook_event_name":"BeforeFinish","cwd":"/r"{further}}}"#);
        let json = Json::parse(&text).unwrap();
        let environment = Environment::default();
        match Harness::Pi.decode(Moment::Stop, &json, &environment, Path::new(HOME)) {
            Ok(Message::Stop(stop)) => {
                (stop.sent_back, stop.origin.project_trusted, stop.held_open)
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(stop(r#","continues":0,"trusted":false"#), (false, false, false));
    assert_eq!(stop(r#","continues":2,"held_open":true"#), (true, true, true));
}

#[test]
fn answers_hold_what_the_bridge_knows() {
    let said = |moment, answer: Answer<'_>| {
        let reply = Harness::Pi.encode(moment, answer, &Environment::default());
        assert_eq!((reply.stderr.as_str(), reply.exit), ("", 0));
        reply.stdout
    };
    let deny = || Answer::Deny { reason: "no", person: Some("p") };
    let context = || Answer::Context { text: "t", person: Some("p") };
    for (moment, denied, told) in [
        (Moment::PreToolUse, r#"{"decision":"block","reason":"no","notice":"p"}"#, true),
        (Moment::PostToolUse, r#"{"guidance":"no","notice":"p"}"#, true),
        (Moment::SessionStart, r#"{"guidance":"no","notice":"p"}"#, true),
        (Moment::UserPromptSubmit, r#"{"notice":"no"}"#, false),
        (Moment::Stop, r#"{"continue":true,"message":"no","notice":"p"}"#, false),
    ] {
        assert_eq!(said(moment, deny()), denied);
        let text = if told { r#"{"guidance":"t","notice":"p"}"# } else { r#"{"notice":"p"}"# };
        assert_eq!(said(moment, context()), text);
        assert_eq!(said(moment, Answer::Notice { person: "p" }), r#"{"notice":"p"}"#);
    }
    let ask = Answer::Ask { reason: "sure?", person: None };
    assert_eq!(said(Moment::PreToolUse, ask), r#"{"decision":"block","reason":"sure?"}"#);
    let input = Json::parse(r#"{"command":"trash x"}"#).unwrap();
    let rewrite = |context| Answer::Rewrite { input: input.clone(), person: None, context };
    let input = r#"{"input":{"command":"trash x"},"guidance":""#;
    assert_eq!(
        said(Moment::PreToolUse, rewrite(Some("why"))),
        format!(r#"{input}why\n\nThis was run instead:\ntrash x"}}"#)
    );
    assert_eq!(
        said(Moment::PreToolUse, rewrite(None)),
        format!(r#"{input}This was run instead:\ntrash x"}}"#)
    );
}

#[test]
fn the_result_is_asked_for_beside_any_answer() {
    let asked = |answer: Answer<'_>| {
        let reply = Harness::Pi.encode(Moment::PreToolUse, answer, &Environment::default());
        Harness::Pi.ask_after(reply).stdout
    };
    assert_eq!(asked(Answer::Pass), r#"{"after":true}"#);
    assert_eq!(asked(Answer::Notice { person: "{p}" }), r#"{"notice":"{p}","after":true}"#);
    assert_eq!(Harness::Claude.ask_after(Reply::default()), Reply::default());
}
