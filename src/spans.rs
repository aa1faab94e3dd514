//! Finds the places of keys and values in JSON text that is known to be valid.
//!
//! Promises: linear in the text. Never: decides whether a text is valid; that is the task of `json`.

use std::ops::Range;

/// Bytes of the text.
pub(crate) type Span = Range<usize>;

/// One item of an array, or one member of an object.
#[derive(Clone, Debug)]
pub(crate) struct Child {
    /// A member's key, with its quotes.
    pub(crate) key: Option<Span>,
    pub(crate) value: Span,
    /// Where the comma behind it stands.
    pub(crate) comma: Option<usize>,
}

impl Child {
    pub(crate) fn start(&self) -> usize {
        self.key.as_ref().unwrap_or(&self.value).start
    }

    pub(crate) fn end(&self) -> usize {
        self.value.end
    }
}

/// The children of the container at `span`, in order; none for any other value.
pub(crate) fn children(text: &str, span: &Span) -> Vec<Child> {
    let bytes = text.as_bytes();
    let mut children = Vec::new();
    let object = match bytes.get(span.start) {
        Some(b'{') => true,
        Some(b'[') => false,
        _ => return children,
    };
    let mut at = blanks_end(text, span.start + 1);
    while at + 1 < span.end {
        let mut key = None;
        if object {
            let end = value_end(bytes, at);
            key = Some(at..end);
            at = blanks_end(text, blanks_end(text, end) + 1);
        }
        let value = at..value_end(bytes, at);
        at = blanks_end(text, value.end);
        let comma = (bytes.get(at) == Some(&b',')).then_some(at);
        children.push(Child { key, value, comma });
        at = blanks_end(text, at + 1);
    }
    children
}

/// The whole text without the blanks around it.
pub(crate) fn trimmed(text: &str) -> Span {
    blanks_end(text, 0)..text.trim_end_matches(BLANKS).len()
}

const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

/// Where the blanks from `at` on end.
pub(crate) fn blanks_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    text.len() - rest.trim_start_matches(BLANKS).len()
}

/// Where the blanks before `at` start.
pub(crate) fn blanks_start(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or_default().trim_end_matches(BLANKS).len()
}

/// The end of the value that starts at `at`: brackets are counted, strings skipped.
fn value_end(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0_usize;
    loop {
        match bytes.get(at) {
            None => return bytes.len(),
            Some(b'"') => at = string_end(bytes, at),
            Some(b'{' | b'[') => {
                depth += 1;
                at += 1;
                continue;
            }
            Some(b'}' | b']') => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            Some(b',' | b':' | b' ' | b'\t' | b'\n' | b'\r') => at += 1,
            Some(_) => {
                let scalar = |byte: &&u8| !b",:]} \t\n\r".contains(*byte);
                at += bytes.iter().skip(at).take_while(scalar).count();
            }
        }
        if depth == 0 {
            return at;
        }
    }
}

/// The end of the string that starts at `at`, its closing quote included.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at += 1;
        match bytes.get(at) {
            None => return bytes.len(),
            Some(b'\\') => at += 1,
            Some(b'"') => return at + 1,
            Some(_) => {}
        }
    }
}

/// The text with comments (`//`, `/* */`) and trailing commas turned into as many blanks, for
/// clients that accept them. An open comment is left, for the parser to refuse.
pub(crate) fn without_comments(text: &str) -> String {
    let mut plain = text.as_bytes().to_vec();
    let mut comma = None;
    let mut at = 0;
    while let Some(&byte) = plain.get(at) {
        let rest = plain.get(at..).unwrap_or_default();
        let comment = if rest.starts_with(b"//") {
            Some(rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len()))
        } else if rest.starts_with(b"/*") {
            rest.windows(2).skip(2).position(|end| end == b"*/").map(|length| length + 4)
        } else {
            None
        };
        let end = match (comment, byte) {
            (Some(length), _) => at + length,
            (None, b'"') => string_end(&plain, at),
            (None, _) => at + 1,
        };
        if comment.is_some() {
            blank(&mut plain, at..end);
        } else if matches!(byte, b'}' | b']') {
            comma.take().into_iter().for_each(|comma| blank(&mut plain, comma..comma + 1));
        } else if byte == b',' {
            comma = Some(at);
        } else if !byte.is_ascii_whitespace() {
            comma = None;
        }
        at = end;
    }
    String::from_utf8(plain).unwrap_or_default()
}

fn blank(bytes: &mut [u8], span: Span) {
    for byte in bytes.iter_mut().skip(span.start).take(span.len()) {
        if *byte != b'\n' && *byte != b'\r' {
            *byte = b' ';
        }
    }
}
