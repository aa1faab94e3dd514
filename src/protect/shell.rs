//! Shell text: each segment's commands, operands, redirections and code against what is protected.

use super::guarded::{self, Guarded, Reach, Wildcards, named_in};
use super::operands::{self, Command, Manner, Operand};
use super::{Touch, clients, code, search};
use crate::event::{Event, paths};
use crate::shell::{Parsed, Segment};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Wrappers whose own options may name a directory or a file.
const NAMING_WRAPPERS: &[&str] = &[
    "chroot",
    "doas",
    "env",
    "flock",
    "parallel",
    "runuser",
    "script",
    "strace",
    "sudo",
    "systemd-run",
    "time",
    "unshare",
];

/// Those among them that write it.
const WRITING_WRAPPERS: &[&str] = &["flock", "script", "strace", "time"];

pub(super) fn examine(
    event: &Event<'_>,
    parsed: &Parsed,
    guarded: &Guarded,
    home: &Path,
) -> Option<Touch> {
    let dotted = parsed.segments.iter().any(|segment| {
        segment
            .args
            .iter()
            .any(|word| word == "dotglob" || word == "globdots" || word == "dot_glob")
    });
    let shell = Shell {
        codex: event.harness == "codex",
        text: event.command.as_deref().unwrap_or_default(),
        segments: &parsed.segments,
        wildcards: if dotted {
            Wildcards::Dotted
        } else {
            Wildcards::Shell
        },
        guarded,
        home,
    };
    (0..parsed.segments.len()).find_map(|index| shell.segment(index))
}

struct Shell<'a> {
    codex: bool,
    text: &'a str,
    segments: &'a [Segment],
    wildcards: Wildcards,
    guarded: &'a Guarded,
    home: &'a Path,
}

/// Where a word leads.
struct Place {
    path: PathBuf,
    /// The path is absolute and its links are followed; else only its names tell.
    physical: bool,
}

impl<'a> Shell<'a> {
    fn segment(&self, index: usize) -> Option<Touch> {
        let segment = self.segments.get(index)?;
        let command = of(segment).launched();
        self.redirections(index)
            .or_else(|| clients::switches_hooks(command, self.text).map(Touch))
            .or_else(|| self.terminal(index, command))
            .or_else(|| self.wrappers(segment, command))
            .or_else(|| self.code(index, command))
            .or_else(|| self.search(index, command))
            .or_else(|| self.operands(index, command))
    }

    /// `> file` and its kin write, whatever the command.
    fn redirections(&self, index: usize) -> Option<Touch> {
        let mut writes = self
            .segments
            .get(index)?
            .redirects
            .iter()
            .filter(|redirect| redirect.op.contains('>'));
        writes.find_map(|redirect| {
            let target = Operand {
                computed: redirect.target.is_empty() || redirect.target.contains('$'),
                ..Operand::new(redirect.target.as_str(), Manner::Writes)
            };
            self.reached(&target, index)
        })
    }

    /// In Codex, what is typed into a running program reaches no hook.
    fn terminal(&self, index: usize, command: Command<'_>) -> Option<Touch> {
        let segment = self.segments.get(index).filter(|_| self.codex)?;
        clients::reads_terminal(segment, command, self.feeders(index).last()).then(|| {
            Touch(format!("`{}` would read commands from a terminal, where no hook sees them: what it could change", segment.head))
        })
    }

    /// `env -C .i-insist rm a.toml`: the options of wrappers stand before the head.
    fn wrappers(&self, segment: &Segment, command: Command<'_>) -> Option<Touch> {
        let among = |list: &[&str]| {
            segment
                .wrappers
                .iter()
                .any(|wrapper| list.contains(&wrapper.as_str()))
        };
        if !among(NAMING_WRAPPERS) {
            return None;
        }
        let start = segment.span.as_ref()?.start;
        let before = self.text.get(start..segment.spans.as_ref()?.head.start)?;
        let counts = among(WRITING_WRAPPERS) || self.manner(command) > Manner::Reads;
        named_in(&before.replace(['\'', '"', '\\'], ""))
            .filter(|_| counts)
            .map(Touch)
    }

