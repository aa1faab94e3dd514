//! `hook --harness HARNESS EVENT`: one hook, from payload to reply.

use super::finishing::Finishing;
use super::judge::{self, Judged, Refusal};
use super::{Exit, payload, sources};
use crate::approval::{self, Records, Session};
use crate::audit::{self, Entry};
use crate::decision::Strength;
use crate::event::{Event, Kind, Phase};
use crate::harness::{
    self, Answer, Author, Environment, Harness, Message, Moment, Origin, Prompt, Reply,
    SessionStart, SettingsChange, Stop,
};
use crate::json::Json;
use crate::rules::{Rule, Spelling};
use crate::sys::{self, Stream};
use crate::world::World;
use std::env;
use std::io;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What the agent is told once, when a session starts.
const ANNOUNCEMENT: &str = "i-insist checks tool calls in this session. A call that it blocks is for the person to override, \
by saying \"I insist\" in a message: say what was blocked and why, and do not work around it. The prefix \
HUMAN_PERMISSION_GRANTED=1 on a shell command is for use only after the person agreed to that command.";

/// Answers one hook.
pub(crate) fn run(arguments: &[String]) -> Exit {
    let called = read_arguments(arguments);
    let moment = called.as_ref().ok().map(|(_, moment)| *moment);
    sys::answer_even_when_dying(harness::last_word(moment));
    let started = Instant::now();
    let payload = payload::read(&mut io::stdin().lock());
    let (harness, moment) = match called {
        Ok(called) => called,
        Err(problem) => return send(&Reply::refusal(&format!("i-insist: {problem}")), false),
    };
    let hook = Hook::new(Spelling::Guard, harness, moment, started);
    let reply = match payload {
        Ok(text) => hook.answer(&text),
        Err(error) => hook.failed(&error.to_string()),
    };
    send(&reply, harness::last_word(Some(moment)).status == 0)
}

fn read_arguments(arguments: &[String]) -> Result<(Harness, Moment), String> {
    let [option, harness, event] = arguments else {
        return Err("hook takes --harness HARNESS and an event".to_owned());
    };
    if option != "--harness" {
        return Err(format!("hook takes --harness HARNESS and an event, not `{option}`"));
    }
    let known =
        Harness::from_name(harness).ok_or_else(|| format!("unknown harness `{harness}`"))?;
    let moment = Moment::from_argument(event).ok_or_else(|| format!("unknown event `{event}`"))?;
    Ok((known, moment))
}

/// Answers a hook in steer's spelling: `--event PreToolUse` or `--event=PreToolUse`. The payload
/// tells the harness, and what fails lets the call run.
pub(crate) fn run_steer(arguments: &[String]) -> Exit {
    let named = match arguments {
        [option, name] if option == "--event" => Some(name.as_str()),
        [option] => option.strip_prefix("--event="),
        _ => None,
    };
    let moment = named
        .and_then(Moment::from_client_name)
        .filter(|moment| matches!(moment, Moment::PreToolUse | Moment::PostToolUse));
    sys::answer_even_when_dying(harness::open_last_word(moment));
    let started = Instant::now();
    let payload = payload::read(&mut io::stdin().lock());
    let hook = |harness| {
        Hook::new(Spelling::Steer, harness, moment.unwrap_or(Moment::PreToolUse), started)
    };
    let reply = match (moment, payload) {
        (None, _) => hook(Harness::Claude)
            .failed("steer hook takes --event PreToolUse or --event PostToolUse"),
        (Some(_), Err(error)) => hook(Harness::Claude).failed(&error.to_string()),
        (Some(_), Ok(text)) => {
            let harness =
                Json::parse(&text).map_or(Harness::Claude, |payload| Harness::of_payload(&payload));
            hook(harness).answer(&text)
        }
    };
    send(&reply, true)
}

/// Writes the reply. Where nobody reads it, what can be refused is refused on the other stream, for
/// a client takes silence for consent; `fails_open` says that nothing can, or may.
fn send(reply: &Reply, fails_open: bool) -> Exit {
    let say = |stream, text: &str, status: u8| sys::reply(stream, text.as_bytes(), status.into());
    if !reply.stderr.is_empty() {
        // Status 2 counts also where the text is lost.
        drop(say(Stream::Stderr, &reply.stderr, reply.exit));
        return Exit::Failed;
    }
    let unheard = !reply.stdout.is_empty() && !sys::stdout_is_read();
    if !unheard && say(Stream::Stdout, &reply.stdout, reply.exit).is_ok() || fails_open {
        return Exit::Done;
    }
    let text = format!(
        "i-insist: standard output is closed, so this is blocked; the answer was {}\n",
        reply.stdout
    );
    drop(say(Stream::Stderr, &text, 2));
    Exit::Failed
}

