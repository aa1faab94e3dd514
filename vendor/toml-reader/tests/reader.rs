//! Messages, order, spans, bounds; what a document may look like is the conformance suite's part.

use toml_reader::{Definition, Kind, MAX_DEPTH, Table, Value, parse};

#[test]
fn errors_name_place_cause_and_expectation() {
    for (text, expected) in ERRORS {
        assert_eq!(parse(text).unwrap_err().to_string(), *expected, "{}", text.escape_ascii());
    }
    let escape = parse(br#"a = "\d""#).unwrap_err().to_string();
    assert!(escape.starts_with("1:6: found an escape that TOML does not know"), "{escape}");
    let unicode = parse(br#"a = "x\uD800""#).unwrap_err().to_string();
    assert!(
        unicode.starts_with("1:7: found an escape that names no Unicode character"),
        "{unicode}"
    );
}

const ERRORS: &[(&[u8], &str)] = &[
    (b"a", "1:2: found the end of the text, expected `=` behind the key"),
    (b"a\nb = 1", "1:2: found the end of the line, expected `=` behind the key"),
    (b"a = ", "1:5: found the end of the text, expected a value"),
    (b"a = yes", "1:5: found `yes`, expected a value (text needs quotes)"),
    (b"a = 1 b = 2", "1:7: found `b`, expected the end of the line"),
    (b"\n= 1", "2:1: found `=`, expected a key"),
    (b"[a\nb = 1", "1:3: found the end of the line, expected `]` behind the header"),
    (b"[[a]\n", "1:4: found `]`, expected `]]` behind the header"),
    (b"a = \"x", "1:7: found the end of the text, expected the closing quote"),
    (b"a = \"\"\"x", "1:9: found the end of the text, expected the closing three quotes"),
    (b"a = [1 2]", "1:8: found `2`, expected `,` or `]`"),
    (
        b"a = {b = 1\n}",
        "1:11: found the end of the line, expected `,` or `}` (an inline table is one line)",
    ),
    (b"a = {b = 1,}", "1:12: found `}`, expected a key"),
    (b"a = 012", "1:5: found `012`, which is no number of TOML"),
    (b"a = 1__0", "1:5: found `1__0`, which is no number of TOML"),
    (b"a = 9223372036854775808", "1:5: integer `9223372036854775808` does not fit in 64 bits"),
    (b"a = 2025-02-29", "1:5: found `2025-02-29`, which is no date or time of RFC 3339"),
    (b"a = 1 # \x01", "1:9: found the control character U+0001, expected the end of the line"),
    ("é = 1".as_bytes(), "1:1: found `é`, expected a key"),
    ("a = \"é\" x".as_bytes(), "1:9: found `x`, expected the end of the line"),
    (b"a = 1\nb = \"\xff\"", "2:6: found a byte that is not UTF-8"),
    (b"a = 1\n\na = 2", "3:1: key `a` is already defined in line 1"),
    (b"[a]\n[a]", "2:2: key `a` is already defined in line 1"),
    (b"[a]\nb.c = 1\n[a.b]", "3:4: key `b` is already defined in line 2"),
    (b"a = []\n[[a]]", "2:3: key `a` is already defined in line 1"),
    (b"a = {}\n[a.b]", "2:2: key `a` is no table that can grow; it stands in line 1"),
    (b"[a.b]\n[a]\nb.c = 1", "3:1: key `b` is already defined in line 1"),
];

#[test]
fn order_spans_and_definitions_are_kept() {
    let text = "\u{feff}z = 'é'\n[a.b]\n[[list]]\nd.e = 1\ni = { k = 1 }\n";
    let root = parse(text.as_bytes()).unwrap();
    let names: Vec<_> = root.iter().map(|(key, _)| &*key.name).collect();
    assert_eq!(names, ["z", "a", "list"]);
    let (key, value) = root.iter().next().unwrap();
    assert_eq!(
        (text.get(key.span.clone()), text.get(value.span.clone())),
        (Some("z"), Some("'é'"))
    );

    let Kind::Array(elements) = &root.get("list").unwrap().kind else { panic!("no array") };
    let element = elements[0].as_table().unwrap();
    let definition =
        |table: &Table, name| table.get(name).and_then(Value::as_table).map(Table::definition);
    assert_eq!(definition(&root, "a"), Some(Definition::Implicit));
    assert_eq!(element.definition(), Definition::Header);
    assert_eq!(definition(element, "d"), Some(Definition::Dotted));
    assert_eq!(definition(element, "i"), Some(Definition::Inline));
    assert_eq!(definition(&root, "z"), None);
}

#[test]
fn nesting_is_bounded() {
    let nest = |open: &str, close: &str, levels| {
        format!("a = {}1{}", open.repeat(levels), close.repeat(levels))
    };
    let dotted = |levels| vec!["a"; levels].join(".");
    let documents: [&dyn Fn(usize) -> String; 4] = [
        &|levels| nest("[", "]", levels),
        &|levels| nest("{a = ", "}", levels),
        &|levels| dotted(levels) + " = 1",
        &|levels| format!("[{}]", dotted(levels)),
    ];
    for document in documents {
        // A header and a key count themselves, brackets do not count the key before them.
        assert!(parse(document(MAX_DEPTH / 2).as_bytes()).is_ok());
        for levels in [MAX_DEPTH + 1, 100_000] {
            let error = parse(document(levels).as_bytes()).unwrap_err().to_string();
            assert!(error.ends_with("more than 128 levels of tables and arrays"), "{error}");
        }
    }
    let mixed = format!("[{}]\n{} = 1", dotted(MAX_DEPTH / 2), dotted(MAX_DEPTH / 2 + 1));
    assert!(parse(mixed.as_bytes()).is_err());
}

/// Ten thousand of everything; anything quadratic would take minutes here.
#[test]
fn large_documents_are_read() {
    let many = |line: &dyn Fn(usize) -> String| (0..10_000).map(line).collect::<String>();
    let documents = [
        many(&|n| format!("k{n} = {n}\n")),
        many(&|n| format!("[t{n}]\nx.y = 1\n")),
        many(&|_| "[[rules]]\n[rules.action]\nkind = 'deny'\n".to_owned()),
        format!("a = [{}]", many(&|n| format!("{{ k = {n} }}, "))),
    ];
    let lengths =
        documents.map(|text| match parse(text.as_bytes()).unwrap().iter().next().unwrap() {
            (_, Value { kind: Kind::Array(elements), .. }) => elements.len(),
            _ => parse(text.as_bytes()).unwrap().iter().len(),
        });
    assert_eq!(lengths, [10_000; 4]);
}

/// Seeded mutations of a document with every construct: never a panic, and an error's place
/// always lies in the text.
#[test]
fn mutations_are_survived() {
    const SEED: &str = "a.\"b\".'c' = \"\"\"\\\n  x\\u00e9\"\"\"\"\n[t.u] # é\nd = 1979-05-27 07:32:00.5Z\n\
        [[l]]\nn = [0x1f, -1.5e+3, { k = '''v''', m = nan }, ]\r\n[[l.m]]\nf = +inf\nt = 07:32:00\n[l.m.o]\n";
    const PIECES: [&str; 16] = [
        "\"", "'", "\"\"\"", "'''", "[", "]", "[[", "{", "}", ".", ",", "=", "\\", "\n", "é",
        "\u{feff}",
    ];
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % 1_000_003).expect("fits") % below
    };
    let mut accepted = 0;
    for _ in 0..20_000 {
        let mut bytes = SEED.as_bytes().to_vec();
        for _ in 0..=random(4) {
            let at = random(bytes.len());
            match random(3) {
                0 => drop(bytes.remove(at)),
                1 => bytes[at] = u8::try_from(random(256)).expect("a byte"),
                _ => drop(bytes.splice(at..at, PIECES[random(PIECES.len())].bytes())),
            }
        }
        match parse(&bytes) {
            Ok(_) => accepted += 1,
            Err(error) => {
                let lines = bytes.split(|byte| *byte == b'\n').count();
                assert!(
                    (1..=lines).contains(&error.line) && error.column <= bytes.len() + 1,
                    "{error}"
                );
            }
        }
    }
    assert!((100..19_900).contains(&accepted), "{accepted} of the mutants are TOML");
}
