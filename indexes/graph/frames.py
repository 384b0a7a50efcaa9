"""What evaluation keeps for each scope: where its names are bound, and their values so far."""

from __future__ import annotations

from collections.abc import Set

from indexes.facts import Scope
from indexes.graph.program import LinkedFile, Program, Table
from indexes.graph.values import ValueSet


class Frame:
    """A scope during evaluation."""

    __slots__ = (
        "cut", "data", "file", "in_class", "keys", "known", "local", "module", "number", "outer",
        "owner", "sure", "table", "unit",
    )  # fmt: skip

    def __init__(self, number: int, data: Scope, file: LinkedFile, table: Table, unit: int) -> None:
        self.number = number
        self.data = data
        self.file = file
        self.table = table
        """Names bound here."""
        self.unit = unit
        self.owner = file.first_scope + data.owner
        """Scope of the entity that its lines belong to."""
        self.outer: Frame | None = None
        """Where a name that is not bound here is looked for: classes are passed over."""
        self.module: Frame = self
        self.in_class = False
        """Whether it stands in a class body."""
        self.known: dict[str, ValueSet] = {}
        """Values that no round will change."""
        self.sure: set[str] = set()
        """Names whose values definitions and imports alone decide."""
        self.local: dict[str, tuple[ValueSet, Set[int]]] = {}
        """Values in the present run of its unit, and the state they depend on."""
        self.keys: dict[str, int] = {}
        """State keys of variables that other units read."""


class Frames:
    """The frames of all scopes of a program, by scope."""

    def __init__(self, program: Program, units: list[int]) -> None:
        self._all: list[Frame] = []
        for file in program.files:
            first, tables = file.first_scope, file.tables
            for index, data in enumerate(file.facts.scopes):
                number = first + index
                table = tables.get(index)
                frame = Frame(number, data, file, {} if table is None else table, units[number])
                self._all.append(frame)
            for frame in self._all[first:]:
                self._nest(frame, first)

    def __getitem__(self, scope: int) -> Frame:
        return self._all[scope]

    def _nest(self, frame: Frame, first: int) -> None:
        frame.module = self._all[first]
        parent = frame.data.parent
        if parent < 0:
            return
        around = self._all[first + parent]
        frame.in_class = around.data.kind == "class"
        while around.data.kind == "class" and around.data.parent >= 0:
            around = self._all[first + around.data.parent]
        frame.outer = around
