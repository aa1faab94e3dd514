//! Runs the JSON reader over a public suite of accepted and refused texts, found by
//! `I_INSIST_CASES`.
#![expect(dead_code, reason = "the module is included whole, the suite needs a part of it")]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

#[path = "../src/json.rs"]
mod json;

use json::Json;
use std::{env, fs};

/// The suite's files whose names start with `mark`, in order, with their bytes.
fn suite(mark: &str) -> Vec<(String, Vec<u8>)> {
    let cases =
        env::var("I_INSIST_CASES").expect("I_INSIST_CASES must name the folder of case files");
    let folder = fs::read_dir(cases + "/conformance/JSONTestSuite/test_parsing").unwrap();
    let mut files: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let name = |path: &std::path::Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let chosen = files.iter().filter(|path| name(path).starts_with(mark));
    chosen.map(|path| (name(path), fs::read(path).unwrap())).collect()
}

/// The text without blanks: its compact form, if no string stands in it.
fn compact(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_whitespace()).collect()
}

#[test]
fn every_valid_text_is_accepted_and_reprinted_without_loss() {
    let files = suite("y_");
    assert!(files.len() > 70, "the suite is not whole");
    for (name, bytes) in files {
        let value = Json::parse_bytes(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        let text = value.to_text();
        assert_eq!(Json::parse(&text).as_ref(), Ok(&value), "{name}");
        let source = str::from_utf8(&bytes).unwrap();
        if !source.contains('"') {
            assert_eq!(text, compact(source), "{name}");
        }
    }
}

#[test]
fn every_invalid_text_is_refused_with_its_place() {
    let files = suite("n_");
    assert!(files.len() > 130, "the suite is not whole");
    for (name, bytes) in files {
        let error = Json::parse_bytes(&bytes).expect_err(&name);
        assert!(error.line >= 1 && error.column >= 1, "{name}: {error}");
    }
}

#[test]
fn every_doubtful_text_ends_without_panic_and_what_is_accepted_survives() {
    let files = suite("i_");
    assert!(files.len() > 30, "the suite is not whole");
    for (name, bytes) in files {
        if let Ok(value) = Json::parse_bytes(&bytes) {
            assert_eq!(Json::parse(&value.to_text()).as_ref(), Ok(&value), "{name}");
        }
    }
}
