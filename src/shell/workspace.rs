//! Where a command runs and what its arguments point at, from the text alone.
//!
//! Never: touches the disk or follows a link.

use std::path::{Component, Path, PathBuf};

use super::parser::Command;
use super::words::{Word, concat};

/// Longest path that is tracked; a longer one no system call would take (`PATH_MAX`).
const MAX_PATH: usize = 4_096;

/// Longest sum of the paths that are kept while one text is read.
const MAX_PATHS: usize = 256 * 1_024;

/// A directory that a text moved to; `None` when it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Directory(Option<usize>);

/// The working directory while a text is read, moved by its `cd`s.
#[derive(Debug, Default)]
pub(super) struct Directories {
    home: Option<PathBuf>,
    paths: Vec<PathBuf>,
    bytes: usize,
    current: Directory,
    previous: Directory,
}

impl Directories {
    pub(super) fn new(start: Option<&Path>, home: Option<&Path>) -> Self {
        let mut directories = Self { home: home.map(Path::to_owned), ..Self::default() };
        directories.current = directories.keep(start.map(fold));
        directories
    }

    pub(super) fn current(&self) -> Directory {
        self.current
    }

    pub(super) fn set(&mut self, directory: Directory) {
        self.current = directory;
    }

    /// From here on nobody knows where commands run.
    pub(super) fn lose(&mut self) {
        self.current = Directory(None);
    }

    pub(super) fn path(&self, directory: Directory) -> Option<&Path> {
        self.paths.get(directory.0?).map(PathBuf::as_path)
    }

    fn keep(&mut self, path: Option<PathBuf>) -> Directory {
        let Some(path) = path else {
            return Directory(None);
        };
        let length = path.as_os_str().len();
        if length > MAX_PATH || self.bytes + length > MAX_PATHS {
            return Directory(None);
        }
        self.bytes += length;
        self.paths.push(path);
        Directory(Some(self.paths.len() - 1))
    }

    /// Moves as `cd`, `pushd` and `popd` do; each is taken to succeed.
    pub(super) fn after_command(&mut self, command: Option<&Command>) {
        let Some(command) = command else { return };
        let mut words = command
            .words
            .iter()
            .skip_while(|word| matches!(word.bare(), Some("builtin" | "command")));
        let Some(name) = words.next().and_then(Word::bare) else {
            return;
        };
        match name {
            "cd" | "chdir" | "pushd" => {}
            "popd" => return self.lose(),
            _ => return,
        }
        let mut operands = words.skip_while(|word| {
            word.bare().is_some_and(|text| text.len() > 1 && text.starts_with('-'))
        });
        let target = operands.next();
        let next = match target {
            None => self.keep(self.home.as_deref().map(fold)),
            Some(word) if !word.is_static() => Directory(None),
            Some(word) if word.bare() == Some("-") => self.previous,
            Some(word) => {
                let text = concat(&word.parts);
                let tilde = word.parts.first().is_some_and(|part| part.text.starts_with('~'))
                    && word.bare().is_some();
                let home = self.home.as_deref().filter(|_| tilde);
                let path = if tilde && home.is_none() {
                    None
                } else {
                    resolve(&text, self.path(self.current), home)
                };
                self.keep(path)
            }
        };
        self.previous = std::mem::replace(&mut self.current, next);
    }
}

/// `text` as an absolute path without `.` and `..`: `~` stands for `home` where one is given;
/// relative paths need `base`.
pub(super) fn resolve(text: &str, base: Option<&Path>, home: Option<&Path>) -> Option<PathBuf> {
    if text.len() > MAX_PATH {
        return None;
    }
    if let (Some(rest), Some(home)) = (text.strip_prefix('~'), home) {
        // `~user` lands nowhere: whose home it is stands on the disk.
        let rest = if rest.is_empty() { "" } else { rest.strip_prefix('/')? };
        return Some(fold(&home.join(rest.trim_start_matches('/'))));
    }
    let path = Path::new(text);
    if path.is_absolute() { Some(fold(path)) } else { Some(fold(&base?.join(path))) }
}

/// Takes out `.` and `..` by their text, never above the root.
fn fold(path: &Path) -> PathBuf {
    let mut folded = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                folded.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                folded.push(component);
            }
        }
    }
    folded
}

/// True when an argument has the shape of a path that says where, not what: the signs of
/// patterns, URLs, options and running text are none.
fn path_shaped(argument: &str) -> bool {
    let names =
        argument == "." || argument == ".." || argument.starts_with('~') || argument.contains('/');
    let searches =
        argument.contains(['*', '?', '[', ']', '(', ')', '|', '^', '$', '\\', ' ', '\t', '\n']);
    names && !searches && !argument.starts_with('-') && !argument.contains("://")
}

/// Programs whose first operand is what they look for.
const SEARCHES: &[&str] =
    &["ack", "ack-grep", "ag", "egrep", "fgrep", "grep", "rg", "ugrep", "zgrep"];

/// What `in_workspace` is judged by.
pub(super) struct Place<'a> {
    /// Where the command runs.
    pub(super) directory: Option<&'a Path>,
    /// The session's directory.
    pub(super) workspace: &'a Path,
    pub(super) home: Option<&'a Path>,
}

/// True when some path argument of `head args` lands in the workspace or, without such an
/// argument, the command runs there; `None` when that is not known.
pub(super) fn in_workspace(head: &str, args: &[String], place: &Place<'_>) -> Option<bool> {
    let expression = args.iter().any(|arg| {
        arg.starts_with("-e")
            || arg.starts_with("-f")
            || arg.starts_with("--regexp")
            || arg.starts_with("--file")
    });
    let pattern = if SEARCHES.contains(&head) && !expression {
        args.iter().position(|arg| !arg.starts_with('-'))
    } else {
        None
    };
    let workspace = fold(place.workspace);
    let (mut any, mut unknown) = (false, false);
    for (index, arg) in args.iter().enumerate() {
        let text = home_spelled(arg);
        if Some(index) == pattern || !path_shaped(&text) {
            continue;
        }
        any = true;
        let home = text.starts_with('~').then_some(place.home).flatten();
        match resolve(&text, place.directory, home) {
            Some(path) if path.starts_with(&workspace) => return Some(true),
            Some(_) => {}
            None => unknown |= !text.starts_with('~'),
        }
    }
    if any {
        return if unknown { None } else { Some(false) };
    }
    place.directory.map(|directory| directory.starts_with(&workspace))
}

/// `$HOME/x` and `${HOME}/x` as `~/x`.
fn home_spelled(arg: &str) -> String {
    let rest = arg.strip_prefix("$HOME").or_else(|| arg.strip_prefix("${HOME}"));
    match rest {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
        _ => arg.to_owned(),
    }
}
