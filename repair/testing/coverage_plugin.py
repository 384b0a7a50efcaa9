"""Program inside a sandbox: which lines each test runs, and how the test ends.

``python -c SOURCE`` reads a JSON configuration from standard input and writes a JSON line per test
to standard output. Every test runs in a fork of the process that has collected all of them, so a
test that hangs or crashes costs only itself, and what it ran until its time was up is known.

Lines come from `sys.monitoring` on Python 3.12 and later (https://peps.python.org/pep-0669/), each
place switched off once it was seen; before that from `sys.settrace`, for files of the tree only.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time

_MESSAGE_CHARS = 2000
_TOOL = 3
"""One of the two ids of `sys.monitoring` that have no fixed meaning."""


class LineTracer:
    """Collects (file, line) pairs of files under a folder."""

    def __init__(self, root):
        self.root = root + os.sep
        self.lines = {}
        self._is_ours = {}

    def wants(self, filename):
        """Whether a file lies under the folder, and not in packages installed there."""
        known = self._is_ours.get(filename)
        if known is None:
            path = os.path.abspath(filename)
            known = path.startswith(self.root) and "site-packages" not in path
            known = known and not filename.startswith("<")
            self._is_ours[filename] = known
        return known

    def start(self):
        if hasattr(sys, "monitoring"):
            monitoring = sys.monitoring
            monitoring.use_tool_id(_TOOL, "graphloc")
            monitoring.register_callback(_TOOL, monitoring.events.LINE, self._see)
            monitoring.set_events(_TOOL, monitoring.events.LINE)
        else:
            threading.settrace(self._enter)
            sys.settrace(self._enter)

    def stop(self):
        if hasattr(sys, "monitoring"):
            sys.monitoring.set_events(_TOOL, 0)
            sys.monitoring.free_tool_id(_TOOL)
        else:
            sys.settrace(None)
            threading.settrace(None)

    def found(self):
        """Return sorted lines by path relative to the folder."""
        return {
            os.path.relpath(os.path.abspath(name), self.root): sorted(lines)
            for name, lines in self.lines.items()
        }

    def _see(self, code, line):
        if self.wants(code.co_filename):
            self.lines.setdefault(code.co_filename, set()).add(line)
        return sys.monitoring.DISABLE

    def _enter(self, frame, event, argument):
        if not self.wants(frame.f_code.co_filename):
            return None
        seen = self.lines.setdefault(frame.f_code.co_filename, set())
        seen.add(frame.f_lineno)

        def step(inner, event, argument):
            if event == "line":
                seen.add(inner.f_lineno)
            return step

        return step


class CoveragePlugin:
    """A pytest plugin that runs each collected test in a fork, traced."""

    def __init__(self, limit_s, output):
        self.limit_s = limit_s
        self.output = output
        self.reports = []
        self.errors = []

    def pytest_collectreport(self, report):
        if report.failed:
            self.errors.append((report.nodeid, str(report.longrepr)[-_MESSAGE_CHARS:]))

    def pytest_runtest_logreport(self, report):
        self.reports.append(report)

    def pytest_runtestloop(self, session):
        for item in session.items:
            self.send(self.run_in_fork(item))
        return True

    def send(self, message):
        self.output.write(json.dumps(message) + "\n")
        self.output.flush()

    def run_in_fork(self, item):
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
            return json.loads(data)
        kind = "C"
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL):
            kind = "T"
        return {"test": item.nodeid, "status": kind, "cpu": 0.0, "text": "", "lines": {}}

    def run_traced(self, item, writer):
        """Run one test and write what it did; never returns."""
        tracer = LineTracer(os.getcwd())
        before = time.process_time()

        def report(status, text):
            tracer.stop()
            message = {
                "test": item.nodeid,
                "status": status,
                "cpu": round(time.process_time() - before, 6),
                "text": text,
                "lines": tracer.found(),
            }
            data = json.dumps(message).encode()
            while data:
                data = data[os.write(writer, data) :]
            os._exit(0)

        try:
            signal.signal(signal.SIGPROF, lambda *_: report("T", "out of time"))
            signal.setitimer(signal.ITIMER_PROF, self.limit_s)
            limit_cpu(self.limit_s)
            tracer.start()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            report(*outcome(self.reports))
        finally:
            os._exit(1)


def limit_cpu(limit_s):
    """End a process that hangs where Python's signal handlers do not get their turn."""
    import resource

    seconds = int(limit_s) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


def outcome(reports):
    for report in reports:
        if report.failed:
            return "F" if report.when == "call" else "E", str(report.longrepr)[-_MESSAGE_CHARS:]
    if any(report.skipped for report in reports):
        return "S", ""
    return ("P", "") if reports else ("E", "the test did not run")


def main():
    import pytest

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


if __name__ == "__main__":
    main()
