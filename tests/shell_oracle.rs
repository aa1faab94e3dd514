//! Generates shell texts and compares what the parser finds in them with what bash does:
//! `bash --pretty-print`, which parses and runs nothing, prints each text in its normal form
//! (here-documents, comments, separators and layout gone or moved), and both forms must hold the
//! same commands; and bash must accept exactly the texts that are complete. For texts made by the
//! grammar the commands are known besides.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

#[path = "../src/shell/mod.rs"]
mod shell;

use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Texts made by the grammar in one run.
const GENERATED: usize = 20_000;

/// Texts per call of bash.
const BATCH: usize = 250;

/// Texts with a random mistake in one run, each a call of bash.
const MUTATED: usize = 1_500;

/// A linear congruential generator (Knuth's MMIX constants).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

/// A text under construction and the commands it is known to hold.
struct Generator {
    random: Random,
    text: String,
    /// Head and depth of each command, in source order.
    heads: Vec<(u32, String)>,
    /// Here-documents opened on the current line: delimiter, body, commands in it.
    pending: Vec<(String, bool)>,
    depth: u32,
    /// How deep constructs may still be put into each other.
    room: u32,
    /// Bash's normal form of the text will be read, so nothing may stand in it that bash prints
    /// wrongly: here-documents inside compound commands or before other separators than newlines.
    normal_form: bool,
    /// No here-documents at all.
    no_heredocs: bool,
    inside: u32,
    /// In a here-document, where a backslash joins a comment's line to the next.
    body: bool,
    /// Inside arithmetic, where bash finds the end before it reads here-documents and comments.
    arithmetic: u32,
    count: usize,
}

impl Generator {
    fn new(seed: u64) -> Self {
        Self {
            random: Random(seed),
            text: String::new(),
            heads: Vec::new(),
            pending: Vec::new(),
            depth: 0,
            room: 2,
            normal_form: seed % 2 == 1,
            no_heredocs: seed % 4 == 3,
            inside: 0,
            arithmetic: 0,
            body: false,
            count: 0,
        }
    }

