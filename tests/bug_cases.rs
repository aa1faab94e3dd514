//! Small inputs on which tools like this have failed in public, each with the right answer. They are
//! read from the handed file, found by `I_INSIST_CASES`; what a row's prose demands stands here as a
//! rule and whether it fires, or as a scenario of hooks.
#![expect(clippy::unwrap_used, reason = "a failure to set up is a failed test")]
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "each test target uses a part")]
#[path = "../src/json.rs"]
mod json;
#[expect(dead_code, reason = "each test target uses a part")]
mod support;

use json::Json;
use std::collections::HashMap;
use std::{env, fs};
use support::{Outcome, Place, blocks, checker, object, quoted};

/// The inputs by number.
fn inputs() -> HashMap<usize, String> {
    let cases = env::var("I_INSIST_CASES").expect("I_INSIST_CASES must name the folder of cases");
    let text = fs::read_to_string(cases + "/cases/bug_cases.jsonl").unwrap();
    let row = |line: &str| {
        let row = Json::parse(line).unwrap();
        let number = row.get("n").unwrap().to_text().parse().unwrap();
        (number, row.get("input").unwrap().as_str().unwrap().to_owned())
    };
    text.lines().map(row).collect()
}

/// The input of one row.
fn input(number: usize) -> String {
    inputs().remove(&number).unwrap()
}

/// Shell commands: row, conditions on a segment, and whether a rule with them fires.
const SHELL: &[(usize, &str, bool)] = &[
    (1, "head = { any_of = ['rm'] }\n\"args\" = { any_of = ['{}'] }", true),
    (
        4,
        "head = { any_of = ['git'] }\nargs = { any_of = ['-D'] }\npipeline_start = { is = false }",
        true,
    ),
    (6, RM, true),
    (10, RM, true),
    (12, RM, true),
    (13, RM, true),
    (17, "head = { any_of = ['curl'] }", true),
    (20, "head = { any_of = ['curl'] }\npipeline_start = { is = false }", true),
    (22, RM, true),
    (26, RM, true),
    (26, "head = { any_of = ['wc'] }\npipeline_start = { is = true }", false),
    (27, "head = { any_of = ['git'] }\nargs = { any_of = ['--no-verify'] }", true),
    (29, RM, true),
    (29, "head = { any_of = ['CLEAN'] }", false),
    (30, RM, true),
    (32, "head = { any_of = ['gh'] }\n\"args.1\" = { any_of = ['archive'] }", true),
    (34, RM, true),
    (36, "head = { any_of = ['gh'] }", true),
    (38, RM, true),
    (39, RM, true),
    (41, RM, true),
    (43, RM, true),
    (43, "head = { any_of = ['echo'] }\nargs = { any_of = [\"it's\"] }", true),
    (48, RM, true),
    (49, RM, true),
    (51, RM, true),
    (52, RM, true),
    (53, RM, true),
    (54, RM, true),
    (54, "args = { any_of = ['data'] }", false),
    (57, RM, true),
    (61, RM, true),
    (62, "head = { any_of = ['curl'] }", true),
    (63, "head = { any_of = ['sed'] }\nargs = { any_of = ['-i'] }", true),
    (64, "head = { any_of = ['kubectl'] }", true),
    (69, RM, true),
    (69, "head = { any_of = ['printf'] }", true),
    (
        72,
        "head = { any_of = ['git'] }\nargs = { any_of = ['--force'] }\ndepth = { any_of = ['1'] }",
        true,
    ),
    (77, "head = { any_of = ['rm'] }\nargs = { glob = ['$HOME*'] }", true),
    (83, "args = { glob = ['**/.netrc'] }", true),
    (84, "head = { any_of = ['rm'] }\nargs = { glob = ['/srv/*'] }", true),
    (88, "head = { any_of = ['git'] }\n\"args.0\" = { any_of = ['reset'] }", true),
    (
        89,
        "head = { any_of = ['git'] }\n\"args.0\" = { any_of = ['fetch'] }\nwrappers = { glob = ['*curl*'] }",
        true,
    ),
    (92, "head = { any_of = ['git'] }\n\"args.0\" = { any_of = ['commit'] }", true),
    (94, "\"redirects.target\" = { any_of = ['conf/rules.toml'] }", true),
    (94, "head = { any_of = ['echo'] }\nargs = { none_of = ['x'] }", false),
    (94, "\"args.1\" = { exists = true }", false),
    (97, RM, true),
    (100, "head = { any_of = ['git'] }\nargs = { any_of = ['restore'] }", false),
    (100, "head = { any_of = ['git'] }\n\"args.0\" = { any_of = ['commit'] }", true),
    (102, "head = { none_of = ['git', 'cat'] }", false),
    (102, "head = { any_of = ['cat'] }", true),
    (103, "head = { any_of = ['gh'] }", false),
    (105, "\"redirects.target\" = { glob = ['*next*', '*data*'] }", false),
    (106, RM, false),
    (107, RM, false),
    (110, "head = { any_of = ['git'] }", false),
    (113, "head = { any_of = ['curl', 'sh'] }", false),
    (114, "\"args.0\" = { any_of = ['clean'] }", false),
    (115, "head = { any_of = ['reboot'] }", false),
    (116, RM, false),
    (116, "head = { any_of = ['ssh'] }\nargs = { glob = ['*rm*'] }", true),
    (117, "head = { any_of = ['format'] }", false),
    (119, "head = { any_of = ['git'] }\nargs = { any_of = ['-f'] }", false),
    (122, "head = { any_of = ['git'] }\nargs = { glob = ['+*'] }", true),
    (123, "head = { none_of = ['find', 'grep', 'head'] }", false),
    (126, "head = { none_of = ['jq'] }", false),
    (127, "head = { none_of = ['awk'] }", false),
    (127, "\"redirects.op\" = { exists = true }", false),
    (131, "head = { none_of = ['npm', 'cat'] }", false),
    (131, "args = { any_of = ['1', '2', '3'] }", false),
    (132, RM, false),
    (132, "\"redirects.op\" = { exists = true }", false),
    (133, "args = { none_of = ['status'] }", false),
    (135, RM, false),
    (136, "in_workspace = { is = false }", false),
    (137, "head = { none_of = ['echo', 'printf'] }", false),
    (138, "head = { any_of = ['bash'] }\n\"args.0\" = { any_of = ['./render.sh'] }", true),
    (139, "head = { any_of = ['bash'] }\nargs = { any_of = ['-c'] }", false),
    (143, "head = { any_of = ['git'] }", false),
    (144, "\"args.0\" = { any_of = ['reset'] }", false),
];
const RM: &str = "head = { any_of = ['rm'] }";

