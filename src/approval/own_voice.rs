//! Calls by which an agent would put the person's words into its own mouth.
//!
//! Some prompts that no person wrote look to a hook just like a person's. They are stopped where
//! they are made: these calls are refused before any rule or approval is looked at. No harness tells
//! which of its tools queue prompts, so they are known by name; tools of MCP servers are left
//! alone, since mail and chat hold these words for other people.
//!
//! A command is refused for what it hands to a client, a terminal or a scheduler, not for words that
//! merely stand on the line: commit messages, searches and documents may hold the phrase. Out of
//! reach: what an earlier call left in a file, and words that a program makes up while it runs. A
//! client that such a program starts runs below its agent, and grants nothing.

use super::approves;
use crate::event::Event;
use crate::json::Json;
use crate::shell::{Parsed, Segment};
use std::borrow::Cow;
use std::collections::HashSet;

/// What names of tools hold that schedule, queue or send prompts (compared in lower case).
const PROMPTING_TOOLS: &[&str] = &[
    "cron",
    "schedule",
    "wakeup",
    "remind",
    "queue",
    "sendmessage",
    "send_message",
    "send_input",
    "goal",
    "automation",
    "followup",
    "follow_up",
];

/// Programs that are agent clients.
const CLIENTS: &[&str] = &[
    "claude",
    "codex",
    "pi",
    "opencode",
    "gemini",
    "qwen",
    "copilot",
    "cursor-agent",
    "kimi",
    "grok",
    "cline",
    "droid",
    "amp",
    "goose",
    "aider",
    "crush",
];

/// What the clients' packages are called.
const PACKAGES: &[&str] = &[
    "claude-code",
    "codex",
    "pi-coding-agent",
    "opencode-ai",
    "gemini-cli",
    "qwen-code",
    "copilot",
    "kimi-code",
    "grok",
    "cline",
    "droid",
];

/// Programs that start a client by the name of its package.
const PACKAGE_RUNNERS: &[&str] =
    &["npx", "bunx", "pnpx", "pnpm", "npm", "yarn", "bun", "deno", "uvx", "pipx", "node", "nodejs"];

/// Arguments that continue a session (a cluster of short options may hold `c` or `r`, too).
const CONTINUES: &[&str] = &[
    "--continue",
    "--resume",
    "--session",
    "--session-id",
    "--from-session",
    "--fork-session",
    "--from-pr",
    "--teleport",
    "resume",
    "queue",
    "fork",
];

/// Programs that type into a terminal or start something in another one.
const TYPISTS: &[&str] = &[
    "tmux",
    "screen",
    "zellij",
    "kitty",
    "kitten",
    "wezterm",
    "byobu",
    "tmate",
    "xdotool",
    "kdotool",
    "ydotool",
    "wtype",
    "dotool",
    "dotoolc",
    "xte",
    "expect",
    "dtach",
    "abduco",
    "osascript",
];

/// Programs that run a command line later or elsewhere.
const LAUNCHERS: &[&str] = &[
    "at",
    "batch",
    "crontab",
    "systemd-run",
    "launchctl",
    "tsp",
    "entr",
    "ssh",
    "docker",
    "podman",
    "nix",
    "nix-shell",
    "socat",
    "unbuffer",
];

/// Shells, which appear here only where their script is not known, or is a file.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "fish"];

/// Programs that run code in another language; numbers of versions are left out.
const INTERPRETERS: &[&str] = &[
    "python",
    "pypy",
    "ipython",
    "node",
    "nodejs",
    "deno",
    "bun",
    "tsx",
    "ts-node",
    "perl",
    "ruby",
    "php",
    "lua",
    "awk",
    "gawk",
    "mawk",
    "expect",
    "tclsh",
    "osascript",
    "pwsh",
    "Rscript",
];

/// What code holds that starts a program or types into a terminal.
const STARTS_A_PROGRAM: &[&str] = &[
    "subprocess",
    "system",
    "popen",
    "Popen",
    "spawn",
    "exec",
    "pty",
    "`",
    "qx",
    "%x",
    "open3",
    "Command",
    "shell",
    "getline",
    "TIOCSTI",
];

/// Programs that send text to a server, such as the one a client offers on this machine.
const SENDERS: &[&str] =
    &["curl", "wget", "http", "xh", "nc", "ncat", "netcat", "socat", "websocat"];

/// How this machine is named to them.
const THIS_MACHINE: &[&str] = &["localhost", "127.", "[::1]", "0.0.0.0", "unix"];

