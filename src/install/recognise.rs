//! Tells our registrations from everybody else's.
//!
//! Promises: decides by the program and its arguments, as a shell would split them. Never: by a
//! part of a text; a command line that does more than call us is not ours.

use crate::json::Json;

/// Whose registrations are looked for.
pub(crate) struct Owner<'a> {
    /// The harness in the hook line.
    pub(crate) harness: &'a str,
    /// Whether a program word of a hook line leads to the running binary.
    pub(crate) is_this_binary: &'a dyn Fn(&str) -> bool,
}

impl Owner<'_> {
    /// Whether this handler calls our `hook` for this harness.
    pub(crate) fn owns(&self, handler: &Json) -> bool {
        self.words(handler).is_some()
    }

    /// Whether this handler does the same as `wanted`, whatever way the program is spelled.
    pub(crate) fn is_exact(&self, handler: &Json, wanted: &Json) -> bool {
        let (Some(words), Some(wanted_words)) = (self.words(handler), self.words(wanted)) else {
            return false;
        };
        let (Some(fields), Some(wanted_fields)) = (handler.as_object(), wanted.as_object()) else {
            return false;
        };
        words.get(1..) == wanted_words.get(1..)
            && words.first().is_some_and(|program| (self.is_this_binary)(program))
            && fields.len() == wanted_fields.len()
            && wanted_fields
                .iter()
                .all(|(key, value)| key == "command" || handler.get(key) == Some(value))
    }

    /// The words of a handler of ours: program, `hook`, `--harness`, harness, event.
    fn words(&self, handler: &Json) -> Option<Vec<String>> {
        let command = handler.get("command")?.as_str()?;
        let words = match handler.get("args") {
            // With `args` there is no shell, and the command is the program.
            Some(arguments) => {
                let arguments = arguments
                    .as_array()?
                    .iter()
                    .map(|argument| argument.as_str().map(str::to_owned));
                std::iter::once(Some(command.to_owned()))
                    .chain(arguments)
                    .collect::<Option<Vec<_>>>()?
            }
            None => split(command)?,
        };
        match words.as_slice() {
            [program, hook, option, harness, _]
                if hook == "hook" && option == "--harness" && harness == self.harness =>
            {
                let ours = program.rsplit('/').next() == Some("i-insist")
                    || (self.is_this_binary)(program);
                ours.then_some(words)
            }
            _ => None,
        }
    }
}

/// Whether the clients take this matcher for one that holds for every call.
pub(crate) fn matches_all(matcher: &Json) -> bool {
    matches!(matcher.as_str(), Some("" | "*"))
}

/// The words of a simple command: blanks separate, quotes and backslashes are removed (POSIX XCU
/// 2.2). `None` when the shell would do more than run one program with these arguments.
fn split(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = command.chars();
    while let Some(character) = characters.next() {
        match character {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => loop {
                match characters.next()? {
                    '\'' => break word.get_or_insert_default().push_str(""),
                    quoted => word.get_or_insert_default().push(quoted),
                }
            },
            '"' => loop {
                match characters.next()? {
                    '"' => break word.get_or_insert_default().push_str(""),
                    '\\' => word.get_or_insert_default().push(characters.next()?),
                    quoted => word.get_or_insert_default().push(quoted),
                }
            },
            '\\' => word.get_or_insert_default().push(characters.next()?),
            ';' | '&' | '|' | '<' | '>' | '(' | ')' | '`' | '#' | '\n' => return None,
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    Some(words)
}

/// `word` as a shell reads it back: as it is when no character in it means anything to a shell.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+,:@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_is_told_by_program_and_subcommand() {
        let owner = Owner { harness: "claude", is_this_binary: &|_| false };
        let owns = |command: &str| owner.owns(&Json::object([("command", Json::string(command))]));
        for command in [
            "i-insist hook --harness claude pre-tool-use",
            "/home/u/.local/bin/i-insist hook --harness claude stop",
            "'/home/a b/i-insist' hook --harness claude stop",
            "\"/home/a b/i-insist\"  hook --harness claude stop",
            "/home/a\\ b/i-insist hook --harness claude stop ",
        ] {
            assert!(owns(command), "{command}");
        }
        for command in [
            "i-insist hook --harness codex pre-tool-use",
            "i-insist check",
            "my-i-insist hook --harness claude stop",
            "echo i-insist hook --harness claude stop",
            "i-insist hook --harness claude stop; other",
            "i-insist hook --harness claude stop | other",
            "i-insist-notes hook --harness claude stop",
            "'i-insist hook --harness claude stop'",
            "i-insist hook --harness claude 'stop",
        ] {
            assert!(!owns(command), "{command}");
        }
    }

    #[test]
    fn p35_a_quoted_program_is_one_word_again() {
        for word in [
            "/usr/bin/i-insist",
            "/a b/i-insist",
            "/it's/i-insist",
            "/$HOME/`x`/\"y\"/\\z",
            "/ä/i-insist",
        ] {
            assert_eq!(split(&quoted(word)), Some(vec![word.to_owned()]));
        }
        assert_eq!(quoted("/usr/bin/i-insist"), "/usr/bin/i-insist");
    }
}
