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
const ABOUT: &str =
    "Written by `i-insist install pi`, removed by `i-insist uninstall pi`; changes are lost.\n";

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
    Extension { harness: "pi", file: directory.join("extensions/i-insist.ts"), directory }
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

#[cfg(test)]
mod tests {
    use super::super::{Client, ensure, install, status, uninstall};
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// A world with a program of ours off PATH, and Pi in it.
    fn world(name: &str) -> (World, Client) {
        let name = format!("i-insist-extension-{}-{name}", std::process::id());
        let home = std::env::temp_dir().canonicalize().unwrap().join(name);
        fs::create_dir_all(home.join("bin")).unwrap();
        let program = home.join("pro\"gram");
        fs::write(&program, "").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let client = Client::Extension(pi(&home, None));
        let world = World {
            config_home: home.join(".config"),
            cache: home.join(".cache/i-insist"),
            state: home.join(".local/state/i-insist"),
            path: home.join("bin").into(),
            current_directory: home.clone(),
            program: Some(program),
            home,
        };
        (world, client)
    }

    fn shown(world: &World, client: &Client) -> (u8, String) {
        let report = status(world, std::slice::from_ref(client), &[]);
        let line = report.out.lines().nth(1).unwrap().trim().to_owned();
        (report.exit, line)
    }

    #[test]
    fn it_comes_again_and_goes() {
        let (world, client) = world("comes");
        assert_eq!(shown(&world, &client), (0, "not registered".into()));
        let rehearsed = install(&world, &client, true);
        assert!(rehearsed.out.contains("+const PROGRAM"), "{rehearsed:?}");
        assert!(!client.file().exists());
        assert_eq!(install(&world, &client, false).exit, 0);
        let text = fs::read_to_string(client.file()).unwrap();
        let program = world.program.as_ref().unwrap().display().to_string();
        let program = program.replace('"', "\\\"");
        assert!(text.contains(&format!("const PROGRAM: string = \"{program}\";\n")));
        assert!(text.contains("const SECONDS = {\"tool\":600,\"message\":30,\"finish\":3600};\n"));
        let environment: Vec<_> =
            text.lines().filter(|line| line.contains("process.env")).collect();
        assert_eq!(environment.len(), 1, "{environment:?}");
        assert!(environment[0].contains("PI_SESSION_ID"));
        assert_eq!(shown(&world, &client), (0, "registered".into()));
        assert!(install(&world, &client, false).out.contains("already registered"));
        // The name on PATH is taken where it leads here, and then the old text is outdated.
        symlink(world.program.as_ref().unwrap(), world.home.join("bin/i-insist")).unwrap();
        assert_eq!(shown(&world, &client).0, 1);
        assert_eq!(ensure(&world, std::slice::from_ref(&client)).exit, 0);
        assert!(fs::read_to_string(client.file()).unwrap().contains("/bin/i-insist\";\n"));
        assert!(uninstall(&world, &client, true).out.contains("-const PROGRAM"));
        assert!(client.file().exists());
        assert!(uninstall(&world, &client, false).out.contains("removed"));
        assert!(!client.file().exists());
        assert!(uninstall(&world, &client, false).out.contains("not registered"));
        assert_eq!(fs::read_dir(client.file().parent().unwrap()).unwrap().count(), 0);
        fs::remove_dir_all(&world.home).unwrap();
    }

    #[test]
    fn a_foreign_file_stays() {
        let (world, client) = world("foreign");
        fs::create_dir_all(client.file().parent().unwrap()).unwrap();
        fs::write(client.file(), "export default () => {};\n").unwrap();
        for report in
            [install(&world, &client, false), ensure(&world, std::slice::from_ref(&client))]
        {
            assert_eq!(report.exit, 2);
            assert!(report.err.contains("not ours"), "{report:?}");
        }
        assert_eq!(shown(&world, &client).0, 2);
        assert!(uninstall(&world, &client, false).out.contains("not registered"));
        assert_eq!(fs::read_to_string(client.file()).unwrap(), "export default () => {};\n");
        fs::remove_dir_all(&world.home).unwrap();
    }

    #[test]
    fn it_is_found_by_program_or_directory() {
        let (world, client) = world("found");
        assert_eq!(ensure(&world, std::slice::from_ref(&client)).exit, 1);
        fs::create_dir_all(world.home.join(".pi/agent")).unwrap();
        assert_eq!(ensure(&world, std::slice::from_ref(&client)).exit, 0);
        let moved = pi(&world.home, Some("/elsewhere".into()));
        assert_eq!(moved.file, Path::new("/elsewhere/extensions/i-insist.ts"));
        fs::remove_dir_all(&world.home).unwrap();
    }
}
