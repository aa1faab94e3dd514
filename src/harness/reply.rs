//! What can be answered, and the parts of a reply that all harnesses share.
//!
//! Promises: a reply is valid UTF-8, and JSON where it goes to stdout; texts meant for the model as an
//! aside stay below the length at which clients cut them. Never: leaves a refusal without a reason.

use super::Moment;
use crate::json::Json;
use crate::sys::{LastWord, Stream};
use std::borrow::Cow;
use std::iter;
use std::time::Duration;

/// The longest context, feedback or notice in characters; clients cut at about 10,000.
const MAX_ASIDE: usize = 8_999;
const CUT: &str = "\n[cut: the text was too long]";
/// What a refusal says that was given no reason: a blank one lets the call through in Codex.
const NO_REASON: &str = "Blocked by i-insist; no reason was given.";

/// What to do about a message, in the words of no harness.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer<'a> {
    /// Nothing: let it be.
    Pass,
    /// Refuse what was announced: the call, the prompt, the finish (the agent goes on), the change
    /// of settings. After a tool: tell the agent that its result is not acceptable.
    Deny {
        /// For the agent.
        reason: &'a str,
        /// For the person, where the harness can show it.
        person: Option<&'a str>,
    },
    /// Let the person decide; where nobody can be asked, a denial.
    Ask {
        /// For the person, or in a denial for the agent.
        reason: &'a str,
        /// For the person beside it.
        person: Option<&'a str>,
    },
    /// Run the call with other arguments.
    Rewrite {
        /// All arguments, not only the changed ones.
        input: Json<'a>,
        /// For the person.
        person: Option<&'a str>,
        /// For the agent.
        context: Option<&'a str>,
    },
    /// Let it be, and tell something.
    Context {
        /// For the agent.
        text: &'a str,
        /// For the person.
        person: Option<&'a str>,
    },
    /// Let it be, and tell the person something.
    Notice {
        /// For the person.
        person: &'a str,
    },
}

/// What the process writes, and how it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    /// For the client.
    pub(crate) stdout: String,
    /// For the client where it reads this stream.
    pub(crate) stderr: String,
    /// 0, or 2 for a refusal on stderr.
    pub(crate) exit: u8,
}

impl Reply {
    /// An object of the parts that are there; no part, no output.
    pub(super) fn json<'a>(parts: impl IntoIterator<Item = Option<Part<'a>>>) -> Self {
        let parts: Vec<Part<'a>> = parts.into_iter().flatten().collect();
        let stdout = if parts.is_empty() { String::new() } else { Json::object(parts).to_text() };
        Self { stdout, ..Self::default() }
    }

    /// A refusal in the form of exit status 2. Without text on stderr it would count for nothing.
    pub(crate) fn refusal(reason: &str) -> Self {
        Self { stderr: format!("{}\n", never_blank(reason)), exit: 2, ..Self::default() }
    }
}

/// One entry of an object in a reply.
pub(super) type Part<'a> = (&'a str, Json<'a>);

/// In what the clients that speak this protocol differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialect {
    /// `ask` is honoured, and a person is there.
    pub(super) can_ask: bool,
    /// The decision that a rewrite must carry to count.
    pub(super) rewrite_decision: Option<&'static str>,
}

/// Writes `answer` to `moment`.
pub(super) fn encode(moment: Moment, answer: Answer<'_>, dialect: Dialect) -> Reply {
    let before_tool = moment == Moment::PreToolUse;
    match answer {
        Answer::Pass => Reply::default(),
        Answer::Notice { person } => Reply::json([notice(Some(person))]),
        Answer::Context { text, person } => tell(moment, text, person),
        Answer::Ask { reason, person } if before_tool && dialect.can_ask => {
            Reply::json([Some(decision("ask", reason)), notice(person)])
        }
        Answer::Deny { reason, person } | Answer::Ask { reason, person } => {
            deny(moment, reason, person)
        }
        Answer::Rewrite { input, person, context } if before_tool => {
            let allow = dialect.rewrite_decision;
            let parts = [
                allow.map(|word| ("permissionDecision", Json::string(word))),
                Some(("updatedInput", input)),
                context.and_then(aside),
            ];
            let parts = specific(moment, parts.into_iter().flatten());
            Reply::json([Some(parts), notice(person)])
        }
        Answer::Rewrite { input, person, .. } => deny(moment, &instead(&input), person),
    }
}

/// Refuses what `moment` announced, in the form that counts there.
fn deny(moment: Moment, reason: &str, person: Option<&str>) -> Reply {
    match moment {
        Moment::PreToolUse => Reply::json([Some(decision("deny", reason)), notice(person)]),
        Moment::PreSkillShellCommand | Moment::UserPromptSubmit | Moment::ConfigChange => {
            Reply::refusal(reason)
        }
        Moment::PostToolUse | Moment::Stop => {
            let reason = Json::string(clipped(never_blank(reason)));
            Reply::json([
                Some(("decision", Json::string("block"))),
                Some(("reason", reason)),
                notice(person),
            ])
        }
        // These can refuse nothing.
        Moment::PostToolUseFailure | Moment::SessionStart => {
            tell(moment, never_blank(reason), person)
        }
    }
}

