#!/bin/sh
# The main job on real payloads: what Claude Code sends to its hooks, answered by the program
# given as the first argument, in a temporary home with the example project. Nothing of the
# caller's is read or changed. Ends with status 1 when an answer is not the expected one.
set -eu

program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")" && pwd)
command -v python3 >/dev/null || { echo "the example checker needs python3" >&2; exit 1; }
home=$(cd "$(mktemp -d)" && pwd -P)
trap 'rm -rf "$home"' EXIT
trap 'exit 1' HUP INT TERM
project=$home/project
cp -R "$here/../examples/project" "$project"

# One hook call in a clean environment: hook EVENT, with the payload on stdin. A program that
# fails is no silent one: its status joins what it printed.
hook() {
    (cd "$project" && env -i HOME="$home" PATH="$PATH" "$program" hook --harness claude "$1") ||
        echo "(exit status $?)"
}

# What every payload begins with.
common="\"session_id\": \"demo\", \"transcript_path\": \"$home/demo.jsonl\", \"cwd\": \"$project\",
    \"permission_mode\": \"default\""

prompt() {
    answer=$(echo "{$common, \"prompt_id\": \"$1\", \"hook_event_name\": \"UserPromptSubmit\", \"prompt\": \"$2\"}" |
        hook user-prompt-submit)
    case $answer in *'exit status'*) wrong "the prompt was refused: $answer" ;; esac
}

edit() {
    echo "{$common, \"prompt_id\": \"$1\", \"effort\": {\"level\": \"medium\"}, \"hook_event_name\": \"PreToolUse\",
        \"tool_name\": \"Edit\", \"tool_input\": {\"file_path\": \"$project/$2\", \"old_string\": \"alpha\",
        \"new_string\": \"beta\", \"replace_all\": false}, \"tool_use_id\": \"call-1\"}" | hook pre-tool-use
}

wrong() {
    printf '   NOT AS EXPECTED: %s\n' "$1" >&2
    exit 1
}

blocked() {
    case $1 in
        *'"permissionDecision"'*'"deny"'*"$2"*) printf '   blocked: %s\n\n' "$1" ;;
        *) wrong "no denial that says \"$2\", but: ${1:-nothing}" ;;
    esac
}

passes() {
    [ -z "$1" ] || wrong "$1"
    printf '   passes: nothing is printed\n\n'
}

echo "1. The agent edits _sources/original.txt, which examples/project protects:"
prompt one "please update the original"
blocked "$(edit one _sources/original.txt)" "Files in _sources are kept as they came."

echo "2. It edits notes.txt:"
passes "$(edit one notes.txt)"

echo "3. The person writes \"ok, I insist\", and the agent tries the first edit again:"
prompt two "ok, I insist"
passes "$(edit two _sources/original.txt)"

echo "4. With the person's next message that is over:"
prompt three "thanks, now tidy up"
blocked "$(edit three _sources/original.txt)" "Files in _sources are kept as they came."

echo "5. A rule file with a mistake blocks everything, and says where the mistake is:"
printf '%s\n' '[[rules]]' 'id = "demo/typo"' 'checker = ["true"]' 'mesage = "typed wrong"' >"$project/.i-insist/typo.toml"
blocked "$(edit three notes.txt)" "$project/.i-insist/typo.toml:4:1"

echo "All as expected."
