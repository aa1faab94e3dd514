//! The shape of the whole, held by reading the sources: the list of modules in `src/main.rs` is the
//! architecture; each numbered module has one page of the manual; arrows go down only.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a source that cannot be read is a failed test"
)]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The longest a source file may be, in lines.
const LONGEST: usize = 700;
/// Files that are longer, until they are split.
const LONGER: [&str; 1] = ["sys.rs"];
/// What uses nothing but its own kind.
const FOUNDATIONS: [&str; 7] = ["glob", "json", "regex", "sha256", "spans", "sys", "world"];
/// Arrows that the order of the list would allow.
const NEVER: [(&str, &[&str]); 1] = [("harness", &["rules", "matching", "decision"])];
/// Modules that know no harness, wherever the list has them.
const NO_HARNESS: [&str; 5] = ["decision", "rules", "matching", "shell", "checker"];

/// A line of the list in `src/main.rs`.
struct Module {
    name: String,
    /// Its section, as in `mod event; // 1 the neutral event`.
    number: Option<u32>,
    forbids_unsafe: bool,
}

/// The list, from the top.
fn modules() -> Vec<Module> {
    let text = read(&source("main.rs"));
    let mut modules = Vec::new();
    let mut before = "";
    for line in text.lines() {
        if let Some((name, comment)) = line.strip_prefix("mod ").and_then(|l| l.split_once(';')) {
            let comment = comment.trim_start_matches([' ', '/']);
            modules.push(Module {
                name: name.to_owned(),
                number: comment.split(' ').next().and_then(|n| n.parse().ok()),
                forbids_unsafe: before == "#[forbid(unsafe_code)]",
            });
        }
        before = line;
    }
    assert!(modules.len() > 10, "src/main.rs lists no modules");
    modules
}

/// The numbered modules, each with the name of its page's file, in the order of the numbers.
fn sections() -> Vec<(String, String)> {
    let mut numbered: Vec<(u32, String)> =
        modules().into_iter().filter_map(|module| Some((module.number?, module.name))).collect();
    numbered.sort();
    numbered.into_iter().map(|(number, name)| (format!("{number:02}-{name}.md"), name)).collect()
}

fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(path)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every source file by its path below `src`, with its text.
fn files() -> Vec<(String, String)> {
    fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    let root = source("");
    let mut paths = Vec::new();
    walk(&root, &mut paths);
    paths.sort();
    let below = |path: &Path| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
    paths.iter().map(|path| (below(path), read(path))).collect()
}

/// The module that a file belongs to: `rules` for `rules/tests.rs`, `json` for `json_tests.rs`.
fn owner(file: &str) -> &str {
    let first = file.split('/').next().unwrap_or(file);
    let first = first.strip_suffix(".rs").unwrap_or(first);
    first.strip_suffix("_tests").unwrap_or(first)
}

/// The text without lines that are comments, and without those behind the list of modules.
fn code(text: &str) -> String {
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    text.lines()
        .filter(is_code)
        .map(|line| match line.split_once("; //") {
            Some((module, _)) if line.starts_with("mod ") => module,
            _ => line,
        })
        .flat_map(|line| [line, "\n"])
        .collect()
}

/// The names that stand behind each `path`, as in `crate::NAME`.
fn behind<'t>(text: &'t str, path: &'t str) -> impl Iterator<Item = &'t str> {
    let name = |rest: &'t str| {
        rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or(rest)
    };
    text.split(path).skip(1).map(name)
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|found| found == word)
}

