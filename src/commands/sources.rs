//! The rules that hold for one call, read from their files.

use super::judge::PROTECT_CONFIG;
use super::trust;
use crate::discovery::{self, RuleFile, Scope};
use crate::event::Event;
use crate::rules::steer::{self, SteerFile};
use crate::rules::{
    Diagnostic, Effect, Finish, Rule, Settings, Spelling, builtins, guard, pi_hooks,
};
use crate::world::World;
use std::path::PathBuf;

/// Rules in the order of the search, and what goes with them.
pub(crate) struct Sources {
    /// Guard rules, then those of pi-hooks, then those of steer's files.
    pub(crate) rules: Vec<Rule>,
    /// What must pass before the agent finishes.
    pub(crate) finish: Vec<Finish>,
    /// Of the machine's and the person's own files.
    pub(crate) settings: Settings,
    /// The rule directories that were found.
    pub(crate) directories: Vec<PathBuf>,
    /// For the person: what is left out, and why.
    pub(crate) notices: Vec<String>,
}

impl Sources {
    /// Reads every source.
    ///
    /// # Errors
    /// Every problem of every guard file and of pi-hooks' file, a line each. A steer file that is
    /// wrong is left out instead, with a notice.
    pub(crate) fn load(
        world: &World,
        event: &Event<'_>,
        spelling: Spelling,
    ) -> Result<Self, String> {
        let mut sources = Self {
            rules: Vec::new(),
            finish: Vec::new(),
            settings: Settings::default(),
            directories: Vec::new(),
            notices: Vec::new(),
        };
        sources.read_guard_files(world, event)?;
        let directory = event.session_cwd.as_deref().unwrap_or(&event.cwd);
        let files = discovery::steer_files(&world.config_home, directory);
        sources.require_trust(world, &files)?;
        sources.read_steer_files(files, spelling);
        Ok(sources)
    }

    fn read_guard_files(&mut self, world: &World, event: &Event<'_>) -> Result<(), String> {
        let files = discovery::guard_files(&world.guard_directories(), &event.cwd, &event.paths)
            .map_err(|faults| lines(&faults))?;
        let mut problems = Vec::new();
        let mut uses = Vec::new();
        for file in &files {
            match read_trusted(world, &self.settings, file) {
                Ok(mut guard) => {
                    if file.scope == Scope::Place && !event.project_trusted {
                        self.leave_out_checkers(&mut guard.rules, event);
                    }
                    self.rules.extend(guard.rules);
                    self.settings.join(guard.settings);
                    uses.extend(guard.uses);
                    self.finish.extend(guard.finish);
                }
                Err(found) => problems.extend(found),
            }
            if !self.directories.contains(&file.directory) {
                self.directories.push(file.directory.clone());
            }
        }
        match builtins::used(&uses) {
            Ok(rules) => self.rules.extend(rules),
            Err(found) => problems.extend(found),
        }
        if let Some(file) = discovery::pi_hooks_file(&event.cwd) {
            match read_pi_hooks(world, &self.settings, file) {
                Ok(file) => {
                    self.rules.extend(file.rules);
                    self.finish.extend(file.finish);
                }
                Err(found) => problems.extend(found),
            }
        }
        none_of(&problems)
    }

    /// A steer file that is not trusted blocks like any other, for it could take rules away.
    fn require_trust(
        &self,
        world: &World,
        files: &[Result<RuleFile, discovery::Fault>],
    ) -> Result<(), String> {
        let objections: Vec<Diagnostic> = files
            .iter()
            .flatten()
            .filter_map(|file| trust::objection(world, &self.settings, file))
            .collect();
        none_of(&objections)
    }

    /// Takes out the rules that would start a program of a project the person does not trust, and tells
    /// of those that would have been asked.
    fn leave_out_checkers(&mut self, rules: &mut Vec<Rule>, event: &Event<'_>) {
        let starts = |rule: &Rule| matches!(&rule.effect, Effect::Checker { argv, .. } if *argv != PROTECT_CONFIG);
        for rule in rules.iter().filter(|rule| {
            starts(rule)
                && rule.enabled
                && rule.when.admits(event.phase, Spelling::Guard)
                && rule.gates.admit(event)
        }) {
            self.notices.push(format!(
                "i-insist: this project is not trusted, so the checker of `{}` was not run.",
                rule.id
            ));
        }
        rules.retain(|rule| !starts(rule));
    }

    /// Built-ins are in use where a steer file is, and always in steer's spelling.
    fn read_steer_files(
        &mut self,
        files: Vec<Result<RuleFile, discovery::Fault>>,
        spelling: Spelling,
    ) {
        if files.is_empty() && spelling == Spelling::Guard {
            return;
        }
        let mut layers = Vec::new();
        for layer in std::iter::once(builtins::layer()).chain(files.into_iter().map(read_steer)) {
            match layer {
                Ok(layer) => layers.push(layer),
                Err(problems) => {
                    self.notices.push(format!("i-insist: left out: {}", lines(&problems)));
                }
            }
        }
        self.rules.extend(steer::stack(layers).into_active());
    }
}

fn read_steer(file: Result<RuleFile, discovery::Fault>) -> Result<SteerFile, Vec<Diagnostic>> {
    match file {
        Ok(file) => steer::read(&file.path, &file.text),
        Err(fault) => Err(vec![Diagnostic::of_file(&fault.path, fault.cause)]),
    }
}

fn lines<T: ToString>(problems: &[T]) -> String {
    let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
    texts.join("\n")
}

fn none_of(problems: &[Diagnostic]) -> Result<(), String> {
    if problems.is_empty() {
        return Ok(());
    }
    let named = |problem: &Diagnostic| format!("configuration {problem}");
    Err(lines(&problems.iter().map(named).collect::<Vec<_>>()))
}

/// Reads one guard file, unless `settings`, those of the files before it, have it trusted first.
/// The machine's and the person's own files come before all others.
pub(crate) fn read_trusted(
    world: &World,
    settings: &Settings,
    file: &RuleFile,
) -> Result<guard::GuardFile, Vec<Diagnostic>> {
    match trust::objection(world, settings, file) {
        Some(objection) => Err(vec![objection]),
        None => read_guard(file),
    }
}

/// Reads pi-hooks' file, under the same condition.
pub(crate) fn read_pi_hooks(
    world: &World,
    settings: &Settings,
    file: Result<RuleFile, discovery::Fault>,
) -> Result<pi_hooks::PiHooksFile, Vec<Diagnostic>> {
    let file = file.map_err(|fault| vec![Diagnostic::of_file(&fault.path, fault.cause)])?;
    match trust::objection(world, settings, &file) {
        Some(objection) => Err(vec![objection]),
        None => pi_hooks::read(&file.path, &file.directory, &file.text),
    }
}

/// Reads one guard file by the rules of its scope.
pub(crate) fn read_guard(file: &RuleFile) -> Result<guard::GuardFile, Vec<Diagnostic>> {
    let scope = match file.scope {
        Scope::Person => guard::Scope::User,
        Scope::Place => guard::Scope::Repository,
    };
    guard::read(&file.path, &file.directory, &file.text, scope)
}

/// The settings of the machine's and the person's own files; `None` when one of them is wrong.
pub(crate) fn settings(world: &World) -> Option<Settings> {
    let mut settings = Settings::default();
    for file in discovery::general_files(&world.guard_directories()).ok()? {
        settings.join(read_guard(&file).ok()?.settings);
    }
    Some(settings)
}
