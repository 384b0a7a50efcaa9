"""Protocols of values: subscription, iteration, context management."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from indexes.graph.state import KeyKind
from indexes.graph.values import EMPTY, ValueKind, ValueSet, union
from indexes.model import Confidence

if TYPE_CHECKING:
    from indexes.graph.evaluation import Evaluation

_SELVES = frozenset({ValueKind.CLASS, ValueKind.EXTERNAL})
"""Subscription gives the value itself: ``Generic[T]``."""
_ENTERED = frozenset({ValueKind.GENERATOR, ValueKind.EXTERNAL})
_INSTANCES = frozenset({ValueKind.INSTANCE, ValueKind.SELF})


class Protocols:
    """What subscribing, iterating over and entering values does."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._e = evaluation
        self._values = evaluation.values

    def item(self, value: int, key: str) -> ValueSet:
        """``value[key]``."""
        kind = self._values.kinds[value]
        if kind == ValueKind.CONTAINER:
            return self._e.elements(self._values.scope(value), key)
        if kind in _SELVES:
            return self._values.singleton(value)
        if kind == ValueKind.GENERATOR:
            return self.iterate(value, 0)
        if kind in _INSTANCES:
            methods = self._e.members.attribute(value, "__getitem__", 0)
            return union([self._peek(method) for method in methods])
        return EMPTY

    def _peek(self, method: int) -> ValueSet:
        """What a bound method returns, without recording a call."""
        if self._values.kinds[method] != ValueKind.BOUND:
            return EMPTY
        scope, receiver = cast("tuple[int, int]", self._values.payloads[method])
        return self._e.calls.returned(scope, receiver)

    def iterate(self, value: int, line: int) -> ValueSet:
        """What iterating over a value gives; calls ``__iter__`` and ``__next__``."""
        kind = self._values.kinds[value]
        if kind == ValueKind.CONTAINER:
            return self._e.elements(self._values.scope(value))
        if kind == ValueKind.EXTERNAL:
            return self._values.only(ValueKind.EXTERNAL, "*")
        if kind == ValueKind.GENERATOR:
            scope, receiver = cast("tuple[int, int]", self._values.payloads[value])
            yielded = self._e.read(self._e.key(KeyKind.YIELD, scope))
            return self._e.calls.substitute(yielded, receiver) if receiver >= 0 else yielded
        return self._iterate_instance(value, line) if kind in _INSTANCES else EMPTY

    def _iterate_instance(self, value: int, line: int) -> ValueSet:
        result: set[int] = set()
        for name in ("__iter__", "__aiter__"):
            for iterator in self._call(value, name, line):
                if self._values.kinds[iterator] in _INSTANCES:
                    result |= self.advance(iterator, line)
                else:
                    result |= self.iterate(iterator, line)
        return frozenset(result)

    def advance(self, value: int, line: int) -> ValueSet:
        """``next(value)``."""
        if self._values.kinds[value] not in _INSTANCES:
            return self.iterate(value, line)
        return self._call(value, "__next__", line) | self._call(value, "__anext__", line)

    def enter(self, value: int, line: int) -> ValueSet:
        """What ``with value as x`` binds; calls ``__enter__`` and ``__exit__``."""
        kind = self._values.kinds[value]
        if kind in _INSTANCES:
            self._call(value, "__exit__", line)
            self._call(value, "__aexit__", line)
            return self._call(value, "__enter__", line) | self._call(value, "__aenter__", line)
        if kind in _ENTERED:
            return self.iterate(value, line)
        return EMPTY

    def _call(self, value: int, name: str, line: int) -> ValueSet:
        """Call a special method without arguments."""
        calls = self._e.calls
        methods = self._e.members.attribute(value, name, line)
        return union(
            [calls.call(each, calls.nothing, line, Confidence.INFERRED) for each in methods]
        )
