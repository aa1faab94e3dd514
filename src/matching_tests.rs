//! Each sentence about matching and operators has a test named after it.

use super::*;
use crate::glob::Stars;

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

fn globs(texts: &[&str]) -> Vec<Pattern> {
    texts.iter().map(|text| Pattern::new(text, Stars::CrossSlash).unwrap()).collect()
}

fn any_of(wanted: &[&str]) -> Operator {
    Operator::AnyOf(texts(wanted))
}

fn none_of(unwanted: &[&str]) -> Operator {
    Operator::NoneOf(texts(unwanted))
}

fn glob(patterns: &[&str]) -> Operator {
    Operator::Glob(globs(patterns))
}

fn none_glob(patterns: &[&str]) -> Operator {
    Operator::NoneGlob(globs(patterns))
}

fn matches(pattern: &str) -> Operator {
    Operator::Matches(Box::new(Regex::new(pattern).unwrap()))
}

fn not_matches(pattern: &str) -> Operator {
    Operator::NotMatches(Box::new(Regex::new(pattern).unwrap()))
}

type Conditions = Vec<(&'static str, Vec<Operator>)>;

fn block(binding: Binding, conditions: Conditions) -> Block {
    let conditions = conditions
        .into_iter()
        .map(|(path, operators)| Condition { path: Path::new(path), operators })
        .collect();
    Block { binding, conditions }
}

fn any(path: &str) -> Binding {
    Binding::Any(Path::new(path))
}

fn all(path: &str) -> Binding {
    Binding::All(Path::new(path))
}

/// Judges the block against the document of a shell call with this input and these segments.
fn judge(binding: Binding, conditions: Conditions, input: &str, segments: &str) -> Outcome {
    let input = Json::parse(input).unwrap();
    let parsed = format!(r#"{{"segments": {segments}, "complete": true, "limited": false}}"#);
    let parsed = Json::parse(&parsed).unwrap();
    let event =
        Json::parse(r#"{"kind": "shell", "turn_id": null, "paths": ["/a", "/b"]}"#).unwrap();
    let document = Document::new("Bash", &input, Vec::new(), Some(parsed), event);
    block(binding, conditions).evaluate(&document)
}

/// Whether operators hold for the value of the input's field `v`.
fn holds(operators: Vec<Operator>, value: &str) -> bool {
    holds_at("v", operators, &format!(r#"{{"v": {value}}}"#))
}

fn holds_at(path: &'static str, operators: Vec<Operator>, input: &str) -> bool {
    judge(Binding::Root, vec![(path, operators)], input, "[]") != Outcome::Missed
}

#[test]
fn the_document_holds_tool_name_and_the_tools_own_input_fields() {
    let input = r#"{"command": "ls", "run": {"in": "/tmp"}}"#;
    assert!(holds_at("tool_name", vec![any_of(&["Bash"])], input));
    assert!(holds_at("command", vec![any_of(&["ls"])], input));
    assert!(holds_at("run.in", vec![glob(&["/tmp*"])], input));
    assert!(!holds_at("tool_input.command", vec![any_of(&["ls"])], input));
}

#[test]
fn the_document_holds_the_neutral_event() {
    assert!(holds_at("event.kind", vec![any_of(&["shell"])], "{}"));
    assert!(holds_at("event.paths", vec![any_of(&["/b"])], "{}"));
    assert!(holds_at("event.turn_id", vec![Operator::Exists(false)], "{}"));
}

#[test]
fn the_document_holds_parsed_for_shell_calls_only() {
    let input = Json::parse(r#"{"parsed": {"segments": [{"head": "ls"}]}}"#).unwrap();
    let document = Document::new("Write", &input, Vec::new(), None, Json::Null);
    let conditions = || vec![("head", vec![none_of(&["rm"])])];
    for binding in [any("parsed.segments"), all("parsed.segments")] {
        assert_eq!(block(binding, conditions()).evaluate(&document), Outcome::Missed);
    }
}

#[test]
fn an_input_cannot_forge_tool_name_parsed_or_event() {
    let forged = r#"{"tool_name": "Read", "event": {"kind": "other"}, "parsed": {"segments": [{"head": "ls"}]}}"#;
    assert!(!holds_at("tool_name", vec![any_of(&["Read"])], forged));
    assert!(!holds_at("event.kind", vec![any_of(&["other"])], forged));
    assert_eq!(
        judge(any("parsed.segments"), vec![("head", vec![any_of(&["ls"])])], forged, "[]"),
        Outcome::Missed
    );
}

#[test]
fn the_document_holds_claudes_field_names_beside_the_native_ones() {
    let input = Json::parse(r#"{"path": "/real", "file_path": "/forged"}"#).unwrap();
    let aliases = vec![(Cow::Borrowed("file_path"), Json::string("/real"))];
    let document = Document::new("write", &input, aliases, None, Json::Null);
    let holds = |path, wanted| {
        let block = block(Binding::Root, vec![(path, vec![any_of(&[wanted])])]);
        block.evaluate(&document) != Outcome::Missed
    };
    assert!(holds("path", "/real") && holds("file_path", "/real"));
    assert!(!holds("file_path", "/forged"), "the tool does not read that field");
}

#[test]
fn a_condition_key_is_a_dotted_path_and_numeric_parts_index_arrays() {
    let input = r#"{"args": ["grep", "-r", {"deep": "x"}], "o": {"0": "zero", "1x": "y"}}"#;
    assert!(holds_at("args.0", vec![any_of(&["grep"])], input));
    assert!(!holds_at("args.0", vec![any_of(&["-r"])], input));
    assert!(holds_at("args.2.deep", vec![any_of(&["x"])], input));
    assert!(holds_at("args..1", vec![any_of(&["-r"])], input), "empty parts are dropped");
    assert!(!holds_at("o.0", vec![any_of(&["zero"])], input), "digits never name a field");
    assert!(holds_at("o.1x", vec![any_of(&["y"])], input));
    assert!(!holds_at("args.+1", vec![any_of(&["-r"])], input));
    assert!(!holds_at("args.99999999999999999999999", vec![glob(&["*"])], input));
    assert!(!holds_at("0", vec![glob(&["*"])], input));
    assert_eq!(Path::new("args.0").to_string(), "args.0");
}

#[test]
fn a_field_path_is_not_split() {
    let input = Json::parse(r#"{"a.b": "x", "0": "y"}"#).unwrap();
    let document = Document::new("t", &input, Vec::new(), None, Json::Null);
    for (name, value) in [("a.b", "x"), ("0", "y")] {
        let condition = Condition { path: Path::field(name), operators: vec![any_of(&[value])] };
        let block = Block { binding: Binding::Root, conditions: vec![condition] };
        assert_eq!(block.evaluate(&document), Outcome::Held(Vec::new()));
    }
}

#[test]
fn a_name_leads_through_an_array_to_the_values_of_all_elements() {
    let redirects = r#"[{"head": "a", "redirects": [{"op": ">", "target": "x"}, {"op": ">", "target": ".env"}]},
                        {"head": "b", "redirects": []}]"#;
    let within = |operator| {
        judge(any("parsed.segments"), vec![("redirects.target", vec![operator])], "{}", redirects)
    };
    assert_eq!(within(glob(&["**/.env*"])), Outcome::Held(vec![0]));
    assert_eq!(within(none_glob(&["**/.env*"])), Outcome::Held(vec![1]));
    assert_eq!(within(none_glob(&["**"])), Outcome::Held(vec![1]));
    let one = vec![("op", vec![any_of(&[">"])]), ("target", vec![any_of(&[".env"])])];
    assert_eq!(
        judge(any("parsed.segments.redirects"), one, "{}", redirects),
        Outcome::Held(vec![1])
    );
}

#[test]
fn a_block_holds_when_every_condition_holds_against_one_binding() {
    let conditions = || {
        vec![
            ("head", vec![any_of(&["curl", "wget"])]),
            ("pipeline_start", vec![Operator::Is(true)]),
            ("args", vec![none_glob(&["http://localhost*"])]),
        ]
    };
    let judge = |segments| judge(any("parsed.segments"), conditions(), "{}", segments);
    let segment = |head: &str, start: bool, argument: &str| {
        format!(r#"{{"head": "{head}", "pipeline_start": {start}, "args": ["{argument}"]}}"#)
    };
    let two = |one: String, other: String| format!("[{one}, {other}]");
    let piped = two(segment("gh", true, "pr"), segment("curl", false, "-X"));
    assert_eq!(judge(&piped), Outcome::Missed, "head and place come from two segments");
    let first = two(segment("curl", true, "-X"), segment("gh", false, "pr"));
    assert_eq!(judge(&first), Outcome::Held(vec![0]));
    let local = two(segment("curl", true, "http://localhost/"), segment("wget", true, "x"));
    assert_eq!(judge(&local), Outcome::Held(vec![1]));
}

#[test]
fn a_rule_fires_when_any_of_its_blocks_holds() {
    let input = Json::parse(r#"{"command": "git grep x"}"#).unwrap();
    let document = Document::new("Bash", &input, Vec::new(), None, Json::Null);
    let blocks = ["grep*", "git grep*"]
        .map(|pattern| block(Binding::Root, vec![("command", vec![glob(&[pattern])])]));
    let outcomes = blocks.map(|block| block.evaluate(&document));
    assert_eq!(outcomes, [Outcome::Missed, Outcome::Held(Vec::new())]);
}

#[test]
fn any_binds_to_some_element_and_tells_which() {
    let segments = r#"[{"head": "rm"}, {"head": "ls"}, {"head": "rm"}]"#;
    let judge = |binding| judge(binding, vec![("head", vec![any_of(&["rm"])])], "{}", segments);
    assert_eq!(judge(any("parsed.segments")), Outcome::Held(vec![0, 2]));
    assert_eq!(judge(any("parsed.nothing")), Outcome::Missed);
    assert_eq!(judge(any("tool_name")), Outcome::Missed, "a string is no array");
    assert_eq!(judge(any("parsed")), Outcome::Missed, "nor is an object");
}

#[test]
fn all_binds_to_each_element_and_an_empty_array_never_holds() {
    let on = |segments| {
        judge(all("parsed.segments"), vec![("head", vec![any_of(&["ls"])])], "{}", segments)
    };
    assert_eq!(on(r#"[{"head": "ls"}, {"head": "ls"}]"#), Outcome::Held(Vec::new()));
    assert_eq!(on(r#"[{"head": "ls"}, {"head": "rm"}]"#), Outcome::Missed);
    assert_eq!(on("[]"), Outcome::Missed);
    let absent = judge(all("v"), vec![("x", vec![none_of(&["y"])])], r#"{"v": "text"}"#, "[]");
    assert_eq!(absent, Outcome::Missed, "nor does a path to something else");
}

#[test]
fn the_empty_key_is_the_element_itself() {
    let judge = |wanted| {
        judge(any("tags"), vec![("", vec![any_of(&[wanted])])], r#"{"tags": ["a", "b"]}"#, "[]")
    };
    assert_eq!(judge("b"), Outcome::Held(vec![1]));
    assert_eq!(judge("c"), Outcome::Missed);
}

#[test]
fn any_of_holds_when_the_value_equals_one_of_these() {
    assert!(holds(vec![any_of(&["a", "b"])], r#""b""#));
    assert!(!holds(vec![any_of(&["a", "b"])], r#""ab""#));
    assert!(!holds(vec![any_of(&["a"])], r#""A""#));
    assert!(!holds(vec![any_of(&[])], r#""a""#));
}

#[test]
fn none_of_holds_when_it_equals_none_of_them() {
    assert!(holds(vec![none_of(&["a", "b"])], r#""ab""#));
    assert!(!holds(vec![none_of(&["a", "b"])], r#""a""#));
    assert!(holds(vec![none_of(&[])], r#""a""#));
}

#[test]
fn glob_holds_when_one_pattern_covers_the_value() {
    assert!(holds(vec![glob(&["x", "a*c"])], r#""a/b\nc""#));
    assert!(!holds(vec![glob(&["x", "a*c"])], r#""abcd""#));
    assert!(!holds(vec![glob(&[])], r#""a""#));
}

#[test]
fn none_glob_holds_when_no_pattern_covers_the_value() {
    assert!(holds(vec![none_glob(&["a*c"])], r#""abcd""#));
    assert!(!holds(vec![none_glob(&["x", "a*c"])], r#""abc""#));
    assert!(holds(vec![none_glob(&[])], r#""a""#));
}

#[test]
fn none_glob_of_everything_says_that_there_are_no_arguments() {
    assert!(holds(vec![none_glob(&["*"])], "[]"));
    assert!(!holds(vec![none_glob(&["*"])], r#"["x"]"#));
    assert!(!holds(vec![none_glob(&["*"])], r#"[""]"#));
}

#[test]
fn matches_holds_when_the_regex_finds_a_match() {
    assert!(holds(vec![matches("b+")], r#""abbc""#));
    assert!(!holds(vec![matches("^b+")], r#""abbc""#));
    assert!(!holds(vec![matches("ab")], r#"["a", "b"]"#), "each element is searched alone");
    assert!(holds(vec![matches("^b$")], r#"["a", "b"]"#));
}

#[test]
fn not_matches_holds_when_it_finds_none() {
    assert!(holds(vec![not_matches("x")], r#""abc""#));
    assert!(!holds(vec![not_matches("b")], r#""abc""#));
    assert!(!holds(vec![not_matches("b")], r#"["a", "b"]"#));
}

#[test]
fn is_holds_when_the_value_is_that_boolean() {
    assert!(holds(vec![Operator::Is(true)], "true"));
    assert!(holds(vec![Operator::Is(false)], "false"));
    assert!(!holds(vec![Operator::Is(true)], "false"));
    assert!(!holds(vec![Operator::Is(true)], r#""true""#));
    assert!(!holds(vec![Operator::Is(false)], "null"));
    assert!(!holds_at("absent", vec![Operator::Is(false)], "{}"));
}

#[test]
fn exists_holds_when_the_path_leads_to_something() {
    for value in ["0", "\"\"", "false", "[]", "{}"] {
        assert!(holds(vec![Operator::Exists(true)], value), "{value}");
        assert!(!holds(vec![Operator::Exists(false)], value), "{value}");
    }
    assert!(holds(vec![Operator::Exists(false)], "null"));
    assert!(holds_at("absent.x", vec![Operator::Exists(false)], "{}"));
    assert!(!holds_at("absent.x", vec![Operator::Exists(true)], "{}"));
}

#[test]
fn on_arrays_a_positive_operator_needs_one_element_a_negative_none() {
    let array = r#"["a", "b"]"#;
    assert!(holds(vec![any_of(&["b"])], array));
    assert!(holds(vec![glob(&["b*"])], array));
    assert!(!holds(vec![none_of(&["b"])], array));
    assert!(!holds(vec![none_glob(&["b*"])], array));
    assert!(holds(vec![none_of(&["c"]), none_glob(&["c*"])], array));
}

#[test]
fn several_operators_on_one_key_are_anded() {
    let array = r#"["x", "y"]"#;
    assert!(holds(vec![any_of(&["x"]), none_of(&["z"])], array));
    assert!(!holds(vec![any_of(&["x"]), none_of(&["y"])], array), "each looks at the whole array");
    assert!(!holds(vec![glob(&["a*"]), none_glob(&["*b"])], r#""ab""#));
}

#[test]
fn a_path_that_resolves_to_nothing_fails_the_positive_and_passes_the_negative() {
    for path in ["absent", "v.absent", "v.0", "list.7"] {
        let input = r#"{"v": "x", "list": []}"#;
        for operator in [any_of(&["x"]), glob(&["*"]), matches(""), Operator::Is(false)] {
            assert!(!holds_at(path, vec![operator.clone()], input), "{path} {operator:?}");
        }
        for operator in [none_of(&["x"]), none_glob(&["*"]), not_matches("")] {
            assert!(holds_at(path, vec![operator.clone()], input), "{path} {operator:?}");
        }
    }
}

#[test]
fn numbers_offer_their_text_and_what_has_none_offers_nothing() {
    assert!(holds(vec![any_of(&["0"])], "0"));
    assert!(holds(vec![any_of(&["1.50"])], "[1.50]"));
    assert!(!holds(vec![none_of(&["3"])], "3"));
    for value in ["true", "null", "{}", "[[\"x\"]]", "[{}]"] {
        assert!(!holds(vec![glob(&["*"])], value), "{value}");
        assert!(holds(vec![none_glob(&["*"])], value), "{value}");
    }
}

#[test]
fn pi_hooks_arguments_match_as_strings_only() {
    let text = || vec![Operator::TextGlob(globs(&["*"]))];
    assert!(holds(text(), r#""x""#));
    for value in ["1", r#"["x"]"#, "null", "true"] {
        assert!(!holds(text(), value), "{value}");
    }
    assert!(!holds_at("absent", text(), "{}"));
}

#[test]
fn the_nearest_miss_names_the_conditions_that_failed() {
    let segments = r#"{"segments": [{"head": "x"}, {"head": "rm", "args": ["a"]}, {"head": "rm", "depth": 1}]}"#;
    let parsed = Json::parse(segments).unwrap();
    let input = Json::parse("{}").unwrap();
    let document = Document::new("Bash", &input, Vec::new(), Some(parsed), Json::Null);
    let conditions = || {
        vec![
            ("head", vec![any_of(&["rm"])]),
            ("args", vec![any_of(&["-r"])]),
            ("cwd", vec![none_of(&["/"])]),
        ]
    };
    let nearest = |binding, conditions| block(binding, conditions).nearest(&document);
    let miss = |element, failed: &[usize]| Some(Nearest { element, failed: failed.to_vec() });
    assert_eq!(nearest(any("parsed.segments"), conditions()), miss(Some(1), &[1]));
    assert_eq!(nearest(all("parsed.segments"), conditions()), miss(None, &[0, 1]));
    assert_eq!(nearest(Binding::Root, conditions()), miss(None, &[0, 1]));
    assert_eq!(
        nearest(any("parsed.segments"), vec![("head", vec![any_of(&["x"])])]),
        None,
        "it holds"
    );
    assert_eq!(nearest(any("absent"), conditions()), None, "nothing to look at");
}
