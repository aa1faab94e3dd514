#![doc = include_str!("../manual/02-harness.md")]
//!
//! Promises: a pass prints nothing; a reply holds documented keys only; a refusal always has a reason;
//! what a harness cannot do becomes the nearest stricter thing it can. A payload that is not what it
//! should be is an error, never an empty call.
//! Never: knows a rule, reads the environment, changes state.

mod claude;
mod codex;
mod payload;
mod pi;
mod reply;

pub(crate) use pi::BRIDGE;
pub(crate) use reply::{Answer, Reply, instead, last_word, open_last_word};

use crate::event::{Event, Fields, InputError};
use crate::json::Json;
use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A harness with an adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Harness {
    /// Claude Code.
    Claude,
    /// The Codex CLI.
    Codex,
    /// Pi, through our bridge.
    Pi,
}

impl Harness {
    /// Every harness.
    pub(crate) const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Pi];

    /// Its name on the command line, in events and in rule files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Pi => "pi",
        }
    }

    /// The harness of this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// The harness that wrote `payload`, where no argument names it: its folder stands in the
    /// transcript's path, and among tool events only our bridge has this name for the call's id, and
    /// only Codex has turn ids else.
    pub(crate) fn of_payload(payload: &Json<'_>) -> Self {
        let text = |key| payload.get(key).and_then(Json::as_str);
        let transcript = text("transcript_path").unwrap_or_default();
        let below = |folder| Path::new(transcript).iter().any(|part| part == folder);
        if payload.get("tool_call_id").is_some() {
            Self::Pi
        } else if below(".codex") || text("turn_id").is_some() && !below(".claude") {
            Self::Codex
        } else {
            Self::Claude
        }
    }

    /// Reads the payload of `moment`.
    pub(crate) fn decode<'a>(
        self,
        moment: Moment,
        payload: &'a Json<'a>,
        environment: &Environment,
        home: &Path,
    ) -> Result<Message<'a>, InputError> {
        let fields = Fields::of(payload, "the payload")?;
        let expected = if self == Self::Pi && moment == Moment::Stop {
            BEFORE_FINISH
        } else {
            moment.client_name()
        };
        // The argument of our hook line rules; a payload that contradicts it is not meant for it.
        if fields.optional_text("hook_event_name")?.is_some_and(|named| named != expected) {
            return Err(InputError::new(format!(
                "hook_event_name must be `{expected}` for this event"
            )));
        }
        match self {
            Self::Claude => claude::decode(moment, &fields, environment, home),
            Self::Codex => codex::decode(moment, &fields, environment, home),
            Self::Pi => pi::decode(moment, &fields, environment, home),
        }
    }

    /// Writes the answer to `moment` in the form that this harness honours.
    pub(crate) fn encode(
        self,
        moment: Moment,
        answer: Answer<'_>,
        environment: &Environment,
    ) -> Reply {
        match self {
            Self::Claude => claude::encode(moment, answer, environment),
            Self::Codex => codex::encode(moment, answer),
            Self::Pi => pi::encode(moment, answer),
        }
    }

    /// Adds to the answer about a call that its result is for us to judge too. A harness that shows
    /// every result needs no asking.
    pub(crate) fn ask_after(self, reply: Reply) -> Reply {
        match self {
            Self::Claude | Self::Codex => reply,
            Self::Pi => pi::ask_after(reply),
        }
    }
}

/// What our bridge calls [`Moment::Stop`], and the event argument it gives then.
const BEFORE_FINISH: &str = "BeforeFinish";
const BEFORE_FINISH_ARGUMENT: &str = "before-finish";

/// When a harness calls us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A tool is about to run.
    PreToolUse,
    /// A shell line of a skill is about to run.
    PreSkillShellCommand,
    /// A tool has run.
    PostToolUse,
    /// A tool has failed.
    PostToolUseFailure,
    /// A prompt was submitted.
    UserPromptSubmit,
    /// A session starts, goes on, or was compacted.
    SessionStart,
    /// The agent wants to finish.
    Stop,
    /// A settings file has changed.
    ConfigChange,
}

impl Moment {
    /// Every moment.
    pub(crate) const ALL: [Self; 8] = [
        Self::PreToolUse,
        Self::PreSkillShellCommand,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::UserPromptSubmit,
        Self::SessionStart,
        Self::Stop,
        Self::ConfigChange,
    ];

