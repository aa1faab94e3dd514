//! The three promises on a table of settings files, on generated ones, and every refusal.

use super::*;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A home directory of its own, with a program that is "ours" and not on `PATH`.
struct Home {
    world: World,
    claude: Registration,
    codex: Registration,
}

impl Home {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "i-insist-install-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::SeqCst)
        );
        let home = std::env::temp_dir().canonicalize().unwrap().join(name);
        for folder in ["bin", "work", ".claude", ".codex"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        let program = home.join("bin/i-insist");
        fs::write(&program, "").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let local = |mut client: Registration| {
            client.switches.retain(|path| path.starts_with(&home));
            client
        };
        let (claude, codex) =
            (local(clients::claude(&home, None)), local(clients::codex(&home, None)));
        let world = World {
            config_home: home.join(".config"),
            cache: home.join(".cache/i-insist"),
            state: home.join(".local/state/i-insist"),
            path: home.join("bin").into(),
            current_directory: home.join("work"),
            program: Some(program),
            home,
        };
        Self { world, claude, codex }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.world.home.join(name)
    }

    fn put(&self, name: &str, text: &str) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        fs::write(self.at(name), text).unwrap();
    }

    fn install(&self) -> Report {
        install(&self.world, &Client::Hooks(self.claude.clone()), false)
    }

    fn uninstall(&self) -> Report {
        uninstall(&self.world, &Client::Hooks(self.claude.clone()), false)
    }

    fn settings(&self) -> Option<String> {
        fs::read_to_string(&self.claude.settings).ok()
    }

    /// Refused with exit 2 and a message that holds `part`; nothing was written.
    fn refuses(&self, report: &Report, part: &str) {
        assert_eq!((report.exit, report.out.as_str()), (2, ""), "{report:?}");
        assert!(report.err.contains(part), "{part}: {}", report.err);
        assert!(!self.at(".i-insist").exists() && !self.at(".local").exists());
    }

    /// Every file below the home, with its time of change.
    fn files(&self) -> Vec<(PathBuf, std::time::SystemTime)> {
        let mut files = Vec::new();
        let mut folders = vec![self.world.home.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                } else {
                    files.push((entry.path(), entry.metadata().unwrap().modified().unwrap()));
                }
            }
        }
        files.sort();
        files
    }
}

fn hooks(client: &Registration) -> Client {
    Client::Hooks(client.clone())
}

impl Drop for Home {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.world.home));
    }
}

/// How many handlers of ours each event of `text` has.
fn counts(text: &str, harness: &str) -> Vec<(String, usize)> {
    let owner = Owner { harness, is_this_binary: &|_| false };
    let mut counts: Vec<(String, usize)> = Vec::new();
    for (event, ..) in splice::Settings::read(text, true).unwrap().places(&owner) {
        match counts.iter_mut().find(|(name, _)| *name == event) {
            Some((_, count)) => *count += 1,
            None => counts.push((event, 1)),
        }
    }
    counts
}

fn once_each(client: &Registration) -> Vec<(String, usize)> {
    client.moments.iter().map(|moment| (moment.client_name().to_owned(), 1)).collect()
}

fn sorted(mut counts: Vec<(String, usize)>) -> Vec<(String, usize)> {
    counts.sort();
    counts
}

const FOREIGN: &str = r#"{"matcher": "Bash", "hooks": [{"type": "command", "command": "other"}]}"#;

