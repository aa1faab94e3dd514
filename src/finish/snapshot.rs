//! The repository's files at one moment.
//!
//! Promises: tells apart two states of the tracked and untracked-but-not-ignored files by path, mode
//! and content; submodules and nested repositories count; linear in the number of files; a file
//! whose size, times, inode and mode are those of the former snapshot is not read again. Never:
//! writes to the repository, follows a link, takes a doubtful listing for a complete one.

use crate::checker::process::{self, End, Job};
use crate::glob::Pattern;
use crate::sha256;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::iter;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A digest of content, or of a set of files.
pub(super) type Digest = [u8; 32];

/// A snapshot as it is stored: one section per repository, the outermost first. A section is its
/// path, the length of its entries, and the entries in the order of their paths. An entry is path,
/// mode, stat data and digest. Numbers are little-endian, and a path stands behind its length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Snapshot(Vec<u8>);

/// Files younger than this when the snapshot began may change once more without a new time stamp
/// (FAT keeps even seconds), so the next snapshot reads them again.
const TIME_GRANULARITY: Duration = Duration::from_secs(2);
const STAT_LENGTH: usize = 32;
type Stat = [u8; STAT_LENGTH];
/// The stat data of a file that is to be read again.
const UNSETTLED: Stat = [0; STAT_LENGTH];
/// The file type within a mode (inode(7)).
const TYPE_MASK: u32 = 0o170_000;
const DIRECTORY: u32 = 0o040_000;
const REGULAR: u32 = 0o100_000;
const LINK: u32 = 0o120_000;
/// More names than this are no listing.
const LISTING_LIMIT: usize = 1 << 30;

/// Lists the files of a repository whatever the surroundings and the person's settings say about
/// another repository, caches, quoting, monitors and locks.
const LIST: &str = "unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX GIT_COMMON_DIR GIT_NAMESPACE \
GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_CONFIG GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT \
GIT_LITERAL_PATHSPECS GIT_TRACE GIT_TRACE2; \
GIT_OPTIONAL_LOCKS=0; export GIT_OPTIONAL_LOCKS; \
exec git -c core.quotePath=false -c core.fsmonitor=false -c core.untrackedCache=false \
-c submodule.recurse=false -c status.showUntrackedFiles=all \
ls-files -z --cached --others --exclude-standard";

/// How long taking a snapshot may last, and whether the client's end ends it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    pub(super) deadline: Instant,
    pub(super) watch_stdin: bool,
}

impl Patience {
    fn check(self) -> Result<(), String> {
        if Instant::now() < self.deadline { Ok(()) } else { Err("the time ran out".to_owned()) }
    }
}

/// One file of a stored snapshot.
struct Entry<'a> {
    path: &'a [u8],
    mode: u32,
    stat: &'a [u8],
    digest: &'a [u8],
}

impl Snapshot {
    /// Takes a snapshot of the repository at `root`; what `former` knows is not read again.
    pub(super) fn take(root: &Path, former: &Self, patience: Patience) -> Result<Self, String> {
        // A clock before 1970 makes every file younger.
        let now = SystemTime::now().checked_sub(TIME_GRANULARITY);
        let settled = now.and_then(|now| now.duration_since(UNIX_EPOCH).ok());
        let settled = i64::try_from(settled.unwrap_or_default().as_nanos()).unwrap_or(i64::MAX);
        let mut table = Vec::with_capacity(former.0.len());
        let mut repositories = vec![Vec::new()];
        let mut next = 0;
        while let Some(prefix) = repositories.get(next).cloned() {
            let top = root.join(OsStr::from_bytes(&prefix));
            let listing = list(&top, patience)?;
            let mut section = Section {
                top: &top,
                former: former.section(&prefix),
                known: None,
                settled,
                entries: Vec::with_capacity(listing.len() * 2),
            };
            for (index, name) in names(&listing).into_iter().enumerate() {
                if index % 256 == 0 {
                    patience.check()?;
                }
                let is_repository = section
                    .add(name, patience)
                    .map_err(|error| format!("{}: {error}", String::from_utf8_lossy(name)))?;
                if is_repository {
                    repositories.push([&prefix, name, b"/"].concat());
                }
            }
            put_bytes(&mut table, &prefix);
            put_bytes(&mut table, &section.entries);
            next += 1;
        }
        Ok(Self(table))
    }

