//! Our regular expressions against the `regex` crate.

use crate::random::{Random, shrink};
use crate::regex::Regex;

const PIECES: &[&str] = &[
    "a",
    "b",
    "c",
    "k",
    "S",
    "_",
    "1",
    " ",
    "\n",
    "-",
    "é",
    "ß",
    "Σ",
    "ſ",
    "٣",
    "语",
    ".",
    "^",
    "$",
    "|",
    "|",
    "*",
    "+",
    "?",
    "*?",
    "{2}",
    "{0,2}",
    "{1,}?",
    "{,2}",
    "{",
    "}",
    "(",
    "(",
    ")",
    ")",
    "(?:",
    "(?i)",
    "(?i:",
    "(?m)",
    "(?s-m)",
    "(?x)",
    "(?U)",
    "(?-u:",
    "(?R)",
    "(?<n>",
    "(?P<m>",
    "(?",
    "[",
    "]",
    "[^",
    "[a-c]",
    "[^b\\d]",
    "[[:alpha:]]",
    "[:^space:]",
    "&&",
    "--",
    "~~",
    "a-k",
    "\\d",
    "\\D",
    "\\w",
    "\\W",
    "\\s",
    "\\b",
    "\\B",
    "\\A",
    "\\z",
    "\\b{start}",
    "\\b{end-half}",
    "\\<",
    "\\>",
    "\\p{Lu}",
    "\\pL",
    "\\P{Greek}",
    "\\p{^N}",
    "\\x41",
    "\\u{e9}",
    "\\n",
    "\\.",
    "\\-",
    "\\#",
    "#",
    "\\1",
    "\\e",
];
/// Mostly well-formed, so that more patterns come through.
const SOUND: &[&str] = &[
    "a",
    "b",
    "[ab]",
    "(?:a|b)",
    "(a*)",
    "(|a)",
    "(a|)",
    "(?:a*)*",
    "(?:|b)+",
    "(?:a?){2,3}",
    "b*?",
    "a+?",
    "a{1,3}?",
    "|",
    ".",
    "^",
    "$",
    "\\b",
    "\\B",
    "(?i:k)",
    "(?i:[^s])",
    "(?m:^)",
    "(?m:$)",
    "(?Rm:$)",
    "(?Rm:^)",
    "(?s:.)",
    "\\w",
    "\\W",
    "[^a]",
    "[a-k--[b-c]]",
    "[\\w&&[^a]]",
    "[ab~~bc]",
    "(?-u:\\b)",
    "(?-u:\\w)",
    "(?i-u:k)",
    "\\b{start}",
    "\\b{end}",
    "\\b{start-half}",
    "\\b{end-half}",
    "(?:ab|a)(?:c|bcd)?",
    "(?U:a+b*)",
    "\\pL",
    "(?i)",
    "(?:(?:a*)*)*",
    "(?:a|ab)*?",
    "(?i:σ)",
];
const TEXT: &[&str] = &[
    "a", "a", "b", "b", "c", "k", "K", "\u{212A}", "s", "S", "ſ", "1", "٣", "_", " ", "\n", "\r",
    "\r\n", "é", "É", "Σ", "ς", "ß", "ẞ", "语", "-", ".", "\u{301}", "😀", "A", "abc",
];

/// Properties whose members we compare over all characters.
const SETS: &[&str] = &[
    r"\d",
    r"\s",
    r"\w",
    r"\pL",
    r"\p{Lu}",
    r"\p{Ll}",
    r"\pM",
    r"\pN",
    r"\p{Nd}",
    r"\pP",
    r"\p{Pc}",
    r"\pS",
    r"\pZ",
    r"\p{Zs}",
    r"\p{Zl}",
    r"\p{Zp}",
    r"\p{Cc}",
    r"\p{Alphabetic}",
    r"\p{Uppercase}",
    r"\p{Lowercase}",
    r"\p{White_Space}",
    r"\p{Any}",
    r"\p{ASCII}",
    r"\p{Latin}",
    r"\p{Greek}",
    r"\p{Cyrillic}",
    r"\p{Han}",
    r"(?i)\p{Lu}",
    r"(?i)\p{Ll}",
    r"(?i)\P{Lu}",
    r"(?i)[a-z]",
    r"(?i)[^k-s]",
    r"(?i)[à-ÿΑ-ϡЀ-ӿᾀ-ῼ]",
    r"(?i)[[:lower:]]",
    r".",
    r"(?R).",
    r"[[:punct:]]",
    r"[[:^word:]]",
];

