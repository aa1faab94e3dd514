use super::*;

fn same(text: &str) {
    assert_eq!(Json::parse(text).unwrap().to_text(), text);
}

fn error(text: &str) -> String {
    Json::parse(text).unwrap_err().to_string()
}

#[test]
fn compact_text_is_printed_as_it_was() {
    for text in [
        "null",
        "true",
        "false",
        "0",
        "-0",
        "-0.0",
        "1e400",
        "1E+2",
        "0.10",
        "123456789012345678901234567890",
        r#""""#,
        r#""a\"b\\c\n\r\t""#,
        r#""ä€😀\u0001""#,
        "[]",
        "{}",
        "[[],{},[1,2]]",
        r#"{"b":1,"a":[{"c":null}],"b":2,"":""}"#,
    ] {
        same(text);
    }
}

#[test]
fn escapes_are_resolved() {
    for (text, meaning) in [
        (r#""\u0041\/\b\f""#, "A/\u{8}\u{c}"),
        (r#""\ud83d\ude00""#, "😀"),
        (r#""\uD83D""#, "\u{fffd}"),
        (r#""\ude00x""#, "\u{fffd}x"),
        (r#""\ud83d\u0041""#, "\u{fffd}A"),
        (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
    ] {
        assert_eq!(Json::parse(text).unwrap().as_str(), Some(meaning), "{text}");
    }
}

#[test]
fn only_strings_with_escapes_are_copied() {
    assert!(matches!(Json::parse(r#""ä""#), Ok(Json::String(Cow::Borrowed("ä")))));
    assert!(matches!(Json::parse(r#""\n""#), Ok(Json::String(Cow::Owned(_)))));
}

#[test]
fn errors_name_the_place() {
    for (text, message) in [
        ("", "line 1 column 1: expected a value"),
        ("{\n  \"ä\": x}", "line 2 column 8: expected a value"),
        ("[1,]", "line 1 column 4: expected a value"),
        ("[1 2]", "line 1 column 4: expected `,` or `]`"),
        ("{\"a\" 1}", "line 1 column 6: expected `:` after the key"),
        ("{\"a\":1,}", "line 1 column 8: expected a key in double quotes"),
        ("{\"a\":1", "line 1 column 7: expected `,` or `}`"),
        ("// no\n1", "line 1 column 1: expected a value"),
        ("1 1", "line 1 column 3: unexpected text after the value"),
        ("01", "line 1 column 2: unexpected text after the value"),
        ("-", "line 1 column 2: expected a digit"),
        ("1.", "line 1 column 3: expected a digit"),
        ("\"a", "line 1 column 3: string has no closing quote"),
        ("\"a\\", "line 1 column 4: string has no closing quote"),
        ("\"a\\n\n\"", "line 1 column 5: control character in a string must be escaped"),
        ("\"\\x\"", "line 1 column 3: unknown escape in a string"),
        ("\"\\u12\"", "line 1 column 6: `\\u` needs four hexadecimal digits"),
        ("\u{feff}1", "line 1 column 1: a byte order mark is not allowed here"),
    ] {
        assert_eq!(error(text), message, "{text}");
    }
    assert_eq!(
        Json::parse_bytes(b"\"\n\xff\"").unwrap_err().to_string(),
        "line 2 column 1: invalid UTF-8"
    );
}

#[test]
fn limits_have_their_own_messages() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    same(&nested(512));
    assert!(error(&nested(513)).ends_with("nesting exceeds the limit of 512 levels"));
    assert!(error(&"{\"a\":[".repeat(300)).ends_with(TOO_DEEP));
    assert!(error(&"[".repeat(100_000)).ends_with(TOO_DEEP));
    let items = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
    assert!(Json::parse(&items(MAX_VALUES - 1)).is_ok());
    assert!(
        error(&items(MAX_VALUES)).ends_with("the number of values exceeds the limit of 1,000,000")
    );
}

#[test]
fn chunks_are_the_text_in_pieces() {
    let long = "ä\u{1}\"".repeat(100_000);
    let value = Json::object([
        ("long", Json::from(long.as_str())),
        ("number", Json::Number("1".repeat(200_000).into())),
        ("items", vec!["x"; 50_000].into()),
        ("none", None::<bool>.into()),
    ]);
    let pieces: Vec<Vec<u8>> = value.chunks().collect();
    assert!(pieces.iter().all(|piece| piece.len() <= CHUNK + 8));
    assert_eq!(pieces.concat(), value.to_text().as_bytes());
    assert_eq!(Json::parse(&value.to_text()).unwrap(), value);
}

#[test]
fn accessors_and_duplicates() {
    let value = Json::parse(r#"{"b":true,"a":1,"b":"x","c":[null]}"#).unwrap();
    assert_eq!(value.get("b").and_then(Json::as_str), Some("x"));
    assert_eq!(value.duplicate_key(), Some("b"));
    assert_eq!(value.get("c").and_then(Json::as_array), Some(&[Json::Null][..]));
    assert_eq!(value.get("a").map(Json::kind_name), Some("a number"));
    assert_eq!(value.get("a").and_then(Json::as_bool), None);
    assert_eq!(Json::parse(r#"{"b":1,"a":{"b":1,"a":2}}"#).unwrap().duplicate_key(), None);
    assert_eq!(Json::object([("a", 7.into())]).to_text(), r#"{"a":7}"#);
}
