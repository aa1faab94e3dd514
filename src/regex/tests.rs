//! What the parts promise one by one; the conformance target and the differential crate compare
//! whole behaviour.

use super::{MAX_SIZE, Regex};

/// Pattern, texts in which it is found, texts in which it is not.
type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

fn check(rows: &[Row]) {
    for (pattern, yes, no) in rows {
        let regex = Regex::new(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        for text in *yes {
            assert!(regex.is_match(text), "{pattern} should be found in {text:?}");
        }
        for text in *no {
            assert!(!regex.is_match(text), "{pattern} should not be found in {text:?}");
        }
    }
}

fn refused(pattern: &str) -> String {
    let error = Regex::new(pattern).expect_err(pattern);
    error.to_string()
}

#[test]
fn the_search_is_unanchored_and_a_dot_matches_no_newline() {
    check(&[
        ("b", &["abc", "b"], &["", "ac"]),
        ("^b", &["bc"], &["ab", "a\nb"]),
        ("b$", &["ab"], &["b\n", "bc"]),
        ("(?m)^b$", &["a\nb\nc"], &["ab"]),
        ("a.b", &["axb", "aéb"], &["a\nb", "ab"]),
        ("(?s)a.b", &["a\nb"], &[]),
        ("", &["", "x"], &[]),
        (r"\Aa\z", &["a"], &["a\n", "ba"]),
    ]);
}

#[test]
fn unicode_is_on() {
    check(&[
        (r"^\d$", &["1", "٣"], &["a", "Ⅱ"]),
        (r"^\w+$", &["aé_1語", "e\u{301}"], &["a-b", "❯"]),
        (r"^\s$", &[" ", "\u{3000}", "\t"], &["x"]),
        (r"(?i)straße", &["STRAẞE"], &["STRASSE"]),
        ("(?i)k", &["K", "\u{212A}"], &["c"]),
        ("(?i)^σ$", &["Σ", "ς"], &["s"]),
        ("(?i)i", &["I"], &["ı", "İ"]),
        (r"^\p{Greek}\p{Lu}\p{Ll}\pP$", &["αAb!"], &["aAb!", "αab!"]),
        (r"\bé", &["(é"], &["aé"]),
        (r"(?-u)^\w", &["a"], &["é"]),
        (r"(?i-u)é", &["é"], &["É"]),
    ]);
}

#[test]
fn classes_nest_and_combine() {
    check(&[
        ("^[a-z&&[^b]]$", &["a", "c"], &["b", "A"]),
        ("^[a-f--[b-d]]$", &["a", "e"], &["c"]),
        ("^[abc~~bcd]$", &["a", "d"], &["b"]),
        ("^[a-c&&b-d--c]$", &["b"], &["c", "a"]),
        ("^[^a&&b]$", &["a", "b"], &[]),
        ("^[[:alpha:][:^ascii:]]$", &["a", "é"], &["1"]),
        ("^[]-]$", &["]", "-"], &["a"]),
        (r"^[\]\-\d\x41]$", &["]", "-", "7", "A"], &["\\"]),
        ("(?i)^[^k]$", &["j"], &["K", "\u{212A}"]),
        ("(?x)^[ a b ]  # comment ]\n$", &["a"], &[" "]),
    ]);
}

#[test]
fn the_leftmost_and_preferred_match_counts() {
    for (pattern, text, wanted) in [
        ("a|ab", "xab", 1..2),
        ("ab|a", "xab", 1..3),
        ("a+?", "aaa", 0..1),
        ("(?U)a+", "aaa", 0..1),
        ("a{2,3}", "aaaa", 0..3),
        ("a{2,3}?", "aaaa", 0..2),
        ("(a*)*b", "aab", 0..3),
        ("(|a)+", "aaa", 0..0),
        ("z*", "abz", 0..0),
    ] {
        assert_eq!(Regex::new(pattern).unwrap().find(text), Some(wanted), "{pattern} in {text}");
    }
    assert_eq!(Regex::new(r"\bb").unwrap().find_at("ab b", 1), Some(3..4));
    assert_eq!(Regex::new("a").unwrap().find_at("é", 1), None, "not on a character border");
}

#[test]
fn look_around_and_back_references_are_errors_that_say_so() {
    for pattern in ["(?=a)", "(?!a)", "(?<=a)b", "x(?<!a)b"] {
        assert!(refused(pattern).contains("look-around is not supported"), "{pattern}");
    }
    for pattern in [r"(a)\1", r"(?<n>a)\k<n>", "(?P=n)"] {
        assert!(refused(pattern).contains("back-references are not supported"), "{pattern}");
    }
}

#[test]
fn errors_name_place_and_way_out() {
    for (pattern, offset, part) in [
        ("a(b", 1, "no closing `)`"),
        ("a)b", 1, "closes no group"),
        ("a[b", 1, "no closing `]`"),
        ("[a[b]", 0, "no closing `]`"),
        ("*a", 0, "nothing stands before"),
        ("a|*", 2, "nothing stands before"),
        ("(?i)*", 4, "nothing stands before"),
        ("(?)", 1, "nothing stands before"),
        ("a{2", 1, "repetition count"),
        ("a{,2}", 1, "repetition count"),
        ("a{3,2}", 1, "swap them"),
        ("ab\\", 2, "stands at the end"),
        (r"\y", 0, "unknown escape"),
        (r"\Z", 0, "unknown escape"),
        (r"\p{Klingon}", 0, "unknown or unsupported property"),
        (r"\p{L", 0, "unknown or unsupported property"),
        ("[[:letters:]]", 1, "unknown class name"),
        ("[z-a]", 1, "swap its ends"),
        (r"[a-\d]", 3, "cannot stand here"),
        (r"[\b]", 1, "cannot stand here"),
        (r"\x{110000}", 0, "no character"),
        (r"\xZ1", 0, "no character"),
        (r"\x+1", 0, "no character"),
        ("(?q)", 2, "unknown flag"),
        ("(?i-)", 3, "unknown flag"),
        ("(?ii)", 3, "stands twice"),
        ("(?>a)", 2, "unknown flag"),
        ("(?<1>a)", 3, "group name"),
        ("(?<n>a)(?<n>b)", 10, "same name"),
        (r"\b{begin}", 2, "unknown word boundary"),
        (r"(?-u)\W", 5, "part of a character"),
        (r"(?-u)[^a]", 5, "part of a character"),
        ("(?-u).", 5, "part of a character"),
        (r"(?-u)\xFF", 5, "part of a character"),
        (r"(?-u)\pL", 5, "part of a character"),
    ] {
        let error = refused(pattern);
        let place = format!("invalid regex at byte {offset}: ");
        assert!(error.starts_with(&place) && error.contains(part), "{pattern}: {error}");
    }
}

#[test]
fn a_program_has_a_largest_size_which_arithmetic_finds() {
    for pattern in [
        "(x{100}){100}",
        "(x{100}){100}{100}",
        "((a{1000}){1000}){1000}",
        r"(\pL{4000000000}){4000000000}",
        "x{99999999999999999999}",
        "(?:a{90}|b{90}){100}",
    ] {
        assert!(refused(pattern).contains("more than 8192 steps"), "{pattern}");
    }
    check(&[
        ("(x{90}){90}", &[], &["x"]),
        ("(){4000000000}a", &["a"], &[]),
        ("(a{0}){4000000000}", &[""], &[]),
    ]);
    let all = "a".repeat(MAX_SIZE);
    assert!(Regex::new(&all).is_ok());
    assert!(refused(&(all + "a")).contains("more than 8192"));
    assert!(refused(&"|".repeat(65_537)).contains("64 KiB"));
}

#[test]
fn nesting_is_bounded() {
    for (open, close) in [("(", ")"), ("[", "]"), ("(?i:", ")"), ("[^a&&", "]")] {
        let nest = |depth| open.repeat(depth) + "a" + &close.repeat(depth);
        assert!(Regex::new(&nest(200)).is_ok(), "{open}");
        assert!(refused(&nest(201)).contains("deeper than 200"), "{open}");
        assert!(refused(&open.repeat(10_000)).contains("deeper than 200"), "{open}");
    }
    assert!(Regex::new(&("a".to_string() + &"*".repeat(200))).is_ok());
    assert!(refused(&("a".to_string() + &"*".repeat(201))).contains("deeper than 200"));
}

#[test]
fn a_size_never_falls_short_of_the_program() {
    for pattern in [
        "a*",
        "(a*)*",
        "(|a)*",
        "a+",
        "a?",
        "a{3}",
        "a{3,}",
        "(a?){3,}",
        "(a?){0,4}",
        "a|b|c",
        "(a|)*b{2,5}?",
    ] {
        let syntax = super::parser::parse(pattern).unwrap();
        let size = syntax.root.size;
        let made = super::Program::new(&syntax).instructions.len();
        assert!(made <= size + 1, "{pattern}: {made} instructions, {size} foreseen");
    }
}

#[test]
fn the_program_is_made_when_it_is_first_searched_for() {
    let regex = Regex::new("b").unwrap();
    assert!(regex.program.get().is_none());
    assert!(regex.is_match("abc") && !regex.is_match("x"));
    assert!(regex.program.get().is_some());
    assert!(Regex::new("(").is_err());
}
