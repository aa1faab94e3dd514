//! Instructions per byte of the shell parser, counted by callgrind.
//!
//! Without arguments it runs itself under `valgrind` for every kind of text and every size and
//! prints a table; the status is 1 when a kind's cost per byte grows by more than [`FACTOR`] with
//! the size. `KIND SIZE parse` and `KIND SIZE empty` are one measured run and its subtrahend.

use std::process::{Command, ExitCode};

#[allow(dead_code, unreachable_pub, reason = "the benchmark uses one function of the module")]
#[path = "../../../src/shell/mod.rs"]
mod shell;

/// By how much the cost per byte may grow.
const FACTOR: f64 = 2.0;

const SIZES: [usize; 3] = [1_024, 64 * 1_024, 1_024 * 1_024];

/// A kind of text: what is repeated, and what stands before it.
const KINDS: &[(&str, &str, &str)] = &[
    ("plain lines", "", "cargo test --all -- --nocapture > log 2>&1 && git status | head -n 5\n"),
    ("long word", "echo ", "abcdefgh"),
    ("double quotes", "echo ", "\"a $b c\" "),
    ("single quotes", "echo ", "'a b' "),
    ("empty quotes", "a ", "''\"\""),
    ("substitutions", "", "echo $(ls | wc -l) \"$(date)\"\n"),
    ("nested groups", "", "( { if a; then b; fi; } ) | while c; do d; done\n"),
    ("nested substitutions", "", "echo $(a $(b \"$(c <(d))\"))\n"),
    ("backquotes", "", "echo `a` `b \\`c\\``\n"),
    ("open substitutions", "", "$( "),
    ("open arithmetic", "", "$(( "),
    ("open double parentheses", "", "(("),
    ("arithmetic or subshell", "", "echo $((1 + (2))); ((a) | (b)); echo $((a) | b)\n"),
    ("open parameters", "", "${x:-"),
    ("open backquotes", "", "`a \\`"),
    ("open quotes", "echo \"", "it's \\\" "),
    ("here-documents", "", "cat <<A\nx $y\nA\n"),
    ("open here-documents", "", "cat <<A <<B\n"),
    ("here-document candidates", "cat <<'A'\n", "A \n"),
    ("continued here-document", "cat <<A\n", "a\\\n"),
    ("brace bomb", "echo ", "{a,b}"),
    ("open braces", "echo ", "{a,"),
    ("brace ranges", "", "echo {1..9999999}\n"),
    ("braces", "", "touch {a,b}/{c,d}\n"),
    ("continuations", "a ", "\\\n"),
    ("comments", "", "# it's a $( comment\n"),
    ("wrappers", "", "sudo -u x env A=1 timeout -k 5 9 nice -n 5 rm y\n"),
    ("one chain of wrappers", "", "sudo "),
    ("scripts", "", "bash -c 'a; b' && eval 'c | d'\n"),
    ("eval of eval", "", "eval "),
    ("find in find", "", "find -exec "),
    ("pipes into shells", "", "echo a | sh\n"),
    ("known variables", "", "Z=rm; $Z x; "),
    ("one long value", "Z=abcdefghijklmnopqrstuvwxyz; a ", "$Z "),
    ("directories", "", "cd a; "),
    ("case arms", "case x in ", "a) b;; "),
    ("conditions", "", "[[ a == b && ( c -nt d || $x =~ ^(a|b)$ ) ]]\n"),
    ("arrays", "", "a=(b c [1]=d) e[$i]=f\n"),
    ("descriptors", "", "a 2>&1 {fd}>x 99999999\n"),
    ("functions", "", "f() { a; }; function g { b; }\n"),
];

fn text(kind: &str, size: usize) -> String {
    let (_, start, piece) =
        KINDS.iter().find(|(name, ..)| *name == kind).copied().unwrap_or(KINDS[0]);
    let mut text = String::with_capacity(size + piece.len());
    text.push_str(start);
    while text.len() < size {
        text.push_str(piece);
    }
    text
}

/// The instructions of one run of this program.
fn instructions(kind: &str, size: usize, what: &str) -> Option<f64> {
    let own = std::env::current_exe().ok()?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(own)
        .args([kind, &size.to_string(), what])
        .output()
        .ok()?;
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    report.lines().find_map(|line| line.split("Collected :").nth(1))?.trim().parse().ok()
}

/// Prints one row; whether the cost was linear.
fn row(kind: &str) -> bool {
    let mut costs = Vec::new();
    for size in SIZES {
        let (Some(run), Some(empty)) =
            (instructions(kind, size, "parse"), instructions(kind, size, "empty"))
        else {
            println!("{kind:26} cannot be measured: is valgrind there?");
            return false;
        };
        costs.push((run - empty) / text(kind, size).len() as f64);
    }
    let growth = costs.iter().copied().fold(0.0, f64::max) / costs[0];
    let linear = growth <= FACTOR;
    println!(
        "{kind:26} {:9.0} {:9.0} {:9.0}   {growth:5.2}{}",
        costs[0],
        costs[1],
        costs[2],
        if linear { "" } else { "  not linear" }
    );
    linear
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [kind, size, what] = arguments.as_slice() {
        let text = text(kind, size.parse().unwrap_or(0));
        if what == "parse" {
            let parsed = shell::parse(&text, &shell::Options::default());
            return ExitCode::from(u8::from(parsed.segments.len() == usize::MAX));
        }
        return ExitCode::SUCCESS;
    }
    println!(
        "{:26} {:>9} {:>9} {:>9}   growth",
        "instructions per byte", "1 KiB", "64 KiB", "1 MiB"
    );
    let chosen = |kind: &str| {
        arguments.is_empty() || arguments.iter().any(|argument| kind.contains(argument.as_str()))
    };
    let linear = KINDS
        .iter()
        .filter(|(kind, ..)| chosen(kind))
        .fold(true, |all, (kind, ..)| row(kind) && all);
    ExitCode::from(u8::from(!linear))
}
