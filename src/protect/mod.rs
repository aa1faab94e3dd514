#![doc = include_str!("../manual/12-protect.md")]
//!
//! Promises: judged on targets and segments, so that reading and mentioning pass; an operand is
//! resolved as the system would resolve it. Never: changes anything, knows a harness: what a client
//! loads hooks from is handed in.

mod guarded;
mod operands;

pub(crate) use guarded::Guarded;

use crate::event::{Event, Kind, paths};
use crate::shell::{Parsed, Segment};
use guarded::Reach;
use operands::{Manner, Operand};
use std::path::Path;

/// What a call would change that is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Touch(String);

impl std::fmt::Display for Touch {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "{} is protected configuration; changing it needs human approval",
            self.0
        )
    }
}

/// Whether the call would change protected configuration, and what.
pub(crate) fn examine(
    event: &Event<'_>,
    shell: Option<&Parsed>,
    guarded: &Guarded,
    home: &Path,
) -> Option<Touch> {
    let edited = match event.kind {
        Kind::FileWrite | Kind::FileEdit | Kind::Shell => event.paths.as_slice(),
        Kind::Other => &[],
    };
    if let Some(path) = edited.iter().find(|path| guarded.covers(path).is_some()) {
        return Some(Touch(path.display().to_string()));
    }
    let parsed = shell?;
    let shell = Shell {
        event,
        parsed,
        guarded,
        home,
    };
    parsed
        .segments
        .iter()
        .find_map(|segment| shell.segment(segment))
}

struct Shell<'a> {
    event: &'a Event<'a>,
    parsed: &'a Parsed,
    guarded: &'a Guarded,
    home: &'a Path,
}

impl Shell<'_> {
    fn segment(&self, segment: &Segment) -> Option<Touch> {
        self.redirections(segment)
            .or_else(|| self.own_commands(segment))
            .or_else(|| self.code(segment))
            .or_else(|| self.targets(segment))
            .or_else(|| self.fed_names(segment))
    }

    /// `> file` and its kin write, whatever the command.
    fn redirections(&self, segment: &Segment) -> Option<Touch> {
        let writes = segment
            .redirects
            .iter()
            .filter(|redirect| redirect.op.contains('>'));
        writes
            .into_iter()
            .find_map(|redirect| self.reached(&Operand::written(&redirect.target), segment))
    }

    /// Our own commands that change registrations, and clients that are started with hooks off.
    fn own_commands(&self, segment: &Segment) -> Option<Touch> {
        let has = |word: &str| segment.args.iter().any(|argument| argument == word);
        let first = segment.args.first().map(String::as_str);
        let touched = match segment.head.as_str() {
            "i-insist" => matches!(
                first,
                Some("install" | "uninstall" | "ensure" | "trust" | "untrust")
            )
            .then(|| format!("i-insist {}", first.unwrap_or_default())),
            "claude" => has("--bare")
                .then(|| "claude --bare".to_owned())
                .or_else(|| {
                    let sources = segment.args.iter().any(|argument| {
                        argument.starts_with("--setting-sources")
                            || argument.starts_with("--settings")
                    });
                    sources.then(|| "claude with other settings".to_owned())
                }),
            "codex" => {
                let off = has("--dangerously-bypass-hook-trust")
                    || has("--ignore-user-config")
                    || segment
                        .args
                        .iter()
                        .any(|argument| argument.contains("hooks"));
                off.then(|| "codex with its hooks changed".to_owned())
            }
            "pi" => {
                (has("-ne") || has("--no-extensions")).then(|| "pi without extensions".to_owned())
            }
            "opencode" => has("--pure").then(|| "opencode --pure".to_owned()),
            _ => None,
        };
        let switched = segment
            .assignments
            .iter()
            .find(|assignment| guarded::SWITCHES.contains(&assignment.name.as_str()));
        touched
            .or_else(|| switched.map(|assignment| assignment.name.clone()))
            .or_else(|| self.opens_terminal(segment))
            .map(Touch)
    }

    /// In Codex, what is typed into a running shell or interpreter reaches no hook.
    fn opens_terminal(&self, segment: &Segment) -> Option<String> {
        let fed = !segment.pipeline_start
            || segment
                .redirects
                .iter()
                .any(|redirect| redirect.op.contains('<'));
        (self.event.harness == "codex" && !fed && operands::reads_commands_from_terminal(segment))
            .then(|| {
                format!(
                    "`{}` would read commands from a terminal, where no hook sees them;",
                    segment.head
                )
            })
    }

    /// Code in another language that names a protected file.
    fn code(&self, segment: &Segment) -> Option<Touch> {
        if !operands::is_interpreter(&segment.head) {
            return None;
        }
        operands::code(segment)
            .into_iter()
            .chain(segment.stdin.as_deref())
            .find_map(|text| guarded::named_in(text).map(|name| Touch(name.to_owned())))
    }

    fn targets(&self, segment: &Segment) -> Option<Touch> {
        operands::of(segment)
            .iter()
            .find_map(|operand| self.reached(operand, segment))
    }

    /// `echo .i-insist/a.toml | xargs rm`: the operands are another command's output.
    fn fed_names(&self, segment: &Segment) -> Option<Touch> {
        let fed = segment
            .wrappers
            .iter()
            .any(|wrapper| wrapper == "xargs" || wrapper == "parallel");
        if !fed || operands::manner(segment) == Manner::Reads {
            return None;
        }
        let words = self.parsed.segments.iter().flat_map(|other| &other.args);
        words
            .into_iter()
            .find_map(|word| guarded::named_in(word).map(|name| Touch(name.to_owned())))
    }

    /// What an operand reaches that is protected.
    fn reached(&self, operand: &Operand<'_>, segment: &Segment) -> Option<Touch> {
        if operand.manner == Manner::Reads {
            return None;
        }
        let directory = segment.directory.as_deref();
        let touched = match directory {
            Some(directory) => {
                let path = paths::resolve(&operand.text, directory, self.home);
                self.guarded.reach(&path, &operand.text).or_else(|| {
                    let removes = operand.manner == Manner::Moves;
                    (removes && self.guarded.lies_below(&path)).then_some(Reach::Configuration)
                })
            }
            // The directory is not known before the command runs: what remains is the name.
            None => self
                .guarded
                .reach(Path::new(operand.text.as_ref()), &operand.text),
        };
        let counts = match touched? {
            Reach::Configuration => true,
            // Programs of rules are run and passed to other programs all the time; what counts is a
            // command that is known to change files.
            Reach::Program => matches!(operand.manner, Manner::Writes | Manner::Moves),
        };
        counts.then(|| Touch(operand.text.to_string()))
    }
}
