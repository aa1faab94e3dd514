//! Replaces a file, so that a crash at any moment leaves the old bytes or the new.
//!
//! Promises: one writer at a time; links, mode, owner and extended attributes kept; a file that
//! changed meanwhile is not overwritten; no lock or temporary file is left behind, and what a killed
//! run left is removed by the next. Never: writes in place.

use crate::json::SyntaxError;
use crate::sys;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// How long to wait for another installer.
const PATIENCE: Duration = Duration::from_secs(30);
/// As many links as Linux follows.
const MAX_LINKS: usize = 40;

/// A file that nobody else replaces as long as this lives.
pub(crate) struct Locked {
    /// The real file, links followed.
    target: PathBuf,
    lock: PathBuf,
    /// Closing it gives the lock back.
    _held: File,
}

impl Locked {
    /// Locks `path`, by a file beside its target; missing folders are made.
    pub(crate) fn new(path: &Path) -> Result<Self, String> {
        let target = target(path)?;
        let folder = target.parent().unwrap_or(Path::new("/"));
        // A link into a folder that is not there is an error; our own path is made.
        if path == target {
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|error| describe(folder, &error))?;
        }
        let lock = beside(&target, "lock");
        let held = acquire(&lock).map_err(|error| describe(&lock, &error))?;
        let locked = Self { target, lock, _held: held };
        // Under the lock nobody is writing it: a killed run has left it.
        match fs::remove_file(beside(&locked.target, "new")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(describe(&locked.target, &error))
            }
            _ => Ok(locked),
        }
    }

    /// The file's bytes; `None` when there is none.
    pub(crate) fn read(&self) -> Result<Option<Vec<u8>>, String> {
        read(&self.target)
    }

    /// Replaces `before` by `after` (`None`: no file). Gives a warning when it was done, but a power
    /// failure may still undo it.
    pub(crate) fn replace(
        &self,
        before: Option<&[u8]>,
        after: Option<&[u8]>,
    ) -> Result<Option<String>, String> {
        let temporary = beside(&self.target, "new");
        let done = self.write_and_rename(&temporary, before, after);
        if done.is_err() && after.is_some() {
            // Best effort: the next run removes it too.
            drop(fs::remove_file(&temporary));
        }
        done.map_err(|error| describe(&self.target, &error))?;
        let folder = self.target.parent().unwrap_or(Path::new("/"));
        let settled = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(settled.err().map(|error| {
            format!(
                "warning: {} was changed, but {}",
                self.target.display(),
                describe(folder, &error)
            )
        }))
    }

    fn write_and_rename(
        &self,
        temporary: &Path,
        before: Option<&[u8]>,
        after: Option<&[u8]>,
    ) -> io::Result<()> {
        if let Some(bytes) = after {
            let mut file =
                OpenOptions::new().write(true).create_new(true).mode(0o600).open(temporary)?;
            file.write_all(bytes)?;
            if before.is_some() {
                keep_attributes(&File::open(&self.target)?, &file)?;
            }
            file.sync_all()?;
        }
        let now = match fs::read(&self.target) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if now.as_deref() != before {
            return Err(io::Error::other(
                "it was changed by another program meanwhile; run this again",
            ));
        }
        if after.is_some() {
            fs::rename(temporary, &self.target)
        } else {
            fs::remove_file(&self.target)
        }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // While it is still held, so that nobody's later lock is removed. A failure leaves an empty
        // file that locks nobody out.
        drop(fs::remove_file(&self.lock));
    }
}

/// Removes what a killed run left beside `path`, if it did.
pub(crate) fn clean_up(path: &Path) -> Result<(), String> {
    let target = target(path)?;
    if ["lock", "new"].iter().any(|kind| beside(&target, kind).exists()) {
        drop(Locked::new(path)?);
    }
    Ok(())
}

/// The bytes of `path`; `None` when there is no such file.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, String> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        Err(error) => Err(describe(path, &error)),
    }
}

/// The text of a settings file, or the place where it is none.
pub(crate) fn text(path: &Path, bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let place = SyntaxError::at(error.as_bytes(), offset, "invalid UTF-8");
        format!("configuration {}: invalid JSON: {place}", path.display())
    })
}