    /// Code in another language that names a protected file, or stands where all files are.
    fn code(&self, index: usize, command: Command<'_>) -> Option<Touch> {
        let code = code::read(command)?;
        let segment = self.segments.get(index)?;
        let input = if code.reads_input {
            self.input(index)
        } else {
            Vec::new()
        };
        let mut texts = code.texts.iter().copied().chain(input.iter().copied());
        let here = || {
            let runs =
                code::is_interpreter(command.head) && !(code.texts.is_empty() && input.is_empty());
            runs.then(|| self.reached(&Operand::new(".", Manner::Writes), index))?
        };
        let computed = || {
            let computed = segment.dynamic_args.iter().any(|dynamic| *dynamic);
            computed.then(|| self.substituted(index))?
        };
        texts
            .find_map(named_in)
            .map(Touch)
            .or_else(here)
            .or_else(computed)
            .or_else(|| {
                code.operands
                    .iter()
                    .find_map(|operand| self.reached(operand, index))
            })
    }

    /// What a program that reads code finds on its standard input, as far as the text tells.
    fn input(&self, index: usize) -> Vec<&'a str> {
        let Some(segment) = self.segments.get(index) else {
            return Vec::new();
        };
        let mut texts = Vec::new();
        for feeder in self.feeders(index).chain([segment]) {
            let unknown = feeder.stdin.is_none()
                && feeder
                    .redirects
                    .iter()
                    .any(|redirect| redirect.op.starts_with("<<"));
            texts.extend(feeder.stdin.as_deref().or(unknown.then_some(self.text)));
            if matches!(feeder.head.as_str(), "echo" | "printf") {
                texts.extend(feeder.args.iter().map(String::as_str));
            }
        }
        texts
    }

    /// `find` that deletes, or has its findings changed by what it runs.
    fn search(&self, index: usize, command: Command<'_>) -> Option<Touch> {
        let search = search::read(command)?;
        let depth = self.segments.get(index)?.depth;
        let behind = self.segments.get(index + 1..).unwrap_or_default();
        let run = behind
            .iter()
            .take_while(|inner| inner.depth > depth)
            .map(of);
        let manner = run
            .chain(search.runs)
            .map(|run| self.manner(run.launched()))
            .max();
        let manner = if search.changes {
            Manner::Moves
        } else {
            manner.unwrap_or(Manner::Reads)
        };
        self.found(&search, index, manner)
    }

    fn found(&self, search: &search::Search<'_>, index: usize, manner: Manner) -> Option<Touch> {
        search.roots.iter().find_map(|root| {
            let operand = Operand::new(*root, manner);
            // What is not known is not taken to change all it is shown.
            let below = manner > Manner::Unknown && search.finds_protected;
            let below = below.then_some(Operand {
                manner: Manner::Moves,
                ..operand.clone()
            });
            self.reached(&operand, index)
                .or_else(|| self.reached(&below?, index))
        })
    }

    fn operands(&self, index: usize, command: Command<'_>) -> Option<Touch> {
        let is_directory = |text: &str| {
            let place = self.place(text, index);
            place.physical && place.path.is_dir()
        };
        let fed = self
            .segments
            .get(index)?
            .wrappers
            .iter()
            .any(|wrapper| wrapper == "xargs" || wrapper == "parallel");
        let fed = fed && self.manner(command) > Manner::Unknown;
        if code::is_shell(command.head) || code::is_interpreter(command.head) && !command.has("-i")
        {
            return None;
        }
        let operands = operands::of(command, &is_directory);
        let mut operands = operands.iter();
        operands
            .find_map(|operand| self.reached(operand, index))
            .or_else(|| fed.then(|| self.fed(index))?)
    }

    /// The heaviest thing `command` does to anything.
    fn manner(&self, command: Command<'_>) -> Manner {
        if code::is_shell(command.head) {
            return Manner::Reads;
        }
        let operands = operands::of(command, &|_| false);
        let named = operands.iter().map(|operand| operand.manner).max();
        // Without operands here they come from elsewhere: `xargs rm`.
        let example = ["x".to_owned(), "y".to_owned()];
        let given = |args| {
            operands::of(
                Command {
                    args,
                    dynamic: &[],
                    ..command
                },
                &|_| false,
            )
            .iter()
            .map(|operand| operand.manner)
            .max()
        };
        let mut args = command.args.to_vec();
        args.extend(example);
        named.or_else(|| given(&args)).unwrap_or(Manner::Reads)
    }

    /// What an operand reaches that is protected.
    fn reached(&self, operand: &Operand<'_>, index: usize) -> Option<Touch> {
        let text = &*operand.text;
        let (manner, unknown) = (operand.manner, operand.manner == Manner::Unknown);
        // Words for a command that is not known may as well be prose or patterns.
        if manner == Manner::Reads || unknown && text.contains([' ', '\n', '\t']) {
            return None;
        }
        if operand.computed
            && let Some(touch) = self.computed(text, index)
        {
            return Some(touch);
        }
        let wild = text.contains(['*', '?', '[', '(']);
        let wildcards = match wild {
            true if unknown && text.contains(".*") => Wildcards::Literal,
            true => self.wildcards,
            false => Wildcards::Literal,
        };
        let place = self.place(text, index);
        let named =
            guarded::has_protected_name(&place.path, wildcards).then_some(Reach::Configuration);
        let reach = named.or_else(|| {
            let physical = Some(paths::physical(&place.path)).filter(|_| place.physical)?;
            let named =
                guarded::has_protected_name(&physical, wildcards).then_some(Reach::Configuration);
            let below = || {
                (manner == Manner::Moves && self.guarded.lies_below(&physical, wildcards))
                    .then_some(Reach::Configuration)
            };
            named
                .or_else(|| self.guarded.reach_known(&physical, wildcards))
                .or_else(below)
        });
        // Programs are run and passed to other programs all the time.
        reach
            .filter(|reach| *reach == Reach::Configuration || !unknown)
            .map(|_| Touch(text.to_owned()))
    }

    /// Where `text` leads from the segment's directory.
    fn place(&self, text: &str, index: usize) -> Place {
        let home = ["$HOME/", "${HOME}/"]
            .iter()
            .find_map(|spelled| text.strip_prefix(spelled));
        let tilde = home.map(|rest| format!("~/{rest}"));
        let here = ["$PWD/", "${PWD}/"]
            .iter()
            .find_map(|spelled| text.strip_prefix(spelled));
        let text = tilde.as_deref().or(here).unwrap_or(text);
        let directory = self.directory(index);
        let path = paths::expand_tilde(text, self.home);
        let known = directory.is_absolute() || path.is_absolute();
        Place {
            physical: known && !text.contains('$') && !text.is_empty(),
            path: directory.join(path),
        }
    }

    /// Where the segment runs; where that is not known beforehand, what the last `cd` says of it.
    fn directory(&self, index: usize) -> PathBuf {
        let Some(segment) = self.segments.get(index) else {
            return PathBuf::new();
        };
        let mut directory = match &segment.directory {
            Some(directory) => directory.clone(),
            None => {
                let before = self.segments.get(..index).unwrap_or_default();
                let moved = before.iter().rposition(|moved| {
                    matches!(moved.head.as_str(), "cd" | "chdir" | "pushd" | "popd")
                });
                let target = moved.and_then(|at| {
                    Some((
                        at,
                        self.segments
                            .get(at)?
                            .args
                            .iter()
                            .find(|word| !word.starts_with('-'))?,
                    ))
                });
                // `at` lies before `index`, so this ends.
                target.map_or_else(PathBuf::new, |(at, word)| self.place(word, at).path)
            }
        };
        let mut wrappers = segment.wrappers.iter();
        while let Some(wrapper) = wrappers.next().filter(|_| segment.head == "git") {
            let value = match wrapper.as_str() {
                "-C" | "--work-tree" => wrappers.next().map(String::as_str),
                _ => wrapper.strip_prefix("--work-tree="),
            };
            directory.extend(value.map(|value| paths::expand_tilde(value, self.home).into_owned()));
        }
        directory
    }

    /// What stands before the segment in its pipeline, with what that runs.
    fn feeders(&self, index: usize) -> impl Iterator<Item = &'a Segment> + use<'a> {
        let segments = self.segments;
        let depth = segments.get(index).map_or(0, |segment| segment.depth);
        let mut start = index;
        while start > 0
            && segments
                .get(start)
                .is_some_and(|at| at.depth > depth || !at.pipeline_start)
        {
            start -= 1;
        }
        segments.get(start..index).unwrap_or_default().iter()
    }

    /// `echo .i-insist/a.toml | xargs rm`: operands that are another command's output.
    fn fed(&self, index: usize) -> Option<Touch> {
        let count = self.feeders(index).count();
        let input = self.input(index).into_iter().find_map(named_in).map(Touch);
        input.or_else(|| (index - count..index).find_map(|feeder| self.yields(feeder)))
    }

    /// `rm $(ls .i-insist/*)`: operands that a substitution computes.
    fn substituted(&self, index: usize) -> Option<Touch> {
        let depth = self.segments.get(index)?.depth;
        let inner = index + 1..self.segments.len();
        inner
            .take_while(|at| {
                self.segments
                    .get(*at)
                    .is_some_and(|segment| segment.depth > depth)
            })
            .find_map(|at| self.yields(at))
    }

    /// Whether the output of a command names something protected.
    fn yields(&self, index: usize) -> Option<Touch> {
        let command = of(self.segments.get(index)?);
        if let Some(search) = search::read(command) {
            return self.found(&search, index, Manner::Moves);
        }
        let searches = matches!(
            command.head,
            "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "git" | "sed" | "awk"
        );
        let spoken = matches!(command.head, "echo" | "printf");
        let words = command.plain_words().skip(usize::from(searches));
        words.into_iter().find_map(|word| match spoken {
            true => named_in(word).map(Touch),
            false => self.reached(&Operand::new(word, Manner::Writes), index),
        })
    }

    /// An operand whose value is not known: where its value comes from, as far as the text tells.
    fn computed(&self, text: &str, index: usize) -> Option<Touch> {
        let variable = text
            .split_once('$')
            .map(|(_, rest)| rest.trim_start_matches(['{', '#', '!']));
        let Some(variable) = variable.filter(|rest| !rest.starts_with('(')) else {
            return self.substituted(index);
        };
        let length = variable
            .find(|sign: char| !sign.is_alphanumeric() && sign != '_')
            .unwrap_or(variable.len());
        let name = variable.get(..length).filter(|name| !name.is_empty())?;
        let offset = |rest: &str| self.text.len() - rest.len();
        let assigned = clients::assigned(self.text, name);
        let looped = self.text.match_indices("for ").filter_map(|(start, _)| {
            let rest = self
                .text
                .get(start + 4..)?
                .trim_start()
                .strip_prefix(name)?;
            rest.trim_start().strip_prefix("in ")
        });
        let bound = assigned
            .chain(looped)
            .map(|rest| offset(rest)..offset(rest) + value_length(rest));
        let mut bound: Vec<Range<usize>> = bound.collect();
        bound.truncate(64);
        bound
            .into_iter()
            .find_map(|value| self.value(value))
            .or_else(|| self.read(name))
    }

    /// The text of a value, the commands in it judged by what they put out.
    fn value(&self, value: Range<usize>) -> Option<Touch> {
        let mut rest = self.text.get(value.clone())?.to_owned();
        for (index, segment) in self.segments.iter().enumerate() {
            let inside = segment
                .span
                .clone()
                .filter(|span| value.start <= span.start && span.end <= value.end);
            let Some(span) = inside.filter(|_| segment.depth > 0) else {
                continue;
            };
            if let Some(touch) = self.yields(index) {
                return Some(touch);
            }
            rest = rest.replace(self.text.get(span)?, "");
        }
        named_in(&rest).map(Touch)
    }

    /// `… | while read name`: what is read is what feeds it.
    fn read(&self, name: &str) -> Option<Touch> {
        let reads = |segment: &Segment| {
            matches!(segment.head.as_str(), "read" | "mapfile" | "readarray")
                && segment.args.iter().any(|word| word == name)
        };
        let at = self.segments.iter().position(reads)?;
        let segment = self.segments.get(at)?;
        let substituted = segment
            .redirects
            .iter()
            .any(|redirect| redirect.op == "<" && redirect.target.is_empty());
        let behind = at + 1..self.segments.len();
        let mut inner = behind.filter(|other| {
            self.segments
                .get(*other)
                .is_some_and(|other| other.depth > segment.depth)
        });
        self.fed(at)
            .or_else(|| substituted.then(|| inner.find_map(|other| self.yields(other)))?)
    }
}

fn of(segment: &Segment) -> Command<'_> {
    Command {
        head: &segment.head,
        args: &segment.args,
        dynamic: &segment.dynamic_args,
    }
}

/// How far a value goes: to the next separator outside brackets.
fn value_length(text: &str) -> usize {
    let mut open = 0_u32;
    for (at, sign) in text.char_indices() {
        match sign {
            '(' => open += 1,
            ')' if open == 0 => return at,
            ')' => open -= 1,
            ';' | '\n' | '&' | '|' if open == 0 => return at,
            _ => {}
        }
    }
    text.len()
}
