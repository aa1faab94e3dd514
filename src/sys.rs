//! System calls: the only unsafe code of the program, and the only place where systems differ.
//!
//! Promises: every function is safe to call with any argument, and says in its comment what the
//! manual page warns of; once [`answer_even_when_dying`] was called, the process does not end
//! without an answer unless it is killed by SIGKILL. What only Linux has stands in one table,
//! [`System`], with a portable stand-in for each entry; in debug builds
//! `I_INSIST_TEST_PORTABLE=1` chooses the stand-ins, so that they can be tested anywhere.
//! Never: decides anything about rules, reads the payload, prints of its own accord.

use libc::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP, SIGXCPU, SIGXFSZ};
use libc::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use libc::{c_char, c_int, pid_t};
use std::ffi::{CString, OsString};
use std::fs::{self, File};
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::process::CommandExt;
use std::panic;
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::SeqCst};
use std::thread;
use std::time::Duration;
use std::{mem, ptr};

// ------------------------------------------------------------------------------------- the start

/// Where the C library starts the program (POSIX XSH exec). Rust's own start does the same, and
/// reads `/proc/self/maps` for guard pages besides, which is an eighth of what a decision costs.
#[cfg(not(test))]
#[unsafe(no_mangle)]
extern "C" fn main(count: c_int, arguments: *const *const c_char) -> c_int {
    open_standard_streams();
    // A reader that is gone is an error of the write, not a reason to die.
    ignore(libc::SIGPIPE);
    let count = usize::try_from(count).unwrap_or_default();
    let argument = |index| {
        // SAFETY: `arguments` leads to `count` pointers, and `index` is below `count`.
        let argument = unsafe { arguments.add(index) };
        // SAFETY: as above.
        let argument = unsafe { *argument };
        // SAFETY: each leads to a NUL-terminated string that lives as long as the process.
        let argument = unsafe { std::ffi::CStr::from_ptr(argument) };
        OsString::from_vec(argument.to_bytes().to_owned())
    };
    std::process::exit(crate::run((0..count).map(argument).collect()))
}

/// Opens `/dev/null` in place of standard streams that the caller has closed: else the next file
/// we open would take their number, and be written to as if it were the stream.
#[cfg(not(test))]
fn open_standard_streams() {
    for descriptor in 0..=libc::STDERR_FILENO {
        // SAFETY: passes integers.
        if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } < 0 {
            // SAFETY: the path is NUL-terminated. The lowest free number is given out (POSIX open).
            unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR) };
        }
    }
}

// ------------------------------------------------------------------ the reply and the last word

/// One of the two streams a client reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Standard output.
    Stdout = libc::STDOUT_FILENO as isize,
    /// Standard error.
    Stderr = libc::STDERR_FILENO as isize,
}

/// The answer to give when the program can no longer work out one: `before`, then the cause in
/// plain words without quotes, backslashes or control characters (so it may stand inside a JSON
/// string), then `after`.
#[derive(Clone, Debug)]
pub(crate) struct LastWord {
    /// Where the answer goes.
    pub(crate) stream: Stream,
    /// The exit status that goes with it.
    pub(crate) status: i32,
    /// What stands before the cause.
    pub(crate) before: String,
    /// What stands after the cause.
    pub(crate) after: String,
    /// When to give up waiting for the program's own answer, in whole seconds and at least one. To
    /// lie between the program's own deadline and the client's time-out.
    pub(crate) deadline: Duration,
}

impl LastWord {
    fn because(&self, cause: &str) -> Vec<u8> {
        [&self.before, cause, &self.after].concat().into_bytes()
    }
}

/// All that a signal handler needs, made ready beforehand: a handler may not allocate.
struct Prepared {
    owner: pid_t,
    word: LastWord,
    crashed: Vec<u8>,
    stopped: Vec<u8>,
    late: Vec<u8>,
}

static PREPARED: OnceLock<Prepared> = OnceLock::new();

/// The exit status once the reply is out, else one of the two values below.
static REPLY: AtomicI32 = AtomicI32::new(NOTHING_SAID);
const NOTHING_SAID: c_int = -1;
const SPEAKING: c_int = -2;