    /// Reads a stored snapshot; what is none has no entries.
    pub(super) fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// What to store.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// A digest of the files that `inputs` match, or of all.
    pub(super) fn digest(&self, inputs: Option<&[Pattern]>) -> Digest {
        let mut chain = Chain::default();
        let mut path = Vec::new();
        for (prefix, mut entries) in self.sections() {
            while let Some(entry) = take_entry(&mut entries) {
                path.clear();
                path.extend_from_slice(prefix);
                path.extend_from_slice(entry.path);
                let matched = |pattern: &Pattern| pattern.matches_bytes(&path);
                if inputs.is_none_or(|inputs| inputs.iter().any(matched)) {
                    path.push(0);
                    chain.add(&path);
                    chain.add(&entry.mode.to_le_bytes());
                    chain.add(entry.digest);
                }
            }
        }
        chain.end()
    }

    fn sections(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut rest = self.0.as_slice();
        iter::from_fn(move || Some((take_bytes(&mut rest)?, take_bytes(&mut rest)?)))
    }

    fn section(&self, prefix: &[u8]) -> &[u8] {
        self.sections()
            .find_map(|(found, entries)| (found == prefix).then_some(entries))
            .unwrap_or_default()
    }
}

/// The entries of one repository while they are gathered, beside the former ones.
struct Section<'a> {
    top: &'a Path,
    former: &'a [u8],
    /// The former entry that is next in order.
    known: Option<Entry<'a>>,
    /// Files that changed after this, in nanoseconds, may change again unseen.
    settled: i64,
    entries: Vec<u8>,
}

impl<'a> Section<'a> {
    /// Adds a file that is there; whether it is a repository of its own.
    fn add(&mut self, name: &[u8], patience: Patience) -> io::Result<bool> {
        let path = self.top.join(OsStr::from_bytes(name));
        let Some(metadata) = present(fs::symlink_metadata(&path))? else {
            return Ok(false);
        };
        let mode = metadata.mode();
        let stat = stat(&metadata);
        let known = self.known(name);
        let same = known.filter(|entry| entry.mode == mode && entry.stat == stat);
        let digest = match same.map(|entry| entry.digest) {
            Some(digest) => digest.try_into().unwrap_or_default(),
            None => match present(content(&path, mode, patience))? {
                Some(digest) => digest,
                None => return Ok(false),
            },
        };
        let changed = nanoseconds(metadata.mtime(), metadata.mtime_nsec())
            .max(nanoseconds(metadata.ctime(), metadata.ctime_nsec()));
        put_bytes(&mut self.entries, name);
        self.entries.extend_from_slice(&mode.to_le_bytes());
        let stat = if changed < self.settled { stat } else { UNSETTLED };
        self.entries.extend_from_slice(&stat);
        self.entries.extend_from_slice(&digest);
        Ok(mode & TYPE_MASK == DIRECTORY && is_own_repository(&path))
    }

    /// The former entry of this name. Names come in order, so each former entry is passed once.
    fn known(&mut self, name: &[u8]) -> Option<&Entry<'a>> {
        while self.known.as_ref().is_none_or(|entry| entry.path < name) {
            self.known = Some(take_entry(&mut self.former)?);
        }
        self.known.as_ref().filter(|entry| entry.path == name)
    }
}

/// What git lists, each name ended by a NUL byte.
fn list(top: &Path, patience: Patience) -> Result<Vec<u8>, String> {
    let argv = ["/bin/sh", "-c", LIST].map(str::to_owned);
    let finished = process::run(&mut Job {
        argv: &argv,
        directory: top,
        input: &mut iter::empty(),
        deadline: patience.deadline,
        log: None,
        output_limit: LISTING_LIMIT,
        watch_stdin: patience.watch_stdin,
    })?;
    if finished.end == End::Exited(0) {
        return Ok(finished.stdout);
    }
    Err(format!(
        "git ls-files in {}: {:?}: {}",
        top.display(),
        finished.end,
        String::from_utf8_lossy(&finished.stderr_tail).trim()
    ))
}

