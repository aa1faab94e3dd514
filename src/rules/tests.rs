//! Tables: every key with its default, every problem with its words.

use super::guard::{self, GuardFile, Scope};
use super::steer::{self, Fate, SteerFile};
use super::*;
use crate::matching::{Binding, Operator, Path as Dotted};

/// All problems of a file as one text.
fn report(problems: &[Diagnostic]) -> String {
    let lines = problems.iter().map(|problem| format!("\n{problem}"));
    "invalid configuration:".to_owned() + &lines.collect::<String>()
}

fn guard(text: &str) -> Result<GuardFile, Vec<Diagnostic>> {
    guard::read(Path::new("g.toml"), Path::new("/home/.i-insist"), text.as_bytes(), Scope::User)
}

fn steer(text: &str) -> Result<SteerFile, Vec<Diagnostic>> {
    steer::read(Path::new("/repo/.steer.toml"), text.as_bytes())
}

fn one(text: &str) -> Rule {
    let mut rules =
        guard(text).unwrap_or_else(|problems| panic!("{text}\n{}", report(&problems))).rules;
    assert_eq!(rules.len(), 1, "{text}");
    rules.remove(0)
}

/// A rule with an action, `extra` among its own keys and `action` in its action.
fn acting(extra: &str, action: &str) -> String {
    format!("[[rules]]\nid = 'r'\n{extra}\n[[rules.match]]\nhead.any_of = ['x']\n[rules.action]\n{action}\n")
        .replace("head.any_of = ['x']", "head = { any_of = ['x'] }")
}

fn problems<T>(read: Result<T, Vec<Diagnostic>>) -> Vec<String> {
    let list = read.err().unwrap_or_default();
    list.iter()
        .map(|problem| {
            format!("{}:{} {}", problem.place.line, problem.place.column, problem.message)
        })
        .collect()
}

#[track_caller]
fn refused(text: &str, expected: &[&str]) {
    assert_eq!(problems(guard(text)), expected, "{text}");
}

const DENY: &str = "kind = 'deny'\nmessage = 'm'";

#[test]
fn defaults_of_a_checker_rule() {
    let rule = one("\n[[rules]]\nid = 'team/vault'\nchecker = ['python3', '../check.py']\n");
    assert_eq!(rule.id, "team/vault");
    assert_eq!(rule.description, None);
    assert_eq!(rule.place.to_string(), "g.toml:2:3");
    assert_eq!(*rule.directory, *Path::new("/home/.i-insist"));
    assert_eq!(rule.layer, Layer::Guard);
    assert!(rule.enabled && rule.overridable);
    assert_eq!(rule.when, When::At(Phase::Pre));
    assert_eq!(rule.gates, Gates::default());
    assert!(rule.matches.is_empty() && rule.tests.fires.is_empty());
    let argv = vec!["python3".to_owned(), "../check.py".to_owned()];
    assert_eq!(
        rule.effect,
        Effect::Checker { argv, timeout: Duration::from_secs(10), message: None }
    );
}

