//! What steer's users were promised, sentence by sentence, each as a test of that name; then the
//! corner cases of its built-in rules, and the weaknesses that are not ours.
#![expect(clippy::unwrap_used, reason = "a failure to set up is a failed test")]

#[expect(dead_code, reason = "each test target uses a part")]
mod support;

use std::fs;
use support::{Outcome, Place, object, quoted};

/// A project whose `.steer.toml` is this, with a `trash` on PATH.
fn with(rules: &str) -> Place {
    let place = Place::new().program("bin/trash", "#!/bin/sh\n");
    let path = format!("{}:{}", place.at("bin").display(), std::env::var("PATH").unwrap());
    place.variable("PATH", &path).project(".steer.toml", rules)
}

/// A rule named `name` that matches one segment by `conditions` and denies.
fn deny(name: &str, conditions: &str) -> String {
    acting(
        name,
        &format!("any = \"parsed.segments\"\n{conditions}"),
        &format!("kind = \"deny\"\nmessage = \"by {name}\""),
    )
}

fn acting(name: &str, block: &str, action: &str) -> String {
    format!("[[rules]]\nname = \"{name}\"\n[[rules.match]]\n{block}\n[rules.action]\n{action}\n")
}

/// The answers of `steer check --batch` to each command, as lines of JSON.
fn answers(place: &Place, commands: &[&str]) -> Vec<String> {
    let lines: Vec<String> = commands.iter().map(|command| quoted(command)).collect();
    let outcome = place.run(&["steer", "check", "--batch"], lines.join("\n"));
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""), "{outcome:?}");
    let answers: Vec<String> = outcome.stdout.lines().map(str::to_owned).collect();
    assert_eq!(answers.len(), commands.len());
    answers
}

/// Every answer holds `part`.
#[track_caller]
fn all_show(place: &Place, part: &str, commands: &[&str]) {
    for (command, answer) in commands.iter().zip(answers(place, commands)) {
        assert!(answer.contains(part), "{command:?} does not show {part:?}: {answer}");
    }
}

