//! What commands do to their operands.

use std::borrow::Cow;

/// What a command does with an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Manner {
    /// Only looks at it.
    Reads,
    /// A command that is not known here.
    Unknown,
    /// Changes it, or what lies in it.
    Writes,
    /// Deletes, moves or links it, with everything below.
    Moves,
}

/// A command and its arguments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Command<'a> {
    pub(super) head: &'a str,
    pub(super) args: &'a [String],
    /// For each argument, whether its value is not known before it runs.
    pub(super) dynamic: &'a [bool],
}

/// One operand of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operand<'a> {
    /// The word, quotes removed.
    pub(super) text: Cow<'a, str>,
    pub(super) manner: Manner,
    /// Its value is not known before it runs.
    pub(super) computed: bool,
}

impl<'a> Operand<'a> {
    pub(super) fn new(text: impl Into<Cow<'a, str>>, manner: Manner) -> Self {
        Self { text: text.into(), manner, computed: false }
    }
}

/// What is done to every operand alike. Commands that treat them differently stand in `of`.
fn manner(head: &str) -> Manner {
    match head {
        "." | ":" | "[" | "ack" | "ag" | "b2sum" | "basename" | "bat" | "batcat" | "break"
        | "builtin" | "cat" | "cd" | "chdir" | "cksum" | "claude" | "cmp" | "codex" | "column"
        | "comm" | "continue" | "cut" | "date" | "declare" | "delta" | "df" | "diff" | "dir"
        | "dirname" | "du" | "echo" | "egrep" | "exa" | "exit" | "expand" | "export" | "eza"
        | "false" | "fgrep" | "file" | "flake8" | "fmt" | "fold" | "getfacl" | "glab" | "grep"
        | "head" | "hexdump" | "i-insist" | "id" | "jobs" | "jq" | "kill" | "let" | "local"
        | "locate" | "ls" | "lsattr" | "lsd" | "lsof" | "man" | "mapfile" | "md5sum" | "more"
        | "mypy" | "namei" | "nl" | "numfmt" | "od" | "opencode" | "pandoc" | "paste" | "pgrep"
        | "pi" | "pkill" | "popd" | "pr" | "printf" | "ps" | "pushd" | "pwd" | "pylint"
        | "pyright" | "pytest" | "read" | "readarray" | "readlink" | "readonly" | "realpath"
        | "return" | "rev" | "rg" | "say" | "seq" | "sha1sum" | "sha224sum" | "sha256sum"
        | "sha384sum" | "sha512sum" | "shasum" | "shellcheck" | "shift" | "sleep" | "source"
        | "ssh" | "stat" | "strings" | "tac" | "tail" | "test" | "tr" | "true" | "tsort"
        | "type" | "typeset" | "ulimit" | "umask" | "uname" | "unset" | "vdir" | "view"
        | "wait" | "wc" | "whatis" | "whereis" | "which" | "whoami" | "xzcat" | "yes" | "zcat"
        | "zgrep" | "zless" => Manner::Reads,

        "7z" | "bunzip2" | "bzip2" | "chattr" | "chcon" | "chgrp" | "chmod" | "chown" | "cpio"
        | "csplit" | "fallocate" | "gunzip" | "gzip" | "mkdir" | "mkfifo" | "mknod" | "mktemp"
        | "patch" | "restorecon" | "setfacl" | "setfattr" | "split" | "sponge" | "sudoedit"
        | "tee" | "touch" | "truncate" | "uncompress" | "unlzma" | "unxz" | "unzip" | "xattr"
        | "xz" | "zstd" => Manner::Writes,

        "gio" | "mmv" | "mount" | "prename" | "rename" | "rmdir" | "shred" | "srm" | "trash"
        | "trash-put" | "umount" | "unlink" | "wipe" => Manner::Moves,

        _ => Manner::Unknown,
    }
}

/// Readers that write to the value of these options.
const OUTPUTS: &[(&str, &[&str])] = &[
    ("base64", &["-o", "--output"]),
    (
        "curl",
        &[
            "-o",
            "--output",
            "-D",
            "--dump-header",
            "-c",
            "--cookie-jar",
            "--trace",
            "--trace-ascii",
            "--stderr",
        ],
    ),
    ("gh", &["-O", "--output", "-D", "--dir"]),
    ("iconv", &["-o", "--output"]),
    ("less", &["-o", "-O", "--log-file", "--LOG-FILE"]),
    ("openssl", &["-out", "-keyout"]),
    ("shuf", &["-o", "--output"]),
    ("sort", &["-o", "--output"]),
    ("tree", &["-o"]),
    ("wget", &["-O", "--output-document", "-o", "--output-file", "-a", "--append-output"]),
    ("xmllint", &["--output"]),
];

