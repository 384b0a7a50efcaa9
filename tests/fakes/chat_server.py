"""A scripted OpenAI-compatible HTTP server on loopback, for tests.

It speaks real HTTP over real sockets, so the real client with all its error handling is under test.
A script is a list of replies, given out in order, or a function from what was asked to a reply::

    from tests.fakes.chat_server import ChatServer, Status, Text, ToolCalls

    def test_agent(...):
        script = [ToolCalls([("search", {"query": "x"})]), Status(429), Text("done")]
        with ChatServer(script) as server:
            settings = ModelSettings(model="scripted", base_url=server.base_url)
            ...
            assert server.requests[0].body["messages"][-1]["content"] == "Where is the bug?"
            assert server.unused == 0

A function is called from several threads at once. A list that has run out answers 400 with
"script exhausted", which no client retries. To run it as a process of its own::

    python -m tests.fakes.chat_server SCRIPT.json [--log REQUESTS.jsonl]

It prints its base URL on one line and serves until it is killed. SCRIPT.json holds a list of
objects with the kind and the fields of a reply: ``[{"kind": "text", "text": "hi"}, {"kind":
"status", "status": 500}]``. Each request it gets is appended to the log before it is answered.
"""

from __future__ import annotations

import argparse
import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

DEFAULT_USAGE: Mapping[str, Any] = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
_NO_HEADERS: Mapping[str, str] = {}


@dataclass(frozen=True)
class Text:
    """A plain reply."""

    text: str
    usage: Mapping[str, Any] | None = field(default_factory=lambda: DEFAULT_USAGE)
    """As the vendor under test spells it; None leaves it out."""
    finish_reason: str | None = "stop"
    extra: Mapping[str, Any] = field(default_factory=dict)
    """More fields at the top of the payload."""


@dataclass(frozen=True)
class ToolCalls:
    """A reply that calls tools: (name, arguments); a string is sent as it is, malformed or not."""

    calls: Sequence[tuple[str, Mapping[str, Any] | str]]
    text: str | None = None
    usage: Mapping[str, Any] | None = field(default_factory=lambda: DEFAULT_USAGE)


@dataclass(frozen=True)
class Status:
    """An HTTP error in OpenAI's form."""

    status: int
    message: str = "scripted failure"
    headers: Mapping[str, str] = field(default_factory=lambda: _NO_HEADERS)
    code: str | None = None
    param: str | None = None
    error_type: str = "scripted_error"
    extra: Mapping[str, Any] = field(default_factory=dict)
    """More fields beside the message."""


@dataclass(frozen=True)
class Raw:
    """Any body."""

    body: str
    status: int = 200
    content_type: str = "application/json"


@dataclass(frozen=True)
class Drop:
    """Close the connection after so many bytes of a reply that promises more."""

    after_bytes: int = 0


@dataclass(frozen=True)
class Slow:
    """Wait, then reply; with `pieces` the body drips, one piece each `delay_s`."""

    delay_s: float
    reply: Reply = field(default_factory=lambda: Text("late"))
    pieces: int = 1


Reply: TypeAlias = Text | ToolCalls | Status | Raw | Drop | Slow
Script: TypeAlias = "Sequence[Reply] | Callable[[SeenRequest], Reply]"

NO_TOOLS = Status(400, "this model does not support tools", param="tools")
OVERFLOW = Status(
    400,
    "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 "
    "tokens. Please reduce the length of the messages.",
    code="context_length_exceeded",
    param="messages",
)
EMPTY_CHOICES = Raw('{"id": "x", "object": "chat.completion", "choices": []}')
NOT_JSON = Raw("<html>Bad gateway</html>", content_type="text/html")


@dataclass(frozen=True)
class SeenRequest:
    """A request the server got."""

    index: int
    """From 0, in the order of arrival; the listing of models does not count."""
    path: str
    headers: Mapping[str, str]
    """Keys in lower case."""
    body: Mapping[str, Any]


