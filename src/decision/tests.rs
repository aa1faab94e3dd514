use super::*;
use crate::event::{Kind, Phase};
use crate::rules::{guard, steer};
use crate::shell;
use std::path::{Path, PathBuf};

/// Checkers that answer by the id of their rule, and remember that they were asked.
#[derive(Default)]
struct Answers {
    verdicts: Vec<(&'static str, Verdict)>,
    asked: Vec<String>,
}

impl Checkers for Answers {
    fn ask(&mut self, rule: &Rule) -> Verdict {
        self.asked.push(rule.id.clone());
        let known = self.verdicts.iter().find(|(id, _)| *id == rule.id);
        known.map_or(Verdict::Pass, |(_, verdict)| verdict.clone())
    }

    fn could_block(&mut self, _: &Rule) -> bool {
        true
    }
}

/// These programs are on PATH.
struct OnPath(&'static [&'static str]);

impl Programs for OnPath {
    fn finds(&self, name: &str) -> bool {
        self.0.contains(&name)
    }
}

fn guard_rules(text: &str) -> Vec<Rule> {
    let directory = Path::new("/d");
    guard::read(Path::new("g.toml"), directory, text.as_bytes(), guard::Scope::User).unwrap().rules
}

fn steer_rules(text: &str) -> Vec<Rule> {
    steer::read(Path::new("s.toml"), text.as_bytes()).unwrap().rules
}

/// A rule that acts on every segment with head `zap`.
fn acting(id: &str, action: &str) -> String {
    format!(
        "[[rules]]\nid = '{id}'\n[[rules.match]]\nany = 'parsed.segments'\nhead = {{ any_of = ['zap'] }}\n\
         [rules.action]\n{action}\n"
    )
}

/// The action of this kind that says its own name.
fn saying(id: &str, kind: &str) -> String {
    let edit = if kind == "rewrite" { "replace_head = 'zip'\n" } else { "" };
    acting(id, &format!("kind = '{kind}'\n{edit}message = '{id}'"))
}

fn checking(id: &str) -> String {
    format!("[[rules]]\nid = '{id}'\nchecker = ['x']\n")
}

/// A shell call whose input is this JSON object.
fn call_of(input: &str) -> Event<'static> {
    let mut event = Event::new(Kind::Shell, "claude", "Bash", PathBuf::from("/w"));
    event.tool_input = Json::parse(input).unwrap().into_owned();
    let command = event.tool_input.get("command").unwrap().as_str().unwrap();
    event.command = Some(command.to_owned().into());
    event
}

fn call(command: &str) -> Event<'static> {
    call_of(&Json::object([("command", Json::string(command.to_owned()))]).to_text())
}

fn parse(command: &str) -> Parsed {
    shell::parse(command, &shell::Options::default())
}

struct Case {
    rules: Vec<Rule>,
    answers: Answers,
    approval: Approval,
}

impl Case {
    fn new(rules: Vec<Rule>) -> Self {
        Self { rules, answers: Answers::default(), approval: Approval::None }
    }

    fn of(text: &str) -> Self {
        Self::new(guard_rules(text))
    }

    fn blocked_by(mut self, id: &'static str, message: &str) -> Self {
        let verdict = Verdict::Block(message.to_owned());
        self.answers.verdicts.push((id, verdict));
        self
    }

    fn approved(mut self) -> Self {
        self.approval = Approval::Granted;
        self
    }

    fn decide(&mut self, event: &Event<'_>) -> Decision {
        let parsed = event.command.as_deref().map(parse);
        let call = Call {
            event,
            shell: parsed.as_ref(),
            approval: self.approval,
            spelling: Spelling::Guard,
        };
        decide(&call, &self.rules, &mut self.answers, &OnPath(&["zip", "trash"]))
    }
}

