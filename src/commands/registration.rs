//! `install`, `uninstall`, `ensure` and `status`: our hooks in the clients' settings.

use super::finishing::{self, Found};
use super::{Exit, complain, say, usage_error};
use crate::discovery;
use crate::event::paths;
use crate::harness::Harness;
use crate::install::{self, Client, Report, State, clients, extension};
use crate::world::{World, absolute};
use std::path::{Path, PathBuf};

pub(crate) fn install(arguments: &[String]) -> Exit {
    with_harness(arguments, install::install)
}

pub(crate) fn uninstall(arguments: &[String]) -> Exit {
    with_harness(arguments, install::uninstall)
}

pub(crate) fn ensure(arguments: &[String]) -> Exit {
    without_arguments(arguments, |world| {
        install::ensure(world, &Harness::ALL.map(|harness| registration(world, harness)))
    })
}

pub(crate) fn status(arguments: &[String]) -> Exit {
    without_arguments(arguments, |world| {
        let directories = world.guard_directories();
        let found = discovery::guard_files(&directories, &world.current_directory, &[]);
        let (files, faults) = match found {
            Ok(files) => (files, Vec::new()),
            Err(faults) => (Vec::new(), faults),
        };
        let files: Vec<PathBuf> = files.into_iter().map(|file| file.path).collect();
        let clients = Harness::ALL.map(|harness| registration(world, harness));
        let mut report = install::status(world, &clients, &files);
        for fault in faults {
            report.exit = Exit::Failed as u8;
            report.err.push_str(&["problem: ", &fault.to_string(), "\n"].concat());
        }
        let here = paths::physical(&world.current_directory);
        for finish in &Found::new(world, &here, true).configurations {
            for check in finishing::describe(finish) {
                report.out.push_str(&[&check, "\n"].concat());
            }
        }
        report
    })
}

/// The files that say whether our hooks run, which `protect` guards.
pub(crate) fn settings_files(world: &World) -> Vec<PathBuf> {
    let of = |harness| -> Vec<PathBuf> {
        match registration(world, harness) {
            Client::Hooks(client) => {
                let local = client.settings.with_file_name("settings.local.json");
                let own = [client.settings, local];
                own.into_iter().chain(client.switches).collect()
            }
            // Beside our extension, the settings that add others, and whom the client trusts.
            Client::Extension(client) => {
                let beside = ["settings.json", "trust.json", "extensions"];
                beside.map(|name| client.directory.join(name)).to_vec()
            }
        }
    };
    Harness::ALL.into_iter().flat_map(of).collect()
}

/// What a change of the settings file `path` has taken from us, as a sentence. A file that does not
/// hold our hooks can only switch them off.
pub(crate) fn lost_hooks(world: &World, harness: Harness, path: Option<&Path>) -> Option<String> {
    let client = registration(world, harness);
    let physical = |path: &Path| path.canonicalize().unwrap_or_else(|_gone| path.to_owned());
    let ours = path.is_none_or(|path| physical(path) == physical(client.file()));
    let settings = client.file().display();
    match install::state(world, &client) {
        State::Disabled(problem) => Some(format!("{problem}.")),
        State::Absent if ours => Some(format!("{settings} no longer holds our hooks.")),
        State::Outdated if ours => Some(format!("Our hooks in {settings} were changed.")),
        State::Unreadable(problem) if ours => Some(format!("{problem}.")),
        State::Registered | State::Absent | State::Outdated | State::Unreadable(_) => None,
    }
}

fn registration(world: &World, harness: Harness) -> Client {
    let home = &world.home;
    match harness {
        Harness::Claude => Client::Hooks(clients::claude(home, absolute("CLAUDE_CONFIG_DIR"))),
        Harness::Codex => Client::Hooks(clients::codex(home, absolute("CODEX_HOME"))),
        Harness::Pi => Client::Extension(extension::pi(home, absolute("PI_CODING_AGENT_DIR"))),
    }
}

fn with_harness(arguments: &[String], run: fn(&World, &Client, bool) -> Report) -> Exit {
    let (options, operands): (Vec<&str>, Vec<&str>) =
        arguments.iter().map(String::as_str).partition(|argument| argument.starts_with('-'));
    let dry_run = match options.as_slice() {
        [] => false,
        ["--dry-run"] => true,
        _ => return usage_error("the one option here is --dry-run"),
    };
    let [name] = operands.as_slice() else {
        return usage_error("exactly one HARNESS is needed: claude, codex or pi");
    };
    match Harness::from_name(name) {
        Some(harness) => in_world(|world| run(world, &registration(world, harness), dry_run)),
        None => usage_error(&format!("unknown harness `{name}`; there are claude, codex and pi")),
    }
}

fn without_arguments(arguments: &[String], run: impl Fn(&World) -> Report) -> Exit {
    if arguments.is_empty() { in_world(run) } else { usage_error("no arguments are taken here") }
}

fn in_world(run: impl Fn(&World) -> Report) -> Exit {
    let report = match World::from_environment() {
        Ok(world) => run(&world),
        Err(problem) => {
            complain(&format!("i-insist: {problem}"));
            return Exit::Failed;
        }
    };
    if !report.out.is_empty() {
        say(report.out.trim_end_matches('\n'));
    }
    if !report.err.is_empty() {
        complain(report.err.trim_end_matches('\n'));
    }
    match report.exit {
        0 => Exit::Done,
        1 => Exit::No,
        _ => Exit::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_change_that_weakens_our_hooks_is_a_loss_and_any_other_is_none() {
        let name = format!("i-insist-lost-{}", std::process::id());
        let home = std::env::temp_dir().join(name);
        let program = home.join("i-insist");
        fs::create_dir_all(home.join(".claude")).unwrap();
        fs::write(&program, "").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let world = World {
            config_home: home.join(".config"),
            cache: home.join(".cache/i-insist"),
            state: home.join(".local/state/i-insist"),
            path: home.clone().into(),
            current_directory: home.clone(),
            program: Some(program),
            home: home.clone(),
        };
        let client = registration(&world, Harness::Claude);
        assert_eq!(install::install(&world, &client, false).exit, 0);
        let right = fs::read_to_string(client.file()).unwrap();
        let lost = || lost_hooks(&world, Harness::Claude, Some(client.file()));
        let changed = |from: &str, to: &str| {
            assert!(right.contains(from));
            fs::write(client.file(), right.replacen(from, to, 1)).unwrap();
        };
        assert_eq!(lost(), None);
        changed("{", "{\"model\": \"x\",");
        assert_eq!(lost(), None);
        for (from, to) in [
            ("\"timeout\": 600", "\"timeout\": 600, \"async\": true"),
            ("\"timeout\": 600", "\"timeout\": 600, \"if\": \"Bash(git *)\""),
            ("\"hooks\": [", "\"matcher\": \"Edit\", \"hooks\": ["),
            ("\"PreToolUse\"", "\"Unused\""),
            ("\"block\"", "\"stop\""),
            ("{", "{\"disableAllHooks\": true,"),
            ("{", "{,"),
        ] {
            changed(from, to);
            assert!(lost().is_some(), "{from} {to}");
        }
        // Another file cannot change our entries, but it can switch them off.
        fs::write(client.file(), &right).unwrap();
        let other = home.join(".claude/settings.local.json");
        let elsewhere = || lost_hooks(&world, Harness::Claude, Some(&other));
        fs::write(&other, "{\"model\": \"x\"}").unwrap();
        assert_eq!(elsewhere(), None);
        fs::write(&other, "{\"disableAllHooks\": true}").unwrap();
        assert!(elsewhere().is_some());
        fs::remove_dir_all(home).unwrap();
    }
}
