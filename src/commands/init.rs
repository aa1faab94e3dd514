//! `init`: writes a commented starter file, and never over one that is there.

use super::{Exit, complain, say, usage_error};
use crate::rules::Spelling;
use crate::world::World;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

const GUARD: &str = include_str!("starter-guard.toml");
const STEER: &str = include_str!("starter-steer.toml");

/// Writes the person's `rules.toml`, with `--project` that of the current directory, and in steer's
/// spelling steer's own configuration.
pub(crate) fn run(spelling: Spelling, arguments: &[String]) -> Exit {
    let world = match World::from_environment() {
        Ok(world) => world,
        Err(problem) => {
            complain(&format!("i-insist: {problem}"));
            return Exit::Failed;
        }
    };
    let (path, text) = match (spelling, arguments) {
        (Spelling::Guard, []) => (world.home.join(".i-insist/rules.toml"), GUARD),
        (Spelling::Guard, [option]) if option == "--project" => {
            (world.current_directory.join(".i-insist/rules.toml"), GUARD)
        }
        (Spelling::Steer, []) => (world.config_home.join("steer/config.toml"), STEER),
        _ => return usage_error("init takes --project, or nothing"),
    };
    match write_new(&path, text) {
        Ok(()) => {
            say(&format!("wrote {}", path.display()));
            Exit::Done
        }
        Err(error) => {
            let why = if error.kind() == ErrorKind::AlreadyExists {
                "it is there already".to_owned()
            } else {
                error.to_string()
            };
            complain(&format!(
                "i-insist: {} was not written: {why}",
                path.display()
            ));
            Exit::Failed
        }
    }
}

fn write_new(path: &PathBuf, text: &str) -> std::io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let mut file = fs::File::create_new(path)?;
    file.write_all(text.as_bytes())
}
