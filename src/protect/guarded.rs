//! Which files are protected: by the end of their path, whoever's they are, and by the places that
//! are known in this run.

use crate::event::paths;
use crate::glob::{Pattern, Stars};
use std::cell::OnceCell;
use std::path::{Component, Path, PathBuf};

/// In last place: the directory before it, and everything below.
const ALL_BELOW: &str = "**";

/// Ends of protected paths, whoever's they are. Compared without regard to ASCII case, since there
/// are file systems that do so.
const NAMES: &[&[&str]] = &[
    &[".i-insist", ALL_BELOW],
    &[".steer.toml"],
    &[".claude", "settings.json"],
    &[".claude", "settings.local.json"],
    &[".codex", "hooks.json"],
    &[".codex", "config.toml"],
    &[".pi", "settings.json"],
    &[".pi", "extensions", ALL_BELOW],
    &[".pi", "agent", "settings.json"],
    &[".pi", "agent", "extensions", ALL_BELOW],
    &[".pi", "agent", "trust.json"],
    &[".pi", "pi-hooks.json"],
    &[".pi-hooks.json"],
    &[".config", "steer", "config.toml"],
    &[".cache", "i-insist", ALL_BELOW],
    &[".local", "state", "i-insist", ALL_BELOW],
    // As they are spelled in shell text; in lower case, as all of these.
    &["$claude_config_dir", "settings.json"],
    &["$codex_home", "config.toml"],
    &["$codex_home", "hooks.json"],
    &["$xdg_cache_home", "i-insist", ALL_BELOW],
    &["$xdg_config_home", "steer", "config.toml"],
    &["$xdg_state_home", "i-insist", ALL_BELOW],
    &["etc", "claude-code", "managed-settings.json"],
    &["etc", "codex", "requirements.toml"],
];

/// What kind of protected file an operand reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Rules, hook settings, our own records.
    Configuration,
    /// A program: ours, or one that a rule starts.
    Program,
}

/// How the wildcards in a word are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wildcards {
    /// There are none.
    Literal,
    /// As a shell reads them (POSIX XCU 2.13.3): a leading dot is matched by a dot alone.
    Shell,
    /// As a shell reads them that was told to match leading dots as well.
    Dotted,
}

/// What is protected in this run beside the names every project shares.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guarded {
    /// Files, and directories with everything below.
    configuration: Known,
    programs: Known,
}

/// Paths that are made physical when the first operand is compared with them.
#[derive(Clone, Debug, Default)]
struct Known {
    given: Vec<PathBuf>,
    physical: OnceCell<Vec<Vec<String>>>,
}

impl Known {
    fn new(given: Vec<PathBuf>) -> Self {
        Self { given, physical: OnceCell::new() }
    }

    /// The names of each path.
    fn paths(&self) -> &[Vec<String>] {
        self.physical.get_or_init(|| {
            let mut seen = Vec::new();
            let paths = self.given.iter();
            let physical = paths.map(|path| physical_once(path, &mut seen));
            physical.map(|path| names(&path).into_iter().map(str::to_owned).collect()).collect()
        })
    }
}

/// `path` made physical; each directory that many paths share is looked up once.
fn physical_once(path: &Path, seen: &mut Vec<(PathBuf, PathBuf)>) -> PathBuf {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return paths::physical(path);
    };
    let known = seen.iter().find(|(given, _)| given.as_os_str() == parent.as_os_str());
    let directory = if let Some((_, physical)) = known {
        physical.clone()
    } else {
        let physical = physical_once(parent, seen);
        seen.push((parent.to_owned(), physical.clone()));
        physical
    };
    let path = directory.join(name);
    if path.is_symlink() { paths::physical(&path) } else { path }
}

impl Guarded {
    /// Takes absolute paths as they are known.
    pub(crate) fn new(configuration: Vec<PathBuf>, programs: Vec<PathBuf>) -> Self {
        Self { configuration: Known::new(configuration), programs: Known::new(programs) }
    }

