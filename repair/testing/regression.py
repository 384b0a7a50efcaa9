"""Which tests have to go on passing, nearest to the change first.

PhoenixRepair's procedure in three stages: all tests that pass before the change; less those that
the fix may legitimately change; the rest run on each patch. Nearness comes from what tests run,
where that is known, and from the code graph's ``tests`` edges, through a port.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from repair.model import Location, TestOutcome
from repair.testing.spectra import Coverage


class TestGraph(Protocol):
    """The code graph, as far as tests are concerned."""

    __test__: bool = False

    def find_tests(self, entity: str) -> Iterable[str]:
        """Return ids of test entities that exercise an entity, nearest first."""
        ...


@dataclass(frozen=True, slots=True)
class RegressionSet:
    """Tests that have to go on passing."""

    near: tuple[str, ...]
    """Tests of the locations; to be run on every patch."""
    rest: tuple[str, ...]
    """All others; to be run on what is delivered."""

    @property
    def all(self) -> tuple[str, ...]:
        """Both, near ones first."""
        return self.near + self.rest


def select_regression_tests(
    outcomes: Sequence[TestOutcome],
    locations: Sequence[Location],
    *,
    graph: TestGraph | None = None,
    coverage: Coverage | None = None,
    is_expected_to_change: Callable[[str], bool] = lambda test: False,
) -> RegressionSet:
    """Choose and order the regression tests of a change.

    Parameters
    ----------
    outcomes
        What all tests do on the unchanged program; those that pass are candidates.
    locations
        Where the change is.
    graph, coverage
        What tests exercise; with neither, all tests count as far.
    is_expected_to_change
        Whether the fix may break a test for good reason; such tests are left out. That needs
        judgement, so it is a model's, or nobody's.

    Returns
    -------
    RegressionSet
        Near tests: those that run a line of a location, then those the graph links to its entity.
    """
    passing = [one.test for one in outcomes if one.is_pass and not is_expected_to_change(one.test)]
    ranks: dict[str, int] = {}
    for place in locations:
        lines = range(place.span.start_line, place.span.end_line + 1)
        for test in coverage.covering(place.path, lines) if coverage else ():
            ranks.setdefault(test, 0)
        linked = frozenset(graph.find_tests(place.entity)) if graph else frozenset()
        for test in passing:
            if _entity_of(test) & linked:
                ranks.setdefault(test, 1)
    near = sorted((test for test in passing if test in ranks), key=lambda test: ranks[test])
    return RegressionSet(tuple(near), tuple(test for test in passing if test not in ranks))


def _entity_of(test: str) -> frozenset[str]:
    """Return the ids of the entities a test is in: its function, classes and file."""
    path, *names = test.partition("[")[0].split("::")
    owners = [".".join(names[: end + 1]) for end in range(len(names))]
    return frozenset([path, *(f"{path}:{owner}" for owner in owners)])
