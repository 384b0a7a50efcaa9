"""Program spectra: which tests run which lines, and how suspicious that makes the lines.

Formulas: Ochiai (Abreu, Zoeteweij, van Gemund 2006, doi:10.1109/PRDC.2006.18) and DStar (Wong,
Debroy, Gao, Li 2014, doi:10.1109/TR.2013.2285319) with the star at 2, as its authors recommend.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from repair.errors import SandboxError
from repair.model import TestOutcome, TestStatus
from repair.sandbox import MIB, Limits
from repair.testing.assembly import assembled
from repair.testing.inside import coverage_plugin, statuses
from repair.testing.model import STATUSES, Bench

_STAR = 2
_OUTPUT_BYTES = 256 * MIB
_PROCESSES = 64


class Formula(StrEnum):
    """How lines are scored."""

    OCHIAI = "ochiai"
    DSTAR = "dstar"


@dataclass(frozen=True, slots=True)
class CoveredTest:
    """One test's end and the lines it ran."""

    outcome: TestOutcome
    lines: Mapping[str, frozenset[int]]
    """1-based lines by path, of files under the workspace only."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What all tests of a run did."""

    tests: tuple[CoveredTest, ...]
    errors: tuple[tuple[str, str], ...] = ()
    """(file or class, message) of what could not be collected."""

    def named(self, status: TestStatus) -> tuple[str, ...]:
        """Return the tests of one status, in the order they ran."""
        return tuple(t.outcome.test for t in self.tests if t.outcome.status is status)

    def failing(self) -> tuple[str, ...]:
        """Return tests that ran and did not pass."""
        bad = (TestStatus.FAILED, TestStatus.ERROR, TestStatus.TIMED_OUT)
        return tuple(t.outcome.test for t in self.tests if t.outcome.status in bad)

    def passing(self) -> tuple[str, ...]:
        """Return tests that passed."""
        return self.named(TestStatus.PASSED)

    def covering(self, path: str, lines: Iterable[int]) -> tuple[str, ...]:
        """Return tests that ran any of a file's lines."""
        wanted = frozenset(lines)
        return tuple(t.outcome.test for t in self.tests if wanted & t.lines.get(path, frozenset()))


def collect_coverage(
    bench: Bench, tests: Sequence[str] = (), *, limit_s: float = 10.0, wall_s: float = 1800.0
) -> Coverage:
    """Run tests, each in a process of its own, and note the lines they run.

    Parameters
    ----------
    tests
        As pytest names them: files, classes or single tests; all that pytest finds if empty.
    limit_s
        Processor time of one test, traced: a traced test takes about five times as long before
        Python 3.12 and hardly longer since.
    wall_s
        Wall clock of the whole run.

    Raises
    ------
    SandboxError
        pytest could not be run, or could not find the tests.
    """
    config = {
        "tests": list(tests),
        "limit_s": limit_s,
        "options": [*bench.options, "-s"],
        "path": bench.import_path().split(":"),
    }
    result = bench.sandbox.run(
        [str(bench.python), "-c", assembled(statuses, coverage_plugin)],
        workdir=bench.workspace,
        env={**bench.env, "PYTHONPATH": bench.import_path()},
        limits=Limits(
            wall_s=wall_s, cpu_s=wall_s, output_bytes=_OUTPUT_BYTES, processes=_PROCESSES
        ),
        stdin=json.dumps(config).encode(),
    )
    messages = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    last = messages.pop() if messages and "exit" in messages[-1] else None
    if last is None or (not messages and not last["errors"]):
        detail = result.stderr.strip().splitlines()[-1:] or ["no test was found"]
        raise SandboxError(f"the tests could not be run: {detail[0]}")
    covered = tuple(_covered(message) for message in messages)
    return Coverage(covered, tuple((name, text) for name, text in last["errors"]))


def _covered(message: dict[str, Any]) -> CoveredTest:
    status = STATUSES[message["status"]]
    outcome = TestOutcome(message["test"], status, message["cpu"], message["text"])
    return CoveredTest(
        outcome, {path: frozenset(found) for path, found in message["lines"].items()}
    )


def ochiai(ef: int, ep: int, nf: int) -> float:
    """Return Ochiai's suspiciousness, 0 to 1.

    Parameters
    ----------
    ef, ep
        Failing and passing tests that run the line.
    nf
        Failing tests that do not.
    """
    product = (ef + nf) * (ef + ep)
    return ef / math.sqrt(product) if product else 0.0


def dstar(ef: int, ep: int, nf: int) -> float:
    """Return DStar's suspiciousness, 0 to infinity: infinite where only failing tests run it."""
    if not ef:
        return 0.0
    return ef**_STAR / (ep + nf) if ep + nf else math.inf


_FORMULAS: Mapping[Formula, Callable[[int, int, int], float]] = {
    Formula.OCHIAI: ochiai,
    Formula.DSTAR: dstar,
}


def score_lines(
    coverage: Coverage,
    *,
    failing: Iterable[str] | None = None,
    passing: Iterable[str] | None = None,
    formula: Formula = Formula.OCHIAI,
) -> dict[str, dict[int, float]]:
    """Return suspiciousness by path and line, of lines that a failing test runs.

    Parameters
    ----------
    failing, passing
        The tests that count as such; by what they did if left out.

    Notes
    -----
    O(covered lines over all tests).
    """
    bad = frozenset(coverage.failing() if failing is None else failing)
    good = frozenset(coverage.passing() if passing is None else passing)
    ef: Counter[tuple[str, int]] = Counter()
    ep: Counter[tuple[str, int]] = Counter()
    for test in coverage.tests:
        counts = ef if test.outcome.test in bad else ep if test.outcome.test in good else None
        if counts is not None:
            for path, lines in test.lines.items():
                counts.update((path, line) for line in lines)
    n_bad = sum(test.outcome.test in bad for test in coverage.tests)
    scored: dict[str, dict[int, float]] = {}
    for (path, line), count in sorted(ef.items()):
        score = _FORMULAS[formula](count, ep[path, line], n_bad - count)
        scored.setdefault(path, {})[line] = score
    return scored


def score_spans(
    lines: Mapping[int, float], spans: Mapping[str, tuple[int, int]]
) -> dict[str, float]:
    """Return each function's suspiciousness: the highest of its lines.

    Parameters
    ----------
    spans
        First and last line by name; nested ones may overlap. Functions without a scored line are
        left out.
    """
    found: dict[str, float] = {}
    for name, (first, last) in spans.items():
        scores = [score for line, score in lines.items() if first <= line <= last]
        if scores:
            found[name] = max(scores)
    return found