    fn add(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// A fresh name for a command.
    fn name(&mut self) -> String {
        self.count += 1;
        format!("c{}", self.count)
    }

    fn newline(&mut self) {
        self.add("\n");
        for (delimiter, expands) in std::mem::take(&mut self.pending) {
            let body = self.random.pick(&[
                "d1 | d2\n",
                "it's `\\`\n".get(..5).unwrap(),
                "\"$x ' (\n",
                "",
                "# d3\n\td4 <<F\n",
                "a\\\\b\n",
            ]);
            let body = body.to_owned();
            self.add(&body);
            if !body.is_empty() && !body.ends_with('\n') {
                self.add("\n");
            }
            if expands && self.random.below(3) == 0 {
                self.add("x ");
                let outer = std::mem::replace(&mut self.body, true);
                self.substitution("$(", ")");
                self.body = outer;
                self.add(" y\n");
            }
            self.add(&delimiter);
            self.add("\n");
        }
    }

    fn list(&mut self) {
        self.pipeline();
        for _ in 0..self.random.below(3) {
            // Behind a here-document bash's normal form loses every separator but the newline.
            let kinds = if self.normal_form && !self.pending.is_empty() { 9..10 } else { 0..9 };
            match kinds.start + self.random.below(kinds.len()) {
                0 | 1 => self.add("; "),
                2 => self.add(" & "),
                3 => self.add(" && "),
                4 => self.add(" ||"),
                5 if self.arithmetic == 0 => {
                    self.add(" # it's a d5; $(d6 \"");
                    if !self.body {
                        self.add("\\");
                    }
                    self.newline();
                }
                6 => {
                    self.add(" &&");
                    self.newline();
                }
                7 => self.add(";\t"),
                _ => self.newline(),
            }
            self.pipeline();
        }
    }

    fn pipeline(&mut self) {
        match self.random.below(12) {
            0 => self.add("! "),
            // Behind a `time` that begins a substitution bash knows no arrays.
            1 if self.depth == 0 => self.add("time -p "),
            _ => {}
        }
        self.command();
        for _ in 0..self.random.below(5) / 3 {
            if self.normal_form && !self.pending.is_empty() {
                break;
            }
            let bar = self.random.pick(&[" | ", "|", " |& ", "\\\n | "]);
            self.add(bar);
            if self.random.below(5) == 0 {
                self.newline();
            }
            self.command();
        }
    }

    fn command(&mut self) {
        if self.room == 0 || self.random.below(3) > 0 {
            return self.simple();
        }
        self.room -= 1;
        self.inside += 1;
        match self.random.below(11) {
            0 => self.around("( ", " )"),
            1 => self.around("{ ", "\n}"),
            2 => {
                self.around("if ", "\nthen ");
                self.around("", "\nelse ");
                self.around("", "\nfi");
            }
            3 => {
                self.around("while ", "\ndo ");
                self.around("", "\ndone");
            }
            4 => {
                self.add("for i in ");
                self.words();
                self.around("\ndo ", "\ndone");
            }
            5 => {
                self.add("case ");
                self.word();
                self.around(" in (d7 | 'd8') ", "\n;;\n*) ");
                self.around("", "\nesac");
            }
            6 => {
                self.add("[[ w");
                self.word();
                self.add(" == w");
                self.word();
                self.add(" && ( -n d9 || x =~ ^(d1|d2)$ ) ]]");
            }
            7 => {
                self.add("(( x ");
                let operator = self.random.pick(&["<<", ">", "*", "+"]);
                self.add(operator);
                self.arithmetic += 1;
                self.substitution("$(", ")");
                self.arithmetic -= 1;
                self.add(" ))");
            }
            8 => self.around("f() { ", "\n}"),
            9 => self.around("function g {\n", "\n}"),
            _ => self.around("coproc N { ", "\n}"),
        }
        if self.random.below(4) == 0 {
            self.add(" ");
            self.redirection();
        }
        self.inside -= 1;
        self.room += 1;
    }

    /// A list between two pieces, of which the second may begin with a newline.
    fn around(&mut self, open: &str, close: &str) {
        self.pieces(open);
        self.list();
        self.pieces(close);
    }

    /// Adds text, newlines in it with the here-documents that are due.
    fn pieces(&mut self, text: &str) {
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.newline();
            }
            self.add(line);
        }
    }

    fn simple(&mut self) {
        // Behind `time -p` bash knows no array.
        let assignments = if self.text.ends_with("-p ") { 0 } else { self.random.below(6) / 4 };
        for _ in 0..assignments {
            let assignment = self.random.pick(&[
                "A=1 ",
                "B='d1 d2' ",
                "C=\"x y\" ",
                "D[1]=x ",
                "E+=(a 'd3') ",
                "F= ",
            ]);
            self.add(assignment);
        }
        // (bash's normal form moves redirections behind the words, where a mistake changes both.)
        if !self.no_heredocs && self.random.below(8) == 0 {
            self.redirection();
            self.add(" ");
        }
        let wrapper = self.random.pick(&[
            "",
            "",
            "",
            "",
            "",
            "",
            "sudo -u x ",
            "env -i A=1 ",
            "timeout -k 5 9 ",
            "nice -n 5 ",
            "nohup ",
            "command ",
            "xargs -n1 ",
            "stdbuf -oL ",
        ]);
        self.add(wrapper);
        let name = self.name();
        self.heads.push((self.depth, name.clone()));
        let (first, rest) = name.split_at(1);
        let spelled = match self.random.below(8) {
            0 => format!("'{name}'"),
            1 => format!("{first}\"{rest}\""),
            2 => format!("{first}\\\n{rest}"),
            3 => format!("$'{name}'"),
            4 => format!("\\{name}"),
            _ => name,
        };
        self.add(&spelled);
        for _ in 0..self.random.below(4) {
            self.add(" ");
            if self.random.below(4) == 0 {
                self.redirection();
            } else {
                self.word();
            }
        }
    }

    fn words(&mut self) {
        self.word();
        for _ in 0..self.random.below(3) {
            self.add(" ");
            self.word();
        }
    }

    fn word(&mut self) {
        let plain = self.random.below(4) > 0;
        if plain || self.room == 0 {
            let word = self.random.pick(&[
                "w",
                "'d1; d2'",
                "\"d3 | d4\"",
                "\"it's\"",
                "a\\ b",
                "$'it\\'s'",
                "${x:-d5}",
                "\"${x:-d6}\"",
                "$((1<<2))",
                "a#b",
                "\\;",
                "$[1<<2]",
                "*.c",
                "é🚀",
                "a\\\nb",
                "'$(d7)'",
                "\"\\$(d8)\"",
                "-x",
                "--y=\"z w\"",
                "if",
                "do",
                "}",
                "\\`d9\\`",
                "\"\\`\"",
                "$x",
                "\"$@\"",
                "${#x}",
                "${x##*/}",
                "a=b",
                "\"a\nb\"",
                "''",
                "$",
                "a{b",
                "\\\"",
                "[a]",
                "!",
                "[[",
                "=",
                "{",
                "1",
                "~/x",
                "\\\\",
                "'\\'",
                "\"\\\\\"",
            ]);
            return self.add(word);
        }
        self.room -= 1;
        match self.random.below(8) {
            0 => self.substitution("$(", ")"),
            1 => self.substitution("\"x $(", ") y\""),
            2 => self.substitution("<(", ")"),
            3 => self.substitution("${x:-$(", ")}"),
            4 => {
                self.arithmetic += 1;
                self.substitution("$((1 + $(", ")))");
                self.arithmetic -= 1;
            }
            5 => self.substitution("pre$(", ")post"),
            6 => self.substitution(">(", ")"),
            _ => {
                self.add("\"`");
                self.depth += 1;
                let name = self.name();
                self.heads.push((self.depth, name.clone()));
                self.add(&name);
                self.add(" 'd1' | ");
                let name = self.name();
                self.heads.push((self.depth, name.clone()));
                self.add(&name);
                self.add(" \\\"d2\\\"`\"");
                self.depth -= 1;
            }
        }
        self.room += 1;
    }

    fn substitution(&mut self, open: &str, close: &str) {
        let outer = std::mem::take(&mut self.pending);
        let room = self.room;
        self.room = room.saturating_sub(1);
        self.depth += 1;
        self.add(open);
        if self.random.below(6) == 0 {
            self.add(" ");
        }
        if self.text.ends_with('(') {
            // `((` would be arithmetic.
            self.add(" ");
        }
        self.list();
        if !self.pending.is_empty() {
            self.newline();
        }
        self.add(close);
        self.depth -= 1;
        self.room = room;
        self.pending = outer;
    }

    fn redirection(&mut self) {
        let kinds = if self.arithmetic > 0
            || self.no_heredocs
            || self.normal_form && self.inside + self.depth > 0
        {
            6
        } else {
            10
        };
        match self.random.below(kinds) {
            0..=5 => {
                let redirection = self.random.pick(&[
                    ">f",
                    "> f",
                    ">>f",
                    "2>&1",
                    "<f",
                    "&>f",
                    "<>f",
                    ">|f",
                    "<<<w",
                    "<<< \"d1 d2\"",
                    "{fd}>f",
                    "3<&-",
                    "2> 'd3 d4'",
                    ">&2",
                ]);
                self.add(redirection);
            }
            kind => {
                // Each has a name of its own, for one may stand in the body of another.
                self.count += 1;
                let number = self.count;
                let (spelled, delimiter, expands) = match kind {
                    6 => (format!("<<'E{number}'"), format!("E{number}"), false),
                    7 => (format!("<<-\\F{number}"), format!("\tF{number}"), false),
                    8 => (format!("<< \"G {number}\""), format!("G {number}"), false),
                    _ => (format!("<<I{number}"), format!("I{number}"), true),
                };
                if self.pending.len() < 8 {
                    self.add(&spelled);
                    self.pending.push((delimiter, expands));
                }
            }
        }
    }

    /// A whole text with its known commands, sorted.
    fn text(seed: u64) -> (String, Vec<(u32, String)>) {
        let mut generator = Self::new(seed);
        generator.list();
        generator.newline();
        generator.heads.sort();
        (generator.text, generator.heads)
    }
}

