"""Imports the program and its tests once, then forks for every variant.

It reads JSON lines from standard input, first a configuration, then variants, and writes JSON lines
to the pipe the configuration names. Time is processor time, so that a busy machine rejects nobody;
variants that run out of it are tried again at the end with more.
"""

from __future__ import annotations

import collections
import gc
import io
import json
import os
import selectors
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any, TextIO

from repair.testing.inside.child import Child, files_of
from repair.testing.inside.installation import Functions, find_functions
from repair.testing.inside.plain_calls import Call, plain_call
from repair.testing.inside.statuses import CRASHED, OUT_OF_TIME, PASSED

BASELINE, MISSING, END = -1, -2, -3
"""Numbers of messages that are about no variant."""
_WALL_FACTOR = 20.0
_WALL_FLOOR_S = 5.0
# A child that sleeps uses no processor time; this much wall clock ends it.
_POLL_S = 0.05


class Server:
    """A pytest plugin that, in place of running the collected tests, serves variants."""

    def __init__(
        self, config: dict[str, Any], variants: Iterator[dict[str, Any]], output: TextIO
    ) -> None:
        self.config = config
        self.variants = variants
        self.output = output
        self.items: list[Any] = []
        self.calls: dict[str, Call] = {}
        self.functions: Functions = {}
        self.flaky: set[str] = set()
        self.has_served = False
        self.limit_s: float = config["baseline_s"]

    def pytest_runtestloop(self, session: Any) -> bool:
        """Serve; pytest calls this once the tests are collected."""
        order = {name: index for index, name in enumerate(self.config["tests"])}
        known = [item for item in session.items if item.nodeid in order]
        self.items = sorted(known, key=lambda item: order[item.nodeid])
        for item in self.items:
            call = plain_call(item)
            if call is not None:
                self.calls[item.nodeid] = call
        self.serve()
        return True

    def serve(self) -> None:
        """Run the unchanged program, then every variant."""
        self.has_served = True
        self.functions = find_functions()
        gc.collect()
        gc.freeze()  # children then touch, and so copy, less of the parent's memory
        known = {item.nodeid for item in self.items}
        missing = [name for name in self.config["tests"] if name not in known]
        self.send({"id": MISSING, "missing": missing})
        self.run_baseline()
        if not self.config["measure_only"]:
            Loop(self).run()
        self.send({"id": END})

    def send(self, message: dict[str, Any]) -> None:
        """Write a message for whoever started us."""
        self.output.write(json.dumps(message) + "\n")
        self.output.flush()

    def run_baseline(self) -> None:
        """Run each test in a child; the slowest one that ends by itself sets variants' limit.

        Failing tests count too: what they take is the only hint of what they take when they pass.
        Once one of them hangs, the others have only the time that passing ones need.
        """
        expected = set(self.config["passing"])
        took: dict[str, float] = {}
        for name in [*self.config["passing"], *self.config["failing"]]:
            outcome = Loop(self).run_single({"id": BASELINE, "tests": [name]})
            code = outcome["status"].get(name)
            if (code == PASSED) != (name in expected):
                self.flaky.add(name)
            if code == OUT_OF_TIME:
                self.limit_s = self.scaled(max(took.values(), default=0.0))
            elif name in outcome["cpu"]:
                took[name] = outcome["cpu"][name]
            self.send(outcome)
        self.limit_s = self.scaled(max(took.values(), default=0.0))
        floor_s = self.config["floor_s"]
        self.config["tests"] = [  # slow ones last: most variants do not get there
            name
            for group in (self.config["failing"], self.config["passing"])
            for name in sorted(group, key=lambda test: took.get(test, floor_s) > floor_s)
            if name not in self.flaky
        ]
        order = {name: index for index, name in enumerate(self.config["tests"])}
        self.items = sorted(
            (item for item in self.items if item.nodeid in order),
            key=lambda item: order[item.nodeid],
        )

    def scaled(self, slowest_s: float) -> float:
        """Return the limit of a test where the slowest one takes so long."""
        return float(max(self.config["floor_s"], slowest_s * self.config["slack"]))


