#![doc = include_str!("../manual/11-install.md")]
//!
//! Promises: refuses before it writes; `status` and a rehearsal write nothing. Never: reads the
//! environment, prints, or changes a file of which it does not understand the whole.

pub(crate) mod clients;
mod diff;
mod document;
pub(crate) mod extension;
mod recognise;
mod replace;
mod splice;
mod status;
mod switches;

pub(crate) use status::{State, state, status};

use crate::harness::Moment;
use crate::json::Json;
use crate::sha256;
use crate::world::World;
use clients::Registration;
use extension::Extension;
use recognise::Owner;
use replace::Locked;
use splice::{Entry, Former};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use switches::Problem;

/// The rule file of the first installation.
const RULE_FILE: &str = include_str!("../../examples/config-protection.toml");

/// What a command says, and its exit status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) exit: u8,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Report {
    fn of(result: Result<String, String>) -> Self {
        match result {
            Ok(out) => Self { exit: 0, out, err: String::new() },
            Err(err) => Self { exit: 2, out: String::new(), err: format!("i-insist: {err}\n") },
        }
    }
}

/// A client, by the way it is told about us.
#[derive(Clone, Debug)]
pub(crate) enum Client {
    /// Hooks in its settings.
    Hooks(Registration),
    /// An extension of ours that it loads.
    Extension(Extension),
}

impl Client {
    /// Its name.
    pub(crate) fn harness(&self) -> &'static str {
        match self {
            Self::Hooks(client) => client.harness,
            Self::Extension(client) => client.harness,
        }
    }

    /// The file that holds what is ours.
    pub(crate) fn file(&self) -> &Path {
        match self {
            Self::Hooks(client) => &client.settings,
            Self::Extension(client) => &client.file,
        }
    }

    /// What the person has to do before the hooks run.
    fn afterwards(&self) -> &'static str {
        match self {
            Self::Hooks(client) => client.afterwards,
            Self::Extension(_) => "",
        }
    }

    fn is_present(&self, world: &World) -> bool {
        match self {
            Self::Hooks(client) => is_present(world, client),
            Self::Extension(client) => extension::is_present(world, client),
        }
    }

    fn install(&self, world: &World, dry_run: bool) -> Result<String, String> {
        match self {
            Self::Hooks(client) => try_install(world, client, dry_run),
            Self::Extension(client) => {
                let registered = extension::install(world, client, dry_run)?;
                Ok(put_rule_file(world, dry_run)? + &registered)
            }
        }
    }
}

/// Registers us with a client, and puts the first rule file in place.
pub(crate) fn install(world: &World, client: &Client, dry_run: bool) -> Report {
    Report::of(client.install(world, dry_run))
}

/// Takes what is ours out of a client's settings or extensions.
pub(crate) fn uninstall(world: &World, client: &Client, dry_run: bool) -> Report {
    Report::of(match client {
        Client::Hooks(client) => try_uninstall(world, client, dry_run),
        Client::Extension(client) => extension::uninstall(world, client, dry_run),
    })
}

/// Registers with every client that is on `PATH` or has a configuration: all of them, or, when one
/// refuses, none.
pub(crate) fn ensure(world: &World, clients: &[Client]) -> Report {
    let present: Vec<_> = clients.iter().filter(|client| client.is_present(world)).collect();
    if present.is_empty() {
        let err = "i-insist: no client was found on PATH or by its configuration; nothing was registered\n";
        return Report { exit: 1, out: String::new(), err: err.into() };
    }
    let all = |dry_run: bool| {
        present
            .iter()
            .map(|client| client.install(world, dry_run))
            .collect::<Result<String, String>>()
    };
    Report::of(all(true).and_then(|_| all(false)))
}

fn try_install(world: &World, client: &Registration, dry_run: bool) -> Result<String, String> {
    let entries = entries(client, &program_word(world)?);
    switches::check(client, &world.current_directory).map_err(unchanged)?;
    let locked = lock(world, client, dry_run)?;
    let before = read_text(&client.settings).map_err(unchanged)?;
    let record = record_path(world, client);
    let mut former = read_record(&record)?;
    let after = plan(world, client, &entries, before.as_deref(), &mut former).map_err(unchanged)?;
    let rule_file = put_rule_file(world, dry_run)?;
    if before.as_deref() == Some(&after) {
        return Ok(format!(
            "{rule_file}{}: already registered in {}\n",
            client.harness,
            client.settings.display()
        ));
    }
    let Some(locked) = locked else {
        return Ok(rule_file + &rehearsal(&client.settings, before.as_deref(), Some(&after)));
    };
    write_record(&record, &former)?;
    let warning = locked.replace(before.as_deref().map(str::as_bytes), Some(after.as_bytes()))?;
    let done =
        format!("{rule_file}{}: registered in {}\n", client.harness, client.settings.display());
    Ok(done + client.afterwards + &warning.map(|text| text + "\n").unwrap_or_default())
}

