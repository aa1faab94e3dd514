//! `steer hook|check|validate|init`: the contract that steer's users have registered and scripted.

use super::{Exit, explain, hook, init, usage_error, validate};
use crate::rules::Spelling;

/// Runs a command in steer's spelling.
pub(crate) fn run(arguments: &[String]) -> Exit {
    match arguments.split_first() {
        Some((name, rest)) if name == "hook" => hook::run_steer(rest),
        Some((name, rest)) if name == "check" && !rest.is_empty() => {
            explain::run(Spelling::Steer, rest)
        }
        Some((name, rest)) if name == "validate" => validate::run_steer(rest),
        Some((name, rest)) if name == "init" => init::run(Spelling::Steer, rest),
        _ => usage_error("steer takes hook, check, validate or init"),
    }
}
