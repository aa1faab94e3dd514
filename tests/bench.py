#!/usr/bin/env python3
"""What one decision costs: bench.py PROGRAM.

Times wander on a busy machine, so the start-up is given as a ratio of CPU time to /bin/true, the
two started in turn, and the work as an instruction count (valgrind). The payload is a Bash call
with two commands; the rules are those that `install` writes, nothing else. Then the same call with
10, 1,000 and 10,000 rules beside them; the exit status is 1 when a further rule costs more
instructions than PER_RULE.
"""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROUNDS, STARTS = 25, 20
SCALES = 10, 1_000, 10_000
PER_RULE = 25_000
# What people write. None of these speaks about the call, so every one is asked; in every tenth the
# program is the call's, and a regex is compiled.
RULE = """
[[rules]]
id = "bench/rule-{number}"
description = "Keeps option {number} from being used."
tool = "Bash"
[[rules.match]]
any = "parsed.segments"
head = {{ any_of = ["{program}"] }}
{regex}[rules.action]
kind = "deny"
message = "Use the safe form of option {number} instead."
"""
REGEX = '"args.0" = {{ matches = "^(push|deploy) *--force-{number}( |$)" }}\n'


def cpu_seconds(argv, payload, environment):
    """User and system time of STARTS runs, as the kernel counts it for each."""
    spent = 0.0
    for _ in range(STARTS):
        proc = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment)
        try:
            proc.stdin.write(payload)
            proc.stdin.close()
        except BrokenPipeError:
            pass
        _, status, usage = os.wait4(proc.pid, 0)
        proc.returncode = os.waitstatus_to_exitcode(status)
        spent += usage.ru_utime + usage.ru_stime
    return spent


def peak_kib(argv, payload, environment):
    """The program's own peak: it is started by a small process, for a child is first charged its parent's memory."""
    small = "/usr/bin/time"
    if not os.access(small, os.X_OK):
        return None
    out = subprocess.run([small, "-f", "%M", *argv], input=payload, env=environment, capture_output=True, check=True)
    return int(out.stderr.split()[-1])


def instructions(argv, payload, environment, folder):
    if not shutil.which("valgrind"):
        return None
    out = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=%s/callgrind" % folder, *argv],
                         input=payload, env=environment, capture_output=True, check=True)
    return int(re.search(rb"Collected : (\d+)", out.stderr).group(1))


def figure(value, unit=""):
    return "not measured: the tool is missing" if value is None else format(value, ",") + unit


def write_rules(home, count):
    """`count` rules in files of a hundred; every tenth is about the program of the call."""
    texts = []
    for number in range(count):
        tenth = number % 10 == 0
        program, regex = ("make", REGEX.format(number=number)) if tenth else ("tool-%d" % number, "")
        texts.append(RULE.format(number=number, program=program, regex=regex))
    for first in range(0, count, 100):
        with open(os.path.join(home, ".i-insist", "bench-%06d.toml" % first), "w", encoding="utf-8") as file:
            file.writelines(texts[first:first + 100])


def one_decision(argv, payload, environment, home):
    ratios = [cpu_seconds(argv, payload, environment) / cpu_seconds(["/bin/true"], b"", environment)
              for _ in range(ROUNDS)]
    print("CPU of one decision    %.2f x /bin/true (median of %d rounds of %d starts each)"
          % (statistics.median(ratios), ROUNDS, STARTS))
    print("instructions           %s" % figure(instructions(argv, payload, environment, home)))
    print("peak memory            %s" % figure(peak_kib(argv, payload, environment), " KiB"))
    print("binary                 %s" % figure(os.path.getsize(argv[0]), " bytes"))


def many_rules(argv, payload, environment, home):
    """A row for each number of rules; whether a further one stays cheap."""
    print("\n%10s %15s %15s %15s %12s" % ("rules", "instructions", "for each more", "CPU, ms", "peak, KiB"))
    cheap, before = True, None
    for count in SCALES:
        write_rules(home, count)
        counted = instructions(argv, payload, environment, home)
        each = None
        if counted is not None and before is not None:
            each = (counted - before[1]) // (count - before[0])
            cheap = cheap and each <= PER_RULE
        before = None if counted is None else (count, counted)
        print("%10s %15s %15s %15.2f %12s" % (
            format(count, ","), "-" if counted is None else format(counted, ","),
            "" if each is None else format(each, ","), cpu_seconds(argv, payload, environment) / STARTS * 1000,
            figure(peak_kib(argv, payload, environment))))
    return cheap


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as home:
        home = os.path.realpath(home)
        environment = {"HOME": home, "PATH": os.environ["PATH"]}
        os.mkdir(os.path.join(home, ".claude"))
        subprocess.run([program, "install", "claude"], env=environment, check=True, stdout=subprocess.DEVNULL)
        payload = json.dumps({
            "session_id": "bench", "transcript_path": home + "/bench.jsonl", "cwd": home, "prompt_id": "one",
            "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": "cd build && make test", "description": "Run the tests"},
            "tool_use_id": "call-1"}).encode()
        argv = [program, "hook", "--harness", "claude", "pre-tool-use"]
        answer = subprocess.run(argv, input=payload, env=environment, capture_output=True, check=True)
        if answer.stdout or answer.stderr:
            sys.exit("the call should pass without a word, but: %r" % (answer,))
        one_decision(argv, payload, environment, home)
        if not many_rules(argv, payload, environment, home):
            sys.exit("a further rule costs more than %d instructions" % PER_RULE)


if __name__ == "__main__":
    main()
