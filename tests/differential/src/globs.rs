//! Our globs against `globset`.

use crate::glob::{Pattern, Stars};
use crate::random::{Random, shrink};
use globset::{GlobBuilder, GlobMatcher};

const PIECES: &[&str] = &[
    "a", "b", "/", "/", ".", "*", "*", "**", "**/", "/**", "/**/", "?", "[ab]", "[!a]", "[^/]",
    "[]a]", "[a-]", "[", "]", "{", "}", "{", "}", ",", ",", "{a,b}", "{,a}", "{a/,*b}", "\\*",
    "\\", "é", "-", "!", "[+-a]", "{}", "\n",
];
const TEXT: &[&str] =
    &["a", "a", "b", "/", "/", ".", "*", "é", "-", "]", "\n", "{", ",", "\\", "x"];

/// Where we differ on purpose: a class keeps to ASCII, knows escapes and no named classes, and
/// refuses a chained range.
fn differs(pattern: &str) -> bool {
    let mut rest = pattern;
    while let Some((_, class)) = rest.split_once('[') {
        let close =
            class.get(1..).and_then(|class| class.find(']')).map_or(class.len(), |at| at + 2);
        let inside = class.get(..close).unwrap_or(class);
        if inside.contains('\\')
            || !inside.is_ascii()
            || inside.contains("[:")
            || inside.matches('-').count() > 1
        {
            return true;
        }
        rest = class;
    }
    // `**/` and nothing else matches everything there, here only what ends in `/`. Where `**` starts
    // an alternative or follows an empty one it crosses `/` here; there it does so depending on what
    // follows, and an escaped comma before it goes lost.
    let lone = !pattern.is_empty() && pattern.replace("**/", "").is_empty();
    lone || ["{**", ",**", "}**"].iter().any(|start| pattern.contains(start))
}

/// One generated pattern, in both modes, on a few texts.
pub fn compare(random: &mut Random, compared: &mut u64) -> Option<String> {
    let pattern = random.text(PIECES, 6);
    if disagree_on_syntax(&pattern) {
        return Some(format!("glob syntax {:?}", shrink(&pattern, disagree_on_syntax)));
    }
    for stars in [Stars::CrossSlash, Stars::StopAtSlash] {
        for _ in 0..4 {
            let text = random.text(TEXT, 6);
            *compared += 1;
            if disagree(&pattern, &text, stars) {
                let text = shrink(&text, |text| disagree(&pattern, text, stars));
                let pattern = shrink(&pattern, |pattern| disagree(pattern, &text, stars));
                return Some(format!(
                    "glob {pattern:?} on {text:?}: {:?}",
                    both(&pattern, &text, stars)
                ));
            }
        }
    }
    None
}

fn theirs(pattern: &str, stars: Stars) -> Option<GlobMatcher> {
    let mut builder = GlobBuilder::new(pattern);
    builder.literal_separator(stars == Stars::StopAtSlash).backslash_escape(true);
    Some(builder.build().ok()?.compile_matcher())
}

fn disagree_on_syntax(pattern: &str) -> bool {
    let ours = Pattern::new(pattern, Stars::CrossSlash).is_ok();
    ours != theirs(pattern, Stars::CrossSlash).is_some() && !differs(pattern)
}

fn both(pattern: &str, text: &str, stars: Stars) -> Option<(bool, bool)> {
    let ours = Pattern::new(pattern, stars).ok()?.matches(text);
    Some((ours, theirs(pattern, stars)?.is_match(text)))
}

fn disagree(pattern: &str, text: &str, stars: Stars) -> bool {
    !differs(pattern) && both(pattern, text, stars).is_some_and(|(ours, theirs)| ours != theirs)
}