/// Signals by which the program itself fails, and the limits the system sets on it.
const FATAL: [c_int; 9] =
    [SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS, SIGTRAP, SIGXCPU, SIGXFSZ];

/// Signals by which somebody wants us to end.
const STOPPING: [c_int; 6] = [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2];

/// From now on the process ends with an answer, whatever happens to it: `word` is spoken after a
/// panic, a fatal signal (an exhausted stack or memory ends in one), a request to stop, and when
/// the deadline passes while the program is stuck, say in opening a FIFO. A running checker's group
/// is killed first. To be called once, before any input is read; a second call changes nothing.
///
/// Out of reach are SIGKILL and a wait that no other signal ends (a hard-mounted file system whose
/// server is gone). A watchdog thread would reach the latter, but costs every run an eighth more.
pub(crate) fn answer_even_when_dying(word: LastWord) {
    let deadline = word.deadline;
    let prepared = Prepared {
        owner: own_pid(),
        crashed: word.because("the program broke down (a fatal signal; out of memory or stack?)"),
        stopped: word.because("the hook was told to stop before it had decided"),
        late: word.because("the hook's own deadline passed before it had decided"),
        word,
    };
    if PREPARED.set(prepared).is_err() {
        return;
    }
    panic::set_hook(Box::new(|panic| {
        let text = format!("internal error: {panic}");
        let plain = text.replace(|c: char| c.is_control() || c == '"' || c == '\\', " ");
        let cause: String = plain.chars().take(600).collect();
        if let Some(prepared) = PREPARED.get() {
            speak(prepared, &prepared.word.because(&cause));
        }
    }));
    use_alternate_stack();
    for signal in FATAL {
        handle(signal);
    }
    handle(libc::SIGALRM);
    for signal in STOPPING {
        // What the caller had us ignore, as nohup(1) does, stays ignored.
        if handle(signal) == libc::SIG_IGN {
            ignore(signal);
        }
    }
    unblock_signals();
    let seconds = u32::try_from(deadline.as_secs()).unwrap_or(u32::MAX).max(1);
    // SAFETY: sets a timer; its signal was given a handler above. Children do not inherit it.
    unsafe { libc::alarm(seconds) };
}

/// Writes the reply and settles the exit status; nothing else is written after it, by whatever
/// end. A pass replies with no bytes. An error (reader gone, closed descriptor) leaves the last
/// word unspoken, so the caller can reply once more on the other stream. A second reply is dropped.
pub(crate) fn reply(stream: Stream, bytes: &[u8], status: i32) -> io::Result<()> {
    match REPLY.compare_exchange(NOTHING_SAID, SPEAKING, SeqCst, SeqCst) {
        Ok(_) => {}
        // A handler is speaking in another thread and about to end the process.
        Err(SPEAKING) => loop {
            thread::park();
        },
        Err(_) => return Ok(()),
    }
    let written = write_fully(stream as c_int, bytes);
    let state = written.as_ref().map_or(NOTHING_SAID, |()| status);
    REPLY.store(state, SeqCst);
    written
}

/// Whether anybody can read standard output. A stream that the caller closed is `/dev/null` by now,
/// where writing succeeds and reaches nobody.
pub(crate) fn stdout_is_read() -> bool {
    let copy = io::stdout().as_fd().try_clone_to_owned();
    let own = copy.and_then(|copy| File::from(copy).metadata());
    let Ok(own) = own else { return false };
    let null = fs::metadata("/dev/null");
    !(own.file_type().is_char_device() && null.is_ok_and(|null| null.rdev() == own.rdev()))
}