/// Programs that only read, show or keep their arguments.
const READERS: &[&str] = &[
    "echo", "printf", "grep", "egrep", "fgrep", "rg", "ag", "ack", "git", "gh", "glab", "sed",
    "cat", "ls", "find", "fd", "jq", "head", "tail", "wc", "touch", "test", "[", "which", "type",
    "command", "man",
];

/// Variables that a client finds set when it runs below another agent.
const NESTING_MARKS: &[&str] =
    &["CLAUDE_CODE_EXECPATH", "CODEX_THREAD_ID", "CODEX_TOOL_CALL_ID", "PI_SESSION_ID"];

/// Wrappers that start a program in another environment.
const OTHER_ENVIRONMENT: &[&str] =
    &["sudo", "doas", "su", "runuser", "pkexec", "systemd-run", "exec"];

/// Commands of ours to which `xargs` may hand files.
const FED_COMMANDS: &[&str] = &["check", "help", "trust", "untrust", "validate"];

const PROMPTS_ITSELF: &str = "i-insist: an agent must not schedule or send itself a prompt that holds the words with which only a person approves. \
     Leave these words out.";
const CALLS_HOOK: &str = "i-insist: an agent must not call its own hook: what a hook is told counts as the person's word.";
const HANDS_OVER: &str = "i-insist: an agent must not start a client with, type into a terminal or schedule the words with which only a \
     person approves. Leave these words out of the command.";
const UNKNOWN_PROMPT: &str = "i-insist: a client that continues a session must be given its prompt word for word, as an argument of the command: \
     what comes from a variable, a substitution or a pipe could be the words with which only a person approves.";

