"""What test runs are asked for and what they came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from repair.model import TestOutcome, TestStatus
from repair.sandbox import MIB, Sandbox, Workspace
from repair.testing.inside import statuses

STATUSES = {
    statuses.PASSED: TestStatus.PASSED,
    statuses.FAILED: TestStatus.FAILED,
    statuses.ERROR: TestStatus.ERROR,
    statuses.SKIPPED: TestStatus.SKIPPED,
    statuses.OUT_OF_TIME: TestStatus.TIMED_OUT,
    statuses.CRASHED: TestStatus.ERROR,
}
"""What the letters of the programs inside mean."""
PYTEST_OPTIONS = ("-q", "-p", "no:cacheprovider", "-o", "addopts=")
"""The program's own ``addopts`` are left out: they start reports and worker processes that single
tests do not need."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Where tests run: a sandbox, a copy of the program and the interpreter to run it with."""

    sandbox: Sandbox
    workspace: Workspace
    python: Path
    """Inside the sandbox."""
    options: tuple[str, ...] = PYTEST_OPTIONS
    """Arguments of pytest, before the tests' names."""
    path: tuple[str, ...] = ()
    """Folders of the copy put on the import path, relative to it."""
    env: Mapping[str, str] = field(default_factory=dict)

    def import_path(self) -> str:
        """Return the value of ``PYTHONPATH``: the copy's folders, at the original's place."""
        root = self.workspace.source
        return ":".join(str(root / place) for place in ("", *self.path))


@dataclass(frozen=True, slots=True)
class TestPlan:
    """Tests by what they do on the unchanged program."""

    __test__ = False

    failing: tuple[str, ...]
    """Tests that a repair has to make pass; run first."""
    passing: tuple[str, ...] = ()
    """Tests that have to go on passing, in the order they are to run."""

    @property
    def all(self) -> tuple[str, ...]:
        """Every test, in the order they run on a variant."""
        return self.failing + self.passing


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkSettings:
    """How a fork server runs variants. Times are processor time per test."""

    jobs: int = 1
    """Children at once."""
    baseline_s: float = 5.0
    """For a test on the unchanged program."""
    floor_s: float = 0.1
    """Least limit of a test; a hundred times what tests of small programs take."""
    slack: float = 3.0
    """A test may take this many times what the slowest test takes on the unchanged program, among
    those that end by themselves."""
    retry_factor: float = 8.0
    """Limit of a second try, as a multiple: a wrong limit rejects a good variant for ever."""
    retry_s: float = 8.0
    """Time for all second tries together."""
    keep_going: bool = False
    """Run all failing tests although one fails, to see whether a variant helps some of them."""
    memory_bytes: int = 512 * MIB
    """Address space that a variant may take besides what the program has."""
    wall_s: float = 3600.0
    """Most wall clock of one session."""


@dataclass(frozen=True, slots=True)
class VariantOutcome:
    """What became of one variant."""

    index: int
    """Position in what was handed to the runner."""
    statuses: Mapping[str, TestStatus]
    """By test; tests that did not run after a failure are missing."""
    cpu_s: float
    reason: str = ""
    """Why it could not be tried, if so."""
    is_final: bool = True
    """Whether it will not be tried again."""

    def passes(self, tests: Sequence[str]) -> bool:
        """Whether all of the tests ran and passed."""
        return all(self.statuses.get(test) is TestStatus.PASSED for test in tests)

    def n_passed(self, tests: Sequence[str]) -> int:
        """Return how many of the tests passed."""
        return sum(self.statuses.get(test) is TestStatus.PASSED for test in tests)


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the tests do on the unchanged program, in children of one server."""

    outcomes: tuple[TestOutcome, ...]
    missing: tuple[str, ...] = ()
    """Tests that could not be found there; those of files that cannot be imported, as a rule."""

    def status(self, test: str) -> TestStatus | None:
        """Return a test's status; `None` if it did not run."""
        found = (outcome.status for outcome in self.outcomes if outcome.test == test)
        return next(found, None)
