"""The offline repair of one program: suspicious lines, edits by templates, tests, best patch."""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass

from indexes.errors import InputError
from indexes.model import PYTHON_SUFFIXES, is_test_path
from repair.candidates.template import (
    Ingredients,
    SourceModule,
    TemplateCandidate,
    TemplateEngine,
    find_ingredients,
)
from repair.model import Location, SpanEdit, TestStatus, Variant, splice
from repair.patch import FileChange, build_patch
from repair.search.model import Budget, PlausiblePatch, SearchReport, StopCause
from repair.search.ranking import ranked
from repair.testing.forking import ForkRunner
from repair.testing.model import Bench, ForkSettings, TestPlan, VariantOutcome
from repair.testing.spectra import Coverage, collect_coverage, score_lines

_FIRST_BATCH = 400
"""Most repairs are found in here; the rest is made up only when they are not."""
_PATIENCE = 300
"""Candidates tried at least after the first plausible one, so that there is a choice."""
_IMPROVERS = 4
"""Edits that make some failing test pass and that a second edit is tried on."""
_SECOND_SHARE = 0.25
"""Share of the candidates kept for second edits, if there are edits that help."""


@dataclass(frozen=True, slots=True, eq=False)
class _Attempt:
    """What is tried: the last edit made, all edits together, and the file they are of."""

    candidate: TemplateCandidate
    variant: Variant
    module: SourceModule
    edits: int = 1

    @property
    def score(self) -> float:
        return self.candidate.score


