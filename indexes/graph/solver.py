"""Call resolution for a whole program, in rounds.

In every round each unit whose inputs changed is evaluated against the state of the round before, so
the state of a round is a pure function of the one before it: the result does not depend on the
order of evaluation, and the same trees give the same graph.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from indexes.facts import Attribute, Name
from indexes.graph.evaluation import Evaluation
from indexes.graph.hierarchy import Hierarchy
from indexes.graph.program import Program
from indexes.graph.state import Key, State, UnitResult

MOST_ROUNDS = 8
"""Values travel at most this many function borders; deeper chains add next to nothing (measured in
docs/call-graph.md)."""


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
    units = find_units(program)
    scopes_of: dict[int, list[int]] = defaultdict(list)
    definitions_of: dict[int, list[int]] = defaultdict(list)
    for scope, unit in enumerate(units):
        scopes_of[unit].append(scope)
        if program.scopes[scope].kind in {"function", "class", "lambda"}:
            definitions_of[units[program.parent(scope)]].append(scope)
    evaluation = Evaluation(program, hierarchy, units)
    evaluation.assigned_attributes = _assigned_attributes(program)
    state = State()
    results: dict[int, UnitResult] = {}
    written: dict[int, dict[Key, frozenset[object]]] = {}
    readers: dict[Key, set[int]] = defaultdict(set)
    dirty = list(scopes_of)
    rounds = 0
    while dirty and rounds < MOST_ROUNDS:
        rounds += 1
        touched: set[Key] = set()
        fresh: list[tuple[int, dict[Key, frozenset[object]]]] = []
        for unit in dirty:
            result = evaluation.run(unit, scopes_of[unit], definitions_of[unit], state)
            results[unit] = result
            fresh.append((unit, {key: frozenset(v) for key, v in result.writes.items()}))
            for key in result.reads:
                readers[key].add(unit)
        for unit, writes in fresh:
            touched |= state.replace(unit, written.get(unit, {}), writes)
            written[unit] = writes
        changed = state.settle(touched)
        dirty = sorted({unit for key in changed for unit in readers.get(key, ())})
    return _collect(results, rounds)


def find_units(program: Program) -> list[int]:
    """The unit of every scope: its outermost function, or its module."""
    units: list[int] = []
    for scope in range(len(program.scopes)):
        units.append(_find_unit(program, scope, units))
    return units


def _find_unit(program: Program, scope: int, known: list[int]) -> int:
    """Parents come before their children, except for functions inside lambdas, so look upwards."""
    chain = []
    at = scope
    while at >= 0:
        chain.append(at)
        at = program.parent(at)
    for each in reversed(chain):
        if program.scopes[each].kind == "function":
            return each
    return chain[-1]


def _assigned_attributes(program: Program) -> frozenset[str]:
    """Names that some attribute assignment or class body binds."""
    found: set[str] = set()
    for scope in program.scopes:
        for binding in scope.bindings:
            if type(binding.target) is Attribute:
                found.add(binding.target.attr)
            elif scope.kind == "class" and type(binding.target) is Name:
                found.add(binding.target.id)
    return frozenset(found)


def _collect(results: dict[int, UnitResult], rounds: int) -> Solution:
    edges: dict[tuple[int, int, int], float] = {}
    references: set[tuple[int, int, int]] = set()
    unresolved: list[tuple[int, str, int]] = []
    external = 0
    for unit in sorted(results):
        result = results[unit]
        edges.update(result.edges)
        references |= result.references
        unresolved += result.unresolved
        external += result.external
    return Solution(edges, references, unresolved, external, rounds)