/// Settings in every layout; `F` stands for a foreign group.
const SETTINGS: &[&str] = &[
    "{}",
    "{}\n",
    "{ }",
    "{\n}\n",
    " \n{\n\n}\n\n",
    "\u{feff}{}",
    "\u{feff}{\n  \"a\": 1\n}\n",
    r#"{"model":"x"}"#,
    r#"{"model": "x", "env": {"A": "1"}}"#,
    "{\n  \"model\": \"x\"\n}\n",
    "{\n  \"model\": \"x\"\n}",
    "{\n    \"model\": \"x\",\n    \"b\": [1, 2]\n}\n",
    "{\n\t\"model\": \"x\"\n}\n",
    "{\r\n  \"model\": \"x\"\r\n}\r\n",
    "{\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [\r\n\t\t\tF\r\n\t\t]\r\n\t}\r\n}\r\n",
    "{\n\"model\": \"x\"\n}\n",
    r#"{"hooks":{}}"#,
    r#"{"hooks": null}"#,
    "{\n  \"hooks\": {},\n  \"z\": 0\n}\n",
    "{\n  \"hooks\": {\n  }\n}\n",
    "{\n  \"hooks\": null,\n  \"a\": 1\n}\n",
    r#"{"hooks":{"PreToolUse":[]}}"#,
    r#"{"hooks":{"PreToolUse":null,"Stop":[ ]}}"#,
    "{\n  \"hooks\": {\n    \"PreToolUse\": [],\n    \"Stop\": [\n    ]\n  }\n}\n",
    r#"{"hooks":{"PreToolUse":[F]}}"#,
    r#"{"hooks":{"PreToolUse":[F, F , F]}, "z": 1}"#,
    "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      F,\n      F\n    ]\n  },\n  \"z\": [\n    1\n  ]\n}\n",
    "{\n  \"z\": 1,\n  \"hooks\": {\n    \"Zeta\": [F],\n    \"Stop\": [\n      F\n    ],\n    \"PreToolUse\": []\n  }\n}\n",
    "{\n  \"hooks\": {\n    \"PreToolUse\": [{\n      \"hooks\": []\n    }]\n  }\n}\n",
    "{\"\\u0061\\/\": \"\\u00e4\\ud83d\\ude00\", \"n\": 1.0e+2, \"m\": -0.10, \"big\": 123456789012345678901234567890}",
    "{\n  \"\\u0068ooks\": {\"Pre\\u0054oolUse\": [F]}\n}\n",
    "{\n  \"a\" : 1 ,\n  \"hooks\" : { \"Stop\" : [ F ] } ,\n  \"b\" : 2\n}\n",
    "{\"a\":\"hooks\",\"b\":{\"hooks\":{\"PreToolUse\":[1]}},\"c\":\"{[\\\"\\\\\"}",
    "{\n\n  \"a\": 1,\n\n  \"hooks\": {\n\n    \"Stop\": [\n\n      F\n\n    ]\n\n  }\n\n}\n\n\n",
    "{\"hooks\":{\"PreToolUse\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"i-insist-notes hook\"},{\"type\":\"command\",\"command\":\"x\"}]}]}}",
    "{\"permissions\": {\"allow\": [\"Bash(i-insist hook --harness claude pre-tool-use)\"]}}",
    "{\"a\": 1, \"a\": 2}",
    "{ \"a\":1,\n\"hooks\":\n{\n\"Stop\":\n[F\n,F]}}",
];

/// Accepted only where the client takes comments and trailing commas.
const COMMENTED: &[&str] = &[
    "// first\n{\n  // a\n  \"a\": 1, // behind\n  /* b */ \"b\": \"// no\", \n}\n// last",
    "{ // nothing yet\n}\n",
    "{ /* nothing yet */ }",
    "{\n  \"hooks\": {\n    // soon\n  },\n}\n",
    "{\n  \"hooks\": {\n    \"Stop\": [\n      F, // theirs\n    ],\n  },\n}\n",
    "{\"hooks\":{\"Stop\":[F/*x*/,/*y*/F,],},}",
];

fn table() -> impl Iterator<Item = (String, bool)> {
    let fill = |text: &&str| text.replace('F', FOREIGN);
    let plain = SETTINGS.iter().map(move |text| (fill(text), false));
    plain.chain(COMMENTED.iter().map(move |text| (fill(text), true)))
}

