//! One judgement: reads the rule files that hold for a call, and has the rules decide. `hook` and
//! `check` differ in what they read and print only.

use super::sources::Sources;
use crate::approval::{self, PREFIX};
use crate::checker::{self, Checker, Verdict};
use crate::decision::{self, Approval, Call, Checkers, Decision, Programs, Strength};
use crate::discovery;
use crate::event::{Change, Event, Kind, patch};
use crate::json::Json;
use crate::protect::{self, Guarded};
use crate::rules::{Effect, Program, Rule, Spelling};
use crate::shell::{self, Parsed};
use crate::world::World;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A call that was judged.
#[derive(Debug)]
pub(crate) struct Judged {
    /// The outcome.
    pub(crate) decision: Decision,
    /// What the person should know beside it.
    pub(crate) notices: Vec<String>,
    /// The rules that were asked, in the order of the search.
    pub(crate) rules: Vec<Rule>,
    /// The shell text taken apart.
    pub(crate) parsed: Option<Parsed>,
}

impl Judged {
    /// Which rule spoke and what overrides it, and what else a person should know.
    pub(crate) fn for_the_person(&self) -> Option<String> {
        let mut lines = Vec::new();
        let spoken: Vec<&decision::Spoken> = self
            .decision
            .spoken
            .iter()
            .filter(|spoken| spoken.strength == self.decision.strength)
            .collect();
        let names: Vec<String> = spoken.iter().map(|spoken| format!("`{}`", spoken.rule)).collect();
        let names = names.join(", ");
        match self.decision.strength {
            Strength::Deny if spoken.iter().all(|spoken| spoken.overridable) => {
                lines.push(format!(
                    "i-insist: blocked by {names}; to override, say \"I insist\" in your message."
                ));
            }
            Strength::Deny => {
                lines.push(format!("i-insist: blocked by {names}; nothing overrides it."));
            }
            Strength::Ask => lines.push(format!("i-insist: {names} asks.")),
            Strength::Rewrite => lines.push(format!("i-insist: {names} changed this call.")),
            Strength::Allow | Strength::Context => {}
        }
        lines.extend(self.notices.iter().cloned());
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// A call that is blocked before any rule is asked.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The engine itself refuses; no approval changes that.
    Own(&'static str),
    /// Rule files cannot be read, or are wrong.
    Configuration(String),
    /// A patch in the call cannot be read.
    Input(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own(reason) => formatter.write_str(reason),
            Self::Configuration(problems) => write!(
                formatter,
                "i-insist: {problems}\nCalls are blocked until this is mended: a person finds every problem with `i-insist validate`, \
                 and takes the hooks out with `i-insist uninstall`."
            ),
            Self::Input(problem) => write!(formatter, "i-insist: {problem}"),
        }
    }
}

const TOO_DEEP: &str = "i-insist: this command is nested too deep, or its braces expand too far, to be read. Write it as several plain commands.";

/// The longest shell text that is taken apart, in bytes: reading takes memory several times its length.
const MAX_COMMAND: usize = 10 << 20;

const TOO_LONG: &str = "i-insist: this command is longer than 10 MiB, the most that is read. Put the data into a file.";

/// Judges `event` by all rules that hold for it. `approved` tells whether the person approved the
/// response; the prefix of a shell call is looked at here.
pub(crate) fn judge(
    world: &World,
    spelling: Spelling,
    event: &mut Event<'_>,
    approved: impl FnOnce() -> bool,
    deadline: Instant,
) -> Result<Judged, Refusal> {
    if event.command.as_ref().is_some_and(|command| command.len() > MAX_COMMAND) {
        return Err(Refusal::Own(TOO_LONG));
    }
    let parsed = parse(world, event, &[]);
    if let Some(parsed) = &parsed {
        let read = read_patches(world, event, parsed);
        // In steer's spelling a call that cannot be read runs: a broken patch must not take the
        // commands beside it along.
        if spelling == Spelling::Guard {
            read.map_err(Refusal::Input)?;
        }
    }
    if let Some(reason) = approval::self_approval(event, parsed.as_ref()) {
        return Err(Refusal::Own(reason));
    }
    let sources = Sources::load(world, event, spelling).map_err(Refusal::Configuration)?;
    let parsed = if sources.settings.wrappers.is_empty() {
        parsed
    } else {
        parse(world, event, &sources.settings.wrappers)
    };
    if spelling == Spelling::Guard && parsed.as_ref().is_some_and(|parsed| parsed.limited) {
        return Err(Refusal::Own(TOO_DEEP));
    }
    let prefixed = sources.settings.shell_prefix
        && parsed.as_ref().is_some_and(|parsed| parsed.grants_permission(PREFIX, "1"));
    let approval = if prefixed || approved() { Approval::Granted } else { Approval::None };
    let mut asked =
        Asked { world, event, parsed: parsed.as_ref(), sources: &sources, deadline, json: None };
    let call = Call { event, shell: parsed.as_ref(), approval, spelling };
    let decision = decision::decide(&call, &sources.rules, &mut asked, &OnPath(world));
    Ok(Judged { decision, notices: sources.notices, rules: sources.rules, parsed })
}

/// The segments of a shell call; `None` for every other kind.
pub(crate) fn parse(
    world: &World,
    event: &Event<'_>,
    wrappers: &[shell::Wrapper],
) -> Option<Parsed> {
    let command = event.command.as_deref().filter(|_| event.kind == Kind::Shell)?;
    let options = shell::Options {
        cwd: Some(event.cwd.as_path()).filter(|_| event.cwd_told),
        session_cwd: event.session_cwd.as_deref().or(Some(&event.cwd)),
        home: Some(&world.home),
        wrappers,
    };
    Some(shell::parse(command, &options))
}

/// A patch that a shell command hands to `apply_patch`: Codex takes it out and applies it itself.
///
/// # Errors
/// Why the first patch that cannot be read is none; the others are read all the same.
fn read_patches(world: &World, event: &mut Event<'_>, parsed: &Parsed) -> Result<(), String> {
    let mut changes = Vec::new();
    let mut outcome = Ok(());
    for segment in &parsed.segments {
        let applies = segment.head == "apply_patch" || segment.head == "applypatch";
        let text = segment.stdin.as_deref().or_else(|| segment.args.first().map(String::as_str));
        if let Some(text) = text.filter(|text| applies && text.contains("*** Begin Patch")) {
            let directory = segment.directory.as_deref().unwrap_or(&event.cwd);
            match patch::parse(text, directory, &world.home) {
                Ok(found) => changes.extend(found.into_iter().map(|change| Change {
                    content: change.content.into_owned().into(),
                    ..change
                })),
                Err(error) => outcome = outcome.and(Err(error.to_string())),
            }
        }
    }
    if !changes.is_empty() {
        event.add_changes(changes);
    }
    outcome
}

/// What the checker `protect-config` needs beside the event, when it is called as a program.
pub(crate) fn for_protection(
    world: &World,
    event: &mut Event<'_>,
) -> Result<(Option<Parsed>, Guarded), Refusal> {
    let parsed = parse(world, event, &[]);
    if let Some(parsed) = &parsed {
        read_patches(world, event, parsed).map_err(Refusal::Input)?;
    }
    let sources = Sources::load(world, event, Spelling::Guard).map_err(Refusal::Configuration)?;
    let guarded = guarded(world, &sources, event);
    Ok((parsed, guarded))
}

/// Checkers as processes of their own, and the one that is answered here.
struct Asked<'a> {
    world: &'a World,
    event: &'a Event<'a>,
    parsed: Option<&'a Parsed>,
    sources: &'a Sources,
    deadline: Instant,
    json: Option<Json<'a>>,
}

