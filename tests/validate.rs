//! `validate [FILE…]`: every problem, every rule, and the exit status.
#![expect(clippy::unwrap_used, reason = "a failure to set up is a failed test")]

#[expect(dead_code, reason = "each test target uses a part")]
mod support;

use support::{Place, blocks, checker};

#[test]
fn every_source_and_what_became_of_each_rule() {
    let place = Place::new()
        .home(".i-insist/a.toml", blocks("home/vault") + "overridable = false\n")
        .project(
            ".i-insist/b.toml",
            "use = [\"trash-over-rm\"]\n".to_owned() + &blocks("off") + "enabled = false\n",
        );
    place.run(&["validate"], "").is(
        0,
        &format!(
            "{}\n  home/vault: active, checker sh -c echo true, not overridable (line 1)\n\
             {}\n  off: disabled by `enabled = false`, checker sh -c echo true (line 2)\n  trash-over-rm: active, held back: `trash` is not on PATH, rewrite (built-in)\n    What is removed can be brought back.\n\
             ok: 3 rules in 2 sources\n",
            place.at(".i-insist/a.toml").display(),
            place.in_project(".i-insist/b.toml"),
        ),
        "",
    );
    Place::new().run(&["validate"], "").is(0, "ok: 0 rules in 0 sources\n", "");
}

#[test]
fn p37_all_problems_with_their_places_and_status_1() {
    let place = Place::new()
        .home(
            ".i-insist/a.toml",
            "[[rules]]\nid = \"a\"\nmesage = 1\nchecker = [\"x\"]\ntimeout = -1\n",
        )
        .project(".i-insist/b.toml", blocks("good"));
    let outcome = place.run(&["validate"], "");
    outcome.shows(&[
        "a.toml:3:1: ",
        "did you mean `message`?",
        "a.toml:5:",
        "must be a positive finite number",
        "  good: active, ",
        " problems\n",
    ]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(1), ""));
}

#[test]
fn a_checker_that_cannot_be_started_is_a_problem_of_its_rule() {
    let with_rule = |program: &str, more: &str| {
        Place::new()
            .home("tools/plain.sh", "#!/bin/sh\n")
            .program("tools/lost.sh", "#!/nowhere/sh\n")
            .program("tools/good.sh", "#!/bin/sh\necho false\n")
            .home(
                ".i-insist/a.toml",
                format!("[[rules]]\nid = \"a\"\nchecker = [\"{program}\"]\n{more}"),
            )
            .run(&["validate"], "")
    };
    for (program, cause) in [
        ("pyton3", "no program `pyton3` on PATH"),
        ("../tools/gone.sh", "../tools/gone.sh does not exist"),
        ("../tools", "../tools is a directory"),
        ("../tools/plain.sh", "../tools/plain.sh has no execute permission (chmod +x)"),
        (
            "../tools/lost.sh",
            "the interpreter \"/nowhere/sh\", named in the first line of ../tools/lost.sh, does not exist",
        ),
    ] {
        let outcome = with_rule(program, "");
        outcome.shows(&["a.toml:1:3: `a` blocks", cause, "\n1 problem\n"]);
        assert_eq!(outcome.status, Some(1));
        // A rule that is off starts nothing.
        with_rule(program, "enabled = false\n").shows(&["ok: 1 rule in 1 source\n"]);
    }
    with_rule("../tools/good.sh", "").shows(&["ok: 1 rule in 1 source\n"]);
}

#[test]
fn a_source_that_cannot_be_read_is_an_error_that_names_it() {
    let place = Place::new().project(".i-insist", "");
    place
        .run(&["validate"], "")
        .refuses(&["configuration ", "project/.i-insist: is not a directory"]);
    Place::new().without("HOME").run(&["validate"], "").refuses(&["HOME is unset"]);
    Place::new()
        .run(&["validate", "gone.toml"], "")
        .refuses(&["configuration gone.toml: cannot be read"]);
}

#[test]
fn named_files_are_read_by_the_rules_of_their_directory() {
    let settings = "[settings]\nannounce = false\n";
    let place = Place::new()
        .home(".i-insist/a.toml", settings)
        .project("draft.toml", settings)
        .project("good.toml", checker("a", "true", ""));
    place.run(&["validate", "../.i-insist/a.toml", "good.toml"], "").is(
        0,
        "../.i-insist/a.toml\ngood.toml\n  a: active, checker sh -c true (line 1)\nok: 1 rule in 2 sources\n",
        "",
    );
    let outcome = place.run(&["validate", "draft.toml"], "");
    outcome.shows(&["draft.toml:1:", "`[settings]` counts only in"]);
    assert_eq!(outcome.status, Some(1));
}

#[test]
fn where_trust_is_required_a_repositorys_file_counts_by_its_content() {
    let place = Place::new()
        .home(".i-insist/a.toml", "[settings]\nrequire_trust = true\n")
        .project(".i-insist/b.toml", blocks("b"));
    let file = place.in_project(".i-insist/b.toml");
    let untrusted = format!("configuration {file}:1:1: this content is not trusted");
    place.edit("x").denies_with(&[&untrusted, &format!("`i-insist trust {file}`")]);
    let outcome = place.run(&["validate"], "");
    outcome.shows(&["b.toml:1:1: this content is not trusted"]);
    assert_eq!(outcome.status, Some(1));
    // A draft that is named is read all the same.
    place.run(&["validate", ".i-insist/b.toml"], "").shows(&["b: active"]);

    let trusted = "trusted: .i-insist/b.toml\n";
    place.run(&["trust", ".i-insist/b.toml"], "").is(0, trusted, "");
    place.edit("x").denies("blocked by b");
    place.run(&["validate"], "").shows(&["b: active"]);
    let place = place.project(".i-insist/b.toml", blocks("c"));
    place.edit("x").denies_with(&[&untrusted]);
    let place = place.project(".i-insist/b.toml", blocks("b"));
    place.edit("x").denies("blocked by b");
    place.run(&["untrust", ".i-insist/b.toml"], "").is(0, "not trusted: .i-insist/b.toml\n", "");
    place.run(&["untrust", ".i-insist/b.toml"], "").is(0, "not trusted: .i-insist/b.toml\n", "");
    place.edit("x").denies_with(&[&untrusted]);
    place.run(&["trust", "gone.toml"], "").refuses(&["configuration gone.toml: "]);
    place.run(&["trust"], "").refuses(&["trust takes one rule file"]);
}

#[test]
fn a_steer_file_is_no_way_around_trust() {
    let place = Place::new()
        .home(".i-insist/a.toml", "[settings]\nrequire_trust = true\n")
        .home(".config/steer/config.toml", "")
        .project(".steer.toml", "disable = [\"trash-over-rm\"]\n");
    place.edit("x").denies_with(&[".steer.toml:1:1: this content is not trusted"]);
    place.run(&["trust", ".steer.toml"], "");
    place.edit("x").passes();
}
