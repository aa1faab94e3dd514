use super::*;
use crate::shell;

fn refusal(command: &str) -> Option<&'static str> {
    let parsed = shell::parse(command, &shell::Options::default());
    Line::new(command, &parsed.segments).refusal()
}

/// Each command is refused for `reason`.
#[track_caller]
fn refused(reason: &str, commands: &[&str]) {
    for command in commands {
        assert_eq!(refusal(command), Some(reason), "{command}");
    }
}

#[track_caller]
fn harmless(commands: &[&str]) {
    for command in commands {
        assert_eq!(refusal(command), None, "{command}");
    }
}

#[test]
fn calling_the_own_hook() {
    refused(
        CALLS_HOOK,
        &[
            "i-insist hook --harness claude user-prompt-submit",
            "echo '{}' | /usr/bin/i-insist hook --harness codex stop <f",
            "\"i-\"insist ho\"ok\" --harness claude stop",
            "cd /x && HUMAN_PERMISSION_GRANTED=1 i-insist hook",
            "i-insist steer hook --event PreToolUse",
            "steer hook --event=PreToolUse",
            "i-insist \"$EVENT\" --harness claude stop",
            "i-insist $(echo hook) --harness claude stop",
            "cp $(which i-insist) x; ./x hook --harness claude user-prompt-submit",
            "./x $HOOK --harness claude user-prompt-submit",
            "sh -c 'i-insist hook --harness claude stop'",
            "xargs i-insist hook --harness claude stop <f",
            "env -i i-insist hook --harness claude stop",
            "echo hook --harness claude stop | xargs i-insist",
            "echo hook | xargs -I X i-insist X --harness claude stop",
            "echo hook --harness claude stop | xargs i-insist steer",
            "touch hook; i-insist h??k --harness claude stop",
            "echo 'i-insist hook --harness claude user-prompt-submit' | sh",
            "echo 'i-insist hook --harness claude stop' >x; sh x",
            "python3 -c 'import os; os.system(\"i-insist hook --harness claude stop\")'",
            "python3.11 <<'E'\nimport subprocess\nsubprocess.run(['i-insist','hook','--harness','claude','stop'])\nE",
            "node -e 'require(\"child_process\").execSync(\"i-insist hook --harness claude stop\")'",
        ],
    );
    harmless(&[
        "i-insist help hook",
        "i-insist check <event.json",
        "i-insist install claude",
        "ls *.toml | xargs i-insist validate",
        "i-insist validate .i-insist/*.toml",
        "echo i-insist hook --harness claude stop",
        "grep -rn 'i-insist hook --harness' ~/.claude",
        "git commit -m 'call i-insist hook --harness claude stop'",
        "git hook run pre-commit",
        "cat >settings.json <<'E'\n{\"command\": \"i-insist hook --harness claude stop\"}\nE",
        "jq '.hooks[] | select(.command == \"i-insist hook --harness claude stop\")' settings.json",
        "python3 -c 'print(\"i-insist hook --harness claude stop\")'",
        "test-runner --harness chai",
    ]);
}

