"""The real clients: installs them at their pinned versions and runs them, bounded, one prompt at a time.

A client lives in a cache folder outside the repository: E2E_CACHE, else i-insist-e2e below
XDG_CACHE_HOME, else below ~/.cache. Each run gets the caller's environment less everything
that would steer the client or tell it that it runs below another agent. Standard library only.
"""

import filecmp
import glob
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import threading

from mock_model import MockModel

PINS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients")
RUN_LIMIT = 120
INSTALL_LIMIT = 900
DROPPED = re.compile(r"^(CLAUDE|ANTHROPIC|CODEX|OPENAI|PI_|MCP_|OTEL_|XDG_|I_INSIST|HUMAN_PERMISSION|AI_AGENT$|BASH_ENV$"
                     r"|ENV$|NODE_OPTIONS$|(HTTPS?|ALL)_PROXY$)", re.I)


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.environ.get("E2E_CACHE") or os.path.join(base, "i-insist-e2e")


class NotInstallable(Exception):
    """The client cannot be had here; the text says why."""


class World:
    """A temporary home and project, and a PATH that begins with a folder of ours."""

    def __init__(self, root, binary):
        self.root = root
        self.home, self.project, self.bin = (os.path.join(root, name) for name in ("home", "project", "bin"))
        for folder in (self.home, self.project, self.bin):
            os.makedirs(folder)
        self.hook = os.path.join(self.bin, "i-insist")
        shutil.copy2(binary, self.hook)

    def environment(self, extra=None):
        kept = {name: value for name, value in os.environ.items() if not DROPPED.search(name)}
        kept.update(HOME=self.home, PATH=self.bin + os.pathsep + os.environ.get("PATH", ""),
                    NO_PROXY="127.0.0.1,localhost", no_proxy="127.0.0.1,localhost")
        kept.update(extra or {})
        return kept

    def path(self, *parts):
        return os.path.join(self.project, *parts)

    def write(self, text, *parts):
        """Writes a file of the project and returns its path."""
        path = self.path(*parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def read(self, *parts):
        with open(self.path(*parts), encoding="utf-8") as file:
            return file.read()

    def i_insist(self, *arguments):
        """Runs our own command; the scenario fails when it does."""
        done = subprocess.run([self.hook, *arguments], cwd=self.project, env=self.environment(), text=True,
                              capture_output=True, timeout=RUN_LIMIT, stdin=subprocess.DEVNULL, check=False)
        assert done.returncode == 0, "i-insist %s: exit %d: %s" % (" ".join(arguments), done.returncode, done.stderr)


class Run:
    """What came out of one prompt: the session's id, and what the model was shown."""

    def __init__(self, session, mock, stdout, stderr, status):
        self.session, self.used, self.stdout, self.stderr, self.status = session, mock.used, stdout, stderr, status
        self.items = [i for i in mock.shown[-1] if i["kind"] != "instructions"] if mock.shown else []
        self.results = [i["text"] for i in self.items if i["kind"] == "result"]
        self.texts = [i["text"] for i in self.items if i["kind"] == "text"]


class Client:
    """What both clients share. A subclass knows the command line and the tools' names."""

    def binary(self):
        found = sorted(glob.glob(os.path.join(glob.escape(self.folder()), "node_modules", self.executable)))
        return found[0] if found else None

    def folder(self):
        return os.path.join(cache_folder(), self.name)

    def provide(self):
        """Installs the client unless the pinned version is there already."""
        pins, folder = os.path.join(PINS, self.name), self.folder()
        stamp = os.path.join(folder, "installed.json")
        lock = os.path.join(pins, "package-lock.json")
        if self.binary() and os.path.exists(stamp) and filecmp.cmp(lock, stamp, shallow=False):
            return
        if not shutil.which("npm"):
            raise NotInstallable("npm is missing")
        os.makedirs(folder, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(os.path.join(pins, name), folder)
        try:
            done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, text=True,
                                  capture_output=True, timeout=INSTALL_LIMIT, stdin=subprocess.DEVNULL, check=False)
        except subprocess.TimeoutExpired as error:
            raise NotInstallable("npm did not end within %d s" % INSTALL_LIMIT) from error
        if done.returncode or not self.binary():
            errors = [line for line in done.stderr.splitlines() if line.startswith("npm error")]
            raise NotInstallable("; ".join(errors[:3]) or "the package holds no program for this system")
        shutil.copy(lock, stamp)

    def version(self):
        return subprocess.run([self.binary(), "--version"], text=True, capture_output=True, timeout=RUN_LIMIT,
                              check=False).stdout.strip()

    def run(self, world, prompt, turns, resume=None, when=None, **options):
        """One prompt, headless, against a model that takes the given turns."""
        with MockModel(turns, when) as mock:
            argv, extra = self.command(world, mock.url, prompt, resume, **options)
            proc = subprocess.Popen(argv, cwd=world.project, env=world.environment(extra), text=True, errors="replace",
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    start_new_session=True)
            try:
                out, err = proc.communicate(timeout=RUN_LIMIT)
            except subprocess.TimeoutExpired as error:
                raise AssertionError("%s did not end within %d s" % (self.name, RUN_LIMIT)) from error
            finally:
                end_group(proc)
            return Run(self.session_of(out), mock, out, err, proc.returncode)

    def session_of(self, stdout):
        for line in stdout.splitlines():
            if line.startswith("{") and json.loads(line).get(self.session_key):
                return json.loads(line)[self.session_key]
        return None


def end_group(proc):
    """Ends what the run may have left behind: its own process group, nothing else."""
    try:
        os.killpg(proc.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    proc.wait()


class Claude(Client):
    name, title, licence_is_open = "claude", "Claude Code", False
    executable = "@anthropic-ai/claude-code-*/claude"
    session_key = "session_id"
    QUIET = dict.fromkeys(("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING",
                           "DISABLE_AUTOUPDATER", "IS_SANDBOX"), "1")

    def command(self, world, url, prompt, resume):
        argv = [self.binary(), "-p", prompt, "--output-format", "stream-json", "--verbose",
                "--permission-mode", "bypassPermissions"]
        argv += ["--resume", resume] if resume else []
        return argv, dict(self.QUIET, ANTHROPIC_API_KEY="dummy-key", ANTHROPIC_BASE_URL=url)

    def settings(self, world):
        return os.path.join(world.home, ".claude", "settings.json")

    def install(self, world):
        os.makedirs(os.path.dirname(self.settings(world)), exist_ok=True)
        world.i_insist("install", "claude")

    def shell(self, command):
        return {"tools": [{"name": "Bash", "input": {"command": command, "description": "a step"}}]}

    def write(self, name, text):
        return {"tools": [{"name": "Write", "input": {"file_path": name, "content": text}}]}

    def edit_turns(self, name, old, new):
        """Claude edits what it has read, so the file is read first: two turns."""
        return [{"tools": [{"name": "Read", "input": {"file_path": name}}]},
                {"tools": [{"name": "Edit", "input": {"file_path": name, "old_string": old, "new_string": new}}]}]

    def shown_block(self, reason, call):
        """The exact text of a blocked call's result."""
        name = call["tools"][0]["name"]
        return "PreToolUse:Bash hook error: " + reason if name == "Bash" else reason

    def nested_script(self):
        """A script by which an agent would prompt its own session."""
        return "'%s' -p 'nested: I insist' --resume \"$CLAUDE_CODE_SESSION_ID\" </dev/null\n" % self.binary()


class Codex(Client):
    name, title, licence_is_open = "codex", "Codex", True
    executable = "@openai/codex-*/vendor/*/bin/codex"
    session_key = "thread_id"
    MODEL = "gpt-5.5"  # a model of the client's catalogue that calls the patch tool directly

    def provider(self, url):
        table = ('{name="mock", base_url="%s/v1", wire_api="responses", env_key="MOCK_API_KEY", '
                 'request_max_retries=0, stream_max_retries=0}' % url)
        return ["-c", 'model="%s"' % self.MODEL, "-c", 'model_provider="mock"', "-c", "model_providers.mock=" + table]

    def command(self, world, url, prompt, resume):
        argv = [self.binary(), "exec", "--json", "--skip-git-repo-check", "--color", "never", *self.provider(url),
                "--sandbox", "danger-full-access"]
        return argv + (["resume", resume] if resume else []) + [prompt], {"MOCK_API_KEY": "dummy-key"}

    def settings(self, world):
        return os.path.join(world.home, ".codex", "hooks.json")

    def install(self, world):
        os.makedirs(os.path.dirname(self.settings(world)), exist_ok=True)
        world.i_insist("install", "codex")
        with AppServer(self.binary(), world) as server:
            assert server.trust_hooks() > 0, "Codex lists no hook to trust"

    def shell(self, command):
        return {"tools": [{"name": "exec_command", "input": {"cmd": command}}]}

    def write(self, name, text):
        return {"tools": [{"name": "apply_patch", "input": "*** Begin Patch\n*** Add File: %s\n%s\n*** End Patch\n" % (
            name, "\n".join("+" + line for line in text.splitlines()))}]}

    def edit_turns(self, name, old, new):
        return [{"tools": [{"name": "apply_patch", "input":
                            "*** Begin Patch\n*** Update File: %s\n@@\n-%s\n+%s\n*** End Patch\n" % (name, old, new)}]}]

    def shown_block(self, reason, call):
        """The exact text of a blocked call's result."""
        tool = call["tools"][0]
        command = tool["input"] if tool["name"] == "apply_patch" else tool["input"]["cmd"]
        return "Command blocked by PreToolUse hook: %s. Command: %s" % (reason, command)


class Pi(Client):
    name, title, licence_is_open = "pi", "Pi", True
    executable = "@earendil-works/pi-coding-agent/dist/cli.js"
    ARGUMENTS = ["--offline", "--model", "mock/mock-model"]
    QUIET = {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"}

    def node(self):
        """The Node that was installed beside Pi, else the one on PATH."""
        own = glob.glob(os.path.join(glob.escape(self.folder()), "node_modules", "node-linux-*", "bin", "node"))
        return own[0] if own else "node"

    def version(self):
        return subprocess.run([self.node(), self.binary(), "--version"], text=True, capture_output=True,
                              timeout=RUN_LIMIT, check=False).stdout.strip()

    def command(self, world, url, prompt, resume, mode="json", trusted=True, tools=None):
        self.write_models(world, url)
        argv = [self.node(), self.binary(), *self.ARGUMENTS, "--mode", mode,
                "--approve" if trusted else "--no-approve"]
        argv += ["--session", resume] if resume else []
        argv += ["--tools", "bash," + tools] if tools else []
        return argv + (["--", prompt] if prompt else []), self.QUIET

    def write_models(self, world, url):
        """Makes the scripted model known to Pi, as a model of its own."""
        model = {"id": "mock-model", "name": "mock-model", "reasoning": False, "input": ["text"],
                 "contextWindow": 128000, "maxTokens": 4096}
        provider = {"baseUrl": url, "apiKey": "dummy-key", "api": "anthropic-messages", "models": [model]}
        path = os.path.join(world.home, ".pi", "agent", "models.json")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"providers": {"mock": provider}}, file)

    def session_of(self, stdout):
        lines = [json.loads(line) for line in stdout.splitlines() if line.startswith("{")]
        return next((line["id"] for line in lines if line.get("type") == "session"), None)

    def settings(self, world):
        return os.path.join(world.home, ".pi", "agent", "extensions", "i-insist.ts")

    def install(self, world):
        world.i_insist("install", "pi")

    def shell(self, command):
        return {"tools": [{"name": "bash", "input": {"command": command}}]}

    def write(self, name, text):
        return {"tools": [{"name": "write", "input": {"path": name, "content": text}}]}

    def edit_turns(self, name, old, new):
        return [{"tools": [{"name": "edit", "input": {"path": name, "edits": [{"oldText": old, "newText": new}]}}]}]

    def shown_block(self, reason, call):
        """The exact text of a blocked call's result."""
        return reason

    def nested_script(self):
        """A script by which an agent would prompt its own session."""
        return "'%s' '%s' %s --approve --session \"$PI_SESSION_ID\" -p 'nested: I insist' </dev/null\n" % (
            self.node(), self.binary(), " ".join(self.ARGUMENTS))


class AppServer:
    """`codex app-server`, which tells the hashes of the hooks and records them as trusted.

    This is the person's review of new hooks, done by the client itself: nothing here
    depends on how the hashes are made.
    """

    def __init__(self, binary, world):
        self.project, self.next_id, self.lines = world.project, 0, queue.Queue()
        self.proc = subprocess.Popen([binary, "app-server"], cwd=world.project, env=world.environment(), text=True,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                     start_new_session=True)
        threading.Thread(target=self._read, daemon=True).start()
        self.call("initialize", {"clientInfo": {"name": "e2e", "title": "e2e", "version": "0"},
                                 "capabilities": {"experimentalApi": True}})
        self._send({"method": "initialized"})

    def _read(self):
        for line in self.proc.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def _send(self, message):
        self.proc.stdin.write(json.dumps(message) + "\n")
        self.proc.stdin.flush()

    def call(self, method, params):
        self.next_id += 1
        self._send({"id": self.next_id, "method": method, "params": params})
        while (message := self.lines.get(timeout=30)) is not None:
            if message.get("id") == self.next_id and "method" not in message:
                assert "error" not in message, "%s: %s" % (method, message["error"])
                return message["result"]
        raise AssertionError("the app server ended")

    def hooks(self):
        return [hook for entry in self.call("hooks/list", {"cwds": [self.project]})["data"] for hook in entry["hooks"]]

    def trust_hooks(self):
        """Trusts every hook and returns how many there are."""
        states = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in self.hooks()}
        self.call("config/batchWrite", {"edits": [{"keyPath": "hooks.state", "value": states,
                                                   "mergeStrategy": "upsert"}]})
        return len(states)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proc.stdin.close()
        try:
            self.proc.wait(5)
        except subprocess.TimeoutExpired:
            pass
        end_group(self.proc)


CLIENTS = (Claude(), Codex(), Pi())
