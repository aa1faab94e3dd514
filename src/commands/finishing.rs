//! The checks before finishing, for the hooks: finds their configurations and hands them on.

use super::sources;
use crate::discovery::{self, Scope};
use crate::finish::{self, Outcome, Request, Store};
use crate::harness::{Harness, Origin, Stop};
use crate::json::Json;
use crate::rules::{Diagnostic, Finish, Settings};
use crate::world::World;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// For the person, where checks of a project that is not trusted were left out.
const LEFT_OUT: &str =
    "i-insist: this project is not trusted, so its checks before finishing were not run.";

/// One hook that has to do with finishing.
pub(super) struct Finishing<'a> {
    pub(super) world: &'a World,
    pub(super) harness: Harness,
    pub(super) origin: &'a Origin<'a>,
    pub(super) deadline: Instant,
}

impl Finishing<'_> {
    fn store(&self) -> Option<Store> {
        let id = self.origin.session_id.as_deref()?;
        Some(Store::new(&self.world.cache, self.harness.name(), id))
    }

    /// A session starts or goes on after a break.
    pub(super) fn start(&self, event: &Json<'_>) {
        if let Some(store) = self.store() {
            let found = self.found(&self.origin.cwd);
            finish::start(&store, &self.request(&found, &self.origin.cwd, event));
        }
    }

    /// The person spoke.
    pub(super) fn person_spoke(&self) {
        if let Some(store) = self.store() {
            finish::person_spoke(&store);
        }
    }

    /// The agent wants to finish.
    pub(super) fn stop(&self, event: &Json<'_>, stop: &Stop<'_>) -> Outcome {
        let store = self.store();
        let directory = self.directory(store.as_ref());
        let found = self.found(&directory);
        let request = Request {
            background: stop.background_tasks > 0,
            watch_stdin: stop.held_open,
            ..self.request(&found, &directory, event)
        };
        let mut outcome = finish::stop(store.as_ref(), &request);
        if found.left_out {
            let told = outcome.person.into_iter().chain([LEFT_OUT.to_owned()]);
            outcome.person = Some(told.collect::<Vec<_>>().join("\n\n"));
        }
        outcome
    }

    fn found(&self, directory: &Path) -> Found {
        Found::new(self.world, directory, self.origin.project_trusted)
    }

    /// The session's directory. An agent that has left every repository still finishes in the one it
    /// started in.
    fn directory(&self, store: Option<&Store>) -> PathBuf {
        let now = &self.origin.cwd;
        if discovery::repository_root(now).is_some() {
            return now.clone();
        }
        let started = store.and_then(finish::start_directory);
        started.unwrap_or_else(|| now.clone())
    }

    fn request<'r>(
        &self,
        found: &'r Found,
        directory: &'r Path,
        event: &'r Json<'r>,
    ) -> Request<'r> {
        Request {
            directory,
            configurations: &found.configurations,
            problems: found.problems.as_deref(),
            event,
            background: false,
            deadline: self.deadline,
            watch_stdin: false,
        }
    }
}

/// The configurations that hold in a directory.
pub(super) struct Found {
    /// In the order of discovery.
    pub(super) configurations: Vec<Finish>,
    /// A line for everything that is wrong.
    pub(super) problems: Option<String>,
    /// There are checks that only a trusted project may have run.
    pub(super) left_out: bool,
}

impl Found {
    /// Reads every source. What is wrong in one file takes nothing from the others. Of a project that
    /// is not trusted no check counts.
    pub(super) fn new(world: &World, directory: &Path, project_trusted: bool) -> Self {
        let mut settings = Settings::default();
        let mut problems = Vec::new();
        let mut found = Vec::new();
        let mut files = Vec::new();
        match discovery::guard_files(&world.guard_directories(), directory, &[]) {
            Ok(readable) => files = readable,
            Err(faults) => problems.extend(faults.iter().map(ToString::to_string)),
        }
        let named = |problem: &Diagnostic| format!("configuration {problem}");
        for file in &files {
            match sources::read_trusted(world, &settings, file) {
                Ok(guard) => {
                    settings.join(guard.settings);
                    found.extend(guard.finish.map(|finish| (file.scope, finish)));
                }
                Err(wrong) => problems.extend(wrong.iter().map(named)),
            }
        }
        if let Some(file) = discovery::pi_hooks_file(directory) {
            match sources::read_pi_hooks(world, &settings, file) {
                Ok(file) => found.extend(file.finish.map(|finish| (Scope::Place, finish))),
                Err(wrong) => problems.extend(wrong.iter().map(named)),
            }
        }
        let problems = (!problems.is_empty()).then(|| format!("i-insist: {}", problems.join("\n")));
        let (counted, left_out): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|(scope, _)| project_trusted || *scope == Scope::Person);
        Self {
            configurations: counted.into_iter().map(|(_, finish)| finish).collect(),
            problems,
            left_out: !left_out.is_empty(),
        }
    }
}

/// What is odd about `finish` in clients that limit how often an agent is sent back themselves.
fn warning(finish: &Finish) -> Option<String> {
    (finish.max_retries > finish::CLAUDE_CAP).then(|| {
        format!(
            "warning: max_retries = {} is more than the {} times in a row after which Claude Code ends the turn",
            finish.max_retries,
            finish::CLAUDE_CAP
        )
    })
}

/// One line for each check, and a warning.
pub(super) fn describe(finish: &Finish) -> impl Iterator<Item = String> {
    let checks = finish.checks.iter().map(|check| {
        let name = finish::name(check);
        format!("finish check {name} ({})", check.place)
    });
    checks.chain(warning(finish))
}
