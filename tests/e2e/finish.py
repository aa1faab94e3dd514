"""Scenarios of the checks before finishing, in the real clients: from a guard file and from pi-hooks' file."""

import json
import os
import subprocess

from guard import holds, same, silent

CHECK = "echo ran >> \"$HOME/ran\"; grep -q good state.txt || { echo state is not good; exit 3; }"


def repository(client, world, retries=3):
    """A repository whose check wants state.txt to say good; its configuration is a guard file."""
    start(client, world)
    world.write("[finish]\nmax_retries = %d\n[[finish.checks]]\nname = \"State\"\ncommand = '''%s'''\n"
                % (retries, CHECK), ".i-insist", "finish.toml")
    client.install(world)


def from_pi_hooks(client, world, retries=3):
    """The same from pi-hooks' file."""
    start(client, world)
    check = {"name": "State", "type": "command", "command": CHECK}
    world.write(json.dumps({"agent_before_settle": {"maxRetries": retries, "checks": [check]}}), ".pi", "pi-hooks.json")
    client.install(world)


def start(client, world):
    silent(world)
    world.write("good\n", "state.txt")
    for words in ("init -q", "add -A", "-c user.name=e2e -c user.email=e2e@example.com commit -q -m first"):
        subprocess.run(["git", *words.split()], cwd=world.project, env=world.environment(), check=True)


def say(client, text):
    return client.shell("echo %s > state.txt" % text)


def times_run(world):
    path = os.path.join(world.home, "ran")
    if not os.path.exists(path):
        return 0
    with open(path, encoding="utf-8") as file:
        return len(file.readlines())


def sent_back(run):
    """What the model was told by failing checks. Claude Code shows each text in another role too."""
    return [item["text"] for item in run.items if item["role"] == "user" and "State: exited with status 3" in item["text"]]


def sends_back_and_lets_go(client, world, configure):
    configure(client, world)
    run = client.run(world, "go", [say(client, "bad"), {"text": "done"}, say(client, "good"), {"text": "mended"}])
    told = sent_back(run)
    same(len(told), 1)
    holds(told[0], "state is not good", "a check failed")
    same(world.read("state.txt"), "good\n")
    same(times_run(world), 2)


def a_failing_check_sends_back(client, world):
    """a failing check of a guard file sends the agent back with its output, and the repaired run finishes"""
    sends_back_and_lets_go(client, world, repository)


def a_failing_pi_hooks_check_sends_back(client, world):
    """a failing check of pi-hooks' file sends the agent back with its output, and the repaired run finishes"""
    sends_back_and_lets_go(client, world, from_pi_hooks)


def gives_up_and_tells(client, world):
    """after max_retries the agent may finish although the check fails, and the next prompt counts anew"""
    repository(client, world, retries=2)
    turns = [say(client, "bad")] + [{"text": "answer %d" % number} for number in range(6)]
    run = client.run(world, "go", turns)
    same(run.status, 0)
    same(times_run(world), 3)
    same(len(sent_back(run)), 2)
    if client.name == "claude":  # codex exec does not print what hooks tell the person
        holds(run.stdout, "finished with failing checks: State")
    client.run(world, "once more", turns[1:], resume=run.session)
    same(times_run(world), 6)


def nothing_changed_runs_nothing(client, world):
    """a session that changes no file runs no check and asks nothing of the agent"""
    repository(client, world)
    run = client.run(world, "go", [client.shell("cat state.txt"), {"text": "done"}])
    same(run.status, 0)
    same(times_run(world), 0)


BOTH = [a_failing_check_sends_back, a_failing_pi_hooks_check_sends_back, gives_up_and_tells, nothing_changed_runs_nothing]
SCENARIOS = {"claude": BOTH, "codex": BOTH, "pi": BOTH}