/// Kills the running checker, says `text` unless a reply is out, and ends the process. Calls only
/// what signal-safety(7) lists, for it runs inside handlers.
fn speak(prepared: &Prepared, text: &[u8]) -> ! {
    kill_running_group();
    let word = &prepared.word;
    let status = match REPLY.compare_exchange(NOTHING_SAID, SPEAKING, SeqCst, SeqCst) {
        Ok(_) => {
            drop(write_fully(word.stream as c_int, text));
            word.status
        }
        // A reply was cut off. On stdout a second one would garble it; stderr takes any text.
        Err(SPEAKING) => {
            if word.stream == Stream::Stderr {
                drop(write_fully(libc::STDERR_FILENO, text));
            }
            word.status
        }
        Err(settled) => settled,
    };
    end_now(status)
}

/// Writes all bytes, going on after interruptions, and when there is room again in a pipe that
/// somebody has made non-blocking.
fn write_fully(descriptor: c_int, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        // SAFETY: pointer and length describe one living slice; a closed descriptor only fails.
        let written = unsafe { libc::write(descriptor, bytes.as_ptr().cast(), bytes.len()) };
        if let Ok(count) = usize::try_from(written) {
            bytes = bytes.get(count..).unwrap_or_default();
            continue;
        }
        let error = io::Error::last_os_error();
        if error.kind() == io::ErrorKind::WouldBlock {
            poll_raw(&mut [entry(descriptor, libc::POLLOUT)], -1)?;
        } else if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(())
}

extern "C" fn on_signal(signal: c_int) {
    let Some(prepared) = PREPARED.get() else { end_now(127) };
    if own_pid() != prepared.owner {
        // A child between fork and exec has this handler too, but no right to answer.
        end_now(127);
    }
    match signal {
        _ if FATAL.contains(&signal) => speak(prepared, &prepared.crashed),
        libc::SIGALRM => speak(prepared, &prepared.late),
        _ if SUPERVISING.load(SeqCst) => {
            // The poll loop cleans up better than a handler may. One byte, once: never blocks.
            if INTERRUPTED.swap(signal, SeqCst) == 0
                && let Some((_, wake)) = WAKE.get()
            {
                drop(write_fully(wake.as_raw_fd(), b"!"));
            }
        }
        _ => speak(prepared, &prepared.stopped),
    }
}

/// Has handlers run on a stack of their own, for the usual one may be what ran out (sigaltstack(2)).
fn use_alternate_stack() {
    // Room for any processor's registers (getauxval(3), `AT_MINSIGSTKSZ`) and for `speak`; what is
    // not touched takes no memory.
    const SIZE: usize = 64 << 10;
    let stack = libc::stack_t {
        ss_sp: Vec::<u8>::with_capacity(SIZE).leak().as_mut_ptr().cast(),
        ss_flags: 0,
        ss_size: SIZE,
    };
    // SAFETY: the memory has the size that is told and is never freed or used for anything else.
    unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) };
}

/// Gives `signal` our handler; tells what was done with it before. SIGKILL and SIGSTOP cannot be
/// handled (signal(7)).
fn handle(signal: c_int) -> libc::sighandler_t {
    // SAFETY: `sigaction` is plain data, for which all bits zero is a valid value.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    let mut former = action;
    action.sa_sigaction = on_signal as *const () as libc::sighandler_t;
    action.sa_flags = libc::SA_ONSTACK | libc::SA_RESTART;
    // SAFETY: both pointers are valid; the handler calls async-signal-safe functions only.
    unsafe { libc::sigaction(signal, &raw const action, &raw mut former) };
    former.sa_sigaction
}

fn ignore(signal: c_int) {
    // SAFETY: sets one of the two predefined actions.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

/// A mask inherited from the caller must not hold back the signals that we answer to.
fn unblock_signals() {
    // SAFETY: `sigset_t` is plain data; it is filled by the call below.
    let mut all: libc::sigset_t = unsafe { mem::zeroed() };
    // SAFETY: the pointer is valid for writing.
    unsafe { libc::sigfillset(&raw mut all) };
    // SAFETY: the set was filled above; the null pointer asks for no old mask.
    unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const all, ptr::null_mut()) };
}

fn end_now(status: c_int) -> ! {
    // SAFETY: `_exit` ends the process and runs no code of it.
    unsafe { libc::_exit(status) }
}

