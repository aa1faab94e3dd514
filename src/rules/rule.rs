//! One `[[rules]]` table: the schema that guard and steer files share.

use super::action::effect;
use super::block::block;
use super::schema::{Fields, Section, Source, array, nearest, shown, text};
use super::{Block, Effect, Gates, Layer, Message, Rule, Tests, When};
use crate::event::{Kind, Phase};
use std::path::Path;
use std::rc::Rc;
use toml_reader::Value;

/// Keys of a file that may have slid into its last rule.
pub(super) static FILE: Section =
    Section { name: "the top of the file", fields: &["use", "disable"], outer: &[] };
/// A rule's own keys.
pub(super) static RULE: Section = Section {
    name: "[[rules]]",
    fields: &[
        "id",
        "name",
        "description",
        "enabled",
        "overridable",
        "phase",
        "harness",
        "agents",
        "tool",
        "kind",
        "checker",
        "timeout",
        "message",
        "match",
        "action",
        "test",
    ],
    outer: &[&FILE],
};
static TEST: Section = Section {
    name: "[rules.test]",
    fields: &["fires", "ignores", "rewrites"],
    outer: &[&RULE, &FILE],
};
/// Every kind of table here, for the test of the published schema.
#[cfg(test)]
pub(super) fn sections() -> [&'static Section; 2] {
    [&RULE, &TEST]
}

/// Harnesses that exist; a gate may name others, but not misspell these.
const HARNESSES: [&str; 8] =
    ["claude", "codex", "pi", "gemini", "qwen", "copilot", "cursor", "opencode"];

const KINDS: [(&str, Kind); 4] = [
    ("shell", Kind::Shell),
    ("file_write", Kind::FileWrite),
    ("file_edit", Kind::FileEdit),
    ("other", Kind::Other),
];

/// All rules of a file.
pub(super) fn rules(
    source: &mut Source<'_>,
    file: Fields<'_>,
    directory: &Path,
    layer: Layer,
) -> Vec<Rule> {
    let context = Context { directory: Rc::from(directory), layer };
    let tables = source.tables(file, "rules");
    let mut identities: Vec<(&str, Fields<'_>, &str)> = Vec::with_capacity(tables.len());
    let mut rules = Vec::with_capacity(tables.len());
    for value in tables {
        let Some(fields) = source.fields(value, "rules", &RULE) else {
            continue;
        };
        let id = identity(source, fields);
        identities.extend(id.map(|(key, id)| (id, fields, key)));
        rules.extend(context.rule(source, fields, id.map(|(_, id)| id)));
    }
    identities.sort_unstable_by_key(|(id, fields, _)| (*id, fields.offset));
    for pair in identities.windows(2) {
        if let [(id, first, _), (same, fields, key)] = pair
            && id == same
        {
            let line = source.place(first.offset).line;
            let offset = fields.table.get(key).map_or(fields.offset, |value| value.span.start);
            source.problem(
                offset,
                format!("`{key}` `{}` is taken by the rule in line {line}", shown(id)),
            );
        }
    }
    rules
}

/// The key that names the rule, and the name.
fn identity<'d>(source: &mut Source<'_>, fields: Fields<'d>) -> Option<(&'static str, &'d str)> {
    let (id, name) = (source.string(fields, "id"), source.string(fields, "name"));
    let given = |read: Option<&str>, key| read.is_some() || fields.table.get(key).is_some();
    if given(id, "id") == given(name, "name") {
        let found = if given(id, "id") { "both" } else { "neither" };
        source.problem(
            fields.offset,
            format!("a rule has exactly one of `id` and `name`, found {found}"),
        );
    }
    id.map(|id| ("id", id)).or(name.map(|name| ("name", name)))
}

/// What holds for all rules of a file.
struct Context {
    directory: Rc<Path>,
    layer: Layer,
}

impl Context {
    /// One rule; `None` if a part without which it cannot stand is missing or wrong.
    fn rule(&self, source: &mut Source<'_>, fields: Fields<'_>, id: Option<&str>) -> Option<Rule> {
        let description = source.string(fields, "description").map(str::to_owned);
        let enabled = source.boolean(fields, "enabled", true);
        let overridable = source.boolean(fields, "overridable", true);
        let phase = source.choice(fields, "phase", &[("pre", Phase::Pre), ("post", Phase::Post)]);
        let mut gates = gates(source, fields, self.layer);
        let blocks = source.tables(fields, "match");
        let is_empty = |value: &&Value<'_>| array(value).is_some_and(<[Value<'_>]>::is_empty);
        if blocks.is_empty()
            && let Some(value) = fields.table.get("match").filter(is_empty)
        {
            source.problem(value.span.start, "`match` needs at least one block");
        }
        let matches: Vec<Block> =
            blocks.iter().filter_map(|value| block(source, value, self.layer)).collect();
        let effect = effect(source, fields, self.layer);
        let tests = tests(source, fields, effect.as_ref());
        if let Some(effect) = &effect {
            check_phase(source, fields, phase, effect);
            gate_by_message(source, fields, &mut gates, effect);
        }
        let when = match (phase, &effect) {
            (None, Some(Effect::Context { .. })) if self.layer == Layer::Steer => When::Either,
            (phase, _) => When::At(phase.unwrap_or(Phase::Pre)),
        };
        Some(Rule {
            id: id?.to_owned(),
            description,
            place: source.place(fields.offset),
            directory: Rc::clone(&self.directory),
            layer: self.layer,
            enabled,
            overridable,
            when,
            gates,
            matches,
            effect: effect?,
            tests,
        })
    }
}

