//! `help [TOPIC]`: the manual, which is compiled in.

use super::{COMMANDS, Exit, say, usage_error};

/// The pages, in the order of their numbers: name and text.
pub(crate) const PAGES: &[(&str, &str)] = &[
    ("event", include_str!("../manual/01-event.md")),
    ("harness", include_str!("../manual/02-harness.md")),
    ("discovery", include_str!("../manual/03-discovery.md")),
    ("rules", include_str!("../manual/04-rules.md")),
    ("shell", include_str!("../manual/05-shell.md")),
    ("matching", include_str!("../manual/06-matching.md")),
    ("checker", include_str!("../manual/07-checker.md")),
    ("decision", include_str!("../manual/08-decision.md")),
    ("approval", include_str!("../manual/09-approval.md")),
    ("finish", include_str!("../manual/10-finish.md")),
    ("install", include_str!("../manual/11-install.md")),
    ("protect", include_str!("../manual/12-protect.md")),
    ("audit", include_str!("../manual/13-audit.md")),
    ("commands", include_str!("../manual/14-commands.md")),
];

/// Prints the list of commands and pages, or a page: one that is named, or the one of a command.
pub(crate) fn run(arguments: &[String]) -> Exit {
    match arguments {
        [] => say(&usage()),
        [topic] => {
            let command =
                COMMANDS.iter().any(|command| command.name == topic).then_some("commands");
            let page = |name: &str| PAGES.iter().find(|(page, _)| *page == name);
            match page(topic).or_else(|| command.and_then(page)) {
                Some((_, text)) => say(text.trim_end()),
                None => return usage_error(&format!("no manual page `{topic}`")),
            }
        }
        _ => return usage_error("help takes one topic"),
    }
    Exit::Done
}

/// The commands, a line each, and the names of the pages.
pub(crate) fn usage() -> String {
    let calls = COMMANDS.iter().map(|command| {
        let call = format!("{} {}", command.name, command.operands);
        format!("  i-insist {call:<34} {}\n", command.brief)
    });
    let pages: Vec<&str> = PAGES.iter().map(|(name, _)| *name).collect();
    let calls: Vec<String> = calls.collect();
    format!("usage:\n{}  i-insist --version\n\nmanual pages: {}", calls.concat(), pages.join(", "))
}