/// The checker that is no program of its own.
pub(crate) const PROTECT_CONFIG: [&str; 2] = ["i-insist", "protect-config"];

impl Checkers for Asked<'_> {
    fn ask(&mut self, rule: &Rule) -> Verdict {
        let Effect::Checker { argv, timeout, message } = &rule.effect else {
            return Verdict::Pass;
        };
        if *argv == PROTECT_CONFIG {
            let guarded = guarded(self.world, self.sources, self.event);
            return match protect::examine(self.event, self.parsed, &guarded, &self.world.home) {
                None => Verdict::Pass,
                Some(touch) => Verdict::Block(message.clone().unwrap_or_else(|| touch.to_string())),
            };
        }
        let program = Checker {
            argv,
            directory: &rule.directory,
            timeout: *timeout,
            message: message.as_deref(),
        };
        let event = self.event;
        let json = self.json.get_or_insert_with(|| event.to_json());
        checker::run(&program, &rule.id, &mut json.chunks(), self.deadline)
    }

    fn could_block(&mut self, rule: &Rule) -> bool {
        let built_in =
            matches!(&rule.effect, Effect::Checker { argv, .. } if *argv == PROTECT_CONFIG);
        !built_in || self.ask(rule) != Verdict::Pass
    }
}

/// Programs whose first argument is a program too.
const INTERPRETERS: [&str; 10] =
    ["sh", "bash", "dash", "zsh", "python", "python3", "node", "bun", "ruby", "perl"];

