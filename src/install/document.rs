//! Reads settings text: its structure, and how it is laid out.
//!
//! Promises: what it hands out are places in a text that was found valid. Never: changes it.

use super::recognise::{Owner, matches_all};
use crate::json::{Json, SyntaxError};
use crate::spans::{self, Child, Span};
use std::fmt;

/// Why a text is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is no JSON.
    Syntax(SyntaxError),
    /// A container has another type than clients read there.
    Type { path: String, expected: &'static str, found: &'static str },
    /// A key that we would have to choose between.
    Twice { path: String },
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(error) => write!(out, "invalid JSON: {error}"),
            Self::Type { path, expected, found } => {
                write!(out, "{path} must be {expected}, found {found}")
            }
            Self::Twice { path } => write!(out, "`{path}` occurs twice; remove one of the two"),
        }
    }
}

/// How the file is laid out.
pub(super) struct Style {
    pub(super) newline: &'static str,
    pub(super) unit: String,
}

impl Style {
    /// `value` with a line for every item, its last line indented by `indent`; all on one line
    /// without it.
    pub(super) fn render(&self, value: &Json, indent: Option<&str>) -> String {
        let Some(indent) = indent else {
            return value.to_text();
        };
        let inner = format!("{indent}{}", self.unit);
        let inside = |item: &Json| self.render(item, Some(&inner));
        let (open, items, close): (_, Vec<String>, _) = if let Some(items) = value.as_array() {
            ("[", items.iter().map(inside).collect(), "]")
        } else if let Some(entries) = value.as_object() {
            // Our own keys need no escapes.
            (
                "{",
                entries.iter().map(|(key, item)| format!("\"{key}\": {}", inside(item))).collect(),
                "}",
            )
        } else {
            return value.to_text();
        };
        let between = format!(",{}{inner}", self.newline);
        format!("{open}{0}{inner}{1}{0}{indent}{close}", self.newline, items.join(&between))
    }
}

/// A settings text that was read and found valid.
pub(super) struct Document<'t> {
    /// As it is in the file.
    pub(super) text: &'t str,
    /// The same length, comments and trailing commas blanked: what is scanned.
    pub(super) plain: String,
    pub(super) comments: bool,
    pub(super) style: Style,
    pub(super) root: Span,
    /// The members of the root, and their indentation if they stand on lines of their own.
    pub(super) members: Vec<Child>,
    pub(super) indent: Option<String>,
}

impl<'t> Document<'t> {
    pub(super) fn read(text: &'t str, comments: bool) -> Result<Self, Refusal> {
        let plain = if comments { spans::without_comments(text) } else { text.to_owned() };
        let root = Json::parse(&plain).map_err(Refusal::Syntax)?;
        if root.as_object().is_none() {
            return Err(Refusal::Type {
                path: "the whole".into(),
                expected: "an object",
                found: root.kind_name(),
            });
        }
        drop(root);
        let root = spans::trimmed(&plain);
        let members = spans::children(&plain, &root);
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut document = Self {
            text,
            plain,
            comments,
            style: Style { newline, unit: "  ".into() },
            root,
            members,
            indent: None,
        };
        document.indent = document.indent_of(&document.members);
        match &document.indent {
            Some(indent) => document.style.unit.clone_from(indent),
            // An empty file has no layout to keep.
            None if document.members.is_empty() => {
                document.indent = Some(document.style.unit.clone());
            }
            None => {}
        }
        Ok(document)
    }

