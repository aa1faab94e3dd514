//! What became of a registration.
//!
//! Promises: judges by the plan that `install` would carry out. Never: writes.

use super::clients::Registration;
use super::recognise::Owner;
use super::splice::{Former, Settings};
use super::switches::{self, Problem};
use super::{
    Client, Report, entries, extension, is_same, leads_here, lookup, plan, program_word, read_text,
};
use crate::world::World;
use std::path::PathBuf;

/// Whether a client will run our hooks, as far as files tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Every event, as `install` writes it.
    Registered,
    /// Nothing of ours is there.
    Absent,
    /// Some of ours are missing, altered, or lead to a program that is not this one.
    Outdated,
    /// Hooks are switched off.
    Disabled(String),
    /// The client cannot read the file, or drops it.
    Unreadable(String),
}

/// The state of one client.
pub(crate) fn state(world: &World, client: &Client) -> State {
    match client {
        Client::Hooks(client) => hooks_state(world, client),
        Client::Extension(client) => extension::state(world, client),
    }
}

fn hooks_state(world: &World, client: &Registration) -> State {
    let planned = || {
        switches::check(client, &world.current_directory)?;
        let before = read_text(&client.settings)?;
        let entries = entries(client, &program_word(world)?);
        let after = plan(world, client, &entries, before.as_deref(), &mut Former::new())?;
        Ok((before, after))
    };
    let (before, after) = match planned() {
        Ok((Some(before), after)) => (before, after),
        Ok((None, _)) => return State::Absent,
        Err(Problem::Disabled(message)) => return State::Disabled(message),
        Err(Problem::Unreadable(message)) => return State::Unreadable(message),
    };
    let is_this_binary = |word: &str| leads_here(world, word);
    let owner = Owner { harness: client.harness, is_this_binary: &is_this_binary };
    match Settings::read(&before, client.comments) {
        _ if before == after => State::Registered,
        Ok(settings) if settings.places(&owner).is_empty() => State::Absent,
        _ => State::Outdated,
    }
}

/// Says for each client whether our hooks are there and can run. `rule_files` are those that
/// discovery finds.
pub(crate) fn status(world: &World, clients: &[Client], rule_files: &[PathBuf]) -> Report {
    let mut report = Report::default();
    for client in clients {
        let state = state(world, client);
        let waits = state == State::Registered && !client.afterwards().is_empty();
        let (exit, text) = match state {
            State::Registered => (0, "registered".to_owned()),
            State::Absent => (0, "not registered".to_owned()),
            State::Outdated => (
                1,
                format!(
                    "problem: incomplete or outdated; run `i-insist install {}`",
                    client.harness()
                ),
            ),
            State::Disabled(problem) => (1, format!("problem: {problem}")),
            State::Unreadable(problem) => (2, format!("problem: {problem}")),
        };
        report.exit = report.exit.max(exit);
        let file = client.file().display();
        say(&mut report.out, format_args!("{}: {file}\n  {text}", client.harness()));
        if waits {
            say(&mut report.out, format_args!("  trust: unknown; review the hooks in the client"));
        }
    }
    let on_path = match lookup(&world.path, "i-insist") {
        Some(found) if is_same(world, &found) => format!("this program, {}", found.display()),
        Some(found) => format!("another program, {}", found.display()),
        None => "not found".to_owned(),
    };
    say(&mut report.out, format_args!("i-insist on PATH: {on_path}"));
    for file in rule_files {
        say(&mut report.out, format_args!("rule file: {}", file.display()));
    }
    if rule_files.is_empty() {
        say(&mut report.out, format_args!("rule files: none"));
    }
    report
}

fn say(out: &mut String, line: std::fmt::Arguments<'_>) {
    out.push_str(&line.to_string());
    out.push('\n');
}
