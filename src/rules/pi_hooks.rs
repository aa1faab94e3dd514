//! pi-hooks' JSON: rules on a tool's name and arguments, and checks before the agent finishes.
//!
//! Promises: a tool's pattern covers its own name or the one that Pi gives to such a tool; a pattern
//! for `path` covers the file that a file tool names, in any harness and however it is spelled.
//! Never: takes an argument that is no string for one.

use super::schema::{Section, Source, listed, nearest, shown, unknown};
use super::{Check, Diagnostic, Effect, Finish, Gates, Layer, Message, Program, Rule, Tests, When};
use crate::event::{Event, Operation, Phase};
use crate::glob::{Pattern, Stars};
use crate::json::{Json, SyntaxError};
use crate::matching::{self, Binding, Block, Condition, Operator};
use crate::spans::{self, Span};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::rc::Rc;

static FILE: Section = section("the file", &["$schema", "tool_call", "agent_before_settle"]);
static TOOL_CALL: Section = section("`tool_call`", &["rules"]);
static BLOCK: Section = section("a rule that blocks", &["match", "action", "reason"]);
static NUDGE: Section = section("a rule that nudges", &["match", "action", "text"]);
static MATCH: Section = section("`match`", &["tool", "arguments"]);
static BEFORE_SETTLE: Section =
    section("`agent_before_settle`", &["failFast", "maxRetries", "checks"]);
static CHECK: Section = section("a check", &["name", "type", "command", "path", "inputs"]);
/// A rule whose action is not known, or not yet.
static RULE: Section = section("a rule", &["match", "action", "reason", "text"]);

const fn section(name: &'static str, fields: &'static [&'static str]) -> Section {
    Section { name, fields, outer: &[] }
}

const DEFAULT_RETRIES: u32 = 3;

/// Every kind of object here, for the test of the published schema.
#[cfg(test)]
pub(super) fn sections() -> [&'static Section; 7] {
    [&FILE, &TOOL_CALL, &BLOCK, &NUDGE, &MATCH, &BEFORE_SETTLE, &CHECK]
}

/// Fields of the match document that only these rules can name: no path that a TOML rule spells has
/// a dot within a part.
const TOOL_NAMES: &str = "pi-hooks.tool";
const FILE_NAMES: &str = "pi-hooks.path";
/// Where tools take the path of their file.
const PATH_ARGUMENTS: [&str; 3] = ["path", "file_path", "notebook_path"];

/// What pi-hooks' file says.
#[derive(Clone, Debug)]
pub(crate) struct PiHooksFile {
    /// In the order of declaration.
    pub(crate) rules: Vec<Rule>,
    /// `agent_before_settle`, if it holds a check.
    pub(crate) finish: Option<Finish>,
}

/// Reads the file `path`, whose directory, physically, is `directory`.
pub(crate) fn read(
    path: &Path,
    directory: &Path,
    text: &[u8],
) -> Result<PiHooksFile, Vec<Diagnostic>> {
    let mut source = Source::new(path, text);
    let value = match Json::parse_bytes(text) {
        Ok(value) => value,
        Err(error) => return Err(vec![syntax(path, &error)]),
    };
    // What was read as JSON is UTF-8.
    let text = str::from_utf8(text).unwrap_or_default();
    let root = Node { value: &value, span: spans::trimmed(text) };
    let mut reader = Reader { source: &mut source, text, directory: Rc::from(directory) };
    let file = reader.file(&root);
    source.close(file)
}

fn syntax(path: &Path, error: &SyntaxError) -> Diagnostic {
    let mut diagnostic = Diagnostic::of_file(path, format!("invalid JSON: {}", error.message));
    (diagnostic.place.line, diagnostic.place.column) = (error.line, error.column);
    diagnostic
}

/// What the patterns of such rules look at beside the arguments: the names of the call's tool, and
/// the spellings of the file it names.
pub(crate) fn facts<'a>(event: &Event<'a>) -> [(Cow<'a, str>, Json<'a>); 2] {
    let text = |text: &str| Json::string(text.to_owned());
    let mut tools = vec![text(&event.tool_name)];
    tools.extend(name_in_pi(&event.canonical_tool).map(Json::string));
    let writes = event.changes.iter().any(|change| change.operation == Operation::Write);
    // A patch is an edit that may write whole files too.
    tools.extend(writes.then(|| Json::string("write")));

    let given = PATH_ARGUMENTS.iter().filter_map(|name| event.tool_input.get(name)?.as_str());
    let mut files: Vec<Json<'a>> = given.map(text).collect();
    for file in event.file.iter().chain(&event.paths) {
        let roots = [Some(&event.cwd), event.session_cwd.as_ref()];
        let below = roots.into_iter().flatten().filter_map(|root| file.strip_prefix(root).ok());
        let spellings = std::iter::once(file.as_path()).chain(below);
        files.extend(spellings.map(|spelling| text(&spelling.to_string_lossy())));
    }
    [(TOOL_NAMES.into(), Json::Array(tools)), (FILE_NAMES.into(), Json::Array(files))]
}

