//! From the parser's simple commands to segments: expansion, peeling, and the arguments and
//! input that are scripts again.

use super::braces::{Budget, expand_braces};
use super::parser::{Command, MAX_NESTING, Parser, Redirection, Shared};
use super::peel::{self, Peeled, Token, basename};
use super::scripts::{
    SHELLS, Script, option_c, parts_token, reads_stdin, shell_script, skip_end_of_options,
    static_output, word_token,
};
use super::words::{self, Part, Word};
use super::workspace::{self, Directories, Place};
use super::{Assignment, Options, Parsed, Redirect, Segment, Spans};

/// How many names of wrappers a nested script inherits.
const MAX_INHERITED: usize = 16;

/// Reads commands into segments; holds the limits that are common to one text.
pub(super) struct Reader<'a> {
    options: Options<'a>,
    budget: Budget,
    copies: usize,
    nesting: u32,
}

/// Where a script stands.
#[derive(Clone, Default)]
struct Frame {
    depth: u32,
    /// The wrappers in front of the command that runs the script.
    wrappers: Vec<String>,
    /// The script's first command reads from a pipe.
    piped: bool,
    /// The script is the text itself, not a copy from a word.
    outermost: bool,
}

/// A command on its way to a segment.
#[derive(Clone, Default)]
struct Draft {
    tokens: Vec<Token>,
    segment: Segment,
    /// What feeds it: a here-document, here-string, or a static `echo` before it.
    input: Input,
    /// Wrappers proper, which a nested script inherits.
    inherited: Vec<String>,
}

/// A command's standard input, as far as the text tells.
#[derive(Clone, Default)]
enum Input {
    /// The harness's, or a file.
    #[default]
    Elsewhere,
    Text(Token),
    /// The output of another program.
    Unknown,
}

impl<'a> Reader<'a> {
    pub(super) fn new(options: &Options<'a>, copies: usize, length: usize) -> Self {
        Self { options: *options, budget: Budget::of_text(length), copies, nesting: 0 }
    }

    /// Reads the commands of the text itself.
    pub(super) fn read_text(&mut self, shared: &Shared, parsed: &mut Parsed) {
        self.read(shared, &Frame { outermost: true, ..Frame::default() }, parsed);
    }

    fn read(&mut self, shared: &Shared, frame: &Frame, parsed: &mut Parsed) {
        let outputs: Vec<Option<Token>> = shared.commands.iter().map(|_| None).collect();
        let mut outputs = outputs;
        let feeds: Vec<usize> =
            shared.commands.iter().filter_map(|command| command.piped_from).collect();
        for index in feeds {
            if let (Some(command), Some(output)) =
                (shared.commands.get(index), outputs.get_mut(index))
            {
                *output = static_output(command);
            }
        }
        for (index, command) in shared.commands.iter().enumerate() {
            let input = match (&command.stdin, command.piped_from) {
                (Some(body), _) => Input::Text(word_token(body)),
                (None, Some(previous)) => match outputs.get_mut(previous).and_then(Option::take) {
                    Some(text) => Input::Text(text),
                    None => Input::Unknown,
                },
                (None, None) if !command.pipeline_start => Input::Unknown,
                (None, None) => Input::Elsewhere,
            };
            let first = index == 0;
            self.command(command, input, first, frame, &shared.directories, parsed);
        }
    }

    fn command(
        &mut self,
        command: &Command,
        input: Input,
        first: bool,
        frame: &Frame,
        directories: &Directories,
        parsed: &mut Parsed,
    ) {
        let tokens = self.expand(
            &command.words,
            frame.outermost && command.in_text && command.depth == 0,
            parsed,
        );
        let mut draft = Draft { input, inherited: frame.wrappers.clone(), ..Draft::default() };
        let segment = &mut draft.segment;
        segment.pipeline_start = command.pipeline_start && !(first && frame.piped);
        segment.depth = frame.depth + command.depth;
        segment.span = (frame.outermost && command.in_text).then(|| command.span.clone());
        segment.directory = directories.path(command.directory).map(std::path::Path::to_owned);
        segment.stdin = command.stdin.as_ref().filter(|body| body.is_static()).map(Word::text);
        segment.redirects = command.redirections.iter().map(redirect).collect();
        segment.assignments = command.assignments.iter().filter_map(assignment).collect();
        segment.wrappers.clone_from(&frame.wrappers);
        segment.wrappers.extend(command.keywords.iter().map(|keyword| (*keyword).to_owned()));
        segment.wrappers.extend(command.assignments.iter().map(Word::text));
        draft.tokens = tokens;
        if command.keywords.last() == Some(&"time")
            && draft.tokens.first().is_some_and(|token| token.text.starts_with('-'))
        {
            let skipped = peel::peel_time(&draft.tokens);
            if skipped < draft.tokens.len() {
                draft.tokens.drain(..skipped);
            }
        }
        if draft.tokens.is_empty() {
            // Assignments alone run nothing; redirections alone open files.
            if !draft.segment.redirects.is_empty() || !command.words.is_empty() {
                self.finish(draft, parsed);
            }
            return;
        }
        self.peel(draft, parsed);
    }