/// A seed of texts without here-documents in compound commands: bash's normal form of those lacks
/// separators, so that it is another program.
fn odd(seed: u64) -> u64 {
    2 * seed + 1
}

/// A seed of texts without any here-document.
fn without_heredocs(seed: u64) -> u64 {
    4 * seed + 3
}

/// What bash prints for `text`, `None` when it refuses it.
fn pretty(text: &str) -> Option<String> {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("shell-oracle-{}-{call}", std::process::id()));
    fs::write(&path, text).unwrap();
    let output = Command::new("bash")
        .arg("--pretty-print")
        .arg(&path)
        .stdin(Stdio::null())
        .output()
        .expect("bash must be there");
    fs::remove_file(&path).unwrap();
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The commands of `text`, sorted, so that a here-document's place does not count.
fn commands(text: &str) -> Vec<(Vec<String>, u32)> {
    let mut commands: Vec<_> = shell::raw(text)
        .0
        .into_iter()
        .filter(|(words, ..)| !words.is_empty())
        .map(|(words, _, depth)| (words, depth))
        .collect();
    commands.sort();
    commands
}

/// True when we find other commands than bash, or refuse what bash takes or the reverse. A normal
/// form that bash itself refuses says nothing.
fn disagrees(text: &str) -> bool {
    match pretty(text) {
        Some(normal) => {
            let complete = shell::raw(text).1;
            !complete || (commands(text) != commands(&normal) && pretty(&normal).is_some())
        }
        None => shell::raw(text).1,
    }
}

