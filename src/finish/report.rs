//! Texts about failed checks.
//!
//! Promises: pure; one failure takes at most [`MAX_LINES`] and [`MAX_BYTES`], all together at most
//! [`MAX_TOTAL`] bytes; characters stay whole. Never: drops a failure without counting it.

use std::path::PathBuf;

/// The most lines of one failure, heading and notice included.
pub(super) const MAX_LINES: usize = 100;
/// The most bytes of one failure, heading and notice included.
pub(super) const MAX_BYTES: usize = 5 << 10;
/// The most bytes of all failures: longer texts are cut by the adapters, at the wrong end.
const MAX_TOTAL: usize = 8_900;
const MAX_HEADING: usize = 400;
/// With less room a failure is only counted.
const MIN_BYTES: usize = 200;

/// A failed check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// What the check is called.
    pub(super) name: String,
    /// How it failed.
    pub(super) cause: String,
    /// The end of what it printed, [`MAX_BYTES`] or more of it unless it printed less.
    pub(super) tail: Vec<u8>,
    /// How much it printed.
    pub(super) printed: u64,
    /// Where all of it is.
    pub(super) log: Option<PathBuf>,
}

/// Tells the agent to repair what failed. An earlier part of the text may be given as `before`.
pub(super) fn for_the_agent(before: &str, failures: &[&Failure]) -> String {
    let mut text = clipped(before, MAX_TOTAL / 2).to_owned();
    if !failures.is_empty() {
        let (subject, object) = match failures.len() {
            1 => ("a check".to_owned(), "it passes"),
            count => (format!("{count} checks"), "they pass"),
        };
        let gap = if text.is_empty() { "" } else { "\n\n" };
        text = format!(
            "{text}{gap}i-insist: {subject} failed. Repair the cause; you may finish when {object}."
        );
    }
    for (index, failure) in failures.iter().enumerate() {
        let left = failures.len() - index;
        let room = MAX_TOTAL.saturating_sub(text.len()) / left;
        if room < MIN_BYTES + 40 {
            return format!("{text}\n\n[{left} more failed checks]");
        }
        text.push_str("\n\n");
        text.push_str(&describe(failure, MAX_BYTES.min(room - 2)));
    }
    text
}

