//! Where the clients keep their hooks, which they have, and what turns them off: facts, as data.
//!
//! Promises: what stands here was seen with the real clients. Never: reads or writes anything.

use crate::harness::Moment;
use std::path::{Path, PathBuf};

/// How one client is told about our hooks.
#[derive(Clone, Debug)]
pub(crate) struct Registration {
    /// The name in the hook line; also that of the client's program.
    pub(crate) harness: &'static str,
    /// The file that holds the hooks.
    pub(crate) settings: PathBuf,
    /// Whether the client accepts comments and trailing commas in it.
    pub(crate) comments: bool,
    /// The events that it has and we answer.
    pub(crate) moments: &'static [Moment],
    /// Those at which the client is asked to block when the hook cannot run.
    pub(crate) fail_closed: &'static [Moment],
    /// What the client refuses a whole file for.
    pub(crate) schema: &'static Schema,
    /// Further files of the user and the system that can switch hooks off.
    pub(crate) switches: Vec<PathBuf>,
    /// The same for a project, below its directory.
    pub(crate) project_switches: &'static [&'static str],
    /// What the person has to do before the hooks run.
    pub(crate) afterwards: &'static str,
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

/// After the tool, at the start and at the end a failing hook has nothing to hold back.
const CLAUDE_FAIL_CLOSED: &[Moment] = &[
    Moment::PreToolUse,
    Moment::PreSkillShellCommand,
    Moment::UserPromptSubmit,
    Moment::ConfigChange,
];

const CODEX_MOMENTS: &[Moment] = &[
    Moment::PreToolUse,
    Moment::PostToolUse,
    Moment::UserPromptSubmit,
    Moment::SessionStart,
    Moment::Stop,
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
        moments: &Moment::ALL,
        fail_closed: CLAUDE_FAIL_CLOSED,
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
        moments: CODEX_MOMENTS,
        fail_closed: &[],
        schema: &CODEX_SCHEMA,
        switches: vec![directory.join("config.toml"), "/etc/codex/requirements.toml".into()],
        project_switches: &[".codex/config.toml"],
        afterwards: "Codex runs new and changed hooks only after you have reviewed them: start it and open /hooks.\n",
    }
}
