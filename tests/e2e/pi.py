"""Scenarios of Pi: pi-hooks' rules, the bridge and what fails closed in it, trust, and the person's stop."""

import json
import os
import queue
import subprocess
import threading
import time

from clients import end_group
from guard import holds, same, silent
from mock_model import MockModel

HOOKS = {
    "tool_call": {"rules": [
        {"match": {"tool": "bash", "arguments": {"command": "*rm -rf*"}}, "action": "block", "reason": "Nothing is removed here."},
        {"match": {"tool": "read", "arguments": {"path": "**/.env*"}}, "action": "nudge", "text": "NUDGE: secrets stay unread."},
        {"match": {"tool": "*", "arguments": {"command": "*"}}, "action": "nudge", "text": "NUDGE: keep it short."},
    ]},
}
CHECKER = '[[rules]]\nid = "e2e/slow"\nkind = "shell"\nchecker = ["sh", "-c", "%s"]\nmessage = "never"\n'


def hooked(client, world, hooks=None, place=".pi/pi-hooks.json"):
    world.write(json.dumps(hooks or HOOKS), *place.split("/"))
    silent(world)
    client.install(world)


def read(path):
    return {"tools": [{"name": "read", "input": {"path": path}}]}


def pi_hooks_rules_hold(client, world):
    """a block stops the call with its reason and no nudge; a nudge is added to the result; the file's odd spelling too"""
    hooked(client, world)
    world.write("KEY=1\n", ".env")
    run = client.run(world, "go", [client.shell("touch ran.txt; rm -rf x"), read("@.env"), client.shell("echo out"),
                                   {"text": "done"}])
    same(run.results[0], "Nothing is removed here.")
    holds(run.results[1], "KEY=1", "NUDGE: secrets stay unread.")
    holds(run.results[2], "out", "NUDGE: keep it short.")
    assert not os.path.exists(world.path("ran.txt")), "the command ran"


def second_pi_hooks_name_counts(client, world):
    """.pi-hooks.json counts where .pi/pi-hooks.json is not there; "I insist" overrides until the next message"""
    hooked(client, world, place=".pi-hooks.json")
    remove = [client.shell("touch ran.txt; rm -rf x"), {"text": "done"}]
    first = client.run(world, "I insist", remove)
    assert os.path.exists(world.path("ran.txt")), "the command did not run: %r" % first.results
    os.remove(world.path("ran.txt"))
    second = client.run(world, "thanks, again", remove, resume=first.session)
    same(second.results[-1], "Nothing is removed here.")
    assert not os.path.exists(world.path("ran.txt")), "the command ran"


def invalid_pi_hooks_block(client, world):
    """an unknown key blocks with file, line and column"""
    hooked(client, world, {"tool_calls": {}})
    run = client.run(world, "go", [client.shell("touch ran.txt"), {"text": "done"}])
    holds(run.results[-1], "pi-hooks.json:1:2", "unknown field `tool_calls`, did you mean `tool_call`?")
    assert not os.path.exists(world.path("ran.txt")), "the command ran"