#[test]
fn deny_over_ask_over_rewrite_over_context_over_allow() {
    let kinds = [
        ("deny", Strength::Deny),
        ("ask", Strength::Ask),
        ("rewrite", Strength::Rewrite),
        ("context", Strength::Context),
    ];
    for (one, strength) in kinds {
        for (other, other_strength) in kinds {
            let text = saying("a", one) + &saying("b", other);
            for rules in [guard_rules(&text), steer_rules(&text)] {
                let decision = Case::new(rules).decide(&call("zap x"));
                let stronger = strength.max(other_strength);
                assert_eq!(decision.strength, stronger, "{one} and {other}");
                let rewrites = stronger == Strength::Rewrite;
                assert_eq!(decision.input.is_some(), rewrites, "{one} and {other}");
            }
        }
        let decision = Case::of(&saying("a", one)).decide(&call("echo zap"));
        assert_eq!(decision.strength, Strength::Allow);
    }
}

#[test]
fn guard_rules_are_one_ordered_search_that_the_first_block_ends() {
    let text = checking("a") + &checking("b") + &saying("c", "deny") + &checking("d");
    let judge = |case: Case| {
        let mut case = case;
        let decision = case.decide(&call("zap"));
        let spoken: Vec<String> = decision.spoken.iter().map(|one| one.rule.clone()).collect();
        (case.answers.asked.join(" "), spoken.join(" "), decision.message())
    };
    let is = |asked: &str, spoken: &str, message: &str| {
        (asked.to_owned(), spoken.to_owned(), message.to_owned())
    };
    assert_eq!(judge(Case::of(&text)), is("a b", "c", "c"));
    // The message is the checker's, to the byte.
    let case = Case::of(&text).blocked_by("a", " no\n\n");
    assert_eq!(judge(case), is("a", "a", " no\n\n"));
    let case = Case::of(&text).blocked_by("b", "no").blocked_by("d", "nor");
    assert_eq!(judge(case), is("a b", "b", "no"));
}

#[test]
fn an_ask_or_a_context_does_not_end_the_search() {
    let text = saying("a", "ask") + &saying("b", "context") + &saying("c", "deny");
    let decision = Case::of(&text).decide(&call("zap"));
    assert_eq!(decision.strength, Strength::Deny);
    assert_eq!(decision.message(), "c\n\na\n\nb");
}

#[test]
fn what_stands_behind_a_block_is_not_heard_in_guard_files_and_is_in_steers() {
    let text = saying("a", "deny") + &saying("b", "context") + &saying("c", "deny");
    assert_eq!(Case::of(&text).decide(&call("zap")).message(), "a");
    let decision = Case::new(steer_rules(&text)).decide(&call("zap"));
    assert_eq!(decision.message(), "a\n\nc\n\nb");
}

#[test]
fn a_denial_lists_the_guard_message_first_then_steers() {
    let mut rules = guard_rules(&(checking("g") + &saying("unheard", "deny")));
    rules.extend(steer_rules(&(saying("c", "context") + &saying("s", "deny"))));
    let mut case = Case::new(rules).blocked_by("g", "guard");
    assert_eq!(case.decide(&call("zap")).message(), "guard\n\ns\n\nc");
    // Also where the guard's word is the weaker one, the stronger decides.
    let mut rules = guard_rules(&saying("g", "context"));
    rules.extend(steer_rules(&saying("s", "deny")));
    let decision = Case::new(rules).decide(&call("zap"));
    assert_eq!(decision.message(), "s\n\ng");
}

#[test]
fn messages_are_joined_trimmed_and_empty_ones_dropped() {
    let deny =
        |id: &str, message: &str| acting(id, &format!("kind = 'deny'\nmessage = \"{message}\""));
    let text = deny("a", "  one\\n") + &deny("b", "") + &deny("c", "\\n two");
    let decision = Case::new(steer_rules(&text)).decide(&call("zap"));
    assert_eq!(decision.message(), "one\n\ntwo");
}

#[test]
fn the_message_and_the_gate_are_the_harnesss() {
    let rules = acting("a", "kind = 'deny'\nmessage = { claude = 'C', codex = 'X' }");
    for (harness, message) in [("claude", "C"), ("codex", "X"), ("pi", ""), ("", "C")] {
        let mut event = call("zap");
        event.harness = harness.to_owned().into();
        let decision = Case::of(&rules).decide(&event);
        assert_eq!(decision.message(), message, "{harness}");
        let denied = decision.strength == Strength::Deny;
        assert_eq!(denied, !message.is_empty(), "{harness}");
    }
}

