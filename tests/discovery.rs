//! Which rule files hold for a call, seen from outside.
#![expect(clippy::unwrap_used, reason = "a failure to set up is a failed test")]
#![expect(clippy::print_stdout, reason = "tells which case runs")]

#[expect(dead_code, reason = "each test target uses a part")]
mod support;

use std::fs;
use support::{Place, blocks, checker, object};

/// A rule that passes and leaves its id in the file `order` of the home directory.
fn leaves_a_mark(place: &Place, id: &str) -> String {
    let mark = format!("echo {id} >>{}; echo false", place.at("order").display());
    checker(id, &mark, "message = \"no\"")
}

fn order(place: &Place) -> String {
    let text = fs::read_to_string(place.at("order")).unwrap();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn home_then_ancestors_outermost_first_then_each_targets_ancestry() {
    let place = Place::new();
    let mark = |id| leaves_a_mark(&place, id);
    let (home, outer, inner) = (mark("home"), mark("outer"), mark("inner"));
    let (first, second, above) = (mark("first"), mark("second"), mark("above"));
    let place = place
        .home(".i-insist/a.toml", home)
        .project("../other/.i-insist/a.toml", above)
        .project("../other/one/.i-insist/a.toml", first)
        .project("../other/two/.i-insist/a.toml", second)
        .project(".i-insist/a.toml", outer)
        .project("sub/.i-insist/a.toml", inner);
    let patch = format!(
        "*** Begin Patch\n*** Add File: {0}/two/x\n+a\n*** Add File: {0}/one/x\n+a\n*** End Patch",
        place.at("other").display()
    );
    let payload = format!(
        r#"{{"session_id":"s","turn_id":"t","cwd":{},"hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{}}}"#,
        support::quoted(&place.in_project("sub")),
        object(&[("command", &patch)]),
    );
    place.hook("codex", "pre-tool-use", payload).passes();
    assert_eq!(order(&place), "home outer inner above second first");
}

#[test]
fn names_by_their_bytes_rules_as_declared() {
    let place = Place::new();
    let (z, a) = (leaves_a_mark(&place, "z"), leaves_a_mark(&place, "a"));
    let (upper, umlaut) = (leaves_a_mark(&place, "B"), leaves_a_mark(&place, "umlaut"));
    let place = place
        .project(".i-insist/ä.toml", umlaut)
        .project(".i-insist/a.toml", format!("{z}{a}"))
        .project(".i-insist/B.toml", upper);
    place.edit("x").passes();
    assert_eq!(order(&place), "B z a umlaut");
}

#[test]
fn a_directory_is_read_once_by_its_physical_path() {
    let place = Place::new();
    let rule = leaves_a_mark(&place, "once");
    let place = place
        .home(".i-insist/a.toml", rule)
        .link("project/.i-insist", "../.i-insist")
        .link("project/sub/.i-insist", "../../.i-insist");
    place.edit("sub/x").passes();
    assert_eq!(order(&place), "once");
}

#[test]
fn a_linked_file_belongs_to_the_directory_its_name_is_in() {
    let place = Place::new()
        .home(
            "elsewhere/rule.toml",
            checker("team/where", "pwd >where; echo false", "message = \"no\""),
        )
        .project(".i-insist/keep", "")
        .link("project/.i-insist/a.toml", "../../elsewhere/rule.toml");
    place.edit("x").passes();
    assert!(place.at("project/.i-insist/where").exists());
    assert!(!place.at("elsewhere/where").exists());
}

#[test]
fn dot_files_other_endings_and_directories_are_passed_over() {
    let place = Place::new()
        .project(".i-insist/.hidden.toml", blocks("hidden"))
        .project(".i-insist/a.toml.bak", "no rules at all")
        .project(".i-insist/a.TOML", "no rules at all")
        .project(".i-insist/directory.toml/a.toml", blocks("below"))
        .project(".i-insist/sub/a.toml", blocks("below"))
        .link("project/.i-insist/linked.toml", "sub");
    place.edit("x").passes();
    // Its twin: the same rule where it counts.
    let place = place.project(".i-insist/a.toml", blocks("seen"));
    place.edit("x").denies("blocked by seen");
}

#[test]
fn what_is_there_and_cannot_be_read_blocks_in_both_harnesses() {
    type Set = fn(Place) -> Place;
    let cases: &[(&str, Set)] = &[
        ("dangling link to a file", |place| {
            place.project(".i-insist/keep", "").link("project/.i-insist/a.toml", "gone.toml")
        }),
        ("dangling link to a directory", |place| place.link("project/.i-insist", "gone")),
        ("link loop as directory", |place| place.link("project/.i-insist", ".i-insist")),
        ("link loop as file", |place| {
            place.project(".i-insist/keep", "").link("project/.i-insist/a.toml", "a.toml")
        }),
        ("a file in place of the directory", |place| place.project(".i-insist", "")),
        ("invalid UTF-8", |place| place.project(".i-insist/a.toml", b"# \xff\n")),
    ];
    for (name, set) in cases {
        let place = set(Place::new());
        for harness in ["claude", "codex"] {
            let answer =
                place.hook(harness, "pre-tool-use", place.call("Bash", r#"{"command":"ls"}"#));
            println!("{name}: {}", answer.stdout);
            answer.denies_with(&["configuration ", "/project/.i-insist", "i-insist validate"]);
        }
    }
}

#[test]
fn a_fault_is_told_once_though_two_ways_lead_to_it() {
    let place = Place::new().link(".i-insist", "gone");
    let answer = place.edit("x");
    answer.denies_with(&["leads nowhere"]);
    assert_eq!(answer.stdout.matches("leads nowhere").count(), 1, "{answer:?}");
}

#[test]
fn a_target_that_is_a_file_or_not_there_is_no_fault() {
    let place = Place::new().project("file", "");
    place.edit("file/below").passes();
    place.edit("no/such/directory/x").passes();
}

#[test]
fn a_local_disabled_rule_does_not_switch_off_a_global_one() {
    let place = Place::new()
        .home(".i-insist/a.toml", blocks("same"))
        .project(".i-insist/a.toml", blocks("same") + "enabled = false\n");
    place.edit("x").denies("blocked by same");
}

#[test]
fn shell_text_does_not_move_the_search() {
    let place = Place::new().project("sub/.i-insist/a.toml", blocks("sub"));
    place.bash("cd sub && make >sub/out; git -C sub status").passes();
    place.edit("sub/x").denies("blocked by sub");
}

#[test]
fn many_targets_share_their_ancestors() {
    let place = Place::new().project(".i-insist/a.toml", blocks("one"));
    let targets = (0..20_000).map(|number| format!("*** Add File: d{number}/f\n+a"));
    let targets: Vec<String> = targets.collect();
    let patch = format!("*** Begin Patch\n{}\n*** End Patch", targets.join("\n"));
    let payload = place.call("apply_patch", &object(&[("command", &patch)]));
    let payload = payload.replace("prompt_id", "turn_id");
    place.hook("codex", "pre-tool-use", payload).denies("blocked by one");
}
