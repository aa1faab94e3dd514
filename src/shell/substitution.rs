//! Command and process substitutions (POSIX XCU 2.6.3), and how `((` is told from two subshells.

use super::parser::{Halt, Parser, Parsing};
use super::words::{Kind, Word};

impl Parser<'_, '_> {
    /// The rest of `$(…)`, `<(…)` or `>(…)`.
    pub(super) fn command_substitution(&mut self) -> Parsing<()> {
        let outer = std::mem::take(&mut self.heredocs);
        let keywords = std::mem::take(&mut self.keywords);
        let piped = std::mem::take(&mut self.piped);
        let outcome = self.subshell(|parser| {
            parser.scope.depth += 1;
            parser.list()?;
            parser.expect(b')')
        });
        // A here-document opened inside and not yet read has its body behind the outer line.
        let inner = std::mem::replace(&mut self.heredocs, outer);
        self.heredocs.extend(inner);
        (self.keywords, self.piped) = (keywords, piped);
        outcome
    }

    pub(super) fn process_substitution(&mut self, word: &mut Word) -> Parsing<()> {
        self.at += 1;
        self.expect(b'(')?;
        self.command_substitution()?;
        word.push(Kind::Computed, "");
        Ok(())
    }

    /// `` `…` ``: what it holds is parsed when it runs, so a mistake in it spoils nothing else.
    pub(super) fn backquoted(&mut self, word: &mut Word, quoted: bool) -> Parsing<()> {
        let start = self.at + 1;
        self.at = start;
        let mut escapes = false;
        while self.raw(0).ok_or(Halt)? != b'`' {
            let backslash = self.raw(0) == Some(b'\\');
            escapes |= backslash;
            self.at += if backslash { 2 } else { 1 };
        }
        let close = self.at;
        let inside = self.slice_from(start);
        word.push(Kind::Computed, "");
        self.late_script(close, |parser| {
            if escapes {
                return parser.unescaped(inside, quoted);
            }
            parser.at = start;
            parser.script();
            Ok(())
        })
    }

    /// Reads by `inner` the text up to `close`, which is parsed when it runs, in its own process.
    fn late_script(
        &mut self,
        close: usize,
        inner: impl FnOnce(&mut Self) -> Parsing<()>,
    ) -> Parsing<()> {
        let outer = std::mem::take(&mut self.heredocs);
        let keywords = std::mem::take(&mut self.keywords);
        let piped = std::mem::take(&mut self.piped);
        let end = std::mem::replace(&mut self.end, close);
        let outcome = self.subshell(|parser| {
            parser.scope.depth += 1;
            inner(parser)
        });
        self.heredocs = outer;
        (self.keywords, self.piped) = (keywords, piped);
        (self.at, self.end) = (close + 1, end);
        outcome
    }

    /// Reads the text of backquotes with one level of backslashes taken off (POSIX 2.6.3).
    fn unescaped(&mut self, inside: &str, quoted: bool) -> Parsing<()> {
        if inside.len() > self.shared.copies {
            self.shared.limited = true;
            return Err(Halt);
        }
        self.shared.copies -= inside.len();
        let mut script = String::with_capacity(inside.len());
        let mut characters = inside.chars().peekable();
        while let Some(character) = characters.next() {
            let drops = character == '\\'
                && characters.peek().is_some_and(|next| {
                    matches!(next, '$' | '`' | '\\') || (quoted && *next == '"')
                });
            match characters.peek() {
                Some(next) if drops => script.push(*next),
                _ => script.push(character),
            }
            if drops {
                characters.next();
            }
        }
        let mut inner = Parser::new(&script, self.shared, false);
        inner.scope = self.scope;
        inner.script();
        Ok(())
    }

    // Telling `((` arithmetic from two subshells.

    /// At `((`: true when the inner parenthesis closes right before another `)`, which is how bash
    /// tells arithmetic from a nested subshell. Each byte is scanned once, however the pairs nest.
    pub(super) fn double_parenthesis(&mut self) -> Parsing<bool> {
        self.peek();
        let mut inner = self.at + 1;
        while self.text.as_bytes().get(inner..inner + 2) == Some(b"\\\n") {
            inner += 2;
        }
        if self.at >= self.paired {
            self.pair(self.at);
        }
        let close = *self.pairs.get(&inner).ok_or(Halt)?;
        Ok(self.text.as_bytes().get(close + 1) == Some(&b')') && close + 1 < self.end)
    }

    /// `$( (…) …)` spelled `$((`, with the `$` taken: bash finds its end by the parentheses and
    /// parses what it holds when it runs, so a mistake in it spoils nothing else.
    pub(super) fn subshell_substitution(&mut self) -> Parsing<()> {
        let start = self.at + 1;
        let close = *self.pairs.get(&self.at).ok_or(Halt)?;
        self.late_script(close, |parser| {
            parser.at = start;
            parser.script();
            Ok(())
        })
    }

    /// Notes where the parenthesis at `from`, and those inside it, are closed.
    fn pair(&mut self, from: usize) {
        let bytes = self.text.as_bytes().get(..self.end).unwrap_or_default();
        let mut open: Vec<(u8, usize)> = vec![(b'(', from)];
        let mut at = from + 1;
        let mut dollar_at = None;
        while let (Some(&byte), Some(&(kind, opened))) = (bytes.get(at), open.last()) {
            let dollar = dollar_at.is_some_and(|dollar| dollar + 1 == at);
            match byte {
                b'\\' => at += 1,
                b'$' => dollar_at = Some(at),
                b'\'' if kind != b'"' => at = close_of(bytes, at, b'\'', dollar),
                b'`' => at = close_of(bytes, at, b'`', true),
                b'"' if kind == b'"' => {
                    open.pop();
                }
                b'"' => open.push((b'"', at)),
                b'(' if kind != b'"' || dollar => open.push((b'(', at)),
                b'{' if dollar => open.push((b'{', at)),
                b'}' if kind == b'{' => {
                    open.pop();
                }
                b')' if kind == b'(' => {
                    open.pop();
                    self.pairs.insert(opened, at);
                }
                _ => {}
            }
            at += 1;
        }
        self.paired = at;
    }
}

/// Where a quote opened at `at` closes, or the end of the text.
fn close_of(bytes: &[u8], mut at: usize, quote: u8, escapes: bool) -> usize {
    at += 1;
    while let Some(&byte) = bytes.get(at) {
        if byte == quote {
            return at;
        }
        at += if byte == b'\\' && escapes { 2 } else { 1 };
    }
    at
}