fn own_pid() -> pid_t {
    // SAFETY: always succeeds.
    unsafe { libc::getpid() }
}

/// The user that files we make belong to.
pub(crate) fn effective_user() -> u32 {
    // SAFETY: always succeeds.
    unsafe { libc::geteuid() }
}

// ------------------------------------------------------------------------------ child processes

/// The error of execve(2) for a file in no format that the system can run.
pub(crate) const NOT_EXECUTABLE: i32 = libc::ENOEXEC;

static SUPERVISING: AtomicBool = AtomicBool::new(false);
/// The first signal of [`STOPPING`] that came while a child was supervised, or 0.
static INTERRUPTED: AtomicI32 = AtomicI32::new(0);
/// The process group of the running child, or 0.
static GROUP: AtomicI32 = AtomicI32::new(0);
/// A handler writes into it, the poll loop watches it.
static WAKE: OnceLock<(PipeReader, PipeWriter)> = OnceLock::new();

/// While it lives, a request to stop is noted for the poll loop instead of ending the process, and
/// orphans of our descendants become our children. One at a time, in the main thread: the kernel
/// ties a child's life to the *thread* that spawned it (prctl(2), `PR_SET_PDEATHSIG`).
pub(crate) struct Supervision(());

#[expect(clippy::unused_self, reason = "the value proves that requests to stop are being noted")]
impl Supervision {
    /// Begins to supervise.
    pub(crate) fn begin() -> io::Result<Self> {
        if WAKE.get().is_none() {
            drop(WAKE.set(io::pipe()?));
        }
        // SAFETY: sets the default action. An inherited SIG_IGN would reap children before we can
        // ask how they ended (waitpid(2), NOTES).
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
        (system().adopt_orphans)();
        SUPERVISING.store(true, SeqCst);
        Ok(Self(()))
    }

    /// The signal by which we were asked to stop, if any.
    pub(crate) fn interrupted(&self) -> Option<i32> {
        Some(INTERRUPTED.load(SeqCst)).filter(|signal| *signal != 0)
    }

    /// Readable as soon as [`Self::interrupted`] has something to say.
    pub(crate) fn interruption(&self) -> Option<BorrowedFd<'_>> {
        WAKE.get().map(|(reader, _)| reader.as_fd())
    }

    /// Starts `image` in a session of its own, without a terminal to ask on, with the streams and
    /// the directory of `command`, whose program name and arguments do not count. None of our
    /// descriptors reaches the child but those three. The error of a failed `execve` comes back.
    pub(crate) fn spawn(&self, command: &mut Command, image: Image) -> io::Result<Child> {
        let system = system();
        if (system.close_on_exec)().is_err() {
            (PORTABLE.close_on_exec)()?;
        }
        let parent = own_pid();
        let start = move || {
            // SAFETY: no arguments; fails only in a group leader, which a fresh child is not.
            check(unsafe { libc::setsid() })?;
            (system.die_with)(parent)?;
            Err(image.execute())
        };
        // SAFETY: the closure runs between fork and exec: it makes system calls only, and what it
        // uses was allocated before.
        unsafe { command.pre_exec(start) };
        // Until the next line only the child itself would die with us, by `die_with`.
        let child = command.spawn()?;
        GROUP.store(child.id().cast_signed(), SeqCst);
        Ok(child)
    }

    /// Kills the group of the child. To be called before it is reaped: while the zombie stands,
    /// its number, and so the group's, cannot be given to another process.
    pub(crate) fn kill_group(&self) {
        kill_running_group();
        GROUP.store(0, SeqCst);
    }
}

impl Drop for Supervision {
    fn drop(&mut self) {
        GROUP.store(0, SeqCst);
        SUPERVISING.store(false, SeqCst);
    }
}

/// A program with its arguments and our environment, in the form that execve(2) takes: made before
/// the fork, since nothing may be allocated after it.
pub(crate) struct Image {
    program: CString,
    arguments: Strings,
    environment: Strings,
}

