//! Wrappers: programs and builtins that run the command behind them, peeled by the options that
//! `wrappers` knows of each.

use super::Wrapper;
use super::wrappers::{GIT, Grammar, WRAPPERS};

/// A word after expansion.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) text: String,
    /// What the text is when it is read as a script.
    pub(super) script: Option<String>,
    /// The value is not known before the command runs.
    pub(super) dynamic: bool,
    /// Holds an unquoted pattern that names what only the disk knows.
    pub(super) pattern: bool,
    /// Where the word stands, unless expansion made it.
    pub(super) span: Option<std::ops::Range<usize>>,
}

impl Token {
    pub(super) fn new(text: String) -> Self {
        Self { text, script: None, dynamic: false, pattern: false, span: None }
    }

    /// The text for reading it as a script.
    pub(super) fn as_script(&self) -> &str {
        self.script.as_deref().unwrap_or(&self.text)
    }
}

/// The last component of a command's path.
pub(super) fn basename(text: &str) -> &str {
    match text.rsplit_once('/') {
        Some((_, name)) if !name.is_empty() => name,
        _ => text,
    }
}

/// Options found between a command's name and its first operand.
pub(super) struct Scan {
    /// Index of the first operand.
    pub(super) next: usize,
    /// Options in order, clusters taken apart, with the value of those that take one.
    pub(super) options: Vec<(String, Option<Token>)>,
}

impl Scan {
    /// The value of the first of `names` that was given one.
    pub(super) fn value(&self, names: &[&str]) -> Option<&Token> {
        self.options
            .iter()
            .find(|(option, _)| names.contains(&option.as_str()))
            .and_then(|(_, value)| value.as_ref())
    }

    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(option, _)| names.contains(&option.as_str()))
    }
}

/// Reads the options in `tokens` from `at`, given which take values and behind which none follow.
fn scan(
    tokens: &[Token],
    mut at: usize,
    short: &str,
    last: &[&str],
    long: &dyn Fn(&str) -> Option<String>,
) -> Scan {
    let mut options = Vec::new();
    while let Some(token) = tokens.get(at) {
        let text = token.text.as_str();
        if text == "--" {
            at += 1;
            break;
        }
        let ended =
            options.last().is_some_and(|(option, _): &(String, _)| last.contains(&option.as_str()));
        if text.len() < 2 || !text.starts_with('-') || ended {
            break;
        }
        at += 1;
        let mut takes_next = None;
        if text.starts_with("--") {
            match text.split_once('=') {
                Some((name, value)) => {
                    let name = long(name).unwrap_or_else(|| name.to_owned());
                    options.push((
                        name,
                        Some(Token { text: value.to_owned(), script: None, ..token.clone() }),
                    ));
                }
                None => takes_next = Some(long(text).ok_or_else(|| text.to_owned())),
            }
        } else {
            for (index, letter) in text.char_indices().skip(1) {
                let name = format!("-{letter}");
                if !short.contains(letter) {
                    options.push((name, None));
                    continue;
                }
                let rest = text.get(index + letter.len_utf8()..).unwrap_or_default();
                if rest.is_empty() {
                    takes_next = Some(Ok(name));
                } else {
                    options.push((
                        name,
                        Some(Token { text: rest.to_owned(), script: None, ..token.clone() }),
                    ));
                }
                break;
            }
        }
        match takes_next {
            Some(Ok(name)) => {
                options.push((name, tokens.get(at).cloned()));
                at += 1;
            }
            Some(Err(name)) => options.push((name, None)),
            None => {}
        }
    }
    Scan { next: at.min(tokens.len()), options }
}

/// Reads options by `grammar`; GNU programs accept a long option by its beginning.
fn scan_by(grammar: &Grammar, tokens: &[Token], at: usize) -> Scan {
    scan(tokens, at, grammar.short, grammar.last, &|name| {
        let found = grammar.long.iter().find(|long| **long == name);
        let found = found
            .or_else(|| grammar.long.iter().find(|long| name.len() > 4 && long.starts_with(name)));
        found.map(|long| (*long).to_owned())
    })
}

/// A `git` call's own options and where its subcommand stands.
pub(super) fn git_options(tokens: &[Token]) -> Scan {
    scan_by(&GIT, tokens, 1)
}

/// What stands behind a wrapper.
pub(super) enum Peeled {
    /// The command begins at this token.
    Command(usize),
    /// This text is split into words by `env -S` and stands before the tokens from the index on.
    Split(Token, usize),
    /// These scripts are handed to a shell.
    Scripts(Vec<Token>),
}

/// Peels the wrapper at `tokens[at]`; `None` when there is none, or it runs nothing.
pub(super) fn peel(tokens: &[Token], at: usize, own: &[Wrapper]) -> Option<Peeled> {
    let head = tokens.get(at).filter(|token| !token.dynamic)?;
    let name = basename(&head.text);
    if let Some(wrapper) = own.iter().find(|wrapper| wrapper.name == name) {
        return peel_own(wrapper, tokens, at);
    }
    let grammar = WRAPPERS.iter().find(|grammar| grammar.name == name)?;
    peel_by(grammar, tokens, at)
}

/// The assignments that `env` and the like take in front of the command at `next`.
pub(super) fn assignments_before(tokens: &[Token], start: usize, next: usize) -> &[Token] {
    let taken = tokens.get(start..next).unwrap_or_default();
    let assigned = taken.iter().rev().take_while(|token| is_assignment(&token.text));
    taken.get(taken.len() - assigned.count()..).unwrap_or_default()
}

