//! One search over a text of some length, to be run under an instruction counter.
//!
//! `cost CASE LENGTH`, with a case of [`CASES`]; `cost` alone lists them. A case none of whose texts
//! may match says so by its exit status.

#![allow(dead_code, unfulfilled_lint_expectations, reason = "the modules are used in part")]

#[path = "../../../../src/glob.rs"]
mod glob;
#[path = "../../../../src/regex/mod.rs"]
mod regex;

use glob::{Pattern, Stars};
use std::process::ExitCode;

/// Name, pattern, and the text that is repeated; the names of globs begin with `glob`.
const CASES: &[(&str, &str, &str)] = &[
    ("regex-literal", "needle", "some plain text, "),
    ("regex-nested-stars", "(a*)*b", "a"),
    ("regex-alternating-stars", "(a|aa)*(a|aa)*c", "a"),
    ("regex-optionals", "(?:a?){10}a{10}b", "a"),
    ("regex-ignore-case", "(?i)select.*from.*where", "select From "),
    ("regex-unicode", r"(?i)\p{Lu}\w+\d{3}", "слово "),
    ("regex-counted", r"(?:\w{1,40} ){10}!", "some plain text, "),
    ("glob-stars", "*a*a*a*b", "a"),
    ("glob-many-stars", "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", "a"),
    ("glob-braces", "{*a,{*a*a,a*{a,b}*}}*{a,b}*c", "ab"),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, case, length] = arguments.as_slice() else {
        CASES.iter().for_each(|(name, ..)| println!("{name}"));
        return ExitCode::SUCCESS;
    };
    let (Some((name, pattern, piece)), Ok(length)) =
        (CASES.iter().find(|(name, ..)| name == case), length.parse::<usize>())
    else {
        return ExitCode::from(2);
    };
    let text = piece.repeat(length / piece.len());
    let matched = if name.starts_with("glob") {
        Pattern::new(pattern, Stars::CrossSlash).expect("a pattern").matches(&text)
    } else {
        regex::Regex::new(pattern).expect("a pattern").is_match(&text)
    };
    ExitCode::from(u8::from(matched))
}
