//! What the operands of a command are to it: read, written, moved away.

use crate::shell::Segment;
use std::borrow::Cow;

/// What a command does with an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// Only looks at it.
    Reads,
    /// A command that is not known here.
    Unknown,
    /// Changes it, or what lies in it.
    Writes,
    /// Deletes, moves or links it.
    Moves,
}

/// One operand of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operand<'a> {
    /// The word, quotes removed.
    pub(super) text: Cow<'a, str>,
    /// What the command does with it.
    pub(super) manner: Manner,
}

impl<'a> Operand<'a> {
    /// An operand that is written.
    pub(super) fn written(text: &'a str) -> Self {
        Self {
            text: Cow::Borrowed(text),
            manner: Manner::Writes,
        }
    }
}

const READERS: &[&str] = &[
    "cat",
    "less",
    "more",
    "head",
    "tail",
    "bat",
    "batcat",
    "nl",
    "tac",
    "grep",
    "egrep",
    "fgrep",
    "zgrep",
    "rg",
    "ag",
    "ack",
    "ls",
    "dir",
    "exa",
    "eza",
    "lsd",
    "tree",
    "stat",
    "file",
    "wc",
    "diff",
    "cmp",
    "comm",
    "delta",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "b2sum",
    "cksum",
    "shasum",
    "jq",
    "cut",
    "tr",
    "fold",
    "column",
    "echo",
    "printf",
    "cd",
    "pushd",
    "popd",
    "pwd",
    "test",
    "[",
    "du",
    "df",
    "readlink",
    "realpath",
    "basename",
    "dirname",
    "xxd",
    "od",
    "hexdump",
    "strings",
    "which",
    "whereis",
    "type",
    "source",
    ".",
    "export",
    "declare",
    "local",
    "readonly",
    "typeset",
    "read",
    "set",
    "shellcheck",
    "taplo",
    "true",
    "false",
    ":",
    "exit",
    "return",
    "alias",
    "fd",
    "fdfind",
    "gh",
    "glab",
    "say",
    "i-insist",
];

const WRITERS: &[&str] = &[
    "tee",
    "touch",
    "truncate",
    "chmod",
    "chown",
    "chgrp",
    "chattr",
    "setfacl",
    "setfattr",
    "xattr",
    "mkdir",
    "mkfifo",
    "mknod",
    "dd",
    "patch",
    "ed",
    "ex",
    "vi",
    "vim",
    "nvim",
    "nano",
    "pico",
    "emacs",
    "emacsclient",
    "micro",
    "hx",
    "code",
    "sponge",
    "split",
    "csplit",
    "unzip",
    "gunzip",
    "gzip",
    "bzip2",
    "xz",
    "zstd",
    "mount",
    "umount",
    "chcon",
    "restorecon",
];

const MOVERS: &[&str] = &[
    "rm",
    "rmdir",
    "unlink",
    "mv",
    "ln",
    "link",
    "trash",
    "trash-put",
    "gio",
    "rename",
    "prename",
    "shred",
    "srm",
];

/// Commands whose last operand is written and whose others are only read.
const COPIERS: &[&str] = &["cp", "install", "rsync", "scp", "gcp", "ginstall"];

/// Commands that write only with one of these options.
const IN_PLACE: &[(&str, &[&str])] = &[
    ("sed", &["-i", "--in-place"]),
    ("gsed", &["-i", "--in-place"]),
    ("awk", &["inplace"]),
    ("gawk", &["inplace"]),
    ("mawk", &["inplace"]),
    ("yq", &["-i", "--inplace", "--in-place"]),
    ("sort", &["-o", "--output"]),
    ("tar", &["-x", "x", "--extract", "--get", "-c", "--create"]),
    ("curl", &["-o", "-O", "--output"]),
    ("wget", &["-O", "--output-document", "-P"]),
    ("find", &["-delete", "-fprint", "-fprintf", "-fls"]),
    (
        "git",
        &[
            "checkout",
            "restore",
            "apply",
            "am",
            "switch",
            "update-index",
            "worktree",
            "clean",
            "config",
        ],
    ),
];

const GIT_MOVERS: &[&str] = &["rm", "mv"];

const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "fish"];

const INTERPRETERS: &[&str] = &[
    "python",
    "node",
    "nodejs",
    "deno",
    "bun",
    "perl",
    "ruby",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "expect",
    "osascript",
    "Rscript",
    "julia",
    "sqlite",
];

const AWKS: &[&str] = &["awk", "gawk", "mawk", "nawk"];

/// File names that a search which deletes could be after.
const SAMPLES: &[&str] = &[
    ".i-insist",
    "i-insist.toml",
    "settings.json",
    "settings.local.json",
    "hooks.json",
    "config.toml",
    ".steer.toml",
    "pi-hooks.json",
    ".pi-hooks.json",
];

/// What `segment` does with the operands it is given.
pub(super) fn manner(segment: &Segment) -> Manner {
    let head = segment.head.as_str();
    let named = |list: &[&str]| list.contains(&head);
    if named(MOVERS)
        || head == "git"
            && segment
                .args
                .first()
                .is_some_and(|word| GIT_MOVERS.contains(&word.as_str()))
    {
        return Manner::Moves;
    }
    if let Some((_, options)) = IN_PLACE.iter().find(|(name, _)| *name == head) {
        let given = |option: &&str| {
            segment
                .args
                .iter()
                .any(|argument| gives_option(argument, option))
        };
        return match (options.iter().any(given), head) {
            (true, "find") => Manner::Moves,
            (true, _) => Manner::Writes,
            (false, _) => Manner::Reads,
        };
    }
    if named(WRITERS) || named(COPIERS) {
        return Manner::Writes;
    }
    if named(READERS) {
        Manner::Reads
    } else {
        Manner::Unknown
    }
}

