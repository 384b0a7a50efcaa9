"""The one result schema of all completion methods, and the file that keeps results.

A file holds a line for each instance and method, written with a sync before the next one starts, so
that a killed run is resumed without doing anything twice. Its first line says which run it is.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

import msgspec

from graphloc.completion.errors import RunMismatchError
from graphloc.completion.model import Attempt, Completion
from indexes.errors import DiskFullError

RESULT_SCHEMA = "graphloc.complete-result/1"
RUN_SCHEMA = "graphloc.complete-run/1"


class AttemptRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """One prediction on the way, as `graphloc.completion.model.Attempt` has it."""

    body: str
    query: str = ""
    fragments: tuple[str, ...] = ()
    """``path:first-last`` of each fragment, in the order of the prompt."""
    tests: str = ""
    passed_own_tests: bool | None = None


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What a method made of an instance."""

    instance_id: str
    method: str
    body: str
    """The last sample's; empty without one."""
    passed: bool | None
    """Whether the held-out tests pass; None if none were run."""
    exact_match: bool
    edit_similarity: float
    """0 to 1."""
    n_samples: int = 1
    n_passed: int = 0
    passed_own_tests: bool | None = None
    prompt_tokens: int
    completion_tokens: int
    calls: int
    elapsed_s: float
    stop: str
    problem: str = ""
    attempts: tuple[AttemptRecord, ...] = ()
    schema: str = RESULT_SCHEMA

    @property
    def is_matched_failure(self) -> bool:
        """Whether it passes its own tests and fails the held-out ones."""
        return self.passed is False and self.passed_own_tests is True


class Run(msgspec.Struct, frozen=True):
    """What the results of a file depend on."""

    dataset: str
    """SHA-256 of the dataset's bytes."""
    methods: dict[str, str]
    """Fingerprints by name."""
    schema: str = RUN_SCHEMA


def attempt_records(attempts: Sequence[Attempt]) -> tuple[AttemptRecord, ...]:
    """Return the attempts as they are stored."""
    return tuple(
        AttemptRecord(
            body=each.body,
            query=each.query,
            fragments=tuple(
                f"{place.path}:{place.span.start_line}-{place.span.end_line}"
                for fragment in each.fragments
                for place in fragment.places[:1]
            ),
            tests=each.tests,
            passed_own_tests=each.passed_own_tests,
        )
        for each in attempts
    )


def own_tests_passed(completion: Completion) -> bool | None:
    """Return what the last attempt's own tests said of the result."""
    return completion.attempts[-1].passed_own_tests if completion.attempts else None


class ResultFile:
    """Appends results to a JSONL file; safe to use from several threads.

    Parameters
    ----------
    path
        Made if it is not there.
    run
        What the results depend on.
    resume
        Keep what the file holds, less a last line that was cut off; otherwise start anew.

    Raises
    ------
    RunMismatchError
        The file belongs to another run, or a line of it cannot be read.
    DiskFullError
        The file cannot be written.
    """

    def __init__(self, path: Path, run: Run, *, resume: bool) -> None:
        self._path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.finished: list[Result] = self._load(run) if resume and path.exists() else []
            fresh = not (resume and path.exists() and path.stat().st_size)
            self._file: IO[bytes] = path.open("wb" if fresh else "ab")
            if fresh:
                self._write(msgspec.json.encode(run))
        except OSError as error:
            raise self._unwritable(error) from error

    def add(self, result: Result) -> None:
        """Append a result; it is on the disk when this returns."""
        try:
            with self._lock:
                self._write(msgspec.json.encode(result))
        except OSError as error:
            raise self._unwritable(error) from error

    def __enter__(self) -> ResultFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()

    def _write(self, line: bytes) -> None:
        self._file.write(line + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _load(self, run: Run) -> list[Result]:
        data = self._path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.truncate(self._path, whole)
        lines = data[:whole].splitlines()
        if not lines:
            return []
        try:
            begun = msgspec.json.decode(lines[0], type=Run)
            results = [msgspec.json.decode(line, type=Result) for line in lines[1:]]
        except msgspec.DecodeError as error:
            raise RunMismatchError(
                f"{self._path} holds something else: name another file ({error})",
                path=str(self._path),
            ) from error
        if begun != run:
            raise RunMismatchError(
                f"{self._path} holds a run with another dataset, method or setting: name another "
                "file, or leave --resume out to start anew",
                path=str(self._path),
            )
        return results

    def _unwritable(self, error: OSError) -> DiskFullError:
        return DiskFullError(
            f"{self._path} cannot be written ({error.strerror}): make room, or name another file",
            path=str(self._path),
        )