/// Takes characters away as long as the disagreement stays, and stays of its kind.
fn shrink(text: &str) -> String {
    let kind = |text: &str| (pretty(text).is_some(), shell::raw(text).1);
    let wanted = kind(text);
    let mut small: Vec<char> = text.chars().collect();
    let mut chunk = small.len() / 2;
    while chunk > 0 {
        let mut at = 0;
        while at < small.len() {
            let mut fewer = small.clone();
            fewer.drain(at..(at + chunk).min(small.len()));
            let shorter: String = fewer.iter().collect();
            if kind(&shorter) == wanted && disagrees(&shorter) {
                small = fewer;
            } else {
                at += chunk;
            }
        }
        chunk /= 2;
    }
    small.into_iter().collect()
}

fn report(text: &str) -> String {
    let small = shrink(text);
    format!(
        "{small:?}\n  from {text:?}\n  ours  {:?}\n  bash  {:?}",
        commands(&small),
        pretty(&small)
    )
}

fn seed() -> u64 {
    std::env::var("SHELL_ORACLE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_240_917)
}

#[test]
fn generated_texts_hold_the_commands_they_were_made_of() {
    for index in 0..GENERATED as u64 {
        let (text, wanted) = Generator::text(seed() + index);
        let parsed = shell::parse(&text, &shell::Options::default());
        assert!(parsed.complete, "seed {}: incomplete: {}", seed() + index, report(&text));
        let mut found: Vec<(u32, String)> =
            parsed.segments.into_iter().map(|segment| (segment.depth, segment.head)).collect();
        found.retain(|(_, head)| !head.is_empty());
        found.sort();
        assert_eq!(found, wanted, "seed {}: {text:?}", seed() + index);
    }
}

#[test]
fn generated_texts_mean_to_us_what_they_mean_to_bash() {
    let texts: Vec<String> =
        (0..GENERATED as u64).map(|index| Generator::text(odd(seed() + index)).0).collect();
    let mut differing = Vec::new();
    for batch in texts.chunks(BATCH) {
        let joined = batch.join("\nseparator\n") + "\nseparator\n";
        let normal = pretty(&joined);
        if normal.is_none_or(|normal| commands(&normal) != commands(&joined)) {
            differing.extend(batch.iter().filter(|text| disagrees(text)).take(3));
        }
        if differing.len() > 4 {
            break;
        }
    }
    let reports: Vec<String> = differing.into_iter().map(|text| report(text)).collect();
    assert!(reports.is_empty(), "{}", reports.join("\n\n"));
}

/// A text with one character taken out, doubled or replaced.
fn mutate(text: &str, random: &mut Random) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let at = random.below(characters.len());
    match random.below(3) {
        0 => {
            characters.remove(at);
        }
        1 => characters.insert(
            at,
            random
                .pick(&[
                    "'", "\"", ";", "(", ")", "{", "}", "\\", "\n", "<", "|", "&", "#", "$", "`",
                    " ",
                ])
                .chars()
                .next()
                .unwrap(),
        ),
        _ => {
            let other = characters[random.below(characters.len())];
            characters[at] = other;
        }
    }
    characters.into_iter().collect()
}

/// Texts in which we differ from bash on purpose, by what they hold.
fn on_purpose(text: &str) -> bool {
    // A here-document opened by the mistake: bash prints what follows it wrongly, and to bash
    // arithmetic ends before here-documents are read in it.
    let expected = ["<<<", "$((1<<2))", "$[1<<2]", "(( x <<"];
    let rest = expected.iter().fold(text.to_owned(), |text, known| text.replace(known, ""));
    let opened = rest.contains("<<");
    // A line continuation right before the end.
    let cut = text.trim_end().ends_with('\\');
    // Patterns of `extglob`, which bash has off at first.
    let patterns = ["@(", "?(", "*(", "+(", "!("];
    opened || cut || (shell::raw(text).1 && patterns.iter().any(|pattern| text.contains(pattern)))
}

#[test]
fn texts_with_a_mistake_are_refused_where_bash_refuses_them() {
    let mut random = Random(seed());
    let mut reports = Vec::new();
    for index in 0..MUTATED as u64 {
        let (text, _) = Generator::text(without_heredocs(seed() + index));
        let text = mutate(&text, &mut random);
        if !on_purpose(&text) && disagrees(&text) {
            reports.push(report(&text));
        }
        if reports.len() > 5 {
            break;
        }
    }
    assert!(reports.is_empty(), "{}", reports.join("\n\n"));
}