/// After the tool nothing is left to deny or to rewrite.
fn check_phase(source: &mut Source<'_>, fields: Fields<'_>, phase: Option<Phase>, effect: &Effect) {
    let kind = match effect {
        Effect::Deny { .. } => "deny",
        Effect::Ask { .. } => "ask",
        Effect::Rewrite { .. } => "rewrite",
        Effect::Checker { .. } | Effect::Context { .. } => return,
    };
    if phase == Some(Phase::Post) {
        let offset = fields.table.get("phase").map_or(fields.offset, |value| value.span.start);
        source.problem(
            offset,
            format!(
                "`{kind}` comes too late in phase `post`, which takes `context` or a `checker`"
            ),
        );
    }
}

fn gates(source: &mut Source<'_>, fields: Fields<'_>, layer: Layer) -> Gates {
    let owned =
        |names: Vec<(&str, usize)>| names.into_iter().map(|(name, _)| name.to_owned()).collect();
    let (harness, agents) = (source.names(fields, "harness"), source.names(fields, "agents"));
    if harness.is_some() && agents.is_some() {
        source
            .problem(fields.offset, "`agents` means the same as `harness`, a rule has one of them");
    }
    let harness = harness.or(agents).unwrap_or_default();
    for (name, offset) in &harness {
        known_harness(source, name, *offset);
    }
    let tool = source.names(fields, "tool").unwrap_or_default();
    for (name, offset) in &tool {
        // Steer takes such a name, which no tool has.
        if layer != Layer::Steer && name.contains(['*', '?', '[', '{']) {
            let shown = shown(name);
            let message = format!(
                "`tool` names tools exactly; for a pattern, a match on `tool_name = {{ glob = [\"{shown}\"] }}`"
            );
            source.problem(*offset, message);
        }
    }
    Gates {
        harness: owned(harness),
        tool: owned(tool),
        kind: source.choice(fields, "kind", &KINDS),
    }
}

/// Any name may be a harness of the user's own, but not one letter beside a known one;
/// names as short as `pi` have too many neighbours for that.
pub(super) fn known_harness(source: &mut Source<'_>, name: &str, offset: usize) {
    if let Some(near) = nearest(name, &HARNESSES).filter(|near| *near != name && near.len() > 2) {
        source
            .problem(offset, format!("unknown harness `{}`, did you mean `{near}`?", shown(name)));
    }
}

/// A message per harness is a gate as well.
fn gate_by_message(
    source: &mut Source<'_>,
    fields: Fields<'_>,
    gates: &mut Gates,
    effect: &Effect,
) {
    if let Some(Message::PerHarness(texts)) = effect.message() {
        if !gates.harness.is_empty() {
            source.problem(
                fields.offset,
                "the harnesses are named by `message`, so `harness` must not name them too",
            );
        }
        gates.harness = texts.iter().map(|(name, _)| name.clone()).collect();
    }
}

/// `[rules.test]`: examples with their places.
fn tests(source: &mut Source<'_>, rule: Fields<'_>, effect: Option<&Effect>) -> Tests {
    let mut tests = Tests::default();
    let Some(fields) = rule.table.get("test").and_then(|value| source.fields(value, "test", &TEST))
    else {
        return tests;
    };
    let examples = |source: &mut Source<'_>, key| {
        let lines = source.strings(fields, key).unwrap_or_default();
        lines.into_iter().map(|(line, offset)| (line.to_owned(), source.place(offset))).collect()
    };
    tests.fires = examples(source, "fires");
    tests.ignores = examples(source, "ignores");
    let Some(rewrites) = fields.table.get("rewrites") else {
        return tests;
    };
    let Some(table) = rewrites.as_table() else {
        source.wrong(rewrites, "rewrites", "a table of command lines");
        return tests;
    };
    if effect.is_some_and(|effect| !matches!(effect, Effect::Rewrite { .. })) {
        source
            .problem(rewrites.span.start, "`rewrites` belongs to a rule whose action is `rewrite`");
    }
    for (key, value) in table {
        match text(value) {
            Some(after) => tests.rewrites.push((
                key.name.to_string(),
                after.to_owned(),
                source.place(key.span.start),
            )),
            None => source.wrong(value, &format!("rewrites.{}", shown(&key.name)), "a string"),
        }
    }
    tests
}
