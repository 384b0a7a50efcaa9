"""Evaluation of one unit: which values its expressions can have, which calls they make.

A *unit* is a function or method with all that is nested in it, or a module with its class bodies.
Evaluating a unit is a pure function of the file's facts, of what names alone decide (`Program`,
`Hierarchy`) and of the state that other units wrote in the round before. Flow-insensitive and
field-sensitive, as PyCG's assignment graph (Salis et al., ICSE 2021, https://arxiv.org/abs/2103.00587)
is; unlike it, on demand and one unit at a time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

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
    Name,
    Parameter,
    Slice,
    Star,
    Subscript,
)
from indexes.graph.calls import CallEvaluator
from indexes.graph.hierarchy import Hierarchy
from indexes.graph.program import Program, Slot
from indexes.graph.state import Key, KeyKind, State, UnitResult
from indexes.graph.values import EMPTY, ValueKind, ValueSet
from indexes.model import Confidence

_FIRST_ANNOTATED_SITE = 1 << 60
_SELF_NAMES = frozenset({"Self"})


class Evaluation:
    """Evaluates units one after the other; what is kept between them is shared tables only."""

    def __init__(self, program: Program, hierarchy: Hierarchy, units: list[int]) -> None:
        self.program = program
        self.values = program.values
        self.hierarchy = hierarchy
        self.unit_of = units
        self.result = UnitResult()
        self.unit = -1
        self.owner = -1
        self.in_test = False
        self._state = State()
        self._names: dict[tuple[int, str], ValueSet] = {}
        self._memo: dict[int, ValueSet] = {}
        self._decorated: dict[int, ValueSet] = {}
        self._annotated: dict[frozenset[tuple[str, int]], int] = {}
        self._annotated_elements: dict[int, frozenset[tuple[str, int]]] = {}
        self._annotations: dict[tuple[int, int], ValueSet] = {}
        self.assigned_attributes: frozenset[str] = frozenset()
        self.calls = CallEvaluator(self)
        self._readers = {
            Name: self._name_expression,
            Attribute: self._attribute,
            Call: self._call,
            Subscript: self._subscript,
            Collection: self._collection,
            Lambda: self._lambda,
            Choice: self._choice,
            Element: self._element,
            Entered: self._entered,
            Awaited: self._inner,
            Star: self._inner,
            Slice: self._inner,
            Delegated: self._element,
        }

    # --- running a unit ---------------------------------------------------------------------

    def run(
        self, unit: int, scopes: Iterable[int], definitions: Iterable[int], state: State
    ) -> UnitResult:
        """Evaluate a unit against the state of the round before.

        Parameters
        ----------
        unit
            The unit's outermost scope.
        scopes
            All scopes of the unit.
        definitions
            Definitions that are evaluated (decorators, defaults, bases) in one of its scopes.
        state
            Never written to; writes are in the result.
        """
        self.result = UnitResult()
        self.unit, self._state = unit, state
        self.in_test = self.program.linked(unit).is_test
        self._names, self._memo, self._decorated = {}, {}, {}
        for scope in definitions:
            self._run_definition(scope)
        for scope in scopes:
            self._run_scope(scope)
        return self.result

    def _run_definition(self, scope: int) -> None:
        data = self.program.scopes[scope]
        parent = self.program.parent(scope)
        self.owner = self.owner_of(parent)
        for parameter in data.parameters:
            if parameter.default is not None:
                self.evaluate(parameter.default, parent)
        for base in data.bases:
            if type(base) is Call:
                self.evaluate(base, parent)
        if data.decorators:
            self.write((KeyKind.DECORATED, scope), self.decorated(scope))

    def _run_scope(self, scope: int) -> None:
        data = self.program.scopes[scope]
        self.owner = self.owner_of(scope)
        for binding in data.bindings:
            self._run_binding(binding, scope)
        if data.kind == "module":
            self._publish_globals(scope)
        for kind, expressions in ((KeyKind.RETURN, data.returns), (KeyKind.YIELD, data.yields)):
            for expression in expressions:
                self.write((kind, scope), self.evaluate(expression, scope))
        for effect in data.effects:
            self.evaluate(effect, scope)

    def _run_binding(self, binding: Binding, scope: int) -> None:
        values = self.evaluate(binding.value, scope)
        if binding.annotation is not None:
            values |= self.annotated(binding.annotation, scope)
        target = binding.target
        if type(target) is Name:
            self._bind_name(target.id, scope, values)
        elif type(target) is Attribute:
            for receiver in self.evaluate(target.value, scope):
                self._bind_attribute(receiver, target.attr, values)
        elif type(target) is Subscript:
            for receiver in self.evaluate(target.value, scope):
                if self.values.kinds[receiver] == ValueKind.CONTAINER:
                    self.put(self.values.scope(receiver), target.key, values)

    def _bind_name(self, name: str, scope: int, values: ValueSet) -> None:
        data = self.program.scopes[scope]
        if name in data.globals:
            self.write((KeyKind.GLOBAL, self.program.linked(scope).first_scope, name), values)
        elif data.kind == "class":
            self.write((KeyKind.CLASS_ATTRIBUTE, scope, name), values)

    def _bind_attribute(self, receiver: int, name: str, values: ValueSet) -> None:
        kind, place = self.values.kinds[receiver], self.values.payloads[receiver][0]
        if kind in {ValueKind.INSTANCE, ValueKind.SELF}:
            self.write((KeyKind.INSTANCE_ATTRIBUTE, cast(int, place), name), values)
        elif kind in {ValueKind.CLASS, ValueKind.OWN_CLASS}:
            self.write((KeyKind.CLASS_ATTRIBUTE, cast(int, place), name), values)
        elif kind == ValueKind.MODULE:
            module = self.program.module_object(cast(int, place))
            if module.file is not None:
                number = self.program.file_numbers[module.file]
                scope = self.program.files[number].first_scope
                self.write((KeyKind.GLOBAL, scope, name), values)

    def _publish_globals(self, scope: int) -> None:
        for name in self.program.table(scope):
            if self.program.static(scope, name) is None:
                self.write((KeyKind.GLOBAL, scope, name), self.name(scope, name))

    # --- state ------------------------------------------------------------------------------

    def owner_of(self, scope: int) -> int:
        """Scope of the entity that the lines of a scope belong to."""
        return self.program.linked(scope).first_scope + self.program.scopes[scope].owner

    def read(self, key: Key) -> ValueSet:
        """Values that other units wrote in the round before."""
        self.result.reads.add(key)
        return cast(ValueSet, self._state.read(key))

    def write(self, key: Key, values: ValueSet) -> None:
        """Add values to a key of the coming state."""
        if values:
            known = self.result.writes.get(key)
            if known is None:
                self.result.writes[key] = set(values)
            else:
                known.update(values)

    def put(self, site: int, key: str, values: ValueSet) -> None:
        """Put values into a container."""
        if values:
            pairs = {(key, value) for value in values}
            self.result.writes.setdefault((KeyKind.ELEMENTS, site), set()).update(pairs)

    def elements(self, site: int, key: str = "") -> ValueSet:
        """What a container holds under a constant key, or anywhere when the key is empty."""
        known = self._annotated_elements.get(site)
        if known is None:
            state_key = (KeyKind.ELEMENTS, site)
            self.result.reads.add(state_key)
            known = cast("frozenset[tuple[str, int]]", self._state.read(state_key))
            own = self.result.writes.get(state_key)
            if own:
                known = known | cast("set[tuple[str, int]]", own)
        if not key:
            return frozenset(value for _, value in known)
        return frozenset(value for place, value in known if not place or place == key)

    def pairs(self, site: int) -> list[tuple[str, ValueSet]]:
        """(constant key or empty, values) of a container, in order of the keys."""
        self.elements(site)
        known = self._annotated_elements.get(site)
        if known is None:
            known = cast("frozenset[tuple[str, int]]", self._state.read((KeyKind.ELEMENTS, site)))
        grouped: dict[str, set[int]] = {}
        for key, value in sorted(known):
            grouped.setdefault(key, set()).add(value)
        return [(key, frozenset(found)) for key, found in grouped.items()]

    def edge(self, target: int, line: int, confidence: float) -> None:
        """Record that the current owner calls a definition."""
        key = (self.owner, target, line)
        if confidence > self.result.edges.get(key, 0.0):
            self.result.edges[key] = confidence

    # --- names ------------------------------------------------------------------------------

    def evaluate(self, expression: Expr, scope: int) -> ValueSet:
        """Values of an expression in a scope of the unit."""
        reader = self._readers.get(type(expression))
        return EMPTY if reader is None else reader(expression, scope)  # type: ignore[operator]

    def _name_expression(self, expression: Name, scope: int) -> ValueSet:
        known = self.program.static(scope, expression.id)
        return known if known is not None else self.name(scope, expression.id)

    def name(self, scope: int, name: str) -> ValueSet:
        """Values of a name that definitions and imports alone do not decide."""
        found = self.program.find(scope, name)
        if found is None:
            origin = self.program.star_origin(scope, name)
            return self.read((KeyKind.GLOBAL, origin, name)) if origin >= 0 else EMPTY
        at, slots = found
        if self.unit_of[at] != self.unit:
            return self.read((KeyKind.GLOBAL, at, name))
        key = (at, name)
        known = self._names.get(key)
        if known is None:
            self._names[key] = EMPTY
            known = EMPTY.union(*[self._slot(at, name, slot) for slot in slots])
            self._names[key] = known
        return known

    def _slot(self, at: int, name: str, slot: Slot) -> ValueSet:
        if slot.binding is not None:
            if self.unit_of[slot.binding_scope] != self.unit:
                return self.read((KeyKind.GLOBAL, at, name))
            values = self.evaluate(slot.binding.value, slot.binding_scope)
            if slot.binding.annotation is not None:
                values |= self.annotated(slot.binding.annotation, slot.binding_scope)
            return values
        if slot.parameter is not None:
            return self.parameter(at, slot.parameter)
        if slot.definition >= 0:
            return self.decorated(slot.definition)
        return self._imported(at, slot)

    def _imported(self, at: int, slot: Slot) -> ValueSet:
        assert slot.imported is not None
        path = self.program.linked(at).path
        known = self.program.imported(slot.imported, path)
        if known is not None:
            return known
        origin = self.program.import_origin(slot.imported, path)
        return self._global_of(origin, slot.imported.name) if origin >= 0 else EMPTY

    def _global_of(self, module_scope: int, name: str) -> ValueSet:
        """A variable of another module, through any chain of re-exports."""
        found = self.program.find(module_scope, name)
        if found is None:
            module_scope = self.program.star_origin(module_scope, name)
            if module_scope < 0:
                return EMPTY
        return self.read((KeyKind.GLOBAL, module_scope, name))

    def parameter(self, scope: int, parameter: Parameter) -> ValueSet:
        """Values of a parameter: receiver, annotation, default, and what calls pass."""
        data = self.program.scopes[scope]
        if parameter.kind == 2:
            return self.values.only(ValueKind.CONTAINER, varargs_site(scope))
        if parameter.kind == 4:
            return self.values.only(ValueKind.CONTAINER, kwargs_site(scope))
        receiver = self._receiver(scope, parameter)
        if receiver is not None:
            return receiver
        parent = self.program.parent(scope)
        values = self.read((KeyKind.PARAMETER, scope, parameter.name))
        if parameter.annotation is not None:
            values = values | self.annotated(parameter.annotation, parent)
        if parameter.default is not None and self.unit_of[parent] == self.unit:
            values = values | self.evaluate(parameter.default, parent)
        elif parameter.default is not None:
            values = values | self.hierarchy.static_value(parameter.default, parent)
        return values if data.parameters else EMPTY

    def _receiver(self, scope: int, parameter: Parameter) -> ValueSet | None:
        """`self` or `cls` when the parameter is one."""
        data = self.program.scopes[scope]
        parent = self.program.parent(scope)
        if parent < 0 or self.program.scopes[parent].kind != "class":
            return None
        if data.kind != "function" or data.parameters[0] is not parameter:
            return None
        role = self.calls.role(scope)
        if role == "static":
            return None
        kind = ValueKind.OWN_CLASS if role == "class" else ValueKind.SELF
        return self.values.only(kind, parent)

    def decorated(self, scope: int) -> ValueSet:
        """What the name of a definition stands for once its decorators have run."""
        parent = self.program.parent(scope)
        if self.unit_of[parent] != self.unit:
            return self.read((KeyKind.DECORATED, scope))
        known = self._decorated.get(scope)
        if known is None:
            self._decorated[scope] = EMPTY
            known = self._decorated[scope] = self._decorate(scope, parent)
        return known

    def _decorate(self, scope: int, parent: int) -> ValueSet:
        data = self.program.scopes[scope]
        kind = ValueKind.CLASS if data.kind == "class" else ValueKind.FUNCTION
        current = self.values.only(kind, scope)
        owner, self.owner = self.owner, self.owner_of(parent)
        linked = self.program.linked(scope)
        line = linked.facts.definitions[scope - linked.first_scope - 1].line
        for decorator in reversed(data.decorators):
            applied = self.calls.decorate(self.evaluate(decorator, parent), current, line)
            current = applied or current
        self.owner = owner
        return current

    # --- annotations ------------------------------------------------------------------------

    def annotated(self, annotation: Expr, scope: int) -> ValueSet:
        """Instances that an annotation allows."""
        key = (id(annotation), scope)
        known = self._annotations.get(key)
        if known is None:
            known = self._annotations[key] = self._read_annotation(annotation, scope)
        return known

    def _read_annotation(self, annotation: Expr, scope: int) -> ValueSet:
        if type(annotation) is Choice:
            return EMPTY.union(*[self._read_annotation(i, scope) for i in annotation.items])
        if type(annotation) is ClassObject:
            return self.hierarchy.static_value(annotation.value, scope)
        if type(annotation) is Collection:
            return self._annotated_container(annotation, scope)
        if type(annotation) is Name and annotation.id in _SELF_NAMES:
            return EMPTY
        found: set[int] = set()
        for value in self.hierarchy.static_value(annotation, scope):
            kind = self.values.kinds[value]
            if kind == ValueKind.CLASS:
                found.add(self.values.number(ValueKind.INSTANCE, self.values.scope(value)))
            elif kind == ValueKind.EXTERNAL:
                found.add(self.values.number(ValueKind.EXTERNAL, "*"))
        return frozenset(found)

    def _annotated_container(self, annotation: Collection, scope: int) -> ValueSet:
        pairs = frozenset(
            (key, value)
            for key, item in annotation.items
            for value in self._read_annotation(item, scope)
        )
        site = self._annotated.get(pairs)
        if site is None:
            site = self._annotated[pairs] = _FIRST_ANNOTATED_SITE + len(self._annotated)
            self._annotated_elements[site] = pairs
        return self.values.only(ValueKind.CONTAINER, site)

    # --- expressions ------------------------------------------------------------------------

    def _call(self, expression: Call, scope: int) -> ValueSet:
        known = self._memo.get(id(expression))
        if known is None:
            self._memo[id(expression)] = EMPTY
            known = self._memo[id(expression)] = self.calls.evaluate(expression, scope)
        return known

    def _attribute(self, expression: Attribute, scope: int) -> ValueSet:
        receivers = self.evaluate(expression.value, scope)
        if not receivers:
            return EMPTY
        if len(receivers) == 1:
            (only,) = receivers
            return self.calls.attribute(only, expression.attr, expression.line)
        parts = [self.calls.attribute(v, expression.attr, expression.line) for v in receivers]
        return EMPTY.union(*parts)

    def _subscript(self, expression: Subscript, scope: int) -> ValueSet:
        parts = [
            self.calls.item(value, expression.key)
            for value in self.evaluate(expression.value, scope)
        ]
        return EMPTY.union(*parts)

    def _collection(self, expression: Collection, scope: int) -> ValueSet:
        site = self.program.linked(scope).first_site + expression.site
        if id(expression) not in self._memo:
            self._memo[id(expression)] = self.values.only(ValueKind.CONTAINER, site)
            for key, item in expression.items:
                self._fill(site, key, item, scope)
        return self._memo[id(expression)]

    def _fill(self, site: int, key: str, item: Expr, scope: int) -> None:
        values = self.evaluate(item, scope)
        if type(item) is Star or key == "**":
            for value in values:
                self.put(site, "", self.calls.iterate(value, 0))
        else:
            self.put(site, key, values)

    def _lambda(self, expression: Lambda, scope: int) -> ValueSet:
        first = self.program.linked(scope).first_scope
        return self.values.only(ValueKind.FUNCTION, first + expression.scope)

    def _choice(self, expression: Choice, scope: int) -> ValueSet:
        return EMPTY.union(*[self.evaluate(item, scope) for item in expression.items])

    def _inner(self, expression: Awaited | Star | Slice, scope: int) -> ValueSet:
        return self.evaluate(expression.value, scope)

    def _element(self, expression: Element | Delegated, scope: int) -> ValueSet:
        values = self.evaluate(expression.value, scope)
        return EMPTY.union(*[self.calls.iterate(value, expression.line) for value in values])

    def _entered(self, expression: Entered, scope: int) -> ValueSet:
        values = self.evaluate(expression.value, scope)
        return EMPTY.union(*[self.calls.enter(value, expression.line) for value in values])

    def is_direct(self, expression: Expr, scope: int) -> bool:
        """Whether names and attribute look-up alone say what the expression is."""
        if type(expression) is Name:
            if self.program.static(scope, expression.id) is not None:
                return True
            found = self.program.find(scope, expression.id)
            return found is not None and all(
                slot.parameter is not None and self._receiver(found[0], slot.parameter) is not None
                for slot in found[1]
            )
        if type(expression) is Attribute:
            return type(expression.value) is not Attribute and self.is_direct(
                expression.value, scope
            )
        if type(expression) is Call and type(expression.function) is Name:
            known = self.program.static(scope, expression.function.id) or EMPTY
            kinds = {self.values.kinds[value] for value in known}
            return kinds == {ValueKind.CLASS} or expression.function.id == "super"
        return False


def varargs_site(scope: int) -> int:
    """Container number of a function's ``*args``."""
    return -(2 * scope + 1)


def kwargs_site(scope: int) -> int:
    """Container number of a function's ``**kwargs``."""
    return -(2 * scope + 2)


CERTAIN, INFERRED = Confidence.CERTAIN, Confidence.INFERRED
