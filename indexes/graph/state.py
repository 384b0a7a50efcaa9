"""What units of evaluation tell each other: the state that the rounds of the solver refine.

Keys are numbered once, so that reading one is an index into a list. Contents only grow from round
to round, and what has once been too much stays unknown; so rounds converge, and the state after a
round is a pure function of the state before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from indexes.facts import Expr
from indexes.graph.values import EMPTY, MOST_OBJECTS, Values


class KeyKind:
    """Kinds of state; what follows the kind in a key is given here. Plain, as `ValueKind` is."""

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
    HOLDERS = 8
    """(0, attribute name): classes to which something assigns an attribute of that name."""


Key: TypeAlias = tuple[int, int] | tuple[int, int, str]
Content: TypeAlias = frozenset[Any]
Writes: TypeAlias = dict[int, set[Any]]
"""What a unit adds, by number of the key: values, or (key, value) pairs of a container."""

MOST_ELEMENTS = 24
"""A container with more than this, counted over all of its keys, counts as unknown."""

_OPEN, _NO_OBJECTS, _CROWDED = range(3)


class Findings:
    """What evaluating expressions says about the calls in them; most say little, so all is lazy."""

    __slots__ = ("edges", "external", "references", "unresolved")

    def __init__(self) -> None:
        self.edges: dict[tuple[int, int, int], float] | None = None
        """(source scope, target scope, line) -> confidence; the best of several stays."""
        self.references: set[tuple[int, int, int]] | None = None
        self.unresolved: dict[int, tuple[int, Expr, int]] | None = None
        """(source scope, callee, line) by the call's identity."""
        self.external: set[int] | None = None
        """Identities of calls that go to code outside the repository."""

    def add_edge(self, edge: tuple[int, int, int], confidence: float) -> None:
        """Note that a scope calls a definition on a line."""
        if self.edges is None:
            self.edges = {edge: confidence}
        elif confidence > self.edges.get(edge, 0.0):
            self.edges[edge] = confidence

    def add_reference(self, reference: tuple[int, int, int]) -> None:
        """Note that a scope hands over a definition on a line."""
        if self.references is None:
            self.references = {reference}
        else:
            self.references.add(reference)

    def add_unresolved(self, call: int, owner: int, callee: Expr, line: int) -> None:
        """Note that nothing is known of what a call calls."""
        if self.unresolved is None:
            self.unresolved = {}
        self.unresolved[call] = owner, callee, line

    def add_external(self, call: int) -> None:
        """Note that a call leaves the repository."""
        if self.external is None:
            self.external = set()
        self.external.add(call)


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
                new = values - self.contents[key]
                if new:
                    known = fresh.get(key)
                    if known is None:
                        fresh[key], source[key] = new, unit
                    else:
                        known |= new
                        source[key] = -1
        return {key: source[key] for key, new in fresh.items() if self._grow(key, new)}

    def _grow(self, key: int, new: set[int] | set[tuple[str, int]]) -> bool:
        old = self.contents[key]
        content: Content = old | new
        if self.kinds[key] == KeyKind.ELEMENTS:
            if len(content) > MOST_ELEMENTS:
                content, self._levels[key] = EMPTY, _CROWDED
        elif self.kinds[key] == KeyKind.HOLDERS:
            pass
        elif self._levels[key] == _NO_OBJECTS or len(content) > MOST_OBJECTS:
            content = self._narrow(key, content)
        self.contents[key] = content
        return content != old

    def _narrow(self, key: int, content: frozenset[int]) -> Content:
        """What has been dropped once stays out, lest values come and go between rounds."""
        if self._levels[key] == _NO_OBJECTS:
            content = self._values.functions(content)
        kept = self._values.narrowed(content)
        if kept is not content:
            self._levels[key] = _NO_OBJECTS if kept else _CROWDED
        return kept
