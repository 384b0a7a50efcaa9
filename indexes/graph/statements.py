"""Statements: what bindings, returns, yields and definitions add to the state."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING, Any, cast

from indexes.facts import Attribute, Binding, Call, Expr, Name, Subscript
from indexes.graph.frames import Frame
from indexes.graph.state import KeyKind
from indexes.graph.units import PENDING, Runner, Unit
from indexes.graph.values import EMPTY, ValueKind, ValueSet

if TYPE_CHECKING:
    from indexes.graph.evaluation import Evaluation

_INSTANCES = frozenset({ValueKind.INSTANCE, ValueKind.SELF})
_CLASSES = frozenset({ValueKind.CLASS, ValueKind.OWN_CLASS})


class StatementEvaluator:
    """Runs the statements of a unit."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._e = evaluation
        self._values = evaluation.values
        self._program = evaluation.program
        self._memo: dict[int, tuple[ValueSet, Set[int]]] = {}

    def start_unit(self) -> None:
        """Forget what was found for the unit before."""
        self._memo = {}

    def items(self, unit: Unit) -> list[tuple[Runner, Frame, Any]]:
        """All that a unit has to evaluate."""
        items: list[tuple[Runner, Frame, Any]] = []
        for scope in unit.definitions:
            data = self._program.scopes[scope]
            if data.parameters or data.decorators or data.bases:
                around = self._e.frames[self._program.parents[scope]]
                items.append((self._define, around, scope))
        for scope in unit.scopes:
            frame = self._e.frames[scope]
            data = frame.data
            unit.frames.append(frame)
            items += [(self._bind, frame, each) for each in data.bindings]
            if data.kind == "module":
                items += [(self._publish, frame, name) for name in frame.table]
            items += [(self._return, frame, each) for each in data.returns]
            items += [(self._yield, frame, each) for each in data.yields]
            items += [(self._effect, frame, each) for each in data.effects]
        return items

    def _define(self, frame: Frame, scope: int) -> None:
        data = self._program.scopes[scope]
        for parameter in data.parameters:
            if parameter.default is not None:
                self._e.evaluate(parameter.default, frame)
        for base in data.bases:
            if type(base) is Call:
                self._e.evaluate(base, frame)
        if data.decorators:
            self._e.write(self._e.key(KeyKind.DECORATED, scope), self._e.names.decorated(scope))

    def _effect(self, frame: Frame, expression: Expr) -> None:
        self._e.readers[type(expression)](expression, frame)

    def _return(self, frame: Frame, expression: Expr) -> None:
        self._e.write(
            self._e.key(KeyKind.RETURN, frame.number), self._e.evaluate(expression, frame)
        )

    def _yield(self, frame: Frame, expression: Expr) -> None:
        self._e.write(self._e.key(KeyKind.YIELD, frame.number), self._e.evaluate(expression, frame))

    def _publish(self, frame: Frame, name: str) -> None:
        slot = frame.table[name][0]
        if slot.parameter is None and slot.binding is None:
            known = self._program.static(frame.number, name)
            if known is not None:
                return
        values = self._e.names.variable(frame, name)
        if values:
            self._e.write(self._e.state.number((KeyKind.GLOBAL, frame.number, name)), values)

    def _bind(self, frame: Frame, binding: Binding) -> None:
        values = self.bound(binding, frame)
        target = binding.target
        if type(target) is Name:
            if values and (frame.data.kind == "class" or frame.data.globals):
                self._bind_name(target.id, frame, values)
        elif type(target) is Attribute:
            for receiver in self._e.evaluate(target.value, frame):
                self._bind_attribute(receiver, target.attr, values)
        elif type(target) is Subscript:
            for receiver in self._e.evaluate(target.value, frame):
                if self._values.kinds[receiver] == ValueKind.CONTAINER:
                    self._e.put(self._values.scope(receiver), target.key, values)

    def bound(self, binding: Binding, frame: Frame) -> ValueSet:
        """Values a binding gives its target; evaluated once a run."""
        known = self._memo.get(id(binding))
        if known is not None:
            values, reads = known
            if reads:
                self._e.reads.update(reads)
                self._e.dynamic = True
            return values
        before, self._e.dynamic = self._e.dynamic, False
        around, self._e.reads = self._e.reads, set()
        self._memo[id(binding)] = EMPTY, PENDING
        values = self._e.readers[type(binding.value)](binding.value, frame)
        if binding.annotation is not None:
            values = values | self._e.annotations.instances(binding.annotation, frame.number)
        self._memo[id(binding)] = values, self._e.reads
        around |= self._e.reads
        self._e.reads = around
        self._e.dynamic = self._e.dynamic or before
        return values

    def _bind_name(self, name: str, frame: Frame, values: ValueSet) -> None:
        if name in frame.data.globals:
            key = self._e.state.number((KeyKind.GLOBAL, frame.module.number, name))
            self._e.write(key, values)
        elif frame.data.kind == "class":
            self._hold(KeyKind.CLASS_ATTRIBUTE, frame.number, name, values)

    def _bind_attribute(self, receiver: int, name: str, values: ValueSet) -> None:
        kind, place = self._values.kinds[receiver], self._values.payloads[receiver][0]
        if kind in _INSTANCES:
            self._hold(KeyKind.INSTANCE_ATTRIBUTE, cast(int, place), name, values)
        elif kind in _CLASSES:
            self._hold(KeyKind.CLASS_ATTRIBUTE, cast(int, place), name, values)
        elif kind == ValueKind.MODULE:
            module = self._program.module_object(cast(int, place))
            if module.file is not None:
                file = self._program.files[self._program.file_numbers[module.file]]
                self._e.write(
                    self._e.state.number((KeyKind.GLOBAL, file.first_scope, name)), values
                )

    def _hold(self, kind: int, cls: int, name: str, values: ValueSet) -> None:
        """Assign to an attribute of a class or of its instances."""
        if values:
            self._e.write(self._e.state.number((kind, cls, name)), values)
            self._e.writes.setdefault(self._e.holders(name), set()).add(cls)