/// What Pi calls the tool that has this name in Claude Code.
fn name_in_pi(canonical: &str) -> Option<&'static str> {
    Some(match canonical {
        "Bash" => "bash",
        "Read" => "read",
        "Write" => "write",
        "Edit" | "MultiEdit" | "NotebookEdit" => "edit",
        "Grep" => "grep",
        "Glob" => "find",
        "LS" => "ls",
        _ => return None,
    })
}

/// A value and where it stands.
struct Node<'d> {
    value: &'d Json<'d>,
    span: Span,
}

/// One key of an object.
struct Member<'d> {
    key: &'d str,
    offset: usize,
    node: Node<'d>,
}

/// An object, read as a section.
struct Object<'d> {
    offset: usize,
    section: &'static Section,
    members: Vec<Member<'d>>,
}

impl<'d> Object<'d> {
    fn get(&self, key: &str) -> Option<&Node<'d>> {
        let member = self.members.iter().find(|member| member.key == key)?;
        Some(&member.node)
    }
}

struct Reader<'r, 't> {
    source: &'r mut Source<'t>,
    text: &'t str,
    directory: Rc<Path>,
}

impl Reader<'_, '_> {
    fn file(&mut self, root: &Node<'_>) -> PiHooksFile {
        let mut file = PiHooksFile { rules: Vec::new(), finish: None };
        let Some(object) = self.object(root, "the file", &FILE) else {
            return file;
        };
        self.read(&object, "$schema", "a string", Json::as_str);
        if let Some(calls) = self.child(&object, "tool_call", &TOOL_CALL) {
            for (index, node) in self.items(&calls, "rules").iter().enumerate() {
                file.rules.extend(self.rule(node, index + 1));
            }
        }
        if let Some(settle) = self.child(&object, "agent_before_settle", &BEFORE_SETTLE) {
            file.finish = Some(self.finish(&settle)).filter(|finish| !finish.checks.is_empty());
        }
        file
    }

    fn rule(&mut self, node: &Node<'_>, number: usize) -> Option<Rule> {
        let action = node.value.get("action").and_then(Json::as_str);
        let section = match action {
            Some("block") => &BLOCK,
            Some("nudge") => &NUDGE,
            _ => &RULE,
        };
        let object = self.object(node, "rules", section)?;
        let blocks = self.choice(&object, "action", &[("block", true), ("nudge", false)]);
        self.required(&object, "match");
        let block = self.child(&object, "match", &MATCH);
        let block = block.map(|object| self.block(&object));
        let key = if blocks? { "reason" } else { "text" };
        let text = self.required_text(&object, key)?;
        let message = Message::Text(text.to_owned());
        Some(Rule {
            id: format!("pi-hooks/{number}"),
            description: None,
            place: self.source.place(object.offset),
            directory: Rc::clone(&self.directory),
            layer: Layer::PiHooks,
            enabled: true,
            overridable: true,
            when: When::At(Phase::Pre),
            gates: Gates::default(),
            matches: vec![block?],
            effect: if blocks? { Effect::Deny { message } } else { Effect::Context { message } },
            tests: Tests::default(),
        })
    }

