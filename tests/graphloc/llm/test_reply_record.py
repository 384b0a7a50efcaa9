"""Recorded replies: repeated exactly, resumed after a kill, shared by processes."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from graphloc.llm import Budget, Ledger, RecordMode
from graphloc.llm.errors import ModelServerError, RecordError, RecordMissingError
from graphloc.llm.record import canonical_request, record_key
from repair.ports import (
    ChatReply,
    ChatRequest,
    FinishReason,
    Message,
    OutputSchema,
    Role,
    ToolCall,
    ToolSchema,
    Usage,
)
from tests.fakes.chat_server import NO_TOOLS, ChatServer, SeenRequest, Status, Text, ToolCalls

ROOT = Path(__file__).resolve().parents[3]
REQUEST = ChatRequest((Message(Role.USER, "Where?"),))


def numbered(seen: SeenRequest) -> Text:
    return Text(f"reply {seen.index}")


def test_a_second_run_repeats_the_first_without_a_request(connect, ask, tmp_path, open_record):
    path = tmp_path / "deep" / "record.sqlite"
    first = connect(numbered, record=open_record(path))
    replies = first.model.complete(ask(n=3))
    second = connect([], record=open_record(path), ledger=Ledger(Budget(max_requests=0)))
    assert second.model.complete(ask(n=3)) == replies
    assert second.server.requests == []
    report = second.model.report()
    assert (report.requests, report.replayed_replies) == (0, 3)
    assert report.replayed_usage == first.model.report().usage
    assert report.usage == Usage()


def test_samples_have_records_of_their_own(connect, ask, tmp_path, open_record):
    line = connect(numbered, record=open_record(tmp_path / "r"))
    texts = {line.model.complete(ask(first_sample=sample))[0].text for sample in (0, 1, 2, 0, 1, 2)}
    assert texts == {"reply 0", "reply 1", "reply 2"}
    assert line.model.complete(ask(n=5))[:3] == line.model.complete(ask(n=3))
    assert len(line.server.requests) == 5


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, messages=(Message(Role.USER, "Why?"),)),
        replace(REQUEST, messages=(Message(Role.SYSTEM, "Where?"),)),
        replace(REQUEST, messages=(Message(Role.TOOL, "Where?", tool_call_id="c"),)),
        replace(REQUEST, tools=(ToolSchema("t", "", {}),)),
        replace(REQUEST, output=OutputSchema("o", {})),
        replace(REQUEST, temperature=0.0),
        replace(REQUEST, max_tokens=5),
        replace(REQUEST, seed=1),
        replace(REQUEST, stop=("END",)),
    ],
)
def test_whatever_is_asked_differently_has_another_key(other):
    def key(model: str, request: ChatRequest, sample: int) -> str:
        return record_key(canonical_request(model, request, sample))

    usual = key("m", REQUEST, 0)
    assert key("m", other, 0) != usual
    assert usual == key("m", replace(REQUEST, n=7, first_sample=3), 0)
    assert len({usual, key("m2", REQUEST, 0), key("m", REQUEST, 1)}) == 3


def test_keys_stay_the_same_between_releases():
    """A change of this digest makes every record out there useless: bump the schema instead."""
    canonical = canonical_request("m", REQUEST, 0)
    assert canonical == (
        '{"max_tokens":null,"messages":[{"content":"Where?","role":"user","tool_call_id":"",'
        '"tool_calls":[]}],"model":"m","output":null,"sample":0,"seed":null,"stop":[],'
        '"temperature":null,"tools":[]}'
    )
    assert record_key(canonical).startswith("15768bd2a7f369cd")


def test_every_field_of_a_reply_survives(tmp_path, open_record):
    reply = ChatReply(
        "text \udcff \u2028",
        (ToolCall("c", "search", {"query": ["x", 1, None]}), ToolCall("d", "", {}, "broken")),
        Usage(10, 5, 3, is_estimated=True),
        FinishReason.TOOL_CALLS,
    )
    open_record(tmp_path / "r").add("key", "{}", reply)
    assert open_record(tmp_path / "r").find("key") == reply


def test_replay_only_never_asks(connect, ask, tmp_path, open_record):
    path = tmp_path / "r"
    connect([Text("a")], record=open_record(path)).model.complete(ask())
    line = connect([Text("never")], record=open_record(path, RecordMode.REPLAY))
    assert line.model.complete(ask())[0].text == "a"
    with pytest.raises(RecordMissingError, match="record the run first"):
        line.model.complete(ask("Something else?"))
    assert line.server.requests == []
    with pytest.raises(RecordError, match="no record"):
        open_record(tmp_path / "none", RecordMode.REPLAY)


def test_a_record_holds_whatever_way_the_server_was_asked(
    connect, ask, search_tool, tmp_path, open_record
):
    path = tmp_path / "r"
    request = ask(tools=(search_tool,))
    in_text = '<tool_call>{"name": "search", "arguments": {"query": "x"}}</tool_call>'
    first = connect([NO_TOOLS, Text(in_text)], record=open_record(path)).model.complete(request)
    again = connect([ToolCalls([("search", {})])], record=open_record(path)).model
    assert again.complete(request) == first


def test_structured_replies_and_their_repair_are_recorded(connect, ask, tmp_path, open_record):
    path = tmp_path / "r"
    request = ask(output=OutputSchema("number", {"type": "integer"}))
    first = connect([Text("none"), Text("3")], record=open_record(path)).model.complete(request)
    again = connect([], record=open_record(path)).model.complete(request)
    assert again == first
    assert again[0].data == 3


def test_failures_are_not_recorded(connect, ask, tmp_path, open_record):
    line = connect([Status(500)] * 3 + [Text("ok")], record=open_record(tmp_path / "r"))
    with pytest.raises(ModelServerError):
        line.model.complete(ask())
    assert line.model.complete(ask())[0].text == "ok"


def test_threads_share_a_record(connect, ask, tmp_path, open_record):
    record = open_record(tmp_path / "r")
    line = connect(numbered, record=record, max_concurrency=8)
    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda i: line.model.complete(ask(f"q{i % 10}"))[0].text, range(40)))
    assert all(texts[i] == texts[i % 10] for i in range(40))


@pytest.mark.parametrize("content", [b"not a database at all" * 99, b"x", b"a short note\n" * 9])
def test_a_file_that_is_no_record_is_refused(tmp_path, content, open_record):
    path = tmp_path / "r"
    path.write_bytes(content)
    with pytest.raises(RecordError, match=str(path)):
        open_record(path)
    assert path.read_bytes() == content


def test_a_record_of_another_version_is_refused(tmp_path, open_record):
    connection = sqlite3.connect(tmp_path / "r")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(RecordError, match="another version"):
        open_record(tmp_path / "r")


def test_a_damaged_reply_is_told(tmp_path, open_record):
    record = open_record(tmp_path / "r")
    record.add("key", "{}", ChatReply("x"))
    record.close()
    connection = sqlite3.connect(tmp_path / "r")
    with connection:
        connection.execute("UPDATE replies SET reply = '{}'")
    connection.close()
    with pytest.raises(RecordError, match="damaged"):
        open_record(tmp_path / "r").find("key")


CHILD = """
import json, sys
from pathlib import Path
from graphloc.llm import ModelSettings, OpenAIChatModel, ReplyRecord
from repair.ports import ChatRequest, Message, Role

