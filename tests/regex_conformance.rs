//! The handed cases of the regex crate's own data: what falls in our syntax and in the ways we
//! search gives the same matches; what we leave out is refused.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

#[path = "../src/regex/mod.rs"]
mod regex;

use regex::Regex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};
use toml_reader::{Kind, Table, Value};

/// How many cases there are in all, and how many of them we must have searched. The rest is counted
/// by the reason that [`left_out`] gives.
const CASES: usize = 1_207;
const SEARCHED: usize = 890;

/// The properties of `\p{…}` that occur in the cases and that we know.
const KNOWN: &[&str] = &[
    "Lu",
    "Ll",
    "Connector_Punctuation",
    "Control",
    "Decimal_Number",
    "Letter",
    "Line_Separator",
    "Lowercase_Letter",
    "Mark",
    "Number",
    "Paragraph_Separator",
    "Punctuation",
    "Separator",
    "Space_Separator",
    "Symbol",
    "Uppercase_Letter",
];

type Span = (usize, usize);

struct Case {
    name: String,
    pattern: String,
    text: String,
    matches: Vec<Span>,
    limit: usize,
    compiles: bool,
    unknown_property: bool,
}

#[test]
fn every_case_within_our_syntax_agrees() {
    let root =
        env::var_os("I_INSIST_CASES").expect("I_INSIST_CASES must name the folder of the cases");
    let data = Path::new(&root).join("conformance/regex/testdata");
    let (mut total, mut searched, mut refused) = (0, 0, 0);
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let mut failures = Vec::new();
    for file in files(&data).into_iter().chain(files(&data.join("fowler"))) {
        let bytes = fs::read(&file).unwrap();
        let table = toml_reader::parse(&bytes).unwrap();
        let Some(Kind::Array(tests)) = table.get("test").map(|value| &value.kind) else {
            panic!("{} holds no cases", file.display());
        };
        for test in tests {
            total += 1;
            let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
            match read(&stem, test.as_table().unwrap()) {
                Err(reason) => *reasons.entry(reason).or_default() += 1,
                Ok(case) => {
                    let expect_error = !case.compiles || case.unknown_property;
                    *(if expect_error { &mut refused } else { &mut searched }) += 1;
                    failures.extend(judge(&case, expect_error));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} disagree:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(total, CASES);
    assert_eq!(total, searched + refused + reasons.values().sum::<usize>());
    assert!(
        searched >= SEARCHED,
        "only {searched} were searched, {refused} refused, left out: {reasons:?}"
    );
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    files
}

fn judge(case: &Case, expect_error: bool) -> Option<String> {
    let got = match (Regex::new(&case.pattern), expect_error) {
        (Err(_), true) => return None,
        (Ok(regex), false) => {
            let found = find_all(&regex, &case.text, case.limit);
            let found_any = !case.matches.is_empty();
            if found == case.matches && regex.is_match(&case.text) == found_any {
                return None;
            }
            format!("{found:?}")
        }
        (Err(error), _) => error.to_string(),
        (Ok(_), _) => "no error".to_string(),
    };
    Some(format!(
        "{}: {:?} on {:?}: expected {:?}, got {got}",
        case.name, case.pattern, case.text, case.matches
    ))
}

/// All matches that do not overlap: an empty one right behind the last match does not count.
fn find_all(regex: &Regex, text: &str, limit: usize) -> Vec<Span> {
    let mut found: Vec<Span> = Vec::new();
    let mut at = 0;
    while found.len() < limit && at <= text.len() {
        let Some(next) = regex.find_at(text, at) else {
            break;
        };
        let last_end = found.last().map(|last| last.1);
        if next.is_empty() && last_end == Some(next.end) {
            at = next.end + text[next.end..].chars().next().map_or(1, char::len_utf8);
            continue;
        }
        at = next.end;
        found.push((next.start, next.end));
    }
    found
}

fn read(stem: &str, test: &Table) -> Result<Case, &'static str> {
    if let Some(reason) = left_out(stem, test) {
        return Err(reason);
    }
    let regex = test.get("regex").unwrap();
    let mut pattern =
        if let Kind::Array(patterns) = &regex.kind { string(&patterns[0]) } else { string(regex) };
    let unknown_property = unknown_property(&pattern);
    let anchored = flag(test, "anchored", false);
    if anchored {
        pattern = format!(r"\A(?:{pattern})");
    }
    if flag(test, "case-insensitive", false) {
        pattern = format!("(?i){pattern}");
    }
    if !flag(test, "unicode", true) {
        pattern = format!("(?-u){pattern}");
    }
    let haystack = string(test.get("haystack").unwrap());
    let bytes = if flag(test, "unescape", false) { unescape(&haystack) } else { haystack.into() };
    let Kind::Array(matches) = &test.get("matches").unwrap().kind else { panic!("no matches") };
    // `\A` stands for the start of the text, "anchored" for the end of the match before: the first
    // match is where they agree.
    let limit = if anchored { 1 } else { test.get("match-limit").map_or(usize::MAX, integer) };
    Ok(Case {
        name: format!("{stem}/{}", string(test.get("name").unwrap())),
        pattern,
        text: String::from_utf8(bytes).ok().ok_or("text that is not UTF-8")?,
        matches: matches.iter().map(whole_match).take(limit).collect(),
        limit,
        compiles: flag(test, "compiles", true),
        unknown_property,
    })
}

/// Why a case is not ours, by what it says of itself.
fn left_out(stem: &str, test: &Table) -> Option<&'static str> {
    let says = |key, value| test.get(key).is_some_and(|found| string(found) == value);
    let patterns =
        if let Kind::Array(patterns) = &test.get("regex")?.kind { patterns.len() } else { 1 };
    if patterns != 1 {
        Some("set of patterns")
    } else if stem == "regex-lite" {
        Some("another engine's notion of Unicode")
    } else if !flag(test, "utf8", true) {
        Some("matches within characters")
    } else if says("match-kind", "all") || says("search-kind", "overlapping") {
        Some("all overlapping matches")
    } else if says("search-kind", "earliest") {
        Some("earliest end instead of leftmost-first")
    } else if test.get("bounds").is_some() {
        Some("search within bounds")
    } else if test.get("line-terminator").is_some() {
        Some("another line terminator")
    } else {
        None
    }
}

fn unknown_property(pattern: &str) -> bool {
    pattern.match_indices(r"\p{").any(|(at, _)| {
        let name = pattern[at + 3..].split('}').next().unwrap_or_default();
        !KNOWN.contains(&name)
    })
}

/// Group 0 of one expected match.
fn whole_match(value: &Value) -> Span {
    let Kind::Array(parts) = &value.kind else { panic!("a match of a set") };
    match parts.as_slice() {
        [start, end] if matches!(start.kind, Kind::Integer(_)) => (integer(start), integer(end)),
        [whole, ..] => whole_match(whole),
        [] => panic!("an empty match"),
    }
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((plain, escape)) = rest.split_once('\\') {
        bytes.extend(plain.bytes());
        let (byte, length) = match escape.as_bytes()[0] {
            b'x' => (u8::from_str_radix(&escape[1..3], 16).unwrap(), 3),
            b'n' => (b'\n', 1),
            b'r' => (b'\r', 1),
            b't' => (b'\t', 1),
            b'\\' => (b'\\', 1),
            other => panic!("unknown escape {other}"),
        };
        bytes.push(byte);
        rest = &escape[length..];
    }
    bytes.extend(rest.bytes());
    bytes
}

fn string(value: &Value) -> String {
    let Kind::String(text) = &value.kind else { panic!("not a string: {value:?}") };
    text.to_string()
}

fn integer(value: &Value) -> usize {
    let Kind::Integer(number) = value.kind else { panic!("not a number: {value:?}") };
    number.try_into().unwrap()
}

fn flag(test: &Table, key: &str, default: bool) -> bool {
    match test.get(key).map(|value| &value.kind) {
        None => default,
        Some(Kind::Boolean(value)) => *value,
        Some(other) => panic!("{key} is {}", other.name()),
    }
}