/// What `protect` guards in this run.
fn guarded(world: &World, sources: &Sources, event: &Event<'_>) -> Guarded {
    let mut configuration: Vec<PathBuf> = world.guard_directories().to_vec();
    configuration.extend([
        world.config_home.join("steer/config.toml"),
        world.cache.clone(),
        world.state.clone(),
    ]);
    configuration.extend(super::registration::settings_files(world));
    configuration.extend(sources.directories.iter().cloned());
    let mut programs: Vec<PathBuf> = world.program.iter().cloned().collect();
    for rule in sources.rules.iter().filter(|rule| rule.enabled) {
        if let Effect::Checker { argv, .. } = &rule.effect
            && *argv != PROTECT_CONFIG
        {
            programs.extend(program_files(&rule.directory, argv));
        }
    }
    let directory = event.session_cwd.as_deref().unwrap_or(&event.cwd);
    let root = discovery::repository_root(directory).unwrap_or(directory);
    for check in sources.finish.iter().flat_map(|finish| &finish.checks) {
        match &check.program {
            Program::Script(path) => programs.push(root.join(path)),
            Program::Command(text) => {
                let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
                let (program, _) = words.split_at(words.len().min(1));
                // Most programs' arguments are what they look at, and the agent's to change.
                let interpreted = program.iter().any(|word| INTERPRETERS.contains(&word.as_str()));
                let counted = if interpreted { &words } else { program };
                programs.extend(program_files(root, counted));
            }
        }
    }
    Guarded::new(configuration, programs)
}

/// The files a checker's program consists of: the one that is started, when it is named by a path,
/// and the first among its arguments, which an interpreter runs. What is found on `PATH` alone is
/// the system's.
fn program_files<'a>(
    directory: &'a Path,
    argv: &'a [String],
) -> impl Iterator<Item = PathBuf> + use<'a> {
    let (program, arguments) = argv.split_at(argv.len().min(1));
    let files = |words: &'a [String]| {
        let paths = words.iter().map(move |word| directory.join(word));
        paths.filter(|path| path.is_file())
    };
    let by_path = program.iter().any(|word| word.contains('/'));
    files(program).filter(move |_| by_path).chain(files(arguments).take(1))
}

/// Programs are looked up as a shell would: a name with a slash is a path.
pub(crate) struct OnPath<'a>(pub(crate) &'a World);

impl Programs for OnPath<'_> {
    fn finds(&self, name: &str) -> bool {
        let runs = |path: &Path| {
            use std::os::unix::fs::PermissionsExt;
            path.metadata().is_ok_and(|metadata| {
                metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
            })
        };
        if name.contains('/') {
            return runs(Path::new(name));
        }
        std::env::split_paths(&self.0.path).any(|directory| runs(&directory.join(name)))
    }
}
