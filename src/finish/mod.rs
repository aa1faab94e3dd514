#![doc = include_str!("../manual/10-finish.md")]
//!
//! Promises: an agent is sent back only when that was counted on disk before; without a check that
//! is configured nothing is asked of git and nothing is written; every doubt about what changed makes
//! a check run. Never: knows a harness, changes a file of the repository, holds the agent for a fault
//! of our own.

mod report;
mod run;
mod script;
mod snapshot;
mod state;

pub(crate) use run::name;
pub(crate) use state::Store;

use crate::discovery::repository_root;
use crate::json::Json;
use crate::rules::{Check, Finish};
use crate::sha256;
use report::Failure;
use run::{Ending, Surroundings};
use snapshot::{Digest, Patience, Snapshot};
use state::{Digests, Memory, State, hex};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// How often Claude Code lets itself be sent back in a row; the other clients have no limit.
pub(crate) const CLAUDE_CAP: u32 = 8;

/// An agent that wants to finish.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    /// The session's directory.
    pub(crate) directory: &'a Path,
    /// Every configuration, in order.
    pub(crate) configurations: &'a [Finish],
    /// What is wrong with configurations that cannot be read.
    pub(crate) problems: Option<&'a str>,
    /// What the harness said, for scripts.
    pub(crate) event: &'a Json<'a>,
    /// Work of the agent goes on in the background.
    pub(crate) background: bool,
    /// When checks are cut off.
    pub(crate) deadline: Instant,
    /// The client holds our stdin open as long as it wants the answer.
    pub(crate) watch_stdin: bool,
}

/// What comes of it. With neither text the agent finishes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Sends the agent back.
    pub(crate) agent: Option<String>,
    /// For the person.
    pub(crate) person: Option<String>,
}

/// A session starts or goes on: what is in the repository now is not this session's change. A check
/// that failed in it before stays due.
pub(crate) fn start(store: &Store, request: &Request<'_>) {
    store.clean_up();
    if !has_checks(request.configurations) {
        return;
    }
    let mut state = store.read();
    state.directory = request.directory.to_str().map(str::to_owned);
    let mut files = Files::take(Some(store), request);
    for check in checks(request.configurations) {
        let memory = state.check(&key(check));
        let now = files.digest(check);
        *memory =
            Memory { seen: now.clone(), after: now, failed: memory.failed, ..Memory::default() };
    }
    files.keep(Some(store), root(request.directory));
    // Without a record the checks run, which is right.
    drop(store.write(&state));
}

/// The directory in which the session started, where checks were configured then.
pub(crate) fn start_directory(store: &Store) -> Option<PathBuf> {
    store.read().directory.map(PathBuf::from)
}

/// The person spoke: the agent may be sent back as often as at first.
pub(crate) fn person_spoke(store: &Store) {
    let mut state = store.read();
    if !state.sent_back.is_empty() {
        state.sent_back.clear();
        if store.write(&state).is_err() {
            store.forget();
        }
    }
}

/// The agent wants to finish: runs the checks that are due. Without a store nothing can be counted.
pub(crate) fn stop(store: Option<&Store>, request: &Request<'_>) -> Outcome {
    if !has_checks(request.configurations) && request.problems.is_none() {
        return Outcome::default();
    }
    let former = store.map(Store::read).unwrap_or_default();
    let mut state = former.clone();
    let Some(failures) = run_checks(store, request, &mut state) else {
        return Outcome {
            agent: None,
            person: Some("i-insist: the checks before finishing were interrupted.".to_owned()),
        };
    };
    let verdict = Verdict::of(request, &failures, &mut state);
    let stored = match store {
        Some(_) if state == former => Ok(()),
        Some(store) => store.write(&state).map_err(|error| error.to_string()),
        None => Err("the session has no id".to_owned()),
    };
    verdict.outcome(stored)
}

/// Runs what is due, and notes in `state` what became of it: the failures of each configuration, or
/// nothing if the run was interrupted.
fn run_checks(
    store: Option<&Store>,
    request: &Request<'_>,
    state: &mut State,
) -> Option<Vec<Vec<Failure>>> {
    let root = root(request.directory);
    let around = Surroundings {
        root,
        event: request.event,
        deadline: request.deadline,
        watch_stdin: request.watch_stdin,
    };
    let mut before = if has_checks(request.configurations) {
        Files::take(store, request)
    } else {
        Files::default()
    };
    let mut ran = Vec::new();
    let mut failures = Vec::new();
    for finish in request.configurations {
        let mut failed = Vec::new();
        for check in &finish.checks {
            let now = before.digest(check);
            let memory = state.check(&key(check));
            if !is_due(memory, now.as_ref(), request.background) {
                continue;
            }
            let ending = run::run(check, around);
            if ending == Ending::Interrupted {
                return None;
            }
            *memory = Memory {
                again: now.is_some() && now == memory.after,
                seen: now,
                after: None,
                failed: ending != Ending::Passed,
                unsettled: request.background,
            };
            ran.push(check);
            if let Ending::Failed(failure) = ending {
                failed.push(failure);
                if finish.fail_fast {
                    break;
                }
            }
        }
        failures.push(failed);
    }
    before.keep(store, root);
    if !ran.is_empty() && store.is_some() {
        let mut after = Files::take(store, request);
        for check in ran {
            state.check(&key(check)).after = after.digest(check);
        }
        after.keep(store, root);
    }
    Some(failures)
}

