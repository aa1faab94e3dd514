//! What is installed beside the program names what the program has: the completions and the
//! manual page list every command, and no other.

#![expect(clippy::unwrap_used, reason = "a helper that finds no text of ours has to fail the test")]

use std::collections::BTreeSet;
use std::process::Command;

const BASH: &str = include_str!("../src/manual/completions/i-insist.bash");
const ZSH: &str = include_str!("../src/manual/completions/_i-insist");
const FISH: &str = include_str!("../src/manual/completions/i-insist.fish");
const PAGE: &str = include_str!("../src/manual/i-insist.1");

fn help() -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_i-insist"))
        .arg("help")
        .env("HOME", "/nonexistent")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The commands that `help` lists, less `--version`.
fn commands(help: &str) -> BTreeSet<&str> {
    help.lines()
        .filter_map(|line| line.strip_prefix("  i-insist ")?.split_whitespace().next())
        .filter(|word| !word.starts_with('-'))
        .collect()
}

/// The words between the first occurrence of `open` and the next of `close`.
fn list<'a>(text: &'a str, open: &str, close: &str) -> BTreeSet<&'a str> {
    let (_, rest) = text.split_once(open).unwrap();
    rest.split_once(close)
        .unwrap()
        .0
        .split_whitespace()
        .filter(|word| !word.starts_with('-'))
        .collect()
}

/// The first word behind `lead` in each line that begins with it.
fn leading<'a>(text: &'a str, lead: &str) -> BTreeSet<&'a str> {
    text.lines()
        .filter_map(|line| line.trim_start().strip_prefix(lead)?.split([' ', ':']).next())
        .collect()
}

#[test]
fn completions_and_page_list_the_commands() {
    let help = help();
    let commands = commands(&help);
    assert!(commands.contains("hook"), "no commands in: {help}");
    assert_eq!(list(BASH, "-eq 1 ]; then\n        choices='", "'"), commands);
    let zsh = ZSH.split_once("commands=(").unwrap().1.split_once(")\n    harnesses").unwrap().0;
    assert_eq!(leading(zsh, "'"), commands);
    assert_eq!(leading(FISH, "complete -c i-insist -n __fish_use_subcommand -a "), commands);
    let synopsis = PAGE.split_once(".Sh DESCRIPTION").unwrap().0.replace(" Ns | Ns Cm ", "\n.Cm ");
    assert_eq!(leading(&synopsis, ".Cm "), commands);
    assert_eq!(leading(PAGE, ".It Cm "), commands);
}

#[test]
fn completions_list_the_manual() {
    let help = help();
    let pages = help.lines().find_map(|line| line.strip_prefix("manual pages: ")).unwrap();
    let pages: BTreeSet<&str> = pages.split(", ").collect();
    assert_eq!(list(BASH, "help) choices='", "'"), pages);
    assert_eq!(list(ZSH, "topics=(", ")"), pages);
    assert_eq!(list(FISH, "__fish_seen_subcommand_from help' -a '", "'"), pages);
}
