//! The escapes of `$'…'` (bash manual, "ANSI-C Quoting").

use std::iter::Peekable;
use std::str::Bytes;

/// Up to `most` further digits of a number that begins with `value`.
fn digits(
    bytes: &mut Peekable<Bytes<'_>>,
    radix: u32,
    most: u32,
    mut value: Option<u32>,
) -> Option<u32> {
    for _ in 0..most {
        let Some(digit) = bytes.peek().and_then(|byte| char::from(*byte).to_digit(radix)) else {
            break;
        };
        bytes.next();
        value = Some(value.unwrap_or(0).wrapping_mul(radix) + digit);
    }
    value
}

/// Decodes the escapes of `$'…'`; a NUL ends the string, as in bash.
pub(super) fn ansi_unescape(text: &str) -> String {
    let mut bytes = text.bytes().peekable();
    let mut decoded: Vec<u8> = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            decoded.push(byte);
            continue;
        }
        let Some(escape) = bytes.next() else {
            decoded.push(b'\\');
            break;
        };
        let code = match escape {
            b'a' => 7,
            b'b' => 8,
            b'e' | b'E' => 27,
            b'f' => 12,
            b'n' => 10,
            b'r' => 13,
            b't' => 9,
            b'v' => 11,
            b'\\' | b'\'' | b'"' | b'?' => u32::from(escape),
            b'0'..=b'7' => digits(&mut bytes, 8, 2, Some(u32::from(escape - b'0'))).unwrap_or(0),
            b'x' | b'u' | b'U' => {
                let most = match escape {
                    b'x' => 2,
                    b'u' => 4,
                    _ => 8,
                };
                let Some(code) = digits(&mut bytes, 16, most, None) else {
                    decoded.extend([b'\\', escape]);
                    continue;
                };
                if escape != b'x' && code > 0 {
                    let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                    decoded.extend(character.encode_utf8(&mut [0; 4]).bytes());
                    continue;
                }
                code
            }
            b'c' => match bytes.next() {
                Some(control) => u32::from(control & 0x1f),
                None => break,
            },
            other => {
                decoded.extend([b'\\', other]);
                continue;
            }
        };
        if code == 0 {
            break;
        }
        decoded.push(u8::try_from(code & 0xff).unwrap_or(0));
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
