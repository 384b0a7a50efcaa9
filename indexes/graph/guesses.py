"""Edges guessed from a name alone, where following values has told nothing.

A call ``receiver.name()`` of which nothing is known is taken to mean the one function of that name
that the repository's own code defines, if there is just one, and the name is not one that builtin
types or much-used libraries have. A guess never stands in for anything that was resolved.
"""

from __future__ import annotations

import io
import pathlib
import threading
from collections import defaultdict

from indexes.graph.program import Program
from indexes.graph.solver import Solution
from indexes.model import Confidence

_TYPES: tuple[type, ...] = (
    str, bytes, bytearray, int, float, complex, list, tuple, dict, set, frozenset, object, type,
    BaseException, io.TextIOWrapper, io.BytesIO, pathlib.Path, threading.Thread,
)  # fmt: skip
_OF_LIBRARIES = frozenset({
    "add_argument", "apply", "assert_called_once", "astype", "all", "any", "call", "cancel",
    "check", "commit", "config", "connect", "cursor", "debug", "delete", "dumps", "error",
    "execute", "exception", "exists", "fetchall", "fetchone", "filter", "flush", "group",
    "groups", "info", "init", "load", "loads", "log", "main", "match", "max", "mean", "min",
    "next", "parse_args", "patch", "post", "put", "reset", "reshape", "result", "rollback",
    "save", "search", "send", "setup", "shape", "start", "stop", "submit", "sum", "test",
    "validate", "wait", "warn", "warning",
})  # fmt: skip
"""Method names of the standard library's and of much-used packages' objects."""
SHORTEST_NAME = 4
"""Shorter names are too often something else's."""


def guess(program: Program, solution: Solution) -> dict[tuple[int, int, int], float]:
    """Guess the targets of unresolved calls by their last names.

    Returns
    -------
    dict
        (source scope, target scope, line) -> `Confidence.GUESSED`. Linear in the number of
        definitions and of unresolved calls.
    """
    by_name = _definitions_by_name(program)
    common = {name for kind in _TYPES for name in dir(kind)} | _OF_LIBRARIES
    found: dict[tuple[int, int, int], float] = {}
    for source, dotted, line in solution.unresolved:
        receiver, _, name = dotted.rpartition(".")
        targets = by_name.get(name, ())
        if not receiver and "." not in dotted:
            continue  # a plain name that nothing binds
        if len(targets) != 1 or name in common or len(name) < SHORTEST_NAME:
            continue
        edge = source, targets[0], line
        if edge not in solution.edges:
            found[edge] = Confidence.GUESSED
    return found


def _definitions_by_name(program: Program) -> dict[str, list[int]]:
    """Functions outside of tests that can be called through a receiver, by their last names."""
    by_name: dict[str, list[int]] = defaultdict(list)
    for linked in program.files:
        if linked.is_test:
            continue
        for owner, definition in enumerate(linked.facts.definitions, 1):
            parent = linked.facts.scopes[owner].parent
            local = linked.facts.scopes[parent].kind == "function"
            if not definition.is_class and not local:
                by_name[definition.name.rsplit(".", 1)[-1]].append(linked.first_scope + owner)
    return by_name
