"""The state of the agent's work on one task: what it has submitted and what running it said."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from graphloc.completion.agent.variants import Variant
from graphloc.completion.answer import is_valid, read_body, read_code
from graphloc.completion.errors import AnswerError, ToolError
from graphloc.completion.model import Attempt, CompletionTask
from graphloc.completion.pytest_runs import PytestEnvironment, PytestRun, run_pytest
from repair.errors import UnsafePathError
from repair.model import TestOutcome, TestStatus
from repair.sandbox import Workspace

TEST_FILE = "test_by_agent.py"
DEFAULT_REPEATS = 2
"""Runs of the same tests on the same code; one that does not end alike each time is flaky."""
_MAX_MUTANTS = 8


class Mutator(Protocol):
    """Makes small changes to code that good tests notice."""

    def find_mutants(self, body: str) -> Sequence[str]:
        """Return changed versions of a function's body, most telling first."""
        ...


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How own tests are run."""

    repeats: int = DEFAULT_REPEATS
    min_confidence: float | None = None
    """Stop once own tests pass and the next new test would pass with at least this probability, by
    Laplace's rule of succession over the tests first run on this very code: (passed + 1) / (run +
    2). None leaves the decision to the model."""
    mutator: Mutator | None = None
    """Tells the model which changes to its code its tests do not notice."""


@dataclass(slots=True)
class Session:
    """What has been submitted so far; the workspace always holds the latest of it."""

    task: CompletionTask
    workspace: Workspace
    environment: PytestEnvironment
    variant: Variant
    options: RunOptions = field(default_factory=RunOptions)
    body: str = ""
    tests: str = ""
    attempts: list[Attempt] = field(default_factory=list)
    finished: bool = False
    converged: bool = False
    _is_run: bool = False
    """Whether the last attempt is about what is there now."""
    _first_outcomes: dict[str, bool] = field(default_factory=dict)
    """Of each test the outcome when this body first met it."""

    @property
    def rounds(self) -> int:
        """Attempts so far."""
        return len(self.attempts)

    @property
    def test_path(self) -> str:
        """The generated tests' file, beside the target."""
        return posixpath.join(posixpath.dirname(self.task.hole.path), TEST_FILE)

    def prepare(self) -> None:
        """Hide the held-out tests and what stands in the hole."""
        for path in self.task.hidden_tests:
            self.workspace.write(path, None)
        self.workspace.write(self.task.hole.path, self.task.hole.empty())

    def submit_tests(self, source: str) -> str:
        """Take a whole test file.

        Raises
        ------
        ToolError
            It is no test file, or the tests may not change any more.
        """
        if self.tests and self.body and not self.variant.revises_tests:
            raise ToolError("the tests are fixed now: change the implementation only")
        code = read_code(source)
        if not _test_names(code):
            raise ToolError("the file defines no test: pytest wants functions named test_...")
        self.tests, self._is_run = code, False
        self.workspace.write(self.test_path, code.encode("utf-8", "replace"))
        return f"The tests are in {self.test_path}."

    def submit_code(self, source: str) -> str:
        """Take the body of the target, or the whole function.

        Raises
        ------
        ToolError
            Tests have to come first, or it is no valid body.
        """
        if self.variant.writes_tests and not self.tests:
            raise ToolError("submit tests first: they say what the implementation has to do")
        try:
            body = read_body(source, self.task.hole)
            if not is_valid(body, self.task.hole):
                raise ToolError(f"that is no valid Python at its place:\n{body}")
            filled = self.task.hole.fill(body)
        except AnswerError as error:
            raise ToolError(str(error)) from error
        if body != self.body:
            self._first_outcomes.clear()
        self.body, self._is_run = body, False
        self.workspace.write(self.task.hole.path, filled)
        if not self.variant.writes_tests:
            self.attempts.append(Attempt(body))
        return f"The implementation is in {self.task.hole.path}."

    def run_tests(self) -> str:
        """Run the generated tests, several times, and take note of what came of it.

        Raises
        ------
        ToolError
            There are no tests or no implementation yet.
        """
        if not self.tests or not self.body:
            raise ToolError("submit tests and an implementation first")
        self._restore()
        runs = [self._run()]
        while len(runs) < self.options.repeats and not runs[0].timed_out:
            runs.append(self._run())
        flaky = find_flaky(runs)
        passed = all(run.passed for run in runs) and not flaky
        report = _report(runs, flaky)
        if passed:
            report += self._survivors()
        self._note_outcomes(runs[0].outcomes, flaky)
        self.attempts.append(
            Attempt(self.body, tests=self.tests, report=report, passed_own_tests=passed)
        )
        self._is_run = True
        least = self.options.min_confidence
        self.converged = passed and least is not None and self.confidence >= least
        return report

    @property
    def confidence(self) -> float:
        """Probability that a further test passes on this code, judged by those first run on it."""
        outcomes = self._first_outcomes.values()
        return (sum(outcomes) + 1) / (len(outcomes) + 2)

    def finish(self) -> str:
        """End the work.

        Raises
        ------
        ToolError
            There is nothing to show yet.
        """
        if not self.body:
            raise ToolError("submit an implementation first")
        if self.variant.writes_tests and self.variant.refines and not self.rounds:
            raise ToolError("run the tests once first")
        self.finished = True
        return "Done."

    def all_attempts(self) -> tuple[Attempt, ...]:
        """Return every attempt; an edit after the last run of the tests is one, too."""
        if self.body and not self._is_run and self.variant.writes_tests:
            return (*self.attempts, Attempt(self.body, tests=self.tests))
        return tuple(self.attempts)

    def _restore(self) -> None:
        """Put what was submitted back: earlier tests may have changed it."""
        self.workspace.write(self.task.hole.path, self.task.hole.fill(self.body))
        self.workspace.write(self.test_path, self.tests.encode("utf-8", "replace"))

    def _run(self) -> PytestRun:
        try:
            return run_pytest(self.environment, self.workspace, [self.test_path])
        except UnsafePathError as error:
            raise ToolError(f"the tests have put a link in place of a file: {error}") from error

    def _note_outcomes(self, outcomes: Sequence[TestOutcome], flaky: Mapping[str, str]) -> None:
        for each in outcomes:
            if each.test not in flaky and each.status is not TestStatus.SKIPPED:
                self._first_outcomes.setdefault(each.test, each.is_pass)

    def _survivors(self) -> str:
        """Say which mutants the tests let pass."""
        if self.options.mutator is None:
            return ""
        survivors = []
        for mutant in list(self.options.mutator.find_mutants(self.body))[:_MAX_MUTANTS]:
            self.workspace.write(self.task.hole.path, self.task.hole.fill(mutant))
            if self._run().passed:
                survivors.append(mutant.rstrip("\n"))
        self._restore()
        if not survivors:
            return ""
        listed = "\n\n".join(f"```python\n{each}\n```" for each in survivors)
        return (
            "\n\nThe tests pass on these changed versions of the implementation, too. Where one of "
            f"them is wrong, add a test that tells it apart:\n\n{listed}"
        )