#[test]
fn approval_skips_what_is_overridable_and_keeps_context() {
    let text = checking("a")
        + &saying("b", "deny")
        + &saying("c", "ask")
        + &saying("d", "rewrite")
        + &saying("e", "context");
    let mut case = Case::of(&text).blocked_by("a", "no").approved();
    let decision = case.decide(&call("zap"));
    assert_eq!(decision.strength, Strength::Context);
    assert_eq!(decision.message(), "e");
    assert_eq!(decision.overridden, ["a", "b", "c", "d"]);
    assert!(case.answers.asked.is_empty());

    let firm = text.replace("]]\nid", "]]\noverridable = false\nid");
    let mut case = Case::of(&firm).blocked_by("a", "no").approved();
    let decision = case.decide(&call("zap"));
    assert_eq!(decision.message(), "no");
    assert_eq!(decision.overridden, Vec::<String>::new());
    assert!(!decision.spoken[0].overridable);
}

#[test]
fn a_rule_that_is_off_or_does_not_look_at_the_call_says_nothing() {
    let rule = saying("a", "deny");
    let with = |key: &str| rule.replace("id =", &format!("{key}\nid ="));
    let judge = |text: &str, event: &Event<'_>| Case::of(text).decide(event).strength;
    let event = call("zap");
    for (key, speaks) in [
        ("enabled = false", false),
        ("tool = 'Bash'", true),
        ("tool = ['Read', 'Bash']", true),
        ("tool = 'bash'", false),
        ("kind = 'shell'", true),
        ("kind = 'other'", false),
        ("harness = 'claude'", true),
        ("harness = 'codex'", false),
        ("agents = ['claude']", true),
    ] {
        let expected = if speaks { Strength::Deny } else { Strength::Allow };
        assert_eq!(judge(&with(key), &event), expected, "{key}");
    }
    // The common name of a tool counts in every harness.
    let mut event = call("zap");
    event.tool_name = "run_shell_command".into();
    assert_eq!(judge(&with("tool = 'Bash'"), &event), Strength::Deny);
    event.canonical_tool = "run_shell_command".into();
    assert_eq!(judge(&with("tool = 'Bash'"), &event), Strength::Allow);
}

#[test]
fn a_rule_is_asked_in_its_phase() {
    let late = saying("a", "context").replace("id =", "phase = 'post'\nid =");
    let mut after = call("zap");
    after.phase = Phase::Post;
    let said = |rules: Vec<Rule>, event: &Event<'_>| Case::new(rules).decide(event).message();
    assert_eq!(said(guard_rules(&late), &after), "a");
    assert_eq!(said(guard_rules(&late), &call("zap")), "");
    assert_eq!(said(guard_rules(&saying("a", "context")), &after), "");
    // In guard spelling a steer context without a phase is not given twice.
    assert_eq!(said(steer_rules(&saying("a", "context")), &after), "");
    assert_eq!(said(steer_rules(&saying("a", "context")), &call("zap")), "a");
}

#[test]
fn a_checker_with_match_is_asked_only_when_the_match_holds() {
    let text =
        "[[rules]]\nid = 'a'\nchecker = ['x']\n[[rules.match]]\ncommand = { glob = ['zap*'] }\n";
    for (command, asked) in [("zap", 1), ("zip", 0)] {
        let mut case = Case::of(text);
        case.decide(&call(command));
        assert_eq!(case.answers.asked.len(), asked, "{command}");
    }
}

#[test]
fn a_checker_that_fails_blocks_and_ends_the_search() {
    let mut case = Case::of(&(checking("a") + &checking("b")));
    let broken = Verdict::Broken("it broke".to_owned());
    case.answers.verdicts.push(("a", broken));
    let decision = case.decide(&call("zap"));
    assert!(decision.failed);
    assert_eq!((decision.strength, decision.message().as_str()), (Strength::Deny, "it broke"));
    assert_eq!(case.answers.asked, ["a"]);
}

// Rewrites.

/// Heads and arguments of the commands on the line.
fn words(command: &str) -> Vec<String> {
    let parsed = parse(command);
    let line = |segment: &crate::shell::Segment| {
        let mut words = vec![segment.head.clone()];
        words.extend(segment.args.iter().cloned());
        words.join("|")
    };
    parsed.segments.iter().map(line).collect()
}

