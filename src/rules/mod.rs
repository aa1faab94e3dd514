#![doc = include_str!("../manual/04-rules.md")]
//!
//! [`guard::read`] and [`steer::read`] share one schema and differ in what may stand beside the
//! rules; [`steer::stack`] lays steer's files over one another; [`builtins`] are steer rules in a
//! compiled-in file. [`pi_hooks::read`] takes the JSON of pi-hooks.
//!
//! Promises: pure, linear in the text; an unknown field, a wrong type and a pattern that is none
//! are errors, on disabled rules too; all problems of a file are told, each with file, line,
//! column, what was found and what was expected. Never: opens a file, compiles a regular
//! expression before its rule asks for it, drops a rule silently.

mod action;
mod block;
pub(crate) mod builtins;
pub(crate) mod guard;
pub(crate) mod pi_hooks;
mod rule;
mod schema;
#[cfg(test)]
mod schema_tests;
pub(crate) mod steer;
#[cfg(test)]
mod tests;

use crate::event::{Event, Kind, Phase};
use crate::glob::Pattern;
use crate::json::Json;
use crate::matching::Block;
use crate::shell::Wrapper;
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

/// Where something stands in a rule file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The file, as it was named to the reader.
    pub(crate) file: Rc<Path>,
    /// Line, from 1.
    pub(crate) line: usize,
    /// Column in characters, from 1.
    pub(crate) column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

/// One problem of a rule file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Diagnostic {
    /// Where.
    pub(crate) place: Place,
    /// What was found, what was expected, and the way out where one is known.
    pub(crate) message: String,
}

impl Diagnostic {
    /// A problem of a whole file.
    pub(crate) fn of_file(file: &Path, message: String) -> Self {
        let place = Place { file: Rc::from(file), line: 1, column: 1 };
        Self { place, message }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.place, self.message)
    }
}

/// Which family of files a rule comes from; it decides how its matches combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    /// `.i-insist/*.toml`: one ordered search.
    Guard,
    /// pi-hooks' JSON file.
    PiHooks,
    /// steer's files: every match counts.
    Steer,
}

/// When a rule is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// Before or after the tool.
    At(Phase),
    /// A context rule of steer that names no phase: at whichever event is asked in steer's
    /// spelling, before the tool in guard spelling.
    Either,
}

/// Whose contract a call is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// Our own.
    Guard,
    /// That of `i-insist steer …`.
    Steer,
}

impl When {
    /// Whether a rule is asked at `phase`.
    pub(crate) fn admits(self, phase: Phase, spelling: Spelling) -> bool {
        match self {
            Self::At(own) => own == phase,
            Self::Either => spelling == Spelling::Steer || phase == Phase::Pre,
        }
    }
}

/// One rule.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// Its `id` or `name`.
    pub(crate) id: String,
    /// What it is for, in its author's words.
    pub(crate) description: Option<String>,
    /// Where it begins.
    pub(crate) place: Place,
    /// The directory of its file; checkers run there.
    pub(crate) directory: Rc<Path>,
    /// Which family of files it comes from.
    pub(crate) layer: Layer,
    /// Whether it is evaluated.
    pub(crate) enabled: bool,
    /// Whether a person's approval skips it.
    pub(crate) overridable: bool,
    /// Before or after the tool.
    pub(crate) when: When,
    /// Which calls it looks at.
    pub(crate) gates: Gates,
    /// Alternatives; empty only beside a checker, which then judges every call.
    pub(crate) matches: Vec<Block>,
    /// What it does.
    pub(crate) effect: Effect,
    /// Examples it carries.
    pub(crate) tests: Tests,
}

/// Which calls a rule looks at; an empty gate lets every call in.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Gates {
    /// Names of harnesses.
    pub(crate) harness: Vec<String>,
    /// Native or canonical names of tools.
    pub(crate) tool: Vec<String>,
    /// The neutral kind.
    pub(crate) kind: Option<Kind>,
}

impl Gates {
    /// Whether a rule looks at `event`. An event of no harness is looked at by the rules of all.
    pub(crate) fn admit(&self, event: &Event<'_>) -> bool {
        let named = |names: &[String], name: &str| names.iter().any(|known| known == name);
        (self.harness.is_empty()
            || event.harness.is_empty()
            || named(&self.harness, &event.harness))
            && (self.tool.is_empty()
                || named(&self.tool, &event.tool_name)
                || named(&self.tool, &event.canonical_tool))
            && self.kind.is_none_or(|kind| kind == event.kind)
    }
}

