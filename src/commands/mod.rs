#![doc = include_str!("../manual/14-commands.md")]
//!
//! Promises: every command ends with 0, 1 (a "no") or 2 (an error). Never: decides anything; it
//! reads the world, calls one floor down, and prints.

mod check;
mod examples;
mod explain;
mod finishing;
mod help;
mod hook;
mod init;
mod judge;
mod payload;
mod registration;
mod sources;
mod steer;
mod trust;
mod validate;

use crate::rules::Spelling;
use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal, Write};
use std::path::Path;

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// A "no": denied, or problems found.
    No = 1,
    /// An error: wrong usage, unreadable input, a failed effect.
    Failed = 2,
}

/// One command: help, completions' test and dispatch read this table.
pub(crate) struct Command {
    /// What is typed.
    pub(crate) name: &'static str,
    /// What may follow, in the notation of manual pages.
    pub(crate) operands: &'static str,
    /// What it does, in a few words.
    pub(crate) brief: &'static str,
    run: fn(&[String]) -> Exit,
}

/// Every command.
pub(crate) const COMMANDS: &[Command] = &[
    Command {
        name: "install",
        operands: "HARNESS [--dry-run]",
        brief: "register the hooks",
        run: registration::install,
    },
    Command {
        name: "uninstall",
        operands: "HARNESS [--dry-run]",
        brief: "remove the hooks",
        run: registration::uninstall,
    },
    Command {
        name: "ensure",
        operands: "",
        brief: "register the hooks of every harness that is here",
        run: registration::ensure,
    },
    Command {
        name: "status",
        operands: "",
        brief: "show what is registered where",
        run: registration::status,
    },
    Command {
        name: "hook",
        operands: "--harness HARNESS EVENT",
        brief: "answer a harness's hook (payload on standard input)",
        run: hook::run,
    },
    Command {
        name: "check",
        operands: "[--json] [COMMAND] | --batch",
        brief: "decide about a shell command, or an event on standard input",
        run: check::run,
    },
    Command {
        name: "validate",
        operands: "[FILE…]",
        brief: "report every problem of every rule file",
        run: validate::run,
    },
    Command {
        name: "init",
        operands: "[--project]",
        brief: "write a commented starter file",
        run: |arguments| init::run(Spelling::Guard, arguments),
    },
    Command {
        name: "trust",
        operands: "FILE",
        brief: "let a repository's rule file count where trust is required",
        run: trust::trust,
    },
    Command { name: "untrust", operands: "FILE", brief: "take that back", run: trust::untrust },
    Command {
        name: "protect-config",
        operands: "< EVENT.json",
        brief: "the checker that guards rule files and hook settings",
        run: check::protect_config,
    },
    Command {
        name: "steer",
        operands: "hook|check|validate|init …",
        brief: "the same in steer's spelling",
        run: steer::run,
    },
    Command {
        name: "help",
        operands: "[TOPIC]",
        brief: "print the manual, or one page of it",
        run: help::run,
    },
];

/// Runs what the arguments ask for; called by the name `steer`, in steer's spelling.
pub(crate) fn run(arguments: Vec<OsString>) -> Exit {
    let steer = arguments
        .first()
        .is_some_and(|name| Path::new(name).file_name() == Some(OsStr::new("steer")));
    // An argument that is no UTF-8 names no command, option, harness or event of ours; in a path it
    // will not be found, and the message shows it.
    let arguments: Vec<String> = arguments
        .into_iter()
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    if steer {
        return self::steer::run(&arguments);
    }
    let Some((name, rest)) = arguments.split_first() else {
        complain(&help::usage());
        return Exit::Failed;
    };
    match name.as_str() {
        "--version" | "-V" => {
            say(concat!("i-insist ", env!("CARGO_PKG_VERSION")));
            Exit::Done
        }
        "--help" | "-h" => help::run(&[]),
        name => match COMMANDS.iter().find(|command| command.name == name) {
            Some(command) => (command.run)(rest),
            None => usage_error(&format!("unknown command `{name}`")),
        },
    }
}

/// Writes a line to standard output. A reader that is gone cannot be told, so its absence is no error.
pub(crate) fn say(line: &str) {
    write_line(&mut std::io::stdout(), line);
}

/// Writes a line to standard error, under the same rule.
pub(crate) fn complain(line: &str) {
    write_line(&mut std::io::stderr(), line);
}

/// Writes a label and its text in two columns; without a label the text stands below the last one.
/// Labels are bold on a terminal, unless `NO_COLOR` asks for none.
pub(crate) fn say_labelled(label: &str, text: &str) {
    let mut stdout = std::io::stdout();
    let bold =
        stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let text = if stdout.is_terminal() {
        // Further lines stand below the text, so that none passes for a label.
        visible(text).replace('\n', "\n         ")
    } else {
        text.to_owned()
    };
    let line = match label {
        "" => format!("  {text}"),
        label if text.is_empty() => label.to_owned(),
        label => format!("{label:<8} {text}"),
    };
    let line = match line.strip_prefix(label) {
        Some(rest) if bold && !label.is_empty() => format!("\u{1b}[1m{label}\u{1b}[0m{rest}"),
        _ => line,
    };
    drop(writeln!(stdout, "{line}"));
}

fn write_line(stream: &mut (impl Write + IsTerminal), line: &str) {
    let line = if stream.is_terminal() { visible(line) } else { line.to_owned() };
    drop(writeln!(stream, "{line}"));
}

/// The text with its control characters spelled out, so that no rule, path or payload can steer a terminal.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            // Also the characters that reorder text (Unicode UAX 9).
            _ if character.is_control()
                || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') =>
            {
                shown.extend(character.escape_unicode());
            }
            _ => shown.push(character),
        }
    }
    shown
}

/// Says what was wrong with the arguments and where help is.
fn usage_error(problem: &str) -> Exit {
    complain(&format!("i-insist: {problem}; `i-insist help` lists the commands"));
    Exit::Failed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_spelled_out() {
        assert_eq!(visible("a\u{1b}[31m\u{202e}\tb\n"), "a\\u{1b}[31m\\u{202e}\tb\n");
    }
}