/// The time until our own deadline. Tests of debug builds shorten it.
fn own_time(moment: Moment) -> Duration {
    let shortened = env::var("I_INSIST_TEST_SECONDS")
        .ok()
        .filter(|_| cfg!(debug_assertions))
        .and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(shortened.unwrap_or(moment.limits().own_seconds))
}

/// One call of a harness.
struct Hook {
    spelling: Spelling,
    harness: Harness,
    moment: Moment,
    environment: Environment,
    deadline: Instant,
}

impl Hook {
    fn new(spelling: Spelling, harness: Harness, moment: Moment, started: Instant) -> Self {
        let mut environment = Environment::new(|name| env::var_os(name), env::current_dir().ok());
        environment.cwd_optional = spelling == Spelling::Steer;
        let deadline = started + own_time(moment);
        Self { spelling, harness, moment, environment, deadline }
    }

    fn answer(&self, text: &str) -> Reply {
        let world = match World::from_environment() {
            Ok(world) => world,
            Err(problem) => return self.failed(&problem.to_string()),
        };
        let payload = match Json::parse(text) {
            Ok(payload) => payload,
            Err(error) => {
                return self.failed_session(&world, None, &format!("input: invalid JSON: {error}"));
            }
        };
        let records = Records::new(&world.cache, &world.state);
        match self.harness.decode(self.moment, &payload, &self.environment, &world.home) {
            Ok(Message::Tool(event)) => self.tool(&world, &records, *event),
            Ok(Message::Prompt(prompt)) => self.prompt(&world, &records, &prompt),
            Ok(Message::SessionStart(start)) => {
                self.session_start(&world, &records, &start, &payload)
            }
            Ok(Message::Stop(stop)) => self.stop(&world, &records, &stop, &payload),
            Ok(Message::SettingsChange(change)) => self.settings_change(&world, &records, &change),
            Err(error) => self.failed_session(
                &world,
                payload.get("session_id").and_then(Json::as_str),
                &error.to_string(),
            ),
        }
    }

