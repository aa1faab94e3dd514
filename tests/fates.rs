//! `validate`: every problem of every source, what became of each rule, and the examples of rules.
#![expect(clippy::unwrap_used, reason = "a failure to set up is a failed test")]

#[expect(dead_code, reason = "each test target uses a part")]
mod support;

use support::Place;

const ZAP: &str = "[[rules.match]]\nany = \"parsed.segments\"\nhead = { any_of = [\"zap\"] }\n";

/// A rule that denies `zap`, with more keys of its own and tables behind.
fn rule(name: &str, keys: &str, behind: &str) -> String {
    format!(
        "[[rules]]\nname = \"{name}\"\n{keys}{ZAP}[rules.action]\nkind = \"deny\"\nmessage = \"m\"\n{behind}"
    )
}

/// With an empty PATH, so that no rewrite finds its program.
fn place() -> Place {
    let place = Place::new();
    let nothing = place.at("").display().to_string();
    place.variable("PATH", &nothing)
}

#[test]
fn the_fate_of_every_rule_is_shown() {
    let place = place()
        .home(".i-insist/a.toml", "use = [\"trash-over-rm\"]\n".to_owned() + &rule("guard", "", ""))
        .home(
            ".config/steer/config.toml",
            "disable = [\"overlay\", \"read-over-sed\"]\n".to_owned() + &rule("base", "", ""),
        )
        .project(".i-insist/b.toml", rule("guard", "enabled = false\noverridable = false\n", ""))
        .project(".steer.toml", rule("base", "", "") + &rule("overlay", "", ""));
    let base = place.at(".config/steer/config.toml").display().to_string();
    let overlay = place.in_project(".steer.toml");
    let guard = place.at(".i-insist/a.toml").display().to_string();
    let local = place.in_project(".i-insist/b.toml");
    place.run(&["validate"], "").is(
        0,
        &format!(
            "{guard}
  guard: active, deny (line 2)
  trash-over-rm: active, held back: `trash` is not on PATH, rewrite (built-in)
    What is removed can be brought back.
{local}
  guard: disabled by `enabled = false`, deny, not overridable (line 1)
built-in
  fff-over-grep: active, deny (built-in)
    Searches of the workspace go through the indexed search tools.
  read-over-sed: disabled by {base}:1:23, deny (built-in)
    Files are read with the Read tool.
  edit-over-python: active, deny (built-in)
    Files are changed with the Edit and Write tools.
  trash-over-rm: active, held back: `trash` is not on PATH, rewrite (built-in)
    What is removed can be brought back.
{base}
  base: replaced by {overlay}:1:3, deny (line 2)
{overlay}
  base: active, deny (line 1)
  overlay: disabled by {base}:1:12, deny (line 9)
ok: 10 rules in 5 sources
"
        ),
        "",
    );
}

#[test]
fn all_problems_of_all_files_are_told_with_file_line_and_column() {
    let place = place()
        .home(
            ".i-insist/a.toml",
            "use = [\"trash-over-mr\"]\n[[rules]]\nid = \"a\"\nmesage = \"m\"\ntimeout = -1\nchecker = [\"x\"]\n",
        )
        .project(".i-insist/b.toml", "[[rules]\n")
        .project(
            ".i-insist/c.toml",
            "[[rules]]\nid = \"c\"\n[[rules.match]]\nx = { glob = [\"{a\"], matches = '(?=a)', gob = [] }\n\
             [rules.action]\nkind = \"denny\"\nmessage = \"m\"\n[[rules]]\nid = \"c\"\nenabled = false\nchecker = []\n",
        )
        .project(".steer.toml", "disable = [\"fff-over-gerp\"]\n");
    let outcome = place.run(&["validate"], "");
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(1), ""));
    outcome.shows(&[
        "a.toml:1:8: unknown built-in rule `trash-over-mr`, did you mean `trash-over-rm`?",
        "a.toml:4:1: unknown field `mesage`, did you mean `message`?",
        "a.toml:5:11: timeout must be a positive finite number",
        "b.toml:1:8: invalid TOML: ",
        "c.toml:4:15: `glob`: ",
        "c.toml:4:32: `matches`: invalid regex at byte 0: look-around",
        "c.toml:4:41: unknown field `gob`, did you mean `glob`?",
        "c.toml:6:8: unknown kind `denny`, did you mean `deny`?",
        "c.toml:9:6: `id` `c` is taken by the rule in line 1",
        "c.toml:11:11: checker must be an array of strings that begins with a program",
        ".steer.toml:1:12: `disable` names `fff-over-gerp`, and no rule has that name, did you mean `fff-over-grep`?",
        "11 problems\n",
    ]);
}

#[test]
fn examples_that_fail_are_problems_with_their_place() {
    let tests = "[rules.test]\nfires = [\"zap x\", \"zip\"]\nignores = [\n  \"echo zap\",\n  \"sudo zap\",\n]\n";
    let place = place().project(".i-insist/a.toml", rule("a", "", tests));
    let outcome = place.run(&["validate"], "");
    outcome.shows(&[
        "a.toml:10:19: `a` must fire on this command and does not\n",
        "a.toml:13:3: `a` must ignore this command and fires\n",
        "2 problems\n",
    ]);
    assert_eq!(outcome.status, Some(1));
    // Those of a rule that is off are not run.
    let place = place.project(".i-insist/a.toml", rule("a", "enabled = false\n", tests));
    assert_eq!(place.run(&["validate"], "").status, Some(0));
}