impl Image {
    /// An error tells that a NUL byte stands in the path or an argument. `program` is relative to
    /// the child's directory.
    pub(crate) fn new(program: OsString, arguments: &[String]) -> io::Result<Self> {
        let variable = |(mut entry, value): (OsString, OsString)| {
            entry.push("=");
            entry.push(value);
            CString::new(entry.into_vec())
        };
        Ok(Self {
            program: CString::new(program.into_vec())?,
            arguments: Strings::new(arguments.iter().map(|text| CString::new(text.as_str())))?,
            environment: Strings::new(std::env::vars_os().map(variable))?,
        })
    }

    /// Replaces the running program; returns only to tell why it could not. Unlike execvp(3) it
    /// never hands a file without `#!` to a shell.
    fn execute(&self) -> io::Error {
        let Self {
            program,
            arguments: Strings { pointers: arguments, .. },
            environment: Strings { pointers: environment, .. },
        } = self;
        // SAFETY: three pointers to NUL-terminated strings, or null-terminated lists of such, all
        // owned by `self`.
        unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
        io::Error::last_os_error()
    }
}

/// Strings, and the null-terminated list of pointers to them.
struct Strings {
    _owned: Vec<CString>,
    pointers: Vec<*const c_char>,
}

// SAFETY: the pointers lead to memory that the same value owns and nobody changes.
unsafe impl Send for Strings {}
// SAFETY: as above.
unsafe impl Sync for Strings {}

impl Strings {
    fn new(strings: impl Iterator<Item = Result<CString, std::ffi::NulError>>) -> io::Result<Self> {
        let owned = strings.collect::<Result<Vec<_>, _>>()?;
        let ends = [ptr::null()];
        let pointers = owned.iter().map(|text| text.as_ptr()).chain(ends).collect();
        Ok(Self { _owned: owned, pointers })
    }
}

/// Tells the end of a child without reaping it.
pub(crate) struct ExitWatch {
    child: libc::id_t,
    descriptor: OwnedFd,
}

impl ExitWatch {
    /// Watches `child`, which must not have been reaped.
    pub(crate) fn of(child: &Child) -> io::Result<Self> {
        let child = child.id();
        let descriptor = (system().exit_descriptor)(child.cast_signed())
            .or_else(|_unsupported| child_ended(child))?;
        Ok(Self { child, descriptor })
    }

    /// Readable once the child has ended, and perhaps when another has: ask [`Self::ended`] then.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// Whether the child has ended. Takes a byte of [`CHILD_ENDED`] first: an end that comes after
    /// the question writes another one. A descriptor of Linux's own refuses to be read.
    pub(crate) fn ended(&self) -> bool {
        let mut byte = 0_u8;
        // SAFETY: the pointer is valid for writing the one byte.
        unsafe { libc::read(self.descriptor.as_raw_fd(), (&raw mut byte).cast(), 1) };
        has_ended(self.child)
    }
}

/// Every child that ends writes a byte into it, where the system has nothing better.
static CHILD_ENDED: OnceLock<(PipeReader, PipeWriter)> = OnceLock::new();

extern "C" fn on_child_ended(_signal: c_int) {
    if let Some((_, ended)) = CHILD_ENDED.get() {
        // SAFETY: pointer and length describe one byte. A full pipe needs no further byte.
        unsafe { libc::write(ended.as_raw_fd(), b"!".as_ptr().cast(), 1) };
    }
}

/// Readable when some child has ended: `child`, or another.
fn child_ended(child: libc::id_t) -> io::Result<OwnedFd> {
    if CHILD_ENDED.get().is_none() {
        let (reader, writer) = io::pipe()?;
        set_nonblocking(reader.as_fd())?;
        set_nonblocking(writer.as_fd())?;
        drop(CHILD_ENDED.set((reader, writer)));
    }
    let handler = on_child_ended as *const () as libc::sighandler_t;
    // SAFETY: the handler calls write(2) only.
    unsafe { libc::signal(libc::SIGCHLD, handler) };
    if has_ended(child) {
        on_child_ended(libc::SIGCHLD);
    }
    let (reader, _) = CHILD_ENDED.get().ok_or(io::ErrorKind::NotFound)?;
    reader.as_fd().try_clone_to_owned()
}