/// Commands that write their operands only when given one of these options.
const IN_PLACE: &[(&str, &[&str])] = &[
    ("gsed", &["-i", "--in-place"]),
    ("perl", &["-i"]),
    ("ruby", &["-i"]),
    ("sed", &["-i", "--in-place"]),
    ("yq", &["-i", "--inplace"]),
];

/// Options with which a compressor or unpacker leaves files as they are.
const SHOWING: &[&str] =
    &["-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test", "-p", "-Z"];

impl<'a> Command<'a> {
    /// The command that a runner such as `uv run` or `npx` starts, as far as its words tell.
    pub(super) fn launched(self) -> Self {
        let verb = self.args.first().map(String::as_str);
        let from = match self.head {
            "npx" | "bunx" | "pnpx" | "uvx" => 0,
            _ if matches!(verb, Some("run" | "exec" | "x" | "dlx")) => 1,
            _ => return self,
        };
        let name = |word: &'a String| word.rsplit('/').next().unwrap_or(word);
        let known = |word: &'a String| {
            let name = name(word);
            super::code::is_interpreter(name)
                || super::code::is_shell(name)
                || of_known_manner(name)
        };
        let mut words = self.args.iter().enumerate().skip(from);
        // `uv run check.py` runs the file.
        let first = words.clone().find(|(_, word)| !word.starts_with('-'));
        let script = first.filter(|(_, word)| {
            let ends = [".js", ".mjs", ".py", ".rb", ".sh", ".ts"];
            ends.iter().any(|end| word.ends_with(end))
        });
        let found = script.or_else(|| words.find(|(_, word)| known(word)));
        found.map_or(self, |(at, word)| Self { head: name(word), ..self.behind(at + 1) })
    }

    /// Whether a command that is not known says that it only looks.
    fn only_checks(self) -> bool {
        const CHECKING: [&str; 8] =
            ["check", "diff", "lint", "list", "show", "status", "validate", "view"];
        let checks = self.args.first().is_some_and(|word| CHECKING.contains(&word.as_str()))
            || self
                .args
                .iter()
                .any(|word| matches!(word.as_str(), "--check" | "--dry-run" | "--diff"));
        checks && !self.has_any(&["--fix", "--write", "--apply", "--output"])
    }

    /// The same command with its first `count` arguments taken off.
    pub(super) fn behind(self, count: usize) -> Self {
        Self {
            args: self.args.get(count..).unwrap_or_default(),
            dynamic: self.dynamic.get(count..).unwrap_or_default(),
            ..self
        }
    }

    /// Whether an option is given: alone, with a value, in a cluster of short ones, or cut short as
    /// GNU programs let it be.
    pub(super) fn has(self, option: &str) -> bool {
        let options = self.args.iter().take_while(|argument| *argument != "--");
        let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
        options.into_iter().any(|argument| {
            if let Some(letter) = letter {
                let cluster = argument.strip_prefix('-');
                return cluster
                    .is_some_and(|cluster| !cluster.starts_with('-') && cluster.contains(letter));
            }
            let name = argument.split('=').next().unwrap_or_default();
            let cut_short = name.len() > 3 && name.starts_with("--") && option.starts_with(name);
            name == option || cut_short
        })
    }

    fn has_any(self, options: &[&str]) -> bool {
        options.iter().any(|option| self.has(option))
    }

    /// The values of options: `-o x`, `-ox`, `-so x`, `--output x`, `--output=x`.
    fn values(self, options: &[&str]) -> Vec<&'a str> {
        let mut values = Vec::new();
        for (index, argument) in self.args.iter().enumerate() {
            let next = self.args.get(index + 1).map(String::as_str);
            for option in options {
                let short = option.len() == 2 && !argument.starts_with("--");
                if short
                    && let (Some(cluster), Some(letter)) =
                        (argument.strip_prefix('-'), option.get(1..))
                {
                    match cluster.split_once(letter) {
                        Some((_, "")) => values.extend(next),
                        Some((_, value)) => values.push(value),
                        None => {}
                    }
                } else if argument == option {
                    values.extend(next);
                } else if let Some(value) =
                    argument.strip_prefix(option).and_then(|rest| rest.strip_prefix('='))
                {
                    values.push(value);
                }
            }
        }
        values
    }

    /// The words that may name files: operands, values of options, what is glued to `-C` or `of=`.
    fn words(self, manner: Manner) -> Vec<Operand<'a>> {
        let mut ended = false;
        let mut words = Vec::new();
        for (index, argument) in self.args.iter().enumerate() {
            let computed = self.dynamic.get(index).copied().unwrap_or_default();
            let text = match argument.split_once('=') {
                _ if !ended && argument == "--" => {
                    ended = true;
                    continue;
                }
                _ if ended => argument,
                Some((name, value)) if name.starts_with('-') || name == "of" => value,
                _ => match argument.get(2..) {
                    Some(glued) if argument.starts_with('-') && glued.contains(['.', '/', '$']) => {
                        glued
                    }
                    _ if argument.starts_with('-') => continue,
                    _ => argument,
                },
            };
            words.push(Operand { computed, ..Operand::new(text, manner) });
        }
        words
    }

    /// Operands alone.
    pub(super) fn plain_words(self) -> impl Iterator<Item = &'a str> {
        self.args.iter().map(String::as_str).filter(|word| !word.starts_with('-'))
    }
}

