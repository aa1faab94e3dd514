//! Actions of guard rules through the hooks of the clients: ask, rewrite, context, and the packs.
#![expect(clippy::unwrap_used, reason = "a failure to set up is a failed test")]

#[expect(dead_code, reason = "each test target uses a part")]
mod support;

use std::fs;
use support::{Outcome, Place, object, quoted};

fn with(action: &str) -> Place {
    Place::new().project(
        ".i-insist/a.toml",
        format!(
            "[[rules]]\nid = \"a\"\n[[rules.match]]\nany = \"parsed.segments\"\nhead = {{ any_of = [\"zap\"] }}\n\
             [rules.action]\n{action}\n"
        ),
    )
}

const ASK: &str = "kind = \"ask\"\nmessage = \"Sure?\"";

fn codex(place: &Place, command: &str) -> Outcome {
    let payload = place.sample("codex/PreToolUse-Bash");
    let (before, rest) = payload.split_once("\"command\":").unwrap();
    let (_, after) = rest.split_once('}').unwrap();
    let payload = format!("{before}\"command\":{}}}{after}", quoted(command));
    place.hook("codex", "pre-tool-use", payload)
}

#[test]
fn an_ask_asks_where_a_person_is_there() {
    let place = with(ASK).variable("CLAUDE_CODE_SESSION_ATTENDED", "1");
    let outcome = place.bash("zap");
    outcome.shows(&[
        r#"{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"Sure?"}"#,
    ]);
    assert_eq!(outcome.status, Some(0));
    place.bash("ls").passes();
}

#[test]
fn an_ask_is_a_denial_where_nobody_is_there_or_the_client_cannot_ask() {
    with(ASK).bash("zap").denies_with(&["\"Sure?\""]);
    let attended = with(ASK).variable("CLAUDE_CODE_SESSION_ATTENDED", "1");
    codex(&attended, "zap").denies_with(&["\"Sure?\""]);
    codex(&attended, "ls").passes();
    // A client that another agent started has no person of its own.
    let nested = attended.variable("CODEX_THREAD_ID", "t");
    nested.bash("zap").denies_with(&["\"Sure?\""]);
}

#[test]
fn an_ask_is_skipped_once_the_person_insisted() {
    let place = with(ASK);
    place.says("prompt-1", "I insist");
    place.bash("zap").passes();
}

#[test]
fn a_rewrite_carries_the_whole_input_in_the_form_of_its_client() {
    let action = "kind = \"rewrite\"\nreplace_head = \"ls\"\nmessage = \"ls it is\"";
    let outcome = with(action).bash("zap  'x'");
    outcome
        .shows(&[r#""updatedInput":{"command":"ls  'x'"}"#, r#""additionalContext":"ls it is""#]);
    assert!(!outcome.stdout.contains("permissionDecision"));
    codex(&with(action), "zap x")
        .shows(&[r#""permissionDecision":"allow","updatedInput":{"command":"ls x""#]);
}

#[test]
fn each_client_gets_its_own_message_and_only_named_ones_a_rule() {
    let place = with("kind = \"deny\"\nmessage = { claude = \"C\" }");
    place.bash("zap").denies_with(&["\"C\""]);
    codex(&place, "zap").passes();
    let place = with("kind = \"deny\"\nmessage = { claude = \"C\", codex = \"X\" }");
    codex(&place, "zap").denies_with(&["\"X\""]);
}

#[test]
fn a_guard_denial_comes_before_steers_and_context_joins_it() {
    let place = with("kind = \"deny\"\nmessage = \"guard\"").project(
        ".steer.toml",
        "[[rules]]\nname = \"s\"\n[[rules.match]]\ncommand = { glob = [\"zap*\"] }\n[rules.action]\nkind = \"context\"\nmessage = \"steer\"\n",
    );
    place.bash("zap").denies_with(&["\"guard\\n\\nsteer\""]);
    place.bash("zap-more").shows(&[r#""additionalContext":"steer""#]);
}

#[test]
fn init_writes_a_starter_for_the_person_or_the_project_and_never_over_one() {
    for (arguments, path) in [
        (&["init"][..], ".i-insist/rules.toml"),
        (&["init", "--project"], "project/.i-insist/rules.toml"),
    ] {
        let place = Place::new();
        let file = place.at(path);
        place.run(arguments, "").is(0, &format!("wrote {}\n", file.display()), "");
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.lines().all(|line| line.is_empty() || line.starts_with('#')));
        assert_eq!(place.run(&["validate"], "").status, Some(0));
        fs::write(&file, "# mine\n").unwrap();
        place.run(arguments, "").refuses(&["was not written: it is there already"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), "# mine\n");
    }
    Place::new().run(&["init", "x"], "").refuses(&["--project"]);
}

/// A home with a pack of the examples in it.
fn pack(name: &str) -> Place {
    let path = format!("{}/examples/packs/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    Place::new().home(".i-insist/pack.toml", fs::read(path).unwrap())
}

#[test]
fn the_packs_look_at_file_tools_too() {
    let tool = |place: &Place, tool: &str, path: &str| {
        let path = place.in_project(path);
        let input = [
            ("file_path", path.as_str()),
            ("content", ""),
            ("old_string", "a"),
            ("new_string", "b"),
        ];
        place.hook("claude", "pre-tool-use", place.call(tool, &object(&input)))
    };
    let secrets = pack("secrets");
    for path in [".env", "app/.env.local", ".ssh/id_rsa", "server.key"] {
        for name in ["Read", "Write", "Edit"] {
            tool(&secrets, name, path).denies_with(&["holds secrets"]);
        }
    }
    for path in [".env.example", "src/env.rs", ".ssh/config", ".ssh/id_rsa.pub", "keyboard.rs"] {
        tool(&secrets, "Read", path).passes();
    }
    let packages = pack("packages");
    tool(&packages, "Edit", "Cargo.lock").denies_with(&["package manager"]);
    tool(&packages, "Read", "Cargo.lock").passes();
    tool(&packages, "Edit", "Cargo.toml").passes();
    pack("destructive").bash("git push --force").denies_with(&["--force-with-lease"]);
    pack("production").bash("kubectl -n prod delete pod x").denies_with(&["staging"]);
}
