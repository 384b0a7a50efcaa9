"""Values of names: Python's rule says where a name is bound, its bindings say the rest."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

from indexes.facts import Name, Parameter
from indexes.graph.frames import Frame
from indexes.graph.program import Slot
from indexes.graph.state import KeyKind
from indexes.graph.units import PENDING
from indexes.graph.values import EMPTY, MOST_OBJECTS, ValueKind, ValueSet, union

if TYPE_CHECKING:
    from indexes.graph.evaluation import Evaluation

LONGEST_CHAIN = 40
"""Names are followed through at most this many others that are not evaluated yet."""


class NameEvaluator:
    """What the names of a unit stand for."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._e = evaluation
        self._values = evaluation.values
        self._program = evaluation.program
        self._depth = 0
        self._decorated: dict[int, tuple[ValueSet, Set[int]]] = {}

    def start_unit(self) -> None:
        """Forget what was found for the unit before."""
        self._decorated = {}

    def start_item(self) -> None:
        """Begin a new chain of names."""
        self._depth = 0

    def read(self, expression: Name, frame: Frame) -> ValueSet:
        """Values of a name: Python's rule says where it is bound, its bindings say the rest."""
        name = expression.id
        while name not in frame.table:
            outer = frame.outer
            if outer is None:
                return self._unbound(frame, name)
            frame = outer
        known = frame.known.get(name)
        return known if known is not None else self.variable(frame, name)

    def read_global(self, frame: Frame, name: str) -> ValueSet:
        """Values of a module's variable."""
        if name not in frame.table:
            return self._unbound(frame, name)
        known = frame.known.get(name)
        return known if known is not None else self.variable(frame, name)

    def _unbound(self, module: Frame, name: str) -> ValueSet:
        """A builtin, or what a star import gives."""
        known = module.known.get(name)
        if known is not None:
            return known
        key = module.keys.get(name)
        if key is not None:
            return self._e.read(key)
        known = self._program.static(module.number, name)
        if known is None:
            origin = self._program.star_origin(module.number, name)
            if origin >= 0:
                module.keys[name] = self._e.state.number((KeyKind.GLOBAL, origin, name))
                return self._e.read(module.keys[name])
            known = EMPTY
        module.known[name] = known
        module.sure.add(name)
        return known

    def variable(self, frame: Frame, name: str) -> ValueSet:
        """Values of a name that is bound in the frame and not yet known for good."""
        if frame.unit == self._e.unit:
            local = frame.local.get(name)
            if local is not None:
                self._e.dynamic = True
                self._e.reads |= local[1]
                return local[0]
        elif name in frame.keys:
            return self._e.read(frame.keys[name])
        slots = frame.table[name]
        if slots[0].binding is None and slots[0].parameter is None:
            static = self._program.static(frame.number, name)
            if static is not None:
                frame.known[name] = static
                frame.sure.add(name)
                return static
        if frame.unit != self._e.unit:
            frame.keys[name] = self._e.state.number((KeyKind.GLOBAL, frame.number, name))
            return self._e.read(frame.keys[name])
        return self._compute(frame, name, slots)

    def _compute(self, frame: Frame, name: str, slots: list[Slot]) -> ValueSet:
        if self._depth >= LONGEST_CHAIN:
            self._e.dynamic = True
            self._e.reads |= PENDING
            return EMPTY
        self._depth += 1
        before, self._e.dynamic = self._e.dynamic, False
        around, self._e.reads = self._e.reads, set()
        frame.local[name] = EMPTY, PENDING
        values = union([self._slot(frame, name, slot, len(slots)) for slot in slots])
        if len(values) > MOST_OBJECTS:
            values = self._values.narrowed(values)
        if self._e.reads:
            frame.local[name] = values, self._e.reads
            around |= self._e.reads
        else:
            del frame.local[name]
            frame.known[name] = values
        self._e.reads = around
        self._depth -= 1
        self._e.dynamic = self._e.dynamic or before
        return values

    def _slot(self, frame: Frame, name: str, slot: Slot, count: int) -> ValueSet:
        if slot.binding is not None:
            place = self._e.frames[slot.binding_scope]
            if place.unit == self._e.unit:
                owner, self._e.owner = self._e.owner, place.owner
                values = self._e.statements.bound(slot.binding, place)
                self._e.owner = owner
                return values
            return self._e.read(self._e.state.number((KeyKind.GLOBAL, frame.number, name)))
        if slot.parameter is not None:
            receiver = self._e.members.receiver(frame, slot.parameter)
            if receiver is None:
                return self._parameter(frame, slot.parameter)
            if count == 1:
                frame.sure.add(name)
            return receiver
        if slot.definition >= 0:
            return self.decorated(slot.definition)
        return self._imported(frame, slot)

    def _imported(self, frame: Frame, slot: Slot) -> ValueSet:
        assert slot.imported is not None
        known = self._program.imported(slot.imported, frame.file.path)
        if known is not None:
            return known
        origin = self._program.import_origin(slot.imported, frame.file.path)
        if origin < 0:
            return EMPTY
        name = slot.imported.name
        if self._program.find(origin, name) is None:
            origin = self._program.star_origin(origin, name)
        return (
            self._e.read(self._e.state.number((KeyKind.GLOBAL, origin, name)))
            if origin >= 0
            else EMPTY
        )

    def _parameter(self, frame: Frame, parameter: Parameter) -> ValueSet:
        """Values of a parameter: annotation, default, and what calls pass."""
        scope = frame.number
        if parameter.kind == 2:
            return self._values.only(ValueKind.CONTAINER, varargs_site(scope))
        if parameter.kind == 4:
            return self._values.only(ValueKind.CONTAINER, kwargs_site(scope))
        values = self._e.read(self._e.state.number((KeyKind.PARAMETER, scope, parameter.name)))
        parent = self._program.parents[scope]
        if parameter.annotation is not None:
            values = values | self._e.annotations.instances(parameter.annotation, parent)
        if parameter.default is not None:
            around = self._e.frames[parent]
            if around.unit == self._e.unit:
                values = values | self._e.evaluate(parameter.default, around)
            else:
                values = values | self._e.hierarchy.static_value(parameter.default, parent)
        return values

    def decorated(self, scope: int) -> ValueSet:
        """What the name of a definition stands for once its decorators have run."""
        parent = self._e.frames[self._program.parents[scope]]
        if parent.unit != self._e.unit:
            return self._e.read(self._e.key(KeyKind.DECORATED, scope))
        known = self._decorated.get(scope)
        if known is None:
            around, self._e.reads = self._e.reads, set()
            self._decorated[scope] = EMPTY, PENDING
            known = self._decorated[scope] = self._decorate(scope, parent), self._e.reads
            self._e.reads = around
        self._e.reads |= known[1]
        self._e.dynamic = True
        return known[0]

    def _decorate(self, scope: int, parent: Frame) -> ValueSet:
        data = self._program.scopes[scope]
        kind = ValueKind.CLASS if data.kind == "class" else ValueKind.FUNCTION
        current = self._values.only(kind, scope)
        owner, self._e.owner = self._e.owner, parent.owner
        line = parent.file.facts.definitions[scope - parent.file.first_scope - 1].line
        for decorator in reversed(data.decorators):
            current = self._e.calls.decorate(self._e.evaluate(decorator, parent), current, line)
        self._e.owner = owner
        return current


def varargs_site(scope: int) -> int:
    """Container number of a function's ``*args``."""
    return -(2 * scope + 1)


def kwargs_site(scope: int) -> int:
    """Container number of a function's ``**kwargs``."""
    return -(2 * scope + 2)
