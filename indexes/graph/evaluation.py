"""Evaluation of one unit: which values its expressions can have, which calls they make.

A *unit* is a function or method with all that is nested in it, or a module with its class bodies.
Evaluating a unit is a pure function of the file's facts, of what names alone decide (`Program`,
`Hierarchy`) and of the state after the round before. Flow-insensitive and field-sensitive, as
PyCG's assignment graph (Salis et al., ICSE 2021, https://arxiv.org/abs/2103.00587) is; unlike it,
on demand and one unit at a time. What depends on no state is evaluated once and never again.
"""

from __future__ import annotations

from collections.abc import Container
from typing import cast

from indexes.facts import Call, Expr, Name
from indexes.graph.annotated import Annotations
from indexes.graph.calls import CallEvaluator
from indexes.graph.expressions import ExpressionEvaluator, Reader
from indexes.graph.frames import Frame, Frames
from indexes.graph.hierarchy import Hierarchy
from indexes.graph.members import Members
from indexes.graph.names import NameEvaluator
from indexes.graph.program import Program
from indexes.graph.protocols import Protocols
from indexes.graph.state import Findings, KeyKind, State, Writes
from indexes.graph.statements import StatementEvaluator
from indexes.graph.units import WAITING, Item, Runner, Unit
from indexes.graph.values import EMPTY, ValueSet