/// Whether `text` holds the bytes of `part` in their order; blanks may be fewer, where an empty
/// container was filled.
fn holds_in_order(text: &str, part: &str) -> bool {
    let mut bytes = text.bytes();
    let mut part = part.bytes().filter(|byte| !byte.is_ascii_whitespace());
    part.all(|wanted| bytes.any(|byte| byte == wanted))
}

#[test]
fn p44_install_keeps_every_byte_twice_changes_nothing_and_uninstall_restores() {
    assert!(table().count() >= 30);
    for (text, comments) in table() {
        let mut home = Home::new();
        home.claude.comments = comments;
        home.put(".claude/settings.json", &text);
        let report = home.install();
        assert_eq!(report.exit, 0, "{text}\n{}", report.err);
        let installed = home.settings().unwrap();
        assert_eq!(
            sorted(counts(&installed, "claude")),
            sorted(once_each(&home.claude)),
            "{installed}"
        );
        assert!(text.contains("null") || holds_in_order(&installed, &text), "{text}\n{installed}");
        assert_eq!(installed.contains("\r\n"), text.contains("\r\n"));
        assert!(
            !text.contains("\r\n") || !installed.replace("\r\n", "").contains('\n'),
            "{installed}"
        );

        let before = home.files();
        let second = home.install();
        assert_eq!((second.exit, second.err.as_str()), (0, ""));
        assert_eq!(home.files(), before, "{text}");

        assert_eq!(home.uninstall().exit, 0);
        assert_eq!(home.settings().as_ref(), Some(&text), "{installed}");
        assert_eq!(
            fs::read_dir(home.at(".local/state/i-insist/registrations")).map_or(0, Iterator::count),
            0
        );
        assert_eq!(home.uninstall().exit, 0);
        assert_eq!(home.settings().as_ref(), Some(&text));
    }
}

#[test]
fn a_file_that_was_not_there_goes_again() {
    let home = Home::new();
    assert_eq!(home.install().exit, 0);
    let text = home.settings().unwrap();
    assert!(
        text.starts_with("{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"hooks\": ["),
        "{text}"
    );
    assert!(text.contains("\"command\": \"i-insist hook --harness claude pre-tool-use\",\n            \"timeout\": 600,\n            \"onFailure\": \"block\"\n"), "{text}");
    assert_eq!(home.uninstall().exit, 0);
    assert_eq!(home.settings(), None);
    // With foreign settings in it by then, it stays.
    home.install();
    home.put(".claude/settings.json", &text.replacen('{', "{\n  \"a\": 1,", 1));
    assert_eq!(home.uninstall().exit, 0);
    assert_eq!(home.settings().as_deref(), Some("{\n  \"a\": 1\n}\n"));
}

#[test]
fn without_the_record_emptied_containers_go() {
    for (text, left) in [
        ("{}", "{}"),
        ("{\"a\":1,\"hooks\":{}}", "{\"a\":1}"),
        ("{\n  \"hooks\": {\n    \"Stop\": []\n  },\n  \"a\": 1\n}\n", "{\n  \"a\": 1\n}\n"),
        ("{\"hooks\":{\"Other\":[]}}", "{\"hooks\":{\"Other\":[]}}"),
    ] {
        let home = Home::new();
        home.put(".claude/settings.json", text);
        home.install();
        drop(fs::remove_dir_all(&home.world.state));
        assert_eq!(home.uninstall().exit, 0);
        assert_eq!(home.settings().as_deref(), Some(left));
    }
}

#[test]
fn a_record_that_holds_anything_but_blank_layouts_is_not_believed() {
    let home = Home::new();
    home.put(".claude/settings.json", "{\"a\":1}");
    home.install();
    let evil = r#"{"hooks":"{\"Stop\":[1]}","hooks.Stop":"garbage"}"#;
    let record = record_path(&home.world, &home.claude);
    fs::create_dir_all(record.parent().unwrap()).unwrap();
    fs::write(record, evil).unwrap();
    home.uninstall();
    assert_eq!(home.settings().as_deref(), Some("{\"a\":1}"));
}

