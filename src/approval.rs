#![doc = include_str!("manual/09-approval.md")]
//!
//! Promises: a record that is missing, broken, of another turn, or not our own grants nothing.
//! Never: stores a word of what the person wrote, or reads a clock.

use crate::json::Json;
use crate::sha256;
use crate::sys;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

mod own_voice;

pub(crate) use own_voice::self_approval;

/// What a person says to override.
pub(crate) const PHRASE: &str = "i insist";

/// The leading assignment that approves one shell call; its value must be exactly `1`.
pub(crate) const PREFIX: &str = "HUMAN_PERMISSION_GRANTED";

/// Whether the person's message approves: the phrase anywhere in it, without regard to ASCII case.
pub(crate) fn approves(message: &str) -> bool {
    let phrase = PHRASE.as_bytes();
    message.as_bytes().windows(phrase.len()).any(|window| window.eq_ignore_ascii_case(phrase))
}

/// The approval records of one person.
pub(crate) struct Records {
    approvals: PathBuf,
    revoked: PathBuf,
}

/// One session of one harness: the name of its record.
pub(crate) struct Session(String);

impl Session {
    /// The record's name is the SHA-256 of both, so that no id can name a path.
    pub(crate) fn new(harness: &str, session_id: &str) -> Self {
        Self(sha256::hex(&sha256::digest(format!("{harness}\0{session_id}").as_bytes())))
    }
}

impl Records {
    /// Records below our cache directory; marks of what could not be deleted below our state directory.
    pub(crate) fn new(cache: &Path, state: &Path) -> Self {
        Self { approvals: cache.join("approvals"), revoked: state.join("revoked") }
    }

    /// Where the records are, for messages.
    pub(crate) fn place(&self) -> &Path {
        &self.approvals
    }

    /// Whether the person approved the response that `turn` belongs to. Where the harness has turn
    /// ids, the record's must be the same.
    pub(crate) fn granted(&self, session: &Session, turn: Option<&str>) -> bool {
        self.standing(session).is_some_and(|approval| approval.turn.as_deref() == turn)
    }

    /// Replaces the session's decision by that of the person's new message.
    ///
    /// # Errors
    /// When the record cannot be written; the former one may then still stand: `revoke` it.
    pub(crate) fn record(
        &self,
        session: &Session,
        turn: Option<&str>,
        approved: bool,
    ) -> io::Result<()> {
        if !approved {
            // No record grants nothing, and leaves nothing to clean up.
            return self.delete(session);
        }
        ignore_absent(fs::remove_file(self.bound(session)))?;
        let text = Json::object([
            ("approved", Json::Bool(true)),
            ("turn", turn.map_or(Json::Null, Json::string)),
        ])
        .to_text();
        self.create_directory()?;
        let path = self.approvals.join(&session.0);
        let temporary = self.approvals.join(format!("{}.{}", session.0, std::process::id()));
        let written = create_private(&temporary)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .and_then(|()| fs::rename(&temporary, &path));
        if written.is_err() {
            drop(fs::remove_file(&temporary));
        }
        written?;
        ignore_absent(fs::remove_file(self.revoked.join(&session.0)))
    }

    fn create_directory(&self) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.approvals)
    }

    /// Notes that a response to something else than a person's words has begun: what was approved
    /// holds for its own turn alone from now on, and for no compaction of the new one. The note lies
    /// beside the record: to write that anew could bring back one that is being deleted.
    ///
    /// # Errors
    /// When the note cannot be written.
    pub(crate) fn another_turn(&self, session: &Session, turn: Option<&str>) -> io::Result<()> {
        match self.standing(session) {
            Some(approval) if approval.turn.as_deref() != turn => {
                create_private(&self.bound(session)).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// Carries a standing approval over to the turn id that a compaction gave the same response.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub(crate) fn carry_over(&self, session: &Session, turn: Option<&str>) -> io::Result<()> {
        let carries = is_absent(&self.bound(session)) && self.standing(session).is_some();
        if carries && turn.is_some() { self.record(session, turn, true) } else { Ok(()) }
    }

    /// Ends every approval of the session. Where the record cannot be deleted, the session is
    /// marked, and its calls get no approval.
    ///
    /// # Errors
    /// When neither works.
    pub(crate) fn revoke(&self, session: &Session) -> io::Result<()> {
        self.delete(session).or_else(|_| {
            DirBuilder::new().recursive(true).mode(0o700).create(&self.revoked)?;
            create_private(&self.revoked.join(&session.0)).map(drop)
        })
    }

    /// Notes that a call passed, and the rules that would have had a say without the approval.
    ///
    /// # Errors
    /// When the note cannot be written; it is for the person's information alone.
    pub(crate) fn note_passed(&self, session: &Session, rules: &[String]) -> io::Result<()> {
        self.create_directory()?;
        let mut notes = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(sys::WITHOUT_WAITING)
            .open(self.notes(session))?;
        notes.write_all(
            format!("{}\n", Json::Array(rules.iter().map(Json::string).collect()).to_text())
                .as_bytes(),
        )
    }

    /// Takes the notes of a response that ends: how many calls passed, and past which rules.
    pub(crate) fn take_passed(&self, session: &Session) -> (usize, Vec<String>) {
        let notes = self.notes(session);
        let is_file = fs::symlink_metadata(&notes).is_ok_and(|metadata| metadata.is_file());
        let text =
            if is_file { fs::read_to_string(&notes).unwrap_or_default() } else { String::new() };
        drop(fs::remove_file(notes));
        let mut rules = Vec::new();
        for line in text.lines() {
            for rule in Json::parse(line).ok().as_ref().and_then(Json::as_array).unwrap_or_default()
            {
                if let Some(rule) =
                    rule.as_str().filter(|rule| !rules.iter().any(|known| known == rule))
                {
                    rules.push(rule.to_owned());
                }
            }
        }
        (text.lines().count(), rules)
    }

    fn notes(&self, session: &Session) -> PathBuf {
        self.approvals.join(format!("{}.passed", session.0))
    }

    /// The note that binds an approval to its own turn.
    fn bound(&self, session: &Session) -> PathBuf {
        self.approvals.join(format!("{}.bound", session.0))
    }

    fn delete(&self, session: &Session) -> io::Result<()> {
        ignore_absent(fs::remove_file(self.approvals.join(&session.0)))?;
        ignore_absent(fs::remove_file(self.bound(session)))
    }

    /// The approval of a session that is not marked, when its record is our own.
    fn standing(&self, session: &Session) -> Option<Approval> {
        if !is_absent(&self.revoked.join(&session.0)) {
            return None;
        }
        let path = self.approvals.join(&session.0);
        let metadata = fs::symlink_metadata(&path).ok()?;
        // A record that another account owns or can write is not our own, and no record is long.
        if !metadata.is_file()
            || metadata.uid() != sys::effective_user()
            || metadata.mode() & 0o022 != 0
            || metadata.len() > 4096
        {
            return None;
        }
        let text = fs::read_to_string(&path).ok()?;
        let record = Json::parse(&text).ok()?;
        let turn = record.get("turn")?;
        let turn = if *turn == Json::Null { None } else { Some(turn.as_str()?.to_owned()) };
        (record.get("approved")? == &Json::Bool(true)).then_some(Approval { turn })
    }
}

/// A person's approval of one response.
struct Approval {
    turn: Option<String>,
}

fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

fn ignore_absent(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if is_absence(&error) => Ok(()),
        Ok(()) | Err(_) => result,
    }
}

/// Whether there is nothing of this name; what cannot be looked at may be there.
fn is_absent(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| is_absence(&error))
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
