"""Call resolution for a whole program, in rounds.

In every round each unit whose inputs changed is evaluated against the state of the round before, so
the state of a round is a pure function of the one before it: the result does not depend on the
order of evaluation, and the same trees give the same graph. Tests pass nothing on to the code they
test, so they are evaluated after it has settled (docs/adr/0004-solving-in-rounds.md).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from indexes.graph.calls import dotted_text
from indexes.graph.evaluation import Evaluation, Unit
from indexes.graph.hierarchy import Hierarchy
from indexes.graph.program import Program
from indexes.graph.state import State, Writes

MOST_ROUNDS = 6
"""Values travel at most this many function borders; deeper chains add next to nothing (measured in
docs/call-graph.md)."""
MOST_TEST_ROUNDS = 2


@dataclass(frozen=True, slots=True)
class Solution:
    """Resolved calls of a program; numbers are scopes of the program."""

    edges: dict[tuple[int, int, int], float]
    """(source, target, line) -> confidence."""
    references: set[tuple[int, int, int]]
    unresolved: list[tuple[int, str, int]]
    external: int
    rounds: int


def solve(program: Program, hierarchy: Hierarchy) -> Solution:
    """Resolve all calls of a program."""
    state = State(program.values)
    numbers = find_units(program)
    evaluation = Evaluation(program, hierarchy, numbers, state)
    code, tests = _group(program, numbers)
    solution = Solution({}, set(), [], 0, 0)
    rounds = 0
    external = 0
    for members, most in ((code, MOST_ROUNDS), (tests, MOST_TEST_ROUNDS)):
        units = _prepare(evaluation, members)
        rounds += _settle(evaluation, state, units, most)
        external += _collect(units.values(), solution)
    solution.unresolved.sort()
    return Solution(
        solution.edges, solution.references, solution.unresolved, external, rounds
    )


_Members = dict[int, tuple[list[int], list[int]]]


def _group(program: Program, numbers: list[int]) -> tuple[_Members, _Members]:
    """Scopes, and definitions evaluated in them, by unit; first of code, then of tests."""
    code: _Members = {}
    tests: _Members = {}
    for scope, unit in enumerate(numbers):
        group = tests if program.linked(scope).is_test else code
        group.setdefault(unit, ([], []))[0].append(scope)
        parent = program.parents[scope]
        if parent >= 0:
            group.setdefault(numbers[parent], ([], []))[1].append(scope)
    return code, tests


def _prepare(evaluation: Evaluation, members: _Members) -> dict[int, Unit]:
    units: dict[int, Unit] = {}
    for number, (scopes, definitions) in members.items():
        unit = units[number] = Unit(number)
        evaluation.prepare(unit, scopes, definitions)
    return units


def _settle(evaluation: Evaluation, state: State, units: dict[int, Unit], most: int) -> int:
    """Run units until nothing changes, at most so many rounds."""
    readers: dict[int, set[int]] = defaultdict(set)
    patience = most // 2
    evaluation.resigned = False
    dirty: Iterable[int] = units
    for round_number in range(1, most + 1):
        written: list[tuple[int, Writes]] = []
        for number in dirty:
            unit = units[number]
            known = len(unit.reads)
            written.append((number, evaluation.run(unit)))
            if len(unit.reads) != known:
                for key in unit.reads:
                    readers[key].add(number)
        changed = state.settle(written)
        dirty = _find_dirty(changed, readers, units)
        if round_number == patience:
            evaluation.resigned = True
            waiting = {number for number, unit in units.items() if unit.waits}
            dirty = sorted(waiting.union(dirty))
        if not dirty and round_number >= patience:
            return round_number
    return most


def _find_dirty(
    changed: dict[int, int], readers: dict[int, set[int]], units: dict[int, Unit]
) -> list[int]:
    """Units that read what changed; a unit knows what it put into its own containers."""
    dirty: set[int] = set()
    for key, source in changed.items():
        for number in readers.get(key, ()):
            unit = units[number]
            if source != number or key in unit.stale or key not in unit.own:
                dirty.add(number)
    return sorted(dirty)


def find_units(program: Program) -> list[int]:
    """The unit of every scope: its outermost function, or its module."""
    units: list[int] = []
    for scope, data in enumerate(program.scopes):
        chain = [scope]
        while program.parents[chain[-1]] >= 0:
            chain.append(program.parents[chain[-1]])
        if data.kind == "module":
            units.append(scope)
            continue
        functions = [each for each in chain if program.scopes[each].kind == "function"]
        units.append(functions[-1] if functions else chain[-1])
    return units


def _collect(units: Iterable[Unit], solution: Solution) -> int:
    """Add what units found to a solution; the number of external calls."""
    external: set[tuple[int, int]] = set()
    for unit in units:
        for findings in (unit.fixed, unit.fluid):
            for edge, confidence in findings.edges.items():
                if confidence > solution.edges.get(edge, 0.0):
                    solution.edges[edge] = confidence
            solution.references.update(findings.references)
            external |= findings.external
            for owner, callee, line in findings.unresolved.values():
                name = dotted_text(callee)
                if name:
                    solution.unresolved.append((owner, name, line))
    return len(external)
