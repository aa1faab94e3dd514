//! The toml-test suite for TOML 1.0.0; found by the environment variable `I_INSIST_CASES`.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail loudly")]

#[path = "../examples/decoder.rs"]
#[expect(dead_code, unreachable_pub, reason = "the example's `main` is not used here")]
mod decoder;

use std::fs;
use std::path::PathBuf;

fn suite() -> PathBuf {
    let cases = std::env::var_os("I_INSIST_CASES")
        .expect("I_INSIST_CASES names the folder of the case files");
    PathBuf::from(cases).join("conformance/toml-test/tests")
}

/// The named files of one kind, each with the path below the suite.
fn files(kind: &str) -> Vec<String> {
    let list = fs::read_to_string(suite().join("files-toml-1.0.0")).expect("the list of files");
    let named = |line: &&str| line.starts_with(kind) && line.contains(".toml");
    list.lines().filter(named).map(str::to_owned).collect()
}

#[test]
fn valid_files_give_their_values() {
    let files = files("valid/");
    assert!(files.len() > 100, "only {} files", files.len());
    for name in files {
        let path = suite().join(&name);
        let text = fs::read(&path).unwrap();
        let table = toml_reader::parse(&text).unwrap_or_else(|error| panic!("{name}:{error}"));
        let expected = fs::read_to_string(path.with_extension("json")).unwrap();
        assert_eq!(Json::read(&decoder::tagged(&table)), Json::read(&expected), "{name}");
    }
}

#[test]
fn invalid_files_are_refused() {
    let files = files("invalid/");
    assert!(files.len() > 200, "only {} files", files.len());
    for name in files {
        let text = fs::read(suite().join(&name)).unwrap();
        let error =
            toml_reader::parse(&text).err().unwrap_or_else(|| panic!("{name} was accepted"));
        assert!(error.line > 0 && error.column > 0 && !error.message.is_empty(), "{name}: {error}");
    }
}

/// As much of JSON as the suite uses.
#[derive(Debug, PartialEq)]
enum Json {
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    fn read(text: &str) -> Json {
        let (value, rest) = Json::value(text.trim_start());
        assert_eq!(rest.trim(), "");
        value
    }

    fn value(text: &str) -> (Json, &str) {
        if let Some(inner) = text.strip_prefix('"') {
            let (string, rest) = Json::string(inner);
            return (Json::Text(string), rest);
        }
        if let Some(inner) = text.strip_prefix('[') {
            let mut values = Vec::new();
            let rest = Json::list(inner, ']', |text| {
                let (value, rest) = Json::value(text);
                values.push(value);
                rest
            });
            return (Json::Array(values), rest);
        }
        let mut entries = Vec::new();
        let rest = Json::list(text.strip_prefix('{').expect("a value"), '}', |text| {
            let (key, rest) = Json::string(text.strip_prefix('"').expect("a key"));
            let (value, rest) =
                Json::value(rest.trim_start().strip_prefix(':').expect("a colon").trim_start());
            entries.push((key, value));
            rest
        });
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        (Json::object(entries), rest)
    }

    /// Floats have several spellings, and the suite fills fractions of a second up with zeros.
    fn object(mut entries: Vec<(String, Json)>) -> Json {
        if let [(_, Json::Text(tag)), (_, Json::Text(value))] = &mut *entries {
            match tag.as_str() {
                "float" => *value = value.parse::<f64>().unwrap().to_string(),
                "datetime" | "datetime-local" | "time-local" => {
                    *value = value.replace("00Z", "Z").replace("00+", "+");
                }
                _ => {}
            }
        }
        Json::Object(entries)
    }

    fn list<'t>(
        text: &'t str,
        close: char,
        mut element: impl FnMut(&'t str) -> &'t str,
    ) -> &'t str {
        let mut rest = text.trim_start();
        while !rest.starts_with(close) {
            rest = element(rest.trim_start_matches(',').trim_start()).trim_start();
        }
        rest.strip_prefix(close).unwrap()
    }

    fn string(text: &str) -> (String, &str) {
        let mut string = String::new();
        let mut rest = text.chars();
        loop {
            match rest.next().expect("a closing quote") {
                '"' => return (string, rest.as_str()),
                '\\' => string.push(match rest.next().expect("an escape") {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'u' => {
                        let digits: String = rest.by_ref().take(4).collect();
                        char::from_u32(u32::from_str_radix(&digits, 16).unwrap()).unwrap()
                    }
                    other => other,
                }),
                other => string.push(other),
            }
        }
    }
}
