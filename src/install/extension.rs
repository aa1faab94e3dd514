//! The extension that a client loads in place of settings: a file that is all ours.
//!
//! Promises: a file of its name that is not ours is neither overwritten nor removed; what is loaded
//! holds this program's path and our time-outs, and takes neither from the environment.
//! Never: decides anything; the extension asks the program.

use super::replace::{self, Locked};
use super::status::State;
use super::{is_same, lookup, read_text, rehearsal};
use crate::harness::{BRIDGE, Moment};
use crate::json::Json;
use crate::world::World;
use std::path::{Path, PathBuf};

/// How every version of our extension begins.
const MARK: &str = "// The bridge of i-insist. ";
const ABOUT: &str = "Written by `i-insist install pi`, removed by `i-insist uninstall pi`; changes are lost.\n";

/// A client that loads an extension of ours.
#[derive(Clone, Debug)]
pub(crate) struct Extension {
    /// The name in the hook line; also that of the client's program.
    pub(crate) harness: &'static str,
    /// The client's directory.
    pub(crate) directory: PathBuf,
    /// The file that holds the extension.
    pub(crate) file: PathBuf,
}

/// Pi; `directory` is `PI_CODING_AGENT_DIR` where it is set. A project's own extensions are no place
/// for us: Pi leaves them out, without a word, where it does not trust the project.
pub(crate) fn pi(home: &Path, directory: Option<PathBuf>) -> Extension {
    let directory = directory.unwrap_or_else(|| home.join(".pi/agent"));
    Extension {
        harness: "pi",
        file: directory.join("extensions/i-insist.ts"),
        directory,
    }
}

pub(super) fn install(world: &World, client: &Extension, dry_run: bool) -> Result<String, String> {
    let after = text(world)?;
    let locked = lock(client, dry_run)?;
    let before = own_text(client)?;
    let place = client.file.display();
    if before.as_ref() == Some(&after) {
        return Ok(format!("{}: already registered in {place}\n", client.harness));
    }
    let Some(locked) = locked else {
        return Ok(rehearsal(&client.file, before.as_deref(), Some(&after)));
    };
    let warning = locked.replace(before.as_deref().map(str::as_bytes), Some(after.as_bytes()))?;
    Ok(done(format!("{}: registered in {place}\n", client.harness), warning))
}

pub(super) fn uninstall(
    world: &World,
    client: &Extension,
    dry_run: bool,
) -> Result<String, String> {
    let place = client.file.display();
    let nothing = format!("{}: not registered in {place}\n", client.harness);
    // What is not ours stays, and no folder is made for what is not there.
    if !matches!(state(world, client), State::Registered | State::Outdated) {
        return Ok(nothing);
    }
    let locked = lock(client, dry_run)?;
    let Some(before) = own_text(client)? else {
        return Ok(nothing);
    };
    let Some(locked) = locked else {
        return Ok(rehearsal(&client.file, Some(&before), None));
    };
    let warning = locked.replace(Some(before.as_bytes()), None)?;
    Ok(done(format!("{}: removed from {place}\n", client.harness), warning))
}

/// What became of the extension.
pub(super) fn state(world: &World, client: &Extension) -> State {
    match (own_text(client), text(world)) {
        (Err(problem), _) | (_, Err(problem)) => State::Unreadable(problem),
        (Ok(None), _) => State::Absent,
        (Ok(Some(before)), Ok(after)) if before == after => State::Registered,
        _ => State::Outdated,
    }
}

pub(super) fn is_present(world: &World, client: &Extension) -> bool {
    lookup(&world.path, client.harness).is_some() || client.directory.is_dir()
}

/// A line on what was done, and one on what may undo it.
fn done(line: String, warning: Option<String>) -> String {
    line + &warning.map(|text| text + "\n").unwrap_or_default()
}

fn lock(client: &Extension, dry_run: bool) -> Result<Option<Locked>, String> {
    if dry_run {
        return Ok(None);
    }
    replace::clean_up(&client.file)?;
    Locked::new(&client.file).map(Some)
}

/// The text of the file, if it is there; one that is not ours is refused.
fn own_text(client: &Extension) -> Result<Option<String>, String> {
    let text = read_text(&client.file)?;
    if text.as_ref().is_some_and(|text| !text.starts_with(MARK)) {
        return Err(format!(
            "configuration {}: this file is not ours; move it away, then run this again",
            client.file.display()
        ));
    }
    Ok(text)
}

/// The extension for this program.
fn text(world: &World) -> Result<String, String> {
    // The name on PATH outlives an update that moves the program behind it.
    let on_path = lookup(&world.path, "i-insist").filter(|found| is_same(world, found));
    let program = on_path.or_else(|| world.program.clone());
    let program = program
        .as_deref()
        .and_then(Path::to_str)
        .ok_or("the path of this program is not known or not UTF-8; install it on PATH")?;
    let seconds = |moment: Moment| Json::from(moment.limits().registered_seconds);
    let limits = Json::object([
        ("tool", seconds(Moment::PreToolUse)),
        ("message", seconds(Moment::UserPromptSubmit)),
        ("finish", seconds(Moment::Stop)),
    ]);
    let program = Json::string(program).to_text();
    let limits = limits.to_text();
    Ok(format!(
        "{MARK}{ABOUT}const PROGRAM: string = {program};\nconst SECONDS = {limits};\n\n{BRIDGE}"
    ))
}