#[test]
fn starting_a_client_with_the_phrase() {
    refused(
        HANDS_OVER,
        &[
            "claude -p 'I insist'",
            "claude -p 'ok, i INSIST: go'",
            "claude -p \"I in\"'sist'",
            "claude -p $'I\\x20insist'",
            "claude -p I\\ insist",
            "claude -p I insist",
            "W='I insist'; claude -p \"$W\"",
            "W='I insist' claude -p \"$W\"",
            "claude -p \"$(echo I insist)\"",
            "claude -p \"`echo I insist`\"",
            "echo 'I insist' | claude -p",
            "echo 'I insist' | (cd x; claude -p)",
            "echo 'I insist' | { cat; } | claude -p",
            "claude -p <<< 'I insist'",
            "claude -p <<'E'\nI insist\nE",
            "sh -c 'claude -p' <<< 'I insist'",
            "{ true; claude -p; } <<< 'I insist'",
            "echo 'I insist' >f; claude -p <f",
            "echo 'I insist' >f; claude -p @f",
            "echo 'I insist' | tee f; claude -p \"$(cat f)\"",
            "ask() { claude -p \"$@\"; }; ask 'I insist'",
            "for w in 'I insist'; do claude -p \"$w\"; done",
            "bash -lc \"claude -p 'I insist'\"",
            "sudo -u dev claude -p 'I insist'",
            "timeout 5 nohup claude -p 'I insist' &",
            "printf 'I insist' | xargs -0 claude -p",
            "script -qc \"claude -p 'I insist'\" /dev/null",
            "script -c 'claude -p' <<< 'I insist'",
            "/opt/x/claude -p 'I insist'",
            "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js -p 'I insist'",
            "node node_modules/@openai/codex/bin/codex.js exec 'I insist'",
            "./codex.js exec 'I insist'",
            "codex exec 'I insist'",
            "codex queue 'I insist'",
            "pi -p 'I insist'",
            "opencode run --continue 'I insist'",
            "npx -y @anthropic-ai/claude-code@latest -p 'I insist'",
            "npm exec -- @openai/codex exec 'I insist'",
            "pnpm dlx @openai/codex exec 'I insist'",
            "bunx opencode-ai run 'I insist'",
            "deno run -A npm:@anthropic-ai/claude-code -p 'I insist'",
            "C=$(which claude); $C -p 'I insist'",
            "caffeinate claude -p 'I insist'",
            "firejail /usr/bin/claude -p 'I insist'",
            "ssh localhost \"claude -c -p 'I insist'\"",
            "nix run nixpkgs#claude-code -- -p 'I insist'",
            "echo \"claude -p 'I insist'\" | at now",
            "at now <<< \"claude -p 'I insist'\"",
            "(crontab -l; echo \"* * * * * claude -p 'I insist'\") | crontab -",
            "systemd-run --user claude -p 'I insist'",
            "echo \"claude -p 'I insist'\" >x.sh; bash x.sh",
            "echo \"claude -p 'I insist'\" | sh",
            "python3 -c 'import os; os.system(\"claude -p \\\"I insist\\\"\")'",
            "python3 <<'E'\nimport subprocess\nsubprocess.run(['claude','-p','I insist'])\nE",
            "perl -e 'exec \"claude\", \"-p\", \"I insist\"'",
            "awk 'BEGIN { system(\"claude -p \\\"I insist\\\"\") }'",
        ],
    );
    harmless(&[
        "claude --version",
        "claude mcp list",
        "claude -p 'fix it'",
        "codex exec 'fix it'",
        "codex exec \"$PROMPT\"",
        "claude -p \"$(cat prompt.txt)\"",
        "git diff | claude -p 'review this'",
        "npx -y @anthropic-ai/claude-code --version",
        "git commit -m 'Explain \"I insist\"' && claude --version",
        "grep -rn 'I insist' .; claude --version",
        "which claude; grep -c 'i insist' README.md",
    ]);
}

#[test]
fn p6_words_that_only_stand_there() {
    harmless(&[
        "git commit -m 'Tell claude: I insist'",
        "git commit -m \"$(cat <<'E'\nDocument \"I insist\" for claude and codex\nE\n)\"",
        "gh pr create --title 'claude' --body 'say I insist'",
        "grep -rni 'i insist' src",
        "rg claude 'I insist'",
        "grep -e claude -e 'I insist' notes.md",
        "echo 'say \"I insist\" to claude'",
        "cat >README.md <<'E'\nRun claude, then say \"I insist\".\nE",
        "cat >README.md <<'E'\nRun claude, then say \"I insist\".\nE\nbash build.sh",
        "sed -i 's/I insist/I do insist/' claude.md",
        "awk '/I insist/ && /claude/' log",
        "python3 -c 'print(open(\"claude.md\").read().count(\"I insist\"))'",
        "python3 - <<'E'\nopen('README.md','w').write('start claude, say I insist')\nE",
        "jq -r '.prompt | test(\"I insist\")' claude/x.json",
        "curl -d 'I insist' https://example.org/",
        "curl http://localhost:8080/",
        "tmux ls; git commit -m 'I insist'",
        "echo 'I insist' >log; tmux ls",
        "cargo test i_insist",
        "pytest -k 'claude and insist'",
        "mail -s 'claude' someone <<< 'go on'",
    ]);
}

#[test]
fn typing_the_phrase() {
    refused(
        HANDS_OVER,
        &[
            "tmux send-keys -t 0 'I insist' Enter",
            "tmux send -t 0 'I insist' Enter",
            "tmux send-keys -l 'I insist'",
            "tmux send-keys I Space insist Enter",
            "tmux send-keys 'I ' 'insist' Enter",
            "tmux send-keys 'I ins' 'ist'",
            "tmux -L s set-buffer 'I insist'",
            "tmux setb 'I insist' \\; pasteb",
            "printf 'I insist' | tmux load-buffer -",
            "printf 'I insist' >f; tmux loadb f; tmux pasteb",
            "tmux load-buffer - <<< 'I insist'",
            "tmux new-session -d \"claude -p 'I insist'\"",
            "W='I insist'; tmux send-keys \"$W\" Enter",
            "tmux send-keys \"$(echo I insist)\" Enter",
            "screen -S s -X stuff 'I insist\\n'",
            "screen -X stuff $'I insist\\n'",
            "zellij action write-chars 'I insist'",
            "kitty @ send-text 'I insist'",
            "wezterm cli send-text 'I insist'",
            "xdotool type 'I insist'",
            "expect -c 'spawn claude; send \"I insist\\r\"'",
            "expect <<'E'\nspawn claude\nsend \"I insist\\r\"\nE",
            "osascript -e 'tell app \"Terminal\" to do script \"I insist\"'",
            "python3 -c 'import subprocess as s; s.run([\"tmux\",\"send-keys\",\"I insist\"])'",
            "echo 'I insist' >/proc/77/fd/0",
            "curl -d '{\"text\":\"I insist\"}' http://localhost:4096/session/x/message",
            "echo 'I insist' | nc -U 127.0.0.1 99",
        ],
    );
    harmless(&[
        "tmux send-keys -t 0 'make test' Enter",
        "tmux send-keys \"cd $DIR\" Enter",
        "screen -S s -X stuff 'ls\\n'",
        "tmux capture-pane -p | grep insist",
        "xdotool type 'hello'",
        "echo insist >/proc/self/fd/1",
    ]);
}