#[test]
fn every_key_of_a_rule_is_read() {
    let rule = one("
        [[rules]]
        name = 'n'
        description = 'why'
        enabled = false
        overridable = false
        phase = 'post'
        harness = ['claude', 'my-own']
        tool = 'Write'
        kind = 'file_edit'
        checker = ['check']
        timeout = 0.5
        message = 'no'
        [[rules.match]]
        'event.kind' = { any_of = ['shell'] }
        [rules.test]
        fires = ['a']
        ignores = ['b', 'c']
    ");
    assert_eq!((rule.id.as_str(), rule.description.as_deref()), ("n", Some("why")));
    assert!(!rule.enabled && !rule.overridable);
    assert_eq!(rule.when, When::At(Phase::Post));
    assert_eq!(rule.gates.harness, ["claude", "my-own"]);
    assert_eq!(rule.gates.tool, ["Write"]);
    assert_eq!(rule.gates.kind, Some(Kind::FileEdit));
    assert_eq!(rule.matches.len(), 1);
    let message = Some("no".to_owned());
    let argv = vec!["check".to_owned()];
    assert_eq!(rule.effect, Effect::Checker { argv, timeout: Duration::from_millis(500), message });
    assert_eq!(rule.tests.fires[0].1.to_string(), "g.toml:17:18");
    let ignores: Vec<_> = rule.tests.ignores.iter().map(|(line, _)| line.as_str()).collect();
    assert_eq!(ignores, ["b", "c"]);
    let own = one("[[rules]]\nid='a'\nharness='ai'\nchecker=['c']");
    assert_eq!(own.gates.harness, ["ai"]);
    assert_eq!(one("[[rules]]\nid='a'\nagents=['codex']\nchecker=['c']").gates.harness, ["codex"]);
    for (word, kind) in
        [("shell", Kind::Shell), ("file_write", Kind::FileWrite), ("other", Kind::Other)]
    {
        assert_eq!(one(&acting(&format!("kind = '{word}'"), DENY)).gates.kind, Some(kind));
    }
    assert_eq!(one(&acting("tool = ['Write', 'Edit']", DENY)).gates.tool, ["Write", "Edit"]);
}

#[test]
fn every_action_is_read() {
    let message = Message::Text("m".to_owned());
    assert_eq!(one(&acting("", DENY)).effect, Effect::Deny { message: message.clone() });
    assert_eq!(
        one(&acting("", "kind='ask'\nmessage='m'")).effect,
        Effect::Ask { message: message.clone() }
    );
    let context = one(&acting("phase = 'post'", "kind='context'\nmessage='m'"));
    assert_eq!(context.effect, Effect::Context { message: message.clone() });
    assert_eq!(context.when, When::At(Phase::Post));
    let rewrite = "kind='rewrite'\nreplace_head='trash'\ndrop_args=['-r']\nadd_args=['-v']\nmessage='m'\n\
        set={ a = 'x', b = [1, 1.5, 2.0, true], c = { d = 1 } }";
    let Effect::Rewrite { replace_head, drop_args, add_args, set, message: said } =
        one(&acting("", rewrite)).effect
    else {
        panic!("no rewrite")
    };
    assert_eq!(replace_head.as_deref(), Some("trash"));
    assert_eq!(
        (drop_args, add_args, said),
        (vec!["-r".to_owned()], vec!["-v".to_owned()], Some(message))
    );
    let number = |text: &'static str| Json::Number(text.into());
    let expected = [
        ("a", Json::String("x".into())),
        ("b", Json::Array(vec![number("1"), number("1.5"), number("2.0"), Json::Bool(true)])),
        ("c", Json::Object(vec![("d".into(), number("1"))])),
    ];
    assert_eq!(set, expected.map(|(name, value)| (name.to_owned(), value)));
    let least = one(&acting("", "kind='rewrite'\nadd_args=[]")).effect;
    let (drop_args, add_args, set) = (vec![], vec![], vec![]);
    assert_eq!(
        least,
        Effect::Rewrite { replace_head: None, drop_args, add_args, set, message: None }
    );
}

#[test]
fn a_message_by_harness_is_a_gate() {
    let rule = one(&acting("", "kind='deny'\nmessage={ claude = 'c', codex = 'x' }"));
    assert_eq!(rule.gates.harness, ["claude", "codex"]);
    let Effect::Deny { message } = rule.effect else { panic!("no denial") };
    assert_eq!((message.text("codex"), message.text("pi")), (Some("x"), None));
    assert_eq!(Message::Text("m".to_owned()).text("pi"), Some("m"));
}

#[test]
fn blocks_and_operators_are_read() {
    let rule = one("
        [[rules]]
        id = 'r'
        checker = ['c']
        [[rules.match]]
        any = 'parsed.segments'
        head = { any_of = ['a'], none_of = [] }
        'args.0' = { glob = ['x*/y', '{a,b}'], none_glob = ['*'] }
        [[rules.match]]
        all = 'tags'
        '' = { matches = 'a+', not_matches = '\\bx' }
        [[rules.match]]
        a = { is = true, exists = false }
        [rules.match.b]
        is = false
    ");
    let bindings: Vec<_> = rule.matches.iter().map(|block| block.binding.clone()).collect();
    let path = Dotted::new;
    assert_eq!(
        bindings,
        [Binding::Any(path("parsed.segments")), Binding::All(path("tags")), Binding::Root]
    );
    let conditions: Vec<_> = rule.matches.iter().flat_map(|block| &block.conditions).collect();
    let paths: Vec<_> = conditions.iter().map(|condition| condition.path.to_string()).collect();
    assert_eq!(paths, ["head", "args.0", "", "a", "b"]);
    assert!(
        matches!(&*conditions[0].operators, [Operator::AnyOf(any), Operator::NoneOf(none)] if any == &["a"] && none.is_empty())
    );
    let [Operator::Glob(globs), Operator::NoneGlob(none)] = &*conditions[1].operators else {
        panic!("no globs")
    };
    assert!(globs[0].matches("x/1/y") && globs[1].matches("b") && none.len() == 1);
    assert!(
        matches!(&*conditions[2].operators, [Operator::Matches(yes), Operator::NotMatches(no)] if yes.find("baa") == Some(1..3) && no.find("ax x") == Some(3..4))
    );
    assert!(matches!(*conditions[3].operators, [Operator::Is(true), Operator::Exists(false)]));
    assert!(matches!(*conditions[4].operators, [Operator::Is(false)]));
}

const RULE_PROBLEMS: &[(&str, &str)] = &[
    ("mesage = 'm'", "4:1 unknown field `mesage`, did you mean `message`?"),
    ("enabled = 'no'", "4:11 enabled must be a boolean, found a string"),
    ("overridable = 0", "4:15 overridable must be a boolean, found an integer"),
    ("timeout = 0", "4:11 timeout must be a positive finite number, found an integer"),
    ("timeout = -1.5", "4:11 timeout must be a positive finite number, found a float"),
    ("timeout = inf", "4:11 timeout must be a positive finite number, found a float"),
    ("timeout = nan", "4:11 timeout must be a positive finite number, found a float"),
    ("timeout = '1'", "4:11 timeout must be a positive finite number, found a string"),
    ("message = ' '", "4:11 message must be a nonempty string, found an empty string"),
    ("message = { claude = 'm' }", "4:11 message must be a nonempty string, found a table"),
    ("description = 1", "4:15 description must be a nonempty string, found an integer"),
    ("phase = 'Pre'", "4:9 unknown phase `Pre`, did you mean `pre`?"),
    ("phase = true", "4:9 phase must be one of `pre`, `post`, found a boolean"),
    (
        "kind = 'edit'",
        "4:8 unknown kind `edit`, one of `shell`, `file_write`, `file_edit`, `other`",
    ),
    ("kind = 'file-edit'", "4:8 unknown kind `file-edit`, did you mean `file_edit`?"),
    ("tool = []", "4:8 tool must be a nonempty string or a list of such, found an array"),
    ("tool = ['a', '']", "4:8 tool must be a nonempty string or a list of such, found an array"),
    (
        "tool = ['Read', 'mcp__*']",
        "4:17 `tool` names tools exactly; for a pattern, a match on `tool_name = { glob = [\"mcp__*\"] }`",
    ),
    ("harness = 1", "4:11 harness must be a nonempty string or a list of such, found an integer"),
    ("harness = 'claud'", "4:11 unknown harness `claud`, did you mean `claude`?"),
    (
        "harness = 'pi'\nagents = 'pi'",
        "1:3 `agents` means the same as `harness`, a rule has one of them",
    ),
    ("name = 'n'", "1:3 a rule has exactly one of `id` and `name`, found both"),
    (
        "action = { kind = 'deny', message = 'm' }",
        "1:3 a rule has either a `checker` or an `action`, found both",
    ),
    (
        "match = { a = { is = true } }",
        "4:9 match must be an array of tables, as `[[rules.match]]` makes it, found a table",
    ),
    ("match = []", "4:9 `match` needs at least one block"),
    (
        "match = ['x']",
        "4:9 match must be an array of tables, as `[[rules.match]]` makes it, found an array",
    ),
    ("test = 'x'", "4:8 test must be a table, found a string"),
    ("test = { fire = ['x'] }", "4:10 unknown field `fire`, did you mean `fires`?"),
    ("test = { fires = 'x' }", "4:18 fires must be an array of strings, found a string"),
    (
        "test = { rewrites = { a = 'b' } }",
        "4:21 `rewrites` belongs to a rule whose action is `rewrite`",
    ),
    ("test = { rewrites = { a = 1 } }", "4:27 rewrites.a must be a string, found an integer"),
    (
        "colour = 'red'",
        "4:1 unknown field `colour`, [[rules]] has `id`, `name`, `description`, `enabled`, `overridable`, `phase`, \
            `harness`, `agents`, `tool`, `kind`, `checker`, `timeout`, `message`, `match`, `action`, `test`",
    ),
];

#[test]
fn problems_of_a_rule() {
    let rule = |line: &str| format!("[[rules]]\nid = 'r'\nchecker = ['c']\n{line}\n");
    for (line, expected) in RULE_PROBLEMS {
        let found = problems(guard(&rule(line)));
        assert!(
            found.iter().any(|problem| problem == expected),
            "{line}: {found:?}, not {expected}"
        );
    }
    refused(
        "[[rules]]\nchecker = ['c']",
        &["1:3 a rule has exactly one of `id` and `name`, found neither"],
    );
    refused(
        "[[rules]]\nid = ''\nchecker = ['c']",
        &["2:6 id must be a nonempty string, found an empty string"],
    );
    refused(
        "[[rules]]\nid = 'r'",
        &["1:3 a rule has either a `checker` or an `action`, found neither"],
    );
    for argv in ["[]", "['']"] {
        let text = format!("[[rules]]\nid = 'r'\nchecker = {argv}");
        refused(&text, &["3:11 checker must be an array of strings that begins with a program"]);
    }
    refused(
        "[[rules]]\nid = 'r'\nchecker = 'c'",
        &["3:11 checker must be an array of strings, found a string"],
    );
    let twice = "[[rules]]\nid = 'r'\nchecker = ['c']\n[[rules]]\nname = 'r'\nchecker = ['c']";
    refused(twice, &["5:8 `name` `r` is taken by the rule in line 1"]);
    refused(
        "rules = 1",
        &["1:9 rules must be an array of tables, as `[[rules]]` makes it, found an integer"],
    );
}

const ACTION_PROBLEMS: &[(&str, &str)] = &[
    ("kind = 'deny'", "5:8 this action needs a `message`"),
    ("message = 'm'", "5:8 an action needs `kind`, one of `deny`, `ask`, `rewrite`, `context`"),
    (
        "kind = 'block'\nmessage = 'm'",
        "6:8 unknown kind `block`, one of `deny`, `ask`, `rewrite`, `context`",
    ),
    ("kind = 'denny'\nmessage = 'm'", "6:8 unknown kind `denny`, did you mean `deny`?"),
    (
        "kind = 'ask'\nmessage = ''",
        "7:11 message must be a nonempty string or a table of such by harness, found an empty string",
    ),
    (
        "kind = 'ask'\nmessage = {}",
        "7:11 message must be a nonempty string or a table of such by harness, found a table",
    ),
    (
        "kind = 'ask'\nmessage = { pi = 1 }",
        "7:18 message.pi must be a nonempty string, found an integer",
    ),
    (
        "kind = 'ask'\nmessage = { codx = 'm' }",
        "7:13 unknown harness `codx`, did you mean `codex`?",
    ),
    (
        "kind = 'deny'\nmessage = 'm'\nreplace_head = 'x'",
        "8:16 `replace_head` belongs to `rewrite`, and this action is `deny`",
    ),
    (
        "kind = 'context'\nmessage = 'm'\nset = {a = 1}",
        "8:7 `set` belongs to `rewrite`, and this action is `context`",
    ),
    (
        "kind = 'rewrite'",
        "5:8 a `rewrite` needs one of `replace_head`, `drop_args`, `add_args`, `set`",
    ),
    ("kind = 'rewrite'\nset = 1", "7:7 set must be a table of input fields, found an integer"),
    (
        "kind = 'rewrite'\nset = {a = 1979-05-27}",
        "7:12 set.a must be a value that JSON has, found a date or time",
    ),
    (
        "kind = 'rewrite'\nset = {a = nan}",
        "7:12 set.a must be a value that JSON has, found a float",
    ),
    (
        "kind = 'rewrite'\nreplace_head = ''",
        "7:16 replace_head must be a nonempty string, found an empty string",
    ),
    (
        "kind = 'rewrite'\ndrop_args = '-r'",
        "7:13 drop_args must be an array of strings, found a string",
    ),
];

#[test]
fn problems_of_an_action() {
    for (action, expected) in ACTION_PROBLEMS {
        let text = acting("", action).replace("\n\n", "\n");
        assert_eq!(problems(guard(&text)), [*expected], "{action}");
    }
    let misplaced = |extra: &str| problems(guard(&acting(extra, DENY)));
    assert_eq!(
        misplaced("timeout = 1"),
        ["3:11 `timeout` here belongs to a `checker`, and this rule has an `action`"]
    );
    assert_eq!(
        misplaced("message = 'm'"),
        ["3:11 `message` here belongs to a `checker`, and this rule has an `action`"]
    );
    assert_eq!(
        misplaced("phase = 'post'"),
        ["3:9 `deny` comes too late in phase `post`, which takes `context` or a `checker`"]
    );
    let both = problems(guard(&acting("harness = 'pi'", "kind = 'deny'\nmessage = { pi = 'm' }")));
    assert_eq!(
        both,
        ["1:3 the harnesses are named by `message`, so `harness` must not name them too"]
    );
    let unmatched = "[[rules]]\nid = 'r'\n[rules.action]\nkind = 'deny'\nmessage = 'm'";
    refused(unmatched, &["1:3 a rule with an `action` needs at least one `[[rules.match]]`"]);
}

#[test]
fn problems_of_a_block() {
    let cases = [
        ("head = 'psql'", "5:8 head must be a table of operators, found a string"),
        ("ani = 'parsed.segments'", "5:1 ani must be a table of operators, or did you mean `any`?"),
        (
            "any = 'a'\nall = 'b'\nx = { is = true }",
            "4:9 a block binds to `any` or to `all`, found both",
        ),
        (
            "any = 'parsed.segments'\nhaed = { any_of = ['x'] }",
            "6:1 a segment has no field `haed`, did you mean `head`?",
        ),
        ("any = true\nx = { is = true }", "5:7 any must be a nonempty string, found a boolean"),
        ("any = 'a'", "4:9 a block needs at least one condition"),
        ("head = {}", "5:8 condition `head` needs at least one operator"),
        ("args.0 = { any_of = ['x'] }", "5:1 a dotted path stands in quotes: `\"args.0\"`"),
        ("head = { anyof = ['x'] }", "5:10 unknown field `anyof`, did you mean `any_of`?"),
        ("head = { any_of = 'x' }", "5:19 any_of must be an array of strings, found a string"),
        ("head = { none_of = [1] }", "5:20 none_of must be an array of strings, found an array"),
        ("head = { matches = ['x'] }", "5:20 matches must be a string, found an array"),
        ("head = { is = 'true' }", "5:15 is must be a boolean, found a string"),
        ("head = { exists = 1 }", "5:19 exists must be a boolean, found an integer"),
        (
            "head = { glob = ['ok', 'x\\'] }",
            "5:24 `glob`: invalid glob at byte 1: `\\` stands at the end; write `\\\\` for the sign itself",
        ),
        (
            "head = { not_matches = '(?=x)' }",
            "5:24 `not_matches`: invalid regex at byte 0: look-around is not supported: matching time must stay linear in the text; use a second condition (`not_matches`) instead",
        ),
        (
            "head = { none_glob = ['{a'] }",
            "5:23 `none_glob`: invalid glob at byte 0: `{` has no closing `}`; write `\\{` for the sign itself",
        ),
        (
            "head = { matches = \"\\brm\" }",
            "5:20 control character U+0008 in a pattern; write the pattern between '…', where TOML leaves backslashes alone",
        ),
        (
            "head = { glob = [\"\\u001b\"] }",
            "5:18 control character U+001B in a pattern; write the pattern between '…', where TOML leaves backslashes alone",
        ),
    ];
    for (lines, expected) in cases {
        let text = format!("[[rules]]\nid = 'r'\nchecker = ['c']\n[[rules.match]]\n{lines}\n");
        assert_eq!(problems(guard(&text)), [expected], "{lines}");
    }
    // A line end or a tab means the same as its escape.
    one("[[rules]]\nid = 'r'\nchecker = ['c']\n[[rules.match]]\nx = { matches = \"a\\tb\\n\" }");
}

#[test]
fn keys_that_slid_into_a_sub_table() {
    let slid = |line: &str| problems(guard(&(acting("", DENY).replace("\n\n", "\n") + line)));
    let words = |key: &str, owner: &str, here: &str| {
        format!(
            "`{key}` belongs to {owner}, but standing behind {here} it is part of that; move it above"
        )
    };
    assert_eq!(
        slid("overridable = false"),
        ["8:1 ".to_owned() + &words("overridable", "[[rules]]", "[rules.action]")]
    );
    assert_eq!(
        slid("use = ['*']"),
        ["8:1 ".to_owned() + &words("use", "the top of the file", "[rules.action]")]
    );
    assert_eq!(
        slid("[rules.test]\nenabled = true"),
        ["9:1 ".to_owned() + &words("enabled", "[[rules]]", "[rules.test]")]
    );
    let block =
        "[[rules]]\nid = 'r'\nchecker = ['c']\n[[rules.match]]\nx = { is = true }\ntool = 'Bash'";
    refused(
        block,
        &[
            "6:1 `tool` belongs to [[rules]], but standing behind [[rules.match]] it is part of that; move it above",
        ],
    );
    refused(
        "[[rules]]\nid = 'r'\nchecker = ['c']\nuse = ['*']",
        &[
            "4:1 `use` belongs to the top of the file, but standing behind [[rules]] it is part of that; move it above",
        ],
    );
    let check = "[finish]\n[[finish.checks]]\ncommand = 'x'\nfail_fast = true\nuse = ['*']";
    assert_eq!(
        problems(guard(check)),
        [
            "4:1 ".to_owned() + &words("fail_fast", "[finish]", "[[finish.checks]]"),
            "5:1 ".to_owned() + &words("use", "the top of the file", "[[finish.checks]]"),
        ]
    );
    // Nothing slides into braces.
    let inline = "[[rules]]\nid = 'r'\nmatch = [{ x = { is = true } }]\naction = { kind = 'deny', message = 'm', enabled = true }";
    assert_eq!(
        problems(guard(inline)),
        [
            "4:42 unknown field `enabled`, [rules.action] has `kind`, `message`, `replace_head`, `drop_args`, `add_args`, `set`"
        ]
    );
}

#[test]
fn a_guard_file_is_read() {
    let text = "use = ['trash-over-rm', '*']
        [settings]
        require_trust = true
        announce = false
        shell_prefix = false
        wrappers = [{ name = 'mise-exec', value_options = ['-C'] }, { name = 'w' }]
        [finish]
        fail_fast = false
        max_retries = 0
        [[finish.checks]]
        name = 'Lint'
        command = 'lint'
        inputs = ['src/*.ts']
        timeout = 600
        [[finish.checks]]
        script = 'check.ts'";
    let file = guard(text).unwrap();
    assert!(file.rules.is_empty());
    assert_eq!(
        file.uses.iter().map(|(name, place)| format!("{name} {place}")).collect::<Vec<_>>(),
        ["trash-over-rm g.toml:1:8", "* g.toml:1:25"]
    );
    let wrapper = |name: &str, options: &[&str]| Wrapper {
        name: name.to_owned(),
        value_options: options.iter().map(|&option| option.to_owned()).collect(),
    };
    let strict = Settings {
        require_trust: true,
        announce: false,
        shell_prefix: false,
        wrappers: vec![wrapper("mise-exec", &["-C"]), wrapper("w", &[])],
    };
    assert_eq!(file.settings, strict);
    let finish = file.finish.unwrap();
    assert_eq!((finish.fail_fast, finish.max_retries), (false, 0));
    let [lint, script] = &*finish.checks else { panic!("two checks") };
    assert_eq!(
        (lint.name.as_deref(), &lint.program),
        (Some("Lint"), &Program::Command("lint".to_owned()))
    );
    assert_eq!((lint.timeout, lint.place.line), (Some(Duration::from_mins(10)), 10));
    let inputs = lint.inputs.as_ref().unwrap();
    assert!(inputs[0].matches("src/a.ts") && !inputs[0].matches("src/a/b.ts"));
    assert_eq!((&script.name, &script.program), (&None, &Program::Script("check.ts".into())));
    assert!(script.inputs.is_none() && script.timeout.is_none());

    let empty = guard("").unwrap();
    assert!(empty.rules.is_empty() && empty.finish.is_none() && empty.uses.is_empty());
    assert_eq!(
        empty.settings,
        Settings { require_trust: false, announce: true, shell_prefix: true, wrappers: vec![] }
    );
    let finish = guard("[finish]\n[[finish.checks]]\ncommand = 'x'").unwrap().finish.unwrap();
    assert_eq!((finish.fail_fast, finish.max_retries), (true, 3));

    let mut joined = Settings::default();
    joined.join(strict.clone());
    joined.join(Settings::default());
    assert_eq!(joined, strict);
}

const FILE_PROBLEMS: &[(&str, &[&str])] = &[
    ("a = ", &["1:5 invalid TOML: found the end of the text, expected a value"]),
    ("\n[rules", &["2:7 invalid TOML: found the end of the text, expected `]` behind the header"]),
    ("rule = []", &["1:1 unknown field `rule`, did you mean `rules`?"]),
    ("use = 'x'", &["1:7 use must be an array of strings, found a string"]),
    (
        "use = ['trash-over-mr']",
        &["1:8 unknown built-in rule `trash-over-mr`, did you mean `trash-over-rm`?"],
    ),
    (
        "use = ['protect-config']",
        &[
            "1:8 unknown built-in rule `protect-config`, there are `fff-over-grep`, `read-over-sed`, `edit-over-python`, `trash-over-rm` and `*` for all",
        ],
    ),
    ("[settings]\nannounce = 'no'", &["2:12 announce must be a boolean, found a string"]),
    ("[settings]\nshell_prefix = 0", &["2:16 shell_prefix must be a boolean, found an integer"]),
    (
        "[settings]\nrequire_thrust = true",
        &["2:1 unknown field `require_thrust`, did you mean `require_trust`?"],
    ),
    (
        "[settings]\nwrappers = ['x']",
        &[
            "2:12 wrappers must be an array of tables, as `[[settings.wrappers]]` makes it, found an array",
        ],
    ),
    ("[settings]\nwrappers = [{}]", &["2:13 a wrapper needs a `name`"]),
    ("settings = 1", &["1:12 settings must be a table, found an integer"]),
    ("finish = []", &["1:10 finish must be a table, found an array"]),
    ("[finish]", &["1:2 `[finish]` needs at least one `[[finish.checks]]`"]),
    (
        "[finish]\nchecks = [{ command = 'a', script = 'b' }]",
        &["2:11 a check has either a `command` or a `script`, found both"],
    ),
    (
        "[finish]\nchecks = [{ name = 'a' }]",
        &["2:11 a check has either a `command` or a `script`, found neither"],
    ),
    (
        "[finish]\nchecks = [{ command = ' ' }]",
        &["2:23 command must be a nonempty string, found an empty string"],
    ),
    (
        "[finish]\nmax_retries = -1\nchecks = [{ command = 'a' }]",
        &["2:15 max_retries must be a whole number from 0, found an integer"],
    ),
    (
        "[finish]\nchecks = [{ command = 'a', timeout = 0 }]",
        &["2:38 timeout must be a positive finite number, found an integer"],
    ),
    (
        "[finish]\nchecks = [{ command = 'a', inputs = ['['] }]",
        &[
            "2:38 `inputs`: invalid glob at byte 0: `[` has no closing `]`; write `\\[` for the sign itself",
        ],
    ),
    (
        "x = 1\n[[rules]]\ny = 1",
        &[
            "1:1 unknown field `x`, a guard file has `rules`, `finish`, `use`, `settings`",
            "2:3 a rule has exactly one of `id` and `name`, found neither",
            "2:3 a rule has either a `checker` or an `action`, found neither",
            "3:1 unknown field `y`, [[rules]] has `id`, `name`, `description`, `enabled`, `overridable`, `phase`, `harness`, \
                `agents`, `tool`, `kind`, `checker`, `timeout`, `message`, `match`, `action`, `test`",
        ],
    ),
];

#[test]
fn problems_of_a_guard_file() {
    for (text, expected) in FILE_PROBLEMS {
        refused(text, expected);
    }
    let disable = problems(guard("disable = ['x']"));
    assert_eq!(
        disable,
        ["1:1 unknown field `disable`, a guard file has `rules`, `finish`, `use`, `settings`"]
    );
    let local = guard::read(
        Path::new("g.toml"),
        Path::new("/r"),
        b"[settings]\nannounce = true",
        Scope::Repository,
    );
    assert_eq!(
        problems(local),
        ["1:2 `[settings]` counts only in `~/.i-insist` and in the system's directory"]
    );
    let found = guard("a = 1\nb = 2").unwrap_err();
    let text = report(&found);
    assert!(text.starts_with("invalid configuration:\ng.toml:1:1: unknown field `a`"), "{text}");
    assert_eq!(text.lines().count(), 3);
}

#[test]
fn long_and_wild_names_are_shown_tamely() {
    let text = format!("\"{}\\u001b\" = 1\n\"\\u001b[2J\" = 2", "x".repeat(100_000));
    let found = problems(guard(&text));
    assert!(found[0].contains(&format!("`{}…`", "x".repeat(40))), "{found:?}");
    assert!(found[1].contains("`\\u{1b}[2J`"), "{found:?}");
}

#[test]
fn a_steer_file_is_read() {
    let file = steer(
        &("disable = ['a', 'b']\n".to_owned()
            + &acting("agents = ['claude']", "kind='context'\nmessage=''")),
    )
    .unwrap();
    let names: Vec<_> = file.disable.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    let rule = &file.rules[0];
    assert_eq!((rule.layer, rule.when), (Layer::Steer, When::Either));
    assert_eq!(*rule.directory, *Path::new("/repo"));
    assert_eq!(rule.effect, Effect::Context { message: Message::Text(String::new()) });
    let when = |extra: &str, action: &str| steer(&acting(extra, action)).unwrap().rules[0].when;
    assert_eq!(when("phase = 'pre'", "kind='context'\nmessage='m'"), When::At(Phase::Pre));
    assert_eq!(when("", DENY), When::At(Phase::Pre));

    let refused = |text: &str| problems(steer(text));
    assert_eq!(
        refused("use = []"),
        ["1:1 unknown field `use`, a steer file has `rules`, `disable`"]
    );
    assert_eq!(
        refused("disable = 'x'"),
        ["1:11 disable must be an array of strings, found a string"]
    );
    assert_eq!(
        refused("[[rules]]\nid = 'r'\nchecker = ['c']"),
        ["3:11 `checker` is for rules in `.i-insist`, steer's rules have an `action`"]
    );
    assert_eq!(refused(&acting("phase = 'post'", DENY)).len(), 1);
}

#[test]
fn steer_files_lie_over_one_another() {
    let file = |name: &str, rules: &[&str], disable: &[&str]| {
        let mut text = format!("disable = {disable:?}\n");
        for id in rules {
            text += &acting("", DENY).replace("'r'", &format!("'{id}'"));
        }
        steer::read(Path::new(name), text.as_bytes()).unwrap()
    };
    let stack = steer::stack(vec![
        file("1", &["a", "b", "c"], &[]),
        file("2", &["b", "d"], &["e", "c", "nobody"]),
        file("3", &["b", "e"], &["c"]),
    ]);
    let fate = |fate: &Fate| match fate {
        Fate::Active => "active".to_owned(),
        Fate::Disabled(place) => format!("disabled {place}"),
        Fate::Replaced(place) => format!("replaced {place}"),
    };
    let became: Vec<_> = stack
        .rules
        .iter()
        .map(|(rule, f)| format!("{} {} {}", rule.place.file.display(), rule.id, fate(f)))
        .collect();
    assert_eq!(
        became,
        [
            "1 a active",
            "1 b replaced 2:2:3",
            "2 b replaced 3:2:3",
            "3 b active",
            "1 c disabled 2:1:17",
            "2 d active",
            "3 e disabled 2:1:12",
        ]
    );
    let unmatched: Vec<_> = stack.problems().iter().map(Diagnostic::to_string).collect();
    assert_eq!(unmatched, ["2:1:22: `disable` names `nobody`, and no rule has that name"]);
    let active: Vec<_> = stack.into_active().map(|rule| rule.id).collect();
    assert_eq!(active, ["a", "b", "d"]);
}

#[test]
fn built_ins_are_rules_with_examples() {
    let file = builtins::layer().unwrap();
    let names: Vec<_> = file.rules.iter().map(|rule| rule.id.as_str()).collect();
    assert_eq!(names, builtins::NAMES);
    for rule in &file.rules {
        assert!(
            rule.description.is_some()
                && !rule.tests.fires.is_empty()
                && !rule.tests.ignores.is_empty()
        );
        assert_eq!(
            (rule.when, &*rule.gates.tool),
            (When::At(Phase::Pre), ["Bash".to_owned()].as_slice())
        );
    }
    let used = |list: &str| {
        let uses = guard(&format!("use = {list}")).unwrap().uses;
        let rules = builtins::used(&uses).unwrap();
        assert!(rules.iter().all(|rule| rule.layer == Layer::Guard));
        rules.into_iter().map(|rule| rule.id).collect::<Vec<_>>()
    };
    assert_eq!(used("[]"), Vec::<String>::new());
    assert_eq!(
        used("['trash-over-rm', 'read-over-sed', 'trash-over-rm']"),
        ["read-over-sed", "trash-over-rm"]
    );
    assert_eq!(used("['trash-over-rm', '*']"), builtins::NAMES);
}
