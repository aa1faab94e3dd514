//! One child process from start to end, whatever it does.
//!
//! Promises: ends at the deadline at the latest, half a second for tidying up aside; then the
//! child, its group and, where the system can tell, all its descendants are gone, zombies included;
//! keeps a bounded part of what the child prints. Never: uses a shell, leaves a descriptor open in
//! the child, waits for anybody but the child itself.

use crate::sys::{self, ExitWatch, Image, Interest, Supervision};
use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// As much of the end of stderr is kept.
const TAIL_LIMIT: usize = 2 << 10;
/// A pipe holds at most this much by default (pipe(7)): what a dead child can have left in it.
const PIPE_LIMIT: usize = 1 << 20;
/// How long descendants that detached themselves are hunted.
const SWEEP_TIME: Duration = Duration::from_millis(500);

/// What to run, and how long.
pub(crate) struct Job<'a> {
    /// The program, looked up on `PATH` unless it has a slash, and its arguments.
    pub(crate) argv: &'a [String],
    /// Its working directory, to which relative programs and `PATH` entries refer.
    pub(crate) directory: &'a Path,
    /// What it may read on stdin, piece by piece.
    pub(crate) input: &'a mut dyn Iterator<Item = Vec<u8>>,
    /// When it is killed.
    pub(crate) deadline: Instant,
    /// Where both its output streams go; without one they are returned.
    pub(crate) log: Option<&'a File>,
    /// More bytes on stdout than this end it, where they are returned.
    pub(crate) output_limit: usize,
    /// Whether the client holds our stdin open as long as it wants the answer, so that its end is an
    /// interruption.
    pub(crate) watch_stdin: bool,
}

/// How a child came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal, which we did not send.
    Signaled(i32),
    /// We killed it at the deadline.
    TimedOut,
    /// It printed too much, and was killed if it had not ended by then.
    TooMuchOutput,
    /// We killed it because this signal asked us to stop.
    Interrupted(i32),
    /// We killed it because the client has gone.
    Abandoned,
}

/// What became of a child.
#[derive(Debug)]
pub(crate) struct Finished {
    /// How it ended.
    pub(crate) end: End,
    /// What it printed on stdout, as far as it was read.
    pub(crate) stdout: Vec<u8>,
    /// The last part of what it printed on stderr.
    pub(crate) stderr_tail: Vec<u8>,
}

/// Runs a job to its end. An error tells why it could not be started.
pub(crate) fn run(job: &mut Job<'_>) -> Result<Finished, String> {
    let plain = |error: io::Error| error.to_string();
    let supervision = Supervision::begin().map_err(plain)?;
    let program = find(job.argv, job.directory)?;
    let image = Image::new(program.clone(), job.argv).map_err(plain)?;
    let mut command = Command::new(&program);
    command.current_dir(job.directory).stdin(Stdio::piped());
    match job.log {
        None => command.stdout(Stdio::piped()).stderr(Stdio::piped()),
        Some(log) => {
            command.stdout(log.try_clone().map_err(plain)?).stderr(log.try_clone().map_err(plain)?)
        }
    };
    let spawned = supervision.spawn(&mut command, image);
    let mut child =
        spawned.map_err(|error| why_not_started(&error, job.directory, Path::new(&program)))?;
    let mut streams = Streams::of(&mut child);
    let watched = follow(job, &supervision, &child, &mut streams);
    supervision.kill_group();
    streams.drain(job.output_limit);
    let status = child.wait();
    sweep();
    let end = match (watched.map_err(plain)?, status.map_err(plain)?) {
        (Some(killed), _) => killed,
        (None, _) if streams.output.len() > job.output_limit => End::TooMuchOutput,
        (None, status) => natural_end(status),
    };
    Ok(Finished { end, stdout: streams.output, stderr_tail: streams.tail })
}

