//! Compares the shell parser with handed answers, found by `I_INSIST_CASES`: thousands of commands
//! with the simple commands bash would run, very long and deep ones, and small inputs of the kinds
//! on which tools like this have failed.
#![expect(
    dead_code,
    reason = "the modules are included whole, the comparison needs a part of them"
)]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

#[path = "../src/json.rs"]
mod json;
#[path = "../src/shell/mod.rs"]
mod shell;

use json::Json;
use std::collections::HashMap;
use std::{env, fs};

/// Where we differ from the answers, each with its reason. The test also fails when a row comes
/// to agree, so that the list cannot go stale.
const DIFFERS: &[(&str, &str)] = &[
    (
        "tricky-337f04f37976",
        "the answer reads `!((…))` as a pattern; to bash it is `!` and an arithmetic command",
    ),
    (
        "tricky-80b54aa8f958",
        "the text in the backquotes ends in an open quote: nothing of it runs, but the command \
         cut short is shown, as everywhere",
    ),
    ("huge-5a10be3398d1", DEEP),
    ("huge-2a4f72efe3ab", DEEP),
    ("huge-24de036486c3", DEEP),
    ("huge-fc143aed3cd7", DEEP),
    ("huge-c31c4f5b87af", DEEP),
];

/// Why the rows of 1,000 levels differ.
const DEEP: &str = "nested deeper than 256: read as limited, as the manual page `shell` states";

/// A simple command of the answers.
#[derive(Debug)]
struct Expected {
    /// `None` where the word is not known before it runs.
    words: Vec<Option<String>>,
    /// `None` where either value is right.
    pipeline_start: Option<bool>,
    depth: u32,
}

fn lines(name: &str) -> Vec<Json<'static>> {
    let cases = env::var("I_INSIST_CASES").expect("I_INSIST_CASES must name the folder of cases");
    let text = fs::read_to_string(cases + "/cases/" + name).unwrap();
    let rows = text.lines().filter(|line| !line.is_empty());
    rows.map(|line| Json::parse(line).unwrap().into_owned()).collect()
}

fn field<'j>(row: &'j Json<'_>, name: &str) -> &'j str {
    row.get(name).and_then(Json::as_str).unwrap()
}

fn flag(row: &Json<'_>, name: &str) -> bool {
    row.get(name).and_then(Json::as_bool).unwrap_or(false)
}

fn number(value: &Json<'_>) -> usize {
    value.to_text().parse().unwrap()
}

/// The answer of a row; commands of assignments and redirections only are left out.
fn expected(row: &Json<'_>) -> Vec<Expected> {
    let commands = row.get("commands").and_then(Json::as_array).unwrap();
    let read = |command: &Json<'_>| {
        let words = command.get("words").and_then(Json::as_array).unwrap();
        Expected {
            words: words.iter().map(|word| word.as_str().map(str::to_owned)).collect(),
            pipeline_start: (!flag(command, "piped_into")).then(|| flag(command, "pipeline_start")),
            depth: u32::try_from(number(command.get("depth").unwrap())).unwrap(),
        }
    };
    let all = commands.iter().map(read);
    all.filter(|command| !command.words.is_empty()).collect()
}

fn fits(expected: &Expected, (words, start, depth): &(Vec<String>, bool, u32)) -> bool {
    let word = |(expected, word): (&Option<String>, &String)| {
        expected.as_ref().is_none_or(|known| known == word)
    };
    expected.depth == *depth
        && expected.pipeline_start.is_none_or(|expected| expected == *start)
        && expected.words.len() == words.len()
        && expected.words.iter().zip(words).all(word)
}

/// True when the commands at depth 0 agree in order and the deeper ones in any order.
fn agrees(mut expected: Vec<Expected>, mut found: Vec<(Vec<String>, bool, u32)>) -> bool {
    found.retain(|(words, ..)| !words.is_empty());
    if expected.len() != found.len() {
        return false;
    }
    expected.sort_by_key(|command| {
        (
            command.depth > 0,
            command.words.iter().filter(|word| word.is_none()).count()
                * usize::from(command.depth > 0),
        )
    });
    found.sort_by_key(|(.., depth)| *depth > 0);
    expected.iter().all(|command| {
        let limit = if command.depth == 0 { 1 } else { found.len() };
        let place = found.iter().take(limit).position(|other| fits(command, other));
        place.map(|place| found.remove(place)).is_some()
    })
}

/// Fails unless exactly the listed rows differ and all but 0.3 % agree.
fn judge(rows: usize, differing: &[(String, String)], listed: impl Fn(&str) -> bool) {
    let unlisted: Vec<_> =
        differing.iter().filter(|(id, _)| !DIFFERS.iter().any(|(known, _)| known == id)).collect();
    assert!(unlisted.is_empty(), "rows that differ for no listed reason: {unlisted:#?}");
    for (id, reason) in DIFFERS.iter().filter(|(id, _)| listed(id)) {
        assert!(
            differing.iter().any(|(row, _)| row == id),
            "{id} agrees now; it was listed: {reason}"
        );
    }
    let agreeing = rows - differing.len();
    assert!(rows > 4_000 && agreeing * 1_000 >= rows * 997, "{agreeing} of {rows} rows agree");
}

