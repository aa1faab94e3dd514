//! Where the clients keep their hooks, which they have, and what turns them off: facts, as data.
//!
//! Promises: what stands here was seen with the real clients. Never: reads or writes anything.

use std::path::{Path, PathBuf};

/// A tool's hook may take as long as the clients' own default.
const TOOL: u32 = 600;
/// A prompt or the start of a session must not hang.
const PROMPT: u32 = 30;
/// Finish checks run whole test suites.
const STOP: u32 = 3600;

/// How one client is told about our hooks.
#[derive(Clone, Debug)]
pub(crate) struct Registration {
    /// The name in the hook line; also that of the client's program.
    pub(crate) harness: &'static str,
    /// The file that holds the hooks.
    pub(crate) settings: PathBuf,
    /// Whether the client accepts comments and trailing commas in it.
    pub(crate) comments: bool,
    /// The events.
    pub(crate) hooks: &'static [Hook],
    /// What the client refuses a whole file for.
    pub(crate) schema: &'static Schema,
    /// Further files of the user and the system that can switch hooks off.
    pub(crate) switches: Vec<PathBuf>,
    /// The same for a project, below its directory.
    pub(crate) project_switches: &'static [&'static str],
    /// What the person has to do before the hooks run.
    pub(crate) afterwards: &'static str,
}

/// One event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hook {
    /// Its key in the settings.
    pub(crate) event: &'static str,
    /// Its name in our hook line.
    pub(crate) argument: &'static str,
    /// Seconds after which the client kills the hook.
    pub(crate) timeout: u32,
    /// Whether the client is asked to block when the hook cannot run.
    pub(crate) fail_closed: bool,
}

/// What a client checks in its hooks; one entry that fails makes it drop the whole file.
#[derive(Debug)]
pub(crate) struct Schema {
    /// Top-level keys, if others are refused.
    pub(crate) top_level: Option<&'static [&'static str]>,
    /// Events whose entries are checked; others are ignored.
    pub(crate) events: &'static [&'static str],
    /// Types of handlers.
    pub(crate) types: &'static [&'static str],
    /// Whether time-outs are whole numbers.
    pub(crate) whole_seconds: bool,
    /// Values of `onFailure`, if the client knows it.
    pub(crate) on_failure: Option<&'static [&'static str]>,
}

const fn hook(event: &'static str, argument: &'static str, timeout: u32) -> Hook {
    Hook {
        event,
        argument,
        timeout,
        fail_closed: false,
    }
}

const fn guard(event: &'static str, argument: &'static str, timeout: u32) -> Hook {
    Hook {
        event,
        argument,
        timeout,
        fail_closed: true,
    }
}

/// After the tool, at the start and at the end a failing hook has nothing to hold back.
const CLAUDE_HOOKS: &[Hook] = &[
    guard("PreToolUse", "pre-tool-use", TOOL),
    hook("PostToolUse", "post-tool-use", TOOL),
    hook("PostToolUseFailure", "post-tool-use-failure", TOOL),
    guard("PreSkillShellCommand", "pre-skill-shell-command", TOOL),
    guard("UserPromptSubmit", "user-prompt-submit", PROMPT),
    hook("SessionStart", "session-start", PROMPT),
    guard("ConfigChange", "config-change", PROMPT),
    hook("Stop", "stop", STOP),
];

const CODEX_HOOKS: &[Hook] = &[
    hook("PreToolUse", "pre-tool-use", TOOL),
    hook("PostToolUse", "post-tool-use", TOOL),
    hook("UserPromptSubmit", "user-prompt-submit", PROMPT),
    hook("SessionStart", "session-start", PROMPT),
    hook("Stop", "stop", STOP),
];

#[rustfmt::skip]
const CLAUDE_SCHEMA: Schema = Schema {
    top_level: None,
    events: &[
        "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "PermissionRequest", "PermissionDenied",
        "PreSkillShellCommand", "UserPromptSubmit", "UserPromptExpansion", "SessionStart", "SessionEnd", "Stop",
        "StopFailure", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "ConfigChange", "CwdChanged",
        "InstructionsLoaded", "Setup", "Notification", "MessageDisplay", "PreModelSwitch", "PostModelSwitch",
        "TeammateIdle", "TaskCreated", "TaskCompleted", "Elicitation", "ElicitationResult", "WorktreeCreate",
        "WorktreeRemove", "FileChanged", "DirectoryAdded",
    ],
    types: &["command", "http", "prompt", "agent", "mcp_tool"],
    whole_seconds: false,
    on_failure: Some(&["continue", "block"]),
};

#[rustfmt::skip]
const CODEX_SCHEMA: Schema = Schema {
    top_level: Some(&["hooks", "description"]),
    events: &[
        "PreToolUse", "PostToolUse", "PermissionRequest", "UserPromptSubmit", "SessionStart", "SessionEnd", "Stop",
        "SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "Interrupt", "PreModelRequest", "PostModelRequest",
    ],
    types: &["command", "mcp_tool", "prompt", "agent"],
    whole_seconds: true,
    on_failure: None,
};

/// Claude Code; `directory` is `CLAUDE_CONFIG_DIR` where it is set.
pub(crate) fn claude(home: &Path, directory: Option<PathBuf>) -> Registration {
    let directory = directory.unwrap_or_else(|| home.join(".claude"));
    Registration {
        harness: "claude",
        settings: directory.join("settings.json"),
        comments: false,
        hooks: CLAUDE_HOOKS,
        schema: &CLAUDE_SCHEMA,
        switches: vec!["/etc/claude-code/managed-settings.json".into()],
        project_switches: &[".claude/settings.json", ".claude/settings.local.json"],
        afterwards: "",
    }
}

/// Codex; `directory` is `CODEX_HOME` where it is set.
pub(crate) fn codex(home: &Path, directory: Option<PathBuf>) -> Registration {
    let directory = directory.unwrap_or_else(|| home.join(".codex"));
    Registration {
        harness: "codex",
        settings: directory.join("hooks.json"),
        comments: false,
        hooks: CODEX_HOOKS,
        schema: &CODEX_SCHEMA,
        switches: vec![
            directory.join("config.toml"),
            "/etc/codex/requirements.toml".into(),
        ],
        project_switches: &[".codex/config.toml"],
        afterwards: "Codex runs new and changed hooks only after you have reviewed them: start it and open /hooks.\n",
    }
}
