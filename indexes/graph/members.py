"""Attributes of values: methods, properties, what was assigned, names of modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from indexes.facts import Attribute, Call, Expr, Name, Parameter
from indexes.graph import models
from indexes.graph.frames import Frame
from indexes.graph.program import Slot
from indexes.graph.state import KeyKind
from indexes.graph.values import EMPTY, ValueKind, ValueSet
from indexes.model import Confidence

if TYPE_CHECKING:
    from indexes.graph.evaluation import Evaluation

MOST_DESCENDANTS = 8
"""A name that a class does not have, or has as an abstract method only, is looked for below it;
with more subclasses than this that define it, a call says nothing about any one of them."""
_PROPERTIES = ("property", "attribute")
"""A decorator whose name ends so makes a property (cached_property, lazy_attribute)."""
_INSTANCES = frozenset({ValueKind.INSTANCE, ValueKind.SELF})
_CLASSES = frozenset({ValueKind.CLASS, ValueKind.OWN_CLASS})
_OPEN_KINDS = frozenset({ValueKind.SELF, ValueKind.OWN_CLASS})
"""Values that may be of a subclass."""


class Members:
    """Attribute look-up on values."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._e = evaluation
        self._values = evaluation.values
        self._hierarchy = evaluation.hierarchy
        self._program = evaluation.program
        self._assigned_names = _assigned_names(evaluation)
        self._roles: dict[int, str] = {}
        self._known: dict[tuple[int, str], ValueSet] = {}
        self._below_known: dict[tuple[int, str], list[int]] = {}
        self._emitted = False

    def attribute(self, value: int, name: str, line: int) -> ValueSet:
        """``value.name``; reading a property calls it."""
        known = self._known.get((value, name))
        if known is not None:
            return known
        e = self._e
        before, e.dynamic = e.dynamic, False
        self._emitted = False
        result = self._read(value, name, line)
        if not e.dynamic and not self._emitted:
            self._known[value, name] = result
        e.dynamic = e.dynamic or before
        return result

    def _read(self, value: int, name: str, line: int) -> ValueSet:
        kind = self._values.kinds[value]
        first = self._values.payloads[value][0]
        if kind in _INSTANCES or kind in _CLASSES:
            return self._member(value, name, line)
        if kind == ValueKind.MODULE:
            return self._module_member(cast(int, first), name)
        if kind == ValueKind.EXTERNAL:
            return models.external_attribute(self._e, cast(str, first), name)
        if kind == ValueKind.SUPER:
            return self._super_member(value, name, line)
        if kind == ValueKind.CONTAINER:
            return self._values.only(ValueKind.CONTAINER_METHOD, first, name)
        return EMPTY

    def _module_member(self, number: int, name: str) -> ValueSet:
        module = self._program.module_object(number)
        known = self._program.module_attribute(module, name)
        if known is not None:
            return known
        assert module.file is not None
        file = self._program.files[self._program.file_numbers[module.file]]
        return self._e.names.read_global(self._e.frames[file.first_scope], name)

    def _super_member(self, value: int, name: str, line: int) -> ValueSet:
        cls, receiver = cast("tuple[int, int]", self._values.payloads[value])
        own = self._values.scope(receiver)
        order = self._hierarchy.order(own)
        skip = order.index(cls) + 1 if cls in order else 1
        found = self._hierarchy.lookup_after(own, name, skip)
        if found is None:
            foreign = self._hierarchy.has_foreign_base(own)
            return self._values.only(ValueKind.EXTERNAL, "*") if foreign else EMPTY
        instance = self._values.kinds[receiver] == ValueKind.SELF
        return self._slots(found, receiver, name, line, instance)

    def _member(self, value: int, name: str, line: int) -> ValueSet:
        kind, cls = self._values.kinds[value], self._values.scope(value)
        instance = kind in _INSTANCES
        found = self._hierarchy.lookup(cls, name)
        result = self._slots(found, value, name, line, instance) if found else EMPTY
        if name in self._assigned_names:
            result = result | self._assigned(cls, name, value, instance)
        if found and instance and self._is_abstract(found):
            result = result | self._below(cls, int(kind), name, line, instance)
        if not result and not found:
            if kind in _OPEN_KINDS:
                result = self._below(cls, int(kind), name, line, instance)
            if not result and self._hierarchy.has_foreign_base(cls):
                return self._values.only(ValueKind.EXTERNAL, "*")
        return result

    def _is_abstract(self, found: tuple[int, list[Slot]]) -> bool:
        definition = found[1][0].definition
        if definition < 0:
            return False
        decorators = self._program.scopes[definition].decorators
        return any(last_name(each).startswith("abstract") for each in decorators)

    def _assigned(self, cls: int, name: str, receiver: int, instance: bool) -> ValueSet:
        """Values assigned to an attribute through instances or the class, here or in a base."""
        e = self._e
        holders = e.read(e.holders(name))
        result = EMPTY
        if not holders:
            return result
        for each in self._hierarchy.order(cls):
            if each not in holders:
                continue
            if instance:
                key = e.state.number((KeyKind.INSTANCE_ATTRIBUTE, each, name))
                result = result | e.read(key)
            shared = e.read(e.state.number((KeyKind.CLASS_ATTRIBUTE, each, name)))
            if shared:
                result = result | (self.bound(shared, receiver) if instance else shared)
        return result

    def bound(self, values: ValueSet, receiver: int) -> ValueSet:
        """Functions found in a class body become methods of the receiver."""
        return frozenset([
            self._values.number(ValueKind.BOUND, self._values.scope(value), receiver)
            if self._values.kinds[value] == ValueKind.FUNCTION
            else value
            for value in values
        ])  # fmt: skip

    def _below(self, cls: int, kind: int, name: str, line: int, instance: bool) -> ValueSet:
        """What subclasses call by that name: the base class expects them to provide it."""
        having = self._definers(cls, name)
        if not having:
            return EMPTY
        table = self._program.table
        assigned = name in self._assigned_names
        result = EMPTY
        self._e.dynamic, before = True, self._e.dynamic  # what is only likely is not certain
        for each in having:
            receiver = self._values.number(kind, each)
            found = each, table(each).get(name, [])
            result = result | self._slots(found, receiver, name, line, instance)
            if assigned:
                result = result | self._assigned(each, name, receiver, instance)
        self._e.dynamic = before or self._e.dynamic
        return result

    def _definers(self, cls: int, name: str) -> list[int]:
        """Subclasses that may have an attribute of their own of that name, if there are few."""
        known = self._below_known.get((cls, name))
        if known is None:
            below = self._hierarchy.descendants(cls)
            if name in self._assigned_names:
                known = below[:MOST_DESCENDANTS]
            else:
                known = [each for each in below if name in self._program.table(each)]
                known = known if len(known) <= MOST_DESCENDANTS else []
            self._below_known[cls, name] = known
        return known

    def _slots(
        self, found: tuple[int, list[Slot]], receiver: int, name: str, line: int, instance: bool
    ) -> ValueSet:
        cls, slots = found
        result = EMPTY
        for slot in slots:
            if slot.definition >= 0:
                result = result | self._definition(slot.definition, receiver, line, instance)
            elif slot.imported is not None:
                path = self._program.linked(cls).path
                result = result | (self._program.imported(slot.imported, path) or EMPTY)
        return result

    def _definition(self, scope: int, receiver: int, line: int, instance: bool) -> ValueSet:
        data = self._program.scopes[scope]
        if data.kind == "class":
            return self._values.only(ValueKind.CLASS, scope)
        role = self.role(scope)
        if role == "property":
            return self._property(scope, receiver, line) if instance else EMPTY
        if role == "accessor":
            return EMPTY
        if role == "static":
            return self._values.only(ValueKind.FUNCTION, scope)
        if role == "class":
            cls = receiver
            if instance:
                same = self._values.kinds[receiver] == ValueKind.SELF
                kind = ValueKind.OWN_CLASS if same else ValueKind.CLASS
                cls = self._values.number(kind, self._values.scope(receiver))
            return self._values.only(ValueKind.BOUND, scope, cls)
        plain = self._values.only(ValueKind.FUNCTION, scope)
        values = (self._e.names.decorated(scope) or plain) if role == "decorated" else plain
        return self.bound(values, receiver) if instance else values

    def _property(self, scope: int, receiver: int, line: int) -> ValueSet:
        own = self._values.kinds[receiver] == ValueKind.SELF
        confidence = Confidence.CERTAIN if own else Confidence.INFERRED
        self._emitted = True
        if line:
            self._e.edge(scope, line, confidence)
        return self._e.calls.returned(scope, receiver)

    # --- how functions in a class body are bound ----------------------------------------------

    def receiver(self, frame: Frame, parameter: Parameter) -> ValueSet | None:
        """`self` or `cls` when the parameter is one."""
        if not frame.in_class or frame.data.kind != "function":
            return None
        if frame.data.parameters[0] is not parameter or parameter.kind > 1:
            return None
        role = self.role(frame.number)
        if role == "static":
            return None
        kind = ValueKind.OWN_CLASS if role == "class" else ValueKind.SELF
        return self._values.only(kind, self._program.parents[frame.number])

    def role(self, scope: int) -> str:
        """How a function in a class body is bound.

        One of ``plain``, ``static``, ``class``, ``property``, ``accessor`` (setter, deleter) or
        ``decorated`` (by something whose effect has to be followed).
        """
        known = self._roles.get(scope)
        if known is None:
            known = self._roles[scope] = self._find_role(scope)
        return known

    def _find_role(self, scope: int) -> str:
        data = self._program.scopes[scope]
        role = "plain"
        for decorator in data.decorators:
            name = last_name(decorator)
            if name == "staticmethod":
                return "static"
            if name in {"classmethod", "abstractclassmethod"}:
                return "class"
            if name.lower().endswith(_PROPERTIES):
                return "property"
            if name in {"setter", "deleter"}:
                return "accessor"
            if name not in _KEEPS:
                role = "decorated"
        if role == "plain":
            linked = self._program.linked(scope)
            full = linked.facts.definitions[scope - linked.first_scope - 1].name
            if full.rsplit(".", 1)[-1] in _IMPLICIT_CLASS_METHODS:
                return "class"
        return role


_KEEPS = frozenset({"abstractmethod", "override", "final", "overload"})
"""Decorators that change nothing about a call."""
_IMPLICIT_CLASS_METHODS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


def last_name(expression: Expr) -> str:
    """The last name of a dotted name or of what a call calls."""
    if type(expression) is Call:
        return last_name(expression.function)
    if type(expression) is Attribute:
        return expression.attr
    return expression.id if type(expression) is Name else ""


def _assigned_names(evaluation: Evaluation) -> frozenset[str]:
    """Names that some attribute assignment or class body binds."""
    found: set[str] = set()
    for scope in evaluation.program.scopes:
        in_class = scope.kind == "class"
        for binding in scope.bindings:
            target = binding.target
            if type(target) is Attribute:
                found.add(target.attr)
            elif in_class and type(target) is Name:
                found.add(target.id)
    return frozenset(found)