/// A rule on segments.
fn rule(id: &str, conditions: &str, action: &str) -> String {
    format!(
        "[[rules]]\nid = '{id}'\n[[rules.match]]\nany = 'parsed.segments'\n{conditions}\n[rules.action]\n{action}\n"
    )
}

fn denying(id: &str, conditions: &str) -> String {
    rule(id, conditions, "kind = 'deny'\nmessage = 'denied'")
}

#[test]
fn rules_fire_on_the_commands_that_run_and_on_no_others() {
    let inputs = inputs();
    for (number, conditions, fires) in SHELL {
        let place = Place::new().home(".i-insist/a.toml", denying("a", conditions));
        let outcome = place.bash(&inputs[number]);
        let is_denied = outcome.stdout.contains("\"denied\"");
        assert_eq!(is_denied, *fires, "row {number}, {conditions}: {outcome:?}");
    }
}

/// What the rule of a row makes of its command.
fn rewritten(number: usize, head: &str, action: &str) -> Outcome {
    let text = input(number);
    let (_, command) = text.split_once("command: ").unwrap();
    let conditions = format!("head = {{ any_of = ['{head}'] }}");
    let rule = rule("a", &conditions, &format!("kind = 'rewrite'\n{action}"));
    let place = Place::new().home(".i-insist/a.toml", rule).program("bin/new", "#!/bin/sh\n");
    let path = format!("{}:/usr/bin:/bin", place.at("bin").display());
    place.variable("PATH", &path).bash(command)
}

