//! Edits settings text: puts our registrations in and takes them out, as splices.
//!
//! Promises: every byte that is not ours stays; taking out what was put in gives back the text,
//! given the [`Former`] layouts that putting in has returned; putting in twice changes nothing.
//! Never: touches the disk, re-orders or re-formats, changes a text it cannot read.

use super::document::{Document, Group, Refusal, Style, mine};
use super::recognise::Owner;
use crate::json::Json;
use crate::spans::{self, Child, Span};
use std::collections::BTreeMap;

/// The byte order mark; a text that starts with it keeps it.
const MARK: &str = "\u{FEFF}";

/// What stood where we put a container: by its path (empty for the whole, `hooks`, `hooks.EVENT`) the
/// text of an empty container or `null`. What is not listed was not there.
pub(crate) type Former = BTreeMap<String, String>;

/// In [`Former`]: there was no file. No settings path has this name.
pub(crate) const NO_FILE: &str = "file";

/// One registration: the settings' name of an event, and the handler that belongs there.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) event: &'static str,
    pub(crate) handler: Json<'static>,
}

/// Puts `entries` into `text` (`None`: there is no file), behind what is there. Ours that are right
/// keep their bytes, outdated ones are replaced where they stand, further ones go.
pub(crate) fn install(
    text: Option<&str>,
    comments: bool,
    entries: &[Entry],
    owner: &Owner,
    former: &mut Former,
) -> Result<String, Refusal> {
    let Some(text) = text else {
        former.clear();
        former.insert(NO_FILE.into(), "null".into());
        let whole = Json::object([("hooks", hooks_object(entries))]);
        return Ok(Style { newline: "\n", unit: "  ".into() }.render(&whole, Some("")) + "\n");
    };
    let (mark, body) = split_mark(text);
    let document = Document::read(body, comments)?;
    let mut edits = Edits::default();
    document.install(entries, owner, former, &mut edits)?;
    Ok(mark.to_owned() + &edits.apply(body))
}

/// Takes everything of ours out of `text`; `None` when then the file should not be there either.
pub(crate) fn uninstall(
    text: &str,
    comments: bool,
    owner: &Owner,
    former: &Former,
) -> Result<Option<String>, Refusal> {
    let (mark, body) = split_mark(text);
    let document = Document::read(body, comments)?;
    let mut edits = Edits::default();
    Ok(document.uninstall(owner, former, &mut edits)?.then(|| mark.to_owned() + &edits.apply(body)))
}

/// A settings text that was read, to be looked at.
pub(crate) struct Settings<'t>(Document<'t>);

impl<'t> Settings<'t> {
    /// Reads it as [`install`] does.
    pub(crate) fn read(text: &'t str, comments: bool) -> Result<Self, Refusal> {
        Document::read(split_mark(text).1, comments).map(Self)
    }

    /// The whole.
    pub(crate) fn value(&self) -> Json<'_> {
        self.0.value(&self.0.root)
    }

    /// Where ours stand: event, group, handler.
    pub(crate) fn places(&self, owner: &Owner) -> Vec<(String, usize, usize)> {
        let document = &self.0;
        let hooks = document.members.iter().filter(|member| document.key(member) == "hooks");
        let mut places = Vec::new();
        for event in hooks.flat_map(|hooks| spans::children(&document.plain, &hooks.value)) {
            for (at, group) in document.groups(&document.items(&event), owner).iter().enumerate() {
                places.extend(mine(group).map(|(handler, _)| (document.key(&event), at, handler)));
            }
        }
        places
    }
}

fn split_mark(text: &str) -> (&str, &str) {
    text.strip_prefix(MARK).map_or(("", text), |body| (MARK, body))
}

fn group(entry: &Entry) -> Json<'static> {
    Json::object([("hooks", Json::Array(vec![entry.handler.clone()]))])
}

fn hooks_object(entries: &[Entry]) -> Json<'static> {
    Json::object(entries.iter().map(|entry| (entry.event, Json::Array(vec![group(entry)]))))
}

/// Splices that do not overlap, in any order.
#[derive(Default)]
struct Edits(Vec<(Span, String)>);

impl Edits {
    fn put(&mut self, place: Span, text: impl Into<String>) {
        self.0.push((place, text.into()));
    }

    fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(place, _)| (place.start, place.end));
        let mut result = String::with_capacity(
            text.len() + self.0.iter().map(|(_, new)| new.len()).sum::<usize>(),
        );
        let mut copied = 0;
        for (place, new) in &self.0 {
            result.push_str(text.get(copied..place.start).unwrap_or_default());
            result.push_str(new);
            copied = place.end;
        }
        result.push_str(text.get(copied..).unwrap_or_default());
        result
    }
}

