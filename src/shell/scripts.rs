//! Which arguments, and what input, a command reads as shell text.

use super::parser::Command;
use super::peel::{self, Token};
use super::words::{self, Kind, Part, Word};

/// Shells whose `-c` argument, operand-less input and the like are read again.
pub(super) const SHELLS: &[&str] =
    &["ash", "bash", "dash", "fish", "ksh", "mksh", "rbash", "sh", "zsh"];

/// What a shell takes its commands from.
pub(super) enum Script {
    Argument(Token),
    Stdin,
    File,
}

/// A shell's options (bash manual, "Invoking Bash"): `-c` anywhere in a cluster, and the script is
/// then the first operand behind all options.
pub(super) fn shell_script(rest: &[Token]) -> Script {
    let (mut at, mut by_argument, mut by_stdin) = (0, false, false);
    while let Some(token) = rest.get(at) {
        let text = token.text.as_str();
        if let Some(script) = text.strip_prefix("--command=") {
            return Script::Argument(Token::new(script.to_owned()));
        }
        if text == "--" || text == "-" {
            at += 1;
            break;
        }
        if text.len() < 2 || !text.starts_with(['-', '+']) {
            break;
        }
        at += 1;
        if text.starts_with("--") {
            by_argument |= text == "--command";
            at += usize::from(matches!(text, "--rcfile" | "--init-file" | "--init-command"));
        } else {
            by_argument |= text.starts_with('-') && text.contains('c');
            by_stdin |= text.starts_with('-') && text.contains('s');
            at += text.matches(['o', 'O']).count();
        }
    }
    match rest.get(at) {
        Some(script) if by_argument => Script::Argument(script.clone()),
        Some(file) if !by_stdin && !reads_stdin(&file.text) => Script::File,
        None if rest.iter().any(|token| matches!(token.text.as_str(), "--version" | "--help")) => {
            Script::File
        }
        _ => Script::Stdin,
    }
}

/// Names under which a program finds its own input.
pub(super) fn reads_stdin(file: &str) -> bool {
    matches!(file, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}

/// The script of `su -c`, `script -c`, whose options may stand behind operands.
pub(super) fn option_c(rest: &[Token]) -> Option<Token> {
    for (index, token) in rest.iter().enumerate() {
        let text = token.text.as_str();
        if let Some(script) = text.strip_prefix("--command=") {
            return Some(Token { text: script.to_owned(), script: None, ..token.clone() });
        }
        let cluster = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        match cluster.and_then(|letters| letters.split_once('c')) {
            Some((before, "")) if before.chars().all(char::is_alphabetic) => {
                return rest.get(index + 1).cloned();
            }
            Some((before, script)) if before.chars().all(char::is_alphabetic) => {
                return Some(Token { text: script.to_owned(), script: None, ..token.clone() });
            }
            _ if text == "--command" || text == "--session-command" => {
                return rest.get(index + 1).cloned();
            }
            _ => {}
        }
    }
    None
}

pub(super) fn skip_end_of_options(rest: &[Token]) -> &[Token] {
    match rest.split_first() {
        Some((first, rest)) if first.text == "--" => rest,
        _ => rest,
    }
}

/// What a command of a simple kind writes to the pipe behind it.
pub(super) fn static_output(command: &Command) -> Option<Token> {
    let (head, rest) = command.words.split_first()?;
    let mut rest: Vec<Token> = rest.iter().map(word_token).collect();
    match head.bare()? {
        "cat" if rest.iter().all(|token| token.text == "-") => {
            command.stdin.as_ref().map(word_token)
        }
        "echo" => {
            let options = rest
                .iter()
                .take_while(|token| {
                    matches!(token.text.as_str(), "-n" | "-e" | "-ne" | "-en" | "-E")
                })
                .count();
            let mut text = peel::join(rest.get(options..)?);
            if rest.iter().take(options).any(|token| token.text.contains('e')) {
                text.text = text.as_script().replace("\\n", "\n");
                text.script = None;
            }
            Some(text)
        }
        "printf" => {
            let format = rest.first()?.text.replace("\\n", "\n");
            rest.remove(0);
            if format.trim() == "%s" || format.trim() == "%b" {
                return Some(Token {
                    text: rest.iter().map(Token::as_script).collect::<Vec<_>>().join("\n"),
                    ..peel::join(&rest)
                });
            }
            (!format.contains('%') && rest.is_empty()).then(|| Token::new(format))
        }
        _ => None,
    }
}

pub(super) fn word_token(word: &Word) -> Token {
    parts_token(&word.parts)
}

pub(super) fn parts_token(parts: &[Part]) -> Token {
    let mut token = Token::new(words::concat(parts));
    token.dynamic = !words::is_static(parts);
    if parts.iter().any(|part| part.kind == Kind::Computed) {
        token.script = Some(words::script(parts));
    }
    let live = |part: &&Part| matches!(part.kind, Kind::Bare | Kind::Value);
    token.pattern = parts.iter().filter(live).any(|part| {
        part.text.contains(['*', '?']) || (part.text.contains('[') && part.text.contains(']'))
    });
    token
}