#[test]
fn each_section_is_a_module_and_a_page() {
    let sections = sections();
    let numbers: BTreeSet<&str> = sections.iter().filter_map(|(page, _)| page.get(..2)).collect();
    assert_eq!(numbers.len(), sections.len(), "a number stands twice in src/main.rs");
    let expected: BTreeSet<String> = sections.iter().map(|(page, _)| page.clone()).collect();
    let pages: BTreeSet<String> = fs::read_dir(source("manual"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| Path::new(name).extension() == Some(OsStr::new("md")))
        .collect();
    assert_eq!(pages, expected, "pages of src/manual against modules of src/main.rs");
    for (page, name) in &sections {
        let flat = source(&format!("{name}.rs"));
        let (file, way) = if flat.exists() {
            (flat, "manual")
        } else {
            (source(&format!("{name}/mod.rs")), "../manual")
        };
        let opening = format!("#![doc = include_str!(\"{way}/{page}\")]\n");
        assert!(read(&file).starts_with(&opening), "{} opens with {opening}", file.display());
    }
}

#[test]
fn help_prints_the_pages() {
    let help = |operands: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_i-insist"));
        let output = command.arg("help").args(operands).output().unwrap();
        assert!(output.status.success(), "help {operands:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let sections = sections();
    for (page, name) in &sections {
        assert_eq!(help(&[name]), read(&source("manual").join(page)), "help {name}");
    }
    let names: Vec<&str> = sections.iter().map(|(_, name)| name.as_str()).collect();
    let list = format!("manual pages: {}\n", names.join(", "));
    assert!(help(&[]).ends_with(&list), "help ends with {list}");
}

#[test]
fn arrows_go_down() {
    let modules = modules();
    let place = |name: &str| modules.iter().position(|module| module.name == name);
    let mut arrows = BTreeSet::new();
    let files = files();
    for (file, text) in files.iter().filter(|(file, _)| file != "main.rs") {
        let from = owner(file);
        assert!(place(from).is_some(), "{file} belongs to no module of src/main.rs");
        let text = code(text);
        // One `use` for each module, so that its arrows can be read.
        assert!(!text.contains("crate::{"), "{file}: one `use crate::…` for each module");
        // The entry point stands in `sys`, and begins the program.
        let calls = behind(&text, "crate::").filter(|to| (from, *to) != ("sys", "run"));
        for to in calls {
            assert!(place(to).is_some(), "{file}: crate::{to} is no module");
            arrows.insert((from, to.to_owned(), file));
        }
        // `super` leads out of a module too, where it does not lead to a part of the module itself.
        let is_part =
            |name: &str| files.iter().any(|(file, _)| *file == format!("{from}/{name}.rs"));
        for to in behind(&text, "super::").filter(|to| place(to).is_some() && !is_part(to)) {
            arrows.insert((from, to.to_owned(), file));
        }
    }
    assert!(arrows.len() > 30, "no arrows were found");
    for (from, to, file) in arrows.iter().filter(|(from, to, _)| from != to) {
        assert!(place(from) < place(to), "{file}: {from} uses {to}, which the list has above it");
        let forbidden =
            NEVER.iter().any(|(name, never)| name == from && never.contains(&to.as_str()));
        assert!(!forbidden, "{file}: {from} must not use {to}");
        let knows = to == "harness" && NO_HARNESS.contains(from);
        assert!(!knows, "{file}: {from} must know no harness");
        let leaves = FOUNDATIONS.contains(from) && !FOUNDATIONS.contains(&to.as_str());
        assert!(!leaves, "{file}: {from} is a foundation, {to} is none");
    }
    let plain = modules.iter().filter(|module| module.number.is_none());
    let plain: BTreeSet<&str> = plain.map(|module| module.name.as_str()).collect();
    assert_eq!(plain, BTreeSet::from(FOUNDATIONS), "modules without a number");
}

#[test]
fn only_sys_is_unsafe_and_knows_libc() {
    for module in modules() {
        assert_eq!(
            module.forbids_unsafe,
            module.name != "sys",
            "forbid(unsafe_code): {}",
            module.name
        );
    }
    for (file, text) in files().iter().filter(|(file, _)| file != "sys.rs") {
        for word in ["unsafe", "libc"] {
            assert!(!has_word(&code(text), word), "{file}: `{word}` belongs to sys.rs");
        }
    }
}

#[test]
fn no_file_is_too_long() {
    let long: Vec<String> = files()
        .into_iter()
        .filter(|(file, text)| !file.ends_with("tests.rs") && text.lines().count() > LONGEST)
        .map(|(file, _)| file)
        .collect();
    assert_eq!(long, LONGER, "files of more than {LONGEST} lines");
}