    /// The event argument of a registered hook line.
    pub(crate) fn argument(self) -> &'static str {
        match self {
            Self::PreToolUse => "pre-tool-use",
            Self::PreSkillShellCommand => "pre-skill-shell-command",
            Self::PostToolUse => "post-tool-use",
            Self::PostToolUseFailure => "post-tool-use-failure",
            Self::UserPromptSubmit => "user-prompt-submit",
            Self::SessionStart => "session-start",
            Self::Stop => "stop",
            Self::ConfigChange => "config-change",
        }
    }

    /// What the clients call it.
    pub(crate) fn client_name(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PreSkillShellCommand => "PreSkillShellCommand",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::SessionStart => "SessionStart",
            Self::Stop => "Stop",
            Self::ConfigChange => "ConfigChange",
        }
    }

    /// The moment of this event argument.
    pub(crate) fn from_argument(argument: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|known| known.argument() == argument)
            .or((argument == BEFORE_FINISH_ARGUMENT).then_some(Self::Stop))
    }

    /// The moment that the clients call by this name.
    pub(crate) fn from_client_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|known| known.client_name() == name)
            .or((name == BEFORE_FINISH).then_some(Self::Stop))
    }

    /// How long a hook may take. Past the client's limit the call would go through unjudged, so our
    /// own deadline comes first.
    pub(crate) fn limits(self) -> Limits {
        let (registered_seconds, own_seconds) = match self {
            Self::PreToolUse
            | Self::PreSkillShellCommand
            | Self::PostToolUse
            | Self::PostToolUseFailure => (600, 570),
            Self::UserPromptSubmit | Self::SessionStart | Self::ConfigChange => (30, 20),
            Self::Stop => (3_600, 3_540),
        };
        Limits { registered_seconds, own_seconds }
    }
}

/// The time a hook has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The time-out that is registered with the harness.
    pub(crate) registered_seconds: u64,
    /// Our own deadline below it.
    pub(crate) own_seconds: u64,
}

/// What a harness told us.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Message<'a> {
    /// A call, before or after it.
    Tool(Box<Event<'a>>),
    /// A prompt.
    Prompt(Prompt<'a>),
    /// A session's start.
    SessionStart(SessionStart<'a>),
    /// The agent wants to finish.
    Stop(Stop<'a>),
    /// A settings file has changed.
    SettingsChange(SettingsChange<'a>),
}

/// Where in the harness a message comes from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Origin<'a> {
    /// The session's id.
    pub(crate) session_id: Option<Cow<'a, str>>,
    /// The turn's id.
    pub(crate) turn_id: Option<Cow<'a, str>>,
    /// The physical working directory.
    pub(crate) cwd: PathBuf,
    /// Whether the person lets the harness use what the project brings along; a harness that does not
    /// ask trusts it.
    pub(crate) project_trusted: bool,
}

/// A prompt and who wrote it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Prompt<'a> {
    /// Session, turn and directory.
    pub(crate) origin: Origin<'a>,
    /// The words.
    pub(crate) text: &'a str,
    /// Whose words they are.
    pub(crate) author: Author,
}

/// Who wrote a prompt, as far as payload and environment tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Author {
    /// A person, or nothing says otherwise.
    Person,
    /// A program, and what shows it.
    Machine(&'static str),
}

/// A session starts, goes on, or was compacted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SessionStart<'a> {
    /// Session, turn and directory.
    pub(crate) origin: Origin<'a>,
    /// The harness's word for why: `startup`, `resume`, `clear`, `fork`, `compact` …
    pub(crate) source: &'a str,
    /// Only the history was made shorter: the same response goes on.
    pub(crate) compacted: bool,
}

/// The agent wants to finish.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stop<'a> {
    /// Session, turn and directory.
    pub(crate) origin: Origin<'a>,
    /// The agent was sent back before in this response.
    pub(crate) sent_back: bool,
    /// How many background tasks still run.
    pub(crate) background_tasks: usize,
    /// The client holds our standard input open until it has the answer, or is gone.
    pub(crate) held_open: bool,
}

/// A settings file has changed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SettingsChange<'a> {
    /// Session, turn and directory.
    pub(crate) origin: Origin<'a>,
    /// The harness's word for whose settings: `user_settings` …
    pub(crate) source: Option<&'a str>,
    /// The file, where the harness names it.
    pub(crate) path: Option<PathBuf>,
}

/// What of the environment an adapter looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Environment {
    /// We run below another agent's shell: judge calls as always, but change no state.
    pub(crate) nested: bool,
    /// A person sits at the terminal and can be asked.
    pub(crate) attended: bool,
    /// The directory we were started in.
    pub(crate) working_directory: Option<PathBuf>,
    /// A payload may lack `cwd`, as in steer's spelling; ours is taken then.
    pub(crate) cwd_optional: bool,
}

/// Set in an agent's shell, and so in every client that it starts, but not in a client's own hooks.
const NESTING_VARIABLES: [&str; 4] =
    ["CLAUDE_CODE_EXECPATH", "CODEX_THREAD_ID", "CODEX_TOOL_CALL_ID", "PI_SESSION_ID"];

impl Environment {
    /// Picks what matters out of the variables that `variable` looks up.
    pub(crate) fn new(
        variable: impl Fn(&str) -> Option<OsString>,
        working_directory: Option<PathBuf>,
    ) -> Self {
        let nested = NESTING_VARIABLES.iter().any(|name| variable(name).is_some());
        let attended = variable("CLAUDE_CODE_SESSION_ATTENDED").is_some_and(|value| value == "1");
        Self {
            nested,
            // A terminal that another agent opened has nobody before it.
            attended: attended && !nested,
            working_directory,
            cwd_optional: false,
        }
    }
}

#[cfg(test)]
mod encode_tests;
#[cfg(test)]
mod tests;
