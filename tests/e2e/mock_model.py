"""A scripted model: a local server that a real client takes for its model.

It speaks as much of two wire formats as a client needs to run a whole session without a
network: Anthropic Messages (Claude Code) and OpenAI Responses (Codex). It answers the
requests in turn from a list:

    [{"tools": [{"name": "Bash", "input": {"command": "ls"}}]}, {"text": "done"}]

A string as a tool's input gives a Responses custom tool call, as a patch needs. A request that
offers no tools (title makers, quota probes) uses up no turn. `when` maps a text to a turn:
a request whose newest items hold that text gets it, once, and no turn is used up; so two
clients can talk to one model. When the turns are used up the answer is "done".

What the model was shown is kept in `shown`: for each request the conversation, flattened
and in order, as items {"role", "kind", "text"}; kind is "instructions", "text", "call" or
"result". Binds to 127.0.0.1 only. Standard library only.
"""

import gzip
import json
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_REQUESTS = 60


def short_id(prefix):
    return prefix + uuid.uuid4().hex[:20]


def as_text(value):
    """Any content value of either format, as plain text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(t for t in (as_text(v) for v in value) if t)
    if isinstance(value, dict):
        for key in ("text", "output", "content"):
            if isinstance(value.get(key), (str, list)):
                return as_text(value[key])
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def items_messages(body):
    items = [{"role": "system", "kind": "instructions", "text": as_text(body.get("system"))}]
    for message in body.get("messages", []):
        content = message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        for block in content or []:
            kind = {"tool_use": "call", "tool_result": "result"}.get(block.get("type"), "text")
            text = json.dumps(block.get("input")) if kind == "call" else as_text(block)
            items.append({"role": message.get("role", ""), "kind": kind, "text": text})
    return items


def items_responses(body):
    items = [{"role": "system", "kind": "instructions", "text": as_text(body.get("instructions"))}]
    for item in body.get("input") or []:
        kind = item.get("type", "message")
        if kind.endswith("_call_output"):
            items.append({"role": "user", "kind": "result", "text": as_text(item.get("output"))})
        elif kind.endswith("_call"):
            items.append({"role": "assistant", "kind": "call",
                          "text": as_text(item.get("arguments", item.get("input")))})
        else:
            items.append({"role": item.get("role", ""), "kind": "text", "text": as_text(item)})
    return items


def newest_text(items):
    """The text of the items behind the assistant's last one."""
    newest = []
    for item in reversed(items):
        if item["role"] == "assistant":
            break
        newest.append(item["text"])
    return "\n".join(reversed(newest))


def reply_messages(turn, model):
    content = []
    if turn.get("text") or not turn.get("tools"):
        content.append({"type": "text", "text": turn.get("text", "")})
    for tool in turn.get("tools") or []:
        content.append({"type": "tool_use", "id": short_id("toolu_"), "name": tool["name"],
                        "input": tool["input"]})
    return {"id": short_id("msg_"), "type": "message", "role": "assistant", "model": model,
            "content": content, "stop_reason": "tool_use" if turn.get("tools") else "end_turn",
            "stop_sequence": None, "usage": {"input_tokens": 100, "output_tokens": 10}}


def stream_messages(message):
    yield {"type": "message_start", "message": dict(message, content=[], stop_reason=None)}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = dict(block, input={})
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "usage": message["usage"],
           "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None}}
    yield {"type": "message_stop"}


def reply_responses(turn, model):
    output = []
    if turn.get("text") or not turn.get("tools"):
        output.append({"type": "message", "id": short_id("msg_"), "role": "assistant", "status": "completed",
                       "content": [{"type": "output_text", "text": turn.get("text", ""), "annotations": []}]})
    for tool in turn.get("tools") or []:
        item = {"id": short_id("item_"), "status": "completed", "call_id": short_id("call_"), "name": tool["name"]}
        if isinstance(tool["input"], str):
            item.update(type="custom_tool_call", input=tool["input"])
        else:
            item.update(type="function_call", arguments=json.dumps(tool["input"]))
        output.append(item)
    return {"id": short_id("resp_"), "object": "response", "status": "completed", "model": model, "output": output,
            "usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
                      "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 110}}


def stream_responses(response):
    yield {"type": "response.created", "response": dict(response, output=[], status="in_progress", usage=None)}
    for index, item in enumerate(response["output"]):
        yield {"type": "response.output_item.added", "output_index": index, "item": dict(item, status="in_progress")}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": response}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        """Stays silent."""

    def read_body(self):
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            raw = b""
            while size := int(self.rfile.readline().split(b";")[0].strip() or b"0", 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Encoding", "").lower() == "gzip":
            raw = gzip.decompress(raw)
        return json.loads(raw) if raw else {}

    def send_json(self, value, status=200):
        raw = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def send_events(self, events):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in events:
            self.wfile.write(("event: %s\ndata: %s\n\n" % (event["type"], json.dumps(event))).encode())
            self.wfile.flush()

    def do_HEAD(self):
        self.send_json({})

    def do_GET(self):
        if self.path.split("?")[0].endswith("/models"):
            return self.send_json({"object": "list", "data": [], "models": [], "has_more": False})
        return self.send_json({"error": {"type": "not_found_error", "message": "not here"}}, 404)

    def do_POST(self):
        body, path = self.read_body(), self.path.split("?")[0].rstrip("/")
        if path.endswith("/count_tokens"):
            return self.send_json({"input_tokens": 100})
        if path.endswith("/messages"):
            items, reply, stream = items_messages(body), reply_messages, stream_messages
        elif path.endswith("/responses"):
            items, reply, stream = items_responses(body), reply_responses, stream_responses
        else:
            return self.send_json({"error": {"type": "not_found_error", "message": "not here"}}, 404)
        turn = self.server.mock.pick(items, bool(body.get("tools")))
        if turn is None:
            return self.send_json({"error": {"type": "invalid_request_error", "message": "too many requests"}}, 400)
        answer = reply(turn, body.get("model", "mock"))
        try:
            return self.send_events(stream(answer)) if body.get("stream") else self.send_json(answer)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
            return None


class MockModel:
    """The server as a context manager; `url`, `shown` and `used` (turns so far)."""

    def __init__(self, turns, when=None):
        self.turns, self.when = list(turns), dict(when or {})
        self.shown, self.used, self.lock = [], 0, threading.Lock()
        self.httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.httpd.daemon_threads = True
        self.httpd.mock = self
        self.url = "http://127.0.0.1:%d" % self.httpd.server_address[1]

    def pick(self, items, offers_tools):
        with self.lock:
            if len(self.shown) >= MAX_REQUESTS:
                return None
            newest = newest_text(items)
            for text in self.when:
                if text in newest:
                    return self.when.pop(text)
            if not offers_tools:
                return {"text": "ok"}
            self.shown.append(items)
            self.used += 1
            return self.turns[self.used - 1] if self.used <= len(self.turns) else {"text": "done"}

    def __enter__(self):
        threading.Thread(target=self.httpd.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *exc):
        self.httpd.shutdown()
        self.httpd.server_close()