#[test]
fn rewrites_touch_the_words_that_run() {
    rewritten(145, "make", "replace_head = 'new'").passes();
    rewritten(146, "jq", "replace_head = 'new'").passes();
    let shown = rewritten(147, "git", "replace_head = 'new'\ndrop_args = ['show']");
    shown.shows(&[r#""command":"new HEAD > one.patch""#]);
    let shown = rewritten(148, "rm", "replace_head = 'new'\ndrop_args = ['-rf']");
    shown.shows(&[r#""command":"ls | wc -l && new 'a b' c | cat""#]);
    let shown = rewritten(149, "rm", "replace_head = 'new'");
    shown.shows(&[r#""command":"new -f ä.txt <<'EOF'\nrm stays text\nEOF\nnew b""#]);
}

// ------------------------------------------------------------------------------ the clients' forms

/// A call of a tool that takes the input of a row, whose payload may be a part only.
fn call_of(place: &Place, number: usize) -> Outcome {
    let text = input(number);
    let row = Json::parse(&text).unwrap();
    let tool = row.get("tool_name").unwrap().as_str().unwrap();
    let payload = place.call(tool, &row.get("tool_input").unwrap().to_text());
    place.hook("claude", "pre-tool-use", payload)
}

fn with_rule(text: &str) -> Place {
    Place::new().home(".i-insist/a.toml", text)
}

fn on_input(id: &str, more: &str, conditions: &str) -> String {
    format!(
        "[[rules]]\nid = '{id}'\n{more}\n[[rules.match]]\n{conditions}\n[rules.action]\nkind = 'deny'\nmessage = 'denied'\n"
    )
}

#[test]
fn c_answers_have_the_form_that_blocks() {
    // 150, 153, 157: exit 0 and a denial of documented keys alone.
    let place = with_rule(&denying("a", RM));
    place.bash("rm x").is(
        0,
        "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\",\
         \"permissionDecisionReason\":\"denied\"},\"systemMessage\":\"i-insist: blocked by `a`; to override, say \
         \\\"I insist\\\" in your message.\"}",
        "",
    );
    // 151
    for text in [input(151).strip_prefix("stdin: ").unwrap(), "", "[]", "\"x\""] {
        place.hook("claude", "pre-tool-use", text).denies_with(&["i-insist: "]);
    }
    // 155
    let place = with_rule(&rule("a", RM, "kind = 'rewrite'\nreplace_head = 'true'"));
    let payload = place.call("Bash", &object(&[("command", "rm x")]));
    let answer = place.hook("codex", "pre-tool-use", payload);
    answer.shows(&[
        r#""hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"true x"}"#,
    ]);
    // 160: the argument rules, not the environment.
    let place = place.variable("CLAUDE_PLUGIN_ROOT", "/x");
    let payload = place.call("Bash", &object(&[("command", "rm x")]));
    let other = place.hook("codex", "pre-tool-use", payload);
    assert_eq!(answer.stdout, other.stdout);
}

#[test]
fn c_a_checker_that_cannot_run_blocks_by_name_until_the_person_insists() {
    // 152
    let text = input(152);
    let (argv, _) = text.strip_prefix("rule with checker = ").unwrap().split_once(';').unwrap();
    let place = with_rule(&format!("[[rules]]\nid = 'broken'\nchecker = {argv}\nmessage = 'm'"));
    place.bash("ls").denies_with(&["broken", "missing.py"]);
    place.says("prompt-1", "I insist").passes();
    place.bash("ls").passes();
    // 202: a checker that does not read its stdin.
    let place = with_rule("[[rules]]\nid = 'a'\nchecker = ['echo', 'true']\nmessage = 'denied'");
    let content = "x".repeat(1 << 20);
    let write = object(&[("file_path", "/x"), ("content", &content)]);
    place.hook("claude", "pre-tool-use", place.call("Write", &write)).denies("denied");
}

#[test]
fn c_files_are_seen_in_every_spelling() {
    // 176: both paths of a move, as a tool call and inside a shell command.
    let patch = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: z/b.txt\n*** End Patch";
    for file in ["a.txt", "z/b.txt"] {
        let place =
            with_rule(&on_input("a", "", &format!("\"event.paths\" = {{ glob = ['**/{file}'] }}")));
        let call = place.call("apply_patch", &object(&[("command", patch)]));
        place.hook("codex", "pre-tool-use", call).denies("denied");
        place.bash(&format!("apply_patch <<'P'\n{patch}\nP\n")).denies("denied");
        place.bash(&format!("cat <<'P'\n{patch}\nP\n")).passes();
    }
    // 179: every replacement.
    for text in ["ok", "SECRET"] {
        let place = with_rule(&on_input(
            "a",
            "",
            &format!("\"event.changes.content\" = {{ matches = '{text}' }}"),
        ));
        call_of(&place, 179).denies("denied");
    }
    // 184: a rule without a gate, and a protected directory.
    let place = with_rule(&on_input(
        "a",
        "",
        "tool_name = { glob = ['mcp__*'] }\npath = { glob = ['/repo/*'] }",
    ));
    call_of(&place, 184).denies("denied");
    let place = with_rule(
        "[[rules]]\nid = 'a'\nchecker = ['i-insist', 'protect-config']\nmessage = 'denied'",
    );
    call_of(&place, 184).denies("denied");
    // 187: a gate names one tool.
    let place = with_rule(&on_input("a", "tool = 'Edit'", "file_path = { exists = true }"));
    place.edit("x").denies("denied");
    call_of(&place, 179).passes();
    // 196, 197, 198
    let place = with_rule(&on_input("a", "", "file_path = { glob = ['**/.ssh/**'] }"));
    call_of(&place, 196).denies("denied");
    let place = with_rule(&on_input("a", "", "file_path = { glob = ['**/.arch/members.yml'] }"));
    let write = |path: &str| {
        let write = object(&[("file_path", path), ("content", "x")]);
        place.hook("claude", "pre-tool-use", place.call("Write", &write))
    };
    write("/repo/.arch/members.yml").denies("denied");
    for path in ["/repo/foo.arch/members.yml", "/repo/.arch/../members.yml"] {
        assert!(input(198).contains(path));
        write(path).passes();
    }
}

#[test]
fn c_rules_come_from_the_payloads_directory_upwards() {
    // 188, 189
    let place = Place::new()
        .project(".i-insist/a.toml", denying("a", RM))
        .project(".wt/b/.i-insist/b.toml", denying("b", "head = { any_of = ['cp'] }"))
        .project("vendor/sub/.git", "gitdir: ../../.git/modules/sub")
        .variable("CLAUDE_PROJECT_DIR", "/nowhere");
    let call = |directory: &str, command: &str| {
        let payload = place.call("Bash", &object(&[("command", command)]));
        let own = quoted(&place.at("project").to_string_lossy());
        let payload = payload.replace(&own, &quoted(&place.in_project(directory)));
        place.hook("claude", "pre-tool-use", payload)
    };
    call(".wt/b", "cp x y").denies("denied");
    call(".wt/b", "rm x").denies("denied");
    call("vendor/sub", "rm x").denies("denied");
    call("vendor/sub", "cp x y").passes();
}

#[test]
fn c_odd_text_is_judged() {
    // 211, 212
    let place = with_rule(&denying("a", RM)).variable("LC_ALL", "C");
    let text = input(211);
    assert!(text.contains("\\udc9d"));
    let (_, tool_input) = text.split_once("\"tool_input\":").unwrap();
    let call = place.call("Bash", tool_input.strip_suffix('}').unwrap());
    place.hook("claude", "pre-tool-use", &call).denies("denied");
    place.hook("claude", "pre-tool-use", call.replace("udc9d", "u0000")).denies("denied");
    place.bash("echo ä 漢字; rm x").denies("denied");
    place.bash("echo ä 漢字; ls").passes();
    // 214
    let prompt = place.payload("UserPromptSubmit", "prompt-1", r#""prompt":"\ud83d I insist""#);
    place.hook("claude", "user-prompt-submit", prompt).passes();
    place.bash("rm x").passes();
    place.says("prompt-1", "thanks").passes();
    place.bash("rm x").denies("denied");
    for line in place.log() {
        Json::parse(&line).unwrap();
    }
}

// --------------------------------------------------------------------------------------- rule files

#[test]
fn e_a_broken_file_blocks_and_names_its_place() {
    // 269
    let place = with_rule(&denying("a", RM)).home(".i-insist/b.toml", "[[rules");
    place.bash("ls").denies_with(&["b.toml:1:"]);
    // 271
    with_rule(&input(271)).bash("ls").denies_with(&["a.toml:3:11", "checker must be"]);
    // 272
    for value in ["\"false\"", "0"] {
        assert!(input(272).contains(value));
        let text = denying("a", RM)
            .replace("[[rules.match]]", &format!("enabled = {value}\n[[rules.match]]"));
        with_rule(&text).bash("ls").denies_with(&["enabled must be a boolean"]);
    }
    // 275: the rows' own texts, as descriptions.
    let text = input(275);
    for (line, valid) in text.lines().zip([false, true, false]) {
        let (_, value) = line.split_once(" = ").unwrap();
        let text = denying("a", RM)
            .replace("[[rules.match]]", &format!("description = {value}\n[[rules.match]]"));
        let outcome = with_rule(&text).bash("ls");
        assert_eq!(outcome.stdout.contains("a.toml:3:"), !valid, "{line}: {outcome:?}");
    }
    // 276
    let action = input(276);
    let text =
        format!("[[rules]]\nid = 'a'\nmatch = [{{ command = {{ exists = true }} }}]\n{action}");
    with_rule(&text).bash("ls").denies("line one\nline two\n");
    // 284
    let text = input(284)
        .replace("[rules.action]", "[[rules.match]]\ncommand = { exists = true }\n[rules.action]");
    with_rule(&text).bash("ls").denies_with(&["`disable` belongs to the top of the file"]);
}

#[test]
fn e_strings_and_patterns_mean_what_they_say() {
    // 280
    let text = input(280);
    let (_, list) = text.split_once(" = ").unwrap();
    for (value, fires) in
        [("a, 'b' ]", true), ("x,y", true), ("c]", true), ("a", false), ("x", false)]
    {
        let place = with_rule(&on_input("a", "", &format!("field = {{ any_of = {list} }}")));
        let call = place.call("mcp__a__b", &object(&[("field", value)]));
        let outcome = place.hook("claude", "pre-tool-use", call);
        assert_eq!(outcome.stdout.contains("denied"), fires, "{value}: {outcome:?}");
    }
    // 285
    let (one, other) = ("head = { any_of = ['rm'] }", "args = { any_of = ['x'] }");
    for conditions in [format!("{one}\n{other}"), format!("{other}\n{one}")] {
        let place = with_rule(&denying("a", &conditions));
        place.bash("rm x").denies("denied");
        place.bash("rm y").passes();
    }
    // 286 (its absolute half), 287, 288
    for (glob, value, fires) in [
        ("/**", "/x/y", true),
        ("/**", "x", false),
        ("**/.env*", ".env", true),
        ("**/.env*", "a/.env.local", true),
        ("**/.env*", "a/b/.envrc", true),
        ("**/.env*", "a/b.env", false),
        ("*.env", ".env", true),
        ("**/*", ".git/config", true),
    ] {
        let place = with_rule(&on_input("a", "", &format!("field = {{ glob = ['{glob}'] }}")));
        let call = place.call("mcp__a__b", &object(&[("field", value)]));
        let outcome = place.hook("claude", "pre-tool-use", call);
        assert_eq!(outcome.stdout.contains("denied"), fires, "{glob} {value}");
    }
    // 297
    let conditions = "head = { any_of = ['dd'] }\nargs = { none_glob = ['*df*'] }";
    let text = input(297);
    let (_, command) = text.split_once("command: ").unwrap();
    with_rule(&denying("a", conditions)).bash(command).denies("denied");
}

#[test]
fn e_no_layer_takes_away_what_another_demands() {
    // 293
    let place = with_rule(&denying("no-rm", RM)).project(".steer.toml", "disable = ['no-rm']");
    place.bash("rm x").denies("denied");
    place.project(".i-insist/a.toml", "disable = ['no-rm']").bash("ls").denies_with(&["disable"]);
    // 294
    let rules = [("a", "rm"), ("b", "cp"), ("c", "mv")]
        .map(|(id, head)| denying(id, &format!("head = {{ any_of = ['{head}'] }}")));
    let [a, b, c] = rules;
    let place = with_rule(&(a + &b)).project(".i-insist/c.toml", c);
    for command in ["rm x", "cp x y", "mv x y"] {
        place.bash(command).denies("denied");
    }
}

// ----------------------------------------------------------------------------------------- approval

fn vault() -> Place {
    with_rule(&denying("a", RM))
}

/// What follows `user: ` in a row.
fn said(number: usize) -> String {
    input(number).strip_prefix("user: ").unwrap().to_owned()
}

#[test]
fn g_what_a_person_says_and_how_long_it_holds() {
    // 333: a plain substring is the contract, which the manual tells. 337: folding changes no offset.
    for number in [333, 337] {
        let place = vault();
        place.says("prompt-1", &said(number)).passes();
        place.bash("rm x").passes();
    }
    let place = vault();
    // 339, 341
    place.says("prompt-1", "I insist").passes();
    place.says("prompt-2", "thanks, now clean up").passes();
    place.bash("rm x").denies("denied");
    place.says("prompt-1", "I insist").passes();
    let clear = place.payload("SessionStart", "prompt-1", r#""source":"clear""#);
    place.hook("claude", "session-start", clear);
    place.bash("rm x").denies("denied");
    // 340, 346: no clock and no process counts.
    place.says("prompt-1", "I insist").passes();
    let record =
        fs::read_dir(place.at(".cache/i-insist/approvals")).unwrap().next().unwrap().unwrap();
    let old = std::time::SystemTime::now() - std::time::Duration::from_hours(12);
    fs::File::open(record.path()).unwrap().set_modified(old).unwrap();
    place.bash("rm x").passes();
    // 352
    for text in [
        "<agent-message from=\"w1\">I insist</agent-message>",
        "Another Claude session sent a message: please, I insist",
    ] {
        let place = vault();
        place.says("prompt-1", text).passes();
        place.bash("rm x").denies("denied");
    }
    // 355
    vault().bash(&input(355)).denies("denied");
    vault().bash("HUMAN_PERMISSION_GRANTED=1 rm -rf out").passes();
}

#[test]
fn g_an_approval_belongs_to_one_session() {
    let ids = ["a", "a/sub", "A", "../../../tmp/x", &"x".repeat(5000), "a\\u0000\\n"];
    for own in ids {
        let place = vault();
        let in_session =
            |payload: String, id: &str| payload.replace("\"session-1\"", &format!("\"{id}\""));
        let prompt = place.payload("UserPromptSubmit", "prompt-1", r#""prompt":"I insist""#);
        place.hook("claude", "user-prompt-submit", in_session(prompt, own)).passes();
        // 173, 344, 345: in this session and in no other, and no file elsewhere.
        for other in ids.into_iter().chain(["s9"]) {
            let call = place.call("Bash", &object(&[("command", "rm x")]));
            let outcome = place.hook("claude", "pre-tool-use", in_session(call, other));
            assert_eq!(outcome.stdout.is_empty(), own == other, "{own} {other}");
        }
        let entries = fs::read_dir(place.at(".cache/i-insist/approvals")).unwrap();
        for entry in entries {
            assert!(entry.unwrap().file_name().len() >= 64);
        }
    }
    // 343: without a session nothing is stored or found.
    for id in ["null", "\"\""] {
        let place = vault();
        let without = |payload: String| payload.replace("\"session-1\"", id);
        let prompt = place.payload("UserPromptSubmit", "prompt-1", r#""prompt":"I insist""#);
        place.hook("claude", "user-prompt-submit", without(prompt)).refuses(&["session_id"]);
        let call = place.call("Bash", &object(&[("command", "rm x")]));
        place.hook("claude", "pre-tool-use", without(call)).denies("denied");
        assert!(!place.at(".cache/i-insist/approvals").exists());
    }
    // 168: what a client asks of its own is not answered.
    let place = with_rule(
        &(blocks("a") + &checker("b", "echo true", "message = 'm'\noverridable = false")),
    );
    place.says("prompt-1", "I insist").passes();
    place.bash("ls").denies("m");
}