/// Why this call must not run, whatever rules and approvals say; `None` for nearly every call.
pub(crate) fn self_approval(event: &Event<'_>, shell: Option<&Parsed>) -> Option<&'static str> {
    match (shell, &event.command) {
        (Some(parsed), Some(command)) => Line::new(command, &parsed.segments).refusal(),
        _ => prompts_itself(&event.tool_name, &event.tool_input).then_some(PROMPTS_ITSELF),
    }
}

fn prompts_itself(tool: &str, input: &Json<'_>) -> bool {
    let tool = tool.to_ascii_lowercase();
    !tool.starts_with("mcp__")
        && PROMPTING_TOOLS.iter().any(|part| tool.contains(part))
        && holds_phrase(input)
}

fn holds_phrase(value: &Json<'_>) -> bool {
    match value {
        Json::String(text) => approves(text),
        Json::Array(items) => items.iter().any(holds_phrase),
        Json::Object(members) => members.iter().any(|(_, item)| holds_phrase(item)),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}

/// What there is to know about a text that a program is given.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not states")]
struct Given {
    phrase: bool,
    /// It names a client, or a program that types.
    names_client: bool,
    names_hook: bool,
    starts_program: bool,
    this_machine: bool,
}

impl Given {
    /// What the texts hold together; most hold nothing, and no more is asked then.
    fn of(texts: &[Cow<'_, str>]) -> Self {
        let any = |holds: &dyn Fn(&str) -> bool| texts.iter().any(|text| holds(text));
        let phrase = any(&approves);
        let names_hook = any(&|text| text.contains("i-insist") && text.contains("--harness"));
        if !phrase && !names_hook {
            return Self::default();
        }
        let holds = |parts: &[&str]| any(&|text| parts.iter().any(|part| text.contains(part)));
        Self {
            phrase,
            names_client: any(&names_client),
            names_hook,
            starts_program: holds(STARTS_A_PROGRAM),
            this_machine: holds(THIS_MACHINE),
        }
    }
}

fn names_client(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_' | '.'))
        .any(|word| [CLIENTS, PACKAGES, TYPISTS].iter().any(|names| names.contains(&word)))
}

/// One command line.
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not states")]
struct Line<'a> {
    command: &'a str,
    segments: &'a [Segment],
    /// All of it, as written and as unquoted.
    whole: Given,
    /// No groups, loops or functions, in which input can come from anywhere on the line.
    plain: bool,
    /// The files that the line itself writes.
    written: HashSet<&'a str>,
    /// Some segment reads what is not written out in the command.
    fed: bool,
    drops_marks: bool,
    clears_environment: bool,
}

impl<'a> Line<'a> {
    fn new(command: &'a str, segments: &'a [Segment]) -> Self {
        let mut texts: Vec<Cow<'_, str>> = segments.iter().map(own_text).collect();
        texts.push(Cow::Borrowed(command));
        let keyword = |segment: &Segment| segment.wrappers.iter().any(|name| name == "do");
        Self {
            command,
            segments,
            whole: Given::of(&texts),
            plain: !command.contains(['{', '(']) && !segments.iter().any(keyword),
            written: segments.iter().flat_map(written_by).collect(),
            fed: segments.iter().any(is_fed),
            drops_marks: drops_marks(command, segments),
            clears_environment: clears_environment(command),
        }
    }

    fn refusal(&self) -> Option<&'static str> {
        self.segments.iter().find_map(|segment| {
            let nothing = !self.whole.phrase && !self.whole.names_hook;
            let given = if nothing || !self.is_known(segment) {
                self.whole
            } else {
                Given::of(&[own_text(segment)])
            };
            if self.calls_hook(segment, given) {
                Some(CALLS_HOOK)
            } else if types_phrase(segment) || given.phrase && self.hands_over(segment, given) {
                Some(HANDS_OVER)
            } else if self.is_client(segment)
                && !self.has_known_prompt(segment)
                && (continues_session(segment) || self.hides_nesting(segment))
            {
                Some(UNKNOWN_PROMPT)
            } else {
                None
            }
        })
    }

    /// `i-insist hook …` under whatever name the program was copied or linked to.
    fn calls_hook(&self, segment: &Segment, given: Given) -> bool {
        let has = |word: &str| segment.args.iter().any(|argument| argument == word);
        let own = matches!(segment.head.as_str(), "i-insist" | "steer");
        let behind_steer = usize::from(segment.args.first().is_some_and(|first| first == "steer"));
        let could_be_hook = match segment.args.get(behind_steer) {
            Some(word) => {
                word == "hook"
                    || segment.dynamic_args.get(behind_steer) == Some(&true)
                    || word.contains(['*', '?', '['])
                    || collects_arguments(segment) && !FED_COMMANDS.contains(&word.as_str())
            }
            None => collects_arguments(segment),
        };
        let speaks = READERS.contains(&segment.head.as_str());
        own && could_be_hook
            || !speaks && has("--harness") && (has("hook") || has("user-prompt-submit"))
            || given.names_hook && (runs_code(segment, given) || self.runs_script(segment))
    }

    /// Whether a segment that was given the phrase passes it on as a person's words.
    fn hands_over(&self, segment: &Segment, given: Given) -> bool {
        let head = segment.head.as_str();
        TYPISTS.contains(&head)
            || self.is_client(segment)
            || starts_client_by_argument(segment)
            || SENDERS.contains(&head) && given.this_machine
            || given.names_client
                && (LAUNCHERS.contains(&head)
                    || segment.dynamic
                    || runs_code(segment, given)
                    || self.runs_script(segment))
            || writes_to_process(segment)
    }

    fn is_client(&self, segment: &Segment) -> bool {
        let head = &segment.head;
        let stem = head.split_once('.').map_or(head.as_str(), |(stem, _)| stem);
        let spelled = segment
            .spans
            .as_ref()
            .and_then(|spans| self.command.get(spans.head.clone()))
            .unwrap_or_default();
        CLIENTS.contains(&stem)
            || names_package(spelled)
            || PACKAGE_RUNNERS.contains(&head.as_str())
                && segment
                    .args
                    .iter()
                    .any(|argument| CLIENTS.contains(&argument.as_str()) || names_package(argument))
    }

    /// A shell whose script comes from a pipe, or from a file that this line wrote.
    fn runs_script(&self, segment: &Segment) -> bool {
        SHELLS.contains(&segment.head.as_str()) && !self.is_known(segment)
    }

    /// Whether all that a segment is given stands in its own words.
    fn is_known(&self, segment: &Segment) -> bool {
        let reads_written = segment
            .args
            .iter()
            .any(|argument| self.written.contains(argument.strip_prefix('@').unwrap_or(argument)));
        self.plain
            && segment.depth == 0
            && !segment.dynamic
            && !reads_written
            && self.has_known_prompt(segment)
    }

    /// Whether the prompt stands in the command: nothing computed, nothing fed in.
    fn has_known_prompt(&self, segment: &Segment) -> bool {
        let fed = if self.plain && segment.depth == 0 { is_fed(segment) } else { self.fed };
        !fed && !collects_arguments(segment) && segment.dynamic_args.iter().all(|dynamic| !dynamic)
    }

    /// Whether a client could be unaware that it runs below another agent.
    fn hides_nesting(&self, segment: &Segment) -> bool {
        let behind = |name: &str| segment.wrappers.iter().any(|wrapper| wrapper == name);
        self.drops_marks
            || OTHER_ENVIRONMENT.iter().any(|wrapper| behind(wrapper))
            || behind("env") && self.clears_environment
    }
}

/// Whether a line could take away the marks by which a client knows that it is nested.
fn drops_marks(command: &str, segments: &[Segment]) -> bool {
    let unsets = |other: &Segment| other.head == "unset" && other.dynamic_args.contains(&true);
    NESTING_MARKS.iter().any(|mark| command.contains(mark)) || segments.iter().any(unsets)
}

/// Whether options of `env` stand on the line that make an environment anew.
fn clears_environment(command: &str) -> bool {
    command.split([' ', '\t', '\n', '\'', '"', ';']).any(|word| {
        word == "-"
            || word == "--ignore-environment"
            || word.starts_with("--unset")
            || word.starts_with('-') && !word.starts_with("--") && word.contains(['i', 'u'])
    })
}

/// What a segment is given by its own words.
fn own_text(segment: &Segment) -> Cow<'_, str> {
    let values = segment.assignments.iter().map(|assigned| &assigned.value);
    let texts: Vec<&str> =
        segment.args.iter().chain(values).chain(&segment.stdin).map(String::as_str).collect();
    match texts.as_slice() {
        [] => Cow::Borrowed(""),
        [only] => Cow::Borrowed(only),
        _ => Cow::Owned(texts.join(" ")),
    }
}