class TemplateSearch:
    """Searches a patch for one program's failing tests.

    Parameters
    ----------
    bench
        Where the program is; its workspace is read, the tests' own files aside never changed.
    tests
        Test ids to repair by, as pytest names them; those that fail have to pass in the end, the
        others have to go on passing. Found by running them.
    locations
        Where edits may be made; anywhere that failing tests run, outside of tests, if empty.
    budget, settings
        How much to try, and how variants are run.
    observe
        Called with each new best patch.
    """

    def __init__(
        self,
        bench: Bench,
        tests: Sequence[str],
        *,
        locations: Sequence[Location] = (),
        budget: Budget | None = None,
        settings: ForkSettings | None = None,
        observe: Callable[[PlausiblePatch], None] | None = None,
    ) -> None:
        self._bench = bench
        self._tests = tuple(tests)
        self._locations = tuple(locations)
        self._budget = budget or Budget()
        self._runner = ForkRunner(bench, settings or ForkSettings(keep_going=True))
        self._observe = observe
        self._found: list[PlausiblePatch] = []
        self._improvers: list[tuple[int, _Attempt]] = []
        self._ingredients = Ingredients()
        self._tried = 0
        self._timed_out: set[int] = set()
        self._cpu_s = 0.0
        self._started = time.monotonic()

    @property
    def best(self) -> PlausiblePatch | None:
        """The best patch so far; safe to read at any moment, also after an interrupt."""
        return ranked(self._found)[0] if self._found else None

    def run(self, coverage: Coverage | None = None) -> SearchReport:
        """Search until a patch is found, nothing is left to try or the budget is used up.

        Parameters
        ----------
        coverage
            What the tests run, if that is known already.

        Raises
        ------
        SandboxError
            The tests cannot be run at all.
        """
        coverage = coverage or collect_coverage(self._bench, self._tests)
        wanted = frozenset(self._tests)
        is_whole = not wanted or not wanted & {test.outcome.test for test in coverage.tests}
        plan = TestPlan(
            tuple(test for test in coverage.failing() if is_whole or test in wanted),
            tuple(test for test in coverage.passing() if is_whole or test in wanted),
        )
        scores = self._scores(coverage, plan)
        if not plan.failing or not scores:
            return self._report(plan, StopCause.NOTHING_FAILS)
        cause = self._search(plan, coverage, scores)
        steady = self._steady(plan)
        return self._report(steady, cause if steady.failing else StopCause.NOTHING_FAILS)

    def _steady(self, plan: TestPlan) -> TestPlan:
        """Return the plan without tests that turned out to be flaky."""
        flaky = self._runner.flaky
        return TestPlan(
            tuple(test for test in plan.failing if test not in flaky),
            tuple(test for test in plan.passing if test not in flaky),
        )

    def _scores(self, coverage: Coverage, plan: TestPlan) -> dict[str, dict[int, float]]:
        """Return suspiciousness of the lines that may be edited, by path."""
        scored = score_lines(coverage, failing=plan.failing, passing=plan.passing)
        if not self._locations:
            return {
                path: lines
                for path, lines in scored.items()
                if path.endswith(PYTHON_SUFFIXES) and not is_test_path(path)
            }
        allowed: dict[str, dict[int, float]] = {}
        for place in self._locations:
            for line, score in scored.get(place.path, {}).items():
                if line in place.span:
                    allowed.setdefault(place.path, {})[line] = score
        return allowed

    def _search(
        self, plan: TestPlan, coverage: Coverage, scores: Mapping[str, Mapping[int, float]]
    ) -> StopCause:
        modules = self._modules(scores)
        stream = self._stream(modules, coverage, scores)
        limit = self._budget.candidates
        for size in (_FIRST_BATCH, int(limit * (1.0 - _SECOND_SHARE))):
            self._try(plan, self._take(stream, size))
        if self._improvers:
            self._try(plan, self._take(self._second_edits(modules, scores), limit))
        self._try(plan, self._take(stream, limit))
        if self._found:
            return StopCause.FOUND
        if self._is_late():
            return StopCause.SECONDS
        return StopCause.CANDIDATES if self._tried >= limit else StopCause.EXHAUSTED

    def _take(self, attempts: Iterator[_Attempt], total: int) -> list[_Attempt]:
        """Return what may be tried next so that at most `total` are tried in all."""
        if self._found or self._is_late():
            return []
        room = min(total, self._budget.candidates) - self._tried
        return list(itertools.islice(attempts, max(0, room)))

    def _modules(self, scores: Mapping[str, Mapping[int, float]]) -> dict[str, SourceModule]:
        """Parse the files that may be edited; those that cannot be are left out."""
        modules: dict[str, SourceModule] = {}
        for path in scores:
            data = self._bench.workspace.read(path)
            if data is not None:
                with suppress(InputError):
                    modules[path] = SourceModule(path, data)
        return modules

    def _stream(
        self,
        modules: Mapping[str, SourceModule],
        coverage: Coverage,
        scores: Mapping[str, Mapping[int, float]],
    ) -> Iterator[_Attempt]:
        """Yield single edits of all files, best first."""
        self._ingredients = find_ingredients(self._executed_sources(coverage))
        streams = [
            TemplateEngine(module, ingredients=self._ingredients).iter_candidates(scores[path])
            for path, module in modules.items()
        ]
        for candidate in heapq.merge(*streams, key=lambda candidate: -candidate.score):
            yield _Attempt(candidate, candidate.variant, modules[candidate.variant.path])

    def _executed_sources(self, coverage: Coverage) -> list[bytes]:
        """Return the files that any test ran, tests included."""
        paths = sorted({path for test in coverage.tests for path in test.lines})
        found: list[bytes] = []
        for path in paths:
            with suppress(InputError):
                found += filter(None, [self._bench.workspace.read(path)])
        return found

    def _try(self, plan: TestPlan, attempts: Sequence[_Attempt]) -> None:
        """Run attempts until a patch is found and some more, or time is up."""
        if not attempts:
            return
        stop_at = len(attempts)
        offset = self._tried
        outcomes = self._runner.run(plan, [attempt.variant for attempt in attempts])
        with closing(outcomes):
            for outcome in outcomes:
                self._note(outcome, offset)
                attempt = attempts[outcome.index]
                steady = self._steady(plan)
                if steady.failing and outcome.passes(steady.all):
                    self._keep(attempt, offset + outcome.index + 1)
                    stop_at = min(stop_at, max(2 * outcome.index, outcome.index + _PATIENCE))
                elif attempt.edits == 1 and (helped := outcome.n_passed(steady.failing)):
                    self._improvers.append((helped, attempt))
                if outcome.index >= stop_at or self._is_late():
                    return

    def _note(self, outcome: VariantOutcome, offset: int) -> None:
        number = offset + outcome.index
        self._tried = max(self._tried, number + 1)
        self._cpu_s += outcome.cpu_s
        if TestStatus.TIMED_OUT in outcome.statuses.values():
            self._timed_out.add(number)

    def _keep(self, attempt: _Attempt, rank: int) -> None:
        module = attempt.module
        new = module.edited(attempt.variant.edits)
        patch = build_patch([FileChange(module.path, module.data, new)])
        found = PlausiblePatch(
            patch, attempt.candidate, attempt.variant, rank, attempt.score, attempt.edits
        )
        self._found.append(found)
        if self._observe is not None and self.best is found:
            self._observe(found)

    def _second_edits(
        self, modules: Mapping[str, SourceModule], scores: Mapping[str, Mapping[int, float]]
    ) -> Iterator[_Attempt]:
        """Yield edits on top of the single edits that helped most, taking turns."""
        best = sorted(self._improvers, key=lambda item: (-item[0], -item[1].score))[:_IMPROVERS]
        streams = [
            self._edits_after(first, modules[first.variant.path], scores[first.variant.path])
            for _, first in best
        ]
        for row in itertools.zip_longest(*streams):
            yield from filter(None, row)

    def _edits_after(
        self, first: _Attempt, module: SourceModule, scores: Mapping[int, float]
    ) -> Iterator[_Attempt]:
        changed = SourceModule(module.path, module.edited(first.variant.edits))
        engine = TemplateEngine(changed, ingredients=self._ingredients)
        for candidate in engine.iter_candidates(_moved(scores, module, changed)):
            text = splice(changed.text, candidate.variant.edits)
            is_hot = candidate.variant.unit == first.variant.unit
            variant = Variant(
                module.path,
                (_difference(module.text, text),),
                first.variant.unit if is_hot else None,
            )
            yield _Attempt(candidate, variant, module, edits=2)

    def _is_late(self) -> bool:
        return time.monotonic() - self._started >= self._budget.seconds

    def _report(self, plan: TestPlan, cause: StopCause) -> SearchReport:
        return SearchReport(
            ranked(self._found),
            plan,
            tuple(sorted(self._runner.flaky)),
            self._tried,
            len(self._timed_out),
            time.monotonic() - self._started,
            self._cpu_s,
            cause,
        )