/// The rule for `rm` that the tables below use.
const TRASH: &str = "kind = 'rewrite'\nreplace_head = 'trash'\ndrop_args = ['-r', '-f', '-rf']";

fn rewrite(action: &str, command: &str) -> Decision {
    let text = acting("a", action).replace("'zap'", "'rm'");
    Case::of(&text).decide(&call(command))
}

fn new_command(decision: &Decision) -> Option<&str> {
    decision.input.as_ref()?.get("command")?.as_str()
}

/// A command, what it becomes, and how that is read again.
const REWRITES: &[(&str, &str, &[&str])] = &[
    ("rm x", "trash x", &["trash|x"]),
    ("  rm   -rf\t x  ", "  trash\t x  ", &["trash|x"]),
    ("'rm' \"-r\" x", "trash x", &["trash|x"]),
    ("r\\m -r\\f 'a b' \"c$D\"", "trash 'a b' \"c$D\"", &["trash|a b|c$D"]),
    ("/bin/rm -rf x # rm -rf y", "trash x # rm -rf y", &["trash|x"]),
    ("rm\\\n  -rf \\\n  x", "trash \\\n  x", &["trash|x"]),
    ("rm a; ls; rm -f b", "trash a; ls; trash b", &["trash|a", "ls", "trash|b"]),
    (
        "cd d && rm -r -f a -r || rm b",
        "cd d && trash a || trash b",
        &["cd|d", "trash|a", "trash|b"],
    ),
    ("ls | xargs -0 rm -rf", "ls | xargs -0 trash", &["ls", "trash"]),
    ("X=1 sudo -u me rm -rf x", "X=1 sudo -u me trash x", &["trash|x"]),
    ("if rm a; then (rm -r b); fi", "if trash a; then (trash b); fi", &["trash|a", "trash|b"]),
    ("rm -rf x >log 2>&1 <in", "trash x >log 2>&1 <in", &["trash|x"]),
    (
        "rm -rf x <<E; rm y\nrm -rf z\nE\nrm -f w",
        "trash x <<E; trash y\nrm -rf z\nE\ntrash w",
        &["trash|x", "trash|y", "trash|w"],
    ),
    (
        "echo 'rm -rf x' \"rm\" && rm é ü",
        "echo 'rm -rf x' \"rm\" && trash é ü",
        &["echo|rm -rf x|rm", "trash|é|ü"],
    ),
    // What stands in a script or a substitution has no place; the rest is edited.
    (
        "rm $(rm x); bash -c 'rm y'",
        "trash $(rm x); bash -c 'rm y'",
        &["trash|", "rm|x", "bash|-c|rm y", "rm|y"],
    ),
    // Flags in one word are no entry; neither is an operand behind `--`.
    ("rm -rfv -fr x", "trash -rfv -fr x", &["trash|-rfv|-fr|x"]),
    ("rm -r -- -f -r", "trash -- -f -r", &["trash|--|-f|-r"]),
    ("rm -- -f; rm -f", "trash -- -f; trash", &["trash|--|-f", "trash"]),
    // A text that breaks off is edited where it runs.
    ("rm -rf x\necho \"a", "trash x\necho \"a", &["trash|x", "echo|a"]),
    ("rm -rf x; cat <<E", "trash x; cat <<E", &["trash|x", "cat"]),
];

#[test]
fn every_byte_that_no_edit_names_stays() {
    for (before, after, read_again) in REWRITES {
        let decision = rewrite(TRASH, before);
        assert_eq!(new_command(&decision), Some(*after), "{before:?}");
        let again = words(after);
        if !before.ends_with("\"a") {
            assert_eq!(again, *read_again, "{after:?}");
        }
        assert_eq!(decision.held, []);
    }
}

