//! `trust FILE` and `untrust FILE`: a person vouches for the content of a repository's rule file.
//!
//! A trusted file is an empty file in the state directory, named by the SHA-256 of physical path
//! and content: changed content, or the same content elsewhere, is not trusted.

use super::{Exit, complain, say, usage_error};
use crate::discovery::{RuleFile, Scope};
use crate::rules::{Diagnostic, Settings};
use crate::sha256;
use crate::world::World;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Marks a file as trusted.
pub(crate) fn trust(arguments: &[String]) -> Exit {
    change("trust", "trusted", arguments, |mark| {
        if let Some(directory) = mark.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        }
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(mark).map(drop)
    })
}

/// Takes the mark away.
pub(crate) fn untrust(arguments: &[String]) -> Exit {
    change("untrust", "not trusted", arguments, |mark| match fs::remove_file(mark) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    })
}

fn change(
    command: &str,
    outcome: &str,
    arguments: &[String],
    act: impl FnOnce(&Path) -> io::Result<()>,
) -> Exit {
    let [file] = arguments else {
        return usage_error(&format!("{command} takes one rule file"));
    };
    let world = match World::from_environment() {
        Ok(world) => world,
        Err(problem) => {
            complain(&format!("i-insist: {problem}"));
            return Exit::Failed;
        }
    };
    match named(&world, file).and_then(|(path, text)| act(&mark(&world, &path, &text))) {
        Ok(()) => {
            say(&format!("{outcome}: {file}"));
            Exit::Done
        }
        Err(error) => {
            complain(&format!("i-insist: configuration {file}: {error}"));
            Exit::Failed
        }
    }
}

/// The path under which discovery finds the file that is named `name`, and its content.
fn named(world: &World, name: &str) -> io::Result<(PathBuf, Vec<u8>)> {
    let path = world.current_directory.join(name);
    let text = fs::read(&path)?;
    let directory = path.parent().map(fs::canonicalize).transpose()?;
    let path = match (directory, path.file_name()) {
        (Some(directory), Some(name)) => directory.join(name),
        _ => path,
    };
    Ok((path, text))
}

fn mark(world: &World, path: &Path, text: &[u8]) -> PathBuf {
    let named = [path.as_os_str().as_bytes(), b"\0", text].concat();
    let name = sha256::hex(&sha256::digest(&named));
    world.state.join("trusted").join(name)
}

/// What is wrong with a repository's file that counts only when it is trusted, and is not.
pub(crate) fn objection(world: &World, settings: &Settings, file: &RuleFile) -> Option<Diagnostic> {
    let counts = !settings.require_trust
        || file.scope == Scope::Person
        || mark(world, &file.path, &file.text).is_file();
    (!counts).then(|| {
        let message = format!(
            "this content is not trusted; a person reviews the file, and then runs `i-insist trust {}`",
            file.path.display()
        );
        Diagnostic::of_file(&file.path, message)
    })
}
