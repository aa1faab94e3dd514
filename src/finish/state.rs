//! What finish checks remember of a session.
//!
//! Promises: sessions share nothing but what is known of files; a write replaces the whole or nothing; what cannot be read is
//! as good as absent, so checks run. Never: lies in the repository, can be named by a session's id.

use super::snapshot::{Digest, Snapshot};
use crate::json::Json;
use crate::sha256;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A session that was silent for so many days is forgotten.
const KEPT_DAYS: u64 = 60;

/// Digests of sets of files, by what names the set.
pub(super) type Digests = BTreeMap<String, String>;

/// Where one session's state is.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    folder: PathBuf,
    name: String,
}

/// What is remembered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// The session's directory when it started.
    pub(super) directory: Option<String>,
    /// The agent was told that a configuration is invalid.
    pub(super) told: bool,
    /// How often in a row the agent was sent back, for each configuration file.
    pub(super) sent_back: Vec<(String, u32)>,
    /// Of each check, by its key.
    pub(super) checks: Vec<(String, Memory)>,
}

/// What is remembered of one check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Memory {
    /// Its inputs when it ran last, or when the session started.
    pub(super) seen: Option<String>,
    /// Its inputs after the checks of that finish had run.
    pub(super) after: Option<String>,
    /// It ran last because of nothing but what checks had changed.
    pub(super) again: bool,
    /// It failed when it ran last.
    pub(super) failed: bool,
    /// Background tasks were running beside it.
    pub(super) unsettled: bool,
}

impl Store {
    /// The state of one session of one harness, below our cache directory.
    pub(crate) fn new(cache: &Path, harness: &str, session_id: &str) -> Self {
        let name = format!("{harness}\0{session_id}");
        Self { folder: cache.join("finish"), name: hex(&sha256::digest(name.as_bytes())) }
    }

    fn file(&self) -> PathBuf {
        self.folder.join(&self.name)
    }

    /// What is known of a repository's files says nothing of a session, so they all share it.
    fn table(&self, root: &Path) -> PathBuf {
        let name = hex(&sha256::digest(root.as_os_str().as_bytes()));
        self.folder.join(format!("{name}.files"))
    }

    /// What is remembered; nothing if there is nothing to be read.
    pub(super) fn read(&self) -> State {
        let text = fs::read_to_string(self.file()).unwrap_or_default();
        Json::parse(&text).map_or_else(|_| State::default(), |json| State::from_json(&json))
    }

    /// Remembers `state` instead of what was remembered.
    pub(super) fn write(&self, state: &State) -> io::Result<()> {
        self.replace(&self.file(), &[state.to_json().to_text().as_bytes()])
    }

    /// The repository's last snapshot, or an empty one, and the digests that were worked out of it. They stand in
    /// the first line of its file, so that they cannot be another's.
    pub(super) fn snapshot(&self, root: &Path) -> (Snapshot, Digests) {
        let mut table = fs::read(self.table(root)).unwrap_or_default();
        let end = table.iter().position(|byte| *byte == b'\n');
        let line = table.drain(..end.map_or(0, |end| end + 1)).as_slice().to_vec();
        let digests = Json::parse_bytes(&line).unwrap_or(Json::Null);
        let digests = digests.as_object().unwrap_or_default().iter();
        let digests = digests
            .filter_map(|(inputs, digest)| Some((inputs.to_string(), digest.as_str()?.to_owned())));
        (Snapshot::from_bytes(table), digests.collect())
    }

    /// A snapshot that cannot be stored costs the next one time, no more.
    pub(super) fn keep_snapshot(&self, root: &Path, snapshot: &Snapshot, digests: &Digests) {
        let digests =
            digests.iter().map(|(inputs, digest)| (inputs.as_str(), Json::string(digest.as_str())));
        let line = Json::object(digests).to_text() + "\n";
        drop(self.replace(&self.table(root), &[line.as_bytes(), snapshot.as_bytes()]));
    }

    /// Forgets the session.
    pub(super) fn forget(&self) {
        drop(fs::remove_file(self.file()));
    }

    /// Removes what sessions have left that ended long ago.
    pub(super) fn clean_up(&self) {
        let kept = Duration::from_secs(KEPT_DAYS * 24 * 3600);
        let old = SystemTime::now().checked_sub(kept);
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let changed = entry.metadata().and_then(|metadata| metadata.modified());
            if changed.ok() < old {
                drop(fs::remove_file(entry.path()));
            }
        }
    }

    fn replace(&self, path: &Path, parts: &[&[u8]]) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let mut temporary = path.to_owned().into_os_string();
        temporary.push(format!(".{}", std::process::id()));
        let written = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&temporary)
            .and_then(|mut file| parts.iter().try_for_each(|part| file.write_all(part)))
            .and_then(|()| fs::rename(&temporary, path));
        if written.is_err() {
            drop(fs::remove_file(&temporary));
        }
        written
    }
}

