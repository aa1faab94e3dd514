//! Rewrites: edits of a command's text, and of a tool's other fields.
//!
//! Promises: every byte that no edit names stays; edits of several rules are made together, from the
//! places the words have in the original text. Never: edits where a word has no place of its own in
//! that text.

use crate::event::Event;
use crate::json::Json;
use crate::rules::{Effect, Rule};
use crate::shell::{Parsed, Segment, Spans};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// Which programs are there.
pub(crate) trait Programs {
    /// Whether `name` is found on `PATH`, or is the path of a program.
    fn finds(&self, name: &str) -> bool;
}

/// Why a rewrite is held back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// Its `replace_head` is not on `PATH`.
    NotFound(String),
    /// What matched has no place in the text of the command line.
    NoPlace,
    /// Another rule already replaces the same command word.
    Taken,
}

impl fmt::Display for Held {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound(head) => write!(formatter, "`{head}` is not on PATH"),
            Self::NoPlace => formatter.write_str("what matched stands where no edit can reach it"),
            Self::Taken => formatter.write_str("another rule replaces the same command"),
        }
    }
}

/// A rewrite that holds, and the segments it holds for.
pub(super) struct Edit<'a> {
    pub(super) rule: &'a Rule,
    pub(super) segments: Vec<usize>,
}

/// What the edits come to.
#[derive(Default)]
pub(super) struct Outcome {
    /// The new input, where an edit was made.
    pub(super) input: Option<Json<'static>>,
    /// The rules whose edits were made.
    pub(super) made: Vec<usize>,
    /// The others, and why.
    pub(super) held: Vec<(String, Held)>,
}

/// One replacement in the text.
struct Splice {
    range: Range<usize>,
    text: String,
}

/// Makes all `edits` of one call.
pub(super) fn apply(
    edits: &[Edit<'_>],
    event: &Event<'_>,
    shell: Option<&Parsed>,
    programs: &dyn Programs,
) -> Outcome {
    let command = event.command.as_deref().zip(shell);
    let mut outcome = Outcome::default();
    let mut splices = Vec::new();
    let mut fields: Vec<(String, Json<'static>)> = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        let Effect::Rewrite { replace_head, drop_args, add_args, set, .. } = &edit.rule.effect
        else {
            continue;
        };
        if let Some(head) = replace_head.as_ref().filter(|head| !programs.finds(head)) {
            outcome.held.push((edit.rule.id.clone(), Held::NotFound(head.clone())));
            continue;
        }
        let words = Words { replace_head: replace_head.as_deref(), drop_args, add_args };
        let before = splices.len();
        if !words.is_empty() {
            match command
                .map(|(text, parsed)| words.splice(text, parsed, &edit.segments, &mut splices))
            {
                Some(Ok(())) => {}
                Some(Err(held)) => {
                    outcome.held.push((edit.rule.id.clone(), held));
                    continue;
                }
                None => {
                    outcome.held.push((edit.rule.id.clone(), Held::NoPlace));
                    continue;
                }
            }
        }
        if splices.len() == before && set.is_empty() {
            // Nothing to drop: the call is as the rule wants it.
            continue;
        }
        let set: Option<Vec<_>> = set
            .iter()
            .map(|(name, value)| Some((native_name(event, name)?.to_owned(), value.clone())))
            .collect();
        let Some(set) = set else {
            splices.truncate(before);
            outcome.held.push((edit.rule.id.clone(), Held::NoPlace));
            continue;
        };
        fields.extend(set);
        outcome.made.push(index);
    }
    if let Some((text, _)) = command.filter(|_| !splices.is_empty()) {
        fields.insert(0, ("command".to_owned(), Json::string(spliced(text, splices))));
    }
    if !fields.is_empty() {
        outcome.input = Some(with_fields(&event.tool_input, fields));
    }
    outcome
}

/// The edits of words that one rule asks for.
struct Words<'a> {
    replace_head: Option<&'a str>,
    drop_args: &'a [String],
    add_args: &'a [String],
}

