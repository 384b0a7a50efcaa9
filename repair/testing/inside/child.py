"""What a fork does: becomes one variant, runs its tests, reports each and is gone."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from typing import Any

from repair.testing.inside.installation import COLD, HOT, Functions, install
from repair.testing.inside.plain_calls import Call, call_plainly
from repair.testing.inside.statuses import ERROR, FAILED, MESSAGE_CHARS, classify

_IMPORT_FACTOR = 20
"""Loading the program may take this many times as long as its slowest test, and a second more."""


class Child:
    """Runs one variant's tests in a fork; also a pytest plugin, for sessions of its own."""

    def __init__(self, config: dict[str, Any], variant: dict[str, Any], limit_s: float) -> None:
        self.config = config
        self.variant = variant
        self.limit_s = limit_s
        self.wanted: list[str] = variant.get("tests") or config["tests"]
        self.failing = set(config["failing"])
        self.calls: dict[str, Call] = {}
        self.reports: list[Any] = []
        self.writer = -1
        self.has_failed = False

    def run(
        self, items: list[Any], calls: dict[str, Call], functions: Functions, writer: int
    ) -> None:
        """Become the variant and run its tests; never returns."""
        self.writer = writer
        reason = ""
        try:
            silence(self.config["memory_bytes"])
            arm(self.limit_s * _IMPORT_FACTOR + 1.0)
            mode = install(self.variant, functions if items else {})
            if mode == HOT:
                self.calls = calls
                self.run_items(items)
            elif mode == COLD:
                self.run_anew()
        except BaseException as error:  # noqa: BLE001 - whatever it is, only this child ends
            reason = f"{type(error).__name__}: {error}"[:MESSAGE_CHARS]
        finally:
            self.write({"end": reason})
            os._exit(0)

    def write(self, message: dict[str, Any]) -> None:
        """Send a line to the server."""
        os.write(self.writer, json.dumps(message).encode() + b"\n")

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep a report; pytest calls this."""
        self.reports.append(report)

    def pytest_runtestloop(self, session: Any) -> bool:
        """Run a new session's tests in our order; pytest calls this."""
        order = {name: index for index, name in enumerate(self.wanted)}
        known = [item for item in session.items if item.nodeid in order]
        self.run_items(sorted(known, key=lambda item: order[item.nodeid]))
        return True

    def run_items(self, items: list[Any]) -> None:
        """Run tests in order; stop at the first failure among those that pass without a change."""
        wanted = set(self.wanted)
        chosen = [item for item in items if item.nodeid in wanted]
        for item, following in zip(chosen, [*chosen[1:], None]):  # noqa: B905 - for Python 3.9
            goes_on = self.config["keep_going"] and item.nodeid in self.failing
            if self.has_failed and not goes_on:
                return
            self.run_item(item, following)

    def run_item(self, item: Any, following: Any) -> None:
        """Run one test and report how it ended and how long it took."""
        self.write({"start": item.nodeid})
        before = time.process_time()
        arm(self.limit_s)
        call = self.calls.get(item.nodeid)
        if call is not None and not self.config["messages"]:
            status, text = call_plainly(call)
        else:
            status, text = self.run_protocol(item, following)
        self.has_failed = self.has_failed or status in (FAILED, ERROR)
        message = {
            "test": item.nodeid,
            "status": status,
            "cpu": round(time.process_time() - before, 6),
            "text": text if self.config["messages"] else "",
        }
        self.write(message)

    def run_protocol(self, item: Any, following: Any) -> tuple[str, str]:
        """Run a test as pytest does, with its fixtures and all plugins."""
        self.reports = []
        if not self.config["messages"]:
            item.repr_failure = item._repr_failure_py = _brief  # tracebacks outlast most tests
        plugins = item.config.pluginmanager
        is_new = not plugins.is_registered(self)
        if is_new:
            plugins.register(self)
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        finally:
            if is_new:
                plugins.unregister(self)
        return classify(self.reports)

    def run_anew(self) -> None:
        """Forget all modules of the tree and run a new session on it."""
        import pytest  # noqa: PLC0415 - the program's own pytest, found at run time

        root = os.getcwd() + os.sep
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if name != "__main__" and file and os.path.abspath(file).startswith(root):
                del sys.modules[name]
        pytest.main([*self.config["options"], *files_of(self.wanted)], plugins=[self])


def files_of(tests: list[str]) -> list[str]:
    """Return the files tests are in: named singly, one missing test would keep all from running."""
    return list(dict.fromkeys(name.split("::")[0] for name in tests))


def _brief(excinfo: Any, *_: Any, **__: Any) -> str:
    """Stand in for pytest's rendering of a failure."""
    return str(excinfo.typename)


def arm(seconds: float) -> None:
    """Let the system end this process after some processor time."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)


def silence(memory_bytes: int) -> None:
    """Send output nowhere and bound memory, so that a runaway child harms only itself."""
    null = os.open(os.devnull, os.O_RDWR)
    for target in (0, 1, 2):
        os.dup2(null, target)
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for good
    with open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    bound = used + memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (bound, bound))