impl State {
    /// The memory of the check with this key, made if it is new.
    pub(super) fn check(&mut self, key: &str) -> &mut Memory {
        let known = self.checks.iter().position(|(known, _)| known == key);
        let index = known.unwrap_or_else(|| {
            self.checks.push((key.to_owned(), Memory::default()));
            self.checks.len() - 1
        });
        &mut self.checks[index].1
    }

    /// How often in a row the agent was sent back because of this file.
    pub(super) fn sent_back(&self, file: &str) -> u32 {
        let known = self.sent_back.iter().find(|(known, _)| known == file);
        known.map_or(0, |(_, count)| *count)
    }

    pub(super) fn set_sent_back(&mut self, file: &str, count: u32) {
        self.sent_back.retain(|(known, _)| known != file);
        if count > 0 {
            self.sent_back.push((file.to_owned(), count));
        }
    }

    fn to_json(&self) -> Json<'_> {
        let counts = self.sent_back.iter().map(|(file, count)| {
            let count = Json::Number(Cow::Owned(count.to_string()));
            (file.as_str(), count)
        });
        let checks = self.checks.iter().map(|(key, memory)| (key.as_str(), memory.to_json()));
        Json::object([
            ("directory", text(self.directory.as_ref())),
            ("told", Json::Bool(self.told)),
            ("sent_back", Json::object(counts)),
            ("checks", Json::object(checks)),
        ])
    }

    fn from_json(json: &Json<'_>) -> Self {
        let entries = |key| json.get(key).and_then(Json::as_object).unwrap_or_default();
        let count = |value: &Json<'_>| value.to_text().parse().ok();
        let counts = entries("sent_back").iter();
        let checks = entries("checks").iter();
        Self {
            directory: read_text(json, "directory"),
            told: flag(json, "told"),
            sent_back: counts
                .filter_map(|(file, value)| Some((file.to_string(), count(value)?)))
                .collect(),
            checks: checks
                .map(|(key, value)| (key.to_string(), Memory::from_json(value)))
                .collect(),
        }
    }
}

impl Memory {
    fn to_json(&self) -> Json<'_> {
        Json::object([
            ("seen", text(self.seen.as_ref())),
            ("after", text(self.after.as_ref())),
            ("again", Json::Bool(self.again)),
            ("failed", Json::Bool(self.failed)),
            ("unsettled", Json::Bool(self.unsettled)),
        ])
    }

    fn from_json(json: &Json<'_>) -> Self {
        Self {
            seen: read_text(json, "seen"),
            after: read_text(json, "after"),
            again: flag(json, "again"),
            failed: flag(json, "failed"),
            unsettled: flag(json, "unsettled"),
        }
    }
}

fn text(text: Option<&String>) -> Json<'_> {
    text.map_or(Json::Null, |text| Json::string(text.as_str()))
}

fn read_text(json: &Json<'_>, key: &str) -> Option<String> {
    json.get(key).and_then(Json::as_str).map(str::to_owned)
}

fn flag(json: &Json<'_>, key: &str) -> bool {
    json.get(key).and_then(Json::as_bool).unwrap_or(false)
}

/// A digest as it is stored.
pub(super) fn hex(digest: &Digest) -> String {
    sha256::hex(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let mut state =
            State { directory: Some("/a\n\"b".to_owned()), told: true, ..State::default() };
        state.set_sent_back("/x.toml", 2);
        state.set_sent_back("/y.toml", 1);
        state.set_sent_back("/y.toml", 0);
        *state.check("k") = Memory {
            seen: Some("1".to_owned()),
            after: None,
            again: true,
            failed: true,
            unsettled: false,
        };
        let text = state.to_json().to_text();
        let read = State::from_json(&Json::parse(&text).unwrap());
        assert_eq!(read, state);
        assert_eq!((read.sent_back("/x.toml"), read.sent_back("/y.toml")), (2, 0));
    }

    #[test]
    fn what_is_broken_is_nothing_remembered() {
        for text in ["", "[]", "{\"sent_back\":{\"f\":-1},\"checks\":3,\"told\":\"yes\"}"] {
            let read =
                Json::parse(text).map_or_else(|_| State::default(), |json| State::from_json(&json));
            assert_eq!(read, State::default(), "{text}");
        }
    }
}
