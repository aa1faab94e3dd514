//! Steer files, `.steer.toml` and steer's user configuration, and how they lie over one another.

use super::schema::{Section, Source, nearest, shown};
use super::{Diagnostic, Layer, Place, Rule, rule};
use std::collections::BTreeMap;
use std::path::Path;

static FILE: Section = Section { name: "a steer file", fields: &["rules", "disable"], outer: &[] };

/// What a steer file says.
#[derive(Clone, Debug)]
pub(crate) struct SteerFile {
    /// Names of rules it switches off, wherever they come from.
    pub(crate) disable: Vec<(String, Place)>,
    /// In the order of declaration.
    pub(crate) rules: Vec<Rule>,
}

/// Reads the steer file `path`.
pub(crate) fn read(path: &Path, text: &[u8]) -> Result<SteerFile, Vec<Diagnostic>> {
    let (mut source, root) = Source::open(path, text)?;
    let file = source.root(&root, 0, &FILE);
    let rules = rule::rules(&mut source, file, path.parent().unwrap_or(path), Layer::Steer);
    let names = source.strings(file, "disable").unwrap_or_default();
    let disable =
        names.into_iter().map(|(name, offset)| (name.to_owned(), source.place(offset))).collect();
    source.close(SteerFile { disable, rules })
}

/// What became of a rule.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fate {
    /// It counts.
    Active,
    /// A `disable` names it, there.
    Disabled(Place),
    /// A rule of the same name in a later file took its place, there.
    Replaced(Place),
}

/// Steer's files, laid over one another.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    /// Every rule of every file. A replacement stands behind the rule it replaces.
    pub(crate) rules: Vec<(Rule, Fate)>,
    /// Each `disable` that names no rule.
    unmatched: Vec<(String, Place)>,
}

impl Stack {
    /// The rules that count, in order, without the others.
    pub(crate) fn into_active(self) -> impl Iterator<Item = Rule> {
        let active = |(rule, fate): (Rule, Fate)| (fate == Fate::Active).then_some(rule);
        self.rules.into_iter().filter_map(active)
    }

    /// What is wrong with each `disable` that names no rule.
    pub(crate) fn problems(&self) -> Vec<Diagnostic> {
        let names: Vec<&str> = self.rules.iter().map(|(rule, _)| rule.id.as_str()).collect();
        let problem = |(name, place): &(String, Place)| {
            let near = nearest(name, &names)
                .map_or(String::new(), |near| format!(", did you mean `{near}`?"));
            let name = shown(name);
            Diagnostic {
                place: place.clone(),
                message: format!("`disable` names `{name}`, and no rule has that name{near}"),
            }
        };
        self.unmatched.iter().map(problem).collect()
    }
}

/// Lays `files` over one another, the first at the bottom: a rule replaces one of the same name in
/// its place, and what any file disables is off in the end.
pub(crate) fn stack(files: Vec<SteerFile>) -> Stack {
    let mut slots: Vec<Vec<(Rule, Fate)>> = Vec::new();
    let mut positions = BTreeMap::new();
    let mut disable = Vec::new();
    for file in files {
        disable.extend(file.disable);
        for rule in file.rules {
            let position = *positions.entry(rule.id.clone()).or_insert(slots.len());
            if position == slots.len() {
                slots.push(Vec::new());
            }
            if let Some((_, fate)) = slots[position].last_mut() {
                *fate = Fate::Replaced(rule.place.clone());
            }
            slots[position].push((rule, Fate::Active));
        }
    }
    let mut unmatched = Vec::new();
    for (name, place) in disable {
        match positions.get(&name).and_then(|position| slots[*position].last_mut()) {
            Some((_, fate @ Fate::Active)) => *fate = Fate::Disabled(place),
            Some(_) => {}
            None => unmatched.push((name, place)),
        }
    }
    Stack { rules: slots.into_iter().flatten().collect(), unmatched }
}
