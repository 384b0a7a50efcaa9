"""A model connected to a scripted server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from graphloc.llm import (
    Ledger,
    ModelSettings,
    OpenAIChatModel,
    RecordMode,
    ReplyRecord,
    RetryPolicy,
)
from repair.ports import ChatRequest, Message, Role, ToolSchema
from tests.fakes.chat_server import ChatServer, Script


@dataclass
class Line:
    """A model, the server it talks to, and the waits between attempts (noted, not waited)."""

    model: OpenAIChatModel
    server: ChatServer
    delays_s: list[float] = field(default_factory=list)


Connect = Callable[..., Line]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Connect a model to a server with the given script; settings are passed by name."""
    with ExitStack() as stack:

        def _connect(
            script: Script,
            *,
            ledger: Ledger | None = None,
            record: ReplyRecord | None = None,
            **settings: object,
        ) -> Line:
            server = stack.enter_context(ChatServer(script))
            values = {"model": "scripted", "base_url": server.base_url, **settings}
            values.setdefault("retry", RetryPolicy(max_attempts=3))
            delays_s: list[float] = []
            model = OpenAIChatModel(
                ModelSettings(**values), ledger=ledger, record=record, sleep=delays_s.append
            )
            stack.callback(model.close)
            return Line(model, server, delays_s)

        yield _connect


@pytest.fixture
def open_record() -> Iterator[Callable[..., ReplyRecord]]:
    """Open a record that is closed when the test ends."""
    with ExitStack() as stack:

        def _open(path: Path, mode: RecordMode = RecordMode.RECORD) -> ReplyRecord:
            return stack.enter_context(ReplyRecord(path, mode))

        yield _open


@pytest.fixture
def ask() -> Callable[..., ChatRequest]:
    """Make a request of one user message."""

    def _ask(text: str = "Where is the bug?", **fields: object) -> ChatRequest:
        return ChatRequest(messages=(Message(Role.USER, text),), **fields)

    return _ask


@pytest.fixture
def search_tool() -> ToolSchema:
    """A tool with one parameter."""
    parameters = {
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
    }
    return ToolSchema("search", "Find code.", parameters)