class Evaluation:
    """Evaluates units one after the other; what is kept between them is shared tables only.

    The parts (`names`, `expressions`, `calls`, ...) know what each construct does; what they have
    in common is here: the state they read and write, and which of it the present item has read.
    """

    def __init__(
        self, program: Program, hierarchy: Hierarchy, units: list[int], state: State
    ) -> None:
        self.program = program
        self.values = program.values
        self.hierarchy = hierarchy
        self.state = state
        self.frames = Frames(program, units)
        self.annotations = Annotations(program, hierarchy)
        self.unit = -1
        self.owner = -1
        self.in_test = False
        self.resigned = False
        """Whether what no round has told yet is taken to stay unknown."""
        self.dynamic = False
        """Whether anything evaluated since this was last set to false depends on state."""
        self.reads: set[int] = set()
        """State read since this was last emptied."""
        self.writes: Writes = {}
        self._contents = state.contents
        self._fixed = Findings()
        self._fluid: Findings | None = None
        self._own_elements: dict[int, int] = {}
        self._keys: dict[tuple[int, int], int] = {}
        self._holders: dict[str, int] = {}
        self.members = Members(self)
        self.protocols = Protocols(self)
        self.calls = CallEvaluator(self)
        self.names = NameEvaluator(self)
        self.expressions = ExpressionEvaluator(self)
        self.statements = StatementEvaluator(self)
        self.readers: dict[type, Reader] = {
            Name: self.names.read,
            Call: self.calls.evaluate,
            **self.expressions.readers(),
        }

    def run(self, unit: Unit, changed: Container[int]) -> Writes:
        """Evaluate a unit against the state of the round before.

        Parameters
        ----------
        unit
            The unit, which takes up what is found.
        changed
            State that changed since the unit's last run.

        Returns
        -------
        dict
            What the unit adds to the state.
        """
        self.unit, self._fixed = unit.number, unit.fixed
        self.writes, self._own_elements = {}, {}
        self.names.start_unit()
        self.statements.start_unit()
        self.in_test = self.frames[unit.number].file.is_test
        self.reads = set()
        if unit.is_new:
            unit.is_new = False
            for runner, frame, what in self.statements.items(unit):
                self._run_item(unit, runner, frame, what)
        else:
            for frame in unit.frames:
                if frame.local:
                    frame.local = {}
            items, unit.reads, unit.items = unit.items, set(), []
            for item in items:
                if any([key in changed for key in item.reads]):
                    self._run_item(unit, item.runner, item.frame, item.what)
                else:
                    unit.items.append(item)
        unit.own = set(self._own_elements)
        unit.stale = {
            key for key, seen in self._own_elements.items() if len(self.writes.get(key, ())) > seen
        }
        return self.writes

    def _run_item(self, unit: Unit, runner: Runner, frame: Frame, what: object) -> None:
        self.owner, self.dynamic = frame.owner, False
        self.names.start_item()
        try:
            runner(frame, what)
        except RecursionError:  # an expression of generated code, nested beyond reason
            self.dynamic = False
            self.reads, self._fluid = set(), None
            return
        if self.dynamic:
            reads = self.reads
            unit.items.append(Item(runner, frame, what, tuple(reads), self._fluid))
            unit.reads |= reads
            self.reads, self._fluid = set(), None

    def findings(self) -> Findings:
        """Where to note what is found now."""
        if not self.dynamic:
            return self._fixed
        if self._fluid is None:
            self._fluid = Findings()
        return self._fluid

    def wait(self) -> ValueSet:
        """Nothing yet; the present item is evaluated again when the evaluation has resigned."""
        self.reads.add(WAITING)
        self.dynamic = True
        return EMPTY

    # --- state ------------------------------------------------------------------------------

    def key(self, kind: int, place: int) -> int:
        """Number of a key that has no name in it."""
        found = self._keys.get((kind, place))
        if found is None:
            found = self._keys[kind, place] = self.state.number((kind, place))
        return found

    def read(self, key: int) -> ValueSet:
        """Values that were there after the round before."""
        self.reads.add(key)
        self.dynamic = True
        return self._contents[key]

    def write(self, key: int, values: ValueSet) -> None:
        """Add values to a key of the coming state."""
        if values:
            known = self.writes.get(key)
            if known is None:
                self.writes[key] = set(values)
            else:
                known |= values

    def holders(self, name: str) -> int:
        """Number of the key that says which classes hold an attribute of that name."""
        found = self._holders.get(name)
        if found is None:
            found = self._holders[name] = self.state.number((KeyKind.HOLDERS, 0, name))
        return found

    # --- containers -------------------------------------------------------------------------

    def put(self, site: int, key: str, values: ValueSet) -> None:
        """Put values into a container."""
        if values:
            pairs = {(key, value) for value in values}
            known = self.writes.setdefault(self.key(KeyKind.ELEMENTS, site), set())
            known |= pairs

    def held(self, site: int) -> frozenset[tuple[str, int]]:
        """(constant key or empty, value) pairs that a container holds."""
        annotated = self.annotations.elements.get(site)
        if annotated is not None:
            return annotated
        key = self.key(KeyKind.ELEMENTS, site)
        known = cast("frozenset[tuple[str, int]]", self.read(key))
        own = cast("set[tuple[str, int]] | None", self.writes.get(key))
        self._own_elements.setdefault(key, len(own) if own else 0)
        return known | own if own else known

    def elements(self, site: int, key: str = "") -> ValueSet:
        """What a container holds under a constant key, or anywhere when the key is empty."""
        held = self.held(site)
        if not key:
            return self.values.narrowed(frozenset([value for _, value in held]))
        places = (key, "")
        return self.values.narrowed(frozenset([v for place, v in held if place in places]))

    def pairs(self, site: int) -> list[tuple[str, ValueSet]]:
        """(constant key or empty, values) of a container, in order of the keys."""
        grouped: dict[str, set[int]] = {}
        for key, value in self.held(site):
            grouped.setdefault(key, set()).add(value)
        return [(key, frozenset(grouped[key])) for key in sorted(grouped)]

    def edge(self, target: int, line: int, confidence: float) -> None:
        """Record that the current owner calls a definition."""
        self.findings().add_edge((self.owner, target, line), confidence)

    def evaluate(self, expression: Expr, frame: Frame) -> ValueSet:
        """Values of an expression in a scope of the unit."""
        return self.readers[type(expression)](expression, frame)