/// Whether the child has ended; leaves its zombie (waitid(2), `WNOWAIT`).
fn has_ended(child: libc::id_t) -> bool {
    // SAFETY: `siginfo_t` is plain data, for which all bits zero is a valid value.
    let mut info: libc::siginfo_t = unsafe { mem::zeroed() };
    let options = libc::WEXITED | libc::WNOWAIT | libc::WNOHANG;
    // SAFETY: the pointer is valid for writing; an unknown pid only makes the call fail.
    let asked = check(unsafe { libc::waitid(libc::P_PID, child, &raw mut info, options) });
    // Nothing is filled in while it runs.
    asked.is_err() || info.si_signo != 0
}

/// Kills one child. It must be a child of ours that was not reaped, else the number may be another's.
pub(crate) fn kill_child(pid: i32) {
    // SAFETY: passes two integers.
    unsafe { libc::kill(pid, libc::SIGKILL) };
}

/// Reaps every child that has ended; whether others are left.
pub(crate) fn reap_all() -> bool {
    loop {
        // SAFETY: the null pointer asks for no status.
        match unsafe { libc::waitpid(-1, ptr::null_mut(), libc::WNOHANG) } {
            0 => return true,
            reaped if reaped > 0 => {}
            _ => return io::Error::last_os_error().kind() == io::ErrorKind::Interrupted,
        }
    }
}

/// Our children, where the system can tell.
pub(crate) fn children() -> Vec<i32> {
    (system().children)()
}

fn kill_running_group() {
    let group = GROUP.load(SeqCst);
    if group > 0 {
        // SAFETY: passes two integers; a group without members only makes the call fail.
        unsafe { libc::killpg(group, libc::SIGKILL) };
    }
}

// ------------------------------------------------------------------------------------ descriptors

/// What to wait for on a descriptor.
#[derive(Clone, Copy)]
pub(crate) enum Interest {
    /// Data, an end of file, or an error to be read.
    Read,
    /// Room to write, or a reader that has gone.
    Write,
}

/// Waits until one of the descriptors is ready or the time is up; tells which are. An interruption
/// ends the wait early. `None` is never ready.
pub(crate) fn poll<const N: usize>(
    watched: [Option<(BorrowedFd<'_>, Interest)>; N],
    time: Duration,
) -> io::Result<[bool; N]> {
    let mut entries = watched.map(|watched| match watched {
        Some((fd, Interest::Read)) => entry(fd.as_raw_fd(), libc::POLLIN),
        Some((fd, Interest::Write)) => entry(fd.as_raw_fd(), libc::POLLOUT),
        // Negative descriptors are skipped (poll(2)).
        None => entry(-1, 0),
    });
    // Rounded up: a wait that ends too early would be a busy loop.
    let milliseconds = c_int::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(c_int::MAX);
    poll_raw(&mut entries, milliseconds)?;
    Ok(entries.map(|entry| entry.revents != 0))
}

fn entry(fd: c_int, events: libc::c_short) -> libc::pollfd {
    libc::pollfd { fd, events, revents: 0 }
}

/// Leaves all entries as they were when a signal interrupts.
fn poll_raw(entries: &mut [libc::pollfd], milliseconds: c_int) -> io::Result<()> {
    let count = libc::nfds_t::try_from(entries.len()).unwrap_or_default();
    // SAFETY: pointer and count describe one living slice.
    match check(unsafe { libc::poll(entries.as_mut_ptr(), count, milliseconds) }) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(()),
    }
}

/// For [`std::os::unix::fs::OpenOptionsExt::custom_flags`]: opening a FIFO whose other end nobody
/// holds fails, or gives an empty file, instead of waiting for somebody (open(2)).
pub(crate) const WITHOUT_WAITING: i32 = libc::O_NONBLOCK;

/// Reading and writing fail with `WouldBlock` from now on where they would wait.
pub(crate) fn set_nonblocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: passes integers; the descriptor is open as long as it is borrowed.
    let flags = check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) })?;
    // SAFETY: as above.
    check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK) }).map(drop)
}