    /// What `path`, which is physical, is when it is protected.
    pub(super) fn covers(&self, path: &Path) -> Option<Reach> {
        has_protected_name(path, Wildcards::Literal)
            .then_some(Reach::Configuration)
            .or_else(|| self.reach_known(path, Wildcards::Literal))
    }

    /// The same for the places of this run alone, and for a path that may hold wildcards.
    pub(super) fn reach_known(&self, path: &Path, wildcards: Wildcards) -> Option<Reach> {
        let words = names(path);
        let within =
            |known: &Vec<String>| words.len() >= known.len() && fit(&words, known, wildcards);
        if self.configuration.paths().iter().any(within) {
            return Some(Reach::Configuration);
        }
        let same = |known: &&Vec<String>| known.len() == words.len();
        let mut programs = self.programs.paths().iter().filter(same);
        programs.any(within).then_some(Reach::Program)
    }

    /// Whether something protected lies below the physical `path`, so that moving, linking or
    /// deleting it counts. Of what no run knows beforehand, only its next level is looked at.
    pub(super) fn lies_below(&self, path: &Path, wildcards: Wildcards) -> bool {
        let words = names(path);
        let above =
            |known: &Vec<String>| words.len() <= known.len() && fit(&words, known, wildcards);
        let exists = |path: &Path| path.symlink_metadata().is_ok();
        let stem_of_name = |pattern: &&'static [&'static str]| {
            let pattern = without_rest(pattern);
            (1..pattern.len()).any(|taken| {
                let (stem, _) = pattern.split_at(taken);
                let there = || {
                    let base = path.ancestors().nth(taken);
                    base.is_some_and(|base| exists(&base.join(pattern.join("/"))))
                };
                ends_with(&words, stem, wildcards) && there()
            })
        };
        let known = self.configuration.paths().iter();
        known.chain(self.programs.paths()).any(above)
            || NAMES.iter().any(stem_of_name)
            || exists(&path.join(".i-insist"))
    }
}

/// Whether `path` ends as a protected one does, or could.
pub(super) fn has_protected_name(path: &Path, wildcards: Wildcards) -> bool {
    let words = names(path);
    NAMES.iter().any(|pattern| match pattern.split_last() {
        Some((&ALL_BELOW, directory)) => {
            words.windows(directory.len()).any(|window| fit(window, directory, wildcards))
        }
        _ => ends_with(&words, pattern, wildcards),
    })
}

/// Paths of protected files as a search from a directory would come across them.
pub(super) fn examples() -> impl Iterator<Item = String> {
    NAMES.iter().flat_map(|pattern| {
        let directory = without_rest(pattern).join("/");
        let inside = (pattern.last() == Some(&ALL_BELOW)).then(|| {
            let file = if directory == ".i-insist" { "i-insist.toml" } else { "index.ts" };
            format!("{directory}/{file}")
        });
        std::iter::once(directory).chain(inside)
    })
}

/// A protected path whose names all stand in `text` as whole names, joined or in pieces as in
/// `home / ".claude" / "settings.json"`.
pub(super) fn named_in(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    NAMES.iter().map(|pattern| without_rest(pattern)).find_map(|pattern| {
        pattern.iter().all(|name| stands_in(&text, name)).then(|| pattern.join("/"))
    })
}

fn stands_in(text: &str, name: &str) -> bool {
    let of_name = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '-');
    text.match_indices(name).any(|(start, _)| {
        let (before, from) = text.split_at(start);
        let mut behind = from.chars().skip(name.chars().count());
        let continues = match behind.next() {
            Some('.') => behind.next().is_some_and(of_name),
            next => next.is_some_and(of_name),
        };
        !continues && !before.ends_with(|sign| of_name(sign) || sign == '.')
    })
}

