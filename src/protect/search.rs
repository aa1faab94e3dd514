//! `find` and `fd`: what a search comes across.

use super::guarded::{Wildcards, could_become, examples};
use super::operands::Command;
use crate::glob::{Pattern, Stars};

/// Where a search starts, and whether it may come across a protected file there.
pub(super) struct Search<'a> {
    pub(super) roots: Vec<&'a str>,
    pub(super) finds_protected: bool,
    /// It deletes, or writes a list, by itself.
    pub(super) changes: bool,
    /// The program that `fd` runs for what it finds; those of `find` are segments of their own.
    pub(super) runs: Option<Command<'a>>,
}

/// Reads `command` as a search; `None` when it is none.
pub(super) fn read(command: Command<'_>) -> Option<Search<'_>> {
    match command.head {
        "find" | "gfind" => Some(by_find(command)),
        "fd" | "fdfind" => Some(by_fd(command)),
        _ => None,
    }
}

/// find(1): roots, then tests and actions. A negated test sorts out and finds nothing.
fn by_find(command: Command<'_>) -> Search<'_> {
    let begins_expression = |word: &&str| word.starts_with(['-', '(', '!']);
    let words = || command.args.iter().map(String::as_str);
    let options = words().take_while(|word| matches!(*word, "-H" | "-L" | "-P")).count();
    let mut roots: Vec<&str> =
        words().skip(options).take_while(|word| !begins_expression(word)).collect();
    let expression: Vec<&str> = words().skip(options + roots.len()).collect();
    if roots.is_empty() {
        roots.push(".");
    }
    let mut alternatives = expression.split(|word| matches!(*word, "-o" | "-or" | ","));
    Search {
        finds_protected: alternatives.any(|tests| roots.iter().any(|root| passes(tests, root))),
        changes: expression.iter().any(|word| {
            word.starts_with("-delete") || word.starts_with("-fprint") || *word == "-fls"
        }),
        roots,
        runs: None,
    }
}

/// Whether a protected file below `root` could pass all these tests.
fn passes(tests: &[&str], root: &str) -> bool {
    let negated = |index: usize| {
        let before = index.checked_sub(1).and_then(|before| tests.get(before));
        matches!(before, Some(&("!" | "-not")))
    };
    let fits = |example: &str| {
        tests.windows(2).enumerate().all(|(index, pair)| match pair {
            _ if negated(index) => true,
            ["-name" | "-iname", pattern] => {
                let name = example.rsplit('/').next().unwrap_or(example);
                could_become(pattern, name, Wildcards::Dotted)
            }
            ["-path" | "-ipath" | "-wholename" | "-iwholename", pattern] => {
                let path = format!("{}/{example}", root.trim_end_matches('/'));
                Pattern::new(pattern, Stars::CrossSlash).is_ok_and(|pattern| pattern.matches(&path))
            }
            _ => true,
        })
    };
    // What is protected is not empty.
    !tests.contains(&"-empty") && examples().any(|example| fits(&example))
}

/// fd(1): a pattern, then roots. Its patterns are regular expressions; one that names nothing
/// protected word for word is taken to find nothing protected, as hidden files are left out.
fn by_fd(command: Command<'_>) -> Search<'_> {
    let runs = command
        .args
        .iter()
        .position(|word| matches!(word.as_str(), "-x" | "--exec" | "-X" | "--exec-batch"));
    let own = command.args.get(..runs.unwrap_or(command.args.len())).unwrap_or_default();
    let mut roots: Vec<&str> =
        own.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    let hidden = own.iter().any(|word| {
        word == "--hidden"
            || word == "--unrestricted"
            || word.starts_with("-H")
            || word.starts_with("-u")
    });
    roots.push(".");
    Search {
        roots,
        finds_protected: hidden,
        changes: false,
        runs: runs.map(|at| {
            let rest = command.behind(at + 1);
            Command { head: rest.args.first().map_or("", String::as_str), ..rest.behind(1) }
        }),
    }
}