impl Words<'_> {
    fn is_empty(&self) -> bool {
        self.replace_head.is_none() && self.drop_args.is_empty() && self.add_args.is_empty()
    }

    /// Adds the splices for every segment that has its place in the text, if there is one.
    fn splice(
        &self,
        text: &str,
        parsed: &Parsed,
        segments: &[usize],
        splices: &mut Vec<Splice>,
    ) -> Result<(), Held> {
        let placed: Vec<(&Segment, &Spans)> = segments
            .iter()
            .filter_map(|index| parsed.segments.get(*index))
            .filter_map(|segment| segment.spans.as_ref().map(|spans| (segment, spans)))
            .collect();
        if placed.is_empty() {
            return Err(Held::NoPlace);
        }
        let taken = |spans: &Spans| splices.iter().any(|splice| splice.range == spans.head);
        if self.replace_head.is_some() && placed.iter().any(|(_, spans)| taken(spans)) {
            return Err(Held::Taken);
        }
        for (segment, spans) in placed {
            self.splice_segment(text, segment, spans, splices);
        }
        Ok(())
    }

    fn splice_segment(
        &self,
        text: &str,
        segment: &Segment,
        spans: &Spans,
        splices: &mut Vec<Splice>,
    ) {
        if let Some(new) = self.replace_head {
            splices.push(Splice { range: spans.head.clone(), text: quoted(new).into_owned() });
        }
        let options_end =
            segment.args.iter().position(|argument| argument == "--").unwrap_or(segment.args.len());
        let mut end = spans.head.end;
        for (argument, range) in segment.args.iter().zip(&spans.args).take(options_end) {
            let Some(range) = range else { continue };
            end = range.end;
            if self.drop_args.contains(argument) && !drops(splices, range) {
                let start = text
                    .get(..range.start)
                    .map_or(range.start, |before| before.trim_end_matches([' ', '\t']).len());
                splices.push(Splice { range: start..range.end, text: String::new() });
            }
        }
        let added: String = self
            .add_args
            .iter()
            .flat_map(|argument| [Cow::Borrowed(" "), quoted(argument)])
            .collect();
        if !added.is_empty() {
            splices.push(Splice { range: end..end, text: added });
        }
    }
}

/// Whether another rule already drops the argument at `range`.
fn drops(splices: &[Splice], range: &Range<usize>) -> bool {
    splices.iter().any(|splice| splice.range.end == range.end && splice.range.start < range.start)
}

/// The text with its splices made. Those at one place stay in the order of the rules.
fn spliced(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
    let mut result = String::with_capacity(text.len() + 64);
    let mut copied = 0;
    for splice in splices {
        result.push_str(text.get(copied..splice.range.start).unwrap_or_default());
        result.push_str(&splice.text);
        copied = splice.range.end.max(copied);
    }
    result.push_str(text.get(copied..).unwrap_or_default());
    result
}

/// A word as a shell must be given it (POSIX XCU 2.2.2): as it is where nothing in it is special.
fn quoted(word: &str) -> Cow<'_, str> {
    let plain = |character: char| character.is_alphanumeric() || "_-./:=@%+,".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
    }
}

/// The whole input with these fields replaced, or appended.
fn with_fields(input: &Json<'_>, fields: Vec<(String, Json<'static>)>) -> Json<'static> {
    let Json::Object(mut members) = input.clone().into_owned() else {
        return Json::object(fields);
    };
    for (name, value) in fields {
        match members.iter_mut().find(|(key, _)| *key == name) {
            Some((_, old)) => *old = value,
            None => members.push((Cow::Owned(name), value)),
        }
    }
    Json::Object(members)
}

/// What the tool itself calls a field that a rule names as Claude does. A patch has no field for its
/// files; and an argument that the tool takes no notice of must not draw the edit to itself.
fn native_name<'n>(event: &Event<'_>, name: &'n str) -> Option<&'n str> {
    let has = |key: &&str| event.tool_input.get(key).is_some();
    match name {
        "file_path" if event.tool_name != event.canonical_tool => {
            ["path", "filePath"].into_iter().find(has)
        }
        name => Some(name),
    }
}
