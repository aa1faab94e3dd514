//! Script checks: which program runs a script, and what it is given.
//!
//! Promises: the first runtime that can run the script does; a script that ends the process before
//! its function has returned does not pass. Never: installs anything, runs a script unasked.

use super::run::{Command, Surroundings};
use crate::checker::process::{self, End, Job};
use crate::json::Json;
use std::env;
use std::fs::{self, File};
use std::io::Read;
use std::iter;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Imports the script, calls its default export, prints what it has against the finish, or the proof.
const RUNNER: &str = include_str!("runner.mjs");
/// The runner's exit status when the script's own words say what failed.
pub(super) const REPORTED: i32 = 97;
const STRIP_TYPES: [&str; 2] = ["--no-warnings", "--experimental-strip-types"];
const VERSION_TIME: Duration = Duration::from_secs(20);

/// The command that runs the script `path`, which is relative to the root.
pub(super) fn command(path: &Path, around: Surroundings<'_>) -> Result<Command, String> {
    let typed =
        path.extension().is_some_and(|ending| ending == "ts" || ending == "mts" || ending == "cts");
    let mut argv = runtime(typed, around)
        .ok_or("cannot run: it needs bun, deno, node (22.6 or later for TypeScript) or tsx, and none is on PATH; install one of them")?;
    argv.push(RUNNER.to_owned());
    let proof = nonce()?;
    let input = Json::object([
        ("script", Json::String(around.root.join(path).to_string_lossy().into_owned().into())),
        ("proof", Json::string(proof.as_str())),
        ("reported", Json::Number(REPORTED.to_string().into())),
        ("cwd", Json::String(around.root.to_string_lossy())),
        ("event", crate::event::view(around.event)),
    ]);
    Ok(Command { argv, input: input.to_text().into_bytes(), proof: Some(proof) })
}

/// The first runtime that can, with the options behind which it takes code.
fn runtime(typed: bool, around: Surroundings<'_>) -> Option<Vec<String>> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    if on_path("bun") {
        return Some(words(&["bun", "-e"]));
    }
    if on_path("deno") {
        return Some(words(&["deno", "eval", "--quiet"]));
    }
    let options = if on_path("node") { node_options(typed, || node_version(around)) } else { None };
    if let Some(options) = options {
        let tail = ["--input-type=module", "-e"];
        return Some(words(&[&["node"], options, &tail].concat()));
    }
    let local = around.root.join("node_modules/.bin/tsx");
    let tsx = if on_path("tsx") { "tsx" } else { local.to_str().filter(|_| is_program(&local))? };
    Some(words(&[tsx, "--input-type=module", "-e"]))
}

/// How node is told to strip types: by default from 22.18 and 23.6 on, on demand from 22.6 on,
/// before that not at all. Whoever has no types to strip need not ask for the version.
fn node_options(
    typed: bool,
    version: impl FnOnce() -> Option<(u32, u32)>,
) -> Option<&'static [&'static str]> {
    if !typed {
        return Some(&[]);
    }
    match version()? {
        (22, 18..) | (23, 6..) | (24.., _) => Some(&[]),
        (22, 6..) | (23, _) => Some(&STRIP_TYPES),
        _ => None,
    }
}

fn node_version(around: Surroundings<'_>) -> Option<(u32, u32)> {
    let argv = ["node", "--version"].map(str::to_owned);
    let finished = process::run(&mut Job {
        argv: &argv,
        directory: around.root,
        input: &mut iter::empty(),
        deadline: around.deadline.min(Instant::now() + VERSION_TIME),
        log: None,
        output_limit: 4096,
        watch_stdin: around.watch_stdin,
    });
    let finished = finished.ok().filter(|finished| finished.end == End::Exited(0))?;
    read_version(str::from_utf8(&finished.stdout).ok()?)
}

fn read_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.trim().strip_prefix('v')?.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

fn on_path(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|directory: PathBuf| is_program(&directory.join(name)))
}

fn is_program(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// A word that the script cannot know.
fn nonce() -> Result<String, String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut bytes))
        .map_err(|error| format!("cannot run: /dev/urandom cannot be read: {error}"))?;
    Ok(format!("i-insist: passed {}", crate::sha256::hex(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_strips_types_by_default_on_demand_or_not_at_all() {
        for (version, expected) in [
            ("v20.20.2\n", None),
            ("v22.5.1", None),
            ("v22.6.0", Some(2)),
            ("v22.17.9", Some(2)),
            ("v22.18.0", Some(0)),
            ("v23.0.0", Some(2)),
            ("v23.5.0", Some(2)),
            ("v23.6.1", Some(0)),
            ("v24.1.0-nightly", Some(0)),
            ("25", None),
            ("", None),
        ] {
            let options = node_options(true, || read_version(version));
            assert_eq!(options.map(<[_]>::len), expected, "{version}");
            assert_eq!(node_options(false, || None).map(<[_]>::len), Some(0));
        }
    }
}