def broken(client, world, script, *shown, seconds=None):
    """Puts `script` in our program's place, and asserts that a call is blocked with a text that says so."""
    hooked(client, world)
    if seconds:
        with open(client.settings(world), encoding="utf-8") as file:
            text = file.read()
        with open(client.settings(world), "w", encoding="utf-8") as file:
            limits = '"tool":%d,"message":%d,"finish":%d'
            file.write(text.replace(limits % (600, 30, 3600), limits % (seconds, seconds, seconds)))
    os.remove(world.hook)
    if script is not None:
        with open(world.hook, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod(world.hook, 0o755)
    run = client.run(world, "go", [client.shell("touch ran.txt"), {"text": "done"}])
    assert not os.path.exists(world.path("ran.txt")), "the command ran"
    holds(run.results[-1], "i-insist could not decide on this call, so it was not run", *shown)
    same(run.status, 0)


def missing_program_blocks(client, world):
    """without our program on the disk every call is blocked, and the model is told why"""
    broken(client, world, None, world.hook, "cannot be started", "ENOENT")


def crashing_program_blocks(client, world):
    """a program that crashes blocks, and its last words are shown"""
    broken(client, world, "echo 'last words' >&2; kill -ABRT $$\n", "ended with SIGABRT", "last words")


def failing_program_blocks(client, world):
    """a program that ends with a status blocks"""
    broken(client, world, "exit 3\n", "ended with status 3")


def hanging_program_blocks(client, world):
    """a program that does not answer blocks when its time is over"""
    broken(client, world, "exec sleep 60\n", "gave no answer within 2 s", seconds=2)


def babbling_program_blocks(client, world):
    """an answer that is no JSON blocks"""
    broken(client, world, "echo hello\n", "gave no usable answer")


def foreign_answer_blocks(client, world):
    """an answer with a key that the bridge does not know blocks"""
    broken(client, world, """echo '{"hookSpecificOutput": {}}'\n""", "unknown key: hookSpecificOutput")


def rewrite_without_field_blocks(client, world):
    """a rewrite that lacks a field the call had is a denial"""
    broken(client, world, """echo '{"input": {"timeout": 5}}'\n""", "the rewritten call has no usable command")


def untrusted_project_starts_nothing(client, world):
    """in a project that is not trusted its checkers are not run and the person is told; patterns still hold"""
    hooked(client, world)
    world.write(CHECKER % "touch spawned; echo true", ".i-insist", "checker.toml")
    turns = [client.shell("touch ran.txt"), client.shell("rm -rf x"), {"text": "done"}]
    run = client.run(world, "go", turns, trusted=False)
    assert os.path.exists(world.path("ran.txt")), "the command did not run: %r" % run.results
    assert not os.path.exists(world.path(".i-insist", "spawned")), "the checker was run"
    same(run.results[-1], "Nothing is removed here.")
    holds(run.stderr, "this project is not trusted, so the checker of `e2e/slow` was not run")
    trusted = client.run(world, "go", turns)
    same(trusted.results[0], "never")
    assert os.path.exists(world.path(".i-insist", "spawned")), "the checker was not run"


def nested_calls_are_judged(client, world):
    """the tools that a script calls are judged one by one; guidance comes with the script's result"""
    hooked(client, world)
    code = ('try { await tools.bash({command: "touch ran.txt; rm -rf x"}); text("it ran") } '
            'catch (error) { text("REFUSED " + error.message) } await tools.bash({command: "echo inner"})')
    run = client.run(world, "go", [{"tools": [{"name": "codemode", "input": {"code": code}}]}, {"text": "done"}],
                     tools="codemode")
    holds(run.results[-1], "REFUSED", "Nothing is removed here.", "NUDGE: keep it short.")
    assert not os.path.exists(world.path("ran.txt")), "the command ran"


class Rpc:
    """`pi --mode rpc`, with a person who can stop the agent."""

    def __init__(self, client, world, url):
        argv, extra = client.command(world, url, None, None, mode="rpc")
        self.events, self.seen = queue.Queue(), []
        self.proc = subprocess.Popen(argv, cwd=world.project, env=world.environment(extra), text=True, errors="replace",
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                     start_new_session=True)
        threading.Thread(target=self.pump, daemon=True).start()

    def pump(self):
        for line in self.proc.stdout:
            self.events.put(json.loads(line))

    def send(self, **command):
        self.proc.stdin.write(json.dumps(command) + "\n")
        self.proc.stdin.flush()

    def wait(self, kind):
        """Waits for an event of this type."""
        while True:
            event = self.events.get(timeout=60)
            self.seen.append(event)
            if event.get("type") == kind:
                return event

    def notices(self):
        return [event["message"] for event in self.seen if event.get("method") == "notify"]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        end_group(self.proc)


def awaited(test, what):
    """Waits until `test` holds."""
    until = time.monotonic() + 60
    while not test():
        assert time.monotonic() < until, "in vain: " + what
        time.sleep(0.05)


def runs(path):
    """Whether the process whose number stands in the file is there."""
    with open(path, encoding="utf-8") as file:
        pid = file.read().strip()
    try:
        with open("/proc/%s/stat" % pid, encoding="utf-8") as file:
            return file.read().rsplit(") ", 1)[1][0] != "Z"
    except FileNotFoundError:
        return False


# A descendant that left its session, as a server that a test starts may do.
SLEEPER = "setsid sh -c 'echo $$ > %s; exec sleep 300' & sleep 300"


def stopping_the_agent_ends_a_checker(client, world):
    """when the person stops the agent, the running checker and its descendants are killed"""
    pid = world.path("pid.txt")
    world.write(CHECKER % SLEEPER % pid + "timeout = 120\n", ".i-insist", "checker.toml")
    silent(world)
    client.install(world)
    with MockModel([client.shell("touch ran.txt"), {"text": "done"}]) as mock, Rpc(client, world, mock.url) as rpc:
        rpc.send(type="prompt", message="go")
        awaited(lambda: os.path.exists(pid) and os.path.getsize(pid), "the checker starts")
        rpc.send(type="abort")
        awaited(lambda: not runs(pid), "the checker's descendant ends")
    assert not os.path.exists(world.path("ran.txt")), "the command ran"


def words_typed_meanwhile_count(client, world):
    """a message that the person sends while the agent works counts: "I insist" overrides from then on"""
    hooked(client, world)
    turns = [client.shell("touch started.txt; while [ ! -e go.txt ]; do sleep 0.1; done"),
             client.shell("rm -rf x; touch ran.txt"), {"text": "done"}]
    with MockModel(turns) as mock, Rpc(client, world, mock.url) as rpc:
        rpc.send(type="prompt", message="go")
        awaited(lambda: os.path.exists(world.path("started.txt")), "the first command starts")
        rpc.send(type="steer", message="I insist")
        rpc.wait("response")
        rpc.wait("response")
        world.write("", "go.txt")
        rpc.wait("agent_end")
    assert os.path.exists(world.path("ran.txt")), "the command did not run: %r" % rpc.seen


def checked(client, world, command, retries=3):
    """A check before finishing."""
    check = {"name": "Lint", "type": "command", "command": command}
    hooked(client, world, {"agent_before_settle": {"maxRetries": retries, "checks": [check]}})


def failing_check_sends_back(client, world):
    """a failing check sends the agent back with the check's output; when it passes, the agent finishes"""
    checked(client, world, "cat state.txt; grep -q good state.txt")
    run = client.run(world, "go", [client.write("state.txt", "broken\n"), {"text": "done"},
                                   client.write("state.txt", "good\n"), {"text": "repaired"}, {"text": "too much"}])
    same(run.used, 4)
    told = [text for text in run.texts if "a check failed" in text]
    same(len(told), 1)
    holds(told[0], "Lint", "broken")
    same(world.read("state.txt"), "good\n")


def retries_end(client, world):
    """after maxRetries the agent may finish, and the person is told; a new message starts anew"""
    checked(client, world, "echo never; exit 3", retries=2)
    first = client.run(world, "go", [{"text": "done %d" % number} for number in range(6)])
    same(first.used, 3)
    holds(first.stderr, "i-insist: finished with failing checks: Lint")
    second = client.run(world, "again", [{"text": "done %d" % number} for number in range(6)], resume=first.session)
    same(second.used, 3)


def untrusted_project_checks_nothing(client, world):
    """in a project that is not trusted its checks are not run, and the person is told"""
    checked(client, world, "touch checked.txt; exit 3")
    run = client.run(world, "go", [{"text": "done"}], trusted=False)
    same(run.used, 1)
    assert not os.path.exists(world.path("checked.txt")), "the check was run"
    holds(run.stderr, "this project is not trusted, so its checks before finishing were not run")


def checking(client, world, end):
    """Lets a check hang, ends it by `end`, and asserts that its descendants end too."""
    pid = world.path("pid.txt")
    checked(client, world, SLEEPER % pid)
    with MockModel([{"text": "done"}, {"text": "too much"}]) as mock, Rpc(client, world, mock.url) as rpc:
        rpc.send(type="prompt", message="go")
        awaited(lambda: os.path.exists(pid) and os.path.getsize(pid), "the check starts")
        end(rpc)
        awaited(lambda: not runs(pid), "the check's descendant ends")
        same(mock.used, 1)


def stopping_the_agent_ends_a_check(client, world):
    """when the person stops the agent, the running check and its descendants are killed"""
    checking(client, world, lambda rpc: rpc.send(type="abort"))


def a_killed_client_ends_its_check(client, world):
    """when the client is killed, the running check and its descendants are killed"""
    checking(client, world, lambda rpc: rpc.proc.kill())


def missing_program_lets_finish(client, world):
    """without our program on the disk the agent may finish, and the person is told that nothing was checked"""
    checked(client, world, "exit 3")
    os.remove(world.hook)
    run = client.run(world, "go", [{"text": "done"}])
    same(run.used, 1)
    holds(run.stderr, "the checks did not run", "cannot be started")


SCENARIOS = {"pi": (
    pi_hooks_rules_hold, second_pi_hooks_name_counts, invalid_pi_hooks_block, missing_program_blocks,
    crashing_program_blocks, failing_program_blocks, hanging_program_blocks, babbling_program_blocks,
    foreign_answer_blocks, rewrite_without_field_blocks, untrusted_project_starts_nothing, nested_calls_are_judged,
    stopping_the_agent_ends_a_checker, words_typed_meanwhile_count, failing_check_sends_back, retries_end,
    untrusted_project_checks_nothing, stopping_the_agent_ends_a_check, a_killed_client_ends_its_check,
    missing_program_lets_finish)}
