#![doc = include_str!("manual/06-matching.md")]
//!
//! Promises: pure; a block costs at most its operators times the values they look at; a regular
//! expression is compiled when it is first searched for. Never: knows a harness or what a rule does,
//! copies the input, lets an input's own `tool_name`, `parsed` or `event` pass for ours.

use crate::glob::Pattern;
use crate::json::Json;
use crate::regex::Regex;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// Conditions that must hold together, against one binding.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// What the conditions look at.
    pub(crate) binding: Binding,
    /// All must hold.
    pub(crate) conditions: Vec<Condition>,
}

/// What the conditions of a block look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Binding {
    /// The whole match document.
    Root,
    /// Some element of the array at this path.
    Any(Path),
    /// Every element of the array at this path, which is not empty.
    All(Path),
}

impl Binding {
    /// Whether the elements that hold are segments of a shell call, which a rewrite can edit.
    pub(crate) fn names_segments(&self) -> bool {
        matches!(self, Self::Any(path) if path.text == "parsed.segments")
    }
}

/// Operators on the value at one path.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    /// Where the value is, seen from the binding.
    pub(crate) path: Path,
    /// All must hold.
    pub(crate) operators: Vec<Operator>,
}

/// One test of a value.
#[derive(Clone, Debug)]
pub(crate) enum Operator {
    /// Equals one of these.
    AnyOf(Vec<String>),
    /// Equals none of these.
    NoneOf(Vec<String>),
    /// One of these patterns covers it.
    Glob(Vec<Pattern>),
    /// It is a string, not an array of them or a number, and one of these patterns covers it:
    /// pi-hooks' arguments.
    TextGlob(Vec<Pattern>),
    /// None of these patterns covers it.
    NoneGlob(Vec<Pattern>),
    /// The expression is found in it.
    Matches(Box<Regex>),
    /// The expression is not found in it.
    NotMatches(Box<Regex>),
    /// Is this boolean.
    Is(bool),
    /// The path leads to something, or to nothing.
    Exists(bool),
}

/// A way through objects and arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// The bytes of the text that spell it.
    Key(Range<usize>),
    Index(usize),
}

impl Path {
    /// A path as rules write it: parts between dots, empty ones dropped, digits for an array's
    /// element.
    pub(crate) fn new(text: &str) -> Path {
        let mut parts = Vec::with_capacity(2);
        let mut start = 0;
        for part in text.as_bytes().split(|byte| *byte == b'.') {
            let end = start + part.len();
            if part.iter().any(|byte| !byte.is_ascii_digit()) {
                parts.push(Part::Key(start..end));
            } else if let Some(digits) = text.get(start..end).filter(|digits| !digits.is_empty()) {
                // No array has more elements than a `usize` counts.
                parts.push(Part::Index(digits.parse().unwrap_or(usize::MAX)));
            }
            start = end + 1;
        }
        Path { text: text.to_owned(), parts }
    }

    /// The path of one field, whatever signs its name holds.
    pub(crate) fn field(name: &str) -> Path {
        Path::fields(&[name])
    }

    /// The path of a field within a field and so on, whatever signs their names hold.
    pub(crate) fn fields(names: &[&str]) -> Path {
        let mut start = 0;
        let part = |name: &&str| {
            let key = start..start + name.len();
            start = key.end + 1;
            Part::Key(key)
        };
        Path { parts: names.iter().map(part).collect(), text: names.join(".") }
    }

    fn key(&self, bytes: &Range<usize>) -> &str {
        self.text.get(bytes.clone()).unwrap_or_default()
    }
}

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

/// What rules look at.
#[derive(Clone, Debug)]
pub(crate) struct Document<'a> {
    input: &'a Json<'a>,
    /// Go before the fields of the input; `None` hides one.
    fields: Vec<(Cow<'a, str>, Option<Json<'a>>)>,
}