def find_flaky(runs: Sequence[PytestRun]) -> dict[str, str]:
    """Return tests that did not end alike in equal runs, each with how often it passed."""
    statuses: dict[str, list[TestStatus]] = {}
    for run in runs:
        for outcome in run.outcomes:
            statuses.setdefault(outcome.test, []).append(outcome.status)
    return {
        test: f"passed {found.count(TestStatus.PASSED)} of {len(runs)} times"
        for test, found in statuses.items()
        if len(set(found)) > 1 or len(found) % len(runs)
    }


def _report(runs: Sequence[PytestRun], flaky: Mapping[str, str]) -> str:
    """Return the first run that failed, or the first, with what differed between runs."""
    shown = next((run for run in runs if not run.passed), runs[0])
    report = shown.text or "(no output)"
    if shown.timed_out:
        report = f"The run took too long and was ended.\n{report}"
    elif not shown.outcomes and shown.exit_code:
        report = f"pytest ended with code {shown.exit_code} and no results.\n{report}"
    if flaky:
        listed = "\n".join(f"{test}: {how}" for test, how in sorted(flaky.items()))
        report += f"\n\nThese tests are flaky; make them say the same each time:\n{listed}"
    return report


def _test_names(code: str) -> list[str]:
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ToolError(f"the tests are no valid Python: {error}") from error
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, functions) and node.name.startswith("test")
    ]