/// Feeds and reads the child until it has ended (`None`) or must be killed (why).
fn follow(
    job: &mut Job<'_>,
    supervision: &Supervision,
    child: &Child,
    streams: &mut Streams,
) -> io::Result<Option<End>> {
    streams.set_nonblocking()?;
    let exit = ExitWatch::of(child)?;
    let mut feeder = Feeder::default();
    let mut client = job.watch_stdin.then(io::stdin);
    let reason = loop {
        feeder.refill(&mut *job.input, &mut streams.stdin);
        let left = job.deadline.saturating_duration_since(Instant::now());
        let [exited, _, writable, readable, complaining, heard] = sys::poll(
            [
                Some((exit.descriptor(), Interest::Read)),
                supervision.interruption().map(|fd| (fd, Interest::Read)),
                watch(streams.stdin.as_ref(), Interest::Write),
                watch(streams.stdout.as_ref(), Interest::Read),
                watch(streams.stderr.as_ref(), Interest::Read),
                watch(client.as_ref(), Interest::Read),
            ],
            left,
        )?;
        if writable {
            feeder.feed(&mut streams.stdin);
        }
        if readable {
            streams.read_output();
        }
        if complaining {
            streams.read_complaint();
        }
        if let Some(signal) = supervision.interrupted() {
            break Some(End::Interrupted(signal));
        }
        if exited && exit.ended() {
            break None;
        }
        // What the client says after its payload means nothing; that it can say no more, much.
        if heard && read(&mut client, &mut [0; 4096]) == 0 && client.is_none() {
            break Some(End::Abandoned);
        }
        if streams.output.len() > job.output_limit {
            break Some(End::TooMuchOutput);
        }
        if left.is_zero() {
            break Some(End::TimedOut);
        }
    };
    if reason.is_some() {
        supervision.kill_group();
    }
    Ok(reason)
}

fn watch<S: AsFd>(stream: Option<&S>, interest: Interest) -> Option<(BorrowedFd<'_>, Interest)> {
    stream.map(|stream| (stream.as_fd(), interest))
}

fn natural_end(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, signal) => End::Signaled(signal.unwrap_or_default()),
    }
}

/// Kills what the child left behind outside its group, until no child is left: a killed parent's
/// children become ours, so each round reaches one generation deeper.
fn sweep() {
    let until = Instant::now() + SWEEP_TIME;
    let mut nap = Duration::from_micros(200);
    while sys::reap_all() && Instant::now() < until {
        for pid in sys::children() {
            sys::kill_child(pid);
        }
        thread::sleep(nap);
        nap = (nap * 2).min(Duration::from_millis(10));
    }
}

/// The part of the input that is being written.
#[derive(Default)]
struct Feeder {
    chunk: Vec<u8>,
    written: usize,
}

impl Feeder {
    /// Fetches the next chunk when the last one is through; closes `stdin` after the last.
    fn refill(&mut self, input: &mut dyn Iterator<Item = Vec<u8>>, stdin: &mut Option<ChildStdin>) {
        while stdin.is_some() && self.written == self.chunk.len() {
            self.written = 0;
            match input.next() {
                Some(chunk) => self.chunk = chunk,
                None => *stdin = None,
            }
        }
    }

    /// A child that does not read on is none of our business: that ends the writing, no more.
    fn feed(&mut self, stdin: &mut Option<ChildStdin>) {
        let Some(pipe) = stdin else { return };
        let rest = self.chunk.get(self.written..).unwrap_or_default();
        match pipe.write(rest) {
            Ok(count) => self.written += count,
            Err(error) if is_transient(&error) => {}
            Err(_) => *stdin = None,
        }
    }
}

/// Our ends of the child's streams, and what was read from them.
struct Streams {
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    output: Vec<u8>,
    tail: Vec<u8>,
}

impl Streams {
    fn of(child: &mut Child) -> Self {
        Self {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            output: Vec::new(),
            tail: Vec::new(),
        }
    }

    fn set_nonblocking(&self) -> io::Result<()> {
        let ends = [
            self.stdin.as_ref().map(AsFd::as_fd),
            self.stdout.as_ref().map(AsFd::as_fd),
            self.stderr.as_ref().map(AsFd::as_fd),
        ];
        ends.into_iter().flatten().try_for_each(sys::set_nonblocking)
    }

    /// Reads once from stdout; how much came, 0 when there is nothing (any more).
    fn read_output(&mut self) -> usize {
        let mut buffer = [0; 16 << 10];
        let count = read(&mut self.stdout, &mut buffer);
        self.output.extend_from_slice(buffer.get(..count).unwrap_or_default());
        count
    }

    /// Reads once from stderr, and forgets what came long before.
    fn read_complaint(&mut self) -> usize {
        let mut buffer = [0; 16 << 10];
        let count = read(&mut self.stderr, &mut buffer);
        self.tail.extend_from_slice(buffer.get(..count).unwrap_or_default());
        let surplus = self.tail.len().saturating_sub(TAIL_LIMIT);
        self.tail.drain(..surplus);
        count
    }