/// Lets it be and tells the agent `text`, where that does not do more than tell.
fn tell(moment: Moment, text: &str, person: Option<&str>) -> Reply {
    let context = match moment {
        Moment::PreToolUse
        | Moment::PostToolUse
        | Moment::PostToolUseFailure
        | Moment::UserPromptSubmit
        | Moment::SessionStart => aside(text).map(|part| specific(moment, [part])),
        // At a stop, context sends the agent on; the others have no use for it.
        Moment::PreSkillShellCommand | Moment::Stop | Moment::ConfigChange => None,
    };
    Reply::json([context, notice(person)])
}

/// `hookSpecificOutput` of `moment` with these parts.
fn specific<'a>(moment: Moment, parts: impl IntoIterator<Item = Part<'a>>) -> Part<'a> {
    let name = ("hookEventName", Json::string(moment.client_name()));
    let parts = iter::once(name).chain(parts);
    ("hookSpecificOutput", Json::object(parts))
}

/// A decision about a call before it runs.
fn decision<'a>(word: &'static str, reason: &'a str) -> Part<'a> {
    let reason = Json::string(never_blank(reason));
    let parts = [("permissionDecision", Json::string(word)), ("permissionDecisionReason", reason)];
    specific(Moment::PreToolUse, parts)
}

/// Something for the agent, within `hookSpecificOutput`.
fn aside(text: &str) -> Option<Part<'_>> {
    (!text.trim().is_empty()).then(|| ("additionalContext", Json::string(clipped(text))))
}

/// Something for the person.
fn notice(person: Option<&str>) -> Option<Part<'_>> {
    let text = person.filter(|text| !text.trim().is_empty())?;
    Some(("systemMessage", Json::string(clipped(text))))
}

/// What ran in place of the call that the agent made.
pub(super) fn ran(input: &Json<'_>) -> String {
    match input.get("command").and_then(Json::as_str) {
        Some(command) => format!("This was run instead:\n{command}"),
        None => format!("These arguments were used instead:\n{}", input.to_text()),
    }
}

/// Why a call is refused that would have run with `input`.
pub(crate) fn instead(input: &Json<'_>) -> String {
    match input.get("command").and_then(Json::as_str) {
        Some(command) => format!("Run this instead:\n{command}"),
        None => format!("Use these arguments instead:\n{}", input.to_text()),
    }
}

/// `reason`, or that there is none.
pub(super) fn never_blank(reason: &str) -> &str {
    if reason.trim().is_empty() { NO_REASON } else { reason }
}

/// Cuts `text` to the length that reaches the agent whole.
pub(super) fn clipped(text: &str) -> Cow<'_, str> {
    if text.chars().nth(MAX_ASIDE).is_none() {
        return Cow::Borrowed(text);
    }
    let kept = MAX_ASIDE - CUT.chars().count();
    Cow::Owned(text.chars().take(kept).chain(CUT.chars()).collect())
}

/// The last word at `moment` in guard spelling, for when no answer can be made any more. Calls,
/// prompts and changes of settings are refused, and so is what has no name we know; the rest goes
/// on, and the person is told.
pub(crate) fn last_word(moment: Option<Moment>) -> LastWord {
    match moment {
        None
        | Some(
            Moment::PreToolUse
            | Moment::PreSkillShellCommand
            | Moment::UserPromptSubmit
            | Moment::ConfigChange,
        ) => LastWord {
            stream: Stream::Stderr,
            status: 2,
            before: "i-insist: blocked, since ".to_owned(),
            after: "\n".to_owned(),
            deadline: last_deadline(moment),
        },
        Some(
            Moment::PostToolUse | Moment::PostToolUseFailure | Moment::SessionStart | Moment::Stop,
        ) => open_last_word(moment),
    }
}

/// The last word in steer's spelling: what was announced goes on, and the person is told.
pub(crate) fn open_last_word(moment: Option<Moment>) -> LastWord {
    LastWord {
        stream: Stream::Stdout,
        status: 0,
        before: r#"{"systemMessage":"i-insist: nothing was decided, since "#.to_owned(),
        after: "\"}\n".to_owned(),
        deadline: last_deadline(moment),
    }
}

/// Halfway between our own deadline, by which an answer should be out, and the client's time-out.
fn last_deadline(moment: Option<Moment>) -> Duration {
    let limits = moment.unwrap_or(Moment::UserPromptSubmit).limits();
    Duration::from_secs(limits.own_seconds.midpoint(limits.registered_seconds))
}
