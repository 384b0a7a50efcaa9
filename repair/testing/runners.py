"""Running a program's own tests the plain way: pytest with JUnit XML, or any command."""

from __future__ import annotations

import itertools
import os
import shlex
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from repair.errors import SandboxError
from repair.model import TestOutcome, TestStatus
from repair.sandbox import Limits, RunResult
from repair.testing.model import Bench

_MESSAGE_CHARS = 2000
_COUNTER = itertools.count()
_NOTHING_COLLECTED = 5
_RAN = (0, 1)
# Exit codes of pytest: all passed, some failed, nothing collected.


class TestRunner(Protocol):
    """Runs tests on the workspace as it is now."""

    __test__: bool = False

    def run(self, tests: Sequence[str] = ()) -> tuple[TestOutcome, ...]:
        """Return one outcome per test; all tests there are if none is named.

        Raises
        ------
        SandboxError
            The tests could not be run at all.
        """
        ...


@dataclass(frozen=True, slots=True)
class PytestRunner:
    """One pytest process for all tests."""

    bench: Bench
    limits: Limits = field(default_factory=Limits)

    def run(self, tests: Sequence[str] = ()) -> tuple[TestOutcome, ...]:
        """Run pytest and read its JUnit XML; see `TestRunner.run`.

        A run that is cut short by its limits gives what pytest had to say, which is nothing:
        the named tests count as timed out.
        """
        report = _report_name()
        options = [*self.bench.options, f"--junit-xml={report}", "-o", "junit_family=xunit1"]
        command = [str(self.bench.python), "-m", "pytest", *options, *tests]
        result = _run(self.bench, command, self.limits)
        data = _taken(self.bench, report)
        if result.timed_out or result.out_of_memory:
            return tuple(
                TestOutcome(test, TestStatus.TIMED_OUT, result.duration_s) for test in tests
            )
        if data is None or result.exit_code not in (*_RAN, _NOTHING_COLLECTED, 2):
            raise SandboxError(f"pytest failed: {_last_line(result)}", exit_code=result.exit_code)
        return read_junit(data)


@dataclass(frozen=True, slots=True)
class CommandRunner:
    """Any test command: its JUnit XML where it writes one, its exit code otherwise."""

    bench: Bench
    command: str
    """Words as a shell would split them; no shell is started. ``{tests}`` stands for the tests'
    names, ``{report}`` for the file the command is to write JUnit XML to."""
    limits: Limits = field(default_factory=Limits)

    def run(self, tests: Sequence[str] = ()) -> tuple[TestOutcome, ...]:
        """Run the command; see `TestRunner.run`.

        Without JUnit XML there is one outcome, named by the command, by its exit code.
        """
        report = _report_name()
        words: list[str] = []
        for word in shlex.split(self.command):
            words += tests if word == "{tests}" else [word.replace("{report}", report)]
        result = _run(self.bench, words, self.limits)
        data = _taken(self.bench, report)
        if data is not None and not result.timed_out:
            return read_junit(data)
        status = TestStatus.PASSED if result.is_success else TestStatus.FAILED
        if result.timed_out:
            status = TestStatus.TIMED_OUT
        text = "" if result.is_success else (result.stdout + result.stderr)[-_MESSAGE_CHARS:]
        return (TestOutcome(self.command, status, result.duration_s, text),)


def run_twice(
    runner: TestRunner, tests: Sequence[str] = ()
) -> tuple[tuple[TestOutcome, ...], tuple[str, ...]]:
    """Run tests two times; return the steady ones' outcomes and the names of flaky ones.

    A test is flaky if it passes in one run only, or if one of the runs does not have it.
    """
    first, second = runner.run(tests), runner.run(tests)
    again = {outcome.test: outcome.is_pass for outcome in second}
    steady = tuple(one for one in first if again.get(one.test) == one.is_pass)
    names = {one.test for one in steady}
    flaky = [one.test for one in (*first, *second) if one.test not in names]
    return steady, tuple(dict.fromkeys(flaky))


def read_junit(data: bytes) -> tuple[TestOutcome, ...]:
    """Read JUnit XML as pytest and others write it; tests are named as pytest names them if it did.

    Raises
    ------
    SandboxError
        It is not XML.
    """
    try:
        root = ET.fromstring(data)
    except ET.ParseError as error:
        raise SandboxError(f"the tests' report is no JUnit XML: {error}") from error
    return tuple(_case(case) for case in root.iter("testcase"))


def _case(case: ET.Element) -> TestOutcome:
    status, message = TestStatus.PASSED, ""
    for tag, found in (
        ("skipped", TestStatus.SKIPPED),
        ("failure", TestStatus.FAILED),
        ("error", TestStatus.ERROR),
    ):
        element = case.find(tag)
        if element is not None:
            status, message = found, (element.text or element.get("message") or "")
    duration = float(case.get("time") or 0.0)
    return TestOutcome(_name(case), status, duration, message[-_MESSAGE_CHARS:])


def _name(case: ET.Element) -> str:
    """Return ``path::Class::name``; the file tells which part of the class name is the module."""
    name, owner, file = (case.get(key) or "" for key in ("name", "classname", "file"))
    if not file:
        return f"{owner}::{name}" if owner else name
    module = file.removesuffix(".py").replace("/", ".")
    classes = owner.removeprefix(module).strip(".")
    return "::".join([file, *filter(None, classes.split(".")), name])


def _report_name() -> str:
    return f".graphloc-report-{os.getpid()}-{next(_COUNTER)}.xml"


def _run(bench: Bench, command: Sequence[str], limits: Limits) -> RunResult:
    env = {**bench.env, "PYTHONPATH": bench.import_path()}
    return bench.sandbox.run(command, workdir=bench.workspace, env=env, limits=limits)


def _taken(bench: Bench, name: str) -> bytes | None:
    """Read a file from the workspace and remove it."""
    data = bench.workspace.read(name)
    if data is not None:
        bench.workspace.write(name, None)
    return data


def _last_line(result: RunResult) -> str:
    lines = (result.stderr.strip() or result.stdout.strip()).splitlines()
    return lines[-1] if lines else f"exit code {result.exit_code}"
