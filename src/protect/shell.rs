//! Shell text: each segment's commands, operands, redirections and code against what is protected.

use super::guarded::{self, Guarded, Reach, Wildcards, named_in};
use super::operands::{self, Command, Manner, Operand};
use super::{Touch, clients, code, search};
use crate::event::{Event, paths};
use crate::shell::{Parsed, Segment};
use std::cell::{Cell, OnceCell};
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
        wildcards: if dotted { Wildcards::Dotted } else { Wildcards::Shell },
        guarded,
        home,
        moved: OnceCell::new(),
        fuel: Cell::new(MAX_FOLLOWED),
        level: Cell::new(0),
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
    /// For each segment, the last `cd` before it.
    moved: OnceCell<Vec<Option<usize>>>,
    /// How many more values may be followed, and how many are being followed.
    fuel: Cell<u32>,
    level: Cell<u32>,
}

/// Following values takes time in proportion to the text, and values may hold values.
const MAX_FOLLOWED: u32 = 500;
const MAX_LEVEL: u32 = 3;

/// How far back in a pipeline its words are looked at.
const MAX_FEEDERS: usize = 256;

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
        let mut writes =
            self.segments.get(index)?.redirects.iter().filter(|redirect| redirect.op.contains('>'));
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
        let among =
            |list: &[&str]| segment.wrappers.iter().any(|wrapper| list.contains(&wrapper.as_str()));
        if !among(NAMING_WRAPPERS) {
            return None;
        }
        let start = segment.span.as_ref()?.start;
        let before = self.text.get(start..segment.spans.as_ref()?.head.start)?;
        let counts = among(WRITING_WRAPPERS) || Self::manner(command) > Manner::Reads;
        named_in(&before.replace(['\'', '"', '\\'], "")).filter(|_| counts).map(Touch)
    }

    /// Code in another language that names a protected file, or stands where all files are.
    fn code(&self, index: usize, command: Command<'_>) -> Option<Touch> {
        let code = code::read(command)?;
        let segment = self.segments.get(index)?;
        let reads = code.reads_input || code::is_shell(command.head) && segment.dynamic;
        let input = if reads { self.input(index) } else { Vec::new() };
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
            .or_else(|| code.operands.iter().find_map(|operand| self.reached(operand, index)))
    }

    /// What a program that reads code finds on its standard input, as far as the text tells.
    fn input(&self, index: usize) -> Vec<&'a str> {
        let Some(segment) = self.segments.get(index) else {
            return Vec::new();
        };
        let mut texts = Vec::new();
        for feeder in self.feeders(index).chain([segment]) {
            let unknown = feeder.stdin.is_none()
                && feeder.redirects.iter().any(|redirect| redirect.op.starts_with("<<"));
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
        let found = search.runs.map(|run| Self::manner(run.launched()));
        let manner = self.behind(index).map(Self::weight).chain(found).max();
        let manner = if search.changes { Manner::Moves } else { manner.unwrap_or(Manner::Reads) };
        self.found(&search, index, manner)
    }

    fn found(&self, search: &search::Search<'_>, index: usize, manner: Manner) -> Option<Touch> {
        search.roots.iter().find_map(|root| {
            let operand = Operand::new(*root, manner.min(Manner::Writes));
            // What is not known is not taken to change all it is shown.
            let below = manner > Manner::Unknown && search.finds_protected;
            let below = below.then_some(Operand { manner: Manner::Moves, ..operand.clone() });
            self.reached(&operand, index).or_else(|| self.reached(&below?, index))
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
        let mut runs = self.behind(index).chain(self.segments.get(index)).map(Self::weight);
        let fed = fed && runs.any(|weight| weight > Manner::Unknown);
        if fed && let Some(touch) = self.fed(index) {
            return Some(touch);
        }
        if code::is_shell(command.head) || code::is_interpreter(command.head) && !command.has("-i")
        {
            return None;
        }
        let operands = operands::of(command, &is_directory);
        let mut operands = operands.iter();
        operands.find_map(|operand| self.reached(operand, index))
    }

    /// The heaviest thing a segment does to what it is given.
    fn weight(segment: &Segment) -> Manner {
        let given = |target: &str| target.is_empty() || target.contains(['$', '{']);
        let writes = segment
            .redirects
            .iter()
            .any(|redirect| redirect.op.contains('>') && given(&redirect.target));
        let manner = Self::manner(of(segment).launched());
        if writes { manner.max(Manner::Writes) } else { manner }
    }

    /// The heaviest thing `command` does to anything.
    fn manner(command: Command<'_>) -> Manner {
        if code::is_shell(command.head) {
            return Manner::Reads;
        }
        let operands = operands::of(command, &|_| false);
        let named = operands.iter().map(|operand| operand.manner).max();
        // Without operands here they come from elsewhere: `xargs rm`.
        let given = || {
            let args = [command.args, &["x".to_owned(), "y".to_owned()]].concat();
            let command = Command { args: &args, dynamic: &[], ..command };
            let operands = operands::of(command, &|_| false);
            operands.iter().map(|operand| operand.manner).max()
        };
        named.or_else(given).unwrap_or(Manner::Reads)
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
        if let Some((at, directory)) = self.moved(index)
            && !text.starts_with(['/', '~'])
            && (directory.is_empty() || directory.contains('$'))
            && let Some(touch) = self.computed(directory, at)
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
            named.or_else(|| self.guarded.reach_known(&physical, wildcards)).or_else(below)
        });
        // Programs are run and passed to other programs all the time.
        reach
            .filter(|reach| *reach == Reach::Configuration || !unknown)
            .map(|_| Touch(text.to_owned()))
    }

    /// Where `text` leads from the segment's directory.
    fn place(&self, text: &str, index: usize) -> Place {
        let home = ["$HOME/", "${HOME}/"].iter().find_map(|spelled| text.strip_prefix(spelled));
        let tilde = home.map(|rest| format!("~/{rest}"));
        let here = ["$PWD/", "${PWD}/"].iter().find_map(|spelled| text.strip_prefix(spelled));
        let plain = text.contains("${").then(|| text.replace("${", "$").replace('}', ""));
        let text = tilde.as_deref().or(here).or(plain.as_deref()).unwrap_or(text);
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
        let guess = || self.moved(index).map(|(at, word)| self.place(word, at).path);
        let mut directory = segment.directory.clone().or_else(guess).unwrap_or_default();
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

    /// The last `cd` before a segment whose directory is not known, and its target.
    fn moved(&self, index: usize) -> Option<(usize, &'a str)> {
        if self.segments.get(index)?.directory.is_some() {
            return None;
        }
        let changes_directory =
            |segment: &Segment| matches!(segment.head.as_str(), "cd" | "chdir" | "pushd" | "popd");
        let moved = self.moved.get_or_init(|| {
            let mut last = None;
            let step = |(at, segment)| {
                let before = last;
                last = if changes_directory(segment) { Some(at) } else { last };
                before
            };
            self.segments.iter().enumerate().map(step).collect()
        });
        let at = moved.get(index).copied().flatten()?;
        // What a substitution in the target runs, it runs before.
        let elsewhere = at + self.behind(at).count() < index;
        let target = self.segments.get(at)?.args.iter().find(|word| !word.starts_with('-'));
        target.filter(|_| elsewhere).map(|target| (at, target.as_str()))
    }

    /// What the segment's own scripts and substitutions run.
    fn behind(&self, index: usize) -> impl Iterator<Item = &'a Segment> + use<'a> {
        let depth = self.segments.get(index).map_or(0, |segment| segment.depth);
        let behind = self.segments.get(index + 1..).unwrap_or_default();
        behind.iter().take_while(move |inner| inner.depth > depth)
    }

    /// What stands before the segment in its pipeline, with what that runs.
    fn feeders(&self, index: usize) -> impl Iterator<Item = &'a Segment> + use<'a> {
        let segments = self.segments;
        let depth = segments.get(index).map_or(0, |segment| segment.depth);
        let mut start = index;
        while start > 0
            && index - start < MAX_FEEDERS
            && segments.get(start).is_some_and(|at| at.depth > depth || !at.pipeline_start)
        {
            start -= 1;
        }
        segments.get(start..index).unwrap_or_default().iter()
    }

    /// `echo .i-insist/a.toml | xargs rm`: operands that are another command's output.
    fn fed(&self, index: usize) -> Option<Touch> {
        let count = self.feeders(index).count();
        let parallel =
            self.segments.get(index)?.wrappers.iter().any(|wrapper| wrapper == "parallel");
        let values =
            self.text.split_once("parallel").filter(|_| parallel).map(|(_, values)| values);
        let input = self.input(index).into_iter().chain(values).find_map(named_in).map(Touch);
        input.or_else(|| (index - count..index).find_map(|feeder| self.yields(feeder)))
    }

    /// `rm $(ls .i-insist/*)`: operands that a substitution computes.
    fn substituted(&self, index: usize) -> Option<Touch> {
        let count = self.behind(index).count();
        (index + 1..=index + count).find_map(|at| self.yields(at))
    }

    /// Whether the output of a command names something protected.
    fn yields(&self, index: usize) -> Option<Touch> {
        let command = of(self.segments.get(index)?);
        if let Some(search) = search::read(command) {
            return self.found(&search, index, Manner::Moves);
        }
        if matches!(command.head, "ls" | "dir") && (command.has("-a") || command.has("-A")) {
            return self.reached(&Operand::new(".", Manner::Moves), index);
        }
        if let Some(touch) = self.segments.get(index)?.stdin.as_deref().and_then(named_in) {
            return Some(Touch(touch));
        }
        let searches = matches!(
            command.head,
            "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "git" | "sed" | "awk"
        );
        let spoken = matches!(command.head, "echo" | "printf");
        // The first word of a search is what is looked for.
        let pattern = searches && !command.has("--files");
        let words = command.plain_words().skip(usize::from(pattern));
        words.into_iter().find_map(|word| {
            if spoken {
                named_in(word).map(Touch)
            } else {
                self.reached(&Operand::new(word, Manner::Writes), index)
            }
        })
    }

    /// An operand whose value is not known: where its value comes from, as far as the text tells.
    fn computed(&self, text: &str, index: usize) -> Option<Touch> {
        let defaults =
            [":-", ":=", ":+"].iter().fold(text.to_owned(), |text, sign| text.replace(sign, " "));
        let (level, fuel) = (self.level.get(), self.fuel.get());
        if let Some(name) = named_in(&defaults) {
            return Some(Touch(name));
        }
        if level == MAX_LEVEL {
            return None;
        }
        let Some(fuel) = fuel.checked_sub(1) else {
            return Some(Touch(
                "what so many variables stand for (write plainer commands)".to_owned(),
            ));
        };
        self.fuel.set(fuel);
        self.level.set(level + 1);
        let found = self.followed(text, index);
        self.level.set(level);
        found
    }

    fn followed(&self, text: &str, index: usize) -> Option<Touch> {
        let variable =
            text.split_once('$').map(|(_, rest)| rest.trim_start_matches(['{', '#', '!']));
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
            let rest = self.text.get(start + 4..)?.trim_start().strip_prefix(name)?;
            rest.trim_start().strip_prefix("in ")
        });
        let bound =
            assigned.chain(looped).map(|rest| offset(rest)..offset(rest) + value_length(rest));
        let mut bound: Vec<Range<usize>> = bound.collect();
        bound.truncate(16);
        bound.into_iter().find_map(|value| self.value(value)).or_else(|| self.read(name))
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
        let words = || {
            rest.split(|sign: char| {
                sign.is_whitespace() || matches!(sign, '"' | '\'' | '(' | ')' | '`')
            })
        };
        let mut words = words().filter(|word| !word.is_empty() && !word.contains('$')).take(256);
        named_in(&rest)
            .map(Touch)
            .or_else(|| words.find_map(|word| self.reached(&Operand::new(word, Manner::Writes), 0)))
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
            self.segments.get(*other).is_some_and(|other| other.depth > segment.depth)
        });
        self.fed(at).or_else(|| substituted.then(|| inner.find_map(|other| self.yields(other)))?)
    }
}

fn of(segment: &Segment) -> Command<'_> {
    Command { head: &segment.head, args: &segment.args, dynamic: &segment.dynamic_args }
}

/// How far a value goes: to the next separator outside brackets.
fn value_length(text: &str) -> usize {
    let mut open = 0_u32;
    for (at, sign) in text.char_indices() {
        match sign {
            '(' => open += 1,
            ')' if open > 0 => open -= 1,
            ')' | ';' | '\n' | '&' | '|' if open == 0 => return at,
            _ => {}
        }
    }
    text.len()
}
