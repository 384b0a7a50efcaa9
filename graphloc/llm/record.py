"""Every reply kept on disk, so that a run can be repeated exactly and resumed without paying again.

One SQLite file, a row per reply, keyed by the SHA-256 of what was asked: model, messages, tools,
parameters and the sample's index. Not part of it: the server's address, and how the request was
spelt for a server (`graphloc.llm.dialect`), so a record made with one server replays anywhere.

A row is written with a full sync before the reply is used: after ``kill -9`` only the requests
under way are lost. Several processes may share a file; when two ask the same thing at once, the row
written first counts for both. The key of the API never gets here (`graphloc.llm.redaction`).
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from types import TracebackType

from graphloc.llm.errors import RecordError, RecordMissingError
from indexes.errors import DiskFullError
from repair.ports import (
    ChatReply,
    ChatRequest,
    FinishReason,
    JsonValue,
    Message,
    ToolCall,
    Usage,
)

SCHEMA_VERSION = 1
_SQLITE_MAGIC = b"SQLite format 3\0"
_BUSY_TIMEOUT_S = 60.0
"""A writer holds the file for one synced row, some milliseconds; a minute covers many of them."""


class RecordMode(StrEnum):
    """What a record is used for."""

    OFF = "off"
    RECORD = "record"
    """Use a recorded reply when there is one, else ask and record."""
    REPLAY = "replay"
    """Use recorded replies only."""


class ReplyRecord:
    """A file of recorded replies; safe to use from several threads and processes.

    Parameters
    ----------
    path : Path
        Made when missing, except for replay.
    mode : RecordMode
        Record or replay.

    Raises
    ------
    RecordError
        The file cannot be opened or is no record of this version.
    """

    def __init__(self, path: Path, mode: RecordMode = RecordMode.RECORD) -> None:
        self.path = path
        self.mode = mode
        self._lock = threading.Lock()
        if mode is RecordMode.REPLAY and not path.is_file():
            raise RecordError(f"there is no record to replay at {path}", path=str(path))
        with self._translated():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._refuse_other_files()
            self._connection = sqlite3.connect(
                path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def find(self, key: str) -> ChatReply | None:
        """Return the reply recorded under `key`; None when there is none and recording is on.

        Raises
        ------
        RecordMissingError
            There is none, and only recorded replies may be used.
        """
        with self._translated():
            row = self._connection.execute(
                "SELECT reply FROM replies WHERE key = ?", (key,)
            ).fetchone()
        if row is not None:
            return self._decoded(row[0])
        if self.mode is RecordMode.REPLAY:
            raise RecordMissingError(
                f"no reply is recorded for request {key[:12]} in {self.path}: record the run first",
                path=str(self.path),
                key=key,
            )
        return None

    def add(self, key: str, request: str, reply: ChatReply) -> ChatReply:
        """Write a reply unless another process was first; return the one that counts.

        Parameters
        ----------
        key : str
            From `record_key`.
        request : str
            What was asked, as canonical JSON without secrets, for people to read.
        reply : ChatReply
            Without secrets; `data` is not kept, it follows from the text.
        """
        with self._translated():
            self._connection.execute(
                "INSERT OR IGNORE INTO replies(key, request, reply) VALUES (?, ?, ?)",
                (key, request, _encoded(reply)),
            )
        return self.find(key) or reply

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> ReplyRecord:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _refuse_other_files(self) -> None:
        """Leave a file alone that is none of ours; SQLite itself takes a short one for empty."""
        if not self.path.exists():
            return
        with self.path.open("rb") as stream:
            start = stream.read(len(_SQLITE_MAGIC))
        if start not in (b"", _SQLITE_MAGIC):
            raise RecordError(
                f"{self.path} is no record of replies: name another file", path=str(self.path)
            )

    def _prepare(self) -> None:
        # The rollback journal rather than WAL: one file to copy about, and switching a new file to
        # WAL fails at once, whatever the busy time-out, when another process opens it.
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("BEGIN IMMEDIATE")
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS replies("
                "key TEXT PRIMARY KEY, request TEXT NOT NULL, reply TEXT NOT NULL)"
            )
            self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        self._connection.execute("COMMIT")
        if version not in {0, SCHEMA_VERSION}:
            raise RecordError(
                f"the record {self.path} was made by another version: use another file",
                path=str(self.path),
            )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Hold the lock and turn SQLite's errors into ours."""
        try:
            with self._lock:
                yield
        except (sqlite3.Error, OSError) as error:
            if getattr(error, "sqlite_errorname", "") == "SQLITE_FULL":
                raise DiskFullError(f"no room left for {self.path}", path=str(self.path)) from error
            raise RecordError(
                f"the record {self.path} cannot be used: {error}", path=str(self.path)
            ) from error

    def _decoded(self, text: str) -> ChatReply:
        try:
            return _decoded(text)
        except (ValueError, KeyError, TypeError) as error:
            raise RecordError(
                f"the record {self.path} holds a damaged reply", path=str(self.path)
            ) from error


def canonical_request(model: str, request: ChatRequest, sample: int) -> str:
    """Return what is asked for one sample as canonical JSON (sorted keys, ASCII, no spaces)."""
    output = request.output
    asked: dict[str, JsonValue] = {
        "model": model,
        "messages": [_message(message) for message in request.messages],
        "tools": [[t.name, t.description, t.parameters] for t in request.tools],
        "output": [output.name, output.schema] if output else None,
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
        "seed": request.seed,
        "stop": request.stop,
        "sample": sample,
    }
    return json.dumps(asked, sort_keys=True, separators=(",", ":"))


def record_key(canonical: str) -> str:
    """Return the key of a request: the SHA-256 of its canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def _message(message: Message) -> dict[str, JsonValue]:
    return {
        "role": message.role.value,
        "content": message.content,
        "tool_calls": [_call(call) for call in message.tool_calls],
        "tool_call_id": message.tool_call_id,
    }


def _call(call: ToolCall) -> dict[str, JsonValue]:
    return {
        "id": call.id,
        "name": call.name,
        "arguments": call.arguments,
        "problem": call.problem,
    }


def _encoded(reply: ChatReply) -> str:
    usage = reply.usage
    return json.dumps(
        {
            "text": reply.text,
            "tool_calls": [_call(call) for call in reply.tool_calls],
            "finish_reason": reply.finish_reason.value,
            "usage": {name: getattr(usage, name) for name in Usage.__slots__},
        }
    )


def _decoded(text: str) -> ChatReply:
    stored = json.loads(text)
    return ChatReply(
        text=stored["text"],
        tool_calls=tuple(ToolCall(**call) for call in stored["tool_calls"]),
        usage=Usage(**stored["usage"]),
        finish_reason=FinishReason(stored["finish_reason"]),
    )
