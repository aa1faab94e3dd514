//! `validate [FILE…]`: every problem of every rule file, and what became of each rule.

use super::{Exit, complain, say, sources};
use crate::discovery::{self, RuleFile, Scope};
use crate::rules::{Effect, Rule, Settings};
use crate::world::World;
use std::fs;
use std::path::Path;

/// Checks the sources that hold in the current directory, or the files that are named.
pub(crate) fn run(arguments: &[String]) -> Exit {
    let world = match World::from_environment() {
        Ok(world) => world,
        Err(problem) => {
            complain(&format!("i-insist: {problem}"));
            return Exit::Failed;
        }
    };
    let files = if arguments.is_empty() {
        discovery::guard_files(&world.guard_directories(), &world.current_directory, &[])
            .map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>())
    } else {
        named_files(&world, arguments)
    };
    let files = match files {
        Ok(files) => files,
        Err(faults) => {
            for fault in faults {
                complain(&fault);
            }
            return Exit::Failed;
        }
    };
    let mut problems = 0;
    let mut rules = 0;
    let mut settings = Settings::default();
    for file in &files {
        say(&file.path.display().to_string());
        match sources::read_trusted(&world, &settings, file) {
            Ok(guard) => {
                if arguments.is_empty() {
                    settings.join(guard.settings);
                }
                rules += guard.rules.len() + guard.uses.len();
                for rule in &guard.rules {
                    say(&format!("  {}", describe(rule)));
                }
                for (name, _) in &guard.uses {
                    say(&format!("  use {name}"));
                }
            }
            Err(found) => {
                problems += found.len();
                for problem in found {
                    say(&format!("  problem {problem}"));
                }
            }
        }
    }
    if problems == 0 {
        say(&format!("ok: {rules} rules in {} files", files.len()));
        Exit::Done
    } else {
        say(&format!("{problems} problems"));
        Exit::No
    }
}

/// One line about a rule: whether it counts, what it does, and where it stands.
fn describe(rule: &Rule) -> String {
    let state = if rule.enabled { "active" } else { "disabled" };
    let effect = match &rule.effect {
        Effect::Checker { argv, .. } => format!("checker {}", argv.join(" ")),
        Effect::Deny { .. } => "deny".to_owned(),
        Effect::Ask { .. } => "ask".to_owned(),
        Effect::Rewrite { .. } => "rewrite".to_owned(),
        Effect::Context { .. } => "context".to_owned(),
    };
    let firm = if rule.overridable {
        ""
    } else {
        ", not overridable"
    };
    format!(
        "{state} {}: {effect}{firm} (line {})",
        rule.id, rule.place.line
    )
}

/// Files that are named are read as if they lay in the directory they are in; those outside the
/// machine's and the person's own directories as a repository's.
fn named_files(world: &World, names: &[String]) -> Result<Vec<RuleFile>, Vec<String>> {
    let mut files = Vec::new();
    let mut faults = Vec::new();
    for name in names {
        let path = world.current_directory.join(name);
        match fs::read(&path) {
            Ok(text) => {
                let directory = path
                    .parent()
                    .and_then(|parent| fs::canonicalize(parent).ok())
                    .unwrap_or_else(|| world.current_directory.clone());
                let own = world
                    .guard_directories()
                    .iter()
                    .any(|own| fs::canonicalize(own).is_ok_and(|own| own == directory));
                let scope = if own { Scope::Person } else { Scope::Place };
                files.push(RuleFile {
                    path: Path::new(name).to_owned(),
                    directory,
                    scope,
                    text,
                });
            }
            Err(error) => faults.push(format!("configuration {name}: cannot be read ({error})")),
        }
    }
    if faults.is_empty() {
        Ok(files)
    } else {
        Err(faults)
    }
}
