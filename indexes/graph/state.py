"""What units of evaluation tell each other: the state that the rounds of the solver refine.

Keys are numbered once, so that reading one is an index into a list. Contents only grow from round
to round, and what has once been too much stays unknown; so rounds converge, and the state after a
round is a pure function of the state before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeAlias

from indexes.facts import Expr
from indexes.graph.values import EMPTY, ValueKind, Values


class KeyKind(IntEnum):
    """Kinds of state; what follows the kind in a key is given here."""

    RETURN = 0
    """(function scope,): values returned."""
    YIELD = 1
    """(function scope,): values yielded."""
    PARAMETER = 2
    """(function scope, name): values that calls pass."""
    INSTANCE_ATTRIBUTE = 3
    """(class scope, name): values assigned through instances."""
    CLASS_ATTRIBUTE = 4
    """(class scope, name): values assigned in the class body or through the class."""
    GLOBAL = 5
    """(module scope, name): values of a module's variable that names alone do not decide."""
    DECORATED = 6
    """(definition scope,): what a decorated definition's name stands for."""
    ELEMENTS = 7
    """(site,): (key, value) pairs put into a container."""


Key: TypeAlias = tuple[int, int] | tuple[int, int, str]
Content: TypeAlias = frozenset[int] | frozenset[tuple[str, int]]
Writes: TypeAlias = dict[int, set[int] | set[tuple[str, int]]]

MOST_VALUES = 12
"""A place that holds more distinct values than this is a registry or a base type of everything; what
would follow from it is noise (a call site with dozens of targets), so it counts as unknown."""
MOST_INSTANCES = 5
"""Likewise for the classes whose instances a place holds: then only its functions are kept."""
MOST_ELEMENTS = 48
"""Likewise for what is put into one container, counted over all of its keys."""

_OPEN, _NO_INSTANCES, _CROWDED = range(3)


@dataclass(slots=True)
class Findings:
    """What evaluating expressions says about the calls in them."""

    edges: dict[tuple[int, int, int], float] = field(default_factory=dict)
    """(source scope, target scope, line) -> confidence; the best of several stays."""
    references: set[tuple[int, int, int]] = field(default_factory=set)
    unresolved: dict[int, tuple[int, Expr, int]] = field(default_factory=dict)
    """(source scope, callee, line) by the call's identity."""
    external: set[tuple[int, int]] = field(default_factory=set)
    """(source scope, line) of calls that go to code outside the repository."""


class State:
    """Contents of all keys at the end of a round."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._numbers: dict[Key, int] = {}
        self._levels = bytearray()
        self.kinds = bytearray()
        self.contents: list[Content] = []
        """By number of the key; never changed while a round runs."""

    def number(self, key: Key) -> int:
        """The number of a key."""
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self.contents)
            self.contents.append(EMPTY)
            self.kinds.append(key[0])
            self._levels.append(_OPEN)
        return found

    def settle(self, results: Iterable[tuple[int, Writes]]) -> dict[int, int]:
        """Take over what units wrote in a round.

        Returns
        -------
        dict
            The only unit that brought something new, or -1, by the number of each changed key.
        """
        fresh: Writes = {}
        source: dict[int, int] = {}
        for unit, writes in results:
            for key, values in writes.items():
                if self._levels[key] == _CROWDED:
                    continue
                new = values - self.contents[key]  # type: ignore[operator]
                if new:
                    known = fresh.get(key)
                    if known is None:
                        fresh[key], source[key] = new, unit
                    else:
                        known |= new  # type: ignore[arg-type]
                        source[key] = -1
        return {key: source[key] for key, new in fresh.items() if self._grow(key, new)}

    def _grow(self, key: int, new: set[int] | set[tuple[str, int]]) -> bool:
        old = self.contents[key]
        content: Content = old | new  # type: ignore[operator]
        if self.kinds[key] == KeyKind.ELEMENTS:
            if len(content) > MOST_ELEMENTS:
                content, self._levels[key] = EMPTY, _CROWDED
        elif self._levels[key] == _NO_INSTANCES or len(content) > MOST_INSTANCES:
            content = self._narrow(key, content)  # type: ignore[arg-type]
        self.contents[key] = content
        return content != old

    def _narrow(self, key: int, content: frozenset[int]) -> Content:
        kinds = self._values.kinds
        rest = frozenset(v for v in content if kinds[v] not in _OF_CLASSES)
        if self._levels[key] == _NO_INSTANCES or len(content) - len(rest) > MOST_INSTANCES:
            self._levels[key] = _NO_INSTANCES
            content = rest
        if len(content) > MOST_VALUES:
            self._levels[key] = _CROWDED
            return EMPTY
        return content


_OF_CLASSES = frozenset({int(ValueKind.INSTANCE), int(ValueKind.SELF)})
