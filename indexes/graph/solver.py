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
from indexes.graph.evaluation import Evaluation
from indexes.graph.hierarchy import Hierarchy
from indexes.graph.program import Program
from indexes.graph.state import Findings, State, Writes
from indexes.graph.units import WAITING, Unit

MOST_ROUNDS = 12
"""Values travel at most this many function borders."""
FULL_ROUNDS, FEW_UNITS = 3, 1_000
"""Later rounds are run only while so few units are left to evaluate: on sympy the fourth adds 4% of
the edges and the next two 3%, all inferred ones, at a third more time (docs/call-graph.md)."""
MOST_TEST_ROUNDS = 3
PATIENCE = 2
"""After so many rounds, what a decorator returns is taken to stay unknown if it still is."""


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
    solution = Solution({}, set(), [], 0, 0)
    rounds = external = 0
    for units, most in zip(_group(program, numbers), (MOST_ROUNDS, MOST_TEST_ROUNDS), strict=True):
        rounds += _settle(evaluation, state, units, most)
        external += _collect(units.values(), solution)
    solution.unresolved.sort()
    return Solution(solution.edges, solution.references, solution.unresolved, external, rounds)


_Units = dict[int, Unit]


def _group(program: Program, numbers: list[int]) -> tuple[_Units, _Units]:
    """The units of code and those of tests."""
    code: _Units = {}
    tests: _Units = {}
    for scope, number in enumerate(numbers):
        group = tests if program.linked(scope).is_test else code
        if scope == number:
            group[number] = Unit(number, [], [])
        group[number].scopes.append(scope)
        parent = program.parents[scope]
        if parent >= 0:
            group[numbers[parent]].definitions.append(scope)
    return code, tests


def _settle(evaluation: Evaluation, state: State, units: _Units, most: int) -> int:
    """Run units until nothing changes or they have been run so often; the number of rounds.

    Modules come first, for what they define is what functions use.
    """
    readers: dict[int, set[int]] = defaultdict(set)
    changed: dict[int, int] = {}
    scopes = evaluation.program.scopes
    waiting = [number for number in units if scopes[number].kind != "module"]
    dirty = [number for number in units if scopes[number].kind == "module"]
    evaluation.resigned = False
    for round_number in range(1, most + 1):
        written: list[tuple[int, Writes]] = []
        for number in dirty:
            unit = units[number]
            written.append((number, evaluation.run(unit, changed)))
            for key in unit.reads:
                readers[key].add(number)
        changed = state.settle(written)
        if round_number == PATIENCE:
            evaluation.resigned = True
            changed[WAITING] = -1
        dirty = _find_dirty(changed, readers, units)
        if round_number == 1:
            dirty = sorted({*dirty, *waiting})
        late = round_number >= FULL_ROUNDS and len(dirty) > FEW_UNITS
        if late or (not dirty and round_number >= PATIENCE):
            return round_number
    return most


def _find_dirty(changed: dict[int, int], readers: dict[int, set[int]], units: _Units) -> list[int]:
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
    external: set[int] = set()
    for unit in units:
        for findings in (unit.fixed, *(item.findings for item in unit.items)):
            if findings is not None:
                external.update(findings.external or ())
                _add(findings, solution)
    return len(external)


def _add(findings: Findings, solution: Solution) -> None:
    for edge, confidence in (findings.edges or {}).items():
        if confidence > solution.edges.get(edge, 0.0):
            solution.edges[edge] = confidence
    solution.references.update(findings.references or ())
    for owner, callee, line in (findings.unresolved or {}).values():
        name = dotted_text(callee)
        if name:
            solution.unresolved.append((owner, name, line))
