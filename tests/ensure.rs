//! `ensure`, as a provider of rules calls it behind its own installation: what it promises, one test each.
#![expect(clippy::unwrap_used, reason = "a failure to set up is a failed test")]

#[expect(dead_code, reason = "each test target uses a part")]
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use support::{Outcome, Place, quoted};

/// A guard that was there before us.
const FOREIGN: &str =
    r#"{"matcher":"Bash","hooks":[{"type":"command","command":"/opt/guard check"}]}"#;
const DISABLED: &str = "{\n  \"disableAllHooks\": true\n}\n";
const NO_HOOKS: &str = "# mine\n[features]\nhooks = false\n";

/// A home where no client is on `PATH`, unless one is put into `bin`.
fn place() -> Place {
    let place = Place::new();
    let path = place.at("bin").to_string_lossy().into_owned();
    place.variable("PATH", &path)
}

fn ensure(place: &Place) -> Outcome {
    place.run(&["ensure"], "")
}

/// Every file below the home directory, with its content.
fn files(place: &Place) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![place.at("")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.clone(), fs::read(path).unwrap());
            }
        }
    }
    files
}

fn read(place: &Place, path: &str) -> String {
    fs::read_to_string(place.at(path)).unwrap_or_default()
}

/// Each event that guards a call or an approval is registered, once.
#[track_caller]
fn registered(place: &Place, path: &str, harness: &str) {
    let text = read(place, path);
    for event in ["pre-tool-use", "user-prompt-submit", "session-start"] {
        let line = format!("hook --harness {harness} {event}\"");
        assert_eq!(text.matches(&line).count(), 1, "{line} in {text}");
    }
}

/// Refused with status 2 for hooks that are switched off by what stands in `file`; nothing is
/// written, for no client.
#[track_caller]
fn refuses_untouched(place: &Place, file: &Path) {
    let before = files(place);
    ensure(place).refuses(&["disabled", &file.to_string_lossy(), "nothing was changed"]);
    assert_eq!(files(place), before);
}

#[test]
fn without_a_client_nothing_is_written_and_the_status_is_1() {
    let place = place().home("bin/claude", "no program: it has no run bit");
    let before = files(&place);
    ensure(&place).is(
        1,
        "",
        "i-insist: no client was found on PATH or by its configuration; nothing was registered\n",
    );
    assert_eq!(files(&place), before);
}

#[test]
fn a_client_on_path_is_registered_and_no_other() {
    for (harness, own, other) in
        [("claude", ".claude/settings.json", ".codex"), ("codex", ".codex/hooks.json", ".claude")]
    {
        let place = place().program(&format!("bin/{harness}"), "#!/bin/sh\n");
        assert_eq!(ensure(&place).status, Some(0));
        registered(&place, own, harness);
        assert!(!place.at(other).exists() && !place.at(".pi").exists());
        assert!(place.at(".i-insist/i-insist.toml").exists());
    }
}

#[test]
fn a_client_with_a_configuration_is_registered_also_where_a_variable_moves_it() {
    let place = place()
        .home(".claude/settings.local.json", "{}")
        .home("elsewhere/config.toml", "model = \"x\"\n");
    let moved = place.at("elsewhere").to_string_lossy().into_owned();
    let place = place.variable("CODEX_HOME", &moved);
    assert_eq!(ensure(&place).status, Some(0));
    registered(&place, ".claude/settings.json", "claude");
    registered(&place, "elsewhere/hooks.json", "codex");
    assert!(!place.at(".codex").exists());
}

#[test]
fn guards_that_were_there_stay_and_a_second_run_changes_nothing() {
    let settings = format!("{{\"hooks\":{{\"PreToolUse\":[{FOREIGN}]}}}}");
    let place =
        place().home(".claude/settings.json", &settings).home(".codex/hooks.json", &settings);
    assert_eq!(ensure(&place).status, Some(0));
    for (path, harness) in [(".claude/settings.json", "claude"), (".codex/hooks.json", "codex")] {
        registered(&place, path, harness);
        let start = format!("{{\"hooks\":{{\"PreToolUse\":[{FOREIGN},");
        assert!(read(&place, path).starts_with(&start));
    }
    let before = files(&place);
    let again = ensure(&place);
    again.shows(&["claude: already registered", "codex: already registered"]);
    assert_eq!((again.status, files(&place)), (Some(0), before));
}

