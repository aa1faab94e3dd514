use super::*;
use crate::sys::Stream;

/// The harnesses that speak the protocol of hooks.
const HOOKED: [Harness; 2] = [Harness::Claude, Harness::Codex];

fn answer(harness: Harness, moment: Moment, answer: Answer<'_>) -> (String, String, u8) {
    let reply = harness.encode(moment, answer, &Environment::default());
    (reply.stdout, reply.stderr, reply.exit)
}

fn on_stdout(text: &str) -> (String, String, u8) {
    (text.to_owned(), String::new(), 0)
}

fn refused(text: &str) -> (String, String, u8) {
    (String::new(), format!("{text}\n"), 2)
}

#[test]
fn p42_a_pass_prints_nothing() {
    for harness in Harness::ALL {
        for moment in Moment::ALL {
            assert_eq!(answer(harness, moment, Answer::Pass), on_stdout(""));
        }
    }
}

#[test]
fn p12_a_denial_has_the_form_that_blocks() {
    let deny = |person| Answer::Deny { reason: "no \"x\"", person };
    for harness in HOOKED {
        assert_eq!(
            answer(harness, Moment::PreToolUse, deny(None)),
            on_stdout(
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no \"x\""}}"#
            )
        );
        assert_eq!(
            answer(harness, Moment::PreToolUse, deny(Some("rule r"))),
            on_stdout(
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no \"x\""},"systemMessage":"rule r"}"#
            )
        );
        for moment in [Moment::PostToolUse, Moment::Stop] {
            assert_eq!(
                answer(harness, moment, deny(Some(" "))),
                on_stdout(r#"{"decision":"block","reason":"no \"x\""}"#)
            );
        }
        for moment in [Moment::UserPromptSubmit, Moment::PreSkillShellCommand, Moment::ConfigChange]
        {
            assert_eq!(answer(harness, moment, deny(Some("p"))), refused("no \"x\""));
        }
        assert_eq!(
            answer(harness, Moment::PostToolUseFailure, deny(None)),
            on_stdout(
                r#"{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"no \"x\""}}"#
            )
        );
    }
}

#[test]
fn a_refusal_is_never_without_a_reason() {
    for harness in Harness::ALL {
        for moment in Moment::ALL {
            let blank = Answer::Deny { reason: " \n\u{a0}", person: None };
            let (stdout, stderr, _) = answer(harness, moment, blank);
            assert!(format!("{stdout}{stderr}").contains("no reason was given"), "{moment:?}");
        }
    }
}

#[test]
fn p45_only_an_attended_claude_is_asked() {
    let ask = || Answer::Ask { reason: "sure?", person: None };
    let attended = Environment { attended: true, ..Environment::default() };
    let said = |harness: Harness, moment, environment: &Environment| {
        let reply = harness.encode(moment, ask(), environment);
        (
            reply.stdout.contains(r#""permissionDecision":"ask""#),
            reply.stdout.contains("deny"),
            reply.exit,
        )
    };
    assert_eq!(said(Harness::Claude, Moment::PreToolUse, &attended), (true, false, 0));
    assert_eq!(
        said(Harness::Claude, Moment::PreToolUse, &Environment::default()),
        (false, true, 0)
    );
    assert_eq!(said(Harness::Codex, Moment::PreToolUse, &attended), (false, true, 0));
    assert_eq!(said(Harness::Claude, Moment::PreSkillShellCommand, &attended), (false, false, 2));
}

#[test]
fn a_rewrite_carries_what_each_client_needs_and_no_more() {
    let input = Json::parse(r#"{"command":"trash x","timeout":5}"#).unwrap();
    let rewrite = |context| Answer::Rewrite { input: input.clone(), person: None, context };
    assert_eq!(
        answer(Harness::Claude, Moment::PreToolUse, rewrite(Some("c"))),
        on_stdout(
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"trash x","timeout":5},"additionalContext":"c"}}"#
        )
    );
    assert_eq!(
        answer(Harness::Codex, Moment::PreToolUse, rewrite(None)),
        on_stdout(
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"trash x","timeout":5}}}"#
        )
    );
    assert_eq!(
        answer(Harness::Claude, Moment::PreSkillShellCommand, rewrite(None)),
        refused("Run this instead:\ntrash x")
    );
}