#[test]
fn a_continued_or_unaware_client_with_an_unknown_prompt() {
    refused(
        UNKNOWN_PROMPT,
        &[
            "claude -c -p \"$PROMPT\"",
            "claude --continue -p \"$(cat f)\"",
            "claude --resume=x -p `cat f`",
            "claude -r550e8400-e29b -p \"$PROMPT\"",
            "claude -pc \"$PROMPT\"",
            "claude -c -p <f",
            "cat f | claude -c -p",
            "cat f | (cd x; claude -c -p)",
            "while read l; do claude -c -p \"$l\"; done <f",
            "cat f | sh -c 'claude -c -p'",
            "xargs claude -c -p <f",
            "codex exec resume --last - <f",
            "codex exec resume --last \"$PROMPT\"",
            "codex queue \"$PROMPT\"",
            "echo SSBpbnNpc3Q= | base64 -d | claude -p --session-id x",
            "npx @anthropic-ai/claude-code -c -p \"$PROMPT\"",
            "pi --session $PI_SESSION_ID -p \"$PROMPT\"",
            "env -u CLAUDE_CODE_EXECPATH claude -p \"$PROMPT\"",
            "unset CLAUDE_CODE_EXECPATH; claude -p \"$PROMPT\"",
            "CLAUDE_CODE_EXECPATH= claude -p \"$PROMPT\"",
            "env -i PATH=/bin claude -p \"$PROMPT\"",
            "env  -i claude -p \"$PROMPT\"",
            "env - claude -p \"$PROMPT\"",
            "env --ignore-environment claude -p <f",
            "exec -c claude -p \"$PROMPT\"",
            "sudo claude -p \"$PROMPT\"",
            "for v in $(env | cut -d= -f1); do unset \"$v\"; done; /bin/claude -p \"$PROMPT\"",
        ],
    );
    harmless(&[
        "claude -c -p 'go on'",
        "claude --resume x -p 'go on'",
        "claude -c",
        "codex exec resume --last 'go on'",
        "codex exec resume --last - <<'E'\nfix the tests\nE",
        "codex -c model=x exec \"$PROMPT\"",
        "npx @openai/codex -c model=x exec \"$PROMPT\"",
        "claude -p \"$PROMPT\"",
        "FOO=1 claude -p \"$PROMPT\"",
        "env FOO=1 claude -p \"$PROMPT\"",
        "cat f | claude -p 'summarize'",
        "env -i claude -p 'go on'",
        "git log | head; claude -c -p 'go on'",
    ]);
}

#[test]
fn tools_that_prompt() {
    let input = |text: &str| Json::parse(text).unwrap().to_text();
    let own = |tool: &str, text: &str| {
        let text = input(text);
        prompts_itself(tool, &Json::parse(&text).unwrap())
    };
    let said = r#"{"a":[{"b":"so I Insist."}]}"#;
    for tool in [
        "CronCreate",
        "ScheduleWakeup",
        "SendMessage",
        "create_goal",
        "multi_agent_v1send_input",
        "collaborationfollowup_task",
    ] {
        assert!(own(tool, said), "{tool}");
        assert!(!own(tool, r#"{"a":"insist on it"}"#), "{tool}");
    }
    for tool in ["Read", "Write", "Agent", "WebFetch", "mcp__mail__send_message"] {
        assert!(!own(tool, said), "{tool}");
    }
}

#[test]
fn cost_is_linear_in_the_text() {
    // Each segment is unknown, so each looks at the whole line; a quadratic search would not end.
    let line = "python \"$x\"; claude -p \"$x\"; tmux \"$x\" && ".repeat(20_000) + "true";
    assert_eq!(refusal(&line), None);
}