    /// Takes what a dead child left in the pipes. Bounded, since others may still be writing.
    fn drain(&mut self, limit: usize) {
        let mut total = 0;
        while self.output.len() <= limit && self.read_output() > 0 {}
        while total < PIPE_LIMIT {
            match self.read_complaint() {
                0 => break,
                count => total += count,
            }
        }
    }
}

/// Reads once; closes the stream at its end.
fn read<R: Read>(stream: &mut Option<R>, buffer: &mut [u8]) -> usize {
    let Some(pipe) = stream else { return 0 };
    match pipe.read(buffer) {
        Ok(count) if count > 0 => count,
        Err(error) if is_transient(&error) => 0,
        _ => {
            *stream = None;
            0
        }
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Why a program cannot be started in `directory`, as far as that shows without a start.
pub(crate) fn obstacle(argv: &[String], directory: &Path) -> Option<String> {
    let program = match find(argv, directory) {
        Ok(program) => PathBuf::from(program),
        Err(cause) => return Some(cause),
    };
    let file = directory.join(&program);
    let missing = |name: String| name.starts_with('/') && !Path::new(&name).exists();
    let error: io::Error = match fs::metadata(&file) {
        Err(error) => error,
        Ok(data) if data.is_dir() || data.permissions().mode() & 0o111 == 0 => {
            io::ErrorKind::PermissionDenied.into()
        }
        Ok(_) if interpreter(&file).is_some_and(missing) => io::ErrorKind::NotFound.into(),
        Ok(_) => return None,
    };
    Some(why_not_started(&error, directory, &program))
}

/// The program to execute, as seen from the job's directory (POSIX XBD 8.3, `PATH`): a name with a
/// slash is taken as it is, an empty entry means the directory itself.
fn find(argv: &[String], directory: &Path) -> Result<OsString, String> {
    let name = argv.first().filter(|name| !name.is_empty()).ok_or("no program is named")?;
    if name.contains('/') {
        return Ok(name.into());
    }
    let path = env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let candidates: Vec<PathBuf> =
        env::split_paths(&path).map(|entry| directory.join(entry).join(name)).collect();
    let runnable = |file: &&PathBuf| {
        fs::metadata(file)
            .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    };
    let found =
        candidates.iter().find(runnable).or_else(|| candidates.iter().find(|file| file.exists()));
    found.map(|file| file.clone().into()).ok_or_else(|| format!("no program `{name}` on PATH"))
}

/// Puts into words what execve(2) reports by a bare number, which has several meanings.
fn why_not_started(error: &io::Error, directory: &Path, program: &Path) -> String {
    use io::ErrorKind::{ExecutableFileBusy, NotFound, PermissionDenied};
    let shown = program.display();
    let file = directory.join(program);
    let data = fs::metadata(&file);
    if !directory.is_dir() {
        return format!("the directory {} is missing", directory.display());
    }
    match (error.kind(), data) {
        (NotFound, Err(_)) => format!("{shown} does not exist"),
        (NotFound, Ok(data)) if data.is_file() => match interpreter(&file) {
            Some(name) => format!(
                "the interpreter {name:?}, named in the first line of {shown}, does not exist"
            ),
            None => format!("a file that {shown} needs to run does not exist"),
        },
        (PermissionDenied, Ok(data)) if data.is_dir() => format!("{shown} is a directory"),
        (PermissionDenied, Ok(data)) if data.permissions().mode() & 0o111 == 0 => {
            format!("{shown} has no execute permission (chmod +x)")
        }
        (ExecutableFileBusy, _) => format!("{shown} is being written to"),
        _ if error.raw_os_error() == Some(sys::NOT_EXECUTABLE) => {
            format!("{shown} is neither a binary for this machine nor a script that begins with #!")
        }
        _ => format!("{shown}: {error}"),
    }
}

/// What stands behind `#!` in the first line, without its argument (execve(2), Interpreter scripts).
fn interpreter(file: &Path) -> Option<String> {
    let mut line = Vec::new();
    BufReader::new(File::open(file).ok()?.take(256)).read_until(b'\n', &mut line).ok()?;
    let line = String::from_utf8_lossy(line.strip_prefix(b"#!")?).into_owned();
    line.trim_matches([' ', '\t', '\n']).split([' ', '\t']).next().map(str::to_owned)
}
