//! Which files are protected.

use crate::event::paths;
use crate::glob::{Pattern, Stars};
use std::path::{Component, Path, PathBuf};

/// Files by the end of their path, whoever's they are. `**` stands for the directory and everything below.
const NAMES: &[&[&str]] = &[
    &[".i-insist", "**"],
    &[".claude", "settings.json"],
    &[".claude", "settings.local.json"],
    &[".codex", "hooks.json"],
    &[".codex", "config.toml"],
    &[".pi", "settings.json"],
    &[".pi", "extensions", "**"],
    &[".pi", "agent", "settings.json"],
    &[".pi", "agent", "extensions", "**"],
    &[".pi", "agent", "trust.json"],
    &[".pi", "pi-hooks.json"],
    &[".pi-hooks.json"],
    &[".steer.toml"],
];

/// Names that give a protected file away in code or text, with what must not stand before or behind.
const MENTIONS: &[&str] = &[
    ".i-insist",
    ".steer.toml",
    "pi-hooks.json",
    ".claude/settings",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".pi/agent/",
    ".pi/extensions",
    "steer/config.toml",
    "i-insist/approvals",
];

/// Variables that make a client start without its hooks or with others.
pub(super) const SWITCHES: &[&str] = &[
    "CLAUDE_CODE_SIMPLE",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "PI_CODING_AGENT_DIR",
    "OPENCODE_PURE",
    "OPENCODE_CONFIG_DIR",
];

/// What kind of protected file an operand reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Rules, hook settings, our own records.
    Configuration,
    /// A program: ours, or one that a rule starts.
    Program,
}

/// What is protected in this run beside the names every project shares. All paths are physical.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guarded {
    /// Files, and directories with everything below.
    configuration: Vec<PathBuf>,
    /// Programs.
    programs: Vec<PathBuf>,
}

impl Guarded {
    /// Takes paths as they are known and makes them physical.
    pub(crate) fn new(configuration: Vec<PathBuf>, programs: Vec<PathBuf>) -> Self {
        Self {
            configuration: paths::all_physical(&configuration),
            programs: paths::all_physical(&programs),
        }
    }

    /// What `path` is, when it is protected.
    pub(crate) fn covers(&self, path: &Path) -> Option<Reach> {
        let components: Vec<&str> = names(path);
        if NAMES.iter().any(|pattern| ends_with(&components, pattern))
            || self
                .configuration
                .iter()
                .any(|known| path.starts_with(known))
        {
            return Some(Reach::Configuration);
        }
        self.programs
            .iter()
            .any(|known| path == known)
            .then_some(Reach::Program)
    }

    /// The same for an operand whose text may hold wildcards.
    pub(super) fn reach(&self, path: &Path, text: &str) -> Option<Reach> {
        self.covers(path)
            .or_else(|| self.could_stand_for(path, text))
    }

    /// Whether something protected is known to lie below `path`, so that moving or deleting it counts.
    pub(super) fn lies_below(&self, path: &Path) -> bool {
        let components = names(path);
        let parent_of_named = NAMES.iter().any(|pattern| {
            (1..pattern.len()).any(|taken| components.ends_with(&pattern[..taken]))
                && pattern[0] != ".i-insist"
        });
        let known = self
            .configuration
            .iter()
            .chain(&self.programs)
            .any(|known| known.starts_with(path));
        parent_of_named || known || path.join(".i-insist").symlink_metadata().is_ok()
    }

    /// A wildcard counts when it could stand for a protected name.
    fn could_stand_for(&self, path: &Path, text: &str) -> Option<Reach> {
        if !text.contains(['*', '?', '[', '{']) {
            return None;
        }
        let components = names(path);
        let named = NAMES
            .iter()
            .any(|pattern| could_end_with(&components, pattern));
        let known = |list: &[PathBuf]| {
            list.iter()
                .any(|known| could_start_with(&components, &names(known)))
        };
        if named || known(&self.configuration) {
            return Some(Reach::Configuration);
        }
        known(&self.programs).then_some(Reach::Program)
    }
}

fn names(path: &Path) -> Vec<&str> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => name.to_str(),
            Component::Prefix(_)
            | Component::RootDir
            | Component::CurDir
            | Component::ParentDir => None,
        })
        .collect()
}

fn ends_with(components: &[&str], pattern: &[&str]) -> bool {
    match pattern.split_last() {
        Some((&"**", stem)) => components.windows(stem.len()).any(|window| window == stem),
        _ => components.ends_with(pattern),
    }
}

fn could_end_with(components: &[&str], pattern: &[&str]) -> bool {
    let fits = |window: &[&str], stem: &[&str]| {
        window
            .iter()
            .zip(stem)
            .all(|(glob, name)| shell_glob(glob, name))
    };
    match pattern.split_last() {
        Some((&"**", stem)) => components
            .windows(stem.len())
            .any(|window| fits(window, stem)),
        _ => {
            components.len() >= pattern.len()
                && fits(&components[components.len() - pattern.len()..], pattern)
        }
    }
}

fn could_start_with(components: &[&str], known: &[&str]) -> bool {
    components.len() >= known.len()
        && components
            .iter()
            .zip(known)
            .all(|(glob, name)| shell_glob(glob, name))
}

/// Whether a word of the command line that may hold wildcards could become `name`: as a shell has
/// it (POSIX XCU 2.13.3), a leading dot is matched by a dot alone.
pub(super) fn shell_glob(word: &str, name: &str) -> bool {
    if name.starts_with('.') && !word.starts_with(['.', '{']) {
        return false;
    }
    word == name
        || Pattern::new(word, Stars::StopAtSlash).is_ok_and(|pattern| pattern.matches(name))
}

/// A protected name that stands in `text` as a whole name.
pub(super) fn named_in(text: &str) -> Option<&'static str> {
    let part_of_name =
        |character: char| character.is_alphanumeric() || matches!(character, '_' | '-');
    MENTIONS.iter().copied().find(|name| {
        text.match_indices(name).any(|(start, _)| {
            let (before, rest) = text.split_at(start);
            let behind = rest.strip_prefix(name).and_then(|rest| rest.chars().next());
            let open = before
                .chars()
                .next_back()
                .is_none_or(|character| !part_of_name(character) && character != '.');
            // `.claude/settings` has `.json` behind it, `.i-insist` nothing of a name.
            open && behind.is_none_or(|character| name.ends_with('/') || !part_of_name(character))
        })
    })
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
            "a .steer.toml",
        ] {
            assert!(named_in(text).is_some(), "{text}");
        }
        for text in [
            "x.i-insist",
            ".i-insist-notes",
            ".i-insist_",
            "my.steer.toml",
            "i-insist",
            "settings.json",
        ] {
            assert_eq!(named_in(text), None, "{text}");
        }
    }

    #[test]
    fn wildcards_count_as_the_shell_reads_them() {
        let guarded = Guarded::default();
        for text in [
            "/p/.i-*/a.toml",
            "/p/.*/a",
            "/p/.[a-z]-insist/x",
            "/p/.claude/*.json",
            "/p/.i-insist/*",
        ] {
            assert_eq!(
                guarded.reach(Path::new(text), text),
                Some(Reach::Configuration),
                "{text}"
            );
        }
        for text in [
            "/p/*",
            "/p/*/a.toml",
            "/p/.git*",
            "/p/.claude/*.md",
            "/p/.i-insist-notes/*",
        ] {
            assert_eq!(guarded.reach(Path::new(text), text), None, "{text}");
        }
    }
}