impl<'a> Document<'a> {
    /// The document of a call: the tool's own name and input, Claude's names for fields of that
    /// input (they count before an input's field of the same name, which the tool would not read),
    /// what was parsed from a shell call, and the neutral event.
    pub(crate) fn new(
        tool_name: impl Into<Cow<'a, str>>,
        input: &'a Json<'a>,
        aliases: Vec<(Cow<'a, str>, Json<'a>)>,
        parsed: Option<Json<'a>>,
        event: Json<'a>,
    ) -> Document<'a> {
        let mut fields = vec![
            (Cow::Borrowed("tool_name"), Some(Json::String(tool_name.into()))),
            (Cow::Borrowed("parsed"), parsed),
            (Cow::Borrowed("event"), Some(event)),
        ];
        fields.extend(aliases.into_iter().map(|(name, value)| (name, Some(value))));
        Document { input, fields }
    }

    fn get(&self, name: &str) -> Option<&Json<'a>> {
        match self.fields.iter().find(|(field, _)| field == name) {
            Some((_, value)) => value.as_ref(),
            None => self.input.get(name),
        }
    }

    /// The elements that a block binds to: none where the path leads to no array.
    fn elements(&self, path: &Path) -> impl Iterator<Item = &Json<'a>> {
        let mut values = Vec::new();
        Scope::Root(self).values(path, &mut values);
        values.into_iter().filter_map(Json::as_array).flatten()
    }
}

/// What a block found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It does not hold.
    Missed,
    /// It holds; with [`Binding::Any`], for the elements with these numbers.
    Held(Vec<usize>),
}

/// How near a block that does not hold came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nearest {
    /// With [`Binding::Any`], the element that failed the fewest conditions.
    pub(crate) element: Option<usize>,
    /// The numbers of the conditions that failed.
    pub(crate) failed: Vec<usize>,
}

impl Block {
    /// Judges the block.
    pub(crate) fn evaluate<'d, 'a>(&self, document: &'d Document<'a>) -> Outcome {
        let mut values = Vec::new();
        let mut holds = |scope: Scope<'d, 'a>| {
            self.conditions.iter().all(|condition| condition.holds(scope, &mut values))
        };
        let (held, elements) = match &self.binding {
            Binding::Root => (holds(Scope::Root(document)), Vec::new()),
            Binding::Any(path) => {
                let elements = document.elements(path).enumerate();
                let held = elements.filter(|(_, element)| holds(Scope::Element(element)));
                let held: Vec<usize> = held.map(|(number, _)| number).collect();
                (!held.is_empty(), held)
            }
            Binding::All(path) => {
                let mut elements = document.elements(path).map(Scope::Element).peekable();
                (elements.peek().is_some() && elements.all(holds), Vec::new())
            }
        };
        if held { Outcome::Held(elements) } else { Outcome::Missed }
    }

    /// Which conditions kept the block from holding; `None` if it holds or has nothing to look at.
    pub(crate) fn nearest(&self, document: &Document<'_>) -> Option<Nearest> {
        let failed = |scopes: &[Scope<'_, '_>]| -> Vec<usize> {
            let fails = |condition: &Condition| {
                scopes.iter().any(|scope| !condition.holds(*scope, &mut Vec::new()))
            };
            let conditions = self.conditions.iter().enumerate();
            conditions.filter(|(_, condition)| fails(condition)).map(|(number, _)| number).collect()
        };
        let nearest = match &self.binding {
            Binding::Root => Nearest { element: None, failed: failed(&[Scope::Root(document)]) },
            Binding::Any(path) => {
                let elements = document.elements(path).enumerate();
                let misses = elements.map(|(number, element)| Nearest {
                    element: Some(number),
                    failed: failed(&[Scope::Element(element)]),
                });
                misses.min_by_key(|miss| miss.failed.len())?
            }
            Binding::All(path) => {
                let scopes: Vec<_> = document.elements(path).map(Scope::Element).collect();
                Nearest { element: None, failed: failed(&scopes) }
            }
        };
        (!nearest.failed.is_empty()).then_some(nearest)
    }
}