/// What a rule does with the calls it matches.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// A program decides.
    Checker {
        /// The program and its arguments.
        argv: Vec<String>,
        /// How long it may take.
        timeout: Duration,
        /// With it the program answers true or false; without it, a text or null.
        message: Option<String>,
    },
    /// The call is refused.
    Deny {
        /// The reason.
        message: Message,
    },
    /// The person is asked.
    Ask {
        /// The reason.
        message: Message,
    },
    /// The call runs with other input; at least one edit is there.
    Rewrite {
        /// The new command word.
        replace_head: Option<String>,
        /// Arguments that go.
        drop_args: Vec<String>,
        /// Arguments that come.
        add_args: Vec<String>,
        /// Fields of the tool's input with their new values.
        set: Vec<(String, Json<'static>)>,
        /// What to say about it.
        message: Option<Message>,
    },
    /// The call runs and the text goes with it.
    Context {
        /// The text.
        message: Message,
    },
}

impl Effect {
    /// The text of an action.
    pub(crate) fn message(&self) -> Option<&Message> {
        match self {
            Effect::Deny { message } | Effect::Ask { message } | Effect::Context { message } => {
                Some(message)
            }
            Effect::Rewrite { message, .. } => message.as_ref(),
            Effect::Checker { .. } => None,
        }
    }
}

/// A text for the agent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Message {
    /// The same in every harness.
    Text(String),
    /// One per harness; these harnesses are then the rule's gate too.
    PerHarness(Vec<(String, String)>),
}

impl Message {
    /// The text for `harness`; for no harness, the first.
    pub(crate) fn text(&self, harness: &str) -> Option<&str> {
        match self {
            Message::Text(text) => Some(text),
            Message::PerHarness(texts) => {
                let (_, text) =
                    texts.iter().find(|(name, _)| harness.is_empty() || name == harness)?;
                Some(text)
            }
        }
    }
}

/// Examples a rule carries: command lines, each with its place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tests {
    /// The rule matches these.
    pub(crate) fires: Vec<(String, Place)>,
    /// And not these.
    pub(crate) ignores: Vec<(String, Place)>,
    /// The first becomes the second.
    pub(crate) rewrites: Vec<(String, String, Place)>,
}

/// `[finish]`: what must pass before the agent may finish.
#[derive(Clone, Debug)]
pub(crate) struct Finish {
    /// Stop at the first failure.
    pub(crate) fail_fast: bool,
    /// How often in a row the agent is sent back.
    pub(crate) max_retries: u32,
    /// In the order they run.
    pub(crate) checks: Vec<Check>,
}

/// One check of `[finish]`.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    /// Its name in reports.
    pub(crate) name: Option<String>,
    /// What runs.
    pub(crate) program: Program,
    /// Repository files it depends on; `None`: all of them.
    pub(crate) inputs: Option<Vec<Pattern>>,
    /// How long it may take.
    pub(crate) timeout: Option<Duration>,
    /// Where it begins.
    pub(crate) place: Place,
}

/// What a finish check runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Program {
    /// A command line for `sh -c`.
    Command(String),
    /// A script, relative to the repository's root.
    Script(PathBuf),
}

/// `[settings]` of the system and home directories.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    /// Repository files count only when their content is trusted.
    pub(crate) require_trust: bool,
    /// Tell the agent at session start how a block is overridden.
    pub(crate) announce: bool,
    /// The approving prefix of a shell call grants something.
    pub(crate) shell_prefix: bool,
    /// Further commands that run the command behind them.
    pub(crate) wrappers: Vec<Wrapper>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { require_trust: false, announce: true, shell_prefix: true, wrappers: Vec::new() }
    }
}

impl Settings {
    /// Takes over another file's settings; where they differ, the one that is not the default
    /// holds, so that no file weakens another.
    pub(crate) fn join(&mut self, other: Settings) {
        self.require_trust |= other.require_trust;
        self.announce &= other.announce;
        self.shell_prefix &= other.shell_prefix;
        self.wrappers.extend(other.wrappers);
    }
}
