//! Rules that a call missed by one condition: what a rule's author wants to know when it stays silent.

use super::document;
use crate::event::Event;
use crate::matching::{Block, Document, Outcome};
use crate::rules::Rule;
use crate::shell::Parsed;
use std::fmt;

/// A rule that one condition kept from holding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NearMiss {
    /// Its id.
    pub(crate) rule: String,
    /// Which condition, and of what.
    pub(crate) reason: String,
}

impl fmt::Display for NearMiss {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.rule, self.reason)
    }
}

/// The enabled rules whose gates admit the call and whose blocks all miss it, one by a single
/// condition of several.
pub(crate) fn misses(event: &Event<'_>, shell: Option<&Parsed>, rules: &[Rule]) -> Vec<NearMiss> {
    let document = document::of(event, shell);
    let looking = rules.iter().filter(|rule| rule.enabled && rule.gates.admit(event));
    looking
        .filter(|rule| {
            rule.matches.iter().all(|block| block.evaluate(&document) == Outcome::Missed)
        })
        .filter_map(|rule| {
            let reason = rule.matches.iter().find_map(|block| miss(block, &document, shell))?;
            Some(NearMiss { rule: rule.id.clone(), reason })
        })
        .collect()
}

fn miss(block: &Block, document: &Document<'_>, shell: Option<&Parsed>) -> Option<String> {
    let nearest = block.nearest(document)?;
    // Another command, or the only condition: then the call has nothing in common with the block.
    let [failed] = nearest.failed.as_slice() else {
        return None;
    };
    let condition = block
        .conditions
        .get(*failed)
        .filter(|condition| block.conditions.len() > 1 && condition.path.to_string() != "head")?;
    let of = match nearest
        .element
        .filter(|_| block.binding.names_segments())
        .and_then(|at| shell?.segments.get(at))
    {
        Some(segment) => format!(" for `{}`", segment.head),
        None => String::new(),
    };
    Some(format!("`{}` does not hold{of}", condition.path))
}