/// What a block is bound to.
#[derive(Clone, Copy)]
enum Scope<'d, 'a> {
    Root(&'d Document<'a>),
    Element(&'d Json<'a>),
}

impl<'d, 'a> Scope<'d, 'a> {
    /// Adds the values at a path; several where it leads through an array without saying which
    /// element.
    fn values(self, path: &Path, values: &mut Vec<&'d Json<'a>>) {
        let (start, rest) = match (self, path.parts.split_first()) {
            (Scope::Element(element), _) => (Some(element), path.parts.as_slice()),
            (Scope::Root(document), Some((Part::Key(key), rest))) => {
                (document.get(path.key(key)), rest)
            }
            (Scope::Root(document), None) => (Some(document.input), &[][..]),
            (Scope::Root(_), Some((Part::Index(_), _))) => (None, &[][..]),
        };
        if let Some(start) = start {
            follow(start, path, rest, values);
        }
    }
}

/// Adds the values that `parts`, the last ones of `path`, lead to. The value's nesting, which its
/// reader bounds, bounds the recursion.
fn follow<'d, 'a>(
    value: &'d Json<'a>,
    path: &Path,
    parts: &[Part],
    values: &mut Vec<&'d Json<'a>>,
) {
    let Some((part, rest)) = parts.split_first() else {
        values.push(value);
        return;
    };
    match (value, part) {
        (Json::Array(elements), Part::Index(index)) => {
            if let Some(element) = elements.get(*index) {
                follow(element, path, rest, values);
            }
        }
        (Json::Array(elements), Part::Key(key)) => {
            for inner in elements.iter().filter_map(|element| element.get(path.key(key))) {
                follow(inner, path, rest, values);
            }
        }
        (Json::Object(_), Part::Key(key)) => {
            if let Some(inner) = value.get(path.key(key)) {
                follow(inner, path, rest, values);
            }
        }
        _ => {}
    }
}

impl Condition {
    /// `values` is room for those that the operators look at.
    fn holds<'d, 'a>(&self, scope: Scope<'d, 'a>, values: &mut Vec<&'d Json<'a>>) -> bool {
        values.clear();
        scope.values(&self.path, values);
        self.operators.iter().all(|operator| operator.holds(values))
    }
}

impl Operator {
    fn holds(&self, values: &[&Json<'_>]) -> bool {
        let some = |test: &dyn Fn(&str) -> bool| values.iter().any(|value| offers(value, test));
        match self {
            Operator::AnyOf(texts) => some(&|value| texts.iter().any(|text| text == value)),
            Operator::NoneOf(texts) => !some(&|value| texts.iter().any(|text| text == value)),
            Operator::Glob(globs) => some(&|value| globs.iter().any(|glob| glob.matches(value))),
            Operator::TextGlob(globs) => values.iter().any(|value| {
                value.as_str().is_some_and(|text| globs.iter().any(|glob| glob.matches(text)))
            }),
            Operator::NoneGlob(globs) => {
                !some(&|value| globs.iter().any(|glob| glob.matches(value)))
            }
            Operator::Matches(regex) => some(&|value| regex.is_match(value)),
            Operator::NotMatches(regex) => !some(&|value| regex.is_match(value)),
            Operator::Is(wanted) => values.iter().any(|value| value.as_bool() == Some(*wanted)),
            // A null is how an event says that there is nothing.
            Operator::Exists(wanted) => values.iter().any(|value| **value != Json::Null) == *wanted,
        }
    }
}

/// Whether a text that the value offers passes: a string and a number offer themselves, an
/// array those among its elements, anything else nothing.
fn offers(value: &Json<'_>, passes: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Json::String(text) | Json::Number(text) => passes(text),
        Json::Array(elements) => elements.iter().any(
            |element| matches!(element, Json::String(text) | Json::Number(text) if passes(text)),
        ),
        Json::Null | Json::Bool(_) | Json::Object(_) => false,
    }
}

#[cfg(test)]
#[path = "matching_tests.rs"]
mod tests;
