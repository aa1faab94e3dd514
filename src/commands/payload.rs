//! Reads the payload a harness writes to our standard input.
//!
//! Promises: reading ends where the JSON object ends, though the writer keeps the pipe open;
//! memory is bounded; bytes that are no UTF-8 are replaced, never a way past the rules.

use std::io::{self, BufRead};

/// The longest payload that is judged, in bytes.
pub(crate) const MAX_PAYLOAD: usize = 256 * 1024 * 1024;

/// Why no payload could be had.
#[derive(Debug)]
pub(crate) enum PayloadError {
    /// Standard input could not be read.
    Unreadable(io::Error),
    /// Longer than `MAX_PAYLOAD`; it was read to its end all the same.
    TooLong,
}

impl std::fmt::Display for PayloadError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreadable(error) => {
                write!(formatter, "input: standard input cannot be read: {error}")
            }
            Self::TooLong => write!(
                formatter,
                "input: longer than {} MiB, the most that is judged",
                MAX_PAYLOAD >> 20
            ),
        }
    }
}

/// Reads one JSON text: to the end of its object, or of the input where it is none.
///
/// # Errors
/// When the input cannot be read or is too long.
pub(crate) fn read(input: &mut dyn BufRead) -> Result<String, PayloadError> {
    let mut bytes = Vec::new();
    let mut scan = Scan::default();
    let mut too_long = false;
    while !scan.ended() {
        let read = match input.fill_buf() {
            Ok([]) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(PayloadError::Unreadable(error)),
        };
        scan.take(read);
        // What is too long is still read to its end: a writer whose pipe breaks may take that for
        // a hook that failed.
        too_long |= bytes.len() + read.len() > MAX_PAYLOAD;
        if too_long {
            bytes = Vec::new();
        } else {
            bytes.extend_from_slice(read);
        }
        let count = read.len();
        input.consume(count);
    }
    if too_long {
        return Err(PayloadError::TooLong);
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Finds the end of the outermost object or array by its brackets. What is not valid JSON may end
/// early or late; the parser refuses it in either case.
#[derive(Default)]
struct Scan {
    depth: u64,
    started: bool,
    in_string: bool,
    escaped: bool,
}

impl Scan {
    fn ended(&self) -> bool {
        self.started && self.depth == 0
    }

    fn take(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => {
                    self.started = true;
                    self.depth += 1;
                }
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, Read};

    /// A pipe whose writer stays: reading past what was written would wait for ever.
    struct OpenPipe(Vec<Vec<u8>>);

    impl Read for OpenPipe {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            assert!(!self.0.is_empty(), "read past the end of the object");
            let piece = self.0.remove(0);
            buffer[..piece.len()].copy_from_slice(&piece);
            Ok(piece.len())
        }
    }

    #[test]
    fn reading_ends_with_the_object() {
        for text in [r#"{"a":"}"}"#, r#"{"a":{"b":["\"}"]}}"#, "[1,[2]]", "{}"] {
            let pieces = text.bytes().map(|byte| vec![byte]).collect();
            assert_eq!(read(&mut BufReader::new(OpenPipe(pieces))).unwrap(), text);
        }
    }

    #[test]
    fn what_stands_behind_the_object_is_kept_for_the_parser_to_refuse() {
        assert_eq!(read(&mut &b"{} {}"[..]).unwrap(), "{} {}");
    }

    #[test]
    fn input_without_an_object_is_read_to_its_end() {
        for text in ["", "null", "\"open", "{\"a\":"] {
            assert_eq!(read(&mut text.as_bytes()).unwrap(), text);
        }
    }

    #[test]
    fn bytes_that_are_no_utf8_are_replaced() {
        assert_eq!(read(&mut &b"{\"a\":\"\xff\"}"[..]).unwrap(), "{\"a\":\"\u{fffd}\"}");
    }
}
