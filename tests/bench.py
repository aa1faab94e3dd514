#!/usr/bin/env python3
"""What one decision costs: bench.py PROGRAM.

Times wander on a busy machine, so the start-up is given as a ratio of CPU time to /bin/true, the
two started in turn, and the work as an instruction count (valgrind). The payload is a Bash call
with two commands; the rules are those that `install` writes, nothing else.
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
        ratios = [cpu_seconds(argv, payload, environment) / cpu_seconds(["/bin/true"], b"", environment)
                  for _ in range(ROUNDS)]
        print("CPU of one decision    %.2f x /bin/true (median of %d rounds of %d starts each)"
              % (statistics.median(ratios), ROUNDS, STARTS))
        for label, value in (("instructions", instructions(argv, payload, environment, home)),
                             ("peak memory, KiB", peak_kib(argv, payload, environment)),
                             ("binary, bytes", os.path.getsize(program))):
            print("%-22s %s" % (label, "not measured: the tool is missing" if value is None else format(value, ",")))


if __name__ == "__main__":
    main()
