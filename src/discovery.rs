#![doc = include_str!("manual/03-discovery.md")]
//!
//! Promises: each directory is read once, by its physical path; what cannot be read is a fault, not
//! an absence. Never: looks below a rule directory, into shell text, or at a file's content.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Whose word a rule file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The machine's or the person's own: may hold `[settings]`.
    Person,
    /// A directory or repository the agent works in.
    Place,
}

/// One rule file, read.
#[derive(Clone, Debug)]
pub(crate) struct RuleFile {
    /// Where its name was found: the physical directory and the name.
    pub(crate) path: PathBuf,
    /// The physical directory its name was found in; checkers run there.
    pub(crate) directory: PathBuf,
    /// Whose word it is.
    pub(crate) scope: Scope,
    /// Its bytes.
    pub(crate) text: Vec<u8>,
}

/// A rule directory or file that is there and cannot be read.
#[derive(Debug)]
pub(crate) struct Fault {
    /// What could not be read.
    pub(crate) path: PathBuf,
    /// Why, and how to mend it.
    pub(crate) cause: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "configuration {}: {}", self.path.display(), self.cause)
    }
}

/// Finds and reads the guard files that hold for an operation in `cwd` on `targets`: those of the
/// `general` directories, then of `.i-insist` in the ancestors of `cwd` outermost first, then of
/// each target's ancestors in turn. `cwd` and `targets` are physical.
///
/// # Errors
/// Every directory and file that could not be read, not the first alone.
pub(crate) fn guard_files(
    general: &[PathBuf],
    cwd: &Path,
    targets: &[PathBuf],
) -> Result<Vec<RuleFile>, Vec<Fault>> {
    let mut search = Search::default();
    for directory in general {
        search.read_directory(directory, Scope::Person);
    }
    for place in std::iter::once(cwd).chain(targets.iter().map(PathBuf::as_path)) {
        let ancestors: Vec<&Path> = place.ancestors().collect();
        for ancestor in ancestors.into_iter().rev() {
            search.read_ancestor(ancestor);
        }
    }
    if search.faults.is_empty() { Ok(search.files) } else { Err(search.faults) }
}

/// Finds and reads the guard files of the `general` directories alone.
///
/// # Errors
/// Every directory and file that could not be read.
pub(crate) fn general_files(general: &[PathBuf]) -> Result<Vec<RuleFile>, Vec<Fault>> {
    let mut search = Search::default();
    for directory in general {
        search.read_directory(directory, Scope::Person);
    }
    if search.faults.is_empty() { Ok(search.files) } else { Err(search.faults) }
}

/// Finds steer's files: the person's, then the nearest `.steer.toml` from `directory` upwards. A
/// directory of that name is passed over.
pub(crate) fn steer_files(config_home: &Path, directory: &Path) -> Vec<Result<RuleFile, Fault>> {
    let own = config_home.join("steer/config.toml");
    let nearest = directory.ancestors().map(|ancestor| ancestor.join(".steer.toml"));
    let nearest =
        nearest.into_iter().find(|path| path.symlink_metadata().is_ok() && !path.is_dir());
    let present = Some(own).filter(|path| path.symlink_metadata().is_ok());
    let read = |path: PathBuf, scope| {
        let mut search = Search::default();
        let directory = path.parent().unwrap_or(&path).to_owned();
        search.read_file(path.clone(), &directory, scope);
        let found = search.files.pop().ok_or_else(|| search.faults.pop());
        found.map_err(|fault| {
            let cause = "is not a file; mend or remove it".to_owned();
            fault.unwrap_or(Fault { path, cause })
        })
    };
    let own = present.map(|path| read(path, Scope::Person));
    let nearest = nearest.map(|path| read(path, Scope::Place));
    own.into_iter().chain(nearest).collect()
}

/// The root of the repository that holds `directory`: the nearest ancestor with a `.git`, which is a
/// file in worktrees and submodules.
pub(crate) fn repository_root(directory: &Path) -> Option<&Path> {
    directory.ancestors().find(|ancestor| ancestor.join(".git").symlink_metadata().is_ok())
}

