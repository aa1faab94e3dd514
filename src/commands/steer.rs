//! `steer hook|check|validate|init`: the contract that steer's users have registered and scripted.

use super::{Exit, hook, usage_error};

/// Runs a command in steer's spelling.
pub(crate) fn run(arguments: &[String]) -> Exit {
    match arguments.split_first() {
        Some((name, rest)) if name == "hook" => hook::run_steer(rest),
        _ => usage_error("steer takes hook"),
    }
}