/// Whether `name` is a command whose manner this file knows.
fn of_known_manner(name: &str) -> bool {
    let none = Command { head: name, args: &[], dynamic: &[] };
    manner(name) != Manner::Unknown
        || matches!(name, "rm" | "dd" | "sed" | "find" | "tar")
        || copies(none)
}

fn copies(command: Command<'_>) -> bool {
    matches!(
        command.head,
        "cp" | "gcp" | "ginstall" | "install" | "link" | "ln" | "mv" | "gmv" | "rsync" | "scp"
    )
}

/// What `command` changes or may change. `is_directory` tells what the disk holds.
pub(super) fn of<'a>(
    command: Command<'a>,
    is_directory: &dyn Fn(&str) -> bool,
) -> Vec<Operand<'a>> {
    if copies(command) {
        return copied(command, is_directory);
    }
    if let Some((_, options)) = OUTPUTS.iter().find(|(head, _)| *head == command.head) {
        return written_to(command, options);
    }
    if let Some((_, options)) = IN_PLACE.iter().find(|(head, _)| *head == command.head) {
        return if command.has_any(options) { edited(command) } else { Vec::new() };
    }
    match command.head {
        "rm" | "grm" if command.has_any(&["-r", "-R", "-d", "--recursive", "--dir"]) => {
            command.words(Manner::Moves)
        }
        "rm" | "grm" => command.words(Manner::Writes),
        "dd" => {
            let target = command.args.iter().position(|argument| argument.starts_with("of="));
            target.map_or(Vec::new(), |at| {
                let mut target = command.behind(at).words(Manner::Writes);
                target.truncate(1);
                target
            })
        }
        "git" => by_git(command, is_directory),
        "tar" | "bsdtar" | "gtar" => archived(command),
        "uniq" | "xxd" => command.words(Manner::Writes).into_iter().skip(1).collect(),
        "zip" if command.has("-m") => command.words(Manner::Moves),
        "zip" => command.words(Manner::Writes).into_iter().take(1).collect(),
        "find" | "gfind" | "fd" | "fdfind" => Vec::new(),
        "gunzip" | "gzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "zstd" | "unzip"
            if command.has_any(SHOWING) =>
        {
            Vec::new()
        }
        head => match manner(head) {
            Manner::Reads => Vec::new(),
            Manner::Unknown if command.only_checks() => Vec::new(),
            manner @ (Manner::Unknown | Manner::Writes | Manner::Moves) => {
                let mut operands = command.words(manner);
                if matches!(head, "unzip" | "patch" | "split" | "csplit" | "cpio" | "7z") {
                    operands.push(Operand::new(".", manner));
                }
                operands
            }
        },
    }
}

/// The files of an editor that works in place; its first operand is a script, unless `-e` or `-f`
/// gives that.
fn edited(command: Command<'_>) -> Vec<Operand<'_>> {
    let scripts = command.values(&["-e", "--expression"]);
    let first = usize::from(scripts.is_empty() && !command.has_any(&["-f", "--file"]));
    let operands = command.words(Manner::Writes).into_iter();
    operands
        .filter(|operand| command.plain_words().any(|word| word == operand.text))
        .filter(|operand| !scripts.contains(&&*operand.text))
        .skip(first)
        .collect()
}

/// Outputs named by options, and what downloads are called where nothing names them.
fn written_to<'a>(command: Command<'a>, options: &[&str]) -> Vec<Operand<'a>> {
    let mut operands: Vec<Operand<'a>> = command
        .values(options)
        .into_iter()
        .map(|value| Operand {
            computed: value.contains('$'),
            ..Operand::new(value, Manner::Writes)
        })
        .collect();
    let keeps_names = match command.head {
        "curl" => command.has_any(&["-O", "--remote-name", "--remote-name-all"]),
        "wget" => operands.is_empty(),
        _ => false,
    };
    if keeps_names {
        let directory = command.values(&["-P", "--directory-prefix", "--output-dir"]);
        let directory = directory.first().copied().unwrap_or(".");
        operands.push(Operand::new(directory, Manner::Writes));
        let names =
            command.plain_words().filter_map(|word| word.split_once("://")?.1.rsplit('/').next());
        operands
            .extend(names.map(|name| Operand::new(format!("{directory}/{name}"), Manner::Writes)));
    }
    operands
}