/// Tells the person that the agent finishes although `failures` stand.
pub(super) fn for_the_person(failures: &[&Failure], why: &str) -> String {
    let names: Vec<String> = failures
        .iter()
        .take(20)
        .map(|failure| match &failure.log {
            Some(log) => format!("{} (log: {})", one_line(&failure.name, 100), log.display()),
            None => one_line(&failure.name, 100),
        })
        .collect();
    let more = match failures.len().saturating_sub(names.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("i-insist: finished with failing checks: {}{more}; {why}", names.join(", "))
}

/// One failure in at most `limit` bytes: its heading, and the end of its output.
fn describe(failure: &Failure, limit: usize) -> String {
    let heading = format!(
        "{}: {}",
        one_line(&failure.name, MAX_HEADING.min(limit / 3)),
        one_line(&failure.cause, MAX_HEADING.min(limit / 3))
    );
    let whole = failure.printed == failure.tail.len() as u64;
    let output = String::from_utf8_lossy(if whole {
        &failure.tail
    } else {
        from_whole_character(&failure.tail)
    });
    let output = output.trim_end();
    if output.is_empty() && whole {
        return heading;
    }
    if whole && heading.len() + 1 + output.len() <= limit && output.lines().count() < MAX_LINES {
        return format!("{heading}\n{output}");
    }
    let log = match &failure.log {
        Some(log) => format!("; all of it: {}", log.display()),
        None => String::new(),
    };
    let notice = format!("[the end of {} bytes{log}]", failure.printed);
    let room = limit.saturating_sub(heading.len() + notice.len() + 2);
    let shown = last_lines(last_bytes(output, room), MAX_LINES - 2);
    format!("{heading}\n{notice}\n{shown}")
}

/// At most `limit` bytes of a text as one line.
fn one_line(text: &str, limit: usize) -> String {
    let line = text.trim().replace(char::is_control, " ");
    let kept = clipped(&line, limit.saturating_sub(3));
    if kept.len() == line.len() { line } else { format!("{kept}…") }
}

/// The bytes without the rest of a character that was cut off at the front.
fn from_whole_character(bytes: &[u8]) -> &[u8] {
    let continued = bytes.iter().take(3).take_while(|byte| *byte & 0xC0 == 0x80);
    bytes.get(continued.count()..).unwrap_or_default()
}

fn clipped(text: &str, limit: usize) -> &str {
    text.get(..text.floor_char_boundary(limit)).unwrap_or(text)
}

fn last_bytes(text: &str, limit: usize) -> &str {
    let start = text.ceil_char_boundary(text.len().saturating_sub(limit));
    text.get(start..).unwrap_or_default()
}

fn last_lines(text: &str, limit: usize) -> &str {
    let breaks = text.rmatch_indices('\n').nth(limit.saturating_sub(1));
    breaks.map_or(text, |(index, _)| text.get(index + 1..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(output: &str) -> Failure {
        let tail = output.as_bytes();
        Failure {
            name: "Lint".to_owned(),
            cause: "exited with status 1".to_owned(),
            tail: tail[tail.len().saturating_sub(MAX_BYTES + 7)..].to_owned(),
            printed: tail.len() as u64,
            log: Some("/tmp/full.log".into()),
        }
    }

    #[test]
    fn a_short_failure_is_shown_whole_and_a_long_one_by_its_end() {
        assert_eq!(
            describe(&failure("one\ntwo\n"), MAX_BYTES),
            "Lint: exited with status 1\none\ntwo"
        );
        assert_eq!(describe(&failure(""), MAX_BYTES), "Lint: exited with status 1");
        let lines: Vec<String> = (1..=200).map(|number| number.to_string()).collect();
        let shown = describe(&failure(&lines.join("\n")), MAX_BYTES);
        assert!(shown.ends_with("\n199\n200") && shown.contains("\n103\n"));
        assert!(shown.contains("[the end of 691 bytes; all of it: /tmp/full.log]"));
        assert_eq!(shown.lines().count(), MAX_LINES);
    }

    #[test]
    fn the_limits_hold_at_their_edges() {
        let exactly = "x\n".repeat(99);
        assert_eq!(describe(&failure(&exactly), MAX_BYTES).lines().count(), MAX_LINES);
        assert!(!describe(&failure(&exactly), MAX_BYTES).contains("[the end"));
        let heading = "Lint: exited with status 1\n".len();
        let fits = "y".repeat(MAX_BYTES - heading);
        let shown = describe(&failure(&fits), MAX_BYTES);
        assert!(shown.len() == MAX_BYTES && !shown.contains("[the end"));
        for length in MAX_BYTES - 60..MAX_BYTES + 60 {
            for filling in ["z", "ä", "€", "😀", "\u{fffd}\n"] {
                let shown = describe(&failure(&filling.repeat(length)), MAX_BYTES);
                assert!(shown.len() <= MAX_BYTES && shown.lines().count() <= MAX_LINES);
                assert!(filling == "\u{fffd}\n" || !shown.contains('\u{fffd}'), "{filling}");
            }
        }
        let mut bytes = failure("");
        bytes.tail = vec![0xFF; MAX_BYTES];
        bytes.printed = 9_000_000_000;
        assert!(describe(&bytes, MAX_BYTES).len() <= MAX_BYTES);
    }

    #[test]
    fn all_failures_together_stay_below_what_the_clients_take() {
        for count in [1, 2, 3, 10, 30, 200] {
            for size in [1, 300, 4_000, 100_000] {
                let one = failure(&"w\n".repeat(size));
                let text = for_the_agent("", &vec![&one; count]);
                assert!(text.len() < 8_999, "{count} {size}: {}", text.len());
                let told = text.matches("Lint: exited").count();
                let counted = text
                    .rsplit_once("\n\n[")
                    .and_then(|(_, rest)| rest.split_once(" more failed checks]"))
                    .map_or(0, |(number, _)| number.parse().unwrap());
                assert_eq!(told + counted, count, "{count} {size}");
            }
        }
        let short = failure("short");
        let long = failure(&"v".repeat(90_000));
        let text = for_the_agent("", &[&short, &long]);
        assert!(text.len() > MAX_BYTES, "the room that one leaves is the other's");
    }

    #[test]
    fn names_cannot_break_the_heading() {
        let mut odd = failure("out");
        odd.name = "a\nb\u{1b}[31m".to_owned() + &"c".repeat(5_000);
        let shown = describe(&odd, MAX_BYTES);
        assert!(shown.starts_with("a b [31mccc"));
        assert_eq!(shown.lines().count(), 2);
    }

    #[test]
    fn the_person_is_told_names_logs_and_why() {
        assert_eq!(
            for_the_person(&[&failure("x")], "the agent was sent back 3 times."),
            "i-insist: finished with failing checks: Lint (log: /tmp/full.log); the agent was sent back 3 times."
        );
    }
}
