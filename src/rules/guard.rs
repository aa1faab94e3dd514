//! Guard files: `.i-insist/*.toml`.

use super::schema::{Fields, Section, Source, listed, nearest, shown};
use super::{
    Check, Diagnostic, Finish, Layer, Place, Program, Rule, Settings, Wrapper, builtins, rule,
};
use crate::glob::Stars;
use std::path::{Path, PathBuf};

static FILE: Section =
    Section { name: "a guard file", fields: &["rules", "finish", "use", "settings"], outer: &[] };
static FINISH: Section = Section {
    name: "[finish]",
    fields: &["fail_fast", "max_retries", "checks"],
    outer: &[&SLIDING],
};
static CHECK: Section = Section {
    name: "[[finish.checks]]",
    fields: &["name", "command", "script", "inputs", "timeout"],
    outer: &[&FINISH, &SLIDING],
};
static SETTINGS: Section = Section {
    name: "[settings]",
    fields: &["require_trust", "announce", "shell_prefix", "wrappers"],
    outer: &[&SLIDING],
};
static WRAPPER: Section = Section {
    name: "[[settings.wrappers]]",
    fields: &["name", "value_options"],
    outer: &[&SETTINGS, &SLIDING],
};
/// Keys of the file that may have slid into its last table.
static SLIDING: Section = Section { name: "the top of the file", fields: &["use"], outer: &[] };

const DEFAULT_RETRIES: u32 = 3;

/// Every kind of table here, for the test of the published schema.
#[cfg(test)]
pub(super) fn sections() -> [&'static Section; 5] {
    [&FILE, &FINISH, &CHECK, &SETTINGS, &WRAPPER]
}

/// What a guard file says.
#[derive(Clone, Debug)]
pub(crate) struct GuardFile {
    /// In the order of declaration.
    pub(crate) rules: Vec<Rule>,
    /// Its finish checks.
    pub(crate) finish: Option<Finish>,
    /// The built-ins it switches on, for [`builtins::used`]: names that exist, or `*`.
    pub(crate) uses: Vec<(String, Place)>,
    /// Its settings, or the defaults.
    pub(crate) settings: Settings,
}

/// Whether a file may hold `[settings]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The system and home directories: yes.
    User,
    /// Anywhere else: no, or a repository could loosen the user's guard.
    Repository,
}

/// Reads the guard file `path`, whose directory, physically, is `directory`.
pub(crate) fn read(
    path: &Path,
    directory: &Path,
    text: &[u8],
    scope: Scope,
) -> Result<GuardFile, Vec<Diagnostic>> {
    let (mut source, root) = Source::open(path, text)?;
    let file = source.root(&root, 0, &FILE);
    let rules = rule::rules(&mut source, file, directory, Layer::Guard);
    let finish = root.get("finish").and_then(|value| source.fields(value, "finish", &FINISH));
    let finish = finish.map(|fields| read_finish(&mut source, fields));
    let uses = read_uses(&mut source, file);
    let mut settings = Settings::default();
    if let Some(value) = root.get("settings") {
        if scope == Scope::Repository {
            source.problem(
                value.span.start,
                "`[settings]` counts only in `~/.i-insist` and in the system's directory",
            );
        }
        let fields = source.fields(value, "settings", &SETTINGS);
        settings = fields.map(|fields| read_settings(&mut source, fields)).unwrap_or_default();
    }
    source.close(GuardFile { rules, finish, uses, settings })
}

fn read_uses(source: &mut Source<'_>, file: Fields<'_>) -> Vec<(String, Place)> {
    let names = source.strings(file, "use").unwrap_or_default();
    let mut uses = Vec::new();
    for (name, offset) in names {
        if name != "*" && !builtins::NAMES.contains(&name) {
            let advice = match nearest(name, &builtins::NAMES) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {} and `*` for all", listed(&builtins::NAMES)),
            };
            source.problem(offset, format!("unknown built-in rule `{}`, {advice}", shown(name)));
        }
        uses.push((name.to_owned(), source.place(offset)));
    }
    uses
}

fn read_finish(source: &mut Source<'_>, fields: Fields<'_>) -> Finish {
    let checks = source.tables(fields, "checks").iter();
    let finish = Finish {
        checks: checks
            .filter_map(|value| {
                let fields = source.fields(value, "checks", &CHECK)?;
                read_check(source, fields)
            })
            .collect(),
        fail_fast: source.boolean(fields, "fail_fast", true),
        max_retries: source.count(fields, "max_retries").unwrap_or(DEFAULT_RETRIES),
    };
    if fields.table.get("checks").is_none() {
        source.problem(fields.offset, "`[finish]` needs at least one `[[finish.checks]]`");
    }
    finish
}

fn read_check(source: &mut Source<'_>, fields: Fields<'_>) -> Option<Check> {
    let name = source.string(fields, "name").map(str::to_owned);
    let inputs = source.globs(fields, "inputs", Stars::StopAtSlash);
    let timeout = source.seconds(fields, "timeout");
    let (command, script) = (source.string(fields, "command"), source.string(fields, "script"));
    let given = |key| fields.table.get(key).is_some();
    if given("command") == given("script") {
        let found = if given("command") { "both" } else { "neither" };
        source.problem(
            fields.offset,
            format!("a check has either a `command` or a `script`, found {found}"),
        );
    }
    let program = match (command, script) {
        (Some(command), _) => Program::Command(command.to_owned()),
        (None, script) => Program::Script(PathBuf::from(script?)),
    };
    Some(Check { name, program, inputs, timeout, place: source.place(fields.offset) })
}

fn read_settings(source: &mut Source<'_>, fields: Fields<'_>) -> Settings {
    let defaults = Settings::default();
    let wrappers = source.tables(fields, "wrappers").iter();
    Settings {
        wrappers: wrappers
            .filter_map(|value| {
                let fields = source.fields(value, "wrappers", &WRAPPER)?;
                read_wrapper(source, fields)
            })
            .collect(),
        require_trust: source.boolean(fields, "require_trust", defaults.require_trust),
        announce: source.boolean(fields, "announce", defaults.announce),
        shell_prefix: source.boolean(fields, "shell_prefix", defaults.shell_prefix),
    }
}

fn read_wrapper(source: &mut Source<'_>, fields: Fields<'_>) -> Option<Wrapper> {
    let value_options = source.texts(fields, "value_options").unwrap_or_default();
    if fields.table.get("name").is_none() {
        source.problem(fields.offset, "a wrapper needs a `name`");
    }
    let name = source.string(fields, "name")?.to_owned();
    Some(Wrapper { name, value_options })
}