    fn block(&mut self, object: &Object<'_>) -> Block {
        let mut conditions = Vec::new();
        if self.required(object, "tool")
            && let Some(tool) = object.get("tool")
            && let Some(pattern) = self.glob(tool, "tool", Stars::CrossSlash)
        {
            conditions
                .push(condition(matching::Path::field(TOOL_NAMES), Operator::Glob(vec![pattern])));
        }
        for argument in self.arguments(object) {
            let Some(pattern) = self.glob(&argument.node, argument.key, Stars::CrossSlash) else {
                continue;
            };
            let patterns = vec![pattern];
            conditions.push(match argument.key {
                "path" => condition(matching::Path::field(FILE_NAMES), Operator::Glob(patterns)),
                // The command of a shell call, wherever its harness has it.
                "command" => {
                    condition(matching::Path::field("command"), Operator::TextGlob(patterns))
                }
                name => condition(
                    matching::Path::fields(&["event", "tool_input", name]),
                    Operator::TextGlob(patterns),
                ),
            });
        }
        Block { binding: Binding::Root, conditions }
    }

    /// The members of `arguments`, whose keys are the tool's.
    fn arguments<'d>(&mut self, object: &Object<'d>) -> Vec<Member<'d>> {
        let Some(node) = object.get("arguments") else {
            return Vec::new();
        };
        let members = self.members(node);
        if members.is_none() {
            self.wrong(node, "arguments", "an object");
        }
        members.unwrap_or_default()
    }

    fn finish(&mut self, object: &Object<'_>) -> Finish {
        let checks = self.items(object, "checks");
        Finish {
            fail_fast: self.read(object, "failFast", "a boolean", Json::as_bool).unwrap_or(true),
            max_retries: self
                .read(object, "maxRetries", "a whole number from 0", count)
                .unwrap_or(DEFAULT_RETRIES),
            checks: checks.iter().filter_map(|node| self.check(node)).collect(),
        }
    }

    fn check(&mut self, node: &Node<'_>) -> Option<Check> {
        let object = self.object(node, "checks", &CHECK)?;
        let name = self.string(&object, "name").map(str::to_owned);
        let inputs = object.get("inputs").map(|_| self.inputs(&object));
        let kinds = [("command", true), ("script", false)];
        let is_command = self.choice(&object, "type", &kinds)?;
        let (own, other) = if is_command { ("command", "path") } else { ("path", "command") };
        if let Some(stray) = object.get(other) {
            let kind = if is_command { "command" } else { "script" };
            self.source.problem(
                stray.span.start,
                format!("`{other}` does not belong to a check of type `{kind}`"),
            );
        }
        let program = self.required_text(&object, own)?;
        Some(Check {
            name,
            program: if is_command {
                Program::Command(program.to_owned())
            } else {
                Program::Script(PathBuf::from(program))
            },
            inputs,
            timeout: None,
            place: self.source.place(object.offset),
        })
    }

    fn inputs(&mut self, object: &Object<'_>) -> Vec<Pattern> {
        let nodes = self.items(object, "inputs");
        let read = |node| self.glob(node, "inputs", Stars::StopAtSlash);
        nodes.iter().filter_map(read).collect()
    }

    /// The members of an object with their places; `None` for any other value. A key that is given
    /// twice is a problem: another reader may take the other value.
    fn members<'d>(&mut self, node: &Node<'d>) -> Option<Vec<Member<'d>>> {
        let entries = node.value.as_object()?;
        let children = spans::children(self.text, &node.span);
        let mut members: Vec<Member<'d>> = Vec::with_capacity(entries.len());
        for ((key, value), child) in entries.iter().zip(children) {
            let offset = child.start();
            if members.iter().any(|earlier| earlier.key == key) {
                let message = format!("`{}` is given twice", shown(key));
                self.source.problem(offset, message);
            }
            members.push(Member { key, offset, node: Node { value, span: child.value } });
        }
        Some(members)
    }

    /// Opens a section; a key that it does not have is a problem.
    fn object<'d>(
        &mut self,
        node: &Node<'d>,
        key: &str,
        section: &'static Section,
    ) -> Option<Object<'d>> {
        let Some(members) = self.members(node) else {
            self.wrong(node, key, "an object");
            return None;
        };
        for member in &members {
            if !section.fields.contains(&member.key) {
                self.source.problem(member.offset, unknown(member.key, section));
            }
        }
        Some(Object { offset: node.span.start, section, members })
    }

    /// The section below `key`, if it is there.
    fn child<'d>(
        &mut self,
        object: &Object<'d>,
        key: &str,
        section: &'static Section,
    ) -> Option<Object<'d>> {
        self.object(object.get(key)?, key, section)
    }

    /// The elements of an array; none when it is missing.
    fn items<'d>(&mut self, object: &Object<'d>, key: &str) -> Vec<Node<'d>> {
        let Some(node) = object.get(key) else {
            return Vec::new();
        };
        let Some(values) = node.value.as_array() else {
            self.wrong(node, key, "an array");
            return Vec::new();
        };
        let children = spans::children(self.text, &node.span);
        let nodes = values.iter().zip(children);
        nodes.map(|(value, child)| Node { value, span: child.value }).collect()
    }

    /// The value of `key`, as `convert` reads it.
    fn read<'d, T>(
        &mut self,
        object: &Object<'d>,
        key: &str,
        expected: &str,
        convert: impl FnOnce(&'d Json<'d>) -> Option<T>,
    ) -> Option<T> {
        let node = object.get(key)?;
        let converted = convert(node.value);
        if converted.is_none() {
            self.wrong(node, key, expected);
        }
        converted
    }

    /// A text that says something.
    fn string<'d>(&mut self, object: &Object<'d>, key: &str) -> Option<&'d str> {
        self.read(object, key, "a nonempty string", |value| {
            value.as_str().filter(|text| !text.trim().is_empty())
        })
    }

    fn required_text<'d>(&mut self, object: &Object<'d>, key: &str) -> Option<&'d str> {
        if self.required(object, key) { self.string(object, key) } else { None }
    }

    /// Whether `key` is there; if not, that is a problem.
    fn required(&mut self, object: &Object<'_>, key: &str) -> bool {
        let given = object.get(key).is_some();
        if !given {
            let message = format!("{} needs `{key}`", object.section.name);
            self.source.problem(object.offset, message);
        }
        given
    }

    /// One of a few words, which must be there.
    fn choice<T: Copy>(
        &mut self,
        object: &Object<'_>,
        key: &str,
        choices: &[(&str, T)],
    ) -> Option<T> {
        if !self.required(object, key) {
            return None;
        }
        let node = object.get(key)?;
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        let expected = format!("one of {}", listed(&words));
        let Some(found) = node.value.as_str() else {
            self.wrong(node, key, &expected);
            return None;
        };
        let choice = choices.iter().find(|(word, _)| *word == found);
        if choice.is_none() {
            let near = nearest(found, &words).map(|near| format!("did you mean `{near}`?"));
            let advice = near.unwrap_or(expected);
            let message = format!("unknown {key} `{}`, {advice}", shown(found));
            self.source.problem(node.span.start, message);
        }
        choice.map(|(_, choice)| *choice)
    }

    fn glob(&mut self, node: &Node<'_>, key: &str, stars: Stars) -> Option<Pattern> {
        let Some(text) = node.value.as_str() else {
            self.wrong(node, key, "a string");
            return None;
        };
        match Pattern::new(text, stars) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                let message = format!("`{}`: {error}", shown(key));
                self.source.problem(node.span.start, message);
                None
            }
        }
    }

    /// `KEY must be …, found …`.
    fn wrong(&mut self, node: &Node<'_>, key: &str, expected: &str) {
        let blank = node.value.as_str().is_some_and(|text| text.trim().is_empty());
        let found = if blank { "an empty string" } else { node.value.kind_name() };
        let message = format!("{} must be {expected}, found {found}", shown(key));
        self.source.problem(node.span.start, message);
    }
}

fn condition(path: matching::Path, operator: Operator) -> Condition {
    Condition { path, operators: vec![operator] }
}

fn count(value: &Json<'_>) -> Option<u32> {
    if let Json::Number(digits) = value { digits.parse().ok() } else { None }
}

#[cfg(test)]
#[path = "pi_hooks_tests.rs"]
mod tests;
