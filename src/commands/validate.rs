//! `validate [FILE…]`: every problem of every source, and what became of each rule.

use super::judge::{OnPath, PROTECT_CONFIG};
use super::{Exit, complain, examples, finishing, say, sources, trust};
use crate::checker::process;
use crate::decision::Programs;
use crate::discovery::{self, RuleFile, Scope};
use crate::event::paths;
use crate::rules::guard::GuardFile;
use crate::rules::steer::{self, Fate, SteerFile};
use crate::rules::{Diagnostic, Effect, Finish, Rule, Settings, Spelling, builtins};
use crate::world::World;
use std::fs;
use std::path::{Path, PathBuf};

/// Checks the sources that hold in the current directory, or the files that are named.
pub(crate) fn run(arguments: &[String]) -> Exit {
    with_world(|world| {
        let mut listing = Listing::new(world);
        if arguments.is_empty() {
            let directory = paths::physical(&world.current_directory);
            match discovery::guard_files(&world.guard_directories(), &directory, &[]) {
                Ok(files) => files.iter().for_each(|file| listing.found_guard_file(file)),
                Err(faults) => listing.unreadable(faults.iter().map(ToString::to_string)),
            }
            match discovery::pi_hooks_file(&directory) {
                Some(Ok(file)) => listing.pi_hooks_file(file),
                Some(Err(fault)) => listing.unreadable(std::iter::once(fault.to_string())),
                None => {}
            }
            listing.steer_files(&directory, Spelling::Guard);
        } else {
            for name in arguments {
                listing.named_file(name);
            }
        }
        listing.conclude()
    })
}

/// The same for steer's sources, which is all that steer's spelling knows.
pub(crate) fn run_steer(_: &[String]) -> Exit {
    with_world(|world| {
        let mut listing = Listing::new(world);
        listing.steer_files(&paths::physical(&world.current_directory), Spelling::Steer);
        listing.conclude()
    })
}

fn with_world(run: impl FnOnce(&World) -> Exit) -> Exit {
    match World::from_environment() {
        Ok(world) => run(&world),
        Err(problem) => {
            complain(&format!("i-insist: {problem}"));
            Exit::Failed
        }
    }
}

/// What is printed, and what was counted on the way.
struct Listing<'a> {
    world: &'a World,
    /// Of the machine's and the person's own files.
    settings: Settings,
    sources: usize,
    rules: usize,
    problems: usize,
    unreadable: bool,
}

impl<'a> Listing<'a> {
    fn new(world: &'a World) -> Self {
        Self {
            world,
            settings: sources::settings(world).unwrap_or_default(),
            sources: 0,
            rules: 0,
            problems: 0,
            unreadable: false,
        }
    }

    fn unreadable(&mut self, faults: impl Iterator<Item = String>) {
        self.unreadable = true;
        faults.for_each(|fault| complain(&fault));
    }

    fn source(&mut self, name: &str) {
        self.sources += 1;
        say(name);
    }

    fn problem(&mut self, problem: &Diagnostic) {
        self.problems += 1;
        say(&format!("  problem: {problem}"));
    }

    fn problems(&mut self, problems: &[Diagnostic]) {
        for problem in problems {
            self.problem(problem);
        }
    }

    /// A file that discovery found, which counts only where it is trusted.
    fn found_guard_file(&mut self, file: &RuleFile) {
        let read = sources::read_trusted(self.world, &self.settings, file);
        self.guard_file(file, read);
    }

    fn guard_file(&mut self, file: &RuleFile, read: Result<GuardFile, Vec<Diagnostic>>) {
        self.source(&file.path.display().to_string());
        match read {
            Ok(guard) => {
                for rule in &guard.rules {
                    self.rule(rule, None);
                }
                match builtins::used(&guard.uses) {
                    Ok(rules) => rules.iter().for_each(|rule| self.rule(rule, None)),
                    Err(problems) => self.problems(&problems),
                }
                finish(guard.finish.as_ref());
            }
            Err(problems) => self.problems(&problems),
        }
    }

    fn pi_hooks_file(&mut self, file: RuleFile) {
        self.source(&file.path.display().to_string());
        match sources::read_pi_hooks(self.world, &self.settings, Ok(file)) {
            Ok(file) => {
                for rule in &file.rules {
                    self.rule(rule, None);
                }
                finish(file.finish.as_ref());
            }
            Err(problems) => self.problems(&problems),
        }
    }

    /// Steer's layers, lowest first, if they are in use.
    fn steer_files(&mut self, directory: &Path, spelling: Spelling) {
        let files = discovery::steer_files(&self.world.config_home, directory);
        if files.is_empty() && spelling == Spelling::Guard {
            return;
        }
        let mut layers = vec![built_in()];
        for file in files {
            match file {
                Ok(file) => {
                    let objection = trust::objection(self.world, &self.settings, &file);
                    layers.push(match objection {
                        Some(objection) => (file.path.clone(), Err(vec![objection])),
                        None => steer_layer(&file.path, &file.text),
                    });
                }
                Err(fault) => self.unreadable(std::iter::once(fault.to_string())),
            }
        }
        self.layers(&layers, 0);
    }