/// Whether a check must run, `now` being its inputs' digest where one could be taken.
fn is_due(memory: &Memory, now: Option<&String>, background: bool) -> bool {
    let Some(now) = now else { return true };
    // What checks themselves changed makes them run once more, but not again and again.
    let changed_by_checks_alone = memory.again && memory.after.as_ref() == Some(now);
    let changed = memory.seen.as_ref() != Some(now) && !changed_by_checks_alone;
    memory.failed || changed || memory.unsettled && !background
}

/// What failures and faults come to.
#[derive(Debug, PartialEq, Eq)]
struct Verdict<'a> {
    /// Failures for which the agent is sent back.
    held: Vec<&'a Failure>,
    /// Failures for which it was sent back often enough.
    given_up: Vec<&'a Failure>,
    /// Problems for the agent.
    agent: Option<&'a str>,
    /// Problems for the person.
    person: Option<&'a str>,
}

impl<'a> Verdict<'a> {
    /// Counts what the agent is sent back for.
    fn of(request: &Request<'a>, failures: &'a [Vec<Failure>], state: &mut State) -> Self {
        let (agent, person) =
            if state.told { (None, request.problems) } else { (request.problems, None) };
        state.told |= request.problems.is_some();
        let mut verdict = Self { held: Vec::new(), given_up: Vec::new(), agent, person };
        for (finish, failures) in request.configurations.iter().zip(failures) {
            let file = file(finish);
            let count = state.sent_back(&file);
            if failures.is_empty() {
                state.set_sent_back(&file, 0);
            } else if count < finish.max_retries {
                state.set_sent_back(&file, count + 1);
                verdict.held.extend(failures);
            } else {
                verdict.given_up.extend(failures);
            }
        }
        verdict
    }

    /// The texts; where `stored` tells that nothing could be counted, the agent is not held.
    fn outcome(self, stored: Result<(), String>) -> Outcome {
        let mut person = Vec::new();
        let mut agent = None;
        let wanted = self.agent.is_some() || !self.held.is_empty();
        match stored {
            Ok(()) if wanted => {
                agent = Some(report::for_the_agent(self.agent.unwrap_or_default(), &self.held));
            }
            Err(error) if wanted => {
                person.extend(self.agent.map(str::to_owned));
                let why =
                    format!("the agent was not sent back, since that cannot be counted ({error}).");
                person.push(report::for_the_person(&self.held, &why));
            }
            _ => {}
        }
        person.extend(self.person.map(str::to_owned));
        if !self.given_up.is_empty() {
            let why = "the agent was sent back as often as `max_retries` allows.";
            person.push(report::for_the_person(&self.given_up, why));
        }
        Outcome { agent, person: (!person.is_empty()).then(|| person.join("\n\n")) }
    }
}

/// The repository's files as checks see them; where no snapshot could be taken, nothing is known.
#[derive(Default)]
struct Files {
    snapshot: Option<Snapshot>,
    digests: Digests,
    /// Not stored yet.
    new: bool,
}

impl Files {
    fn take(store: Option<&Store>, request: &Request<'_>) -> Self {
        let Some((store, root)) = store.zip(repository_root(request.directory)) else {
            return Self::default();
        };
        let patience = Patience { deadline: request.deadline, watch_stdin: request.watch_stdin };
        let (former, digests) = store.snapshot(root);
        match Snapshot::take(root, &former, patience) {
            Ok(snapshot) if snapshot == former => {
                Self { snapshot: Some(former), digests, new: false }
            }
            Ok(snapshot) => Self { snapshot: Some(snapshot), digests: Digests::new(), new: true },
            Err(_) => Self::default(),
        }
    }

    /// A digest of a check's inputs. Checks with the same inputs share it, and as long as nothing
    /// changes it is not worked out again.
    fn digest(&mut self, check: &Check) -> Option<String> {
        let snapshot = self.snapshot.as_ref()?;
        let inputs = check.inputs.as_deref();
        let name = hex(&sha256::digest(format!("{inputs:?}").as_bytes()));
        let digest = self.digests.entry(name).or_insert_with(|| {
            self.new = true;
            hex(&snapshot.digest(inputs))
        });
        Some(digest.clone())
    }

    /// Stores what is new, for the next snapshot to build on.
    fn keep(&self, store: Option<&Store>, root: &Path) {
        if let (true, Some(store), Some(snapshot)) = (self.new, store, &self.snapshot) {
            store.keep_snapshot(root, snapshot, &self.digests);
        }
    }
}

/// What a check is remembered by: where it is configured, what it runs, and on what it depends.
fn key(check: &Check) -> String {
    let text = format!(
        "{}\0{:?} {:?} {:?}",
        check.place.file.display(),
        check.name,
        check.program,
        check.inputs
    );
    let digest: Digest = sha256::digest(text.as_bytes());
    hex(&digest)
}

/// The file of a configuration.
fn file(finish: &Finish) -> String {
    let place = finish.checks.first().map(|check| &check.place.file);
    place.map_or(String::new(), |file| file.to_string_lossy().into_owned())
}

fn checks(configurations: &[Finish]) -> impl Iterator<Item = &Check> {
    configurations.iter().flat_map(|finish| &finish.checks)
}

fn has_checks(configurations: &[Finish]) -> bool {
    checks(configurations).next().is_some()
}

/// Where checks run: the root of the repository, or outside of any the directory itself.
fn root(directory: &Path) -> &Path {
    repository_root(directory).unwrap_or(directory)
}

#[cfg(test)]
mod tests;