fn without_rest<'p>(pattern: &'p [&'p str]) -> &'p [&'p str] {
    match pattern.split_last() {
        Some((&ALL_BELOW, directory)) => directory,
        _ => pattern,
    }
}

/// The names of `path`, `..` folded.
fn names(path: &Path) -> Vec<&str> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            // A name that is no UTF-8 is none of ours, but it takes its place.
            Component::Normal(name) => names.push(name.to_str().unwrap_or("\u{fffd}")),
            Component::ParentDir => drop(names.pop()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    names
}

fn ends_with(words: &[&str], pattern: &[&str], wildcards: Wildcards) -> bool {
    let start = words.len().checked_sub(pattern.len());
    start.and_then(|start| words.get(start..)).is_some_and(|end| fit(end, pattern, wildcards))
}

/// Whether each word is, or could become, the name in its place.
fn fit<N: AsRef<str>>(words: &[&str], names: &[N], wildcards: Wildcards) -> bool {
    let mut pairs = words.iter().zip(names);
    pairs.all(|(word, name)| could_become(word, name.as_ref(), wildcards))
}

/// Whether a word of the command line is `name`, or its wildcards could stand for it.
pub(super) fn could_become(word: &str, name: &str, wildcards: Wildcards) -> bool {
    if word.eq_ignore_ascii_case(name) {
        return true;
    }
    if wildcards == Wildcards::Literal {
        return false;
    }
    let hidden = name.starts_with('.') && !word.starts_with(['.', '@']);
    let Some(wild) =
        word.find(['*', '?', '[', '(']).filter(|_| wildcards == Wildcards::Dotted || !hidden)
    else {
        return false;
    };
    let (word, name) = (word.to_ascii_lowercase(), name.to_ascii_lowercase());
    match Pattern::new(&word, Stars::StopAtSlash) {
        Ok(pattern) if !word.contains('(') => pattern.matches(&name),
        // Beyond our dialect, as `[[:alpha:]]` and `@(a|b)`: what stands before the sign decides.
        _ => {
            word.get(..wild).is_some_and(|literal| name.starts_with(literal.trim_end_matches('@')))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_text_counts_whole_only() {
        for text in [
            "open('.i-insist/a.toml')",
            ".i-insist",
            "x/.i-insist\\n",
            "~/.claude/settings.local.json",
            "Path.home() / '.claude' / 'settings.json'",
            "a .steer.toml",
            "s/\\.i-insist/x/",
            "in .I-Insist.",
        ] {
            assert!(named_in(text).is_some(), "{text}");
        }
        for text in [
            "x.i-insist",
            ".i-insist-notes",
            ".i-insist_",
            ".i-insist.bak",
            "my.steer.toml",
            "i-insist",
            "settings.json",
            ".claude/skills",
            ".claude/settings.json.bak",
        ] {
            assert_eq!(named_in(text), None, "{text}");
        }
    }

    #[test]
    fn wildcards_count_as_the_shell_reads_them() {
        for path in [
            "/p/.i-*/a.toml",
            "/p/.*/a",
            "/p/.[a-z]-insist/x",
            "/p/.[[:alpha:]]-insist/x",
            "/p/@(.i-insist|x)/a",
            "/p/.claude/*.json",
            "/p/.i-insist/*",
            "/p/.I-INSIST/a",
        ] {
            assert!(has_protected_name(Path::new(path), Wildcards::Shell), "{path}");
        }
        for path in [
            "/p/*",
            "/p/*/a.toml",
            "/p/.git*",
            "/p/.claude/*.md",
            "/p/.i-insist-notes/*",
            "/p/.c[[:alpha:]]*",
        ] {
            assert!(!has_protected_name(Path::new(path), Wildcards::Shell), "{path}");
        }
        assert!(has_protected_name(Path::new("/p/*"), Wildcards::Dotted));
        assert!(!has_protected_name(Path::new("/p/.i-*"), Wildcards::Literal));
    }
}
