//! `[[rules.match]]`: bindings, conditions, operators.

use super::Layer;
use super::rule::{FILE, RULE};
use super::schema::{Fields, Section, Source, boolean, listed, nearest, shown};
use crate::glob::Stars;
use crate::matching::{Binding, Block, Condition, Operator, Path};
use toml_reader::{Definition, Key, Value};

static BLOCK: Section =
    Section { name: "[[rules.match]]", fields: &["any", "all"], outer: &[&RULE, &FILE] };
static OPERATORS: Section = Section {
    name: "a condition",
    fields: &["any_of", "none_of", "glob", "none_glob", "matches", "not_matches", "is", "exists"],
    outer: &[],
};

/// Every kind of table here, for the test of the published schema.
#[cfg(test)]
pub(super) fn sections() -> [&'static Section; 2] {
    [&BLOCK, &OPERATORS]
}

/// The fields of a segment: the one place of the match document whose names are all known.
const SEGMENT: [&str; 10] = [
    "head",
    "args",
    "pipeline_start",
    "in_workspace",
    "depth",
    "wrappers",
    "redirects",
    "assignments",
    "dynamic",
    "span",
];

/// One `[[rules.match]]`: a binding, and every other key a condition.
pub(super) fn block(source: &mut Source<'_>, value: &Value<'_>, layer: Layer) -> Option<Block> {
    let fields = Fields { table: value.as_table()?, offset: value.span.start, section: &BLOCK };
    let binding = match (source.string(fields, "any"), source.string(fields, "all")) {
        (Some(any), None) => Binding::Any(Path::new(any)),
        (None, Some(all)) => Binding::All(Path::new(all)),
        (None, None) => Binding::Root,
        (Some(_), Some(_)) => {
            source.problem(fields.offset, "a block binds to `any` or to `all`, found both");
            Binding::Root
        }
    };
    let is_condition = |name: &str| !BLOCK.fields.contains(&name);
    // Such a condition could never hold. In steer's files it is allowed all the same.
    if layer == Layer::Guard && binding.names_segments() {
        for (key, _) in fields.table.iter().filter(|(key, _)| is_condition(&key.name)) {
            known_in_segment(source, key);
        }
    }
    let given = fields.table.iter().filter(|(key, _)| is_condition(&key.name));
    let conditions: Vec<Condition> =
        given.clone().filter_map(|(key, value)| condition(source, fields, key, value)).collect();
    if given.count() == 0 {
        source.problem(fields.offset, "a block needs at least one condition");
    }
    Some(Block { binding, conditions })
}

fn known_in_segment(source: &mut Source<'_>, key: &Key<'_>) {
    let name = key.name.split('.').next().unwrap_or_default();
    if !SEGMENT.contains(&name) {
        let advice = match nearest(name, &SEGMENT) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", listed(&SEGMENT)),
        };
        let name = shown(name);
        source.problem(key.span.start, format!("a segment has no field `{name}`, {advice}"));
    }
}

fn condition(
    source: &mut Source<'_>,
    block: Fields<'_>,
    key: &Key<'_>,
    value: &Value<'_>,
) -> Option<Condition> {
    let Some(table) = value.as_table() else {
        let problem = block.slid(&key.name).or_else(|| {
            let near = nearest(&key.name, BLOCK.fields)?;
            Some(format!(
                "{} must be a table of operators, or did you mean `{near}`?",
                shown(&key.name)
            ))
        });
        match problem {
            Some(problem) => source.problem(key.span.start, problem),
            None => source.wrong(value, &shown(&key.name), "a table of operators"),
        }
        return None;
    };
    if table.definition() == Definition::Dotted {
        let inner = table.iter().next().map(|(key, _)| shown(&key.name)).unwrap_or_default();
        let path = format!("{}.{inner}", shown(&key.name));
        source.problem(key.span.start, format!("a dotted path stands in quotes: `\"{path}\"`"));
        return None;
    }
    let fields = source.fields(value, &key.name, &OPERATORS)?;
    let operators: Vec<Operator> =
        table.iter().filter_map(|(key, _)| operator(source, fields, &key.name)).collect();
    if table.is_empty() {
        source.problem(
            value.span.start,
            format!("condition `{}` needs at least one operator", shown(&key.name)),
        );
    }
    Some(Condition { path: Path::new(&key.name), operators })
}

fn operator(source: &mut Source<'_>, fields: Fields<'_>, name: &str) -> Option<Operator> {
    let truth = |source: &mut Source<'_>| {
        let value = fields.table.get(name)?;
        source.boolean(fields, name, false);
        boolean(value)
    };
    match name {
        "any_of" => source.texts(fields, name).map(Operator::AnyOf),
        "none_of" => source.texts(fields, name).map(Operator::NoneOf),
        "glob" => source.globs(fields, name, Stars::CrossSlash).map(Operator::Glob),
        "none_glob" => source.globs(fields, name, Stars::CrossSlash).map(Operator::NoneGlob),
        "matches" => source.expression(fields, name).map(Operator::Matches),
        "not_matches" => source.expression(fields, name).map(Operator::NotMatches),
        "is" => truth(source).map(Operator::Is),
        "exists" => truth(source).map(Operator::Exists),
        _ => None,
    }
}