#[test]
fn examples_of_a_rewrite_name_the_result_whatever_is_on_path() {
    let text = |after: &str| {
        format!(
            "[[rules]]\nname = \"a\"\n{ZAP}[rules.action]\nkind = \"rewrite\"\nreplace_head = \"zip\"\n\
             [rules.test]\nrewrites = {{ \"zap 'x'\" = \"{after}\" }}\n"
        )
    };
    let place = place().project("good.toml", text("zip 'x'")).project("bad.toml", text("zop"));
    place.run(&["validate", "good.toml"], "").is(
        0,
        "good.toml\n  a: active, held back: `zip` is not on PATH, rewrite (line 1)\nok: 1 rule in 1 source\n",
        "",
    );
    let outcome = place.run(&["validate", "bad.toml"], "");
    outcome.shows(&["bad.toml:10:14: `a` must make this `zop`, and makes it `zip 'x'`"]);
    assert_eq!(outcome.status, Some(1));
}

#[test]
fn examples_are_judged_in_the_phase_of_their_rule() {
    let text = format!(
        "[[rules]]\nname = \"a\"\nphase = \"post\"\n{ZAP}[rules.action]\nkind = \"context\"\nmessage = \"m\"\n\
         [rules.test]\nfires = [\"zap\"]\nignores = [\"zip\"]\n"
    );
    let place = place().project(".i-insist/a.toml", text);
    assert_eq!(place.run(&["validate"], "").status, Some(0));
}

#[test]
fn examples_know_the_wrappers_of_the_persons_settings() {
    let example = rule("a", "", "[rules.test]\nfires = [\"mise-exec -C /x zap\"]\n");
    let settings = "[[settings.wrappers]]\nname = \"mise-exec\"\nvalue_options = [\"-C\"]\n";
    let place = place().project(".i-insist/a.toml", &example);
    assert_eq!(place.run(&["validate"], "").status, Some(1));
    let place = place.home(".i-insist/settings.toml", settings);
    assert_eq!(place.run(&["validate"], "").status, Some(0));
    assert_eq!(place.run(&["validate", ".i-insist/a.toml"], "").status, Some(0));
}

#[test]
fn examples_of_a_checker_with_match_start_no_program() {
    let text = format!(
        "[[rules]]\nid = \"a\"\nchecker = [\"../mark.sh\"]\n{ZAP}\
         [rules.test]\nfires = [\"zap\"]\nignores = [\"zip\"]\n"
    );
    let place = place()
        .program("project/mark.sh", "#!/bin/sh\n: > mark\n")
        .project(".i-insist/a.toml", text);
    assert_eq!(place.run(&["validate"], "").status, Some(0));
    assert!(!place.at("project/.i-insist/mark").exists());
}

#[test]
fn a_named_steer_file_is_read_as_the_layer_it_is() {
    let steer = "disable = [\"fff-over-grep\", \"nothing\"]\n".to_owned() + &rule("a", "", "");
    let place = place()
        .home(".config/steer/config.toml", &steer)
        .project(".steer.toml", "disable = [\"a\"]\n");
    let outcome = place.run(&["validate", "../.config/steer/config.toml"], "");
    outcome.is(
        1,
        "../.config/steer/config.toml\n  a: active, deny (line 2)\n  problem: ../.config/steer/config.toml:1:29: \
         `disable` names `nothing`, and no rule has that name\n1 problem\n",
        "",
    );
    // What the person's own file defines can be named in the repository's.
    place.run(&["validate", ".steer.toml"], "").is(0, ".steer.toml\nok: 0 rules in 1 source\n", "");
    // Elsewhere the name is no steer file's, and `disable` is unknown.
    let place = place.project("config.toml", &steer);
    let outcome = place.run(&["validate", "config.toml"], "");
    outcome.shows(&["config.toml:1:1: unknown field `disable`"]);
    let place = Place::new().home("x/steer/config.toml", "disable = [\"fff-over-grep\"]\n");
    let elsewhere = place.at("x").display().to_string();
    let place = place.variable("XDG_CONFIG_HOME", &elsewhere);
    let outcome = place.run(&["validate", "../x/steer/config.toml"], "");
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
}

#[test]
fn steers_validate_looks_at_steers_sources_alone() {
    let place = place().project(".i-insist/a.toml", "[[rules]\n");
    let outcome = place.run(&["steer", "validate"], "");
    outcome.shows(&["built-in\n", "ok: 4 rules in 1 source\n"]);
    assert_eq!(outcome.status, Some(0));
    let place = Place::new().link(".config/steer/config.toml", "/no/such/file");
    place.run(&["steer", "validate"], "").shows(&["built-in\n"]);
    let outcome = place.run(&["steer", "validate"], "");
    assert_eq!(outcome.status, Some(2));
    assert!(outcome.stderr.contains("config.toml: is a link that leads nowhere"));
}

#[test]
fn the_packs_of_the_examples_are_right() {
    let packs = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/packs");
    let mut names: Vec<String> = std::fs::read_dir(packs)
        .unwrap()
        .map(|entry| entry.unwrap().path().display().to_string())
        .collect();
    names.sort();
    assert!(!names.is_empty());
    let mut arguments = vec!["validate"];
    arguments.extend(names.iter().map(String::as_str));
    let outcome = Place::new().run(&arguments, "");
    assert_eq!(outcome.status, Some(0), "{}", outcome.stdout);
}