#[test]
fn a_switch_in_the_users_settings_refuses_for_every_client_and_is_not_cleared() {
    for (file, text) in [
        (".claude/settings.json", DISABLED),
        (".claude/settings.local.json", DISABLED),
        (".codex/config.toml", NO_HOOKS),
        (".codex/config.toml", "allow_managed_hooks_only = true\n"),
    ] {
        let place = place().home(".claude/x", "").home(".codex/x", "").home(file, text);
        refuses_untouched(&place, &place.at(file));
        // The twin: the same switch, turned the other way.
        let turned = if text == NO_HOOKS {
            text.replace("false", "true")
        } else {
            text.replace("true", "false")
        };
        let place = place.home(file, turned);
        assert_eq!(ensure(&place).status, Some(0));
    }
}

#[test]
fn a_switch_in_any_directory_above_refuses() {
    for (harness, name, text) in [
        ("claude", ".claude/settings.json", DISABLED),
        ("claude", ".claude/settings.local.json", DISABLED),
        ("codex", ".codex/config.toml", NO_HOOKS),
    ] {
        for folder in ["project/", "project/a/", "project/a/b/"] {
            let file = format!("{folder}{name}");
            let place = place()
                .program(&format!("bin/{harness}"), "#!/bin/sh\n")
                .home("project/a/b/c/x", "")
                .home("project/a/beside/x", "")
                .home(&file, text);
            let run = |directory: &str| {
                let mut command = place.command(&["ensure"]);
                command.current_dir(place.at(directory));
                place.outcome(command, b"")
            };
            let before = files(&place);
            let path = place.at(&file);
            run("project/a/b/c").refuses(&["disabled", &path.to_string_lossy()]);
            assert_eq!(files(&place), before);
            // The twin: the switch is not above this one.
            if folder == "project/a/b/" {
                assert_eq!(run("project/a/beside").status, Some(0));
            }
        }
    }
}

#[test]
fn a_single_hook_of_ours_that_is_off_refuses_and_a_strangers_does_not() {
    let place =
        place().home(".codex/hooks.json", format!("{{\"hooks\":{{\"PreToolUse\":[{FOREIGN}]}}}}"));
    let hooks = place.at(".codex/hooks.json");
    let state = |event: &str, group: usize| {
        let key = quoted(&format!("{}:{event}:{group}:0", hooks.display()));
        format!("[hooks.state.{key}]\nenabled = false\ntrusted_hash = \"sha256:1\"\n")
    };
    let config = place.at(".codex/config.toml");
    for (event, ours) in [("pre_tool_use", 1), ("user_prompt_submit", 0), ("session_start", 0)] {
        fs::write(&config, state(event, ours)).unwrap();
        refuses_untouched(&place, &config);
    }
    let strangers = state("pre_tool_use", 0);
    fs::write(&config, &strangers).unwrap();
    assert_eq!(ensure(&place).status, Some(0));
    registered(&place, ".codex/hooks.json", "codex");
    assert_eq!(fs::read_to_string(&config).unwrap(), strangers);
    // Switched off after the registration, it is found as well.
    fs::write(&config, state("pre_tool_use", 1)).unwrap();
    refuses_untouched(&place, &config);
}

#[test]
fn no_trust_is_recorded_and_the_review_is_asked_for() {
    let place = place().home(".codex/config.toml", "model = \"x\"\n");
    let outcome = ensure(&place);
    outcome.shows(&["/hooks"]);
    let config = place.at(".codex/config.toml");
    assert_eq!(fs::read_to_string(config).unwrap(), "model = \"x\"\n");
    for (path, content) in files(&place) {
        let text = String::from_utf8(content).unwrap();
        assert!(!text.contains("trusted_hash"), "{}", path.display());
    }
    let status = place.run(&["status"], "");
    status.shows(&["registered\n  trust: unknown"]);
}

#[test]
fn what_makes_a_client_drop_its_file_is_reported_and_not_built_upon() {
    let broken = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command"}]}]}}"#;
    for (file, text, part) in [
        (".claude/settings.json", broken, "`hooks.Stop[0].hooks[0]`"),
        (".codex/hooks.json", broken, "`hooks.Stop[0].hooks[0]`"),
        (".codex/hooks.json", "{\"version\":1}", "`version`"),
        (".claude/settings.json", "{\n  \"a\": 1,\n}\n", "invalid JSON: line 3 column 1"),
        (".codex/config.toml", "[features\n", "invalid TOML: line 1 column 10"),
    ] {
        let place = place().home(".claude/x", "").home(".codex/x", "").home(file, text);
        let before = files(&place);
        let path = place.at(file);
        ensure(&place).refuses(&[
            "configuration ",
            &path.to_string_lossy(),
            part,
            "nothing was changed",
        ]);
        assert_eq!(files(&place), before);
    }
}
