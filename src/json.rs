//! JSON (RFC 8259): text to values and back, nothing lost.
//!
//! Promises: numbers keep their text, objects their key order; strings without escapes borrow from
//! the text; ends on every input, with bounded nesting and number of values; an error names line
//! and column. Never: guesses, repairs, or changes what it was given.

use std::borrow::Cow;

/// One JSON value. Borrows from the text it was read from wherever no escape stood there.
#[derive(Clone, Debug, PartialEq)]
pub enum Json<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it was spelled.
    Number(Cow<'a, str>),
    /// A string, its escapes resolved.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Json<'a>>),
    /// An object: keys in the order of the text, duplicates kept.
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}