    /// What separates a new child from the last one, and its indentation: as the last one does it.
    pub(super) fn gap<'i>(
        &self,
        children: &[Child],
        indent: Option<&'i str>,
    ) -> (String, Option<&'i str>) {
        match (indent, children) {
            (Some(indent), _) => (format!("{}{indent}", self.style.newline), Some(indent)),
            (None, [.., before, last]) => {
                let start = spans::blanks_start(self.text, last.start());
                let blanks = self.slice(&(start.max(before.end())..last.start()));
                (if blanks.starts_with(' ') { " ".into() } else { String::new() }, None)
            }
            (None, _) => (String::new(), None),
        }
    }

    /// The indentation of the last child, if it starts a line.
    pub(super) fn indent_of(&self, children: &[Child]) -> Option<String> {
        self.line_indent(children.last()?.start())
    }

    /// The blanks before `at`, if nothing else stands before it on its line.
    pub(super) fn line_indent(&self, at: usize) -> Option<String> {
        let blanks = self.slice(&(spans::blanks_start(self.text, at)..at));
        blanks.rfind('\n').and_then(|newline| blanks.get(newline + 1..)).map(str::to_owned)
    }

    /// The groups of an event and what in them is ours. Groups of another form hold nothing of ours.
    pub(super) fn groups(&self, children: &[Child], owner: &Owner) -> Vec<Group> {
        let read = |child: &Child| {
            let members = spans::children(&self.plain, &child.value);
            let hooks = members.iter().rfind(|member| self.key(member) == "hooks");
            let handlers = hooks.map(|hooks| self.items(hooks)).unwrap_or_default();
            let matcher = members.iter().rfind(|member| self.key(member) == "matcher");
            Group {
                span: child.value.clone(),
                mine: handlers
                    .iter()
                    .map(|handler| owner.owns(&self.value(&handler.value)))
                    .collect(),
                handlers,
                open: matcher.is_none_or(|matcher| matches_all(&self.value(&matcher.value))),
            }
        };
        children.iter().map(read).collect()
    }

    /// The member `key`, if there is exactly one.
    pub(super) fn member<'c>(
        &self,
        members: &'c [Child],
        key: &str,
        path: &str,
    ) -> Result<Option<&'c Child>, Refusal> {
        let mut found = members.iter().filter(|member| self.key(member) == key);
        match (found.next(), found.next()) {
            (_, Some(_)) => Err(Refusal::Twice { path: path.to_owned() }),
            (member, None) => Ok(member),
        }
    }

    /// The children of a container; none for `null`, which clients read as nothing.
    pub(super) fn container(
        &self,
        child: &Child,
        path: &str,
        open: u8,
    ) -> Result<Vec<Child>, Refusal> {
        let first = self.plain.as_bytes().get(child.value.start).copied();
        if first == Some(open) || self.slice(&child.value) == "null" {
            return Ok(spans::children(&self.plain, &child.value));
        }
        let expected = if open == b'{' { "an object" } else { "an array" };
        Err(Refusal::Type {
            path: path.to_owned(),
            expected,
            found: self.value(&child.value).kind_name(),
        })
    }

    /// The items of an array; none of anything else.
    pub(super) fn items(&self, child: &Child) -> Vec<Child> {
        self.container(child, "", b'[').unwrap_or_default()
    }

    pub(super) fn key(&self, child: &Child) -> String {
        let key = child.key.as_ref().map(|key| self.value(key));
        key.as_ref().and_then(Json::as_str).unwrap_or_default().to_owned()
    }

    /// The value at a span that the scan has found; the whole was valid, so each part is.
    pub(super) fn value(&self, span: &Span) -> Json<'_> {
        Json::parse(self.plain.get(span.clone()).unwrap_or_default()).unwrap_or(Json::Null)
    }

    pub(super) fn slice(&self, span: &Span) -> &'t str {
        self.text.get(span.clone()).unwrap_or_default()
    }
}

/// One group of an event.
pub(super) struct Group {
    pub(super) span: Span,
    pub(super) handlers: Vec<Child>,
    /// Which handlers are ours.
    pub(super) mine: Vec<bool>,
    /// Whether it holds for every call.
    pub(super) open: bool,
}

/// The handlers of a group that are ours, with their places in it.
pub(super) fn mine(group: &Group) -> impl Iterator<Item = (usize, &Child)> {
    group
        .handlers
        .iter()
        .enumerate()
        .zip(&group.mine)
        .filter(|(_, mine)| **mine)
        .map(|(handler, _)| handler)
}
