//! Compares our matchers with the `regex` and `globset` crates on generated patterns and texts.
//!
//! `differential [SEED [ROUNDS]]` prints each disagreement, made small, and exits with 1 if there
//! was one. Where we differ on purpose stands in `regexes::differs` and `globs::differs`.

#![allow(dead_code, unfulfilled_lint_expectations, reason = "the modules are used in part")]

#[path = "../../../src/glob.rs"]
mod glob;
#[path = "../../../src/regex/mod.rs"]
mod regex;

mod globs;
mod random;
mod regexes;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let (Ok(seed), Ok(rounds)) =
        (arguments.next().unwrap_or(Ok(1)), arguments.next().unwrap_or(Ok(20_000)))
    else {
        eprintln!("usage: differential [SEED [ROUNDS]]");
        return ExitCode::from(2);
    };
    let mut random = random::Random::new(seed);
    let mut disagreements = regexes::compare_sets();
    let mut compared = [0_u64; 2];
    for _ in 0..rounds {
        disagreements.extend(regexes::compare(&mut random, &mut compared[0]));
        disagreements.extend(globs::compare(&mut random, &mut compared[1]));
        if disagreements.len() > 20 {
            break;
        }
    }
    for disagreement in &disagreements {
        println!("{disagreement}");
    }
    println!("seed {seed}: {} texts searched, {} globbed", compared[0], compared[1]);
    ExitCode::from(u8::from(!disagreements.is_empty() || compared.contains(&0)))
}
