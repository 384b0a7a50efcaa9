"""Evaluation of one unit: which values its expressions can have, which calls they make.

A *unit* is a function or method with all that is nested in it, or a module with its class bodies.
Evaluating a unit is a pure function of the file's facts, of what names alone decide (`Program`,
`Hierarchy`) and of the state after the round before. Flow-insensitive and field-sensitive, as
PyCG's assignment graph (Salis et al., ICSE 2021, https://arxiv.org/abs/2103.00587) is; unlike it,
on demand and one unit at a time. What depends on no state is evaluated once and never again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Container
from typing import Any, TypeAlias, cast

from indexes.facts import (
    Attribute,
    Awaited,
    Binding,
    Call,
    Choice,
    ClassObject,
    Collection,
    Delegated,
    Element,
    Entered,
    Expr,
    Lambda,
    Literal,
    Name,
    Parameter,
    Raised,
    Slice,
    Star,
    Subscript,
)
from indexes.graph.annotated import Annotations
from indexes.graph.calls import CallEvaluator
from indexes.graph.frames import Frame, Frames
from indexes.graph.hierarchy import Hierarchy
from indexes.graph.members import Members
from indexes.graph.program import Program, Slot
from indexes.graph.protocols import Protocols
from indexes.graph.state import Findings, KeyKind, State, Writes
from indexes.graph.values import EMPTY, MOST_OBJECTS, ValueKind, ValueSet, union
from indexes.model import Confidence

_Runner: TypeAlias = Callable[[Frame, Any], None]
WAITING = -1
"""The number read by what would go on differently once unknown values are taken to stay unknown."""


CERTAIN, INFERRED = Confidence.CERTAIN, Confidence.INFERRED
_INSTANCES = frozenset({int(ValueKind.INSTANCE), int(ValueKind.SELF)})
_CLASSES = frozenset({int(ValueKind.CLASS), int(ValueKind.OWN_CLASS)})


LONGEST_CHAIN = 40
"""Names are followed through at most this many others that are not evaluated yet."""


class Item:
    """One statement's part of a unit, and what evaluating it found."""

    __slots__ = ("findings", "frame", "reads", "runner", "what")

    def __init__(
        self,
        runner: _Runner,
        frame: Frame,
        what: object,
        reads: tuple[int, ...],
        findings: Findings | None,
    ) -> None:
        self.runner = runner
        self.frame = frame
        self.what = what
        self.reads = reads
        """State it depends on."""
        self.findings = findings
        """What it found that depends on state."""


class Unit:
    """One unit, and what evaluating it found so far."""

    __slots__ = (
        "definitions",
        "fixed",
        "frames",
        "is_new",
        "items",
        "number",
        "own",
        "reads",
        "scopes",
        "stale",
    )

    def __init__(self, number: int, scopes: list[int], definitions: list[int]) -> None:
        self.number = number
        self.scopes = scopes
        self.definitions = definitions
        """Definitions that are evaluated (decorators, defaults, bases) in one of its scopes."""
        self.frames: list[Frame] = []
        self.is_new = True
        self.items: list[Item] = []
        """What depends on state, once the unit has been evaluated."""
        self.fixed = Findings()
        """Findings that no round will change."""
        self.reads: set[int] = set()
        """State that the last run read."""
        self.own: set[int] = set()
        """Containers that the last run read, its own elements included."""
        self.stale: set[int] = set()
        """Containers read in the last run before all of its own elements were in."""