/// Whether `argument` is `option`, alone, with a value glued on, or in a cluster of short options.
fn gives_option(argument: &str, option: &str) -> bool {
    match option.strip_prefix('-').filter(|letter| letter.len() == 1) {
        Some(letter) => argument
            .strip_prefix('-')
            .is_some_and(|cluster| !cluster.starts_with('-') && cluster.contains(letter)),
        None => {
            argument == option
                || argument
                    .strip_prefix(option)
                    .is_some_and(|rest| rest.starts_with('='))
        }
    }
}

/// Every operand of `segment`, values of options included. None for interpreters, whose arguments
/// are code or belong to code.
pub(super) fn of(segment: &Segment) -> Vec<Operand<'_>> {
    if is_interpreter(&segment.head) {
        return Vec::new();
    }
    let manner = manner(segment);
    if manner == Manner::Moves && segment.head == "find" && !seeks_protected(segment) {
        return Vec::new();
    }
    let mut operands: Vec<Operand<'_>> = words(segment)
        .map(|text| Operand {
            text: Cow::Borrowed(text),
            manner,
        })
        .collect();
    if COPIERS.contains(&segment.head.as_str()) || segment.head == "mv" {
        land(segment, &mut operands);
    }
    operands
}

/// The words that may name files: operands, and what stands behind the `=` of an option or of `of=`.
fn words(segment: &Segment) -> impl Iterator<Item = &str> {
    segment
        .args
        .iter()
        .filter_map(|argument| match argument.split_once('=') {
            Some((name, value)) if name.starts_with('-') || name == "of" => Some(value),
            _ if argument.starts_with('-') => None,
            _ => Some(argument.as_str()),
        })
}

/// Copies read their sources and write the last operand, or the directory behind `-t`. What lands in a
/// directory keeps its name there.
fn land<'a>(segment: &'a Segment, operands: &mut Vec<Operand<'a>>) {
    let after_target = segment
        .args
        .iter()
        .position(|argument| argument == "-t" || argument == "--target-directory")
        .and_then(|at| segment.args.get(at + 1));
    let long_target = segment
        .args
        .iter()
        .find_map(|argument| argument.strip_prefix("--target-directory="));
    let Some(target) = long_target
        .or(after_target.map(String::as_str))
        .or_else(|| operands.last().map(|_| ""))
        .map(str::to_owned)
    else {
        return;
    };
    let target = if target.is_empty() {
        operands
            .last()
            .map(|last| last.text.to_string())
            .unwrap_or_default()
    } else {
        target
    };
    let mut landing = Vec::new();
    for operand in operands.iter_mut().filter(|operand| operand.text != target) {
        if let Some(name) = operand.text.trim_end_matches('/').rsplit('/').next() {
            landing.push(Operand {
                text: Cow::Owned(format!("{target}/{name}")),
                manner: Manner::Writes,
            });
        }
        if segment.head != "mv" {
            operand.manner = Manner::Reads;
        }
    }
    operands.extend(landing);
}

/// Whether a search that deletes is after a name that is protected, or after any name.
fn seeks_protected(segment: &Segment) -> bool {
    let mut patterns = segment
        .args
        .windows(2)
        .filter(|pair| matches!(pair, [test, _] if matches!(test.as_str(), "-name" | "-iname")))
        .filter_map(|pair| pair.last());
    let mut any = false;
    let seeks = patterns.any(|pattern| {
        any = true;
        SAMPLES.iter().any(|name| {
            super::guarded::shell_glob(pattern, name)
                || super::guarded::shell_glob(&format!(".{pattern}"), name)
        })
    });
    seeks || !any
}

/// Programs that run code in a language of their own.
pub(super) fn is_interpreter(head: &str) -> bool {
    let name =
        head.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.');
    INTERPRETERS.contains(&name) || SHELLS.contains(&head) || AWKS.contains(&head)
}

/// The texts of an interpreter's arguments that are code, or tell code what to work on.
pub(super) fn code(segment: &Segment) -> Vec<&str> {
    let first = segment
        .args
        .iter()
        .position(|argument| !argument.starts_with('-'));
    let inline = segment.args.iter().any(|argument| {
        matches!(
            argument.as_str(),
            "-c" | "-e" | "-E" | "-p" | "-r" | "-m" | "--eval" | "--print"
        ) || argument.starts_with("-") && argument.contains(['e', 'c', 'i'])
    });
    let in_place = manner(segment) == Manner::Writes;
    segment
        .args
        .iter()
        .enumerate()
        .filter(|(index, _)| match AWKS.contains(&segment.head.as_str()) {
            // The first operand is the program, the others are files it reads.
            true => in_place || first == Some(*index),
            // A script is read and run.
            false => inline || first != Some(*index),
        })
        .map(|(_, argument)| argument.as_str())
        .collect()
}

/// Whether a shell or interpreter is started that takes its commands from the terminal.
pub(super) fn reads_commands_from_terminal(segment: &Segment) -> bool {
    let starts = (is_interpreter(&segment.head) && !AWKS.contains(&segment.head.as_str()))
        || matches!(segment.head.as_str(), "tmux" | "screen" | "script");
    let interactive = segment
        .args
        .iter()
        .any(|argument| argument == "-i" || argument == "--interactive" || argument == "-s");
    let informs = segment.args.iter().any(|argument| {
        matches!(
            argument.as_str(),
            "--version" | "-V" | "-v" | "--help" | "-h"
        )
    });
    let given = segment
        .args
        .iter()
        .any(|argument| !argument.starts_with('-'));
    starts
        && !informs
        && (interactive || !given || matches!(segment.head.as_str(), "tmux" | "screen"))
}
