//! The compiled-in rules, in the form of a steer file.

use super::steer::{self, SteerFile};
use super::{Diagnostic, Layer, Place, Rule};
use std::path::Path;

/// Their names, in order.
pub(crate) const NAMES: [&str; 4] =
    ["fff-over-grep", "read-over-sed", "edit-over-python", "trash-over-rm"];

/// The file as it can be read in the manual.
pub(crate) const TEXT: &str = include_str!("builtins.toml");

/// How places in it are told.
pub(crate) const FILE: &str = "built-in";

/// The lowest of steer's layers.
pub(crate) fn layer() -> Result<SteerFile, Vec<Diagnostic>> {
    steer::read(Path::new(FILE), TEXT.as_bytes())
}

/// The rules that `use` entries of guard files switch on, as guard rules, each once.
pub(crate) fn used(uses: &[(String, Place)]) -> Result<Vec<Rule>, Vec<Diagnostic>> {
    if uses.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = |rule: &Rule| uses.iter().any(|(name, _)| name == "*" || *name == rule.id);
    let rules = layer()?.rules.into_iter().filter(wanted);
    Ok(rules.map(|rule| Rule { layer: Layer::Guard, ..rule }).collect())
}