    /// Brace expansion and field splitting of a command's words.
    fn expand(&mut self, words: &[Word], placed: bool, parsed: &mut Parsed) -> Vec<Token> {
        let mut tokens = Vec::with_capacity(words.len());
        for word in words {
            let expanded = expand_braces(word, &mut self.budget);
            parsed.limited |= expanded.is_none();
            let fields: Vec<Vec<Part>> = expanded
                .unwrap_or_else(|| vec![word.parts.clone()])
                .into_iter()
                .flat_map(words::split_values)
                .collect();
            let alone = !word.expanded
                && fields.len() == 1
                && fields.first().is_some_and(|field| field.len() == word.parts.len());
            for parts in fields {
                let mut token = parts_token(&parts);
                token.span = (alone && placed).then(|| word.span.clone());
                tokens.push(token);
            }
        }
        tokens
    }

    /// Peels wrappers until a command is left.
    fn peel(&mut self, mut draft: Draft, parsed: &mut Parsed) {
        let mut at = 0;
        while let Some(peeled) = peel::peel(&draft.tokens, at, self.options.wrappers) {
            let name = draft
                .tokens
                .get(at)
                .map(|token| basename(&token.text).to_owned())
                .unwrap_or_default();
            if draft.inherited.len() < MAX_INHERITED {
                draft.inherited.push(name.clone());
            }
            draft.segment.wrappers.push(name);
            match peeled {
                Peeled::Command(next) => {
                    let between = peel::assignments_before(&draft.tokens, at + 1, next);
                    draft.segment.wrappers.extend(between.iter().map(|token| token.text.clone()));
                    at = next;
                }
                Peeled::Split(text, next) => {
                    if !self.deeper(text.text.len(), parsed) {
                        return;
                    }
                    // `env` reads what it split as its own arguments once more.
                    draft.inherited.pop();
                    draft.segment.wrappers.pop();
                    let mut tokens = vec![Token::new("env".to_owned())];
                    tokens.extend(peel::split_string(&text.text));
                    tokens.extend(draft.tokens.drain(next..));
                    draft.tokens = tokens;
                    draft.segment.depth += 1;
                    draft.segment.span = None;
                    for token in &mut draft.tokens {
                        token.span = None;
                    }
                    at = 0;
                }
                Peeled::Scripts(scripts) => {
                    for script in scripts {
                        self.script(&script, &draft, parsed);
                    }
                    return;
                }
            }
        }
        draft.tokens.drain(..at);
        self.finish(draft, parsed);
    }

    /// `git -C DIR` runs in that directory.
    fn move_git(&self, scan: &peel::Scan, draft: &mut Draft) {
        for (option, value) in &scan.options {
            if let ("-C", Some(target)) = (option.as_str(), value) {
                let base = draft.segment.directory.as_deref();
                draft.segment.directory = workspace::resolve(&target.text, base, self.options.home)
                    .filter(|_| !target.dynamic);
            }
        }
    }

    /// Makes the segment, then reads what the command would read as a script.
    fn finish(&mut self, mut draft: Draft, parsed: &mut Parsed) {
        if draft.tokens.first().is_some_and(|head| !head.dynamic && basename(&head.text) == "git") {
            let scan = peel::git_options(&draft.tokens);
            self.move_git(&scan, &mut draft);
            draft
                .segment
                .wrappers
                .extend(draft.tokens.drain(1..scan.next.max(1)).map(|token| token.text));
            self.place(&mut draft, parsed);
            self.git_aliases(&scan, &draft, parsed);
            return;
        }
        self.place(&mut draft, parsed);
        self.scripts(&draft, parsed);
    }