/// Peels by the options of `time`, whose keyword took no word.
pub(super) fn peel_time(tokens: &[Token]) -> usize {
    WRAPPERS
        .iter()
        .find(|grammar| grammar.name == "time")
        .map_or(0, |grammar| scan_by(grammar, tokens, 0).next)
}

/// A wrapper from the user's settings.
fn peel_own(wrapper: &Wrapper, tokens: &[Token], at: usize) -> Option<Peeled> {
    let takes = |name: &str| wrapper.value_options.iter().any(|option| option == name);
    let letters: String = wrapper
        .value_options
        .iter()
        .filter_map(|option| option.strip_prefix('-').filter(|rest| rest.chars().count() == 1))
        .collect();
    let scan = scan(tokens, at + 1, &letters, &[], &|name| takes(name).then(|| name.to_owned()));
    (scan.next < tokens.len()).then_some(Peeled::Command(scan.next))
}

fn peel_by(grammar: &Grammar, tokens: &[Token], at: usize) -> Option<Peeled> {
    let scan = scan_by(grammar, tokens, at + 1);
    if scan.has(grammar.idle) {
        return None;
    }
    let mut next = scan.next;
    if grammar.name == "env" && tokens.get(next).is_some_and(|token| token.text == "-") {
        next += 1;
    }
    if let Some(text) = scan.value(&["-S", "--split-string"]).filter(|_| grammar.name == "env") {
        return Some(Peeled::Split(text.clone(), next));
    }
    while grammar.assignments && tokens.get(next).is_some_and(|token| is_assignment(&token.text)) {
        next += 1;
    }
    match grammar.name {
        "flock" => return peel_flock(&scan, tokens, next),
        "watch" if !scan.has(&["-x", "--exec"]) => return by_shell(tokens.get(next..)?, next),
        "parallel" => return peel_parallel(tokens, next),
        // Without `-u` it takes a shell's options, as `su` does.
        "runuser" if !scan.has(&["-u", "--user"]) => return None,
        _ => {}
    }
    next += grammar.operands;
    (next < tokens.len()).then_some(Peeled::Command(next))
}

/// `flock FILE command`, `flock FILE -c script`.
fn peel_flock(scan: &Scan, tokens: &[Token], next: usize) -> Option<Peeled> {
    if let Some(script) = scan.value(&["-c", "--command"]) {
        return Some(Peeled::Scripts(vec![script.clone()]));
    }
    let command = tokens.get(next + 1)?;
    if matches!(command.text.as_str(), "-c" | "--command") {
        return tokens.get(next + 2).map(|script| Peeled::Scripts(vec![script.clone()]));
    }
    Some(Peeled::Command(next + 1))
}

/// `parallel command ::: values`; without a command each value is one.
fn peel_parallel(tokens: &[Token], next: usize) -> Option<Peeled> {
    let rest = tokens.get(next..)?;
    let split = rest.iter().position(|token| token.text.starts_with(":::")).unwrap_or(rest.len());
    if split > 0 {
        return by_shell(rest.get(..split)?, next);
    }
    let values = rest.get(1..)?.iter().filter(|token| !token.text.starts_with(":::"));
    let scripts: Vec<Token> = values.cloned().collect();
    (!scripts.is_empty()).then_some(Peeled::Scripts(scripts))
}

/// A command whose words a shell reads again, joined by blanks: plain words stay where they are.
fn by_shell(words: &[Token], at: usize) -> Option<Peeled> {
    let plain = |text: &str| {
        !text.contains([
            ' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')', '$', '`', '\'', '"', '\\',
        ])
    };
    if words.is_empty() {
        None
    } else if words.iter().all(|word| plain(&word.text)) {
        Some(Peeled::Command(at))
    } else {
        Some(Peeled::Scripts(vec![join(words)]))
    }
}

/// The words as one script, as `eval` joins them.
pub(super) fn join(words: &[Token]) -> Token {
    let mut joined = Token::new(words.iter().map(Token::as_script).collect::<Vec<_>>().join(" "));
    joined.dynamic = words.iter().any(|word| word.dynamic);
    joined
}

/// `NAME=value` with an identifier for a name.
pub(super) fn is_assignment(text: &str) -> bool {
    let length = super::words::identifier(text);
    length > 0 && text.as_bytes().get(length) == Some(&b'=')
}

/// The words of an `env -S` string (coreutils manual, "env -S"): blanks split, both quotes and
/// backslashes quote, `#` at a word's start begins a comment.
pub(super) fn split_string(text: &str) -> Vec<Token> {
    let (mut words, mut word, mut quote): (Vec<String>, Option<String>, Option<char>) =
        (Vec::new(), None, None);
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (character, quote) {
            ('\\', None | Some('"')) => match characters.next() {
                Some('_') if quote.is_none() => words.extend(word.take()),
                Some('n') => word.get_or_insert_default().push('\n'),
                Some('t') => word.get_or_insert_default().push('\t'),
                Some('c') | None => break,
                // `\_` is a blank between quotes.
                Some(escaped) => {
                    word.get_or_insert_default().push(if escaped == '_' { ' ' } else { escaped });
                }
            },
            (character, Some(open)) if character == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            ('#', None) if word.is_none() => break,
            (' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c', None) => words.extend(word.take()),
            (character, _) => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
        .into_iter()
        .map(|text| Token { dynamic: text.contains("${"), ..Token::new(text) })
        .collect()
}
