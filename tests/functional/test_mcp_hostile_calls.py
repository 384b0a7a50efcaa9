"""Malformed and hostile calls: the server stands, and says nothing of what is outside."""

from __future__ import annotations

import json
import random
import subprocess
import threading
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.functional.mcp_clients import command, environment, serving
from tests.functional.test_mcp_stdio import CALLS, GREETING

OUTSIDE = [
    "../../etc/passwd",
    "/etc/passwd",
    "..\\..\\etc\\passwd",
    "file:///etc/passwd",
    "shop/../../../etc/passwd",
    "/etc/passwd:root",
    "/proc/self/environ",
    "~/.ssh/id_rsa",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
]
ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    10**30,
    1e308,
    "",
    " ",
    "\0",
    "a\0b",
    "\u202e",
    "x" * 200_000,
    "[" * 20_000,
    "{}",
    "[1, 2",
    [],
    [None],
    [[["deep"]]],
    {"a": {"b": {}}},
    ["x"] * 1_000,
    "'; DROP TABLE facts; --",
    "$(touch /tmp/owned)",
    "\ufffe\uffff",
    "cursor",
]
NAMES = [
    "issue",
    "terms",
    "ids",
    "start_entities",
    "entity",
    "kinds",
    "top_k",
    "hops",
    "direction",
    "level",
    "max_tokens",
    "cursor",
    "edge_kinds",
    "min_confidence",
    "unheard_of",
]
RAW = [
    b"",
    b"\n",
    b"not json",
    b"{",
    b"[]",
    b"null",
    b"0",
    b'{"jsonrpc": "2.0"}',
    b'{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}',
    b'{"jsonrpc": "2.0", "id": null, "method": "tools/list"}',
    b'{"jsonrpc": "2.0", "id": {}, "method": "tools/list"}',
    b'{"jsonrpc": "2.0", "id": 5, "method": 7}',
    b'{"jsonrpc": "2.0", "id": 5, "method": "no/such/method"}',
    b'{"jsonrpc": "2.0", "id": 5, "method": "tools/call"}',
    b'{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": []}',
    b'{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": 5}}',
    b'{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "localize", '
    b'"arguments": {"issue": "\\ud800"}}}',
    b'{"jsonrpc": "2.0", "id": 5, "method": "resources/read", "params": {"uri": "/etc/passwd"}}',
    b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}',
    b'{"jsonrpc": "2.0", "method": "notifications/unheard"}',
    b"\xff\xfe\x00bad bytes",
    b"[" * 50_000,
    b'{"jsonrpc": "2.0", "id": 1, "result": {}}',
]
URIS = [
    "file:///etc/passwd",
    "graphloc://map/../../etc/passwd",
    "graphloc://map/-1",
    "graphloc://map/99999999999999999999",
    "graphloc://map/%00",
    "graphloc://other",
]


def hostile_calls(n: int) -> list[dict[str, Any]]:
    """Calls of tools with arguments that are wrong in every way; the same ones in each run."""
    chance = random.Random(5)
    calls: list[dict[str, Any]] = []
    for number in range(n):
        arguments: Any = dict(CALLS[chance.choice(list(CALLS))])
        for _ in range(chance.randint(1, 3)):
            value = chance.choice([*ODD, *OUTSIDE, [chance.choice(OUTSIDE)]])
            arguments[chance.choice(NAMES)] = value
        if number % 25 == 0:
            arguments = chance.choice(ODD)
        name = chance.choice([*CALLS, "no_such_tool", "", "../localize"])
        calls.append({"name": name, "arguments": arguments})
    return calls


def request(number: int, method: str, params: object) -> bytes:
    """One message of the protocol."""
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(message).encode()


def test_five_hundred_hostile_calls_over_a_pipe(shop: Path) -> None:
    calls = [request(100 + n, "tools/call", call) for n, call in enumerate(hostile_calls(500))]
    reads = [request(900 + n, "resources/read", {"uri": uri}) for n, uri in enumerate(URIS)]
    last = request(1_000, "tools/call", {"name": "search_entity", "arguments": CALLS["reindex"]})
    good = request(1_001, "tools/call", {"name": "reindex", "arguments": {}})
    process = subprocess.Popen(
        command(shop),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdin
    greeting = json.dumps(GREETING).encode()
    initialized = b'{"jsonrpc": "2.0", "method": "notifications/initialized"}'
    lines = [greeting, initialized, *RAW, *calls, *reads, last, good]
    answers, said = talk(process, lines, last_id=1_001)
    assert process.returncode == 0
    found = {a["id"]: a for a in answers if isinstance(a.get("id"), int)}
    assert found.keys() >= set(range(100, 600)) | set(range(900, 900 + len(URIS)))
    assert not found[1_001]["result"]["isError"]
    assert found[1_000]["result"]["isError"]
    check_silence(json.dumps(answers), shop)
    check_silence(said, shop)


def talk(
    process: subprocess.Popen[bytes], lines: list[bytes], *, last_id: int
) -> tuple[list[dict[str, Any]], str]:
    """Send lines while reading what comes, until the last request is answered."""
    assert process.stdin
    assert process.stdout
    assert process.stderr
    errors: list[bytes] = []
    stderr = process.stderr
    listener = threading.Thread(target=lambda: errors.append(stderr.read()))
    listener.start()

    def send() -> None:
        assert process.stdin
        for line in lines:
            process.stdin.write(line + b"\n")
        process.stdin.flush()

    sender = threading.Thread(target=send)
    sender.start()
    answers: list[dict[str, Any]] = []
    wanted = {last_id} | set(range(100, 600))
    while wanted:
        line = process.stdout.readline()
        assert line, "the server has gone"
        answers.append(json.loads(line))
        wanted.discard(answers[-1].get("id"))
    sender.join()
    process.stdin.close()
    answers += [json.loads(line) for line in process.stdout.read().splitlines()]
    process.wait(60)
    listener.join()
    process.stdout.close()
    stderr.close()
    return answers, errors[0].decode()


def check_silence(said: str, shop: Path) -> None:
    """Neither contents nor places outside of the repository were told."""
    assert "root:x:" not in said
    assert "Traceback" not in said
    assert str(shop.parent) not in said
    assert "site-packages" not in said


@pytest.mark.parametrize("size", [5_000_000, 1_000])
def test_hostile_requests_over_a_socket(shop: Path, size: int) -> None:
    headers = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
    }
    with serving(shop) as server, httpx2.Client(trust_env=False, timeout=60) as client:
        greeted = client.post(server.url, content=json.dumps(GREETING), headers=headers)
        session = {"mcp-session-id": greeted.headers["mcp-session-id"]}
        said = []
        calls = [request(n, "tools/call", call) for n, call in enumerate(hostile_calls(40))]
        for body in [*RAW, b"x" * size, *calls]:
            answer = client.post(server.url, content=body, headers=headers | session)
            assert answer.status_code < 500
            said.append(answer.text)
        for path in ["/", "/etc/passwd", "/../../etc/passwd", "/mcp/../x"]:
            assert client.get(server.url.removesuffix("/mcp") + path).status_code in {404, 405, 406}
        unknown = client.post(
            server.url,
            content=request(7, "tools/list", {}),
            headers=headers | {"mcp-session-id": "../../etc/passwd"},
        )
        assert unknown.status_code in {400, 404}
        good = request(8, "tools/call", {"name": "reindex", "arguments": {}})
        answer = client.post(server.url, content=good, headers=headers | session)
        assert '"isError":false' in answer.text
        check_silence("".join(said), shop)