#[test]
fn arguments_are_added_in_front_of_the_double_dash() {
    let action = "kind = 'rewrite'\nadd_args = ['-i', 'a b', \"it's\"]";
    for (before, after) in [
        ("rm", "rm -i 'a b' 'it'\\''s'"),
        ("rm x y >o; ls", "rm x y -i 'a b' 'it'\\''s' >o; ls"),
        ("rm -f -- x", "rm -f -i 'a b' 'it'\\''s' -- x"),
        ("rm -- x", "rm -i 'a b' 'it'\\''s' -- x"),
        ("rm x | cat", "rm x -i 'a b' 'it'\\''s' | cat"),
    ] {
        assert_eq!(new_command(&rewrite(action, before)), Some(after), "{before:?}");
        assert!(words(after)[0].contains("|-i|a b|it's"));
    }
    let both = "kind = 'rewrite'\nreplace_head = 'trash'\ndrop_args = ['-f']\nadd_args = ['-v']";
    for (before, after) in
        [("rm -f", "trash -v"), ("rm a -f", "trash a -v"), ("rm -f -- a", "trash -v -- a")]
    {
        assert_eq!(new_command(&rewrite(both, before)), Some(after), "{before:?}");
    }
}

#[test]
fn a_head_that_needs_quotes_gets_them() {
    let text = acting("a", "kind = 'rewrite'\nreplace_head = 'my trash'").replace("'zap'", "'rm'");
    let rules = guard_rules(&text);
    let event = call("rm x");
    let parsed = parse("rm x");
    let call = Call {
        event: &event,
        shell: Some(&parsed),
        approval: Approval::None,
        spelling: Spelling::Guard,
    };
    let decision = decide(&call, &rules, &mut Answers::default(), &OnPath(&["my trash"]));
    assert_eq!(new_command(&decision), Some("'my trash' x"));
    assert_eq!(words("'my trash' x"), ["my trash|x"]);
}

#[test]
fn edits_of_several_rules_are_made_together() {
    let rule =
        |id: &str, edit: &str| acting(id, &format!("kind = 'rewrite'\n{edit}\nmessage = '{id}'"));
    for (rules, before, after, message) in [
        (
            rule("a", "replace_head = 'zip'") + &rule("b", "drop_args = ['-f']"),
            "zap -f x",
            "zip x",
            "a\n\nb",
        ),
        (
            rule("a", "drop_args = ['-f']") + &rule("b", "drop_args = ['-f', '-r']"),
            "zap -f -r x",
            "zap x",
            "a\n\nb",
        ),
        (
            rule("a", "add_args = ['-1']") + &rule("b", "add_args = ['-2']"),
            "zap x",
            "zap x -1 -2",
            "a\n\nb",
        ),
        (
            rule("a", "drop_args = ['x']") + &rule("b", "add_args = ['-2']"),
            "zap x",
            "zap -2",
            "a\n\nb",
        ),
        (
            rule("a", "add_args = ['-1']") + &rule("b", "set = { timeout = 5 }"),
            "zap",
            "zap -1",
            "a\n\nb",
        ),
    ] {
        let decision = Case::of(&rules).decide(&call(before));
        assert_eq!(new_command(&decision), Some(after), "{before:?}");
        assert_eq!(decision.message(), message);
    }
}

#[test]
fn the_complete_input_goes_back_in_its_order() {
    let input = r#"{"timeout":1.50,"description":"d\u00e9","command":"zap x","more":{"b":[1,null],"a":true}}"#;
    let judge = |action: &str| {
        let decision = Case::of(&acting("a", action)).decide(&call_of(input));
        decision.input.unwrap().to_text()
    };
    assert_eq!(
        judge("kind = 'rewrite'\nreplace_head = 'zip'"),
        r#"{"timeout":1.50,"description":"dé","command":"zip x","more":{"b":[1,null],"a":true}}"#
    );
    assert_eq!(
        judge(
            "kind = 'rewrite'\nset = { timeout = 60, run_in_background = false, more = { c = ['x'] } }"
        ),
        r#"{"timeout":60,"description":"dé","command":"zap x","more":{"c":["x"]},"run_in_background":false}"#
    );
    assert_eq!(
        judge("kind = 'rewrite'\nreplace_head = 'zip'\nset = { timeout = 60 }"),
        r#"{"timeout":60,"description":"dé","command":"zip x","more":{"b":[1,null],"a":true}}"#
    );
}