/// A refusal that comes before anything is written.
fn unchanged(problem: impl Into<String>) -> String {
    problem.into() + "; nothing was changed"
}

/// The settings with our hooks; refused when the client would not run them all the same.
fn plan(
    world: &World,
    client: &Registration,
    entries: &[Entry],
    before: Option<&str>,
    former: &mut Former,
) -> Result<String, Problem> {
    let at_file = |why: String| format!("configuration {}: {why}", client.settings.display());
    let is_this_binary = |word: &str| leads_here(world, word);
    let owner = Owner { harness: client.harness, is_this_binary: &is_this_binary };
    let after = splice::install(before, client.comments, entries, &owner, former)
        .map_err(|refusal| at_file(refusal.to_string()))?;
    let planned = splice::Settings::read(&after, client.comments)
        .map_err(|refusal| at_file(refusal.to_string()))?;
    switches::check_schema(&planned.value(), client.schema).map_err(at_file)?;
    let in_snake_case = |event: &str| {
        let moment = Moment::from_client_name(event)?;
        Some(moment.argument().replace('-', "_"))
    };
    let places: Vec<_> = planned
        .places(&owner)
        .into_iter()
        .filter_map(|(event, group, handler)| Some((in_snake_case(&event)?, group, handler)))
        .collect();
    switches::check_places(client, &places)?;
    Ok(after)
}

fn try_uninstall(world: &World, client: &Registration, dry_run: bool) -> Result<String, String> {
    let nothing = format!("{}: not registered in {}\n", client.harness, client.settings.display());
    if read_text(&client.settings).map_err(unchanged)?.is_none() {
        // No folder is made for what is not there.
        if !dry_run {
            replace::clean_up(&client.settings)?;
        }
        return Ok(nothing);
    }
    let locked = lock(world, client, dry_run)?;
    let Some(before) = read_text(&client.settings)? else {
        return Ok(nothing);
    };
    let record = record_path(world, client);
    let is_this_binary = |word: &str| leads_here(world, word);
    let owner = Owner { harness: client.harness, is_this_binary: &is_this_binary };
    let after = splice::uninstall(&before, client.comments, &owner, &read_record(&record)?)
        .map_err(|refusal| {
            let settings = client.settings.display();
            unchanged(format!("configuration {settings}: {refusal}"))
        })?;
    if after.as_ref() == Some(&before) {
        return Ok(nothing);
    }
    let Some(locked) = locked else {
        return Ok(rehearsal(&client.settings, Some(&before), after.as_deref()));
    };
    let warning = locked.replace(Some(before.as_bytes()), after.as_deref().map(str::as_bytes))?;
    // The settings have changed: what fails from here on is no failure of the whole.
    let kept = write_record(&record, &Former::new()).err();
    let warning = warning.or(kept.map(|why| format!("warning: {why}")));
    let done = format!("{}: removed from {}\n", client.harness, client.settings.display());
    Ok(done + &warning.map(|text| text + "\n").unwrap_or_default())
}

/// What the settings shall hold, spelled for this `word` of the hook line.
fn entries(client: &Registration, word: &str) -> Vec<Entry> {
    let entry = |moment: &Moment| {
        let harness = client.harness;
        let command = format!("{word} hook --harness {harness} {}", moment.argument());
        let mut fields = vec![
            ("type", Json::from("command")),
            ("command", Json::from(command)),
            ("timeout", Json::from(moment.limits().registered_seconds)),
        ];
        if client.fail_closed.contains(moment) {
            fields.push(("onFailure", Json::from("block")));
        }
        Entry { event: moment.client_name(), handler: Json::object(fields) }
    };
    client.moments.iter().map(entry).collect()
}