impl Document<'_> {
    fn install(
        &self,
        entries: &[Entry],
        owner: &Owner,
        former: &mut Former,
        edits: &mut Edits,
    ) -> Result<(), Refusal> {
        let Some(hooks) = self.member(&self.members, "hooks", "hooks")? else {
            former.clear();
            let whole = [("hooks", hooks_object(entries))];
            self.add_members(
                &self.root,
                &self.members,
                "",
                self.indent.as_deref(),
                &whole,
                former,
                edits,
            );
            return Ok(());
        };
        let events = self.container(hooks, "hooks", b'{')?;
        if events.is_empty() {
            self.replace_blank(
                hooks,
                "hooks",
                self.indent.as_deref(),
                &hooks_object(entries),
                former,
                edits,
            );
            return Ok(());
        }
        let indent = self.indent_of(&events);
        let mut missing = Vec::new();
        for entry in entries {
            let path = format!("hooks.{}", entry.event);
            match self.member(&events, entry.event, &path)? {
                None => {
                    former.remove(&path);
                    missing.push((entry.event, Json::Array(vec![group(entry)])));
                }
                Some(array) => self.install_event(
                    array,
                    &path,
                    indent.as_deref(),
                    entry,
                    owner,
                    former,
                    edits,
                )?,
            }
        }
        // Ours under events that we no longer register.
        for event in &events {
            let name = self.key(event);
            if !entries.iter().any(|entry| entry.event == name) {
                let groups = self.items(event);
                self.remove_ours(&groups, &self.groups(&groups, owner), None, edits);
            }
        }
        if !missing.is_empty() {
            self.add_members(
                &hooks.value,
                &events,
                "hooks",
                indent.as_deref(),
                &missing,
                former,
                edits,
            );
        }
        Ok(())
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the place in the text, what belongs there, what comes out"
    )]
    fn install_event(
        &self,
        array: &Child,
        path: &str,
        indent: Option<&str>,
        entry: &Entry,
        owner: &Owner,
        former: &mut Former,
        edits: &mut Edits,
    ) -> Result<(), Refusal> {
        let groups = self.container(array, path, b'[')?;
        let new = group(entry);
        let Some(last) = groups.last() else {
            self.replace_blank(array, path, indent, &Json::Array(vec![new]), former, edits);
            return Ok(());
        };
        let read = self.groups(&groups, owner);
        let ours = || {
            let within = |(at, group): (usize, _)| {
                mine(group).map(move |(index, handler)| (at, index, group, handler))
            };
            read.iter().enumerate().flat_map(within)
        };
        let exact = ours().find(|(_, _, group, handler): &(_, _, &Group, &Child)| {
            group.open && owner.is_exact(&self.value(&handler.value), &entry.handler)
        });
        let replaced = ours().find(|(_, _, group, _)| group.open || !group.mine.contains(&false));
        let kept = match (exact, replaced) {
            (Some((at, index, ..)), _) => Some((at, Some(index))),
            (None, Some((at, index, group, handler))) if group.open => {
                // The handler alone: what else stands in its group stays.
                let indent = self.line_indent(handler.start());
                edits.put(
                    handler.value.clone(),
                    self.style.render(&entry.handler, indent.as_deref()),
                );
                Some((at, Some(index)))
            }
            (None, Some((at, _, group, _))) => {
                let indent = self.line_indent(group.span.start);
                edits.put(group.span.clone(), self.style.render(&new, indent.as_deref()));
                Some((at, None))
            }
            (None, None) => {
                let indent = self.indent_of(&groups);
                let (gap, indent) = self.gap(&groups, indent.as_deref());
                edits.put(
                    last.end()..last.end(),
                    format!(",{gap}{}", self.style.render(&new, indent)),
                );
                None
            }
        };
        self.remove_ours(&groups, &read, kept, edits);
        Ok(())
    }

    /// Whether the file stays.
    fn uninstall(
        &self,
        owner: &Owner,
        former: &Former,
        edits: &mut Edits,
    ) -> Result<bool, Refusal> {
        let Some(hooks) = self.member(&self.members, "hooks", "hooks")? else {
            return Ok(true);
        };
        let events = self.container(hooks, "hooks", b'{')?;
        let mut within = Edits::default();
        let mut gone = vec![false; events.len()];
        for (event, gone) in events.iter().zip(&mut gone) {
            let groups = self.items(event);
            let mut inside = Edits::default();
            let emptied =
                self.remove_ours(&groups, &self.groups(&groups, owner), None, &mut inside);
            match self.former(former, &format!("hooks.{}", self.key(event))) {
                _ if !emptied => within.0.append(&mut inside.0),
                Some(text) => within.put(event.value.clone(), text),
                None => *gone = true,
            }
        }
        if gone.is_empty() || gone.contains(&false) {
            self.remove(&events, &gone, &mut within);
            edits.0.append(&mut within.0);
        } else if let Some(text) = self.former(former, "hooks") {
            edits.put(hooks.value.clone(), text);
        } else if self.members.len() > 1 {
            let gone: Vec<bool> =
                self.members.iter().map(|member| member.start() == hooks.start()).collect();
            self.remove(&self.members, &gone, edits);
        } else if former.contains_key(NO_FILE) {
            return Ok(false);
        } else {
            edits.put(self.root.clone(), self.former(former, "").unwrap_or("{}"));
        }
        Ok(true)
    }

    /// The recorded text, if it is what it may be: a container with nothing in it, or `null`.
    fn former<'f>(&self, former: &'f Former, path: &str) -> Option<&'f str> {
        let text = former.get(path)?;
        let plain = if self.comments { spans::without_comments(text) } else { text.clone() };
        let blank = match Json::parse(&plain) {
            Ok(Json::Array(items)) => items.is_empty(),
            Ok(Json::Object(entries)) => entries.is_empty(),
            Ok(Json::Null) => !path.is_empty(),
            _ => false,
        };
        blank.then_some(text)
    }

    /// Takes out ours except `kept` (a group and a handler of it, or the group whole); groups that
    /// hold nothing else go whole. Whether all groups went.
    fn remove_ours(
        &self,
        children: &[Child],
        groups: &[Group],
        kept: Option<(usize, Option<usize>)>,
        edits: &mut Edits,
    ) -> bool {
        let mut gone = Vec::with_capacity(groups.len());
        for (at, group) in groups.iter().enumerate() {
            let mut mine = group.mine.clone();
            match kept {
                Some((kept, None)) if kept == at => mine.fill(false),
                Some((kept, Some(handler))) if kept == at => {
                    mine.iter_mut().skip(handler).take(1).for_each(|it| *it = false);
                }
                _ => {}
            }
            let whole = !mine.is_empty() && !mine.contains(&false);
            if !whole {
                self.remove(&group.handlers, &mine, edits);
            }
            gone.push(whole);
        }
        self.remove(children, &gone, edits);
        !gone.is_empty() && !gone.contains(&false)
    }

    /// Takes out the children marked in `gone`, each with the comma that no longer separates.
    fn remove(&self, children: &[Child], gone: &[bool], edits: &mut Edits) {
        let leading = gone.iter().take_while(|gone| **gone).count();
        for (index, (child, _)) in
            children.iter().zip(gone).enumerate().filter(|(_, (_, gone))| **gone)
        {
            if index < leading {
                edits.put(child.start()..child.end(), "");
                if let Some(comma) = child.comma {
                    edits.put(comma..spans::blanks_end(self.text, comma + 1), "");
                }
            } else {
                let before = index
                    .checked_sub(1)
                    .and_then(|index| children.get(index))
                    .and_then(|child| child.comma);
                let start = spans::blanks_start(self.text, child.start());
                if let Some(comma) = before {
                    edits.put(comma..comma + 1, "");
                }
                edits.put(start.max(before.map_or(0, |comma| comma + 1))..child.end(), "");
            }
        }
    }

    /// Adds members behind those of an object.
    #[expect(
        clippy::too_many_arguments,
        reason = "the place in the text, what belongs there, what comes out"
    )]
    fn add_members(
        &self,
        object: &Span,
        children: &[Child],
        path: &str,
        indent: Option<&str>,
        members: &[(&str, Json)],
        former: &mut Former,
        edits: &mut Edits,
    ) {
        let Some(last) = children.last() else {
            let whole = Json::object(members.iter().map(|(key, value)| (*key, value.clone())));
            let child = Child { key: None, value: object.clone(), comma: None };
            return self.replace_blank(&child, path, Some(""), &whole, former, edits);
        };
        let (gap, indent) = self.gap(children, indent);
        let colon = if indent.is_some() { ": " } else { ":" };
        let text: Vec<String> = members
            .iter()
            .map(|(key, value)| {
                format!(",{gap}\"{key}\"{colon}{}", self.style.render(value, indent))
            })
            .collect();
        edits.put(last.end()..last.end(), text.concat());
    }

    /// Puts `new` where an empty container or `null` stands, and notes what stood there. Comments
    /// inside it stay.
    fn replace_blank(
        &self,
        child: &Child,
        path: &str,
        indent: Option<&str>,
        new: &Json,
        former: &mut Former,
        edits: &mut Edits,
    ) {
        let old = self.slice(&child.value);
        former.insert(path.to_owned(), old.to_owned());
        let inside = old.get(1..old.len() - 1).unwrap_or_default().trim_end();
        let text = if inside.is_empty() || old == "null" {
            self.style.render(new, indent)
        } else {
            let mut text = self.style.render(new, Some(indent.unwrap_or_default()));
            text.insert_str(1, inside);
            text
        };
        edits.put(child.value.clone(), text);
    }
}