#[test]
fn set_works_with_every_tool() {
    let text = "[[rules]]\nid = 'a'\ntool = 'Read'\n[[rules.match]]\nfile_path = { glob = ['*.lock'] }\n\
                [rules.action]\nkind = 'rewrite'\nset = { limit = 10 }\n";
    let mut event = Event::new(Kind::Other, "claude", "Read", PathBuf::from("/w"));
    event.tool_input = Json::parse(r#"{"file_path":"/a.lock"}"#).unwrap();
    let decision = Case::of(text).decide(&event);
    let input = decision.input.unwrap().to_text();
    assert_eq!(input, r#"{"file_path":"/a.lock","limit":10}"#);
}

#[test]
fn set_reaches_the_field_by_the_name_that_the_tool_has_for_it() {
    let text = "[[rules]]\nid = 'a'\n[[rules.match]]\ntool_name = { exists = true }\n\
                [rules.action]\nkind = 'rewrite'\nset = { file_path = '/b' }\n";
    let set = |tool: &'static str, input: &str| {
        let mut event = Event::new(Kind::FileWrite, "pi", tool, PathBuf::from("/w"));
        event.canonical_tool = "Write".into();
        event.tool_input = Json::parse(input).unwrap().into_owned();
        let input = Case::of(text).decide(&event).input;
        input.map_or("held".to_owned(), |input| input.to_text())
    };
    assert_eq!(set("Write", r#"{"file_path":"/a"}"#), r#"{"file_path":"/b"}"#);
    assert_eq!(set("write", r#"{"path":"/a"}"#), r#"{"path":"/b"}"#);
    let decoy = r#"{"path":"/a","file_path":"/a"}"#;
    assert_eq!(set("write", decoy), r#"{"path":"/b","file_path":"/a"}"#);
    assert_eq!(set("apply_patch", r#"{"command":"*** Begin Patch"}"#), "held");
}

#[test]
fn a_rewrite_is_held_back_where_it_cannot_be_made() {
    let missing =
        "kind = 'rewrite'\nreplace_head = 'nowhere'\nset = { timeout = 1 }\nmessage = 'm'";
    for (action, command, reason) in [
        (missing, "rm x", "`nowhere` is not on PATH"),
        (TRASH, "bash -c 'rm -rf x'", Held::NoPlace.to_string().as_str()),
        (TRASH, "echo $(rm x) `rm y`", Held::NoPlace.to_string().as_str()),
        (TRASH, "eval rm x", Held::NoPlace.to_string().as_str()),
        (TRASH, "bash <<E\nrm x\nE", Held::NoPlace.to_string().as_str()),
    ] {
        let decision = rewrite(action, command);
        assert_eq!(decision.strength, Strength::Allow, "{command:?}");
        assert_eq!((decision.input, decision.spoken), (None, Vec::new()));
        let held: Vec<(&str, String)> =
            decision.held.iter().map(|(rule, held)| (rule.as_str(), held.to_string())).collect();
        assert_eq!(held, [("a", reason.to_owned())], "{command:?}");
    }
    // Bound to something else than segments, it names no word.
    let text =
        "[[rules]]\nid = 'a'\n[[rules.match]]\ncommand = { glob = ['rm*'] }\n[rules.action]\n"
            .to_owned()
            + TRASH;
    let decision = Case::of(&text).decide(&call("rm x"));
    assert_eq!(decision.held, [("a".to_owned(), Held::NoPlace)]);
    // Of two new heads the first counts; the second rule says nothing.
    let rule = |id: &str, head: &str| {
        acting(id, &format!("kind = 'rewrite'\nreplace_head = '{head}'\nmessage = '{id}'"))
    };
    let decision = Case::of(&(rule("a", "zip") + &rule("b", "trash"))).decide(&call("zap x"));
    assert_eq!(new_command(&decision), Some("zip x"));
    assert_eq!(decision.held, [("b".to_owned(), Held::Taken)]);
    assert_eq!(decision.message(), "a");
}

#[test]
fn a_rewrite_with_nothing_to_do_says_nothing() {
    let action = "kind = 'rewrite'\ndrop_args = ['-f']\nmessage = 'm'";
    let decision = rewrite(action, "rm x");
    assert_eq!(decision.strength, Strength::Allow);
    assert_eq!((decision.message(), decision.held), (String::new(), Vec::new()));
    assert_eq!(new_command(&rewrite(action, "rm -f x")), Some("rm x"));
}