class Evaluation:
    """Evaluates units one after the other; what is kept between them is shared tables only."""

    def __init__(
        self, program: Program, hierarchy: Hierarchy, units: list[int], state: State
    ) -> None:
        self.program = program
        self.values = program.values
        self.hierarchy = hierarchy
        self.state = state
        self.frames = Frames(program, units)
        self.annotations = Annotations(program, hierarchy)
        self.fixed = Findings()
        self._fluid: Findings | None = None
        self.dynamic = False
        """Whether anything evaluated since this was last set to false depends on state."""
        self.unit = -1
        self.owner = -1
        self.in_test = False
        self._depth = 0
        self.resigned = False
        """Whether what no round has told yet is taken to stay unknown."""
        self.writes: Writes = {}
        self._contents = state.contents
        self._reads: set[int] = set()
        self._memo: dict[int, tuple[ValueSet, set[int]]] = {}
        self._own_elements: dict[int, int] = {}
        self._decorated: dict[int, tuple[ValueSet, set[int]]] = {}
        self._keys: dict[tuple[int, int], int] = {}
        self._holders: dict[str, int] = {}
        self.members = Members(self)
        self.protocols = Protocols(self)
        self.calls = CallEvaluator(self)
        self.readers: dict[type, Callable[..., ValueSet]] = {
            Name: self.name,
            Attribute: self._attribute,
            Call: self.calls.evaluate,
            Subscript: self._subscript,
            Collection: self._collection,
            Lambda: self._lambda,
            Choice: self._choice,
            Element: self._element,
            Entered: self._entered,
            Awaited: self._inner,
            Star: self._inner,
            Slice: self._slice,
            Raised: self._raised,
            Delegated: self._element,
            Literal: _nothing,
            ClassObject: _nothing,
        }

    # --- running a unit ---------------------------------------------------------------------

    def _list(self, unit: Unit) -> list[tuple[_Runner, Frame, Any]]:
        """All that a unit has to evaluate."""
        items: list[tuple[_Runner, Frame, Any]] = []
        for scope in unit.definitions:
            data = self.program.scopes[scope]
            if data.parameters or data.decorators or data.bases:
                around = self.frames[self.program.parents[scope]]
                items.append((self._run_definition, around, scope))
        for scope in unit.scopes:
            frame = self.frames[scope]
            data = frame.data
            unit.frames.append(frame)
            items += [(self._run_binding, frame, each) for each in data.bindings]
            if data.kind == "module":
                items += [(self._publish, frame, name) for name in frame.table]
            items += [(self._run_return, frame, each) for each in data.returns]
            items += [(self._run_yield, frame, each) for each in data.yields]
            items += [(self._run_effect, frame, each) for each in data.effects]
        return items

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
        self.unit, self.fixed = unit.number, unit.fixed
        self.writes, self._memo, self._own_elements, self._decorated = {}, {}, {}, {}
        self.in_test = self.frames[unit.number].file.is_test
        self._reads = set()
        if unit.is_new:
            unit.is_new = False
            for runner, frame, what in self._list(unit):
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

    def _run_item(self, unit: Unit, runner: _Runner, frame: Frame, what: object) -> None:
        self.owner, self.dynamic, self._depth = frame.owner, False, 0
        try:
            runner(frame, what)
        except RecursionError:  # an expression of generated code, nested beyond reason
            self.dynamic = False
            self._reads, self._fluid = set(), None
            return
        if self.dynamic:
            reads = self._reads
            unit.items.append(Item(runner, frame, what, tuple(reads), self._fluid))
            unit.reads |= reads
            self._reads, self._fluid = set(), None

    def findings(self) -> Findings:
        """Where to note what is found now."""
        if not self.dynamic:
            return self.fixed
        if self._fluid is None:
            self._fluid = Findings()
        return self._fluid

    def wait(self) -> ValueSet:
        """Nothing yet; the present item is evaluated again when the evaluation has resigned."""
        self._reads.add(WAITING)
        self.dynamic = True
        return EMPTY

    def _run_definition(self, frame: Frame, scope: int) -> None:
        data = self.program.scopes[scope]
        for parameter in data.parameters:
            if parameter.default is not None:
                self.evaluate(parameter.default, frame)
        for base in data.bases:
            if type(base) is Call:
                self.evaluate(base, frame)
        if data.decorators:
            self.write(self.key(KeyKind.DECORATED, scope), self.decorated(scope))

    def _run_effect(self, frame: Frame, expression: Expr) -> None:
        self.readers[type(expression)](expression, frame)

    def _run_return(self, frame: Frame, expression: Expr) -> None:
        self.write(self.key(KeyKind.RETURN, frame.number), self.evaluate(expression, frame))

    def _run_yield(self, frame: Frame, expression: Expr) -> None:
        self.write(self.key(KeyKind.YIELD, frame.number), self.evaluate(expression, frame))

    def _publish(self, frame: Frame, name: str) -> None:
        slot = frame.table[name][0]
        if slot.parameter is None and slot.binding is None:
            known = self.program.static(frame.number, name)
            if known is not None:
                return
        values = self._variable(frame, name)
        if values:
            self.write(self.state.number((KeyKind.GLOBAL, frame.number, name)), values)

    def _run_binding(self, frame: Frame, binding: Binding) -> None:
        values = self._bound(binding, frame)
        target = binding.target
        if type(target) is Name:
            if values and (frame.data.kind == "class" or frame.data.globals):
                self._bind_name(target.id, frame, values)
        elif type(target) is Attribute:
            for receiver in self.evaluate(target.value, frame):
                self._bind_attribute(receiver, target.attr, values)
        elif type(target) is Subscript:
            for receiver in self.evaluate(target.value, frame):
                if self.values.kinds[receiver] == ValueKind.CONTAINER:
                    self.put(self.values.scope(receiver), target.key, values)

    def _bound(self, binding: Binding, frame: Frame) -> ValueSet:
        """Values a binding gives its target; evaluated once a run."""
        known = self._memo.get(id(binding))
        if known is not None:
            values, reads = known
            if reads:
                self._reads.update(reads)
                self.dynamic = True
            return values
        before, self.dynamic = self.dynamic, False
        around, self._reads = self._reads, set()
        self._memo[id(binding)] = EMPTY, _PENDING
        values = self.readers[type(binding.value)](binding.value, frame)
        if binding.annotation is not None:
            values = values | self.annotations.instances(binding.annotation, frame.number)
        self._memo[id(binding)] = values, self._reads
        around |= self._reads
        self._reads = around
        self.dynamic = self.dynamic or before
        return values

    def _bind_name(self, name: str, frame: Frame, values: ValueSet) -> None:
        if name in frame.data.globals:
            key = self.state.number((KeyKind.GLOBAL, frame.module.number, name))
            self.write(key, values)
        elif frame.data.kind == "class":
            self._hold(KeyKind.CLASS_ATTRIBUTE, frame.number, name, values)

    def _bind_attribute(self, receiver: int, name: str, values: ValueSet) -> None:
        kind, place = self.values.kinds[receiver], self.values.payloads[receiver][0]
        if kind in _INSTANCES:
            self._hold(KeyKind.INSTANCE_ATTRIBUTE, cast(int, place), name, values)
        elif kind in _CLASSES:
            self._hold(KeyKind.CLASS_ATTRIBUTE, cast(int, place), name, values)
        elif kind == ValueKind.MODULE:
            module = self.program.module_object(cast(int, place))
            if module.file is not None:
                file = self.program.files[self.program.file_numbers[module.file]]
                self.write(self.state.number((KeyKind.GLOBAL, file.first_scope, name)), values)

    def _hold(self, kind: KeyKind, cls: int, name: str, values: ValueSet) -> None:
        """Assign to an attribute of a class or of its instances."""
        if values:
            self.write(self.state.number((kind, cls, name)), values)
            self.writes.setdefault(self.holders(name), set()).add(cls)

    def holders(self, name: str) -> int:
        """Number of the key that says which classes hold an attribute of that name."""
        found = self._holders.get(name)
        if found is None:
            found = self._holders[name] = self.state.number((KeyKind.HOLDERS, 0, name))
        return found

    # --- state ------------------------------------------------------------------------------

    def key(self, kind: int, place: int) -> int:
        """Number of a key that has no name in it."""
        found = self._keys.get((kind, place))
        if found is None:
            found = self._keys[kind, place] = self.state.number((kind, place))
        return found

    def read(self, key: int) -> ValueSet:
        """Values that were there after the round before."""
        self._reads.add(key)
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

    # --- names ------------------------------------------------------------------------------

    def evaluate(self, expression: Expr, frame: Frame) -> ValueSet:
        """Values of an expression in a scope of the unit."""
        return self.readers[type(expression)](expression, frame)

    def name(self, expression: Name, frame: Frame) -> ValueSet:
        """Values of a name: Python's rule says where it is bound, its bindings say the rest."""
        name = expression.id
        while name not in frame.table:
            outer = frame.outer
            if outer is None:
                return self._unbound(frame, name)
            frame = outer
        known = frame.known.get(name)
        return known if known is not None else self._variable(frame, name)

    def global_name(self, frame: Frame, name: str) -> ValueSet:
        """Values of a module's variable."""
        if name not in frame.table:
            return self._unbound(frame, name)
        known = frame.known.get(name)
        return known if known is not None else self._variable(frame, name)

    def _unbound(self, module: Frame, name: str) -> ValueSet:
        """A builtin, or what a star import gives."""
        known = module.known.get(name)
        if known is not None:
            return known
        key = module.keys.get(name)
        if key is not None:
            return self.read(key)
        known = self.program.static(module.number, name)
        if known is None:
            origin = self.program.star_origin(module.number, name)
            if origin >= 0:
                module.keys[name] = self.state.number((KeyKind.GLOBAL, origin, name))
                return self.read(module.keys[name])
            known = EMPTY
        module.known[name] = known
        module.sure.add(name)
        return known

    def _variable(self, frame: Frame, name: str) -> ValueSet:
        """Values of a name that is bound in the frame and not yet known for good."""
        if frame.unit == self.unit:
            local = frame.local.get(name)
            if local is not None:
                self.dynamic = True
                self._reads |= local[1]
                return local[0]
        elif name in frame.keys:
            return self.read(frame.keys[name])
        slots = frame.table[name]
        if slots[0].binding is None and slots[0].parameter is None:
            static = self.program.static(frame.number, name)
            if static is not None:
                frame.known[name] = static
                frame.sure.add(name)
                return static
        if frame.unit != self.unit:
            frame.keys[name] = self.state.number((KeyKind.GLOBAL, frame.number, name))
            return self.read(frame.keys[name])
        return self._compute(frame, name, slots)

    def _compute(self, frame: Frame, name: str, slots: list[Slot]) -> ValueSet:
        if self._depth >= LONGEST_CHAIN:
            self.dynamic = True
            self._reads |= _PENDING
            return EMPTY
        self._depth += 1
        before, self.dynamic = self.dynamic, False
        around, self._reads = self._reads, set()
        frame.local[name] = EMPTY, _PENDING
        values = union([self._slot(frame, name, slot, len(slots)) for slot in slots])
        if len(values) > MOST_OBJECTS:
            values = self.values.narrowed(values)
        if self._reads:
            frame.local[name] = values, self._reads
            around |= self._reads
        else:
            del frame.local[name]
            frame.known[name] = values
        self._reads = around
        self._depth -= 1
        self.dynamic = self.dynamic or before
        return values

    def _slot(self, frame: Frame, name: str, slot: Slot, count: int) -> ValueSet:
        if slot.binding is not None:
            place = self.frames[slot.binding_scope]
            if place.unit == self.unit:
                owner, self.owner = self.owner, place.owner
                values = self._bound(slot.binding, place)
                self.owner = owner
                return values
            return self.read(self.state.number((KeyKind.GLOBAL, frame.number, name)))
        if slot.parameter is not None:
            receiver = self.members.receiver(frame, slot.parameter)
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
        known = self.program.imported(slot.imported, frame.file.path)
        if known is not None:
            return known
        origin = self.program.import_origin(slot.imported, frame.file.path)
        if origin < 0:
            return EMPTY
        name = slot.imported.name
        if self.program.find(origin, name) is None:
            origin = self.program.star_origin(origin, name)
        return (
            self.read(self.state.number((KeyKind.GLOBAL, origin, name))) if origin >= 0 else EMPTY
        )

    def _parameter(self, frame: Frame, parameter: Parameter) -> ValueSet:
        """Values of a parameter: annotation, default, and what calls pass."""
        scope = frame.number
        if parameter.kind == 2:
            return self.values.only(ValueKind.CONTAINER, varargs_site(scope))
        if parameter.kind == 4:
            return self.values.only(ValueKind.CONTAINER, kwargs_site(scope))
        values = self.read(self.state.number((KeyKind.PARAMETER, scope, parameter.name)))
        parent = self.program.parents[scope]
        if parameter.annotation is not None:
            values = values | self.annotations.instances(parameter.annotation, parent)
        if parameter.default is not None:
            around = self.frames[parent]
            if around.unit == self.unit:
                values = values | self.evaluate(parameter.default, around)
            else:
                values = values | self.hierarchy.static_value(parameter.default, parent)
        return values

    def decorated(self, scope: int) -> ValueSet:
        """What the name of a definition stands for once its decorators have run."""
        parent = self.frames[self.program.parents[scope]]
        if parent.unit != self.unit:
            return self.read(self.key(KeyKind.DECORATED, scope))
        known = self._decorated.get(scope)
        if known is None:
            around, self._reads = self._reads, set()
            self._decorated[scope] = EMPTY, _PENDING
            known = self._decorated[scope] = self._decorate(scope, parent), self._reads
            self._reads = around
        self._reads |= known[1]
        self.dynamic = True
        return known[0]

    def _decorate(self, scope: int, parent: Frame) -> ValueSet:
        data = self.program.scopes[scope]
        kind = ValueKind.CLASS if data.kind == "class" else ValueKind.FUNCTION
        current = self.values.only(kind, scope)
        owner, self.owner = self.owner, parent.owner
        line = parent.file.facts.definitions[scope - parent.file.first_scope - 1].line
        for decorator in reversed(data.decorators):
            current = self.calls.decorate(self.evaluate(decorator, parent), current, line)
        self.owner = owner
        return current

    # --- expressions ------------------------------------------------------------------------

    def _attribute(self, expression: Attribute, frame: Frame) -> ValueSet:
        receivers = self.evaluate(expression.value, frame)
        if not receivers:
            return EMPTY
        read = self.members.attribute
        if len(receivers) == 1:
            (only,) = receivers
            return read(only, expression.attr, expression.line)
        return EMPTY.union(*[read(v, expression.attr, expression.line) for v in receivers])

    def _subscript(self, expression: Subscript, frame: Frame) -> ValueSet:
        values = self.evaluate(expression.value, frame)
        return union([self.protocols.item(value, expression.key) for value in values])

    def _collection(self, expression: Collection, frame: Frame) -> ValueSet:
        site = frame.file.first_site + expression.site
        for key, item in expression.items:
            values = self.evaluate(item, frame)
            if type(item) is Star or key == "**":
                for value in values:
                    self.put(site, "", self.protocols.iterate(value, 0))
            else:
                self.put(site, key, values)
        return self.values.only(ValueKind.CONTAINER, site)

    def _lambda(self, expression: Lambda, frame: Frame) -> ValueSet:
        return self.values.only(ValueKind.FUNCTION, frame.file.first_scope + expression.scope)

    def _choice(self, expression: Choice, frame: Frame) -> ValueSet:
        return union([self.evaluate(item, frame) for item in expression.items])

    def _inner(self, expression: Awaited | Star, frame: Frame) -> ValueSet:
        return self.evaluate(expression.value, frame)

    def _raised(self, expression: Raised, frame: Frame) -> ValueSet:
        calls, line = self.calls, expression.line
        values = self.evaluate(expression.value, frame)
        for value in values:
            if self.values.kinds[value] == ValueKind.CLASS:
                confidence = INFERRED if self.dynamic else CERTAIN
                calls.call(value, calls.nothing, line, confidence)
        return values

    def _slice(self, expression: Slice, frame: Frame) -> ValueSet:
        values = self.evaluate(expression.value, frame)
        if not expression.start:
            return values
        return frozenset([self._part(value, expression) for value in values])

    def _part(self, value: int, expression: Slice) -> int:
        """The elements between constant bounds, renumbered, if all positions are known."""
        if self.values.kinds[value] != ValueKind.CONTAINER:
            return value
        held = self.held(self.values.scope(value))
        if not held or not all(key.isdigit() for key, _ in held):
            return value
        start = int(expression.start)
        stop = int(expression.stop) if expression.stop else sys.maxsize
        pairs = {(str(int(k) - start), v) for k, v in held if start <= int(k) < stop}
        if not pairs:
            return value
        return self.values.number(ValueKind.CONTAINER, self.annotations.site(frozenset(pairs)))

    def _element(self, expression: Element | Delegated, frame: Frame) -> ValueSet:
        values = self.evaluate(expression.value, frame)
        return union([self.protocols.iterate(value, expression.line) for value in values])

    def _entered(self, expression: Entered, frame: Frame) -> ValueSet:
        values = self.evaluate(expression.value, frame)
        return union([self.protocols.enter(value, expression.line) for value in values])

    def is_direct(self, expression: Expr, frame: Frame) -> bool:
        """Whether names and attribute look-up alone say what the expression is."""
        if type(expression) is Name:
            name = expression.id
            while name not in frame.table and frame.outer is not None:
                frame = frame.outer
            return name in frame.sure
        if type(expression) is Attribute:
            inner = expression.value
            return type(inner) is not Attribute and self.is_direct(inner, frame)
        if type(expression) is Call and type(expression.function) is Name:
            if expression.function.id == "super":
                return True
            known = self.name(expression.function, frame)
            kinds = self.values.kinds
            classes = all(kinds[value] == ValueKind.CLASS for value in known)
            return classes and self.is_direct(expression.function, frame)
        return False


def _nothing(expression: Expr, frame: Frame) -> ValueSet:
    """Literals carry no callable."""
    return EMPTY


_PENDING: set[int] = {-2}
"""Read by what met a value still being evaluated: never changes, but is not known for good."""


def varargs_site(scope: int) -> int:
    """Container number of a function's ``*args``."""
    return -(2 * scope + 1)


def kwargs_site(scope: int) -> int:
    """Container number of a function's ``**kwargs``."""
    return -(2 * scope + 2)