class ChatServer:
    """The server; use it as a context manager.

    Parameters
    ----------
    script : sequence of replies, or callable
        What to answer.
    models : sequence of str
        What ``/v1/models`` lists.
    log : Path, optional
        File that gets each request as a line of JSON, before it is answered.
    """

    def __init__(
        self, script: Script, *, models: Sequence[str] = ("scripted",), log: Path | None = None
    ) -> None:
        self._script = script
        self._models = models
        self._log = log
        self._lock = threading.Lock()
        self._requests: list[SeenRequest] = []
        self._under_way = 0
        self.max_under_way = 0
        """The most requests that waited for the script at one time."""
        self.stopping = threading.Event()
        self._http = _Listener(("127.0.0.1", 0), _Handler)
        self._http.scripted = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> ChatServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def base_url(self) -> str:
        """What the client needs as its base URL."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def requests(self) -> list[SeenRequest]:
        """The requests for completions so far."""
        with self._lock:
            return list(self._requests)

    @property
    def unused(self) -> int:
        """How many replies of the list are left."""
        if callable(self._script):
            return 0
        return max(0, len(self._script) - len(self.requests))

    def model_list(self) -> dict[str, Any]:
        """Return the body of ``/v1/models``."""
        listed = [
            {"id": name, "object": "model", "created": 0, "owned_by": "tests"}
            for name in self._models
        ]
        return {"object": "list", "data": listed}

    def answer(self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Reply:
        """Take note of a request and choose its reply."""
        with self._lock:
            seen = SeenRequest(len(self._requests), path, headers, body)
            self._requests.append(seen)
            if self._log is not None:
                with self._log.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps({"path": path, "body": body}) + "\n")
        if callable(self._script):
            return self._script(seen)
        if seen.index < len(self._script):
            return self._script[seen.index]
        return Status(400, "script exhausted")

    def enter_request(self) -> None:
        """Count a request that starts."""
        with self._lock:
            self._under_way += 1
            self.max_under_way = max(self.max_under_way, self._under_way)

    def leave_request(self) -> None:
        """Count a request that ends."""
        with self._lock:
            self._under_way -= 1


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    scripted: ChatServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay quiet about clients that hang up, which time-out tests do on purpose."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Listener

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            self._send_json(200, self.server.scripted.model_list())
        else:
            self._send_json(404, {"error": {"message": f"no such path: {self.path}"}})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.path != "/v1/chat/completions":
            self._send_json(404, {"error": {"message": f"no such path: {self.path}"}})
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        scripted = self.server.scripted
        scripted.enter_request()
        try:
            reply = scripted.answer(self.path, headers, json.loads(raw))
        finally:
            # Left before the answer goes out, so that the client cannot start its next request
            # while this one still counts.
            scripted.leave_request()
        self._send(reply)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        """Log nothing."""

    def _send(self, reply: Reply) -> None:
        match reply:
            case Slow(delay_s, inner, pieces):
                self._send_slowly(delay_s, inner, pieces)
            case Drop(after_bytes):
                self._drop(after_bytes)
            case Raw(body, status, content_type):
                self._send_body(status, body.encode(), {"content-type": content_type})
            case Status():
                error = {"message": reply.message, "type": reply.error_type, "code": reply.code}
                error |= {"param": reply.param, **reply.extra}
                self._send_json(reply.status, {"error": error}, reply.headers)
            case Text() | ToolCalls():
                self._send_json(200, completion(reply))

    def _send_slowly(self, delay_s: float, reply: Reply, pieces: int) -> None:
        if self.server.scripted.stopping.wait(delay_s):
            self.close_connection = True
            return
        if pieces == 1 or not isinstance(reply, Text | ToolCalls):
            self._send(reply)
            return
        body = json.dumps(completion(reply)).encode()
        self._send_head(200, len(body), {"content-type": "application/json"})
        size = -(-len(body) // pieces)
        for start in range(0, len(body), size):
            self.wfile.write(body[start : start + size])
            self.wfile.flush()
            if self.server.scripted.stopping.wait(delay_s):
                break

    def _drop(self, after_bytes: int) -> None:
        if after_bytes:
            body = json.dumps(completion(Text("x" * after_bytes))).encode()
            self._send_head(200, len(body), {"content-type": "application/json"})
            self.wfile.write(body[:after_bytes])
            self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _send_json(
        self, status: int, payload: object, headers: Mapping[str, str] = _NO_HEADERS
    ) -> None:
        body = json.dumps(payload).encode()
        self._send_body(status, body, {"content-type": "application/json", **headers})

    def _send_body(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self._send_head(status, len(body), headers)
        self.wfile.write(body)

    def _send_head(self, status: int, length: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(length))
        self.end_headers()


def completion(reply: Text | ToolCalls) -> dict[str, Any]:
    """Return the payload of a completion."""
    if isinstance(reply, Text):
        message: dict[str, Any] = {"role": "assistant", "content": reply.text}
        finish_reason, extra = reply.finish_reason, reply.extra
    else:
        calls = [_tool_call(index, *call) for index, call in enumerate(reply.calls)]
        message = {"role": "assistant", "content": reply.text, "tool_calls": calls}
        finish_reason, extra = "tool_calls", {}
    payload: dict[str, Any] = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        **extra,
    }
    if reply.usage is not None:
        payload["usage"] = reply.usage
    return payload


def _tool_call(index: int, name: str, arguments: Mapping[str, Any] | str) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": name, "arguments": text}
    return {"id": f"call_{index}", "type": "function", "function": function}


def load_script(path: Path) -> list[Reply]:
    """Read a script file."""
    return [reply_from(entry) for entry in json.loads(path.read_text(encoding="utf-8"))]


def reply_from(entry: Mapping[str, Any]) -> Reply:
    """Make a reply of its kind (text, tool_calls, status, raw, drop, slow) and fields."""
    kinds: dict[str, Callable[..., Reply]] = {
        "text": Text,
        "tool_calls": ToolCalls,
        "status": Status,
        "raw": Raw,
        "drop": Drop,
        "slow": Slow,
    }
    fields = dict(entry)
    make = kinds[fields.pop("kind")]
    if isinstance(fields.get("reply"), Mapping):
        fields["reply"] = reply_from(fields["reply"])
    return make(**fields)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve a script file until killed."""
    parser = argparse.ArgumentParser(description="Serve scripted chat completions on loopback.")
    parser.add_argument("script", type=Path)
    parser.add_argument("--log", type=Path)
    options = parser.parse_args(arguments)
    with ChatServer(load_script(options.script), log=options.log) as server:
        sys.stdout.write(server.base_url + "\n")
        sys.stdout.flush()
        while True:
            time.sleep(3600)


if __name__ == "__main__":
    main()