/// The bare name when the client's look-up finds this very binary, else its path, for a shell.
fn program_word(world: &World) -> Result<String, String> {
    if lookup(&world.path, "i-insist").is_some_and(|found| is_same(world, &found)) {
        return Ok("i-insist".to_owned());
    }
    let program = world.program.as_deref().and_then(Path::to_str);
    let program =
        program.ok_or("the path of this program is not known or not UTF-8; install it on PATH")?;
    Ok(recognise::quoted(program))
}

/// Whether the program word of a hook line leads to the running binary.
fn leads_here(world: &World, spelled: &str) -> bool {
    if spelled.contains('/') {
        return is_same(world, Path::new(spelled));
    }
    lookup(&world.path, spelled).is_some_and(|found| is_same(world, &found))
}

fn is_same(world: &World, found: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
    let this = world.program.as_deref().and_then(identity);
    this.is_some() && identity(found) == this
}

/// The first executable `name` on `PATH`. Relative directories are left out: they mean something
/// else wherever the client runs.
fn lookup(path: &OsString, name: &str) -> Option<PathBuf> {
    let runs = |file: &PathBuf| {
        fs::metadata(file)
            .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(runs)
}

fn is_present(world: &World, client: &Registration) -> bool {
    lookup(&world.path, client.harness).is_some()
        || client.settings.parent().is_some_and(Path::is_dir)
}

/// Locks the settings, and removes what a killed run has left beside the other files. A rehearsal
/// needs no lock, and must not leave even that behind.
fn lock(world: &World, client: &Registration, dry_run: bool) -> Result<Option<Locked>, String> {
    if dry_run {
        return Ok(None);
    }
    let locked = Locked::new(&client.settings)?;
    replace::clean_up(&rule_file(world))?;
    replace::clean_up(&record_path(world, client))?;
    Ok(Some(locked))
}

fn rule_file(world: &World) -> PathBuf {
    world.home.join(".i-insist/i-insist.toml")
}

fn read_text(path: &Path) -> Result<Option<String>, String> {
    replace::read(path)?.map(|bytes| replace::text(path, bytes)).transpose()
}

/// Puts the first rule file in place, unless anything has its name.
fn put_rule_file(world: &World, dry_run: bool) -> Result<String, String> {
    let path = rule_file(world);
    if path.symlink_metadata().is_ok() {
        return Ok(String::new());
    }
    if dry_run {
        return Ok(rehearsal(&path, None, Some(RULE_FILE)));
    }
    let locked = Locked::new(&path)?;
    if locked.read()?.is_some() {
        return Ok(String::new());
    }
    let warning = locked.replace(None, Some(RULE_FILE.as_bytes()))?;
    Ok(format!(
        "rule file {} put in place\n{}",
        path.display(),
        warning.map(|text| text + "\n").unwrap_or_default()
    ))
}

fn rehearsal(path: &Path, before: Option<&str>, after: Option<&str>) -> String {
    let name = path.display().to_string();
    let side = |text: Option<&str>| {
        if text.is_some() { name.clone() } else { "/dev/null".to_owned() }
    };
    diff::unified(
        &side(before),
        &side(after),
        before.unwrap_or_default(),
        after.unwrap_or_default(),
    )
}

fn record_path(world: &World, client: &Registration) -> PathBuf {
    let digest = sha256::hex(&sha256::digest(client.settings.as_os_str().as_encoded_bytes()));
    world.state.join("registrations").join(format!("{}-{digest}.json", client.harness))
}

/// A record that makes no sense is none: then emptied containers go.
fn read_record(path: &Path) -> Result<Former, String> {
    let bytes = replace::read(path)?.unwrap_or_default();
    let record = Json::parse_bytes(&bytes).unwrap_or(Json::Null);
    let entries = record.as_object().unwrap_or_default().iter();
    Ok(entries
        .filter_map(|(key, value)| Some((key.to_string(), value.as_str()?.to_owned())))
        .collect())
}

fn write_record(path: &Path, former: &Former) -> Result<(), String> {
    if former.is_empty() && !path.exists() {
        return Ok(());
    }
    let locked = Locked::new(path)?;
    let before = locked.read()?;
    let record =
        Json::object(former.iter().map(|(key, text)| (key.as_str(), Json::from(text.as_str()))))
            .to_text();
    let after = (!former.is_empty()).then_some(record.as_bytes());
    if before.as_deref() != after {
        locked.replace(before.as_deref(), after)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