#[track_caller]
fn denied(place: &Place, commands: &[&str]) {
    all_show(place, r#""outcome":"deny""#, commands);
}

#[track_caller]
fn allowed(place: &Place, commands: &[&str]) {
    all_show(place, r#""outcome":"allow""#, commands);
}

/// Each command, with the command that runs instead.
#[track_caller]
fn rewritten(place: &Place, cases: &[(&str, &str)]) {
    let commands: Vec<&str> = cases.iter().map(|(before, _)| *before).collect();
    for ((before, after), answer) in cases.iter().zip(answers(place, &commands)) {
        let expected = format!(r#""rewrite":{}"#, quoted(after));
        assert!(answer.contains(&expected), "{before:?}: {answer}");
    }
}

/// The segments of a command as `head args…`, with what else is asked for.
fn segments(place: &Place, command: &str) -> Vec<String> {
    let outcome = place.run(&["steer", "check", "--", command], "");
    let lines = outcome.stdout.lines().filter_map(|line| line.strip_prefix("  head="));
    lines.map(str::to_owned).collect()
}

fn hook(place: &Place, tool: &str, input: &[(&str, &str)]) -> Outcome {
    let payload = place.call(tool, &object(input));
    place.run(&["steer", "hook", "--event", "PreToolUse"], payload)
}

fn hook_bash(place: &Place, command: &str) -> Outcome {
    hook(place, "Bash", &[("command", command)])
}

fn after(place: &Place, command: &str) -> Outcome {
    let more = format!(
        r#""tool_name":"Bash","tool_input":{},"tool_response":{{"stdout":""}}"#,
        object(&[("command", command)])
    );
    let payload = place.payload("PostToolUse", "prompt-1", &more);
    place.run(&["steer", "hook", "--event=PostToolUse"], payload)
}

const ZAP: &str = "head = { any_of = [\"zap\"] }";
const CONTEXT: &str = "kind = \"context\"\nmessage = \"mind the gap\"";

// What it does with a call.

#[test]
fn it_denies_with_guidance_the_model_reads() {
    hook_bash(&with(&deny("a", ZAP)), "zap").denies_with(&[r#""permissionDecisionReason":"by a""#]);
}

#[test]
fn it_rewrites_its_input_in_place() {
    let outcome = hook(
        &with(""),
        "Bash",
        &[("description", "clean"), ("command", "cd build && rm -rf dist"), ("timeout", "9")],
    );
    outcome.shows(&[
        r#""updatedInput":{"description":"clean","command":"cd build && trash dist","timeout":"9"}"#,
    ]);
    assert!(!outcome.stdout.contains("permissionDecision"));
}

#[test]
fn it_lets_it_through_with_context_attached() {
    let place = with(&acting("a", &format!("any = \"parsed.segments\"\n{ZAP}"), CONTEXT));
    hook_bash(&place, "zap").is(
        0,
        "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"additionalContext\":\"mind the gap\"}}",
        "",
    );
}

#[test]
fn check_prints_command_segments_matched_action_and_rewrite() {
    let outcome = with("").run(&["steer", "check", "cd build && rm -rf dist"], "");
    outcome.is(
        0,
        "command  cd build && rm -rf dist
segments
  head=cd args=[\"build\"] pipeline_start=true in_workspace=true depth=0
  head=rm args=[\"-rf\", \"dist\"] pipeline_start=true in_workspace=true depth=0
matched  trash-over-rm
action   rewrite
rewrite  cd build && trash dist
message
  rm became trash, so that the files can still be brought back.
",
        "",
    );
}

#[test]
fn check_exits_1_when_the_command_would_be_denied() {
    let place = with("");
    let status = |arguments: &[&str]| place.run(arguments, "").status;
    assert_eq!(status(&["steer", "check", "grep x ."]), Some(1));
    assert_eq!(status(&["steer", "check", "grep", "x", "."]), Some(1));
    assert_eq!(status(&["steer", "check", "ls"]), Some(0));
    assert_eq!(status(&["steer", "check", "rm x"]), Some(0));
    assert_eq!(status(&["steer", "check"]), Some(2));
    assert_eq!(status(&["steer"]), Some(2));
    assert_eq!(status(&["steer", "chek", "ls"]), Some(2));
}

// Where rules come from.

#[test]
fn no_config_file_is_needed() {
    hook_bash(&Place::new(), "grep x .").denies_with(&["fff tools"]);
    hook_bash(&Place::new(), "ls").passes();
}

#[test]
fn the_built_in_rules_are_on_in_steers_spelling_and_where_a_steer_file_is() {
    // In guard spelling nothing is on that nobody asked for.
    Place::new().bash("grep x .").passes();
    Place::new().project(".steer.toml", "").bash("grep x .").denies_with(&["fff tools"]);
}

#[test]
fn the_base_honors_xdg_config_home() {
    let base = deny("a", ZAP);
    let at = |path: &str| Place::new().home(path, &base);
    hook_bash(&at(".config/steer/config.toml"), "zap").denies_with(&["by a"]);
    let place = at("elsewhere/steer/config.toml");
    let elsewhere = place.at("elsewhere").display().to_string();
    hook_bash(&place.variable("XDG_CONFIG_HOME", &elsewhere), "zap").denies_with(&["by a"]);
    // Empty is as good as not set.
    let place = at(".config/steer/config.toml").variable("XDG_CONFIG_HOME", "");
    hook_bash(&place, "zap").denies_with(&["by a"]);
    let place = at("elsewhere/steer/config.toml");
    hook_bash(&place, "zap").passes();
}

#[test]
fn steer_toml_is_found_by_walking_up_from_the_sessions_working_directory() {
    let place = Place::new().home(".steer.toml", deny("a", ZAP));
    hook_bash(&place, "zap").denies_with(&["by a"]);
    // The nearest alone counts; a directory of that name is passed over.
    let place = place.project(".steer.toml", deny("b", "head = { any_of = [\"zip\"] }"));
    hook_bash(&place, "zap").passes();
    hook_bash(&place, "zip").denies_with(&["by b"]);
    let place = Place::new().home(".steer.toml", deny("a", ZAP)).project(".steer.toml/x", "");
    hook_bash(&place, "zap").denies_with(&["by a"]);
}

#[test]
fn a_later_source_replaces_an_earlier_rule_of_the_same_name() {
    let place = with(&deny("same", "head = { any_of = [\"zip\"] }"))
        .home(".config/steer/config.toml", deny("same", ZAP));
    hook_bash(&place, "zap").passes();
    hook_bash(&place, "zip").denies_with(&["by same"]);
    let place = with(&deny("fff-over-grep", ZAP));
    allowed(&place, &["grep x ."]);
    denied(&place, &["zap"]);
}

#[test]
fn disable_switches_one_off_wherever_it_came_from() {
    allowed(&with("disable = [\"fff-over-grep\"]"), &["grep x ."]);
    denied(&with("disable = [\"fff-over-grep\"]"), &["sed -n 1p x", "python3 -"]);
    let own = format!("disable = [\"a\"]\n{}", deny("a", ZAP));
    allowed(&with(&own), &["zap"]);
    // The base switches off what the repository defines, and the other way round.
    let place = with(&deny("a", ZAP)).home(".config/steer/config.toml", "disable = [\"a\"]");
    allowed(&place, &["zap"]);
    let place = with("disable = [\"a\"]").home(".config/steer/config.toml", deny("a", ZAP));
    allowed(&place, &["zap"]);
    // A name that nothing has does no harm.
    denied(&with("disable = [\"nothing\"]"), &["grep x ."]);
}

#[test]
fn a_context_rule_beside_an_inherited_deny_still_denies() {
    let soft = acting("soft", &format!("any = \"parsed.segments\"\n{ZAP}"), CONTEXT);
    let place = with(&soft).home(".config/steer/config.toml", deny("hard", ZAP));
    hook_bash(&place, "zap").denies("by hard\n\nmind the gap");
}

#[test]
fn the_strongest_action_wins_deny_over_rewrite_over_context() {
    let soft = acting("soft", "any = \"parsed.segments\"\nhead = { any_of = [\"rm\"] }", CONTEXT);
    let place = with(&soft);
    hook_bash(&place, "rm x").shows(&[
        r#""updatedInput":{"command":"trash x"}"#,
        "rm became trash, so that the files can still be brought back.\\n\\nmind the gap",
    ]);
    let place = with(&(soft + &deny("hard", "head = { any_of = [\"rm\"] }")));
    let outcome = hook_bash(&place, "rm x");
    outcome.denies_with(&["by hard\\n\\nrm became trash", "mind the gap"]);
    assert!(!outcome.stdout.contains("updatedInput"));
}

#[test]
fn reasons_are_concatenated_so_file_order_never_changes_the_outcome() {
    let (a, b) = (deny("a", ZAP), deny("b", "args = { any_of = [\"x\"] }"));
    hook_bash(&with(&(a.clone() + &b)), "zap x").denies("by a\n\nby b");
    hook_bash(&with(&(b + &a)), "zap x").denies("by b\n\nby a");
}

#[test]
fn validate_reports_unknown_fields_bad_globs_and_regexes_duplicates_and_empty_disables() {
    let place = with(
        "disable = [\"nothing\"]\n[[rules]]\nname = \"a\"\n[[rules.match]]\nx = { glob = [\"[\"], matches = '(' }\n\
         [rules.action]\nkind = \"deny\"\nmesage = \"m\"\n[[rules]]\nname = \"a\"\n[[rules.match]]\nx = { is = true }\n\
         [rules.action]\nkind = \"deny\"\nmessage = \"m\"\n",
    );
    let outcome = place.run(&["steer", "validate"], "");
    outcome.shows(&[
        ".steer.toml:5:",
        ".steer.toml:8:1: unknown field `mesage`, did you mean `message`?",
        ".steer.toml:10:8: `name` `a` is taken by the rule in line 2",
    ]);
    assert_eq!(outcome.status, Some(1));
    let outcome = with("disable = [\"nothing\"]\n").run(&["steer", "validate"], "");
    outcome.shows(&[".steer.toml:1:12: `disable` names `nothing`, and no rule has that name"]);
    assert_eq!(outcome.status, Some(1));
    let outcome = with(&deny("a", ZAP)).run(&["steer", "validate"], "");
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
}

#[test]
fn post_tool_use_accepts_only_context_rules() {
    let rules =
        deny("hard", ZAP) + &acting("soft", &format!("any = \"parsed.segments\"\n{ZAP}"), CONTEXT);
    let outcome = after(&with(&rules), "zap");
    outcome.is(
        0,
        "{\"hookSpecificOutput\":{\"hookEventName\":\"PostToolUse\",\"additionalContext\":\"mind the gap\"}}",
        "",
    );
    after(&with(""), "rm -rf x").passes();
    let late = deny("late", ZAP).replace("name = \"late\"", "name = \"late\"\nphase = \"post\"");
    with(&late).run(&["steer", "validate"], "").shows(&["`deny` comes too late in phase `post`"]);
}

// Rules.

#[test]
fn the_complete_rule_ready_to_copy() {
    let place = with(
        r#"
[[rules]]
name = "no-curl"
description = "Network fetches go through the WebFetch tool."
tool = "Bash"

[[rules.match]]
any = "parsed.segments"
head = { any_of = ["curl", "wget"] }
pipeline_start = { is = true }
args = { none_glob = ["http://localhost*", "http://127.0.0.1*"] }

[rules.action]
kind = "deny"
message = "Use WebFetch — it renders the page and stays in the transcript."
"#,
    );
    denied(&place, &["curl https://x.org", "sudo wget x", "a; curl x"]);
    allowed(
        &place,
        &[
            "curl http://localhost:80/x",
            "curl -s http://127.0.0.1",
            // One segment has the head, another the place in the pipeline.
            "gh pr list | curl -X POST",
            "echo curl x",
        ],
    );
}

#[test]
fn tool_gates_on_the_exact_tool_name_leave_it_out_and_the_rule_sees_every_tool() {
    let rule =
        acting("a", "file_path = { glob = [\"*.env\"] }", "kind = \"deny\"\nmessage = \"m\"");
    let gated = rule.replace("name = \"a\"", "name = \"a\"\ntool = \"Read\"");
    let input = [("file_path", "/x/.env")];
    hook(&with(&rule), "Read", &input).denies("m");
    hook(&with(&rule), "Grep", &input).denies("m");
    hook(&with(&gated), "Read", &input).denies("m");
    hook(&with(&gated), "Grep", &input).passes();
    hook(&with(&gated), "read", &input).passes();
    hook(&with(&gated), "ReadMore", &input).passes();
}

#[test]
fn a_rule_fires_when_any_of_its_match_blocks_holds() {
    let two = deny(
        "a",
        &format!(
            "{ZAP}\n[[rules.match]]\nany = \"parsed.segments\"\nhead = {{ any_of = [\"zip\"] }}"
        ),
    );
    denied(&with(&two), &["zap", "zip", "zip; zap"]);
    allowed(&with(&two), &["zop"]);
}

#[test]
fn a_block_holds_when_every_condition_in_it_holds_against_one_binding() {
    let place = with(&deny("a", &format!("{ZAP}\nargs = {{ any_of = [\"x\"] }}")));
    denied(&place, &["zap x", "ls; zap x"]);
    allowed(&place, &["zap y; zip x", "zap | zip x"]);
}

#[test]
fn every_payload_carries_tool_name_plus_the_tools_own_input_fields() {
    let rule = acting(
        "a",
        "tool_name = { any_of = [\"Read\"] }\nfile_path = { glob = [\"*/secret\"] }",
        "kind = \"deny\"\nmessage = \"m\"",
    );
    hook(&with(&rule), "Read", &[("file_path", "/x/secret")]).denies("m");
    hook(&with(&rule), "Read", &[("file_path", "/x/open")]).passes();
    // An input of that name is not the tool's.
    let forged = [("file_path", "/x/secret"), ("tool_name", "Read")];
    hook(&with(&rule), "Grep", &forged).passes();
    let rule = acting("a", "command = { glob = [\"zap *\"] }", "kind = \"deny\"\nmessage = \"m\"");
    hook_bash(&with(&rule), "zap x").denies("m");
}

// Segments.

#[test]
fn head_is_the_basename_so_usr_bin_grep_and_grep_compare_equal() {
    denied(&with(""), &["/usr/bin/grep x .", "grep x ."]);
    assert_eq!(segments(&with(""), "/usr/bin/grep x")[0].split(' ').next(), Some("grep"));
}

#[test]
fn args_are_unquoted_with_redirection_targets_removed() {
    let shown = segments(&with(""), "zap 'a b' \"c\"d e\\ f >out 2>&1 <in g");
    assert!(shown[0].starts_with(r#"zap args=["a b", "cd", "e f", "g"] "#), "{shown:?}");
}

#[test]
fn semicolons_and_or_and_newlines_start_a_new_segment_a_pipe_only_advances_the_stage() {
    for separator in [";", "&&", "||", "\n", "&"] {
        let shown = segments(&with(""), &format!("a {separator} zap"));
        assert!(shown[1].contains("pipeline_start=true"), "{separator}: {shown:?}");
    }
    for separator in ["|", "|&", "|\n"] {
        let shown = segments(&with(""), &format!("a {separator} zap"));
        assert!(shown[1].contains("pipeline_start=false"), "{separator}: {shown:?}");
    }
}

#[test]
fn peeled_as_wrappers_are_assignments_env_sudo_time_nice_command_xargs_timeout_and_keywords() {
    let place = with(&deny("a", ZAP));
    denied(
        &place,
        &[
            "X=1 zap",
            "env zap",
            "env -u X Y=1 zap",
            "sudo -u me zap",
            "time zap",
            "nice -n 5 zap",
            "command zap",
            "ls | xargs -n 1 zap",
            "timeout 5 zap",
            "timeout -k 1 5 zap",
            "if zap; then :; fi",
            "if :; then zap; fi",
            "if :; then :; elif zap; then :; fi",
            "if :; then :; else zap; fi",
            "while zap; do :; done",
            "until zap; do :; done",
            "while :; do zap; done",
            "! zap",
            "X=1 sudo env Y=2 nice timeout 3 zap",
        ],
    );
    allowed(
        &place,
        &[
            "echo env zap",
            "sudo -u zap ls",
            "timeout 5 ls zap",
            "env X=zap ls",
            "X=zap",
            "echo 'if zap; then :; fi'",
            "nice ls zap",
        ],
    );
}

#[test]
fn wrappers_tell_what_was_peeled() {
    let shown = segments(&with(""), "X=1 sudo /usr/bin/env Y=2 zap");
    assert!(shown[0].ends_with(r#"wrappers=["X=1", "sudo", "env", "Y=2"]"#), "{shown:?}");
    assert!(!segments(&with(""), "zap")[0].contains("wrappers"));
}

#[test]
fn an_assignment_is_peeled_only_when_the_name_is_a_shell_identifier() {
    let shown = segments(&with(""), "grep --include=\"*.go\" x | cat");
    assert!(shown[0].starts_with(r#"grep args=["--include=*.go", "x"]"#), "{shown:?}");
    let shown = segments(&with(""), "--include=x zap");
    assert!(shown[0].starts_with(r#"--include=x args=["zap"]"#), "{shown:?}");
}

#[test]
fn bash_c_and_substitutions_re_enter_the_lexer_on_their_script() {
    let place = with(&deny("a", ZAP));
    denied(
        &place,
        &["bash -c 'zap x'", "sh -c \"zap\"", "echo $(zap)", "echo \"$(ls; zap)\"", "echo `zap`"],
    );
    allowed(&place, &["echo 'bash -c zap'", "echo '$(zap)'", "bash zap", "bash -c 'echo zap'"]);
    let shown = segments(&with(""), "bash -c 'a $(b)'");
    let depths: Vec<&str> = shown.iter().filter_map(|line| line.split("depth=").nth(1)).collect();
    assert_eq!(depths, ["0", "1", "2"]);
}

#[test]
fn git_keeps_its_head_but_loses_its_own_leading_options_so_args_0_is_always_the_subcommand() {
    let place =
        with(&deny("a", "head = { any_of = [\"git\"] }\n\"args.0\" = { any_of = [\"push\"] }"));
    denied(
        &place,
        &[
            "git push",
            "git -C /x push",
            "git -c a=b push",
            "git --git-dir=/x --work-tree y push",
            "git -p push",
        ],
    );
    allowed(&place, &["git commit -m push", "git -C push status", "git status push"]);
}

#[test]
fn heredoc_bodies_are_data_and_produce_no_segments_at_all() {
    let place = with(&deny("a", ZAP));
    allowed(
        &place,
        &["cat <<E\nzap\nE", "cat <<'E' > f\nzap; $(zap)\nE", "cat <<-E\n\tzap\n\tE\nls"],
    );
    denied(&place, &["cat <<E\nx\nE\nzap", "cat <<E && zap\nx\nE", "bash <<E\nzap\nE"]);
}

#[test]
fn in_workspace_is_about_where_an_argument_lands_not_how_it_is_spelled() {
    let place = with(&deny("a", &format!("{ZAP}\nin_workspace = {{ is = true }}")));
    let inside = place.in_project("src");
    let home = place.at("project/src").display().to_string();
    let tilde = "zap ~/project/src";
    denied(
        &place,
        &[
            "zap src/x",
            "zap .",
            "zap ./a/../b",
            &format!("zap {inside}"),
            &format!("zap {home}/../x"),
            tilde,
            // Any that lands there, or no path at all.
            "zap /etc ./x",
            "zap",
            "zap word",
            "zap -n",
        ],
    );
    allowed(
        &place,
        &["zap ..", "zap /etc/hosts", "zap ../other", "zap ~", "zap ~/other", "cd /etc && zap"],
    );
}

#[test]
fn an_argument_with_glob_or_regex_characters_is_what_the_command_is_looking_for() {
    let place = with(&deny("a", &format!("{ZAP}\nin_workspace = {{ is = true }}")));
    denied(&place, &["zap '/api/(v1|v2)'", "zap '/x/[a-z]'", "zap '^/etc'", "zap '/etc/*' ./src"]);
    allowed(&place, &["zap '/api/(v1|v2)' /etc"]);
}

#[test]
fn in_workspace_is_absent_when_the_payload_carries_no_working_directory() {
    let place = with("");
    let payload = r#"{"tool_name":"Bash","tool_input":{"command":"grep x ."}}"#;
    place.run(&["steer", "hook", "--event", "PreToolUse"], payload).passes();
    hook_bash(&place, "grep x .").denies_with(&["fff"]);
    // What asks for no workspace holds as ever.
    let payload = r#"{"tool_name":"Bash","tool_input":{"command":"sed -n 1p x"}}"#;
    place.run(&["steer", "hook", "--event", "PreToolUse"], payload).denies_with(&["Read tool"]);
}

// Conditions.

#[test]
fn a_condition_key_is_a_dotted_path_and_numeric_parts_index_arrays() {
    let place = with(&deny("a", "\"args.1\" = { any_of = [\"x\"] }"));
    denied(&place, &["zap a x"]);
    allowed(&place, &["zap x a", "zap x"]);
    let rule =
        acting("a", "\"edits.0.new\" = { any_of = [\"x\"] }", "kind = \"deny\"\nmessage = \"m\"");
    let payload = |input| {
        with(&rule)
            .run(&["steer", "hook", "--event", "PreToolUse"], with(&rule).call("mcp__a__b", input))
    };
    payload(r#"{"edits":[{"new":"x"},{"new":"y"}]}"#).denies("m");
    payload(r#"{"edits":[{"new":"y"},{"new":"x"}]}"#).passes();
    payload(r#"{"edits":{"0":{"new":"x"}}}"#).passes();
}

#[test]
fn a_block_binds_to_the_whole_document_unless_it_names_an_array() {
    let rule = |binding: &str| {
        acting(
            "a",
            &format!("{binding}\"x\" = {{ any_of = [\"1\"] }}"),
            "kind = \"deny\"\nmessage = \"m\"",
        )
    };
    let judge = |binding: &str, input: &str| {
        let place = with(&rule(binding));
        let outcome =
            place.run(&["steer", "hook", "--event", "PreToolUse"], place.call("mcp__a__b", input));
        !outcome.stdout.is_empty()
    };
    let (none, any, all) = ("", "any = \"list\"\n", "all = \"list\"\n");
    let mixed = r#"{"list":[{"x":"1"},{"x":"2"}]}"#;
    let same = r#"{"list":[{"x":"1"},{"x":"1"}]}"#;
    assert!(judge(none, r#"{"x":"1"}"#) && !judge(none, mixed));
    assert!(judge(any, mixed) && judge(any, same) && !judge(any, r#"{"x":"1"}"#));
    assert!(!judge(all, mixed) && judge(all, same));
    // An empty array never satisfies `all`, and what is no array satisfies neither.
    for input in [r#"{"list":[]}"#, r#"{"list":{"x":"1"}}"#, r#"{"list":"1"}"#, "{}"] {
        assert!(!judge(any, input) && !judge(all, input), "{input}");
    }
}

/// Whether a condition holds for the arguments of `zap`.
#[track_caller]
fn operator(condition: &str, holds: &[&str], fails: &[&str]) {
    let place = with(&deny("a", &format!("{ZAP}\nargs = {{ {condition} }}")));
    denied(&place, holds);
    allowed(&place, fails);
}

#[test]
fn any_of_holds_when_the_value_equals_one_of_these() {
    operator(
        "any_of = [\"a\", \"b\"]",
        &["zap a", "zap c b"],
        &["zap ab", "zap A", "zap", "zap c"],
    );
    operator("any_of = []", &[], &["zap a", "zap"]);
}

#[test]
fn none_of_holds_when_it_equals_none_of_them() {
    operator("none_of = [\"a\", \"b\"]", &["zap", "zap c", "zap ab"], &["zap a", "zap c b"]);
    operator("none_of = []", &["zap a", "zap"], &[]);
}

#[test]
fn glob_holds_when_it_matches_one_of_these_patterns() {
    operator(
        "glob = [\"*.rs\", \"[0-9]?\", \"{x,y}z\", \"**/.env*\"]",
        &["zap a/b.rs", "zap 12", "zap yz", "zap .env", "zap a/b/.env.local"],
        &["zap a.rs.txt", "zap 1", "zap z", "zap a.env", "zap"],
    );
}

#[test]
fn none_glob_holds_when_it_matches_none_of_them() {
    operator(
        "none_glob = [\"http://localhost*\"]",
        &["zap", "zap x"],
        &["zap x http://localhost:1/y"],
    );
    operator("none_glob = [\"*\"]", &["zap"], &["zap x"]);
}

#[test]
fn matches_holds_when_the_regex_finds_a_match() {
    operator(
        "matches = '^--force$|^-\\w*f'",
        &["zap --force", "zap -xf"],
        &["zap --forced", "zap f"],
    );
}

#[test]
fn is_holds_when_the_value_is_that_boolean() {
    let place = with(&deny("a", &format!("{ZAP}\npipeline_start = {{ is = false }}")));
    denied(&place, &["ls | zap"]);
    allowed(&place, &["zap"]);
    // The text of a boolean is none.
    let rule = acting("a", "x = { is = true }", "kind = \"deny\"\nmessage = \"m\"");
    let place = with(&rule);
    let judge = |input| {
        place.run(&["steer", "hook", "--event", "PreToolUse"], place.call("mcp__a__b", input))
    };
    judge(r#"{"x":true}"#).denies("m");
    judge(r#"{"x":"true"}"#).passes();
    judge(r#"{"x":false}"#).passes();
}

#[test]
fn several_operators_on_one_key_are_anded() {
    operator("any_of = [\"x\"], none_of = [\"y\"]", &["zap x"], &["zap x y", "zap", "zap y"]);
}

#[test]
fn a_path_that_resolves_to_nothing_fails_the_positive_operators_and_passes_the_negative_ones() {
    for (condition, holds) in [
        ("any_of = [\"x\"]", false),
        ("glob = [\"*\"]", false),
        ("matches = ''", false),
        ("is = false", false),
        ("none_of = [\"x\"]", true),
        ("none_glob = [\"*\"]", true),
    ] {
        let place = with(&deny("a", &format!("{ZAP}\n\"no.such.path\" = {{ {condition} }}")));
        if holds {
            denied(&place, &["zap"]);
        } else {
            allowed(&place, &["zap"]);
        }
    }
}

// Rewrites.

#[test]
fn a_rewrite_replaces_the_head_and_deletes_listed_arguments_everything_else_survives_byte_for_byte()
{
    rewritten(
        &with(""),
        &[
            ("cd  build\t&& rm   -rf   'a  b' # why", "cd  build\t&& trash   'a  b' # why"),
            ("rm -r a; X=1 /bin/rm -f b | tee log", "trash a; X=1 trash b | tee log"),
            ("'rm' \"-rf\" x", "trash x"),
            ("rm -- -f", "trash -- -f"),
            (
                "rm -rf x <<'E' 2>/dev/null\n  rm -rf y\nE\n",
                "trash x <<'E' 2>/dev/null\n  rm -rf y\nE\n",
            ),
        ],
    );
}

#[test]
fn a_rewrite_is_held_back_when_replace_head_is_not_on_path() {
    let place = Place::new();
    let empty = place.at("").display().to_string();
    let place = place.variable("PATH", &empty);
    let outcome = place.run(&["steer", "check", "rm x"], "");
    outcome.shows(&["held     trash-over-rm: `trash` is not on PATH\n", "action   allow\n"]);
    assert_eq!(outcome.status, Some(0));
    hook_bash(&place, "rm x").passes();
}

#[test]
fn a_rewrite_is_held_back_when_the_only_match_has_no_span_in_the_outer_string() {
    let place = with("");
    allowed(&place, &["bash -c 'rm -rf x'", "echo $(rm x)", "eval 'rm x'"]);
    place
        .run(&["steer", "check", "bash -c 'rm x'"], "")
        .shows(&["held     trash-over-rm: what matched stands where no edit can reach it\n"]);
    // Another that has one is edited all the same.
    rewritten(&place, &[("bash -c 'rm x'; rm y", "bash -c 'rm x'; trash y")]);
}

#[test]
fn the_path_gate_lives_in_the_engine_so_it_covers_every_rewrite() {
    let rule = acting(
        "a",
        &format!("any = \"parsed.segments\"\n{ZAP}"),
        "kind = \"rewrite\"\nreplace_head = \"no-such-program\"",
    );
    allowed(&with(&rule), &["zap"]);
    rewritten(&with(&rule.replace("no-such-program", "cat")), &[("zap x", "cat x")]);
}

// The built-in rules.

#[test]
fn fff_over_grep() {
    let place = with("");
    denied(
        &place,
        &[
            "grep -rn x .",
            "egrep x src/",
            "fgrep x .",
            "rg x",
            "ag x",
            "ack x",
            "ack-grep x",
            "ugrep x .",
            "find . -name x",
            "fd x",
            "fdfind x",
            "git grep x",
            "git -C src grep x",
            "sudo grep x .",
            "ls && grep x .",
            "grep x $(ls)",
            "bash -c 'grep x .'",
        ],
    );
    allowed(
        &place,
        &["zgrep x .", "ls -R", "tree", "git ls-files", "echo grep x .", "git commit -m grep"],
    );
}

#[test]
fn fff_over_grep_leaves_a_search_after_a_pipe_alone() {
    allowed(
        &with(""),
        &["gh pr list | grep foo", "cat x | rg y | head", "ls |\n grep x", "ls | xargs grep x"],
    );
    denied(&with(""), &["ls; grep foo", "grep foo | head"]);
}

#[test]
fn fff_over_grep_leaves_a_search_outside_the_workspace_or_below_node_modules_alone() {
    allowed(
        &with(""),
        &[
            "grep x /etc/hosts",
            "grep -r x ..",
            "find ~ -name x",
            "rg x node_modules/a",
            "rg x ./node_modules",
            "find node_modules -name x",
            "git grep x -- node_modules",
            "cd /etc && grep x hosts",
            "git -C /etc grep x",
        ],
    );
    denied(&with(""), &["rg x my_node_modules", "cd src && grep x ."]);
}

#[test]
fn fff_over_grep_leaves_a_find_with_an_action_primary_alone() {
    allowed(
        &with(""),
        &[
            "find . -name x -delete",
            "find . -exec ls {} +",
            "find . -execdir ls {} \\;",
            "find . -ok ls {} \\;",
            "find . -okdir ls {} \\;",
            "fd x --exec ls",
            "fd x --exec-batch ls",
        ],
    );
    denied(&with(""), &["find . -print", "find . -name -delete.txt"]);
}

#[test]
fn read_over_sed() {
    let place = with("");
    denied(
        &place,
        &[
            "sed -n 1,20p file",
            "sed -n '5p' a/b",
            "gsed -ne 1p x",
            "sed -nE 1p x",
            "sed -En 1p x",
            "sed --quiet 1p x",
            "sed --silent 1p x",
            "sed -n 1p /etc/hosts",
        ],
    );
    allowed(
        &place,
        &[
            "ls | sed -n 1p",
            "sed s/a/b/ x",
            "sed -i s/a/b/ x",
            "sed -rn 1p x",
            "sed 5q x",
            "echo sed -n",
        ],
    );
}

#[test]
fn edit_over_python() {
    let place = with("");
    denied(&place, &["python3 - <<'PY'\nprint(1)\nPY", "python - < x.py", "sudo python3 -"]);
    allowed(
        &place,
        &[
            "python3 -c 'print(1)'",
            "python3 tool.py",
            "cat x | python3 -",
            "python3 -m http.server",
            "node -",
        ],
    );
}

#[test]
fn trash_over_rm() {
    rewritten(
        &with(""),
        &[
            ("rm x", "trash x"),
            ("rm -r -f x", "trash x"),
            ("rm -R -fr x --force --recursive y", "trash x y"),
            ("rm -Rf a; rm -fR b; rm -rF c", "trash a; trash b; trash c"),
            ("ls | xargs rm -f", "ls | xargs trash"),
            ("sudo rm -rf /x", "sudo trash /x"),
        ],
    );
    allowed(&with(""), &["git rm x", "rmdir x", "echo rm x", "docker rm x"]);
}

// Fail open.

#[test]
fn unreadable_payload_malformed_json_broken_config_and_unknown_event_exit_0_with_a_system_message()
{
    let place = with("");
    let event = ["steer", "hook", "--event", "PreToolUse"];
    for payload in [&b"\xff\xfe"[..], b"", b"{", b"[]", b"{} x", b"{\"a\":1,\"a\":2}"] {
        place.run(&event, payload).tells(&["i-insist: "]);
    }
    for arguments in [
        &["steer", "hook", "--event", "Stop"][..],
        &["steer", "hook", "--event=pretooluse"],
        &["steer", "hook"],
        &["steer", "hook", "--evnt", "PreToolUse"],
    ] {
        place.run(arguments, "{}").tells(&["--event PreToolUse or --event PostToolUse"]);
    }
    let broken = with("[[rules]\n");
    hook_bash(&broken, "ls").tells(&[".steer.toml:1:"]);
    // The built-in rules stay on.
    hook_bash(&broken, "grep x .").denies_with(&["fff tools", ".steer.toml:1:"]);
    let place = with("").without("HOME");
    hook_bash(&place, "grep x .").tells(&["HOME"]);
}

#[test]
fn check_validate_and_init_report_failures_loudly() {
    let broken = with("[[rules]\n");
    let outcome = broken.run(&["steer", "check", "ls"], "");
    outcome.shows(&[".steer.toml:1:"]);
    assert_eq!(outcome.status, Some(2));
    let outcome = broken.run(&["steer", "validate"], "");
    outcome.shows(&[".steer.toml:1:8: invalid TOML"]);
    assert_eq!(outcome.status, Some(1));
    let place = Place::new().home(".config/steer/config.toml", "# mine\n");
    place.run(&["steer", "init"], "").refuses(&["config.toml was not written"]);
    assert_eq!(fs::read_to_string(place.at(".config/steer/config.toml")).unwrap(), "# mine\n");
}

#[test]
fn init_writes_a_commented_starter() {
    let place = Place::new();
    let path = place.at(".config/steer/config.toml");
    let said = format!("wrote {}\n", path.display());
    place.run(&["steer", "init"], "").is(0, &said, "");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.lines().all(|line| line.is_empty() || line.starts_with('#')));
    assert_eq!(place.run(&["steer", "validate"], "").status, Some(0));
    // What it shows is right once it is uncommented.
    let shown: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# "))
        .skip_while(|line| !line.starts_with("disable"))
        .collect();
    fs::write(&path, shown.join("\n")).unwrap();
    let outcome = place.run(&["steer", "validate"], "");
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    outcome.shows(&["fff-over-grep: disabled by", "no-prod-psql: active"]);
}

// The log.

#[test]
fn every_deny_rewrite_and_context_appends_a_json_line_and_allowed_calls_are_not_logged() {
    let place = with(&acting("soft", &format!("any = \"parsed.segments\"\n{ZAP}"), CONTEXT));
    hook_bash(&place, "grep x .");
    hook_bash(&place, "rm x");
    hook_bash(&place, "zap");
    hook_bash(&place, "ls");
    place.run(&["steer", "check", "rm x"], "");
    let log = place.at(".local/state/steer/steer.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    let expected = [
        r#""outcome":"deny","rules":["fff-over-grep"],"tool_name":"Bash","tool_input":{"command":"grep x ."},"updated_command":null"#,
        r#""outcome":"rewrite","rules":["trash-over-rm"],"tool_name":"Bash","tool_input":{"command":"rm x"},"updated_command":"trash x""#,
        r#""outcome":"context","rules":["soft"]"#,
    ];
    for (line, part) in lines.iter().zip(expected) {
        assert!(line.contains(part), "{line}");
        assert!(line.contains(r#""session_id":"session-1""#) && line.contains(r#""cwd":"#));
        assert!(line.contains(r#""agent_type":"#) && line.starts_with(r#"{"ts_ms":"#));
    }
    assert!(!place.at(".local/state/i-insist").exists());
}

#[test]
fn the_log_honors_xdg_state_home_and_a_failed_write_is_ignored() {
    let place = with("");
    let state = place.at("state").display().to_string();
    let place = place.variable("XDG_STATE_HOME", &state);
    hook_bash(&place, "grep x .").denies_with(&[]);
    assert!(place.at("state/steer/steer.jsonl").exists());
    let place = place.home("file", "");
    let file = place.at("file").display().to_string();
    let place = place.variable("XDG_STATE_HOME", &file);
    hook_bash(&place, "grep x .").denies_with(&[]);
}

#[test]
fn called_by_the_name_steer_it_speaks_steers_spelling() {
    let place = with("");
    let link = place.at("bin/steer");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_i-insist"), &link).unwrap();
    let mut command = std::process::Command::new(&link);
    place.furnish(command.args(["check", "rm -rf x"]));
    let outcome = place.outcome(command, b"");
    outcome.shows(&["rewrite  trash x\n"]);
    let mut command = std::process::Command::new(&link);
    place.furnish(command.args(["hook", "--event=PreToolUse"]));
    let payload = place.call("Bash", &object(&[("command", "grep x .")]));
    place.outcome(command, payload.as_bytes()).denies_with(&["fff tools"]);
}

// Weaknesses of steer that are not ours; each with its twin.

#[test]
fn no_wrapper_hides_a_head() {
    let place = with(&deny("a", ZAP));
    denied(
        &place,
        &[
            "{ zap; }",
            "f() { zap; }; f",
            "function f { zap; }; f",
            "eval zap",
            "exec zap",
            "nohup zap",
            "setsid zap",
            "stdbuf -o0 zap",
            "ionice -c 3 zap",
            "chroot / zap",
            "flock l zap",
            "watch -n 1 zap",
            "busybox zap",
            "coproc zap",
            "parallel zap ::: a",
            "find . -exec zap {} \\;",
            "trap zap EXIT",
            "su -c zap",
            "fish -c zap",
            "git -c alias.x='!zap' x",
            "for i in a; do zap; done",
            "case a in a) zap;; esac",
            "select x in a; do zap; done",
            "( zap )",
            "zap &",
            "[[ -n $(zap) ]]",
        ],
    );
    allowed(
        &place,
        &[
            "{ echo zap; }",
            "f() { echo zap; }; f",
            "eval 'echo zap'",
            "exec echo zap",
            "nohup echo zap",
            "setsid ls zap",
            "stdbuf -o0 ls zap",
            "ionice -c 3 ls zap",
            "chroot /zap ls",
            "flock zap ls",
            "watch -n 1 ls zap",
            "busybox ls zap",
            "coproc ls zap",
            "find . -exec ls zap {} +",
            "trap 'ls zap' EXIT",
            "su zap",
            "git -c alias.x='!ls' x",
            "for i in zap; do ls; done",
        ],
    );
}

#[test]
fn options_of_wrappers_hide_no_head() {
    let place = with(&deny("a", ZAP));
    denied(
        &place,
        &[
            "time -p zap",
            "command -p zap",
            "env -S 'zap a'",
            "env -C / zap",
            "sudo -D / zap",
            "sudo -h host zap",
            "sudo -iu root zap",
            "xargs -i zap {}",
            "xargs -l zap",
            "xargs --max-args 3 zap",
            "env -i zap",
        ],
    );
    allowed(
        &place,
        &[
            "command -v zap",
            "command -V zap",
            "env -C zap ls",
            "sudo -D zap ls",
            "sudo -u zap ls",
            "xargs --max-args 3 ls zap",
            "xargs -I zap ls",
        ],
    );
}

#[test]
fn scripts_for_shells_are_read_in_every_form() {
    let place = with(&deny("a", ZAP));
    denied(
        &place,
        &[
            "bash -c -- 'zap'",
            "bash -c -e 'zap'",
            "bash -lc zap",
            "bash -ec zap",
            "bash <<E\nzap\nE",
            "bash -s <<< zap",
            "echo zap | sh",
            "sudo bash -c zap",
            "bash -c \"bash -c 'zap'\"",
        ],
    );
    allowed(
        &place,
        &["bash s.sh -c zap", "bash -c ls zap", "cat <<E\nzap\nE", "cat <<< zap", "echo zap | cat"],
    );
}

#[test]
fn spellings_of_a_word_hide_no_head() {
    let place = with(&deny("a", ZAP));
    denied(
        &place,
        &[
            "$'zap' a",
            "$'\\x7aap' a",
            "${Z:-zap} a",
            "${Z-zap}",
            "Z=zap; $Z a",
            "z'a'p",
            "\"zap\"",
            "\\zap",
            "z\\\nap",
            "{zap,a}",
        ],
    );
    allowed(
        &place,
        &["echo $'zap'", "echo ${Z:-zap}", "Z=zap; echo $Z", "${Z:-ls} zap", "${Z:+zap}"],
    );
}

#[test]
fn substitutions_are_read_wherever_they_stand() {
    let place = with(&deny("a", ZAP));
    denied(
        &place,
        &[
            "cat <<E\n$(zap)\nE",
            "cat <<< $(zap)",
            "cat > $(zap)",
            "echo $(echo \")\"; zap)",
            "echo $(echo $(echo $(echo $(echo $(echo $(zap))))))",
            "cat <(zap)",
            "X=$(zap)",
            "echo ${X:-$(zap)}",
            "echo $(( $(zap) ))",
        ],
    );
    allowed(
        &place,
        &["cat <<'E'\n$(zap)\nE", "echo '$(zap)'", "echo $(echo \")\" zap)", "echo \\$\\(zap\\)"],
    );
}

#[test]
fn arithmetic_is_no_here_document() {
    let place = with(&deny("a", ZAP));
    denied(&place, &["((a<<E))\nzap\nE", "echo $((1<<E))\nzap\nE"]);
    allowed(&place, &["cat <<E\nzap\nE"]);
}

#[test]
fn nothing_in_the_text_makes_it_panic() {
    let place = with(&deny("a", ZAP));
    denied(&place, &["echo \\é; zap", "echo '\u{1f600}'\\\u{301}; zap", "\\é || zap"]);
    allowed(&place, &["echo \\é; ls"]);
}

#[test]
fn in_workspace_knows_patterns_bare_directories_and_cd() {
    let place = with("");
    denied(&place, &["grep -rn /api/v1", "grep -rn /api/v1 src", "rg /api/v1 ."]);
    allowed(
        &place,
        &["grep x $HOME/other", "cd /elsewhere && grep x .", "git -C /elsewhere grep x"],
    );
    let inside = place.in_project("src");
    denied(&place, &[&format!("cd /etc && grep x {inside}"), "cd src && grep x ."]);
}

#[test]
fn a_script_keeps_the_wrappers_of_its_shell() {
    let place = with(&deny("a", &format!("{ZAP}\nwrappers = {{ any_of = [\"sudo\"] }}")));
    denied(&place, &["sudo zap", "sudo bash -c zap"]);
    allowed(&place, &["zap", "bash -c zap", "sudo ls; zap"]);
}

#[test]
fn an_empty_argument_keeps_its_place() {
    let place = with(&deny("a", &format!("{ZAP}\n\"args.1\" = {{ any_of = [\"x\"] }}")));
    denied(&place, &["zap \"\" x", "zap a x"]);
    allowed(&place, &["zap \"\" y x", "zap x"]);
}

#[test]
fn a_line_end_or_parenthesis_behind_a_pipe_starts_no_pipeline() {
    let place = with("");
    allowed(
        &place,
        &[
            "ls |\ngrep x",
            "ls | (grep x)",
            "ls | bash -c 'grep x'",
            "ls |\n# note\ngrep x",
            "ls | { grep x; }",
        ],
    );
    denied(&place, &["ls\ngrep x", "ls; (grep x)", "bash -c 'grep x'"]);
}

#[test]
fn words_that_are_no_commands_are_not_taken_for_any() {
    let place = with(&deny("a", ZAP));
    allowed(
        &place,
        &[
            "A=(zap b)",
            "[[ a =~ (zap|b) ]]",
            "case a in zap) ;; esac",
            "zap() { :; }",
            "(( zap ))",
            "for (( zap; zap; zap )); do :; done",
            "echo >| zap",
            "bash s.sh -c zap",
            "echo # zap",
        ],
    );
    denied(
        &place,
        &[
            "A=($(zap) b)",
            "[[ a =~ b ]] && zap",
            "case a in b) zap;; esac",
            "f() { zap; }",
            "(( 1 )) && zap",
            "for (( ; ; )); do zap; done",
            "echo >| x; zap",
            "echo \\# ; zap",
        ],
    );
}

#[test]
fn a_rewrite_corrupts_nothing() {
    rewritten(
        &with(""),
        &[
            ("case rm in rm) rm -rf x;; esac", "case rm in rm) trash x;; esac"),
            ("[[ a =~ (rm|b) ]]; rm x", "[[ a =~ (rm|b) ]]; trash x"),
            ("rm() { rm -r y; }", "rm() { trash y; }"),
            ("A=(rm -rf); rm z", "A=(rm -rf); trash z"),
            ("rm -- -f", "trash -- -f"),
            ("rm -rfv x", "trash x"),
            // A stray << holds nothing back.
            ("rm -rf x; echo $((1<<2))", "trash x; echo $((1<<2))"),
            ("rm -rf x; cat <<E", "trash x; cat <<E"),
        ],
    );
}

#[test]
fn of_two_rewrites_of_one_command_the_second_is_held_and_says_nothing() {
    let rewrite = |name: &str, head: &str| {
        acting(
            name,
            &format!("any = \"parsed.segments\"\n{ZAP}"),
            &format!("kind = \"rewrite\"\nreplace_head = \"{head}\"\nmessage = \"by {name}\""),
        )
    };
    let place = with(&(rewrite("a", "cat") + &rewrite("b", "ls")));
    place.run(&["steer", "check", "zap x"], "").shows(&[
        "matched  a\n",
        "held     b: another rule replaces the same command\n",
        "rewrite  cat x\nmessage\n  by a\n",
    ]);
}

#[test]
fn what_steer_could_not_say_can_be_said() {
    // Redirection targets.
    let place = with(&deny("a", "\"redirects.target\" = { glob = [\"**/.env*\"] }"));
    denied(&place, &["echo x > .env", "cat a >> conf/.env.local"]);
    allowed(&place, &["echo .env", "cat .env.md | tee x"]);
    // Numbers.
    let place = with(&deny("a", &format!("{ZAP}\ndepth = {{ any_of = [\"1\"] }}")));
    denied(&place, &["bash -c zap"]);
    allowed(&place, &["zap"]);
    // The paths of an edit, in one shape across tools.
    let rule = acting(
        "a",
        "\"event.paths\" = { glob = [\"**/.env\"] }",
        "kind = \"deny\"\nmessage = \"m\"",
    );
    let place = with(&rule);
    hook(&place, "Write", &[("file_path", "/x/.env"), ("content", "")]).denies("m");
    hook(&place, "Edit", &[("file_path", ".env"), ("old_string", "a"), ("new_string", "b")])
        .denies("m");
    hook(&place, "Write", &[("file_path", "/x/env"), ("content", "")]).passes();
}

#[test]
fn the_other_client_is_known_from_the_payload() {
    let place = with("");
    let mut payload = place.call("Bash", &object(&[("command", "rm x")]));
    payload.insert_str(1, r#""turn_id":"t","#);
    place
        .run(&["steer", "hook", "--event", "PreToolUse"], payload)
        .shows(&[r#""permissionDecision":"allow","updatedInput":{"command":"trash x"}"#]);
}