#[test]
fn p34_ours_in_any_spelling_converge_to_one() {
    let handler =
        |command: &str| format!(r#"{{"type": "command", "command": "{command}", "timeout": 600}}"#);
    let group = |handlers: &str| format!(r#"{{"hooks": [{handlers}]}}"#);
    let python = handler("i-insist hook --harness claude pre-tool-use");
    let absolute = handler("/old/bin/i-insist hook --harness claude pre-tool-use");
    let quoted = handler("'/o l d/i-insist' hook --harness claude pre-tool-use");
    let foreign = handler("other");
    for (groups, foreign_count) in [
        (group(&python), 0),
        ([group(&python), group(&absolute), group(&quoted)].join(", "), 0),
        ([group(&foreign), group(&quoted)].join(", "), 1),
        ([group(&[python.clone(), foreign.clone()].join(",")), group(&absolute)].join(", "), 1),
        (
            group(
                &[
                    foreign.clone(),
                    python.clone(),
                    foreign.clone(),
                    absolute.clone(),
                    foreign.clone(),
                ]
                .join(", "),
            ),
            3,
        ),
        (format!(r#"{{"matcher": "Bash", "hooks": [{python}, {foreign}]}}"#), 1),
        (
            format!(
                r#"{{"matcher": "Bash", "hooks": [{python}, {absolute}]}}, {}"#,
                group(&foreign)
            ),
            1,
        ),
    ] {
        let home = Home::new();
        home.put(
            ".claude/settings.json",
            &format!(r#"{{"hooks": {{"PreToolUse": [{groups}], "Gone": []}}}}"#),
        );
        assert_eq!(home.install().exit, 0);
        let text = home.settings().unwrap();
        assert_eq!(sorted(counts(&text, "claude")), sorted(once_each(&home.claude)), "{text}");
        assert_eq!(text.matches(&foreign).count(), foreign_count, "{text}");
        assert!(!text.contains("/o"), "{text}");
        let before = home.files();
        home.install();
        assert_eq!(home.files(), before);
        home.uninstall();
        let text = home.settings().unwrap();
        assert_eq!(counts(&text, "claude"), [], "{text}");
        assert_eq!(text.matches(&foreign).count(), foreign_count, "{text}");
    }
}

#[test]
fn p22_a_right_registration_keeps_its_bytes_and_place() {
    let home = Home::new();
    let path = home.at("bin/i-insist").display().to_string();
    for program in ["i-insist", path.as_str()] {
        let ours = format!(
            "{{ \"matcher\":\"*\", \"hooks\":[{{\"timeout\":600,\"type\":\"command\", \"command\":\"{program}  hook --harness codex pre-tool-use\"}}]}}"
        );
        home.put(
            ".codex/hooks.json",
            &format!("{{\"hooks\":{{\"PreToolUse\":[{ours},{FOREIGN}]}}}}"),
        );
        let report = install(&home.world, &hooks(&home.codex), false);
        assert!(report.out.contains("/hooks"), "{report:?}");
        let text = fs::read_to_string(&home.codex.settings).unwrap();
        assert!(
            text.starts_with(&format!(
                "{{\"hooks\":{{\"PreToolUse\":[{ours},{FOREIGN}],\"PostToolUse\""
            )),
            "{text}"
        );
        assert!(!text.contains("onFailure"));
    }
}

#[test]
fn p46_weakened_registrations_are_mended() {
    for change in [
        ("\"timeout\":600", "\"timeout\":1"),
        (",\"onFailure\":\"block\"", ""),
        ("\"type\":\"command\"", "\"async\":true,\"type\":\"command\""),
        ("\"type\":\"command\"", "\"if\":\"Bash(git *)\",\"type\":\"command\""),
        ("{\"hooks\":[{", "{\"matcher\":\"Edit\",\"hooks\":[{"),
        ("pre-tool-use", "post-tool-use"),
        ("\"command\":\"i-insist", "\"command\":\"/not/there/i-insist"),
    ] {
        let home = Home::new();
        home.put(".claude/settings.json", "{\"a\":1}");
        home.install();
        let right = home.settings().unwrap();
        let weakened = right.replacen(change.0, change.1, 1);
        assert_ne!(weakened, right);
        home.put(".claude/settings.json", &weakened);
        assert_eq!(status(&home.world, &[hooks(&home.claude)], &[]).exit, 1);
        home.install();
        assert_eq!(home.settings(), Some(right));
    }
}

#[test]
fn p24_p31_what_cannot_be_read_is_refused_untouched_with_its_place() {
    for (text, part) in [
        ("", "invalid JSON: line 1 column 1"),
        ("{\n  \"a\": 1,\n}\n", "invalid JSON: line 3 column 1"),
        ("{\n  // no\n}\n", "invalid JSON: line 2 column 3"),
        ("{\"a\": 1", "invalid JSON: line 1 column 8"),
        ("{} {}", "invalid JSON: line 1 column 4"),
        ("[]", "must be an object, found an array"),
        ("null", "must be an object, found null"),
        ("{\"hooks\": []}", "hooks must be an object, found an array"),
        ("{\"hooks\": {\"Stop\": {}}}", "hooks.Stop must be an array, found an object"),
        ("{\"hooks\": {}, \"hooks\": {}}", "`hooks` occurs twice"),
        ("{\"hooks\": {\"Stop\": [], \"Stop\": []}}", "`hooks.Stop` occurs twice"),
    ] {
        let home = Home::new();
        home.put(".claude/settings.json", text);
        home.refuses(&home.install(), part);
        assert_eq!(home.settings().as_deref(), Some(text));
    }
    let home = Home::new();
    fs::write(&home.claude.settings, b"{\"a\": \"\xff\"}").unwrap();
    home.refuses(&home.install(), "invalid JSON: line 1 column 8: invalid UTF-8");
}

#[test]
fn explicit_switches_refuse_before_anything_is_written() {
    for (file, text) in [
        (".claude/settings.json", "{\"disableAllHooks\": true}"),
        (".claude/settings.json", "{\"allowManagedHooksOnly\": true}"),
        (".claude/settings.local.json", "{\"disableAllHooks\": true}"),
        ("work/.claude/settings.json", "{\"disableAllHooks\": true}"),
        ("work/.claude/settings.local.json", "{\"disableAllHooks\": true}"),
    ] {
        let home = Home::new();
        home.put(file, text);
        home.refuses(&home.install(), "disabled");
        home.refuses(&ensure(&home.world, &[hooks(&home.codex), hooks(&home.claude)]), "disabled");
        assert!(!home.codex.settings.exists());
        // The twin: the same switch, not on.
        home.put(file, &text.replace("true", "false"));
        assert_eq!(home.install().exit, 0);
    }
    for (file, text) in [
        (".codex/config.toml", "[features]\nhooks = false\n"),
        (".codex/config.toml", "features.codex_hooks = false\n"),
        ("work/.codex/config.toml", "[features]\nhooks = false\n"),
    ] {
        let home = Home::new();
        home.put(file, text);
        home.refuses(&install(&home.world, &hooks(&home.codex), false), "disabled");
        home.put(file, &text.replace("false", "true"));
        assert_eq!(install(&home.world, &hooks(&home.codex), false).exit, 0);
    }
    let home = Home::new();
    home.put(".codex/config.toml", "[features\n");
    home.refuses(&install(&home.world, &hooks(&home.codex), false), "invalid TOML: line 1");
}

#[test]
fn a_single_hook_that_is_switched_off_refuses() {
    let home = Home::new();
    home.put(".codex/hooks.json", &format!("{{\"hooks\":{{\"PreToolUse\":[{FOREIGN}]}}}}"));
    let state = |group: usize| {
        let file = home.codex.settings.display();
        home.put(
            ".codex/config.toml",
            &format!("[hooks.state.\"{file}:pre_tool_use:{group}:0\"]\nenabled = false\n"),
        );
    };
    // Ours will be the second group; the first is a stranger's.
    state(1);
    home.refuses(&install(&home.world, &hooks(&home.codex), false), "disabled");
    state(0);
    assert_eq!(install(&home.world, &hooks(&home.codex), false).exit, 0);
    let config = fs::read_to_string(home.at(".codex/config.toml")).unwrap();
    assert!(config.ends_with("enabled = false\n") && !config.contains("trusted_hash"));
}

#[test]
fn a_foreign_entry_that_drops_the_file_is_reported() {
    let entry =
        |handler: &str| format!("{{\"hooks\":{{\"PreToolUse\":[{{\"hooks\":[{handler}]}}]}}}}");
    for (handler, refused) in [
        (r#"{"command":"x"}"#, true),
        (r#"{"type":"shell","command":"x"}"#, true),
        (r#"{"type":"command"}"#, true),
        (r#"{"type":"command","command":"x","timeout":0}"#, true),
        (r#"{"type":"command","command":"x","timeout":"5"}"#, true),
        (r#"{"type":"command","command":"x","onFailure":"stop"}"#, true),
        (
            r#"{"type":"command","command":"x","timeout":0.5,"onFailure":"continue","extra":1}"#,
            false,
        ),
        (r#"{"type":"http","url":"x"}"#, false),
    ] {
        let home = Home::new();
        home.put(".claude/settings.json", &entry(handler));
        if refused {
            home.refuses(&home.install(), "drops the whole file");
            assert_eq!(status(&home.world, &[hooks(&home.claude)], &[]).exit, 2);
            home.put(".claude/settings.json", &entry(handler).replace("PreToolUse", "NoSuchEvent"));
        }
        assert_eq!(home.install().exit, 0, "{handler}");
    }
    let home = Home::new();
    home.put(".codex/hooks.json", "{\"hooks\":{},\"version\":1}");
    home.refuses(&install(&home.world, &hooks(&home.codex), false), "unknown key `version`");
    home.put(".codex/hooks.json", "{\"hooks\":{},\"description\":\"x\"}");
    assert_eq!(install(&home.world, &hooks(&home.codex), false).exit, 0);
}

#[test]
fn a_rehearsal_prints_the_difference_and_writes_nothing() {
    let home = Home::new();
    home.put(".claude/settings.json", "{\n  \"a\": 1\n}\n");
    let before = home.files();
    let report = install(&home.world, &hooks(&home.claude), true);
    let settings = home.claude.settings.display();
    assert!(
        report.out.contains(&format!("--- {settings}\n+++ {settings}\n@@ -1,3 +1,")),
        "{}",
        report.out
    );
    assert!(
        report.out.contains("\n-  \"a\": 1\n+  \"a\": 1,\n+  \"hooks\": {\n"),
        "{}",
        report.out
    );
    assert!(report.out.contains("--- /dev/null\n"));
    assert_eq!(home.files(), before);
    home.install();
    let before = home.files();
    let report = uninstall(&home.world, &hooks(&home.claude), true);
    assert!(report.out.contains("\n-  \"hooks\": {\n"), "{}", report.out);
    assert_eq!(home.files(), before);
}

#[test]
fn the_rule_file_is_put_in_place_once() {
    let home = Home::new();
    home.install();
    let file = home.at(".i-insist/i-insist.toml");
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        include_str!("../../examples/config-protection.toml")
    );
    fs::write(&file, "mine").unwrap();
    home.install();
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    fs::remove_file(&file).unwrap();
    symlink("elsewhere", &file).unwrap();
    home.install();
    assert!(!home.at(".i-insist/elsewhere").exists());
}

#[test]
fn p08_a_linked_settings_file_stays_a_link_with_its_mode() {
    let home = Home::new();
    home.put("dotfiles/claude.json", "{\"a\":1}");
    fs::set_permissions(home.at("dotfiles/claude.json"), fs::Permissions::from_mode(0o640))
        .unwrap();
    symlink("../dotfiles/claude.json", &home.claude.settings).unwrap();
    for change in [Home::install, Home::uninstall] {
        assert_eq!(change(&home).exit, 0);
        assert!(home.claude.settings.is_symlink());
        assert_eq!(fs::metadata(home.at("dotfiles/claude.json")).unwrap().mode() & 0o7777, 0o640);
    }
    assert_eq!(home.settings().as_deref(), Some("{\"a\":1}"));
    assert_eq!(fs::read_dir(home.at("dotfiles")).unwrap().count(), 1);
}

#[test]
fn p35_p39_the_hook_line_leads_to_this_binary() {
    let mut home = Home::new();
    // Not on PATH, in a folder that a shell would split: the path is quoted, and recognised later.
    let program = home.at("it's mine/i-insist");
    home.put("it's mine/i-insist", "#!/bin/sh\nprintf %s \"$*\"\n");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    home.world.program = Some(program);
    home.put(".claude/settings.json", "{\"a\":1}");
    home.install();
    let text = home.settings().unwrap();
    let settings = Json::parse(&text).unwrap();
    let stop =
        settings.get("hooks").and_then(|hooks| hooks.get("Stop")).and_then(Json::as_array).unwrap();
    let line = stop[0].get("hooks").and_then(Json::as_array).unwrap()[0]
        .get("command")
        .and_then(Json::as_str)
        .unwrap();
    let output = std::process::Command::new("sh").args(["-c", line]).output().unwrap();
    assert_eq!(output.stdout, b"hook --harness claude stop");
    let before = home.files();
    home.install();
    assert_eq!(home.files(), before);
    home.uninstall();
    assert_eq!(home.settings().as_deref(), Some("{\"a\":1}"));
}

#[test]
fn ensure_registers_what_is_on_path_or_configured() {
    let home = Home::new();
    fs::remove_dir(home.at(".claude")).unwrap();
    fs::remove_dir(home.at(".codex")).unwrap();
    let both = [hooks(&home.claude), hooks(&home.codex)];
    assert_eq!(ensure(&home.world, &both).exit, 1);
    assert!(!home.at(".i-insist").exists());
    fs::create_dir(home.at(".codex")).unwrap();
    assert_eq!(ensure(&home.world, &both).exit, 0);
    assert!(home.codex.settings.exists() && !home.claude.settings.exists());
    home.put("bin/claude", "");
    fs::set_permissions(home.at("bin/claude"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(ensure(&home.world, &both).exit, 0);
    assert!(home.claude.settings.exists());
    assert!(!home.at(".codex/config.toml").exists());
    let report = status(&home.world, &both, &[home.at(".i-insist/i-insist.toml")]);
    assert_eq!(report.exit, 0, "{report:?}");
    assert_eq!(report.out.matches("  registered\n").count(), 2, "{}", report.out);
    assert!(report.out.contains("trust: unknown") && report.out.contains("this program"));
}

/// A small generator of numbers, the same in every run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.below(from.len())]
    }

    fn blank(&mut self, newline: &str) -> String {
        self.pick(&["", "", " ", "\n", "\n  ", "\n\t", "\n\n    "]).replace('\n', newline)
    }

    fn list(&mut self, brackets: (&str, &str), items: &[String], newline: &str) -> String {
        let items: Vec<String> =
            items.iter().map(|item| self.blank(newline) + item + &self.blank(newline)).collect();
        let inside = if items.is_empty() { self.blank(newline) } else { items.join(",") };
        format!("{}{inside}{}", brackets.0, brackets.1)
    }

    /// A settings text; `handlers` are what its hooks may hold.
    fn settings(&mut self, handlers: &[&str]) -> String {
        let newline = self.pick(&["\n", "\r\n"]);
        let mut events = Vec::new();
        for event in ["PreToolUse", "Stop", "Other", "SessionStart"] {
            let mut groups = Vec::new();
            for _ in 0..self.below(4) {
                let held: Vec<String> =
                    (0..self.below(4)).map(|_| self.pick(handlers).to_owned()).collect();
                let matcher = self.pick(&["", "\"matcher\": \"Bash\",", "\"matcher\":\"\" , "]);
                groups.push(format!(
                    "{{{matcher}\"hooks\":{}}}",
                    self.list(("[", "]"), &held, newline)
                ));
            }
            if self.below(2) == 0 {
                events.push(format!("\"{event}\":{}", self.list(("[", "]"), &groups, newline)));
            }
        }
        let mut members =
            vec![r#""a\u0041":[1,{"hooks":"]}"}]"#.to_owned(), r#""z": -1.50"#.to_owned()];
        members.truncate(self.below(3));
        match self.below(4) {
            0 => {}
            1 => members.push("\"hooks\": null".to_owned()),
            _ => {
                members
                    .insert(0, format!("\"hooks\" :{}", self.list(("{", "}"), &events, newline)));
            }
        }
        self.blank(newline) + &self.list(("{", "}"), &members, newline) + &self.blank(newline)
    }
}

const THEIRS: &[&str] = &[
    r#"{"type": "command", "command": "x"}"#,
    r#"{"command":"y ]}\"","type":"command"}"#,
    r#"{"type":"http"}"#,
];
const OURS: &[&str] = &[
    r#"{"type":"command","command":"i-insist hook --harness claude pre-tool-use"}"#,
    r#"{"type":"command","command":"/a/i-insist hook --harness claude stop","timeout":3600}"#,
    r#"{"type":"command","command":"i-insist hook --harness claude stop","timeout":3600}"#,
];

#[test]
fn generated_settings_come_back_byte_for_byte() {
    let claude = clients::claude(Path::new("/home"), None);
    let owner = Owner { harness: "claude", is_this_binary: &|word| word == "i-insist" };
    let entries = entries(&claude, "i-insist");
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..1000 {
        let text = random.settings(THEIRS);
        let mut former = Former::new();
        let installed = splice::install(Some(&text), false, &entries, &owner, &mut former).unwrap();
        assert_eq!(
            sorted(counts(&installed, "claude")),
            sorted(once_each(&claude)),
            "{text}\n{installed}"
        );
        assert!(text.contains("null") || holds_in_order(&installed, &text), "{text}\n{installed}");
        let mut again = former.clone();
        assert_eq!(
            splice::install(Some(&installed), false, &entries, &owner, &mut again).unwrap(),
            installed
        );
        assert_eq!(again, former);
        assert_eq!(splice::uninstall(&installed, false, &owner, &former).unwrap(), Some(text));
    }
}

#[test]
fn generated_mixtures_converge_and_leave_strangers_alone() {
    let claude = clients::claude(Path::new("/home"), None);
    let owner = Owner { harness: "claude", is_this_binary: &|word| word == "i-insist" };
    let entries = entries(&claude, "i-insist");
    let mut random = Random(0x0123_4567_89AB_CDEF);
    let handlers = [THEIRS, OURS].concat();
    let strangers =
        |text: &str| THEIRS.iter().map(|handler| text.matches(handler).count()).collect::<Vec<_>>();
    for _ in 0..1000 {
        let text = random.settings(&handlers);
        let mut former = Former::new();
        let installed = splice::install(Some(&text), false, &entries, &owner, &mut former).unwrap();
        Json::parse(&installed).unwrap();
        assert_eq!(
            sorted(counts(&installed, "claude")),
            sorted(once_each(&claude)),
            "{text}\n{installed}"
        );
        assert_eq!(strangers(&installed), strangers(&text), "{text}\n{installed}");
        let again = splice::install(Some(&installed), false, &entries, &owner, &mut former.clone())
            .unwrap();
        assert_eq!(again, installed);
        let removed = splice::uninstall(&installed, false, &owner, &former).unwrap().unwrap();
        Json::parse(&removed).unwrap();
        assert_eq!(counts(&removed, "claude"), [], "{removed}");
        assert_eq!(strangers(&removed), strangers(&text), "{removed}");
    }
}