/// Sources are read, or moved and linked; the last operand, or the directory behind `-t`, is
/// written, and what lands in a directory keeps its name there.
fn copied<'a>(command: Command<'a>, is_directory: &dyn Fn(&str) -> bool) -> Vec<Operand<'a>> {
    const TARGET: [&str; 2] = ["-t", "--target-directory"];
    if command.head.ends_with("install") && command.has_any(&["-d", "--directory"]) {
        return command.words(Manner::Writes);
    }
    let takes_away = match command.head {
        "mv" | "gmv" | "ln" | "link" => true,
        "rsync" => command.has("--remove-source-files"),
        _ => command.has_any(&["-l", "--link", "-s", "--symbolic-link"]),
    };
    let syncs = command.head == "rsync" || command.head == "scp";
    let mut sources = command.words(Manner::Moves);
    let named = if syncs { None } else { command.values(&TARGET).first().copied() };
    let target = match named {
        Some(target) => {
            sources.retain(|source| source.text != target);
            Operand::new(target, Manner::Writes)
        }
        None if command.head == "ln" && sources.len() == 1 => Operand::new(".", Manner::Writes),
        None => match sources.pop() {
            Some(target) => Operand { manner: Manner::Writes, ..target },
            None => return Vec::new(),
        },
    };
    let onto = !syncs && command.has_any(&["-T", "--no-target-directory"]);
    let into = !onto
        && (named.is_some()
            || sources.len() > 1
            || target.text.ends_with('/')
            || is_directory(&target.text));
    let whole_directories =
        takes_away || syncs || command.has_any(&["-r", "-R", "-a", "--recursive", "--archive"]);
    let mut operands = vec![target.clone()];
    for source in &sources {
        let name = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let contents =
            onto || matches!(name, "" | "." | "..") || syncs && source.text.ends_with('/');
        if contents {
            operands.push(Operand::new(format!("{}/*", target.text), Manner::Writes));
            if is_directory(&format!("{}/.i-insist", source.text)) && is_directory(&target.text) {
                operands.push(Operand::new(format!("{}/.i-insist", target.text), Manner::Writes));
            }
        } else if into {
            operands.push(Operand::new(format!("{}/{name}", target.text), Manner::Writes));
        } else if whole_directories {
            operands.push(Operand::new(format!("{}/*", target.text), Manner::Writes));
        }
    }
    if !into || syncs && command.has("--delete") {
        operands.push(Operand { manner: Manner::Moves, ..target });
    }
    if takes_away {
        operands.extend(sources);
    }
    operands
}

/// Subcommands of git that write files they are told the names of.
fn by_git<'a>(command: Command<'a>, is_directory: &dyn Fn(&str) -> bool) -> Vec<Operand<'a>> {
    let rest = command.behind(1);
    let and_here = |mut operands: Vec<Operand<'a>>| {
        operands.push(Operand::new(".", Manner::Writes));
        operands
    };
    match command.args.first().map_or("", String::as_str) {
        "rm" if rest.has("--cached") => Vec::new(),
        "rm" => rest.words(Manner::Moves),
        "mv" => copied(Command { head: "mv", ..rest }, is_directory),
        "stash" if matches!(rest.args.first().map(String::as_str), Some("list" | "show")) => {
            Vec::new()
        }
        "clean" | "init" | "stash" => and_here(rest.words(Manner::Writes)),
        "am" | "apply" | "checkout" | "checkout-index" | "clone" | "restore" | "submodule"
        | "worktree" => rest.words(Manner::Writes),
        "config" => written_to(rest, &["-f", "--file"]),
        _ => written_to(rest, &["-o", "--output", "--output-directory"]),
    }
}

/// `tar`: extraction writes what it names and where it is sent; creation writes the archive.
fn archived(command: Command<'_>) -> Vec<Operand<'_>> {
    let Some(first) = command.args.first() else {
        return Vec::new();
    };
    let cluster = first.strip_prefix('-').unwrap_or(first);
    let long = |option| command.has(option);
    let bundled = !cluster.starts_with('-');
    if long("--extract") || long("--get") || bundled && cluster.contains('x') || command.has("-x") {
        let mut operands = command.words(Manner::Writes);
        operands.push(Operand::new(".", Manner::Writes));
        operands
    } else if long("--list") || bundled && cluster.contains('t') {
        Vec::new()
    } else if long("--remove-files") {
        command.words(Manner::Moves)
    } else {
        let mut archives = command.values(&["-f", "--file"]);
        if bundled && first == cluster && cluster.contains('f') {
            archives.extend(command.args.get(1).map(String::as_str));
        }
        archives.into_iter().map(|archive| Operand::new(archive, Manner::Writes)).collect()
    }
}