/// The usual convention of system calls: negative means failure, and `errno` tells which.
fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

// ----------------------------------------------------------------------- what systems differ in

/// What not every system has.
struct System {
    /// Marks all descriptors but the three standard ones to be closed by exec.
    close_on_exec: fn() -> io::Result<()>,
    /// Makes us the parent of every descendant that loses its own.
    adopt_orphans: fn(),
    /// In a child: to be killed when the parent dies. Async-signal-safe.
    die_with: fn(pid_t) -> io::Result<()>,
    /// A descriptor that becomes readable when the child ends.
    exit_descriptor: fn(pid_t) -> io::Result<OwnedFd>,
    /// Our children.
    children: fn() -> Vec<pid_t>,
}

fn system() -> &'static System {
    #[cfg(target_os = "linux")]
    if !(cfg!(debug_assertions) && std::env::var_os("I_INSIST_TEST_PORTABLE").is_some()) {
        return &linux::SYSTEM;
    }
    &PORTABLE
}

static PORTABLE: System = System {
    close_on_exec: || {
        // SAFETY: asks for a number.
        let limit = unsafe { libc::sysconf(libc::_SC_OPEN_MAX) };
        // The limit can be a thousand million; descriptors are given out from below.
        let limit = c_int::try_from(limit).unwrap_or(c_int::MAX).min(65_536);
        for fd in 3..limit {
            // SAFETY: passes integers; a closed descriptor only makes the call fail.
            unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
        Ok(())
    },
    adopt_orphans: || {},
    die_with: |_| Ok(()),
    exit_descriptor: |_| Err(io::ErrorKind::Unsupported.into()),
    children: Vec::new,
};

#[cfg(target_os = "linux")]
mod linux {
    use super::{System, check, own_pid};
    use libc::{c_int, pid_t};
    use std::os::fd::{FromRawFd, OwnedFd};
    use std::{fs, io};

    pub(super) static SYSTEM: System = System {
        close_on_exec,
        adopt_orphans: || {
            // SAFETY: passes integers. Linux 3.4; where it fails, only the group can be killed.
            unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
        },
        die_with: |parent| {
            // SAFETY: passes integers.
            check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) })?;
            // SAFETY: always succeeds. A parent that died before the call sends no signal.
            let alive = unsafe { libc::getppid() } == parent;
            if alive { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
        },
        exit_descriptor,
        children,
    };

    /// Linux 5.11 for the flag; a raw call, since not every C library wraps it.
    fn close_on_exec() -> io::Result<()> {
        let flags = libc::CLOSE_RANGE_CLOEXEC;
        // SAFETY: passes integers; marks descriptors and closes none.
        match unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, flags) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// `pidfd_open(2)`, Linux 5.3; the descriptor is close-on-exec from the start.
    fn exit_descriptor(pid: pid_t) -> io::Result<OwnedFd> {
        // SAFETY: passes integers.
        let result = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        match c_int::try_from(result) {
            // SAFETY: the call has just made this descriptor for us.
            Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// From `/proc/self/task/*/children` (proc(5)), or, in a kernel without that file, from the
    /// fourth field of every `/proc/*/stat`.
    fn children() -> Vec<pid_t> {
        let entries = |folder| fs::read_dir(folder).into_iter().flatten().flatten();
        let lists = entries("/proc/self/task")
            .map(|thread| fs::read_to_string(thread.path().join("children")));
        if let Ok(lists) = lists.collect::<io::Result<Vec<_>>>() {
            let pids = lists.iter().flat_map(|list| list.split_whitespace());
            return pids.filter_map(|pid| pid.parse().ok()).collect();
        }
        let pids = entries("/proc").filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(|pid| parent_of(*pid) == Some(own_pid())).collect()
    }

    fn parent_of(pid: pid_t) -> Option<pid_t> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name stands in parentheses and may hold anything; the fields after it do not.
        let (_, fields) = stat.rsplit_once(')')?;
        fields.split_whitespace().nth(1)?.parse().ok()
    }

    #[test]
    fn parents_are_found_without_the_children_file() {
        assert_eq!(parent_of(own_pid()), Some(std::os::unix::process::parent_id().cast_signed()));
        assert_eq!(parent_of(-1), None);
    }
}

