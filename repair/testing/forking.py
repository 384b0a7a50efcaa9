"""Runs many variants of a program in one sandboxed process that forks for each of them."""

from __future__ import annotations

import itertools
import json
import os
import select
import threading
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from repair.errors import SandboxError
from repair.model import TestOutcome, Variant
from repair.sandbox import Limits, RunResult
from repair.testing.assembly import assembled
from repair.testing.inside import child, fork_server, installation, plain_calls, statuses
from repair.testing.model import STATUSES, Baseline, Bench, ForkSettings, TestPlan, VariantOutcome

_POLL_S = 0.1
_PROCESSES = 64
_COUNTER = itertools.count()


class ForkRunner:
    """Tries variants with pytest, a fork each; needs a system that has `os.fork`.

    The program and its tests are imported once. A variant inside one function is put into the
    running program, any other one imports the program anew in its child. Variants are independent:
    none sees what another one did, hung or broke, but for files that its tests write.
    """

    def __init__(self, bench: Bench, settings: ForkSettings | None = None) -> None:
        self._bench = bench
        self._settings = settings or ForkSettings()
        self._flaky: set[str] = set()

    @property
    def flaky(self) -> frozenset[str]:
        """Tests that did not do on the unchanged program what the plan says; known when `run` has
        yielded its first outcome, and left out of all outcomes."""
        return frozenset(self._flaky)

    def measure(self, plan: TestPlan, *, messages: bool = False) -> Baseline:
        """Run the plan's tests on the unchanged program.

        Raises
        ------
        SandboxError
            The server could not be started, for instance because pytest is not installed.
        """
        outcomes: list[TestOutcome] = []
        missing: tuple[str, ...] = ()
        with _Session(self._bench, self._settings, plan, (), measure_only=True) as session:
            for message in session:
                if message["id"] == fork_server.MISSING:
                    missing = tuple(message["missing"])
                elif message["id"] == fork_server.BASELINE:
                    outcomes += _baseline_outcomes(message, messages)
        return Baseline(tuple(outcomes), missing)

    def run(
        self, plan: TestPlan, variants: Sequence[Variant]
    ) -> Generator[VariantOutcome, None, None]:
        """Yield each variant's outcome as it becomes known; stop the server when closed.

        The failing tests run first, then the passing ones, up to the first failure. A variant that
        runs out of time is reported as not final and may be reported once more, after all others.

        Raises
        ------
        SandboxError
            The server could not be started or died.
        """
        with _Session(self._bench, self._settings, plan, variants) as session:
            for message in session:
                if message["id"] == fork_server.BASELINE:
                    self._note_flaky(plan, message)
                elif message["id"] >= 0:
                    yield VariantOutcome(
                        message["id"],
                        {test: STATUSES[code] for test, code in message["status"].items()},
                        message["cpu_s"],
                        message["reason"],
                        message["is_final"],
                    )

    def _note_flaky(self, plan: TestPlan, message: dict[str, Any]) -> None:
        passing = frozenset(plan.passing)
        for test, code in message["status"].items():
            if (code == statuses.PASSED) != (test in passing):
                self._flaky.add(test)


def _baseline_outcomes(message: dict[str, Any], messages: bool) -> list[TestOutcome]:
    texts = message["messages"] if messages else {}
    return [
        TestOutcome(
            test,
            STATUSES[code],
            float(message["cpu"].get(test, 0.0)),
            texts.get(test, ""),
        )
        for test, code in message["status"].items()
    ]


class _Session:
    """One run of the server: a thread waits for the sandbox, messages come through a pipe."""

    def __init__(
        self,
        bench: Bench,
        settings: ForkSettings,
        plan: TestPlan,
        variants: Sequence[Variant],
        *,
        measure_only: bool = False,
    ) -> None:
        self._bench = bench
        self._settings = settings
        self._name = f".graphloc-outcomes-{os.getpid()}-{next(_COUNTER)}"
        self._input = self._config(plan, measure_only) + b"".join(_encoded(variants))
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._result: RunResult | None = None
        self._error: BaseException | None = None
        self._reader = -1

    def _config(self, plan: TestPlan, measure_only: bool) -> bytes:
        settings = self._settings
        config = {
            "tests": plan.all,
            "failing": plan.failing,
            "passing": plan.passing,
            "output": self._name,
            "path": self._bench.import_path().split(":"),
            "options": [*self._bench.options, "-s", "--assert=plain"],
            "measure_only": measure_only,
            "messages": measure_only,
            "jobs": settings.jobs,
            "baseline_s": settings.baseline_s,
            "floor_s": settings.floor_s,
            "slack": settings.slack,
            "retry_factor": settings.retry_factor,
            "retry_s": settings.retry_s,
            "keep_going": settings.keep_going,
            "memory_bytes": settings.memory_bytes,
        }
        return json.dumps(config).encode() + b"\n"

    def __enter__(self) -> _Session:
        path = self._path
        os.mkfifo(path, 0o600)
        owner = self._bench.workspace.owner
        if owner != os.geteuid():
            os.chown(path, owner, owner)
        self._reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Close the pipe, which ends the server at its next word, and wait for it."""
        os.close(self._reader)
        self._reader = -1
        self._thread.join()
        self._path.unlink(missing_ok=True)

    @property
    def _path(self) -> Path:
        return self._bench.workspace.root / self._name

    def _run(self) -> None:
        script = assembled(statuses, installation, plain_calls, child, fork_server)
        try:
            self._result = self._bench.sandbox.run(
                [str(self._bench.python), "-c", script],
                workdir=self._bench.workspace,
                env={**self._bench.env, "PYTHONPATH": self._bench.import_path()},
                limits=Limits(
                    wall_s=self._settings.wall_s,
                    cpu_s=self._settings.wall_s,
                    processes=_PROCESSES,
                ),
                stdin=self._input,
            )
        except Exception as error:  # noqa: BLE001 - handed to the thread that reads
            self._error = error

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield messages until the server has ended."""
        rest = b""
        has_ended = False
        while True:
            is_over = not self._thread.is_alive()
            ready, _, _ = select.select([self._reader], [], [], 0.0 if is_over else _POLL_S)
            data = os.read(self._reader, 1 << 16) if ready else b""
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                message = json.loads(line)
                has_ended = has_ended or message["id"] == fork_server.END
                yield message
            if not data and is_over:
                break
            if ready and not data:  # no writer: not there yet, or gone
                self._thread.join(_POLL_S / 10)
        self._check(has_ended)

    def _check(self, has_ended: bool) -> None:
        if self._error is not None:
            raise self._error
        result = self._result
        if result is not None and not result.is_success and not has_ended:
            detail = result.stderr.strip().splitlines()[-1:] or [f"exit code {result.exit_code}"]
            raise SandboxError(f"the test server failed: {detail[0]}")


def _encoded(variants: Sequence[Variant]) -> Iterator[bytes]:
    for index, variant in enumerate(variants):
        message = {
            "id": index,
            "path": variant.path,
            "edits": [[edit.start, edit.end, edit.text] for edit in variant.edits],
            "unit": variant.unit,
        }
        yield json.dumps(message).encode() + b"\n"
