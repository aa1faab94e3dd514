//! Code in other languages: what an interpreter, an editor or a scheduler is given as text.

use super::guarded::named_in;
use super::operands::{Command, Manner, Operand};

const SHELLS: &[&str] = &["ash", "bash", "dash", "fish", "ksh", "mksh", "rbash", "sh", "zsh"];

const AWKS: &[&str] = &["awk", "gawk", "mawk", "nawk"];

/// Programs that run code, and the letters of the options behind which it stands.
const INTERPRETERS: &[(&str, &str)] = &[
    ("bun", "ep"),
    ("deno", "ep"),
    ("expect", "c"),
    ("guile", "c"),
    ("ipython", "c"),
    ("irb", "e"),
    ("julia", "eE"),
    ("lua", "e"),
    ("luajit", "e"),
    ("node", "ep"),
    ("nodejs", "ep"),
    ("osascript", "e"),
    ("perl", "eE"),
    ("php", "rBRE"),
    ("pypy", "c"),
    ("python", "c"),
    ("Rscript", "e"),
    ("ruby", "e"),
    ("tclsh", ""),
    ("ts-node", "ep"),
    ("tsx", "ep"),
];

/// Programs whose arguments and input are commands throughout: editors, databases, schedulers, what
/// types into a terminal, and what is told a script word by word.
const SCRIPTED: &[&str] = &[
    "alias",
    "at",
    "batch",
    "crontab",
    "ed",
    "emacs",
    "emacsclient",
    "ex",
    "gdb",
    "kitty",
    "nano",
    "nvim",
    "patch",
    "red",
    "screen",
    "sqlite",
    "tmux",
    "vi",
    "vim",
    "wezterm",
    "xdotool",
    "zellij",
];

/// What a command runs as code.
#[derive(Default)]
pub(super) struct Code<'a> {
    /// Texts that are code, or that code works on.
    pub(super) texts: Vec<&'a str>,
    /// Standard input is code as well.
    pub(super) reads_input: bool,
    /// Words that the code is given, or runs from a file with.
    pub(super) operands: Vec<Operand<'a>>,
}

pub(super) fn is_shell(head: &str) -> bool {
    SHELLS.contains(&head)
}

pub(super) fn is_interpreter(head: &str) -> bool {
    letters(head).is_some() || AWKS.contains(&head)
}

/// `python3.11` is `python`.
fn letters(head: &str) -> Option<&'static str> {
    let name = head.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
    INTERPRETERS.iter().find(|(known, _)| *known == name).map(|(_, letters)| *letters)
}

/// The code in `command`; `None` when it runs none that is not shell text.
pub(super) fn read(command: Command<'_>) -> Option<Code<'_>> {
    let all = || command.args.iter().map(String::as_str).collect();
    let head = command.head.trim_end_matches(|sign: char| sign.is_ascii_digit());
    if SCRIPTED.contains(&head) || runs_scripts(command) {
        return Some(Code { texts: all(), reads_input: true, ..Code::default() });
    }
    if matches!(command.head, "make" | "gmake") {
        return Some(Code { reads_input: true, ..Code::default() });
    }
    if matches!(command.head, "." | "source") {
        return Some(Code::default());
    }
    if is_shell(command.head) {
        // The script itself is read as segments.
        return Some(Code { operands: words_behind_script(command), ..Code::default() });
    }
    if AWKS.contains(&command.head) {
        let writes = command.args.iter().any(|word| writes_in_awk(word));
        return Some(Code { texts: if writes { all() } else { Vec::new() }, ..Code::default() });
    }
    let letters = letters(command.head)?;
    if let Some(operands) = substituted(command) {
        return Some(Code { operands, ..Code::default() });
    }
    let options = command
        .args
        .iter()
        .take_while(|word| word.starts_with('-') && *word != "--" && *word != "-");
    let inline = options.into_iter().any(|option| {
        option.starts_with("--eval")
            || option.starts_with("--print")
            || !option.starts_with("--") && option.contains(|letter| letters.contains(letter))
    });
    if inline || command.args.first().is_some_and(|word| word == "eval") {
        return Some(Code { texts: all(), ..Code::default() });
    }
    let command = match command.args.first() {
        Some(verb) if verb == "run" => command.behind(1),
        _ => command,
    };
    Some(Code {
        texts: Vec::new(),
        reads_input: command.args.iter().all(|word| word.starts_with('-'))
            || command.args.iter().any(|word| word == "-"),
        operands: words_behind_script(command),
    })
}

/// `perl -i -pe 's/a/b/' file`: a substitution names what it looks for; the rest are files.
fn substituted(command: Command<'_>) -> Option<Vec<Operand<'_>>> {
    let loops = matches!(command.head, "perl" | "ruby") && (command.has("-p") || command.has("-n"));
    let script = command.plain_words().next().filter(|_| loops)?;
    let plain = ["s/", "s|", "s#", "s{", "s,", "s!", "y/", "tr/"]
        .iter()
        .any(|start| script.starts_with(start));
    let in_place = command.has("-i");
    let files = command.plain_words().skip(1);
    let manner = if in_place { Manner::Writes } else { Manner::Reads };
    plain.then(|| files.map(|file| Operand::new(file, manner)).collect())
}

/// Options of shells and interpreters that take a value.
const VALUES: &[&str] = &[
    "-I",
    "-O",
    "-W",
    "-X",
    "-o",
    "-r",
    "+O",
    "+o",
    "--import",
    "--init-file",
    "--loader",
    "--rcfile",
    "--require",
];

/// What a script is given: it is read and run itself.
fn words_behind_script(command: Command<'_>) -> Vec<Operand<'_>> {
    let mut index = 0;
    let option = |word: &&String| word.starts_with(['-', '+']) && word.len() > 1;
    while let Some(word) = command.args.get(index).filter(option) {
        index += 1 + usize::from(VALUES.contains(&word.as_str()));
        if word == "-m" {
            break;
        }
    }
    let words = command.args.iter().skip(index + 1);
    words
        .map(|word| match word.split_once('=') {
            Some((name, value)) if name.starts_with('-') => value,
            _ => word,
        })
        .map(|word| Operand::new(word, Manner::Unknown))
        .collect()
}

/// Whether awk code writes a file or runs a command: `print > x`, `print | x`, `system(x)`.
fn writes_in_awk(code: &str) -> bool {
    let behind_print = || code.split("print").skip(1);
    code == "inplace"
        || code.contains("system(")
        || behind_print().any(|rest| {
            let statement = rest.split(['}', ';', '\n']).next().unwrap_or_default();
            statement.contains(['>', '|'])
        })
}

/// git subcommands, and sed's `w`, that take scripts among other words.
fn runs_scripts(command: Command<'_>) -> bool {
    let first = command.args.first().map_or("", String::as_str);
    match command.head {
        "git" => {
            matches!(first, "bisect" | "filter-branch")
                || matches!(first, "rebase" | "submodule") && command.args.len() > 2
        }
        "sed" | "gsed" => command.args.iter().any(|word| {
            let before = named_in(word).and_then(|name| {
                let start = word.to_ascii_lowercase().find(name.split('/').next()?)?;
                let (path_start, _) = word.get(..start)?.rsplit_once([' ', '\t'])?;
                Some(path_start)
            });
            before.is_some_and(|script| script.trim_end().ends_with(['w', 'W']))
        }),
        _ => false,
    }
}
