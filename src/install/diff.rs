//! The difference of two texts, as `diff -u` prints it.
//!
//! Promises: correct for any two texts, shortest for small changes. Never: takes quadratic time on
//! large ones; what is too large to compare well is shown as removed and added.

/// Lines shown around a change.
const CONTEXT: usize = 3;
/// The most pairs of lines that are compared.
const MAX_PAIRS: usize = 4_000_000;

/// One line of the result.
#[derive(Clone, Copy, PartialEq)]
enum Line<'t> {
    Same(&'t str),
    Removed(&'t str),
    Added(&'t str),
}

/// The unified difference, headed by the two names; nothing when the texts are the same.
pub(crate) fn unified(old_name: &str, new_name: &str, old: &str, new: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let lines = compare(&old, &new);
    let changed = |at: usize| {
        let from = at.saturating_sub(CONTEXT);
        lines
            .iter()
            .skip(from)
            .take(at + CONTEXT + 1 - from)
            .any(|line| !matches!(line, Line::Same(_)))
    };
    let mut text = String::new();
    let (mut at, mut old_line, mut new_line) = (0, 1, 1);
    while at < lines.len() {
        let length = (at..lines.len()).take_while(|at| changed(*at)).count();
        let hunk = lines.iter().skip(at).take(length.max(1));
        let count = |other: fn(&str) -> Line| {
            hunk.clone().filter(|line| **line != other(inner(line))).count()
        };
        let (old_count, new_count) =
            (count(|line| Line::Added(line)), count(|line| Line::Removed(line)));
        if length > 0 {
            if text.is_empty() {
                text = format!("--- {old_name}\n+++ {new_name}\n");
            }
            // An empty side is named by the line before it.
            let start = |line: usize, count: usize| if count == 0 { line - 1 } else { line };
            let (old_start, new_start) = (start(old_line, old_count), start(new_line, new_count));
            // Both counts, also where `diff` leaves out a 1: `patch` reads either.
            let head =
                [old_start, old_count, new_start, new_count].map(|number| number.to_string());
            let [old_start, old_count, new_start, new_count] = head;
            text +=
                &["@@ -", &old_start, ",", &old_count, " +", &new_start, ",", &new_count, " @@\n"]
                    .concat();
            hunk.for_each(|line| write_line(&mut text, line));
        }
        old_line += old_count;
        new_line += new_count;
        at += length.max(1);
    }
    text
}

fn inner<'t>(line: &Line<'t>) -> &'t str {
    match line {
        Line::Same(text) | Line::Removed(text) | Line::Added(text) => text,
    }
}

fn write_line(text: &mut String, line: &Line) {
    let mark = match line {
        Line::Same(_) => ' ',
        Line::Removed(_) => '-',
        Line::Added(_) => '+',
    };
    text.push(mark);
    text.push_str(inner(line));
    if !inner(line).ends_with('\n') {
        text.push_str("\n\\ No newline at end of file\n");
    }
}

/// The longest common subsequence, between what is common at both ends.
fn compare<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Line<'t>> {
    let head = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (same, old) = old.split_at(head);
    let (_, new) = new.split_at(head);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, rest) = old.split_at(old.len() - tail);
    let (new, _) = new.split_at(new.len() - tail);
    let mut lines: Vec<Line> = same.iter().map(|line| Line::Same(line)).collect();
    if old.len().saturating_mul(new.len()) <= MAX_PAIRS {
        middle(old, new, &mut lines);
    } else {
        lines.extend(old.iter().map(|line| Line::Removed(line)));
        lines.extend(new.iter().map(|line| Line::Added(line)));
    }
    lines.extend(rest.iter().map(|line| Line::Same(line)));
    lines
}

fn middle<'t>(old: &[&'t str], new: &[&'t str], lines: &mut Vec<Line<'t>>) {
    // common[i][j]: how many lines `old[i..]` and `new[j..]` have in common at most.
    let width = new.len() + 1;
    let mut common = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i * width + j] = if old[i] == new[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push(Line::Same(old[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len()
            && (j == new.len() || common[(i + 1) * width + j] >= common[i * width + j + 1])
        {
            lines.push(Line::Removed(old[i]));
            i += 1;
        } else {
            lines.push(Line::Added(new[j]));
            j += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::unified;

    #[test]
    fn hunks_are_those_of_diff() {
        assert_eq!(unified("a", "b", "x\n", "x\n"), "");
        assert_eq!(unified("a", "b", "", "x\n"), "--- a\n+++ b\n@@ -0,0 +1,1 @@\n+x\n");
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
        let new = "1\n2\nx\n4\n5\n6\n7\n8\n9\n10\ny";
        let expected = "--- a\n+++ b\n@@ -1,6 +1,6 @@\n 1\n 2\n-3\n+x\n 4\n 5\n 6\n\
                        @@ -8,3 +8,4 @@\n 8\n 9\n 10\n+y\n\\ No newline at end of file\n";
        assert_eq!(unified("a", "b", old, new), expected);
    }
}
