"""Which lines each test runs, and how the test ends.

It reads a JSON configuration from standard input and writes a JSON line per test to standard
output.
Every test runs in a fork of the process that has collected all of them, so a test that hangs or
crashes costs only itself, and what it ran until its time was up is known.

Lines come from `sys.monitoring` on Python 3.12 and later (https://peps.python.org/pep-0669/), each
place switched off once it was seen; before that from `sys.settrace`, for files of the tree only.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import threading
import time
from typing import Any, NoReturn, TextIO

from repair.testing.inside.statuses import CRASHED, MESSAGE_CHARS, OUT_OF_TIME, classify

_TOOL = 3
"""One of the two ids of `sys.monitoring` that have no fixed meaning."""


class LineTracer:
    """Collects the lines that run in files under a folder."""

    def __init__(self, root: str) -> None:
        self.root = root + os.sep
        self.lines: dict[str, set[int]] = {}
        self._is_ours: dict[str, bool] = {}
        self._monitoring: Any = getattr(sys, "monitoring", None)

    def wants(self, filename: str) -> bool:
        """Whether a file lies under the folder, and not in packages installed there."""
        known = self._is_ours.get(filename)
        if known is None:
            path = os.path.abspath(filename)
            is_inside = path.startswith(self.root) and "site-packages" not in path
            known = is_inside and not filename.startswith("<")
            self._is_ours[filename] = known
        return known

    def start(self) -> None:
        """Begin to collect."""
        if self._monitoring is None:
            threading.settrace(self._enter)
            sys.settrace(self._enter)
            return
        events = self._monitoring.events
        self._monitoring.use_tool_id(_TOOL, "graphloc")
        self._monitoring.register_callback(_TOOL, events.LINE, self._see)
        self._monitoring.set_events(_TOOL, events.LINE)

    def stop(self) -> None:
        """Collect no more."""
        if self._monitoring is None:
            sys.settrace(None)
            threading.settrace(None)
        else:
            self._monitoring.set_events(_TOOL, 0)

    def found(self) -> dict[str, list[int]]:
        """Return sorted lines by path relative to the folder."""
        return {
            os.path.relpath(os.path.abspath(name), self.root): sorted(lines)
            for name, lines in self.lines.items()
        }

    def _see(self, code: Any, line: int) -> Any:
        if self.wants(code.co_filename):
            self.lines.setdefault(code.co_filename, set()).add(line)
        return self._monitoring.DISABLE

    def _enter(self, frame: Any, event: str, argument: Any) -> Any:
        if not self.wants(frame.f_code.co_filename):
            return None
        seen = self.lines.setdefault(frame.f_code.co_filename, set())
        seen.add(frame.f_lineno)

        def step(inner: Any, event: str, argument: Any) -> Any:
            if event == "line":
                seen.add(inner.f_lineno)
            return step

        return step


class CoveragePlugin:
    """A pytest plugin that runs each collected test in a fork, traced."""

    def __init__(self, limit_s: float, output: TextIO) -> None:
        self.limit_s = limit_s
        self.output = output
        self.reports: list[Any] = []
        self.errors: list[tuple[str, str]] = []

    def pytest_collectreport(self, report: Any) -> None:
        """Note what cannot be collected; pytest calls this."""
        if report.failed:
            self.errors.append((report.nodeid, str(report.longrepr)[-MESSAGE_CHARS:]))

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep a report; pytest calls this."""
        self.reports.append(report)

    def pytest_runtestloop(self, session: Any) -> bool:
        """Run the tests our way; pytest calls this."""
        for item in session.items:
            self.send(self.run_in_fork(item))
        return True

    def send(self, message: dict[str, Any]) -> None:
        """Write a message for whoever started us."""
        self.output.write(json.dumps(message) + "\n")
        self.output.flush()

    def run_in_fork(self, item: Any) -> dict[str, Any]:
        """Run one test in a child and return what the child says of it."""
        reader, writer = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(reader)
            self.run_traced(item, writer)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            data = pipe.read()
        _, status = os.waitpid(pid, 0)
        if data:
            message: dict[str, Any] = json.loads(data)
            return message
        ends = (signal.SIGXCPU, signal.SIGKILL)
        is_late = os.WIFSIGNALED(status) and os.WTERMSIG(status) in ends
        code = OUT_OF_TIME if is_late else CRASHED
        return {"test": item.nodeid, "status": code, "cpu": 0.0, "text": "", "lines": {}}

    def run_traced(self, item: Any, writer: int) -> NoReturn:
        """Run one test and write what it did."""
        tracer = LineTracer(os.getcwd())
        before = time.process_time()

        def report(status: str, text: str) -> NoReturn:
            tracer.stop()
            message = {
                "test": item.nodeid,
                "status": status,
                "cpu": round(time.process_time() - before, 6),
                "text": text,
                "lines": tracer.found(),
            }
            with os.fdopen(writer, "wb") as pipe:
                pipe.write(json.dumps(message).encode())
            os._exit(0)

        try:
            signal.signal(signal.SIGPROF, lambda *_: report(OUT_OF_TIME, "out of time"))
            signal.setitimer(signal.ITIMER_PROF, self.limit_s)
            _limit_cpu(self.limit_s)
            tracer.start()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            report(*classify(self.reports))
        finally:
            os._exit(1)


def _limit_cpu(limit_s: float) -> None:
    """End a process that hangs where Python's signal handlers do not get their turn."""
    seconds = int(limit_s) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


def main() -> None:
    """Run the tests that standard input names."""
    import pytest  # noqa: PLC0415 - the program's own pytest, found at run time

    config = json.loads(sys.stdin.read())
    sys.path[:0] = [place for place in config["path"] if place not in sys.path]
    sys.dont_write_bytecode = True
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    plugin = CoveragePlugin(config["limit_s"], output)
    code = pytest.main([*config["options"], *config["tests"]], plugins=[plugin])
    plugin.send({"exit": int(code), "errors": plugin.errors})
