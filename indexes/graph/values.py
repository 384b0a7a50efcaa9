"""Abstract values: what a name can stand for, as small interned numbers.

A value is a tuple (kind, ...) given a number once; sets of values are frozensets of numbers.
"""

from __future__ import annotations

from typing import TypeAlias

ValueSet: TypeAlias = frozenset[int]
EMPTY: ValueSet = frozenset()


class ValueKind:
    """Kinds of abstract values; what follows the kind in a value's tuple is given here.

    Plain numbers: reading a member of an enumeration costs four times as much on Python 3.11.
    """

    FUNCTION = 0
    """(scope,)"""
    CLASS = 1
    """(scope,)"""
    INSTANCE = 2
    """(class scope,)"""
    SELF = 3
    """(class scope,): an instance of the class or of any subclass, inside its own methods."""
    OWN_CLASS = 4
    """(class scope,): `cls`, the class or any subclass."""
    BOUND = 5
    """(function scope, receiver value)"""
    MODULE = 6
    """(module number,)"""
    EXTERNAL = 7
    """(dotted name,): something that the repository does not define."""
    CONTAINER = 8
    """(site,)"""
    CONTAINER_METHOD = 9
    """(site, method name)"""
    GENERATOR = 10
    """(function scope, receiver value or -1)"""
    SUPER = 11
    """(class scope, receiver value)"""
    PARTIAL = 12
    """(function value, bound positional arguments)"""
    PROPERTY = 13
    """(getter value,)"""


_NAMED = frozenset({ValueKind.FUNCTION, ValueKind.CLASS, ValueKind.BOUND})


def union(parts: list[ValueSet]) -> ValueSet:
    """All values of several sets; cheap where there are none or just one."""
    if not parts:
        return EMPTY
    return parts[0] if len(parts) == 1 else EMPTY.union(*parts)


MOST_VALUES = 12
"""A place that holds more distinct values than this is a registry or a base type of everything;
what would follow from it is noise (a call site with dozens of targets): it counts as unknown."""
MOST_OBJECTS = 3
"""Likewise for the instances, containers and generators a place holds: then only its functions and
classes are kept."""
_OBJECTS = frozenset({
    ValueKind.INSTANCE, ValueKind.SELF, ValueKind.CONTAINER, ValueKind.GENERATOR,
})  # fmt: skip


class Values:
    """The table of values of one program. Numbers are given in order of first use."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int | str, ...], int] = {}
        self._sets: list[ValueSet] = []
        self.kinds: list[int] = []
        self.payloads: list[tuple[int | str, ...]] = []
        self.named: list[int] = []
        """Scope of the function or class that a value is, or -1."""

    def number(self, kind: int, *payload: int | str) -> int:
        """The number of a value."""
        key = (kind, *payload)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self.kinds)
            self.kinds.append(kind)
            self.payloads.append(payload)
            self.named.append(int(payload[0]) if kind in _NAMED else -1)
            self._sets.append(frozenset((found,)))
        return found

    def only(self, kind: int, *payload: int | str) -> ValueSet:
        """The set that holds just this value."""
        return self._sets[self.number(kind, *payload)]

    def singleton(self, number: int) -> ValueSet:
        """The set that holds just the value of that number."""
        return self._sets[number]

    def scope(self, number: int) -> int:
        """The first part of a value's payload where that is a scope or site."""
        return self.payloads[number][0]  # type: ignore[return-value]

    def narrowed(self, values: ValueSet) -> ValueSet:
        """What of a place's values is worth following."""
        if len(values) <= MOST_OBJECTS:
            return values
        kinds = self.kinds
        rest = frozenset([value for value in values if kinds[value] not in _OBJECTS])
        if len(values) - len(rest) <= MOST_OBJECTS:
            rest = values
        return rest if len(rest) <= MOST_VALUES else EMPTY

    def functions(self, values: ValueSet) -> ValueSet:
        """The values that are no objects."""
        kinds = self.kinds
        return frozenset([value for value in values if kinds[value] not in _OBJECTS])
