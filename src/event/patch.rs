//! The `*** Begin Patch` format: which files a patch touches, and the lines it adds.
//!
//! ```text
//! *** Begin Patch
//! *** Add File: PATH          then lines `+text`
//! *** Delete File: PATH
//! *** Update File: PATH       then perhaps `*** Move to: PATH`, then ` text`, `-text`, `+text`, `@@`
//! *** End Patch
//! ```
//!
//! Promises: names every file that the patch would touch; linear in the text.
//! Never: reads the files. The frame and the hunks are not checked: who applies the patch does that,
//! and what it refuses does no harm. Some readers take a header that is indented, so we do.

use super::fields::usable;
use super::{Change, InputError, Operation, paths};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

const ADD: &str = "*** Add File:";
const UPDATE: &str = "*** Update File:";
const DELETE: &str = "*** Delete File:";
const MOVE: &str = "*** Move to:";

const NO_TARGET: &str = "the patch names no file";
const NO_MOVE_SOURCE: &str = "the patch has a `*** Move to:` that is not behind `*** Update File:`";

/// The changes that `text` makes, with paths as they are meant in `cwd`.
///
/// An update that moves its file deletes the old path and writes the new one. A path that can be
/// read in two ways gives a change more, behind all others.
pub(crate) fn parse<'a>(
    text: &'a str,
    cwd: &Path,
    home: &Path,
) -> Result<Vec<Change<'a>>, InputError> {
    let mut changes: Vec<Change<'a>> = Vec::new();
    // How many lines of text the last change has got; none yet tells it from one empty line.
    let mut added = 0_usize;
    // A move belongs to the update header right before it.
    let mut movable = false;
    let mut others: Vec<(usize, PathBuf)> = Vec::new();
    let mut note_other = |at: usize, path: &str| {
        let other = paths::other_reading(behind_marker(path), cwd, home);
        others.extend(other.map(|other| (at, other)));
    };
    for line in text.lines() {
        let header = line.trim();
        if let Some((operation, path)) = file_header(header) {
            note_other(changes.len(), path);
            changes.push(change(operation, path, cwd, home)?);
            (added, movable) = (0, operation == Operation::Edit);
            continue;
        }
        if let Some(path) = header.strip_prefix(MOVE) {
            match changes.last_mut() {
                Some(update) if movable => update.operation = Operation::Delete,
                // Indented, it is a line of context.
                Some(_) if line.starts_with(' ') => continue,
                _ => return Err(InputError::new(NO_MOVE_SOURCE)),
            }
            note_other(changes.len(), path);
            changes.push(change(Operation::Write, path, cwd, home)?);
        } else if let Some(text) = line.strip_prefix('+')
            && let Some(change) = changes.last_mut()
            && change.operation != Operation::Delete
        {
            add_line(change, text, added);
            added += 1;
        }
        movable = false;
    }
    if changes.is_empty() {
        return Err(InputError::new(NO_TARGET));
    }
    for (at, path) in others {
        let read_otherwise = changes.get(at).cloned();
        changes.extend(read_otherwise.map(|change| Change { path, ..change }));
    }
    Ok(changes)
}

/// What a header says, and about which path.
fn file_header(line: &str) -> Option<(Operation, &str)> {
    [(ADD, Operation::Write), (UPDATE, Operation::Edit), (DELETE, Operation::Delete)]
        .into_iter()
        .find_map(|(marker, operation)| Some((operation, line.strip_prefix(marker)?)))
}

/// One blank belongs to the marker, further ones to the name.
fn behind_marker(path: &str) -> &str {
    path.strip_prefix(' ').unwrap_or(path)
}

fn change<'a>(
    operation: Operation,
    path: &str,
    cwd: &Path,
    home: &Path,
) -> Result<Change<'a>, InputError> {
    let path = usable(behind_marker(path), "a path in the patch")?;
    Ok(Change { path: paths::resolve(path, cwd, home), operation, content: Cow::Borrowed("") })
}

/// Joins one more added line to a change that has `before` of them.
fn add_line<'a>(change: &mut Change<'a>, line: &'a str, before: usize) {
    if before == 0 {
        change.content = Cow::Borrowed(line);
    } else {
        let content = change.content.to_mut();
        content.push('\n');
        content.push_str(line);
    }
}