// --------------------------------------------------------------------------- extended attributes

/// Gives `to` the extended attributes of `from`; on Linux they also carry access lists and security
/// labels (xattr(7)). What this user may not set, or this file system does not keep, is left out.
/// Elsewhere nothing is copied.
pub(crate) fn copy_extended_attributes(from: &File, to: &File) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    for name in extended_attributes::names(from)? {
        let Some(value) = extended_attributes::value(from, &name)? else {
            continue;
        };
        match extended_attributes::set(to, &name, &value) {
            Err(error)
                if !matches!(
                    error.raw_os_error(),
                    Some(libc::EPERM | libc::EACCES | libc::ENOTSUP)
                ) =>
            {
                return Err(error);
            }
            _ => {}
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _unused = (from, to);
    Ok(())
}

#[cfg(target_os = "linux")]
mod extended_attributes {
    use std::ffi::{CStr, CString};
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;

    /// The most that a list or a value may hold (xattr(7)).
    const MAX: usize = 64 * 1024;

    fn length(result: libc::ssize_t) -> io::Result<usize> {
        usize::try_from(result).map_err(|_negative| io::Error::last_os_error())
    }

    pub(super) fn names(file: &File) -> io::Result<Vec<CString>> {
        let mut list = vec![0_u8; MAX];
        // SAFETY: the buffer lives through the call and has the length that is passed.
        let result =
            unsafe { libc::flistxattr(file.as_raw_fd(), list.as_mut_ptr().cast(), list.len()) };
        match length(result) {
            Ok(length) => list.truncate(length),
            Err(error) if error.raw_os_error() == Some(libc::ENOTSUP) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        }
        Ok(list
            .split_inclusive(|&byte| byte == 0)
            .filter_map(|name| CStr::from_bytes_with_nul(name).ok())
            .map(CStr::to_owned)
            .collect())
    }

    /// `None` when this user may not read it.
    pub(super) fn value(file: &File, name: &CStr) -> io::Result<Option<Vec<u8>>> {
        let mut value = vec![0_u8; MAX];
        // SAFETY: name and buffer live through the call; the buffer has the length that is passed.
        let result = unsafe {
            libc::fgetxattr(file.as_raw_fd(), name.as_ptr(), value.as_mut_ptr().cast(), value.len())
        };
        match length(result) {
            Ok(length) => {
                value.truncate(length);
                Ok(Some(value))
            }
            Err(error)
                if matches!(
                    error.raw_os_error(),
                    Some(libc::ENODATA | libc::EPERM | libc::EACCES)
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    pub(super) fn set(file: &File, name: &CStr, value: &[u8]) -> io::Result<()> {
        // SAFETY: name and value live through the call; the value has the length that is passed.
        let result = unsafe {
            libc::fsetxattr(file.as_raw_fd(), name.as_ptr(), value.as_ptr().cast(), value.len(), 0)
        };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn attributes_are_copied() {
            use super::*;
            use std::fs;
            // Beside the test program: a temporary folder may lie on a file system without them.
            let folder = std::env::current_exe().unwrap().with_file_name("attributes-test");
            fs::create_dir_all(&folder).unwrap();
            let [from, to] = ["from", "to"].map(|name| File::create(folder.join(name)).unwrap());
            set(&from, c"user.one", b"1").unwrap();
            set(&from, c"user.empty", b"").unwrap();
            crate::sys::copy_extended_attributes(&from, &to).unwrap();
            assert_eq!(value(&to, c"user.one").unwrap().as_deref(), Some(&b"1"[..]));
            assert_eq!(value(&to, c"user.empty").unwrap().as_deref(), Some(&b""[..]));
            assert_eq!(value(&to, c"user.none").unwrap(), None);
            fs::remove_dir_all(folder).unwrap();
        }
    }
}
