#!/usr/bin/env python3
"""Runs the real clients, headless and without a network, against a scripted model, with our hooks in place.

  run.py [--only guard|steering|finish|pi] [--client claude|codex|pi] [--scenario NAME] [--keep]

The program is I_INSIST_BIN (default target/release/i-insist); the clients are installed at
their pinned versions into a cache folder (E2E_CACHE). Prints one line for each scenario and a
closing line; the exit status is 1 when one failed. A client that cannot be installed is
NOT RUN: that is a failure for a client whose licence is open, and only said for another.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import finish  # noqa: E402
import guard  # noqa: E402
import pi  # noqa: E402
import steering  # noqa: E402
from clients import CLIENTS, NotInstallable, World  # noqa: E402

PARTS = {"guard": guard.SCENARIOS, "steering": steering.SCENARIOS, "finish": finish.SCENARIOS, "pi": pi.SCENARIOS}


def run_scenario(client, scenario, binary, keep):
    """One scenario in a world of its own: None, or what went wrong."""
    root = os.path.realpath(tempfile.mkdtemp(prefix="guard-e2e-"))
    try:
        scenario(client, World(root, binary))
        return None
    except Exception as error:  # whatever it is, the other scenarios shall run
        return "%s: %s%s" % (type(error).__name__, error, "\n       kept: " + root if keep else "")
    finally:
        if not keep:
            shutil.rmtree(root, ignore_errors=True)


def say(line):
    print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS, help="one part instead of all")
    parser.add_argument("--client", choices=[client.name for client in CLIENTS])
    parser.add_argument("--scenario", help="only scenarios whose function's name contains this")
    parser.add_argument("--keep", action="store_true", help="keep the temporary folders")
    options = parser.parse_args()
    binary = os.path.abspath(os.environ.get("I_INSIST_BIN") or os.path.join(HERE, "../../target/release/i-insist"))
    if not os.access(binary, os.X_OK):
        sys.exit("%s is missing: run make first, or set I_INSIST_BIN" % binary)
    passed = failed = 0
    for client in CLIENTS:
        if options.client not in (None, client.name):
            continue
        try:
            client.provide()
        except NotInstallable as error:
            say("NOT RUN  %s cannot be installed: %s" % (client.title, error))
            failed += client.licence_is_open
            continue
        say("-- %s, %s" % (client.title, client.version()))
        for part in [options.only] if options.only else PARTS:
            for scenario in PARTS[part].get(client.name, ()):
                if (options.scenario or "") not in scenario.__name__:
                    continue
                started = time.monotonic()
                fault = run_scenario(client, scenario, binary, options.keep)
                say("%s  %-6s  %4.1f s  %s" % ("FAIL" if fault else "ok  ", client.name,
                                               time.monotonic() - started, scenario.__doc__))
                if fault:
                    say("       " + fault)
                passed, failed = passed + (not fault), failed + bool(fault)
    say("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