    fn finishing<'a>(&self, world: &'a World, origin: &'a Origin<'a>) -> Finishing<'a> {
        Finishing { world, harness: self.harness, origin, deadline: self.deadline }
    }

    fn encode(&self, answer: Answer<'_>) -> Reply {
        self.harness.encode(self.moment, answer, &self.environment)
    }

    fn session(&self, origin: &Origin<'_>) -> Option<Session> {
        origin.session_id.as_deref().map(|id| Session::new(self.harness.name(), id))
    }

    /// The answer when this hook cannot do its work: what is announced is refused, and where there is
    /// nothing to refuse, the person is told.
    fn failed(&self, problem: &str) -> Reply {
        let problem = format!("i-insist: {problem}");
        if self.spelling == Spelling::Steer {
            return self.encode(Answer::Notice { person: &problem });
        }
        match self.moment {
            Moment::PreToolUse
            | Moment::PreSkillShellCommand
            | Moment::UserPromptSubmit
            | Moment::ConfigChange => self.encode(Answer::Deny { reason: &problem, person: None }),
            Moment::PostToolUse
            | Moment::PostToolUseFailure
            | Moment::SessionStart
            | Moment::Stop => self.encode(Answer::Notice { person: &problem }),
        }
    }

    /// The same for a message that could not be read: an approval must not outlive a prompt or a
    /// session start that was not understood.
    fn failed_session(&self, world: &World, session_id: Option<&str>, problem: &str) -> Reply {
        if let (Moment::UserPromptSubmit | Moment::SessionStart | Moment::Stop, Some(id), false) =
            (self.moment, session_id, self.environment.nested)
        {
            let records = Records::new(&world.cache, &world.state);
            drop(records.revoke(&Session::new(self.harness.name(), id)));
        }
        self.failed(problem)
    }

    fn prompt(&self, world: &World, records: &Records, prompt: &Prompt<'_>) -> Reply {
        if self.environment.nested {
            return self.encode(Answer::Pass);
        }
        if prompt.author != Author::Person {
            if let Some(session) = self.session(&prompt.origin) {
                // What cannot be noted must not stand.
                drop(
                    records
                        .another_turn(&session, prompt.origin.turn_id.as_deref())
                        .or_else(|_| records.revoke(&session)),
                );
            }
            return self.encode(Answer::Pass);
        }
        let approved = approval::approves(prompt.text);
        let Some(session) = self.session(&prompt.origin) else {
            return if approved {
                self.failed("input: session_id is missing, so nothing can be approved")
            } else {
                self.encode(Answer::Pass)
            };
        };
        records.take_passed(&session);
        self.finishing(world, &prompt.origin).person_spoke();
        match records.record(&session, prompt.origin.turn_id.as_deref(), approved) {
            Ok(()) => {
                if approved {
                    self.log_approval(world, &prompt.origin);
                }
                self.encode(Answer::Pass)
            }
            Err(error) => {
                drop(records.revoke(&session));
                self.failed(&format!(
                    "the approval record cannot be written ({error}); is {} yours to write?",
                    records.place().display()
                ))
            }
        }
    }

    fn session_start(
        &self,
        world: &World,
        records: &Records,
        start: &SessionStart<'_>,
        payload: &Json<'_>,
    ) -> Reply {
        if let (false, Some(session)) = (self.environment.nested, self.session(&start.origin)) {
            let kept = if start.compacted {
                records
                    .carry_over(&session, start.origin.turn_id.as_deref())
                    .or_else(|_| records.revoke(&session))
            } else {
                records.take_passed(&session);
                records.revoke(&session)
            };
            if let Err(error) = kept {
                return self.failed(&format!(
                    "an approval of this session cannot be ended ({error}); remove {}",
                    records.place().display()
                ));
            }
        }
        if !self.environment.nested && !start.compacted {
            self.finishing(world, &start.origin).start(payload);
        }
        // A rule file that cannot be read blocks each call and says so there.
        let announce = sources::settings(world).is_none_or(|settings| settings.announce);
        let text = if announce && !start.compacted { ANNOUNCEMENT } else { "" };
        self.encode(Answer::Context { text, person: None })
    }

    /// The agent wants to finish. When it may, the response ends, and with it the person's approval.
    fn stop(&self, world: &World, records: &Records, stop: &Stop<'_>, payload: &Json<'_>) -> Reply {
        if self.environment.nested {
            return self.encode(Answer::Pass);
        }
        let finishing = self.finishing(world, &stop.origin);
        let outcome = finishing.stop(payload, stop);
        if let Some(reason) = &outcome.agent {
            return self.encode(Answer::Deny { reason, person: outcome.person.as_deref() });
        }
        let overridden = match self.session(&stop.origin) {
            None => None,
            Some(session) => end_approval(records, &session),
        };
        let notices: Vec<String> = outcome.person.into_iter().chain(overridden).collect();
        if notices.is_empty() {
            return self.encode(Answer::Pass);
        }
        let person = notices.join("\n\n");
        self.encode(Answer::Notice { person: &person })
    }

    /// A settings file changed while the session runs: a change that would take our hooks out is
    /// refused, unless the person insisted.
    fn settings_change(
        &self,
        world: &World,
        records: &Records,
        change: &SettingsChange<'_>,
    ) -> Reply {
        let turn = change.origin.turn_id.as_deref();
        if self.session(&change.origin).is_some_and(|session| records.granted(&session, turn)) {
            return self.encode(Answer::Pass);
        }
        match super::registration::lost_hooks(world, self.harness, change.path.as_deref()) {
            None => self.encode(Answer::Pass),
            Some(loss) => {
                let reason = format!(
                    "i-insist: {loss} The running session keeps its former settings, but the file on disk has changed: \
                     mend it with `i-insist install {}`, or say \"I insist\" and change it again.",
                    self.harness.name()
                );
                self.encode(Answer::Deny { reason: &reason, person: Some(&reason) })
            }
        }
    }

    fn tool(&self, world: &World, records: &Records, mut event: Event<'_>) -> Reply {
        let session = event.session_id.as_deref().map(|id| Session::new(self.harness.name(), id));
        let turn = event.turn_id.clone();
        let approved =
            || session.as_ref().is_some_and(|session| records.granted(session, turn.as_deref()));
        let judged = judge::judge(world, self.spelling, &mut event, approved, self.deadline);
        // The process ends with the reply: to free every rule first would take a twentieth of the time.
        let judged = ManuallyDrop::new(judged);
        if let (Ok(judged), Some(session), false) = (&*judged, &session, self.environment.nested) {
            Self::note_passed(records, session, judged);
        }
        self.log_call(world, &event, judged.as_ref().ok());
        match &*judged {
            Ok(judged) => {
                let reply = self.reply_to(&event, judged);
                let runs = event.phase == Phase::Pre && judged.decision.strength < Strength::Ask;
                let waits = |rule: &Rule| {
                    rule.enabled
                        && rule.when.admits(Phase::Post, self.spelling)
                        && rule.gates.admit(&event)
                };
                if runs && judged.rules.iter().any(waits) {
                    self.harness.ask_after(reply)
                } else {
                    reply
                }
            }
            Err(refusal) => self.refuse(event.phase, refusal),
        }
    }

    /// Notes for the end of the response that the call passed only because the person insisted.
    fn note_passed(records: &Records, session: &Session, judged: &Judged) {
        let decision = &judged.decision;
        if decision.strength <= Strength::Context && !decision.overridden.is_empty() {
            drop(records.note_passed(session, &decision.overridden));
        }
    }

    fn log_approval(&self, world: &World, origin: &Origin<'_>) {
        self.log(
            world,
            &Entry {
                call: None,
                rules: &[],
                outcome: "approved",
                updated_command: None,
                session_id: origin.session_id.as_deref(),
                cwd: &origin.cwd,
                ..self.entry()
            },
        );
    }

    /// Logs what became of a call; without a judgement the engine refused it.
    fn log_call(&self, world: &World, event: &Event<'_>, judged: Option<&Judged>) {
        let decision = judged.map(|judged| &judged.decision);
        let spoken: Vec<String> = decision.map_or(Vec::new(), |decision| {
            decision.spoken.iter().map(|spoken| spoken.rule.clone()).collect()
        });
        let (outcome, rules) = match decision.map(|decision| decision.strength) {
            None | Some(Strength::Deny) => ("deny", spoken),
            Some(Strength::Ask) => ("ask", spoken),
            Some(Strength::Rewrite) => ("rewrite", spoken),
            Some(_) if decision.is_some_and(|decision| !decision.overridden.is_empty()) => {
                ("approved", decision.map_or(Vec::new(), |decision| decision.overridden.clone()))
            }
            Some(Strength::Context) => ("context", spoken),
            Some(Strength::Allow)
                if event.kind == Kind::Shell
                    && event.phase == Phase::Pre
                    && self.spelling == Spelling::Guard =>
            {
                ("allow", spoken)
            }
            Some(Strength::Allow) => return,
        };
        let updated =
            decision.and_then(|decision| decision.input.as_ref()?.get("command")?.as_str());
        self.log(
            world,
            &Entry {
                call: Some(event),
                rules: &rules,
                outcome,
                updated_command: updated,
                session_id: event.session_id.as_deref(),
                cwd: &event.cwd,
                ..self.entry()
            },
        );
    }

    fn entry(&self) -> Entry<'_> {
        // A clock before 1970 is wrong anyhow.
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Entry {
            time: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
            event: self.moment.client_name(),
            harness: self.harness.name(),
            outcome: "allow",
            rules: &[],
            updated_command: None,
            call: None,
            session_id: None,
            cwd: Path::new("/"),
        }
    }

    /// A line that cannot be written is lost: no reason to interfere with a call.
    fn log(&self, world: &World, entry: &Entry<'_>) {
        drop(audit::append(
            &audit::file(&world.state, self.spelling),
            &entry.to_line(self.spelling),
        ));
    }

    fn refuse(&self, phase: Phase, refusal: &Refusal) -> Reply {
        let problem = refusal.to_string();
        self.encode(match phase {
            Phase::Pre => Answer::Deny { reason: &problem, person: None },
            // The call has run; what is broken is the person's to mend.
            Phase::Post => Answer::Notice { person: &problem },
        })
    }

    fn reply_to(&self, event: &Event<'_>, judged: &Judged) -> Reply {
        let decision = &judged.decision;
        let message = decision.message();
        let person = judged.for_the_person();
        let person = person.as_deref();
        if event.phase == Phase::Post && decision.failed {
            return self.encode(Answer::Notice { person: &message });
        }
        self.encode(match decision.strength {
            Strength::Allow => match person {
                Some(person) => Answer::Notice { person },
                None => Answer::Pass,
            },
            Strength::Context => Answer::Context { text: &message, person },
            Strength::Ask => Answer::Ask { reason: &message, person },
            Strength::Deny => Answer::Deny { reason: &message, person },
            Strength::Rewrite => match decision.input.clone() {
                Some(input) => Answer::Rewrite { input, person, context: Some(&message) },
                None => Answer::Pass,
            },
        })
    }
}

/// Ends the session's approval; tells the person what it let pass, or that it stands.
fn end_approval(records: &Records, session: &Session) -> Option<String> {
    let (calls, rules) = records.take_passed(session);
    if let Err(error) = records.revoke(session) {
        return Some(format!("i-insist: the approval cannot be ended ({error})"));
    }
    let calls = match calls {
        0 => return None,
        1 => "1 call".to_owned(),
        calls => format!("{calls} calls"),
    };
    Some(format!(
        "i-insist: you insisted; {calls} passed that these rules were not asked about: {}",
        rules.join(", ")
    ))
}