def _moved(
    scores: Mapping[int, float], module: SourceModule, changed: SourceModule
) -> dict[int, float]:
    """Carry lines' scores over to an edited file; new lines get the highest one."""
    edit = _difference(module.text, changed.text)
    first = module.text.count("\n", 0, edit.start) + 1
    last = module.text.count("\n", 0, edit.end) + 1
    shift = len(changed.lines) - len(module.lines)
    top = max(scores.values(), default=0.0)
    moved = {line + (shift if line > last else 0): score for line, score in scores.items()}
    return moved | dict.fromkeys(range(first, last + shift + 1), top)


def _difference(old: str, new: str) -> SpanEdit:
    """Return the one edit that turns `old` into `new`."""
    start = _common_length(old, new)
    room = min(len(old), len(new)) - start
    tail = min(_common_length(old[::-1], new[::-1]), room)
    return SpanEdit(start, len(old) - tail, new[start : len(new) - tail])


def _common_length(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def find_template_repair(
    bench: Bench,
    tests: Sequence[str],
    *,
    locations: Sequence[Location] = (),
    budget: Budget | None = None,
    settings: ForkSettings | None = None,
) -> SearchReport:
    """Repair a program by templates; see `TemplateSearch` for what the parameters mean."""
    search = TemplateSearch(bench, tests, locations=locations, budget=budget, settings=settings)
    return search.run()
