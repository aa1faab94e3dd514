//! Calls by which an agent would put the person's words into its own mouth.
//!
//! Some prompts that no person wrote look to a hook just like a person's. They are stopped where
//! they are made: these calls are refused before any rule or approval is looked at. No harness tells
//! which of its tools queue prompts, so they are known by name; tools of MCP servers are left
//! alone, since mail and chat hold these words for other people.

use super::approves;
use crate::event::Event;
use crate::json::Json;
use crate::shell::{Parsed, Segment};

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

/// Programs that start a client by the name of its package.
const PACKAGE_RUNNERS: &[&str] = &[
    "npx", "bunx", "pnpx", "pnpm", "npm", "yarn", "bun", "deno", "uvx", "node",
];

/// What the clients' packages are called, or end in.
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

/// Arguments that continue a session (a cluster of short options may hold `c` or `r`, too).
const CONTINUES: &[&str] = &[
    "--continue",
    "--resume",
    "--session",
    "--session-id",
    "--from-session",
    "--fork-session",
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
    "xdotool",
    "ydotool",
    "wtype",
    "dotool",
    "expect",
    "dtach",
    "osascript",
];

/// Programs that run a command later.
const SCHEDULERS: &[&str] = &["at", "batch", "crontab", "systemd-run", "launchctl"];

/// Programs that run code in another language, given as an argument or on standard input.
const INTERPRETERS: &[&str] = &[
    "python",
    "python2",
    "python3",
    "node",
    "deno",
    "bun",
    "perl",
    "ruby",
    "php",
    "lua",
    "expect",
    "tclsh",
    "osascript",
];

/// Programs that only show their arguments.
const SPEAKERS: &[&str] = &["echo", "printf"];

/// What a client's hooks find set when it runs below another agent.
const NESTING_MARKS: &[&str] = &[
    "CLAUDE_CODE_EXECPATH",
    "CODEX_THREAD_ID",
    "PI_SESSION_ID",
    "env -i",
    "--ignore-environment",
];

/// Why this call must not run, whatever rules and approvals say; `None` for nearly every call.
pub(crate) fn self_approval(event: &Event<'_>, shell: Option<&Parsed>) -> Option<&'static str> {
    match (shell, &event.command) {
        (Some(parsed), Some(command)) => in_shell(command, parsed),
        _ => prompts_itself(&event.tool_name, &event.tool_input).then_some(
            "i-insist: an agent must not schedule or send itself a prompt that holds the words with which only a person approves. \
             Leave these words out.",
        ),
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

fn in_shell(command: &str, parsed: &Parsed) -> Option<&'static str> {
    let phrase = approves(command)
        || parsed
            .segments
            .iter()
            .any(|segment| approves(&segment.args.join(" ")));
    parsed.segments.iter().find_map(|segment| {
        if calls_hook(segment, command) {
            Some("i-insist: an agent must not call its own hook: what a hook is told counts as the person's word.")
        } else if phrase && (speaks_for_a_person(segment) || is_client(segment) || runs_client_later(segment, command)) || types_phrase(segment) {
            Some(
                "i-insist: an agent must not start a client with, type into a terminal or schedule the words with which only a \
                 person approves. Leave these words out of the command.",
            )
        } else if is_client(segment) && !has_known_prompt(segment) && (continues_session(segment) || hides_nesting(command)) {
            Some(
                "i-insist: a client that continues a session must be given its prompt word for word, as an argument of the command: \
                 what comes from a variable, a substitution or a pipe could be the words with which only a person approves.",
            )
        } else {
            None
        }
    })
}

/// `i-insist hook …` under whatever name the program was copied or linked to.
fn calls_hook(segment: &Segment, command: &str) -> bool {
    let own = ["i-insist", "steer"].contains(&segment.head.as_str());
    let hook = segment.args.iter().position(|argument| argument == "hook");
    match hook {
        Some(0) if own => true,
        Some(1) if own => segment
            .args
            .first()
            .is_some_and(|argument| argument == "steer"),
        Some(_) => {
            !SPEAKERS.contains(&segment.head.as_str())
                && segment.args.iter().any(|argument| argument == "--harness")
        }
        None => {
            is_interpreter(segment) && command.contains("i-insist") && command.contains("--harness")
        }
    }
}

fn speaks_for_a_person(segment: &Segment) -> bool {
    TYPISTS.contains(&segment.head.as_str())
}

/// The keys of `tmux send-keys 'i ins' ist` or `send-keys i Space insist`, as they arrive.
fn types_phrase(segment: &Segment) -> bool {
    speaks_for_a_person(segment) && {
        let keys: Vec<&str> = segment
            .args
            .iter()
            .map(|key| {
                if key.eq_ignore_ascii_case("space") {
                    " "
                } else {
                    key
                }
            })
            .collect();
        approves(&keys.concat()) || approves(&keys.join(" "))
    }
}

fn is_client(segment: &Segment) -> bool {
    let name = |argument: &str| {
        argument
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .split('@')
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    if CLIENTS.contains(&segment.head.as_str()) {
        return true;
    }
    PACKAGE_RUNNERS.contains(&segment.head.as_str())
        && segment.args.iter().any(|argument| {
            // `@scope/package@version`, `npm:package`, or the path of a script inside the package.
            let package = argument
                .split('/')
                .any(|part| PACKAGES.contains(&name(part).as_str()));
            CLIENTS.contains(&argument.as_str())
                || package
                || PACKAGES.contains(&name(argument.trim_start_matches("npm:")).as_str())
        })
}

fn runs_client_later(segment: &Segment, command: &str) -> bool {
    (SCHEDULERS.contains(&segment.head.as_str()) || is_interpreter(segment))
        && names_client(command)
}

fn is_interpreter(segment: &Segment) -> bool {
    // `python3.11` is `python3`.
    let name = segment.head.split('.').next().unwrap_or_default();
    INTERPRETERS.contains(&name)
}

fn names_client(text: &str) -> bool {
    text.split(|character: char| !character.is_alphanumeric() && !matches!(character, '-' | '_'))
        .any(|word| CLIENTS.contains(&word) || PACKAGES.contains(&word))
}

fn continues_session(segment: &Segment) -> bool {
    let cluster = |argument: &str| {
        let short = argument.strip_prefix('-').filter(|letters| {
            !letters.is_empty() && letters.chars().all(|letter| letter.is_ascii_alphabetic())
        });
        // Codex has `-c` for its configuration.
        segment.head != "codex" && short.is_some_and(|letters| letters.contains(['c', 'r']))
    };
    segment.args.iter().any(|argument| {
        cluster(argument)
            || CONTINUES
                .iter()
                .any(|word| argument.split('=').next() == Some(word))
    })
}

/// Whether the prompt stands in the command: nothing computed, nothing fed in.
fn has_known_prompt(segment: &Segment) -> bool {
    let fed = !segment.pipeline_start
        || segment
            .redirects
            .iter()
            .any(|redirect| redirect.op.contains('<'));
    let computed = segment
        .wrappers
        .iter()
        .any(|wrapper| wrapper == "xargs" || wrapper == "parallel");
    !fed && !computed && segment.dynamic_args.iter().all(|dynamic| !dynamic)
}

fn hides_nesting(command: &str) -> bool {
    NESTING_MARKS.iter().any(|mark| command.contains(mark))
}
