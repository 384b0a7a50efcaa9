"""What units of evaluation tell each other: the state that the rounds of the solver refine."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeAlias

from indexes.graph.values import EMPTY


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

MOST_VALUES = 16
"""A place that holds more distinct values than this is a registry or a base type of everything; what
would follow from it is noise (a call site with dozens of targets), so it counts as unknown."""


@dataclass(slots=True)
class UnitResult:
    """What one evaluation of a unit yields."""

    writes: dict[Key, set[object]] = field(default_factory=dict)
    reads: set[Key] = field(default_factory=set)
    edges: dict[tuple[int, int, int], float] = field(default_factory=dict)
    """(source scope, target scope, line) -> confidence; the best of several stays."""
    references: set[tuple[int, int, int]] = field(default_factory=set)
    unresolved: list[tuple[int, str, int]] = field(default_factory=list)
    """(source scope, name as written, line)."""
    external: int = 0
    """Call sites that go to code outside the repository."""


class State:
    """Contents of all keys at the end of a round; a pure function of what the units wrote."""

    def __init__(self) -> None:
        self._contents: dict[Key, Content] = {}
        self._writers: dict[Key, dict[int, frozenset[object]]] = {}

    def read(self, key: Key) -> Content:
        """Content of a key; empty when nobody wrote it."""
        return self._contents.get(key, EMPTY)

    def replace(
        self, unit: int, old: dict[Key, frozenset[object]], new: dict[Key, frozenset[object]]
    ) -> set[Key]:
        """Take over what a unit writes now; the keys whose writers changed."""
        touched: set[Key] = set()
        for key in old.keys() - new.keys():
            del self._writers[key][unit]
            touched.add(key)
        for key, content in new.items():
            if old.get(key) != content:
                self._writers.setdefault(key, {})[unit] = content
                touched.add(key)
        return touched

    def settle(self, touched: set[Key]) -> set[Key]:
        """Recompute the touched keys; those whose content changed."""
        changed: set[Key] = set()
        for key in touched:
            writers = self._writers[key]
            content: frozenset[object] = frozenset().union(*writers.values())
            if len(content) > MOST_VALUES:
                content = frozenset()
            if content != self._contents.get(key, EMPTY):
                self._contents[key] = content  # type: ignore[assignment]
                changed.add(key)
        return changed
