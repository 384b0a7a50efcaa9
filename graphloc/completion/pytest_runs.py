"""Running tests with pytest in a sandbox, and reading what became of each."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from repair.errors import UnsafePathError
from repair.model import TestOutcome, TestStatus
from repair.sandbox import MIB, Limits, RunResult, Sandbox, Workspace

EVALUATION_LIMITS = Limits(wall_s=600.0, cpu_s=1200.0, memory_bytes=4096 * MIB, processes=256)
"""The paper's: 600 seconds on two processors with 4 GB."""
_MAX_REPORT_BYTES = 32 * MIB
_MAX_TEXT_CHARS = 8000
_MAX_MESSAGE_CHARS = 500
_TWO_PROCESSORS = ("taskset", "-c", "0,1")
_VOLATILE = (
    (re.compile(r"\bin \d+(?:\.\d+)?s\b(?: \(\d+:\d\d:\d\d\))?"), "in some time"),
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "0x..."),
    (re.compile(r"^=+ (.*?) =+$", re.MULTILINE), r"= \1 ="),
    (re.compile(r"^-+ generated xml file: .* -+\n", re.MULTILINE), ""),
)
"""What differs from run to run of the same tests: recorded replies are found by what was asked."""


@dataclass(frozen=True, slots=True)
class PytestEnvironment:
    """How tests are run: the sandbox, and the Python in it that has pytest."""

    sandbox: Sandbox
    python: Path
    limits: Limits = field(default_factory=lambda: EVALUATION_LIMITS)
    variables: Mapping[str, str] = field(default_factory=dict)
    """More environment variables, such as ``PYTHONPATH``."""
    on_two_processors: bool = False
    """Pin runs to two processors with ``taskset``, as the paper's containers are limited."""


@dataclass(frozen=True, slots=True)
class PytestRun:
    """What one run of pytest said."""

    outcomes: tuple[TestOutcome, ...]
    exit_code: int
    text: str
    """Its output, shortened in the middle, without times and addresses."""
    timed_out: bool

    @property
    def passed(self) -> bool:
        """Whether tests ran, and all that were not skipped passed."""
        counted = [each for each in self.outcomes if each.status is not TestStatus.SKIPPED]
        return self.exit_code == 0 and bool(counted) and all(each.is_pass for each in counted)


def run_pytest(
    environment: PytestEnvironment, workspace: Workspace, tests: Sequence[str]
) -> PytestRun:
    """Run test files or node ids.

    A run that ends without its report, such as one that leaves through ``os._exit``, has no
    outcomes and so has not passed.

    Raises
    ------
    SandboxError
        The sandbox itself failed.
    """
    report = f".graphloc-report-{secrets.token_hex(8)}.xml"
    pinned = _TWO_PROCESSORS if environment.on_two_processors else ()
    command = [*pinned, str(environment.python), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["--no-header", "--tb=short", f"--junitxml={report}", "--", *tests]
    result = environment.sandbox.run(
        command, workdir=workspace, env=environment.variables, limits=environment.limits
    )
    outcomes = _take_report(workspace, report)
    text = stable_text(f"{result.stdout}\n{result.stderr}", workspace)
    return PytestRun(outcomes, result.exit_code, _with_reason(text, result), result.timed_out)


def stable_text(text: str, workspace: Workspace) -> str:
    """Return output without what differs between equal runs, cut in the middle if it is long."""
    for place in (str(workspace.root), str(workspace.source)):
        text = text.replace(f"{place}/", "").replace(place, ".")
    for pattern, replacement in _VOLATILE:
        text = pattern.sub(replacement, text)
    text = text.strip()
    if len(text) <= _MAX_TEXT_CHARS:
        return text
    half = _MAX_TEXT_CHARS // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def _with_reason(text: str, result: RunResult) -> str:
    return f"[stopped: {result.stopped_by}]\n{text}" if result.stopped_by is not None else text


def _take_report(workspace: Workspace, name: str) -> tuple[TestOutcome, ...]:
    """Read the report and remove it; what the tests have tampered with counts as none."""
    try:
        data = workspace.read(name)
        workspace.write(name, None)
    except UnsafePathError:
        return ()
    if data is None or len(data) > _MAX_REPORT_BYTES:
        return ()
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError):
        return ()
    return tuple(map(_outcome, root.iter("testcase")))


def _outcome(case: ElementTree.Element) -> TestOutcome:
    name = f"{case.get('classname', '')}::{case.get('name', '')}"
    statuses = {
        "failure": TestStatus.FAILED,
        "error": TestStatus.ERROR,
        "skipped": TestStatus.SKIPPED,
    }
    found = [child for child in case if child.tag in statuses]
    status = statuses[found[0].tag] if found else TestStatus.PASSED
    message = (found[0].get("message") or "")[:_MAX_MESSAGE_CHARS] if found else ""
    return TestOutcome(name, status, message=message)