/// Why an error of only one side is none: the parts of the dialect that we leave out or refuse.
fn differs(pattern: &str) -> bool {
    // The crate takes `[[:a]` for a nested class and blanks in `\x{ 41 }` in verbose mode.
    pattern.contains("(?x")
        && (pattern.contains("\\x") || pattern.contains("\\u") || pattern.contains("\\b{"))
}

/// All sets over all characters that both Unicode versions know.
pub fn compare_sets() -> Vec<String> {
    // Not those that Unicode 17, which the standard library follows, adds or judges anew.
    let assigned = regex::Regex::new(r"[\P{Cn}--[ʕ\u{A7D2}-\u{A7D5}]]").expect("a class");
    let mut found = Vec::new();
    for pattern in SETS {
        let ours = Regex::new(pattern).expect("one of our sets");
        let theirs = regex::Regex::new(pattern).expect("a set of the crate");
        let mut text = String::new();
        for character in '\0'..=char::MAX {
            text.clear();
            text.push(character);
            if assigned.is_match(&text) && ours.is_match(&text) != theirs.is_match(&text) {
                found.push(format!("set {pattern}: {character:?} {:x}", u32::from(character)));
                break;
            }
        }
    }
    let mut text = String::new();
    for character in '\0'..=char::MAX {
        let pattern = format!("(?i:\\x{{{:x}}})", u32::from(character));
        if character.to_lowercase().eq([character])
            && character.to_uppercase().eq([character])
            && u32::from(character) > 0x3000
        {
            continue;
        }
        text.clear();
        text.push(character);
        text.extend(character.to_lowercase().chain(character.to_uppercase()));
        text.extend(character.to_lowercase().flat_map(char::to_uppercase));
        text.extend(character.to_uppercase().flat_map(char::to_lowercase));
        let ours = Regex::new(&pattern).expect("a character");
        let theirs = regex::Regex::new(&pattern).expect("a character");
        for (at, variant) in text.char_indices() {
            let variant = &text[at..at + variant.len_utf8()];
            if assigned.is_match(variant) && ours.is_match(variant) != theirs.is_match(variant) {
                found.push(format!("case {pattern}: {variant}"));
            }
        }
    }
    found
}

/// One generated pattern on a few texts.
pub fn compare(random: &mut Random, compared: &mut u64) -> Option<String> {
    let pattern =
        if random.below(2) == 0 { random.text(PIECES, 12) } else { random.text(SOUND, 7) };
    if disagree_on_syntax(&pattern) {
        let small = shrink(&pattern, disagree_on_syntax);
        return Some(format!(
            "syntax {small:?}: ours {:?}",
            Regex::new(&small).map(drop).map_err(|error| error.to_string())
        ));
    }
    if Regex::new(&pattern).is_err() {
        return None;
    }
    for _ in 0..4 {
        let text = random.text(TEXT, 10);
        *compared += 1;
        if disagree(&pattern, &text) {
            let text = shrink(&text, |text| disagree(&pattern, text));
            let pattern = shrink(&pattern, |pattern| disagree(pattern, &text));
            return Some(format!("regex {pattern:?} on {text:?}: {:?}", both(&pattern, &text)));
        }
    }
    None
}

fn disagree_on_syntax(pattern: &str) -> bool {
    regex::Regex::new(pattern).is_ok() != Regex::new(pattern).is_ok() && !differs(pattern)
}

type Found = Vec<Option<(usize, usize)>>;

/// What each side finds from every place on; `None` when one of them has no such pattern.
fn both(pattern: &str, text: &str) -> Option<(Found, Found)> {
    let (Ok(ours), Ok(theirs)) = (Regex::new(pattern), regex::Regex::new(pattern)) else {
        return None;
    };
    let starts = || (0..=text.len()).filter(|&at| text.is_char_boundary(at));
    let mut our_finds: Found =
        starts().map(|at| ours.find_at(text, at).map(|range| (range.start, range.end))).collect();
    let mut their_finds: Found = starts()
        .map(|at| theirs.find_at(text, at).map(|found| (found.start(), found.end())))
        .collect();
    our_finds.push(ours.is_match(text).then_some((0, 0)));
    their_finds.push(theirs.is_match(text).then_some((0, 0)));
    Some((our_finds, their_finds))
}

fn disagree(pattern: &str, text: &str) -> bool {
    both(pattern, text).is_some_and(|(ours, theirs)| ours != theirs)
}