    /// Fills in the segment from the draft's words and appends it.
    fn place(&mut self, draft: &mut Draft, parsed: &mut Parsed) {
        let mut segment = draft.segment.clone();
        if let Some((head, rest)) = draft.tokens.split_first() {
            segment.dynamic = head.dynamic || head.pattern || script_is_dynamic(draft);
            segment.head = if head.text.is_empty() && head.dynamic {
                "$()".to_owned()
            } else {
                basename(fallback(&head.text)).to_owned()
            };
            segment.args = rest.iter().map(|token| token.text.clone()).collect();
            segment.dynamic_args = rest.iter().map(|token| token.dynamic).collect();
            segment.spans = head.span.clone().map(|head| Spans {
                head,
                args: rest.iter().map(|token| token.span.clone()).collect(),
            });
        }
        if let (Some(_), Some(workspace)) =
            (self.options.cwd, self.options.session_cwd.or(self.options.cwd))
        {
            let place = Place {
                directory: segment.directory.as_deref(),
                workspace,
                home: self.options.home,
            };
            segment.in_workspace = workspace::in_workspace(&segment.head, &segment.args, &place);
        }
        parsed.segments.push(segment);
    }

    /// Reads the arguments and the input that the command runs as shell text.
    fn scripts(&mut self, draft: &Draft, parsed: &mut Parsed) {
        let Some((head, rest)) = draft.tokens.split_first() else {
            return;
        };
        if head.dynamic {
            return;
        }
        match basename(&head.text) {
            "eval" => self.script(&peel::join(skip_end_of_options(rest)), draft, parsed),
            "trap" => {
                if let [action, _, ..] = skip_end_of_options(rest)
                    && !action.text.starts_with('-')
                {
                    self.script(action, draft, parsed);
                }
            }
            "su" | "runuser" | "script" => {
                if let Some(script) = option_c(rest) {
                    self.script(&script, draft, parsed);
                }
            }
            "find" | "gfind" => self.find(rest, draft, parsed),
            "source" | "." if rest.first().is_some_and(|file| reads_stdin(&file.text)) => {
                self.input(draft, parsed);
            }
            name if SHELLS.contains(&name) => match shell_script(rest) {
                Script::Argument(script) => self.script(&script, draft, parsed),
                Script::Stdin => self.input(draft, parsed),
                Script::File => {}
            },
            _ => {}
        }
    }

    fn input(&mut self, draft: &Draft, parsed: &mut Parsed) {
        if let Input::Text(text) = &draft.input {
            self.script(text, draft, parsed);
        }
    }

    /// `find … -exec command {} ;` and its kin.
    fn find(&mut self, rest: &[Token], draft: &Draft, parsed: &mut Parsed) {
        let mut at = 0;
        while let Some(token) = rest.get(at) {
            at += 1;
            if !matches!(token.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
                continue;
            }
            let tail = rest.get(at..).unwrap_or_default();
            let ends = |index: &usize| {
                let text = tail.get(*index).map(|token| token.text.as_str());
                text == Some(";")
                    || (text == Some("+")
                        && index
                            .checked_sub(1)
                            .and_then(|before| tail.get(before))
                            .is_some_and(|before| before.text == "{}"))
            };
            let length = (0..tail.len()).find(ends).unwrap_or(tail.len());
            let command = tail.get(..length).unwrap_or_default();
            let bytes = command.iter().map(|token| token.text.len() + 1).sum();
            if !self.deeper(bytes, parsed) {
                return;
            }
            at += length;
            if command.is_empty() {
                continue;
            }
            let mut inner = Draft {
                tokens: command.to_vec(),
                inherited: draft.inherited.clone(),
                ..Draft::default()
            };
            for token in &mut inner.tokens {
                token.span = None;
            }
            inner.segment = Segment {
                depth: draft.segment.depth + 1,
                pipeline_start: true,
                wrappers: draft.inherited.clone(),
                directory: draft.segment.directory.clone(),
                ..Segment::default()
            };
            self.nesting += 1;
            self.peel(inner, parsed);
            self.nesting -= 1;
        }
    }