    /// Lays steer's layers over one another, and lists those from number `first` on.
    fn layers(&mut self, layers: &[Layer], first: usize) {
        let readable =
            layers.iter().filter_map(|(_, layer)| layer.as_ref().ok().cloned()).collect();
        let stack = steer::stack(readable);
        for (path, layer) in layers.iter().skip(first) {
            self.source(&path.display().to_string());
            if let Err(problems) = layer {
                self.problems(problems);
            }
            for (rule, fate) in &stack.rules {
                if *rule.place.file == **path {
                    self.rule(rule, Some(fate));
                }
            }
            for problem in &stack.problems() {
                if *problem.place.file == **path {
                    self.problem(problem);
                }
            }
        }
    }

    /// A file that is named is read as if it lay in the directory it is in; outside the machine's and
    /// the person's own directories it is a repository's.
    fn named_file(&mut self, name: &str) {
        let path = self.world.current_directory.join(name);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) => {
                return self.unreadable(std::iter::once(format!(
                    "configuration {name}: cannot be read ({error})"
                )));
            }
        };
        let own_steer_file = self.world.config_home.join("steer/config.toml");
        let is_own = paths::physical(&path) == paths::physical(&own_steer_file);
        if is_own || path.file_name().is_some_and(|file| file == ".steer.toml") {
            let mut layers = vec![built_in()];
            if let Some(text) = fs::read(&own_steer_file).ok().filter(|_| !is_own) {
                layers.push(steer_layer(&own_steer_file, &text));
            }
            layers.push(steer_layer(Path::new(name), &text));
            return self.layers(&layers, layers.len() - 1);
        }
        let directory = paths::physical(path.parent().unwrap_or(&path));
        let own =
            self.world.guard_directories().iter().any(|own| paths::physical(own) == directory);
        let scope = if own { Scope::Person } else { Scope::Place };
        let file = RuleFile { path: Path::new(name).to_owned(), directory, scope, text };
        if path.extension().is_some_and(|ending| ending == "json") {
            self.pi_hooks_file(file);
        } else {
            self.guard_file(&file, sources::read_guard(&file));
        }
    }

    /// One line about a rule: what became of it, what it does, where it stands; then its examples that fail.
    fn rule(&mut self, rule: &Rule, fate: Option<&Fate>) {
        self.rules += 1;
        let state = match fate {
            Some(Fate::Disabled(place)) => format!("disabled by {place}"),
            Some(Fate::Replaced(place)) => format!("replaced by {place}"),
            Some(Fate::Active) | None if !rule.enabled => {
                "disabled by `enabled = false`".to_owned()
            }
            Some(Fate::Active) | None => "active".to_owned(),
        };
        let counts = state == "active";
        let held = self
            .held_back(rule)
            .filter(|_| counts)
            .map_or(String::new(), |head| format!(", held back: `{head}` is not on PATH"));
        let firm = if rule.overridable { "" } else { ", not overridable" };
        let place = if *rule.place.file == *Path::new(builtins::FILE) {
            builtins::FILE.to_owned()
        } else {
            format!("line {}", rule.place.line)
        };
        say(&format!("  {}: {state}{held}, {}{firm} ({place})", rule.id, effect(rule)));
        if let Some(description) = &rule.description {
            say(&format!("    {description}"));
        }
        if counts {
            if let Some(cause) = obstacle(rule) {
                self.problem(&Diagnostic {
                    place: rule.place.clone(),
                    message: format!(
                        "`{}` blocks every call that it looks at: checker cannot be started: {cause}",
                        rule.id
                    ),
                });
            }
            self.problems(&examples::failures(self.world, &self.settings.wrappers, rule));
        }
    }

    fn held_back<'r>(&self, rule: &'r Rule) -> Option<&'r str> {
        let Effect::Rewrite { replace_head, .. } = &rule.effect else {
            return None;
        };
        replace_head.as_deref().filter(|head| !OnPath(self.world).finds(head))
    }

    fn conclude(self) -> Exit {
        match self.problems {
            _ if self.unreadable => Exit::Failed,
            0 => {
                let rules = counted(self.rules, "rule");
                let sources = counted(self.sources, "source");
                say(&format!("ok: {rules} in {sources}"));
                Exit::Done
            }
            problems => {
                say(&counted(problems, "problem"));
                Exit::No
            }
        }
    }
}

/// A file of steer's stack and what was read from it.
type Layer = (PathBuf, Result<SteerFile, Vec<Diagnostic>>);

fn built_in() -> Layer {
    (builtins::FILE.into(), builtins::layer())
}

fn steer_layer(path: &Path, text: &[u8]) -> Layer {
    (path.to_owned(), steer::read(path, text))
}

/// A number of things, in the singular where it is one.
fn counted(number: usize, thing: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{ending}")
}

/// A line about each check before finishing.
fn finish(finish: Option<&Finish>) {
    for line in finish.into_iter().flat_map(finishing::describe) {
        say(&format!("  {line}"));
    }
}

/// Why the rule's checker cannot be started.
fn obstacle(rule: &Rule) -> Option<String> {
    let Effect::Checker { argv, .. } = &rule.effect else {
        return None;
    };
    if *argv == PROTECT_CONFIG {
        return None;
    }
    process::obstacle(argv, &rule.directory)
}

fn effect(rule: &Rule) -> String {
    match &rule.effect {
        Effect::Checker { argv, .. } => format!("checker {}", argv.join(" ")),
        Effect::Deny { .. } => "deny".to_owned(),
        Effect::Ask { .. } => "ask".to_owned(),
        Effect::Rewrite { .. } => "rewrite".to_owned(),
        Effect::Context { .. } => "context".to_owned(),
    }
}