/// The names in order, each once: a conflict has up to three of the same. A nested repository ends
/// in a slash.
fn names(listing: &[u8]) -> Vec<&[u8]> {
    let names = listing.split(|byte| *byte == 0);
    let mut names: Vec<&[u8]> = names
        .map(|name| name.strip_suffix(b"/").unwrap_or(name))
        .filter(|name| !name.is_empty())
        .collect();
    // Tracked and untracked files come as two sorted runs, which this sort merges in linear time.
    names.sort();
    names.dedup();
    names
}

/// Whether a directory is a submodule or a repository of its own. A further worktree of a repository
/// has work of its own, which is none of this one's.
fn is_own_repository(directory: &Path) -> bool {
    let link = directory.join(".git");
    match fs::symlink_metadata(&link) {
        Ok(metadata) if metadata.is_file() => !fs::read(&link).is_ok_and(|text| {
            let target = text.trim_ascii_end();
            let parent = Path::new(OsStr::from_bytes(target)).parent();
            parent.is_some_and(|parent| parent.ends_with("worktrees"))
        }),
        Ok(_) => true,
        Err(_) => false,
    }
}

/// What shows that a file is the same as before.
fn stat(metadata: &Metadata) -> Stat {
    let mut stat = UNSETTLED;
    let numbers = [
        metadata.size(),
        metadata.ino(),
        nanoseconds(metadata.mtime(), metadata.mtime_nsec()).cast_unsigned(),
        nanoseconds(metadata.ctime(), metadata.ctime_nsec()).cast_unsigned(),
    ];
    for (bytes, number) in stat.as_chunks_mut().0.iter_mut().zip(numbers) {
        *bytes = number.to_le_bytes();
    }
    stat
}

fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.wrapping_mul(1_000_000_000).wrapping_add(rest)
}

/// A digest of what a file holds: a regular file's bytes, a link's target; nothing for the rest.
fn content(path: &Path, mode: u32, patience: Patience) -> io::Result<Digest> {
    let mut chain = Chain::default();
    match mode & TYPE_MASK {
        REGULAR => {
            let mut file = File::open(path)?;
            let mut buffer = [0; 16 << 10];
            loop {
                let count = file.read(&mut buffer)?;
                if count == 0 {
                    break;
                }
                patience.check().map_err(|late| io::Error::new(ErrorKind::TimedOut, late))?;
                chain.add(buffer.get(..count).unwrap_or_default());
            }
        }
        LINK => chain.add(&fs::read_link(path)?.into_os_string().into_vec()),
        _ => {}
    }
    Ok(chain.end())
}

/// `None` for what is not there, or is below something that is no directory.
fn present<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// A digest of any length in constant memory: every block is hashed with the digest before it.
#[derive(Default)]
struct Chain {
    block: Vec<u8>,
    state: Digest,
}

impl Chain {
    const BLOCK: usize = 64 << 10;

    fn add(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = Self::BLOCK - self.block.len();
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.block.extend_from_slice(now);
            if self.block.len() == Self::BLOCK {
                self.close();
            }
            bytes = later;
        }
    }

    fn close(&mut self) {
        self.block.extend_from_slice(&self.state);
        self.state = sha256::digest(&self.block);
        self.block.clear();
    }

    fn end(mut self) -> Digest {
        self.close();
        self.state
    }
}

fn put_bytes(table: &mut Vec<u8>, bytes: &[u8]) {
    table.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    table.extend_from_slice(bytes);
}

fn take_bytes<'a>(table: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = table.split_first_chunk()?;
    let (bytes, rest) = rest.split_at_checked(u64::from_le_bytes(*length).try_into().ok()?)?;
    *table = rest;
    Some(bytes)
}

fn take_entry<'a>(table: &mut &'a [u8]) -> Option<Entry<'a>> {
    let mut rest = *table;
    let path = take_bytes(&mut rest)?;
    let (mode, rest) = rest.split_first_chunk()?;
    let (stat, rest) = rest.split_at_checked(STAT_LENGTH)?;
    let (digest, rest) = rest.split_at_checked(size_of::<Digest>())?;
    *table = rest;
    Some(Entry { path, mode: u32::from_le_bytes(*mode), stat, digest })
}