    /// `git -c alias.NAME=VALUE NAME …`: a value with `!` is shell text, another is git's.
    fn git_aliases(&mut self, scan: &peel::Scan, draft: &Draft, parsed: &mut Parsed) {
        let quote = |token: &Token| format!("'{}'", token.as_script().replace('\'', "'\\''"));
        let quoted: Vec<String> = draft.tokens.iter().skip(2).map(quote).collect();
        let arguments = quoted.join(" ");
        let subcommand = draft.tokens.get(1).map(|token| token.text.as_str()).unwrap_or_default();
        for (option, value) in &scan.options {
            let Some(value) = value.as_ref().filter(|_| option == "-c") else {
                continue;
            };
            let Some((name, text)) =
                value.text.strip_prefix("alias.").and_then(|alias| alias.split_once('='))
            else {
                continue;
            };
            let script = match text.strip_prefix('!') {
                Some(script) => format!("{script} {arguments}"),
                None if name == subcommand => format!("git {text} {arguments}"),
                None => continue,
            };
            self.script(&Token { dynamic: value.dynamic, ..Token::new(script) }, draft, parsed);
        }
    }

    /// Takes `bytes` from what may be read again and one level from the nesting.
    fn deeper(&mut self, bytes: usize, parsed: &mut Parsed) -> bool {
        let enough = bytes <= self.copies && self.nesting < MAX_NESTING;
        parsed.limited |= !enough;
        self.copies -= if enough { bytes } else { 0 };
        enough
    }

    /// Reads a script that stands in a word, one level deeper.
    fn script(&mut self, script: &Token, draft: &Draft, parsed: &mut Parsed) {
        let text = script.as_script();
        if !self.deeper(text.len() + 16, parsed) {
            return;
        }
        let home = self.options.home;
        let mut shared =
            Shared::new(Directories::new(draft.segment.directory.as_deref(), home), self.copies);
        let mut parser = Parser::new(text, &mut shared, false);
        // The values of outer variables are not those of inner ones of the same name.
        parser.scope.repeated = script.dynamic;
        parser.script();
        self.copies = shared.copies;
        parsed.limited |= shared.limited;
        let frame = Frame {
            depth: draft.segment.depth + 1,
            wrappers: draft.inherited.clone(),
            piped: !draft.segment.pipeline_start
                && !draft.inherited.iter().any(|name| name == "xargs" || name == "parallel"),
            outermost: false,
        };
        self.nesting += 1;
        self.read(&shared, &frame, parsed);
        self.nesting -= 1;
    }
}

/// True when a shell, or what works like one, would run text that is not known.
fn script_is_dynamic(draft: &Draft) -> bool {
    let Some((head, rest)) = draft.tokens.split_first() else {
        return false;
    };
    let from_input = |input: &Input| match input {
        Input::Text(text) => text.dynamic,
        Input::Unknown => true,
        Input::Elsewhere => false,
    };
    match basename(&head.text) {
        "eval" => rest.iter().any(|token| token.dynamic),
        name if SHELLS.contains(&name) => match shell_script(rest) {
            Script::Argument(script) => script.dynamic,
            Script::Stdin => from_input(&draft.input),
            Script::File => false,
        },
        _ => false,
    }
}

fn redirect(redirection: &Redirection) -> Redirect {
    Redirect { op: redirection.op.to_owned(), target: redirection.target.text() }
}

/// The name and value of an assignment word.
fn assignment(word: &Word) -> Option<Assignment> {
    let spelled = words::concat(word.parts.get(..word.value_from?)?);
    let name = spelled.trim_end_matches('=').trim_end_matches('+').to_owned();
    Some(Assignment { name, value: words::concat(word.value()?) })
}
/// The command of `${NAME:-command}`, which runs where the variable is not set (POSIX XCU 2.6.2); any
/// other word is itself.
fn fallback(word: &str) -> &str {
    let command = || {
        let inner = word.strip_prefix("${")?.strip_suffix('}')?;
        let rest = inner.get(words::identifier(inner)..)?;
        let rest = rest.strip_prefix(':').unwrap_or(rest);
        rest.strip_prefix(['-', '='])?.split_whitespace().next()
    };
    command().unwrap_or(word)
}
