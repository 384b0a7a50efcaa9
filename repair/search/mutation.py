"""The mutation score of a test suite: how many small changes of a program its tests notice.

Mutants come from the templates of repair that change behaviour and add nothing, and run on the fork
server. The score is the share of killed mutants among those that ran (DeMillo, Lipton, Sayward
1978, doi:10.1109/C-M.1978.218136); equivalent mutants are not told apart, so 1 may be out of reach.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from repair.candidates.template import (
    TEMPLATES,
    EditTemplate,
    SourceModule,
    TemplateCandidate,
    TemplateEngine,
)
from repair.errors import SandboxError
from repair.model import TestStatus
from repair.testing.forking import ForkRunner
from repair.testing.model import Bench, ForkSettings, TestPlan, VariantOutcome
from repair.testing.spectra import Coverage, collect_coverage

MUTATIONS = frozenset(
    {
        EditTemplate.COMPARISON_OPERATOR,
        EditTemplate.ARITHMETIC_OPERATOR,
        EditTemplate.AUGMENTED_OPERATOR,
        EditTemplate.BOOLEAN_OPERATOR,
        EditTemplate.UNARY_OPERATOR,
        EditTemplate.NUMBER,
        EditTemplate.BOOLEAN_CONSTANT,
        EditTemplate.CONDITION_NEGATE,
        EditTemplate.STATEMENT_DELETE,
        EditTemplate.LOOP_CONTROL,
        EditTemplate.ARGUMENT_SWAP,
        EditTemplate.CALL_DROP,
    }
)
"""The operators usual in mutation testing (Offutt's sufficient set, doi:10.1145/227607.227610, and
statement deletion), among the templates."""
_PER_SITE = 3
"""Mutants of one template at one line; more of them tell nothing new."""


@dataclass(frozen=True, slots=True)
class MutationSurvivor:
    """A change that no test notices."""

    line: int
    template: EditTemplate
    before: str
    """The changed text."""
    after: str


@dataclass(frozen=True, slots=True)
class MutationReport:
    """How a test suite did on one file's mutants."""

    killed: int
    timed_out: int
    """Killed by running out of time; counted in `killed`."""
    survivors: tuple[MutationSurvivor, ...]
    uncovered: int
    """Lines with code that no passing test runs; they are not mutated."""

    @property
    def score(self) -> float:
        """Share of killed mutants, 0 to 1; 1 if there are no mutants."""
        total = self.killed + len(self.survivors)
        return self.killed / total if total else 1.0


def measure_mutation_score(
    bench: Bench,
    path: str,
    tests: Sequence[str] = (),
    *,
    lines: Sequence[int] = (),
    max_mutants: int = 1000,
    settings: ForkSettings | None = None,
) -> MutationReport:
    """Mutate the lines of a file that passing tests run, and see what the tests say.

    Parameters
    ----------
    path
        The file to mutate, relative to the workspace.
    tests
        Test ids; all that pytest finds if empty. Those that fail already are left out.
    lines
        1-based lines to mutate; all covered ones if empty.
    max_mutants
        At most this many, spread over the lines in order of how common the change is as a bug.

    Raises
    ------
    SandboxError
        The tests cannot be run, or there is no such file.
    InputError
        The file cannot be parsed.
    """
    data = bench.workspace.read(path)
    if data is None:
        raise SandboxError(f"{path} is not in the workspace", path=path)
    module = SourceModule(path, data)
    coverage = collect_coverage(bench, tests)
    wanted = set(lines) if lines else set(range(1, len(module.lines) + 1))
    covered = _covered_lines(coverage, path) & wanted
    mutants = list(itertools.islice(_iter_mutants(module, covered), max_mutants))
    plan = TestPlan((), coverage.passing())
    runner = ForkRunner(bench, settings or ForkSettings(retry_s=0.0))
    outcomes = [
        outcome
        for outcome in runner.run(plan, [mutant.variant for mutant in mutants])
        if not outcome.reason
    ]
    killed = [outcome for outcome in outcomes if not outcome.passes(plan.passing)]
    alive = [mutants[outcome.index] for outcome in outcomes if outcome.passes(plan.passing)]
    return MutationReport(
        len(killed),
        sum(map(_is_late, killed)),
        tuple(_survivor(module, mutant) for mutant in alive),
        len(_code_lines(module) & wanted - covered),
    )


def _iter_mutants(module: SourceModule, lines: set[int]) -> Iterator[TemplateCandidate]:
    templates = [template for template in TEMPLATES if template.name in MUTATIONS]
    engine = TemplateEngine(module, templates=templates)
    counts: dict[tuple[int, EditTemplate], int] = {}
    for candidate in engine.iter_candidates(dict.fromkeys(sorted(lines), 1.0)):
        key = (candidate.line, candidate.template)
        counts[key] = counts.get(key, 0) + 1
        if counts[key] <= _PER_SITE:
            yield candidate


def _covered_lines(coverage: Coverage, path: str) -> set[int]:
    passing = set(coverage.passing())
    return {
        line
        for test in coverage.tests
        if test.outcome.test in passing
        for line in test.lines.get(path, ())
    }


def _code_lines(module: SourceModule) -> set[int]:
    """Return first lines of the statements in functions' bodies."""
    return {
        node.lineno
        for unit in module.units
        if unit.name
        for node in ast.walk(unit.node)
        if isinstance(node, ast.stmt) and node is not unit.node
    }


def _is_late(outcome: VariantOutcome) -> bool:
    return TestStatus.TIMED_OUT in outcome.statuses.values()


def _survivor(module: SourceModule, mutant: TemplateCandidate) -> MutationSurvivor:
    edit = mutant.variant.edits[0]
    before = module.text[edit.start : edit.end]
    return MutationSurvivor(mutant.line, mutant.template, before, edit.text)