base_url, path = sys.argv[1:]
record = ReplyRecord(Path(path))
with OpenAIChatModel(ModelSettings(model="scripted", base_url=base_url), record=record) as model:
    texts = [
        model.complete(ChatRequest((Message(Role.USER, f"question {i}"),)))[0].text
        for i in range(8)
    ]
record.close()
sys.stdout.write(json.dumps(texts))
"""


def run_child(server: ChatServer, path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CHILD, server.base_url, str(path)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_a_killed_run_is_resumed_without_paying_again(tmp_path):
    reached = threading.Event()

    def reply(seen: SeenRequest) -> Text:
        if seen.index == 5:
            reached.set()
            server.stopping.wait(60)
        return Text(f"answer to {seen.body['messages'][0]['content']}")

    with ChatServer(reply) as server:
        with run_child(server, tmp_path / "r") as child:
            assert reached.wait(60)
            os.kill(child.pid, signal.SIGKILL)
        with run_child(server, tmp_path / "r") as child:
            output, _ = child.communicate(timeout=60)
        asked = [seen.body["messages"][0]["content"] for seen in server.requests]
        server.stopping.set()
    assert json.loads(output) == [f"answer to question {i}" for i in range(8)]
    assert asked == [f"question {i}" for i in (0, 1, 2, 3, 4, 5, 5, 6, 7)]


def test_two_processes_share_a_record_and_agree(tmp_path):
    with ChatServer(numbered) as server:
        with run_child(server, tmp_path / "r") as one, run_child(server, tmp_path / "r") as two:
            outputs = [child.communicate(timeout=120)[0] for child in (one, two)]
        assert outputs[0] == outputs[1]
        assert 8 <= len(server.requests) <= 16
        assert len(set(json.loads(outputs[0]))) == 8
