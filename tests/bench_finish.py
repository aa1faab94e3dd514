#!/usr/bin/env python3
"""What noting the files of a large repository costs: bench_finish.py PROGRAM [FILES].

CPU time of the session-start hook, children and the writing of our state included, as a ratio to
`git status` in the same repository, run in turn, optional locks off on both sides. The first
snapshot, which reads every file, stands by itself, as a ratio to `git status` too.
"""

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS, LIMIT = 9, 1.5
CHECKS = {
    "all files": "",
    "files by two globs": 'inputs = ["src/**/*.ts", "**/*.json"]\n',
}


def generate(root, files):
    for number in range(files):
        folder = os.path.join(root, "src", "module%03d" % (number // 5000), "part%04d" % (number // 100))
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "file%06d.ts" % number), "w", encoding="ascii") as file:
            file.write("export const value%d = %d;\n" % (number, number) * 8)


def cpu_seconds(argv, root, environment, text=b""):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, cwd=root, env=environment, input=text, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    program, files = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    worst = 0.0
    with tempfile.TemporaryDirectory() as home:
        home = os.path.realpath(home)
        root = os.path.join(home, "repository")
        environment = {"HOME": home, "PATH": os.environ["PATH"], "GIT_OPTIONAL_LOCKS": "0",
                       "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com",
                       "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com"}
        generate(root, files)
        for words in ("init -q", "add -A", "commit -q -m first"):
            subprocess.run(["git", *words.split()], cwd=root, env=environment, check=True)
        time.sleep(3)  # younger files would be read again, by git too
        status = ["git", "status", "--porcelain"]
        hook = [program, "hook", "--harness", "claude", "session-start"]
        os.mkdir(os.path.join(home, ".i-insist"))
        for number, (name, inputs) in enumerate(CHECKS.items()):
            with open(os.path.join(home, ".i-insist", "finish.toml"), "w", encoding="utf-8") as file:
                file.write('[finish]\n[[finish.checks]]\ncommand = "true"\n' + inputs)
            payload = json.dumps({"session_id": "bench%d" % number, "cwd": root, "source": "resume"}).encode()
            shutil.rmtree(os.path.join(home, ".cache"), ignore_errors=True)
            first = cpu_seconds(hook, root, environment, payload) / cpu_seconds(status, root, environment)
            pairs = [(cpu_seconds(hook, root, environment, payload), cpu_seconds(status, root, environment))
                     for _ in range(ROUNDS)]
            ratio = statistics.median(ours for ours, _ in pairs) / statistics.median(gits for _, gits in pairs)
            worst = max(worst, ratio)
            print("snapshot of %d files, %s: %.2f x git status with nothing changed; the first %.1f x"
                  % (files, name, ratio, first))
    if worst > LIMIT:
        print("more than %.1f x git status" % LIMIT)
    return worst > LIMIT


if __name__ == "__main__":
    sys.exit(main())