/// Finds pi-hooks' file for an operation in `cwd`: that of its repository, or of `cwd` itself outside
/// of any. The first name that is there counts.
pub(crate) fn pi_hooks_file(cwd: &Path) -> Option<Result<RuleFile, Fault>> {
    let root = repository_root(cwd).unwrap_or(cwd);
    for name in PI_HOOKS_NAMES {
        let path = root.join(name);
        let directory = path.parent().unwrap_or(&path).to_owned();
        let mut search = Search::default();
        match path.symlink_metadata() {
            Ok(_) => search.read_file(path, &directory, Scope::Place),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => search.fault(&path, &error),
        }
        let found = search.files.pop().map(Ok);
        let found = found.or_else(|| search.faults.pop().map(Err));
        if found.is_some() {
            return found;
        }
    }
    None
}

/// pi-hooks' names, the first that is there counts.
const PI_HOOKS_NAMES: [&str; 2] = [".pi/pi-hooks.json", ".pi-hooks.json"];

#[derive(Default)]
struct Search<'a> {
    ancestors_seen: BTreeSet<&'a OsStr>,
    directories_seen: BTreeSet<PathBuf>,
    files: Vec<RuleFile>,
    faults: Vec<Fault>,
}

impl<'a> Search<'a> {
    /// Sibling targets share their ancestors: each is asked for once.
    fn read_ancestor(&mut self, ancestor: &'a Path) {
        if self.ancestors_seen.insert(ancestor.as_os_str()) {
            self.read_directory(&ancestor.join(".i-insist"), Scope::Place);
        }
    }

    fn read_directory(&mut self, directory: &Path, scope: Scope) {
        let found = match fs::symlink_metadata(directory) {
            Ok(found) => found,
            // Nothing of the name, or a file target, below which nothing can lie.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return;
            }
            Err(error) => return self.fault(directory, &error),
        };
        // In a place, the way here is physical already. A link that leads nowhere is a rule directory
        // that went missing.
        let physical = match scope {
            Scope::Place if found.is_dir() => directory.to_owned(),
            Scope::Place | Scope::Person => match fs::canonicalize(directory) {
                Ok(physical) => physical,
                Err(error) => return self.fault(directory, &error),
            },
        };
        if !self.directories_seen.insert(physical.clone()) {
            return;
        }
        let names = match toml_names(&physical) {
            Ok(names) => names,
            Err(error) => return self.fault(directory, &error),
        };
        for name in names {
            self.read_file(physical.join(name), &physical, scope);
        }
    }

    fn read_file(&mut self, path: PathBuf, directory: &Path, scope: Scope) {
        let text = match fs::metadata(&path) {
            Ok(metadata) if !metadata.is_file() => return,
            Ok(_) => fs::read(&path),
            Err(error) => Err(error),
        };
        match text {
            Ok(text) => {
                self.files.push(RuleFile { path, directory: directory.to_owned(), scope, text });
            }
            Err(error) => self.fault(&path, &error),
        }
    }

    /// Notes a fault, once: the home directory is often an ancestor too.
    fn fault(&mut self, path: &Path, error: &io::Error) {
        if self.faults.iter().any(|known| known.path == path) {
            return;
        }
        let cause = if error.kind() == ErrorKind::NotFound && path.is_symlink() {
            "is a link that leads nowhere; mend or remove it".to_owned()
        } else if error.kind() == ErrorKind::NotADirectory {
            "is not a directory; rule files (*.toml) belong in a directory of this name".to_owned()
        } else {
            format!("cannot be read ({error}); make it readable or remove it")
        };
        self.faults.push(Fault { path: path.to_owned(), cause });
    }
}

/// The names of a directory that end in `.toml` and do not start with a dot, in the order of their bytes.
fn toml_names(directory: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        if name.as_bytes().ends_with(b".toml") && !name.as_bytes().starts_with(b".") {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}