#[test]
fn context_is_told_where_telling_is_all_it_does() {
    let context = |text| Answer::Context { text, person: Some("p") };
    for (moment, told) in [
        (Moment::PreToolUse, true),
        (Moment::PostToolUse, true),
        (Moment::UserPromptSubmit, true),
        (Moment::SessionStart, true),
        (Moment::Stop, false),
        (Moment::ConfigChange, false),
    ] {
        for harness in HOOKED {
            let name = moment.client_name();
            let expected = if told {
                format!(
                    r#"{{"hookSpecificOutput":{{"hookEventName":"{name}","additionalContext":"t"}},"systemMessage":"p"}}"#
                )
            } else {
                r#"{"systemMessage":"p"}"#.to_owned()
            };
            assert_eq!(answer(harness, moment, context("t")), on_stdout(&expected));
            let notice = Answer::Notice { person: "p" };
            assert_eq!(answer(harness, moment, notice), on_stdout(r#"{"systemMessage":"p"}"#));
        }
    }
    let blank = Answer::Context { text: "", person: None };
    assert_eq!(answer(Harness::Claude, Moment::PreToolUse, blank), on_stdout(""));
}

#[test]
fn long_asides_are_cut_between_characters_and_denials_are_not() {
    for length in [8_998, 8_999, 9_000, 20_000] {
        let text = "é".repeat(length);
        let context = Answer::Context { text: &text, person: None };
        let (stdout, ..) = answer(Harness::Claude, Moment::PostToolUse, context);
        let json = Json::parse(&stdout).unwrap();
        let context = json.get("hookSpecificOutput").unwrap().get("additionalContext");
        let context = context.and_then(Json::as_str).unwrap();
        assert_eq!(context.chars().count(), length.min(8_999));
        assert_eq!(context.ends_with("[cut: the text was too long]"), length > 8_999);
        let deny = Answer::Deny { reason: &text, person: None };
        assert!(answer(Harness::Codex, Moment::PreToolUse, deny).0.contains(&text));
    }
}

#[test]
fn the_last_word_follows_the_failure_policy() {
    let blocks = [
        None,
        Some(Moment::PreToolUse),
        Some(Moment::PreSkillShellCommand),
        Some(Moment::UserPromptSubmit),
        Some(Moment::ConfigChange),
    ];
    for moment in blocks {
        let word = last_word(moment);
        assert_eq!((word.stream, word.status), (Stream::Stderr, 2));
        assert!(!word.before.trim().is_empty());
    }
    for moment in Moment::ALL.map(Some) {
        let limits = moment.unwrap().limits();
        for word in [last_word(moment), open_last_word(moment)] {
            let deadline = word.deadline.as_secs();
            assert!(limits.own_seconds < deadline && deadline < limits.registered_seconds);
        }
        if !blocks.contains(&moment) {
            assert_eq!(last_word(moment).stream, Stream::Stdout);
        }
    }
    let word = open_last_word(None);
    assert_eq!((word.stream, word.status), (Stream::Stdout, 0));
    let text = format!("{}why{}", word.before, word.after);
    let json = Json::parse(&text).unwrap();
    let told = json.get("systemMessage").and_then(Json::as_str).unwrap();
    assert!(told.ends_with("since why"), "{told}");
}

#[test]
fn names_lead_back_and_our_deadline_comes_first() {
    for moment in Moment::ALL {
        assert_eq!(Moment::from_argument(moment.argument()), Some(moment));
        assert_eq!(Moment::from_client_name(moment.client_name()), Some(moment));
        let limits = moment.limits();
        assert!(limits.own_seconds < limits.registered_seconds);
    }
    assert_eq!(Moment::from_argument("PreToolUse"), None);
    for harness in Harness::ALL {
        assert_eq!(Harness::from_name(harness.name()), Some(harness));
    }
}
