//! Runs one check, with its output in a log file.
//!
//! Promises: output of any length takes no memory; the log is the person's alone; that of a check
//! that fails is kept, any other deleted. Never: lets a check or what it started outlive its time.

use super::report::{Failure, MAX_BYTES};
use super::script;
use crate::checker::process::{self, End, Job};
use crate::checker::signal_name;
use crate::json::Json;
use crate::rules::{Check, Program};
use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{self, Path, PathBuf};
use std::time::{Duration, Instant};

/// What became of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Nothing is wrong.
    Passed,
    /// It failed, could not run, or was cut off.
    Failed(Failure),
    /// The agent was interrupted, or its client has gone.
    Interrupted,
}

/// Where and how long checks run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings<'a> {
    /// The repository's root.
    pub(super) root: &'a Path,
    /// What scripts are told about the finish.
    pub(super) event: &'a Json<'a>,
    /// The hook's own deadline.
    pub(super) deadline: Instant,
    /// The end of our stdin is an interruption.
    pub(super) watch_stdin: bool,
}

/// A program that carries out a check.
pub(super) struct Command {
    /// The program and its arguments.
    pub(super) argv: Vec<String>,
    /// What it reads.
    pub(super) input: Vec<u8>,
    /// What it prints last if the check passed; without it, exit status 0 is enough.
    pub(super) proof: Option<String>,
}

/// What a check is called: its name, or what it runs.
pub(crate) fn name(check: &Check) -> String {
    match (&check.name, &check.program) {
        (Some(name), _) => name.clone(),
        (None, Program::Command(command)) => command.clone(),
        (None, Program::Script(path)) => path.display().to_string(),
    }
}

/// Runs `check` to its end.
pub(super) fn run(check: &Check, around: Surroundings<'_>) -> Ending {
    attempt(check, around).unwrap_or_else(|cause| {
        Ending::Failed(Failure {
            name: name(check),
            cause,
            tail: Vec::new(),
            printed: 0,
            log: None,
        })
    })
}

/// The same; an error tells why the check did not run.
fn attempt(check: &Check, around: Surroundings<'_>) -> Result<Ending, String> {
    if Instant::now() >= around.deadline {
        return Err("did not run, since the hook's own time ran out before".to_owned());
    }
    let command = match &check.program {
        Program::Command(text) => Command {
            argv: vec!["/bin/sh".to_owned(), "-c".to_owned(), text.clone()],
            input: Vec::new(),
            proof: None,
        },
        Program::Script(path) => script::command(path, around)?,
    };
    let mut log =
        Log::create().map_err(|error| format!("did not run, since it can have no log: {error}"))?;
    let own = check.timeout.and_then(|time| Instant::now().checked_add(time));
    let finished = process::run(&mut Job {
        argv: &command.argv,
        directory: around.root,
        input: &mut std::iter::once(command.input),
        deadline: own.map_or(around.deadline, |own| own.min(around.deadline)),
        log: Some(&log.file),
        output_limit: 0,
        watch_stdin: around.watch_stdin,
    });
    let end = finished.map_err(|problem| format!("cannot be started: {problem}"))?.end;
    if matches!(end, End::Interrupted(_) | End::Abandoned) {
        return Ok(Ending::Interrupted);
    }
    let (tail, printed) = log.tail().unwrap_or_default();
    let proven =
        command.proof.is_none_or(|proof| tail.trim_ascii_end().ends_with(proof.as_bytes()));
    let own_time = check.timeout.filter(|_| own.is_some_and(|own| own <= around.deadline));
    let Some(cause) = complaint(end, own_time, proven) else {
        return Ok(Ending::Passed);
    };
    log.kept = true;
    Ok(Ending::Failed(Failure {
        name: name(check),
        cause,
        tail,
        printed,
        log: Some(log.path.clone()),
    }))
}

/// What is wrong with the way a check ended. `own_time` is its time-out, unless the hook's own
/// deadline came first.
fn complaint(end: End, own_time: Option<Duration>, proven: bool) -> Option<String> {
    match (end, own_time) {
        (End::Exited(0), _) if proven => None,
        (End::Exited(0), _) => Some("ended before its function had returned".to_owned()),
        (End::Exited(script::REPORTED), _) if !proven => Some("failed".to_owned()),
        (End::Exited(status), _) => Some(format!("exited with status {status}")),
        (End::Signaled(signal), _) => Some(format!("was killed by {}", signal_name(signal))),
        (End::TimedOut, Some(time)) => {
            Some(format!("was cut off at its timeout of {} s", time.as_secs_f64()))
        }
        (End::TimedOut | End::TooMuchOutput | End::Interrupted(_) | End::Abandoned, _) => {
            Some("was cut off, since the hook's own time ran out".to_owned())
        }
    }
}

/// A log in the system's temporary directory; deleted with the value unless it is kept.
struct Log {
    file: File,
    path: PathBuf,
    kept: bool,
}

impl Log {
    /// A name that is taken, be it by a link, is not used.
    fn create() -> io::Result<Self> {
        let folder = path::absolute(env::temp_dir())?;
        let mut number = 0_u32;
        loop {
            let path = folder.join(format!("i-insist-check-{}-{number}.log", std::process::id()));
            let mut options = OpenOptions::new();
            let options = options.read(true).write(true).create_new(true).mode(0o600);
            match options.open(&path) {
                Ok(file) => {
                    return Ok(Self { file, path, kept: false });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// The end of what was printed, and how much it was.
    fn tail(&mut self) -> io::Result<(Vec<u8>, u64)> {
        let printed = self.file.metadata()?.len();
        let start = printed.saturating_sub(MAX_BYTES as u64);
        self.file.seek(SeekFrom::Start(start))?;
        let mut tail = Vec::new();
        let mut rest = (&self.file).take(MAX_BYTES as u64);
        rest.read_to_end(&mut tail)?;
        Ok((tail, printed))
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if !self.kept {
            drop(fs::remove_file(&self.path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_but_a_proven_success_is_a_failure() {
        let own = Some(Duration::from_secs(90));
        for (end, time, proven, expected) in [
            (End::Exited(0), None, true, None),
            (End::Exited(0), None, false, Some("ended before its function had returned")),
            (End::Exited(1), None, true, Some("exited with status 1")),
            (End::Exited(script::REPORTED), None, false, Some("failed")),
            (End::Exited(script::REPORTED), None, true, Some("exited with status 97")),
            (End::Signaled(9), None, true, Some("was killed by signal 9 (SIGKILL)")),
            (End::TimedOut, own, true, Some("was cut off at its timeout of 90 s")),
            (End::TimedOut, None, true, Some("was cut off, since the hook's own time ran out")),
        ] {
            let found = complaint(end, time, proven);
            assert_eq!(found.as_deref(), expected, "{end:?}");
        }
    }
}