/// Whether arguments come from what the command reads.
fn collects_arguments(segment: &Segment) -> bool {
    let mut wrappers = segment.wrappers.iter();
    wrappers.any(|wrapper| wrapper == "xargs" || wrapper == "parallel")
}

/// Whether a segment reads what is not written out in the command.
fn is_fed(segment: &Segment) -> bool {
    let reads = |op: &str| op.contains('<');
    !segment.pipeline_start
        || segment.stdin.is_none() && segment.redirects.iter().any(|redirect| reads(&redirect.op))
}

fn written_by(segment: &Segment) -> Vec<&str> {
    let copies = if segment.head == "tee" { segment.args.as_slice() } else { &[] };
    let writes = segment.redirects.iter().filter(|redirect| redirect.op.contains('>'));
    writes
        .map(|redirect| redirect.target.as_str())
        .chain(copies.iter().map(String::as_str))
        .collect()
}

/// The keys of `tmux send-keys 'i ins' ist` or `send-keys i Space insist`, as they arrive.
fn types_phrase(segment: &Segment) -> bool {
    let key = |argument: &'_ String| match argument.as_str() {
        space if space.eq_ignore_ascii_case("space") => " ".to_owned(),
        other => other.to_owned(),
    };
    TYPISTS.contains(&segment.head.as_str()) && {
        let keys: Vec<String> = segment.args.iter().map(key).collect();
        approves(&keys.concat()) || approves(&keys.join(" "))
    }
}

/// `@scope/package@version`, `npm:package`, or a path through the package's directory.
fn names_package(argument: &str) -> bool {
    argument.split(['/', ':', '#']).any(|part| {
        let name = part.split_once('@').map_or(part, |(name, _)| name);
        PACKAGES.contains(&name)
    })
}

/// Any other program with a client as argument before the phrase: `caffeinate claude -p "…"`.
fn starts_client_by_argument(segment: &Segment) -> bool {
    let starts = |argument: &String| {
        let name = argument.rsplit('/').next().unwrap_or_default();
        CLIENTS.contains(&name)
    };
    !READERS.contains(&segment.head.as_str())
        && segment
            .args
            .iter()
            .position(starts)
            .and_then(|at| segment.args.get(at + 1..))
            .is_some_and(|behind| approves(&behind.join(" ")))
}

fn runs_code(segment: &Segment, given: Given) -> bool {
    let name =
        segment.head.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    INTERPRETERS.contains(&name) && given.starts_program
}

/// `echo … >/proc/7/fd/0` writes into the input of another program.
fn writes_to_process(segment: &Segment) -> bool {
    segment.redirects.iter().any(|redirect| {
        redirect.op.contains('>')
            && redirect.target.starts_with("/proc/")
            && redirect.target.contains("/fd/")
    })
}

fn continues_session(segment: &Segment) -> bool {
    let codex = segment.head.starts_with("codex")
        || PACKAGE_RUNNERS.contains(&segment.head.as_str())
            && segment.args.iter().any(|argument| argument.contains("codex"));
    let short = |argument: &str| {
        let letters = argument.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        let cluster = |letters: &str| letters.bytes().all(|letter| letter.is_ascii_alphabetic());
        // Codex has `-c` for its configuration.
        !codex
            && letters.is_some_and(|letters| {
                letters.starts_with(['c', 'r']) || cluster(letters) && letters.contains(['c', 'r'])
            })
    };
    segment.args.iter().any(|argument| {
        let name = argument.split_once('=').map_or(argument.as_str(), |(name, _)| name);
        short(argument) || CONTINUES.contains(&name)
    })
}

#[cfg(test)]
mod tests;
