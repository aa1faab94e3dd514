//! i-insist: policy for coding agents. The list of modules is the architecture: a module uses
//! only modules further down, numbers are the sections of the specification, and all unsafe code
//! stands in `sys`.

#[forbid(unsafe_code)]
mod event; // 1 the neutral event
#[forbid(unsafe_code)]
mod json;
#[forbid(unsafe_code)]
mod sha256;

fn main() {}
