//! i-insist: policy for coding agents. The list of modules is the architecture: a module uses
//! only modules further down, numbers are the sections of the specification, and all unsafe code
//! stands in `sys`.

#[forbid(unsafe_code)]
mod install; // 11 registering hooks
#[forbid(unsafe_code)]
mod harness; // 2 adapters: payload to event, answer to reply
#[forbid(unsafe_code)]
mod checker; // 7 running checkers
#[forbid(unsafe_code)]
mod rules; // 4 rule files
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
mod sys; // the only unsafe code: system calls

fn main() {}