class Loop:
    """Runs variants in children, several at a time, and sends each one's outcome as it ends."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.selector = selectors.DefaultSelector()
        self.running: dict[int, Running] = {}
        self.retries: collections.deque[dict[str, Any]] = collections.deque()
        self.retry_left_s: float = server.config["retry_s"]

    def run(self) -> None:
        """Run all variants, then those again that ran out of time."""
        while True:
            while len(self.running) < self.server.config["jobs"]:
                variant = self.next_variant()
                if variant is None:
                    break
                self.start(variant)
            if not self.running:
                return
            for outcome in self.collect():
                self.server.send(outcome)

    def next_variant(self) -> dict[str, Any] | None:
        """Return what to run next; `None` if there is nothing."""
        variant = next(self.server.variants, None)
        if variant is None and self.retries and self.retry_left_s > 0:
            variant = self.retries.popleft()
            variant["is_retry"] = True
        return variant

    def run_single(self, variant: dict[str, Any]) -> dict[str, Any]:
        """Run one variant and return its outcome."""
        self.start(variant)
        while True:
            for outcome in self.collect():
                return outcome

    def start(self, variant: dict[str, Any]) -> None:
        """Fork a child for a variant."""
        server = self.server
        limit_s = server.limit_s
        if variant.get("is_retry"):
            limit_s *= server.config["retry_factor"]
        reader, writer = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(reader)
            Child(server.config, variant, limit_s).run(
                server.items, server.calls, server.functions, writer
            )
        os.close(writer)
        running = Running(variant, pid, reader, limit_s)
        self.running[reader] = running
        self.selector.register(reader, selectors.EVENT_READ, running)

    def collect(self) -> list[dict[str, Any]]:
        """Wait a moment; return the outcomes of children that ended."""
        finished = []
        for key, _ in self.selector.select(_POLL_S):
            if not key.data.read():
                finished.append(self.finish(key.data))
        now = time.monotonic()
        for running in self.running.values():
            if now > running.deadline and not running.is_late:
                os.kill(running.pid, signal.SIGKILL)
                running.is_late = True
        return finished

    def finish(self, running: Running) -> dict[str, Any]:
        """Collect a child that ended; queue it again if all it lacked was time."""
        self.selector.unregister(running.reader)
        del self.running[running.reader]
        os.close(running.reader)
        _, status, usage = os.wait4(running.pid, 0)
        outcome = running.outcome(status, usage.ru_utime + usage.ru_stime)
        if running.variant.get("is_retry"):
            self.retry_left_s -= outcome["cpu_s"]
        elif OUT_OF_TIME in outcome["status"].values() and self.retry_left_s > 0:
            self.retries.append(running.variant)
            outcome["is_final"] = False
        return outcome


class Running:
    """One forked process and what it has said so far."""

    def __init__(self, variant: dict[str, Any], pid: int, reader: int, limit_s: float) -> None:
        self.variant = variant
        self.pid = pid
        self.reader = reader
        self.deadline = time.monotonic() + _WALL_FLOOR_S + limit_s * _WALL_FACTOR
        self.data = b""
        self.is_late = False

    def read(self) -> bool:
        """Take what the child wrote; return whether there may be more."""
        chunk = os.read(self.reader, 1 << 16)
        self.data += chunk
        return bool(chunk)

    def outcome(self, wait_status: int, cpu_s: float) -> dict[str, Any]:
        """Put together what the child reported and how it ended."""
        status: dict[str, str] = {}
        cpu: dict[str, float] = {}
        texts: dict[str, str] = {}
        current, reason = "", None
        for message in _messages(self.data):
            if "start" in message:
                current = message["start"]
            elif "end" in message:
                reason = message["end"]
            else:
                status[message["test"]] = message["status"]
                cpu[message["test"]] = message["cpu"]
                texts[message["test"]] = message["text"]
                current = ""
        if reason is None:
            name = current or (self.variant.get("tests") or ["(loading)"])[0]
            status[name] = OUT_OF_TIME if self.ran_out(wait_status) else CRASHED
        return {
            "id": self.variant["id"],
            "status": status,
            "cpu": cpu,
            "cpu_s": cpu_s,
            "messages": texts,
            "reason": reason or "",
            "is_final": True,
        }

    def ran_out(self, wait_status: int) -> bool:
        """Whether a child that was cut short ran out of time."""
        if self.is_late:
            return True
        ends = (signal.SIGPROF, signal.SIGXCPU)
        return os.WIFSIGNALED(wait_status) and os.WTERMSIG(wait_status) in ends


def _messages(data: bytes) -> Iterator[dict[str, Any]]:
    """Yield whole messages; the last one may have been cut off."""
    for line in data.split(b"\n"):
        try:
            yield json.loads(line)
        except ValueError:
            continue


def main() -> None:
    """Serve the variants on standard input until they end or nobody reads the outcomes."""
    import pytest  # noqa: PLC0415 - the program's own pytest, found at run time

    lines = io.TextIOWrapper(os.fdopen(os.dup(0), "rb"), encoding="utf-8")
    config = json.loads(lines.readline())
    variants = (json.loads(line) for line in lines if line.strip())
    sys.path[:0] = [place for place in config["path"] if place not in sys.path]
    sys.dont_write_bytecode = True
    with open(config["output"], "w", encoding="utf-8") as output:
        server = Server(config, variants, output)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        try:
            pytest.main([*config["options"], *files_of(config["tests"])], plugins=[server])
            if not server.has_served:
                server.serve()
        except BrokenPipeError:
            os._exit(0)