/// An exclusive lock on a file that is still the one at `path` when the lock is had: its former
/// holder may have removed it in between.
fn acquire(path: &Path) -> io::Result<File> {
    let start = Instant::now();
    let mut nap = Duration::from_millis(1);
    loop {
        let file =
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
        match file.try_lock() {
            Ok(()) => {
                let held = file.metadata()?;
                if fs::metadata(path)
                    .is_ok_and(|there| (there.dev(), there.ino()) == (held.dev(), held.ino()))
                {
                    return Ok(file);
                }
            }
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if start.elapsed() > PATIENCE => {
                return Err(io::Error::other(
                    "another process holds this lock; run this again when it has ended",
                ));
            }
            Err(TryLockError::WouldBlock) => {
                thread::sleep(nap);
                nap = (nap * 2).min(Duration::from_millis(50));
            }
        }
    }
}

/// Owner, extended attributes, and the mode last, since a change of owner clears bits of it. The
/// owner stays ours where the system does not let us give files away.
fn keep_attributes(from: &File, to: &File) -> io::Result<()> {
    let old = from.metadata()?;
    match fchown(to, Some(old.uid()), Some(old.gid())) {
        Err(error) if error.kind() != io::ErrorKind::PermissionDenied => return Err(error),
        _ => {}
    }
    sys::copy_extended_attributes(from, to)?;
    to.set_permissions(fs::Permissions::from_mode(old.mode() & 0o7777))
}

/// Where `path` leads when every link is followed; the last part need not exist.
fn target(path: &Path) -> Result<PathBuf, String> {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(Path::new("/")).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(format!("{}: too many links", path.display()))
}

/// `.NAME.i-insist-KIND` in the same folder. The dot keeps it out of rule discovery.
fn beside(target: &Path, kind: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or(OsStr::new("file")));
    name.push(format!(".i-insist-{kind}"));
    target.with_file_name(name)
}

fn describe(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("i-insist-replace-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn names(folder: &Path) -> Vec<OsString> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn p08_links_and_mode_stay() {
        let folder = folder("links");
        fs::create_dir_all(folder.join("real")).unwrap();
        fs::write(folder.join("real/file"), "old").unwrap();
        fs::set_permissions(folder.join("real/file"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("real/file", folder.join("one")).unwrap();
        symlink("one", folder.join("two")).unwrap();
        let locked = Locked::new(&folder.join("two")).unwrap();
        assert_eq!(locked.replace(Some(b"old"), Some(b"new")), Ok(None));
        drop(locked);
        assert_eq!(fs::read(folder.join("real/file")).unwrap(), b"new");
        assert_eq!(fs::metadata(folder.join("two")).unwrap().mode() & 0o7777, 0o640);
        assert_eq!(fs::read_link(folder.join("two")).unwrap(), Path::new("one"));
        assert_eq!(names(&folder.join("real")), ["file"]);
        assert_eq!(names(&folder), ["one", "real", "two"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_link_to_nothing_makes_the_file_but_no_folder() {
        let folder = folder("dangling");
        symlink("absent", folder.join("link")).unwrap();
        symlink("no/such", folder.join("lost")).unwrap();
        assert_eq!(
            Locked::new(&folder.join("link")).unwrap().replace(None, Some(b"new")),
            Ok(None)
        );
        assert_eq!(fs::read(folder.join("absent")).unwrap(), b"new");
        assert!(Locked::new(&folder.join("lost")).is_err());
        assert_eq!(names(&folder), ["absent", "link", "lost"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn p25_a_file_changed_meanwhile_stays_and_litter_goes() {
        let folder = folder("changed");
        let file = folder.join("file");
        fs::write(&file, "theirs").unwrap();
        fs::write(beside(&file, "new"), "litter").unwrap();
        fs::write(beside(&file, "lock"), "").unwrap();
        let locked = Locked::new(&file).unwrap();
        assert!(
            locked
                .replace(Some(b"old"), Some(b"new"))
                .unwrap_err()
                .contains("changed by another program")
        );
        assert!(locked.replace(None, Some(b"new")).is_err());
        assert!(locked.replace(Some(b"old"), None).is_err());
        drop(locked);
        assert_eq!(fs::read(&file).unwrap(), b"theirs");
        assert_eq!(names(&folder), ["file"]);
        fs::remove_dir_all(folder).unwrap();
    }
}
