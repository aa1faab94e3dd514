//! i-insist: policy for coding agents.
//!
//! The list of modules is the architecture. Each uses only modules below it; the numbers are those
//! of the manual's pages; all unsafe code stands in `sys`.
#![cfg_attr(not(test), no_main)]

#[forbid(unsafe_code)]
mod commands; // 14 what can be called: reads the world, calls one floor down, prints

#[forbid(unsafe_code)]
mod install; // 11 registering hooks in the clients' settings

#[forbid(unsafe_code)]
mod finish; // 10 checks before finishing

#[forbid(unsafe_code)]
mod audit; // 13 the log

#[forbid(unsafe_code)]
mod harness; // 2 adapters: payload to event, answer to reply

#[forbid(unsafe_code)]
mod decision; // 8 what the rules come to

#[forbid(unsafe_code)]
mod approval; // 9 "I insist"

#[forbid(unsafe_code)]
mod checker; // 7 programs that decide

#[forbid(unsafe_code)]
mod protect; // 12 the rule files guard themselves

#[forbid(unsafe_code)]
mod rules; // 4 rule files

#[forbid(unsafe_code)]
mod discovery; // 3 where rules come from

#[forbid(unsafe_code)]
mod matching; // 6 conditions

#[forbid(unsafe_code)]
mod shell; // 5 commands into segments

#[forbid(unsafe_code)]
mod event; // 1 the neutral event

#[forbid(unsafe_code)]
mod glob;

#[forbid(unsafe_code)]
mod json;

#[forbid(unsafe_code)]
mod regex;

#[forbid(unsafe_code)]
mod sha256;

#[forbid(unsafe_code)]
mod spans;

mod sys; // the only unsafe code: system calls

#[forbid(unsafe_code)]
mod world; // what the process was given

/// Called by the entry point, which stands in `sys`; the exit status.
#[cfg_attr(test, expect(dead_code, reason = "tests have an entry point of their own"))]
fn run(arguments: Vec<std::ffi::OsString>) -> i32 {
    commands::run(arguments) as i32
}
