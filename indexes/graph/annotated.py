"""What annotations say about values: instances of classes, classes, containers of both."""

from __future__ import annotations

from indexes.facts import Choice, ClassObject, Collection, Expr
from indexes.graph.hierarchy import Hierarchy
from indexes.graph.program import Program
from indexes.graph.values import EMPTY, ValueKind, ValueSet, union

_FIRST_SITE = 1 << 60


class Annotations:
    """Reads annotations of a program; equal containers share one number."""

    def __init__(self, program: Program, hierarchy: Hierarchy) -> None:
        self._values = program.values
        self._hierarchy = hierarchy
        self._sites: dict[frozenset[tuple[str, int]], int] = {}
        self._known: dict[tuple[int, int], ValueSet] = {}
        self.elements: dict[int, frozenset[tuple[str, int]]] = {}
        """(constant key or empty, value) pairs of each annotated container."""

    def instances(self, annotation: Expr, scope: int) -> ValueSet:
        """Values that an annotation, written in a scope, allows."""
        key = (id(annotation), scope)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._read(annotation, scope)
        return known

    def _read(self, annotation: Expr, scope: int) -> ValueSet:
        if type(annotation) is Choice:
            return union([self._read(item, scope) for item in annotation.items])
        if type(annotation) is ClassObject:
            return self._hierarchy.static_value(annotation.value, scope)
        if type(annotation) is Collection:
            return self._container(annotation, scope)
        found: set[int] = set()
        for value in self._hierarchy.static_value(annotation, scope):
            kind = self._values.kinds[value]
            if kind == ValueKind.CLASS:
                found.add(self._values.number(ValueKind.INSTANCE, self._values.scope(value)))
            elif kind == ValueKind.EXTERNAL:
                found.add(self._values.number(ValueKind.EXTERNAL, "*"))
        return frozenset(found)

    def _container(self, annotation: Collection, scope: int) -> ValueSet:
        pairs = frozenset(
            (key, value) for key, item in annotation.items for value in self._read(item, scope)
        )
        if not pairs:
            return EMPTY
        return self._values.only(ValueKind.CONTAINER, self.site(pairs))

    def site(self, pairs: frozenset[tuple[str, int]]) -> int:
        """Number of the container that holds just these elements."""
        site = self._sites.get(pairs)
        if site is None:
            site = self._sites[pairs] = _FIRST_SITE + len(self._sites)
            self.elements[site] = pairs
        return site
