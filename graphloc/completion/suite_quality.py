"""How good generated tests are, iteration by iteration.

The paper's three measures (section 4.3): whether the tests pass on the reference, how much of the
target they cover, and how many mutants of the reference they kill. A mutation score is told only of
tests that pass on the reference: others kill everything.
"""

from __future__ import annotations

import json
import posixpath
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphloc.completion.agent.session import TEST_FILE, Mutator
from graphloc.completion.model import CompletionTask
from graphloc.completion.pytest_runs import PytestEnvironment, run_pytest
from indexes.model import Span
from repair.errors import UnsafePathError
from repair.model import pass_rate
from repair.sandbox import Workspace


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the target tests run."""

    lines: float
    """Share of its lines with code, 0 to 1."""
    branches: float
    """Share of its jumps, 0 to 1; 1 without any."""


@dataclass(frozen=True, slots=True)
class SuiteQuality:
    """The measures of one version of the tests."""

    passes_reference: bool
    """Whether all of them do."""
    reference_pass_rate: float
    """Share of them, 0 to 1."""
    coverage: Coverage | None
    """None where the environment has no coverage.py, or nothing was run."""
    mutation_score: float | None
    """Share of mutants killed; None without mutants or if the reference does not pass."""


def measure_suites(
    task: CompletionTask,
    suites: Sequence[str],
    reference: str,
    environment: PytestEnvironment,
    *,
    mutator: Mutator | None = None,
) -> list[SuiteQuality]:
    """Measure each version of the generated tests on the reference body.

    Raises
    ------
    SandboxError
        The sandbox failed at its own work.
    """
    measured: dict[str, SuiteQuality] = {}
    for suite in suites:
        if suite not in measured:
            with Workspace.copy(task.repository) as workspace:
                bench = _Bench(task, workspace, environment)
                measured[suite] = bench.measure(suite, reference, mutator)
    return [measured[suite] for suite in suites]


@dataclass(frozen=True, slots=True)
class _Bench:
    """A copy of the repository to try one suite in."""

    task: CompletionTask
    workspace: Workspace
    environment: PytestEnvironment

    @property
    def test_path(self) -> str:
        return posixpath.join(posixpath.dirname(self.task.hole.path), TEST_FILE)

    def measure(self, suite: str, reference: str, mutator: Mutator | None) -> SuiteQuality:
        for path in self.task.hidden_tests:
            self.workspace.write(path, None)
        self._put(suite, reference)
        run = run_pytest(self.environment, self.workspace, [self.test_path])
        mutants = list(mutator.find_mutants(reference)) if mutator and run.passed else []
        killed = sum(self._kills(suite, mutant) for mutant in mutants)
        self._put(suite, reference)
        return SuiteQuality(
            passes_reference=run.passed,
            reference_pass_rate=pass_rate(run.outcomes, empty=0.0),
            coverage=self._coverage(reference),
            mutation_score=killed / len(mutants) if mutants else None,
        )

    def _put(self, suite: str, body: str) -> None:
        self.workspace.write(self.task.hole.path, self.task.hole.fill(body))
        self.workspace.write(self.test_path, suite.encode("utf-8", "replace"))

    def _kills(self, suite: str, mutant: str) -> bool:
        self._put(suite, mutant)
        return not run_pytest(self.environment, self.workspace, [self.test_path]).passed

    def _coverage(self, reference: str) -> Coverage | None:
        """Run once more under coverage.py, which is in two steps: measure, then tell."""
        word = secrets.token_hex(6)
        data, report = f".graphloc-coverage-{word}", f".graphloc-coverage-{word}.json"
        python = [str(self.environment.python), "-m", "coverage"]
        measured = ["run", "--branch", f"--data-file={data}", f"--include={self.task.hole.path}"]
        tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--", self.test_path]
        for step in (measured + tests, ["json", f"--data-file={data}", "-o", report]):
            self.environment.sandbox.run(
                [*python, *step],
                workdir=self.workspace,
                env=self.environment.variables,
                limits=self.environment.limits,
            )
        try:
            written = self.workspace.read(report)
            files = json.loads(written or b"{}").get("files", {})
        except (UnsafePathError, ValueError, AttributeError):
            return None
        facts = files.get(self.task.hole.path)
        first = self.task.hole.line + 1
        last = first + len(reference.rstrip("\n").split("\n")) - 1
        return _within(facts, Span(first, last)) if facts else None


def _within(facts: dict[str, Any], span: Span) -> Coverage:
    """Shares of the lines and jumps that start in a span."""

    def share(run: str, missed: str) -> float:
        hit = sum(_start(each) in span for each in facts.get(run, []))
        all_of_them = hit + sum(_start(each) in span for each in facts.get(missed, []))
        return hit / all_of_them if all_of_them else 1.0

    return Coverage(
        share("executed_lines", "missing_lines"), share("executed_branches", "missing_branches")
    )


def _start(place: int | list[int]) -> int:
    return place if isinstance(place, int) else place[0]
