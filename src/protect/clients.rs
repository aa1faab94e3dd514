//! Agent clients and we ourselves: commands that change what hooks run, and what is typed where no
//! hook sees it.

use super::code;
use super::operands::Command;
use crate::shell::Segment;

/// Variables that move a client's settings, or make it start without its hooks.
const SWITCHES: &[&str] = &[
    "CLAUDE_CODE_SIMPLE",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "HOME",
    "OPENCODE_CONFIG_DIR",
    "OPENCODE_PURE",
    "PI_CODING_AGENT_DIR",
];

/// What the clients' packages are called, for those who start them by `npx` and the like.
const PACKAGES: &[(&str, &str)] = &[
    ("claude-code", "claude"),
    ("@openai/codex", "codex"),
    ("pi-coding-agent", "pi"),
    ("opencode-ai", "opencode"),
];

/// Names of a terminal or of standard input, where it is one.
const TERMINALS: &[&str] = &["/dev/tty", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "-"];

/// How `command` changes which hooks run. `text` is the whole shell text.
pub(super) fn switches_hooks(command: Command<'_>, text: &str) -> Option<String> {
    let first = command.args.first().map_or("", String::as_str);
    if command.head == "i-insist" {
        let changes = matches!(first, "install" | "uninstall" | "ensure" | "trust" | "untrust");
        let changes = changes || command.dynamic.first() == Some(&true);
        let only_shows = command.has("--dry-run") || command.has("--help");
        return (changes && !only_shows).then(|| format!("`i-insist {first}` changes what"));
    }
    let client = client(command)?;
    let words: Vec<&str> = command.args.iter().map(String::as_str).collect();
    let off = match client {
        "claude" => claude(command, &words),
        "codex" => codex(&words),
        "pi" => {
            let on_packages = matches!(first, "install" | "remove" | "uninstall" | "config");
            on_packages || words.contains(&"-ne") || words.contains(&"--no-extensions")
        }
        _ => words.contains(&"--pure"),
    };
    let variable = SWITCHES.iter().find(|name| assigned(text, name).next().is_some());
    match (off, variable) {
        (true, _) => Some(format!("`{client}` with its hooks or settings changed")),
        (false, Some(variable)) => Some(format!("`{client}` with {variable} changed")),
        (false, None) => None,
    }
}

fn client(command: Command<'_>) -> Option<&'static str> {
    PACKAGES.iter().find_map(|(package, client)| {
        let by_package = || {
            matches!(
                command.head,
                "npx" | "bunx" | "pnpx" | "pnpm" | "npm" | "yarn" | "bun" | "deno" | "node"
            ) && command.plain_words().any(|word| word.contains(package))
        };
        (command.head == *client || by_package()).then_some(*client)
    })
}

/// Settings that come with the command count as soon as they could switch hooks off.
fn claude(command: Command<'_>, words: &[&str]) -> bool {
    let value = |option: &str| {
        let glued = words.iter().find_map(|word| word.strip_prefix(option)?.strip_prefix('='));
        let at = words.iter().position(|word| *word == option);
        glued.or_else(|| words.get(at? + 1).copied())
    };
    let settings = value("--settings").is_some_and(|text| {
        let inline = text.trim_start().starts_with('{');
        !inline || text.contains("disableAllHooks") || text.contains("\\u")
    });
    let sources = value("--setting-sources")
        .is_some_and(|text| !text.split(',').any(|source| source.trim() == "user"));
    let own_command = matches!(words, ["plugin" | "plugins", verb, ..] if !matches!(*verb, "list" | "validate"))
        || matches!(words, ["config", "set" | "add" | "remove", ..]);
    command.has("--bare") || settings || sources || own_command
}

/// `--dangerously-bypass-hook-trust` is not among these: with it all hooks run, ours too.
fn codex(words: &[&str]) -> bool {
    let hooks = |value: &str| value.contains("hooks") || value.trim_start().starts_with("features");
    let pairs = words.windows(2).any(|pair| match pair {
        ["-c" | "--config" | "--disable", value] => hooks(value),
        ["features", "disable"] | ["mcp", "add" | "remove"] => true,
        _ => false,
    });
    let glued = words.iter().any(|word| {
        let value =
            ["--config=", "--disable=", "-c"].iter().find_map(|option| word.strip_prefix(option));
        value.is_some_and(hooks)
    });
    pairs
        || glued
        || words.contains(&"--ignore-user-config")
        || words.first() == Some(&"app-server")
}

/// Where `text` assigns to the variable: the values' texts, to the end of `text`.
pub(super) fn assigned<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    text.match_indices(name).filter_map(move |(start, _)| {
        let (before, from) = text.split_at(start);
        let behind = from.get(name.len()..)?;
        let whole =
            !before.ends_with(|sign: char| sign.is_alphanumeric() || sign == '_' || sign == '$');
        let value = behind.strip_prefix('=').or_else(|| behind.strip_prefix("+="))?;
        whole.then_some(value)
    })
}

/// A shell, interpreter or editor that takes its commands from the terminal. `fed` is what comes
/// before it in its pipeline.
pub(super) fn reads_terminal(
    segment: &Segment,
    command: Command<'_>,
    feeder: Option<&Segment>,
) -> bool {
    let redirected = segment.redirects.iter().any(|redirect| {
        redirect.op.contains('<') && !TERMINALS.contains(&redirect.target.as_str())
    });
    let fed = match feeder {
        // `cat | sh` hands on what is typed.
        Some(feeder) => {
            let hands_on =
                matches!(feeder.head.as_str(), "cat" | "tee") && feeder.redirects.is_empty();
            !(hands_on && feeder.args.iter().all(|word| word.starts_with('-')))
        }
        None => !segment.pipeline_start || redirected,
    };
    !fed && takes_commands(command)
}

fn takes_commands(command: Command<'_>) -> bool {
    let word = |names: &[&str]| command.args.iter().any(|word| names.contains(&word.as_str()));
    if word(&["--version", "--help", "-V", "-h"]) {
        return false;
    }
    let operand = command.plain_words().next();
    let from_terminal = operand.is_none_or(|word| TERMINALS.contains(&word));
    let name = command.head.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
    match name {
        "sudo" | "doas" => word(&["-i", "-s", "--login", "--shell"]) || command.args.is_empty(),
        "su" | "runuser" | "script" => !command.has("-c") && !command.has("--command"),
        "." | "source" => operand.is_some_and(|word| TERMINALS.contains(&word)),
        "tmux" => {
            let opens = operand.is_none_or(|verb| {
                matches!(verb, "attach" | "attach-session" | "a" | "at" | "new" | "new-session")
            });
            opens && !command.has("-d")
        }
        "screen" => {
            operand.is_none()
                && !command.has("-X")
                && !word(&["-ls", "-list", "-v"])
                && !command.has("-m")
        }
        "ed" | "ex" | "vi" | "vim" | "nvim" | "nano" | "emacs" => {
            !word(&["-es", "-Es", "--batch", "-batch"])
        }
        "sqlite" => command.plain_words().count() < 2,
        shell if code::is_shell(shell) => {
            let script = command.has("-c") || command.has("--command");
            !script && (from_terminal || command.has("-s"))
        }
        _ => match code::read(command) {
            Some(found) if code::is_interpreter(command.head) => {
                let waits = found.texts.is_empty() && from_terminal && !awk(name);
                waits || command.has("-i") && name == "python"
            }
            _ => false,
        },
    }
}

fn awk(name: &str) -> bool {
    name.ends_with("awk")
}
