//! Spellings of a path to the one physical path.
//!
//! Promises: the result is absolute, has no `.`, `..` or doubled slash, and no symlink as far as it
//! exists; ends on link loops and on paths of any length. Never: fails, or changes the disk.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// How many links one path may pass through (`path_resolution(7)`: 40, then ELOOP).
const MAX_LINKS: u32 = 40;
/// The longest path the kernel takes (limits.h); longer ones are not looked up.
const MAX_LENGTH: usize = 4096;

/// The physical path that `text` means for a process in `cwd`, which is absolute.
pub(crate) fn resolve(text: &str, cwd: &Path, home: &Path) -> PathBuf {
    physical(&cwd.join(expand_tilde(text, home)))
}

/// What `text` means for a program that folds `..` before it looks at the disk; `None` where that
/// is what [`resolve`] found.
pub(crate) fn other_reading(text: &str, cwd: &Path, home: &Path) -> Option<PathBuf> {
    folded(&cwd.join(expand_tilde(text, home)))
}

/// The physical path of `path`, which is absolute, after its `..` are folded, as Node's `path.resolve`
/// does; `None` where [`physical`] finds the same. They differ where a link stands before `..`, and
/// which of the two a client means is its own affair.
pub(crate) fn folded(path: &Path) -> Option<PathBuf> {
    if !path.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let mut folded = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            folded.pop();
        } else {
            folded.push(part);
        }
    }
    Some(physical(&folded)).filter(|other| *other != physical(path))
}

/// Replaces a leading `~` or `~user` (POSIX XCU 2.6.1); an unknown user stays literal.
pub(crate) fn expand_tilde<'t>(text: &'t str, home: &Path) -> Cow<'t, Path> {
    let Some(behind) = text.strip_prefix('~') else {
        return Cow::Borrowed(Path::new(text));
    };
    let (user, rest) = behind.split_once('/').unwrap_or((behind, ""));
    let directory = if user.is_empty() {
        Some(home.to_owned())
    } else {
        // The file, not the C library: that may load foreign code, or ask a server.
        fs::read("/etc/passwd")
            .ok()
            .and_then(|bytes| home_of(user, &String::from_utf8_lossy(&bytes)))
    };
    match directory {
        // A second slash must not make the rest absolute.
        Some(directory) => Cow::Owned(directory.join(rest.trim_start_matches('/'))),
        None => Cow::Borrowed(Path::new(text)),
    }
}

/// The home directory of `user`: the sixth field of its line (passwd(5)).
pub(super) fn home_of(user: &str, passwd: &str) -> Option<PathBuf> {
    passwd
        .lines()
        .map(|line| line.split(':'))
        .find_map(|mut fields| (fields.next() == Some(user)).then(|| fields.nth(4))?)
        .map(PathBuf::from)
        .filter(|home| home.is_absolute())
}

/// Resolves symlinks as far as `path`, which is absolute, exists; folds `.` and `..`.
///
/// A `..` behind a name that does not exist takes that name back, as programs do that clean a path
/// before they open it; what follows is looked up again.
pub(crate) fn physical(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::from("/");
    let mut rest = Vec::new();
    let mut links = 0;
    put_before(&mut rest, path);
    while let Some(name) = rest.pop() {
        if name == ".." {
            resolved.pop();
            continue;
        }
        resolved.push(&name);
        if links == MAX_LINKS || resolved.as_os_str().len() > MAX_LENGTH {
            continue;
        }
        if let Ok(target) = fs::read_link(&resolved) {
            links += 1;
            if target.is_absolute() {
                resolved = PathBuf::from("/");
            } else {
                resolved.pop();
            }
            put_before(&mut rest, &target);
        }
    }
    resolved
}

/// Puts the names of `path` on top of `rest`, the first one uppermost.
fn put_before(rest: &mut Vec<OsString>, path: &Path) {
    rest.extend(path.components().rev().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    }));
}
