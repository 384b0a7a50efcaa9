"""Runs resolution cases whose expectations stand beside the calls.

A case is a dict of paths to sources. Behind a call, ``#> a.py:f, a.py:C.g`` names everything the
line invokes among the case's own entities; ``#>`` alone says that it invokes none of them.
"""

from __future__ import annotations

from textwrap import dedent

from indexes.graph.hierarchy import Hierarchy
from indexes.graph.program import Program
from indexes.graph.solver import solve
from indexes.parsing import extract_facts

_MARK = "#>"


def resolve(files: dict[str, str]) -> dict[tuple[str, int], dict[str, float]]:
    """Targets with their confidences by (path, line) of the call."""
    facts = {path: extract_facts(dedent(text).encode()) for path, text in sorted(files.items())}
    program = Program(facts)
    solution = solve(program, Hierarchy(program))
    found: dict[tuple[str, int], dict[str, float]] = {}
    for (source, target, line), confidence in solution.edges.items():
        path = program.linked(source).path
        found.setdefault((path, line), {})[entity(program, target)] = confidence
    return found


def entity(program: Program, scope: int) -> str:
    """The id of a scope's class, function or file."""
    linked = program.linked(scope)
    index = scope - linked.first_scope
    return f"{linked.path}:{linked.facts.definitions[index - 1].name}" if index else linked.path


def expected(files: dict[str, str]) -> dict[tuple[str, int], set[str]]:
    """Marked lines with what they should invoke."""
    found: dict[tuple[str, int], set[str]] = {}
    for path, text in files.items():
        for line, content in enumerate(dedent(text).split("\n"), 1):
            if _MARK in content:
                names = content.split(_MARK, 1)[1].split(",")
                found[path, line] = {name.strip() for name in names if name.strip()}
    return found


def check(files: dict[str, str]) -> None:
    """Fail unless every marked line invokes just what its mark says."""
    wanted = expected(files)
    assert wanted, "a case without a mark says nothing"
    got = resolve(files)
    assert {place: set(got.get(place, ())) for place in wanted} == wanted