#[test]
fn settled_rows_agree_with_bash() {
    let mut differing = Vec::new();
    let mut rows = 0;
    for row in lines("shell_segments.jsonl") {
        if flag(&row, "disputed") || flag(&row, "error") {
            continue;
        }
        rows += 1;
        let command = field(&row, "command");
        let (found, complete) = shell::raw(command);
        if !complete || !agrees(expected(&row), found) {
            differing.push((field(&row, "id").to_owned(), command.to_owned()));
        }
    }
    judge(rows, &differing, |id| id.starts_with("tricky"));
}

#[test]
fn texts_that_bash_refuses_are_incomplete_and_keep_the_lines_before() {
    // This one has an open `$[` in a here-document's delimiter, which is text to us.
    const ACCEPTED: &[&str] = &["tricky-ab78b17165a7"];
    for row in lines("shell_segments.jsonl") {
        if flag(&row, "disputed") || !flag(&row, "error") {
            continue;
        }
        let (id, command) = (field(&row, "id"), field(&row, "command"));
        let (found, complete) = shell::raw(command);
        // A text that `extglob` makes valid may be read or refused.
        if !flag(&row, "extglob_only") {
            assert_eq!(complete, ACCEPTED.contains(&id), "{id}: {command:?}");
        }
        let mut left: Vec<_> = found.iter().filter(|(words, ..)| !words.is_empty()).collect();
        for before in expected(&row) {
            let place = left.iter().position(|other| fits(&before, other));
            assert!(place.is_some(), "{id}: {command:?} lacks {before:?}");
            place.map(|place| left.remove(place));
        }
    }
}

/// The text of a row of repeated pieces.
fn repeated(row: &Json<'_>) -> String {
    let pieces = row.get("command_expand").and_then(Json::as_array).unwrap();
    let piece = |piece: &Json<'_>| {
        let parts = piece.as_array().unwrap();
        parts[0].as_str().unwrap().repeat(number(&parts[1]))
    };
    pieces.iter().map(piece).collect()
}

#[test]
fn long_and_deep_texts_have_the_counted_heads() {
    for row in lines("shell_huge.jsonl") {
        let id = field(&row, "id");
        let (found, complete) = shell::raw(&repeated(&row));
        if flag(&row, "error") {
            assert!(!complete, "{id}");
            continue;
        }
        let mut counts: HashMap<(usize, String), usize> = HashMap::new();
        for (words, _, depth) in &found {
            if let Some(head) = words.first() {
                *counts.entry((*depth as usize, head.clone())).or_default() += 1;
            }
        }
        let wanted = row.get("head_counts").and_then(Json::as_array).unwrap().iter().map(|count| {
            let count = count.as_array().unwrap();
            ((number(&count[0]), count[1].as_str().unwrap().to_owned()), number(&count[2]))
        });
        let agree = complete && counts == wanted.collect();
        let listed = DIFFERS.iter().any(|(known, _)| *known == id);
        assert_ne!(agree, listed, "{id}");
        if listed {
            assert!(shell::parse(&repeated(&row), &shell::Options::default()).limited, "{id}");
        }
    }
}

/// The heads that the prose of a bug case names: `heads: find, rm (via find -exec); …`.
fn heads(expect: &str) -> Option<Vec<String>> {
    let list = expect.strip_prefix("heads: ")?;
    let list = list.split([';', '.']).next()?;
    let mut heads = Vec::new();
    for name in list.split(", ") {
        let name = name.split(" (").next()?.trim_matches('\'');
        // The answer of a row with a no-break space is spelled as an escape.
        heads.push(name.replace("\\u00a0", "\u{a0}"));
    }
    Some(heads)
}

#[test]
fn bug_cases_have_the_named_heads() {
    // Answers whose prose names heads otherwise: a nested depth in brackets with a comma.
    let mut judged = 0;
    for row in lines("bug_cases.jsonl") {
        if !matches!(field(&row, "kind"), "a" | "b") {
            continue;
        }
        let (input, expect) = (field(&row, "input"), field(&row, "expect"));
        let Some(mut wanted) = heads(expect) else {
            continue;
        };
        let parsed = shell::parse(input, &shell::Options::default());
        let mut found: Vec<String> =
            parsed.segments.into_iter().map(|segment| segment.head).collect();
        wanted.retain(|head| !head.contains("via") && !head.ends_with(')'));
        found.sort();
        wanted.sort();
        assert_eq!(found, wanted, "{input:?}: {expect}");
        judged += 1;
    }
    assert!(judged > 60, "only {judged} bug cases name heads");
}

#[test]
fn endless_openings_are_answered_and_keep_the_command_before() {
    let parsed = shell::parse(
        &("rm -rf out; echo ".to_owned() + &"$(".repeat(500_000)),
        &shell::Options::default(),
    );
    assert!(parsed.limited && !parsed.complete);
    assert_eq!(parsed.segments.first().map(|segment| segment.head.as_str()), Some("rm"));
    let almost = "cat <<'A' <<'A' <<'A'\n".to_owned() + &"A \n".repeat(300_000);
    assert!(!shell::parse(&almost, &shell::Options::default()).complete);
}
