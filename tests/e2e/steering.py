"""Scenarios of the steering: rewrites, context, and denials that name the better way, in the real clients."""

import os

from guard import holds, same, silent

RULES = """\
[[rules]]
name = "say-it-with-echo"
tool = "Bash"
[[rules.match]]
any = "parsed.segments"
head = { any_of = ["frobnicate"] }
[rules.action]
kind = "rewrite"
replace_head = "echo"
message = "frobnicate is called echo here"

[[rules]]
name = "about-the-lockfile"
tool = "Bash"
[[rules.match]]
any = "parsed.segments"
head = { any_of = ["cat"] }
[rules.action]
kind = "context"
message = "BEFORE-TOOL: the lock file is generated"

[[rules]]
name = "after-the-build"
tool = "Bash"
phase = "post"
[[rules.match]]
any = "parsed.segments"
head = { any_of = ["true"] }
[rules.action]
kind = "context"
message = "AFTER-TOOL: now run the tests"

[[rules]]
name = "no-telnet"
tool = "Bash"
[[rules.match]]
any = "parsed.segments"
head = { any_of = ["telnet"] }
[rules.action]
kind = "deny"
message = "Use ssh instead of telnet"
"""


def steered(client, world):
    world.write(RULES, ".i-insist", "steering.toml")
    silent(world)
    client.install(world)


def rewritten_command_runs(client, world):
    """the rewritten command runs in place of the original, every other byte kept"""
    steered(client, world)
    run = client.run(world, "go", [client.shell("frobnicate 'one  two' > out.txt; frobnicate  \"three\""), {"text": "done"}])
    same(world.read("out.txt"), "one  two\n")
    holds(run.results[-1], "three")
    assert "not found" not in run.results[-1], run.results[-1]


def context_before_reaches_the_model(client, world):
    """context of a rule about the call reaches the model, and the call runs"""
    steered(client, world)
    world.write("content\n", "lock.txt")
    run = client.run(world, "go", [client.shell("cat lock.txt"), {"text": "done"}])
    holds(run.results[-1], "content")
    same(sum("BEFORE-TOOL: the lock file is generated" in text for text in run.texts + run.results), 1)


def context_after_reaches_the_model(client, world):
    """context of a rule about the result reaches the model"""
    steered(client, world)
    run = client.run(world, "go", [client.shell("true && echo built"), {"text": "done"}])
    holds(run.results[-1], "built")
    same(sum("AFTER-TOOL: now run the tests" in text for text in run.texts + run.results), 1)


def denial_names_the_better_way(client, world):
    """a denial of a declarative rule reaches the model word for word; a mere mention passes"""
    steered(client, world)
    command = "true; telnet host > out.txt"
    run = client.run(world, "go", [client.shell("echo telnet"), client.shell(command), {"text": "done"}])
    holds(run.results[-2], "telnet")
    same(run.results[-1], client.shown_block("Use ssh instead of telnet", client.shell(command)))
    assert not os.path.exists(world.path("out.txt")), "the command ran"


def insisting_overrides_the_denial(client, world):
    """after "I insist" the denied command runs"""
    steered(client, world)
    client.run(world, "I insist", [client.shell("telnet --version > out.txt 2>&1; echo tried"), {"text": "done"}])
    assert os.path.exists(world.path("out.txt")), "the command did not run"


BOTH = (rewritten_command_runs, context_before_reaches_the_model, context_after_reaches_the_model,
        denial_names_the_better_way, insisting_overrides_the_denial)
SCENARIOS = {"claude": BOTH, "codex": BOTH, "pi": BOTH}
