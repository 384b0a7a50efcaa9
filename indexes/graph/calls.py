"""What calling, reading an attribute of, iterating over or entering a value does."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from indexes.facts import Attribute, Call, Expr, Name, Star
from indexes.graph import models
from indexes.graph.program import Slot
from indexes.graph.state import KeyKind
from indexes.graph.values import EMPTY, ValueKind, ValueSet
from indexes.model import Confidence

if TYPE_CHECKING:
    from indexes.graph.evaluation import Evaluation

MOST_DESCENDANTS = 24
"""A name that a class does not have is looked for in at most this many subclasses."""
_PROPERTIES = ("property", "attribute")
"""A decorator whose name ends so makes its function a property (cached_property, lazy_attribute)."""


class Arguments:
    """Values passed to a call; `None` as an expression list means values without expressions."""

    __slots__ = ("keywords", "positional", "stars")

    def __init__(
        self,
        positional: list[ValueSet],
        keywords: list[tuple[str, ValueSet]],
        stars: frozenset[int] = frozenset(),
    ) -> None:
        self.positional = positional
        self.keywords = keywords
        self.stars = stars
        """Positions that hold a ``*value``."""

    def after(self, count: int) -> Arguments:
        """What is left behind the first `count` positional arguments."""
        stars = frozenset(star - count for star in self.stars if star >= count)
        return Arguments(self.positional[count:], self.keywords, stars)


class CallEvaluator:
    """The part of `Evaluation` that knows what values do."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._e = evaluation
        self._values = evaluation.values
        self._hierarchy = evaluation.hierarchy
        self._program = evaluation.program
        self._roles: dict[int, str] = {}
        self._direct = False
        self._line = 0

    # --- calls ------------------------------------------------------------------------------

    def evaluate(self, expression: Call, scope: int) -> ValueSet:
        """Evaluate a call: record its edges, pass its arguments on, return its values."""
        e = self._e
        if type(expression.function) is Name and expression.function.id == "super":
            found = self._super(expression, scope)
            if found is not None:
                return found
        functions = e.evaluate(expression.function, scope)
        arguments = self._arguments(expression, scope)
        if not functions:
            name = dotted_text(expression.function)
            if name:
                e.result.unresolved.append((e.owner, name, expression.line))
            return EMPTY
        direct = len(functions) == 1 and e.is_direct(expression.function, scope)
        confidence = Confidence.CERTAIN if direct else Confidence.INFERRED
        parts = [
            self.call(value, arguments, expression.line, confidence) for value in functions
        ]
        return parts[0] if len(parts) == 1 else EMPTY.union(*parts)

    def _arguments(self, expression: Call, scope: int) -> Arguments:
        e = self._e
        positional: list[ValueSet] = []
        stars: set[int] = set()
        for position, argument in enumerate(expression.arguments):
            positional.append(EMPTY if argument is None else e.evaluate(argument, scope))
            if type(argument) is Star:
                stars.add(position)
            elif argument is not None:
                self._refer(positional[-1], expression.line)
        keywords = [
            (name, EMPTY if value is None else e.evaluate(value, scope))
            for name, value in expression.keywords
        ]
        for _, values in keywords:
            self._refer(values, expression.line)
        return Arguments(positional, keywords, frozenset(stars))

    def _refer(self, values: ValueSet, line: int) -> None:
        """Note functions and classes handed over by name."""
        if len(values) != 1:
            return
        (value,) = values
        kind = self._values.kinds[value]
        if kind in {ValueKind.FUNCTION, ValueKind.CLASS, ValueKind.BOUND}:
            self._e.result.references.add((self._e.owner, self._values.scope(value), line))

    def call(self, value: int, arguments: Arguments, line: int, confidence: float) -> ValueSet:
        """Call one value."""
        kind = self._values.kinds[value]
        payload = self._values.payloads[value]
        first = cast(int, payload[0])
        if kind == ValueKind.FUNCTION:
            return self._call_function(first, -1, arguments, line, confidence)
        if kind == ValueKind.BOUND:
            return self._call_function(first, cast(int, payload[1]), arguments, line, confidence)
        if kind in {ValueKind.CLASS, ValueKind.OWN_CLASS}:
            return self._instantiate(kind, first, arguments, line, confidence)
        if kind in {ValueKind.INSTANCE, ValueKind.SELF}:
            bound = self.attribute(value, "__call__", line)
            return self._call_all(bound, arguments, line, Confidence.INFERRED)
        if kind == ValueKind.PARTIAL:
            return self._call_partial(first, cast(int, payload[1]), arguments, line)
        if kind == ValueKind.CONTAINER_METHOD:
            return models.call_container_method(
                self._e, first, cast(str, payload[1]), arguments, line
            )
        if kind == ValueKind.EXTERNAL:
            self._e.result.external += 1
            return models.call_external(self._e, cast(str, payload[0]), arguments, line)
        return EMPTY

    def _call_all(
        self, values: ValueSet, arguments: Arguments, line: int, confidence: float
    ) -> ValueSet:
        return EMPTY.union(*[self.call(v, arguments, line, confidence) for v in values])

    def _call_partial(self, value: int, bound: int, arguments: Arguments, line: int) -> ValueSet:
        shifted = Arguments(
            [EMPTY] * bound + arguments.positional,
            arguments.keywords,
            frozenset(star + bound for star in arguments.stars),
        )
        return self.call(value, shifted, line, Confidence.INFERRED)

    def _call_function(
        self, scope: int, receiver: int, arguments: Arguments, line: int, confidence: float
    ) -> ValueSet:
        e = self._e
        if self._program.scopes[scope].kind != "lambda":
            e.edge(scope, line, confidence)
        self.bind(scope, arguments, 0 if receiver < 0 else 1)
        return self.returned(scope, receiver)

    def returned(self, scope: int, receiver: int) -> ValueSet:
        """What a call of a function gives."""
        data = self._program.scopes[scope]
        if data.yields:
            return self._values.only(ValueKind.GENERATOR, scope, receiver)
        values = self._e.read((KeyKind.RETURN, scope))
        if data.return_annotation is not None:
            parent = self._program.parent(scope)
            values = values | self._e.annotated(data.return_annotation, parent)
            if type(data.return_annotation) is Name and data.return_annotation.id == "Self":
                values = values | self._as_instance(receiver)
        return self._substitute(values, receiver) if receiver >= 0 and values else values

    def _as_instance(self, receiver: int) -> ValueSet:
        if receiver < 0:
            return EMPTY
        kind = self._values.kinds[receiver]
        if kind in {ValueKind.CLASS, ValueKind.OWN_CLASS}:
            same = ValueKind.INSTANCE if kind == ValueKind.CLASS else ValueKind.SELF
            return self._values.only(same, self._values.scope(receiver))
        if kind in {ValueKind.INSTANCE, ValueKind.SELF}:
            return self._values.singleton(receiver)
        return EMPTY

    def _substitute(self, values: ValueSet, receiver: int) -> ValueSet:
        """Put the receiver in the place of the `self` a method returned."""
        kinds = self._values.kinds
        if not any(kinds[value] == ValueKind.SELF for value in values):
            return values
        instance = self._as_instance(receiver)
        if not instance:
            return values
        (number,) = instance
        order = self._hierarchy.order(self._values.scope(number))
        result: set[int] = set()
        for value in values:
            is_same = kinds[value] == ValueKind.SELF and self._values.scope(value) in order
            result.add(number if is_same else value)
        return frozenset(result)

    def _instantiate(
        self, kind: int, cls: int, arguments: Arguments, line: int, confidence: float
    ) -> ValueSet:
        found = False
        for name in ("__init__", "__new__"):
            member = self._hierarchy.lookup(cls, name)
            for slot in member[1] if member is not None else ():
                if slot.definition >= 0:
                    self._e.edge(slot.definition, line, confidence)
                    self.bind(slot.definition, arguments, 1)
                    found = True
        if not found:
            self._e.edge(cls, line, confidence)
        same = ValueKind.INSTANCE if kind == ValueKind.CLASS else ValueKind.SELF
        return self._values.only(same, cls)

    def decorate(self, decorators: ValueSet, current: ValueSet, line: int) -> ValueSet:
        """Apply a decorator's values to a definition; empty when it leaves it as it is."""
        found: set[int] = set()
        arguments = Arguments([current], [])
        for value in decorators:
            if self._values.kinds[value] == ValueKind.EXTERNAL:
                found |= models.decorate_external(
                    self._e, cast(str, self._values.payloads[value][0]), current
                )
            else:
                found |= self.call(value, arguments, line, Confidence.CERTAIN)
        return frozenset(found)

    def _super(self, expression: Call, scope: int) -> ValueSet | None:
        """`super()` and ``super(Class, self)``; `None` if the name means something else."""
        known = self._program.static(scope, "super")
        if known is None or self._values.only(ValueKind.EXTERNAL, "builtins.super") != known:
            return None
        method = self._method_around(scope)
        if method < 0:
            return EMPTY
        cls = self._program.parent(method)
        if expression.arguments and expression.arguments[0] is not None:
            named = self._e.evaluate(expression.arguments[0], scope)
            classes = [v for v in named if self._values.kinds[v] == ValueKind.CLASS]
            cls = self._values.scope(classes[0]) if len(classes) == 1 else cls
        kind = ValueKind.OWN_CLASS if self.role(method) == "class" else ValueKind.SELF
        receiver = self._values.number(kind, self._program.parent(method))
        return self._values.only(ValueKind.SUPER, cls, receiver)

    def _method_around(self, scope: int) -> int:
        """The nearest function around a scope that stands in a class body, or -1."""
        while scope >= 0:
            parent = self._program.parent(scope)
            if parent >= 0 and self._program.scopes[parent].kind == "class":
                return scope
            scope = parent
        return -1

    # --- arguments --------------------------------------------------------------------------

    def bind(self, scope: int, arguments: Arguments, offset: int) -> None:
        """Pass arguments to a function's parameters. Tests pass nothing on to the code they test."""
        e = self._e
        if e.in_test and not self._program.linked(scope).is_test:
            return
        parameters = self._program.scopes[scope].parameters
        places = [parameter.name for parameter in parameters if parameter.kind <= 1]
        for position, values in enumerate(arguments.positional):
            if not values:
                continue
            if position in arguments.stars:
                self._bind_star(scope, places, position + offset, values)
            else:
                self._bind_position(scope, places, position + offset, values)
        if arguments.keywords:
            self._bind_keywords(scope, arguments)

    def _bind_position(
        self, scope: int, places: list[str], position: int, values: ValueSet
    ) -> None:
        if position < len(places):
            self._e.write((KeyKind.PARAMETER, scope, places[position]), values)
        else:
            self._e.put(-(2 * scope + 1), str(position - len(places)), values)

    def _bind_star(self, scope: int, places: list[str], position: int, values: ValueSet) -> None:
        for value in values:
            if self._values.kinds[value] != ValueKind.CONTAINER:
                continue
            for key, held in self._e.pairs(self._values.scope(value)):
                if key.isdigit():
                    self._bind_position(scope, places, position + int(key), held)
                else:
                    for place in range(position, max(len(places), position + 1)):
                        self._bind_position(scope, places, place, held)

    def _bind_keywords(self, scope: int, arguments: Arguments) -> None:
        names = {p.name for p in self._program.scopes[scope].parameters if p.kind in {1, 3}}
        for name, values in arguments.keywords:
            if name == "**":
                self._bind_double_star(scope, names, values)
            elif name in names:
                self._e.write((KeyKind.PARAMETER, scope, name), values)
            else:
                self._e.put(-(2 * scope + 2), f"'{name}'", values)

    def _bind_double_star(self, scope: int, names: set[str], values: ValueSet) -> None:
        for value in values:
            if self._values.kinds[value] != ValueKind.CONTAINER:
                continue
            for key, held in self._e.pairs(self._values.scope(value)):
                name = key.strip("'")
                if name in names:
                    self._e.write((KeyKind.PARAMETER, scope, name), held)
                else:
                    self._e.put(-(2 * scope + 2), key, held)

    # --- attributes -------------------------------------------------------------------------

    def attribute(self, value: int, name: str, line: int) -> ValueSet:
        """``value.name``; reading a property calls it."""
        kind = self._values.kinds[value]
        first = self._values.payloads[value][0]
        if kind in {ValueKind.INSTANCE, ValueKind.SELF, ValueKind.CLASS, ValueKind.OWN_CLASS}:
            return self._member(value, kind, cast(int, first), name, line)
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
        scope = self._program.files[self._program.file_numbers[module.file]].first_scope
        return self._e.name(scope, name)

    def _super_member(self, value: int, name: str, line: int) -> ValueSet:
        cls, receiver = cast("tuple[int, int]", self._values.payloads[value])
        order = self._hierarchy.order(self._values.scope(receiver))
        skip = order.index(cls) + 1 if cls in order else 1
        found = self._hierarchy.lookup_after(self._values.scope(receiver), name, skip)
        if found is None:
            return EMPTY
        instance = self._values.kinds[receiver] == ValueKind.SELF
        return self._slots(found, receiver, name, line, instance)

    def _member(self, value: int, kind: int, cls: int, name: str, line: int) -> ValueSet:
        instance = kind in {ValueKind.INSTANCE, ValueKind.SELF}
        found = self._hierarchy.lookup(cls, name)
        result = self._slots(found, value, name, line, instance) if found else EMPTY
        result = result | self._assigned(cls, name, value, instance)
        if not result and not found and kind in {ValueKind.SELF, ValueKind.OWN_CLASS}:
            result = self._below(cls, kind, name, line, instance)
        if not result and not found and self._hierarchy.has_foreign_base(cls):
            return self._values.only(ValueKind.EXTERNAL, "*")
        return result

    def _assigned(self, cls: int, name: str, receiver: int, instance: bool) -> ValueSet:
        """Values assigned to an attribute through instances or the class, here or in a base."""
        e = self._e
        if name not in e.assigned_attributes:
            return EMPTY
        result = EMPTY
        for each in self._hierarchy.order(cls):
            if instance:
                result |= e.read((KeyKind.INSTANCE_ATTRIBUTE, each, name))
            shared = e.read((KeyKind.CLASS_ATTRIBUTE, each, name))
            if shared:
                result |= self._bound(shared, receiver) if instance else shared
        return result

    def _bound(self, values: ValueSet, receiver: int) -> ValueSet:
        """Functions found in a class body become methods of the receiver."""
        return frozenset(
            self._values.number(ValueKind.BOUND, self._values.scope(value), receiver)
            if self._values.kinds[value] == ValueKind.FUNCTION
            else value
            for value in values
        )

    def _below(self, cls: int, kind: int, name: str, line: int, instance: bool) -> ValueSet:
        """What subclasses call by that name: the base class expects them to provide it."""
        result = EMPTY
        for each in self._hierarchy.descendants(cls)[:MOST_DESCENDANTS]:
            receiver = self._values.number(kind, each)
            slots = self._program.table(each).get(name)
            if slots:
                result |= self._slots((each, slots), receiver, name, line, instance)
            result |= self._assigned(each, name, receiver, instance)
        return result

    def _slots(
        self, found: tuple[int, list[Slot]], receiver: int, name: str, line: int, instance: bool
    ) -> ValueSet:
        cls, slots = found
        result = EMPTY
        for slot in slots:
            if slot.definition >= 0:
                result |= self._definition(slot.definition, receiver, line, instance)
            elif slot.imported is not None:
                path = self._program.linked(cls).path
                result |= self._program.imported(slot.imported, path) or EMPTY
        return result

    def _definition(self, scope: int, receiver: int, line: int, instance: bool) -> ValueSet:
        data = self._program.scopes[scope]
        if data.kind == "class":
            return self._values.only(ValueKind.CLASS, scope)
        role = self.role(scope)
        if role == "property":
            if not instance:
                return EMPTY
            confidence = (
                Confidence.CERTAIN
                if self._values.kinds[receiver] == ValueKind.SELF
                else Confidence.INFERRED
            )
            self._e.edge(scope, line, confidence)
            return self.returned(scope, receiver)
        if role == "accessor":
            return EMPTY
        if role == "static":
            return self._values.only(ValueKind.FUNCTION, scope)
        if role == "class":
            cls = receiver
            if instance:
                cls = self._values.number(ValueKind.CLASS, self._values.scope(receiver))
            return self._values.only(ValueKind.BOUND, scope, cls)
        plain = self._values.only(ValueKind.FUNCTION, scope)
        values = self._e.decorated(scope) if role == "decorated" else plain
        return self._bound(values or plain, receiver) if instance else values or plain

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
            name = _last_name(decorator)
            if name == "staticmethod":
                return "static"
            if name in {"classmethod", "abstractclassmethod"}:
                return "class"
            if name.lower().endswith(_PROPERTIES):
                return "property"
            if name in {"setter", "deleter"}:
                return "accessor"
            role = "decorated"
        if role == "plain":
            linked = self._program.linked(scope)
            full = linked.facts.definitions[scope - linked.first_scope - 1].name
            name = full.rsplit(".", 1)[-1]
            if name in {"__new__", "__init_subclass__", "__class_getitem__"}:
                return "class"
        return role

    # --- protocols --------------------------------------------------------------------------

    def item(self, value: int, key: str) -> ValueSet:
        """``value[key]``."""
        kind = self._values.kinds[value]
        if kind == ValueKind.CONTAINER:
            return self._e.elements(self._values.scope(value), key)
        if kind in {ValueKind.CLASS, ValueKind.EXTERNAL}:
            return self._values.singleton(value)
        if kind == ValueKind.GENERATOR:
            return self.iterate(value, 0)
        if kind in {ValueKind.INSTANCE, ValueKind.SELF}:
            methods = self.attribute(value, "__getitem__", 0)
            return EMPTY.union(*[self._peek(method) for method in methods])
        return EMPTY

    def _peek(self, method: int) -> ValueSet:
        """What a bound method returns, without recording a call."""
        if self._values.kinds[method] != ValueKind.BOUND:
            return EMPTY
        scope, receiver = cast("tuple[int, int]", self._values.payloads[method])
        return self.returned(scope, receiver)

    def iterate(self, value: int, line: int) -> ValueSet:
        """What iterating over a value gives; calls ``__iter__`` and ``__next__``."""
        kind = self._values.kinds[value]
        if kind == ValueKind.CONTAINER:
            return self._e.elements(self._values.scope(value))
        if kind == ValueKind.GENERATOR:
            scope, receiver = cast("tuple[int, int]", self._values.payloads[value])
            yielded = self._e.read((KeyKind.YIELD, scope))
            return self._substitute(yielded, receiver) if receiver >= 0 else yielded
        if kind == ValueKind.EXTERNAL:
            return self._values.only(ValueKind.EXTERNAL, "*")
        if kind in {ValueKind.INSTANCE, ValueKind.SELF}:
            return self._iterate_instance(value, line)
        return EMPTY

    def _iterate_instance(self, value: int, line: int) -> ValueSet:
        result: set[int] = set()
        empty = Arguments([], [])
        for name in ("__iter__", "__aiter__"):
            for iterator in self._call_all(
                self.attribute(value, name, line), empty, line, Confidence.INFERRED
            ):
                if self._values.kinds[iterator] in {ValueKind.INSTANCE, ValueKind.SELF}:
                    result |= self.advance(iterator, line)
                else:
                    result |= self.iterate(iterator, line)
        return frozenset(result)

    def advance(self, value: int, line: int) -> ValueSet:
        """``next(value)``."""
        if self._values.kinds[value] not in {ValueKind.INSTANCE, ValueKind.SELF}:
            return self.iterate(value, line)
        empty = Arguments([], [])
        result: set[int] = set()
        for name in ("__next__", "__anext__"):
            bound = self.attribute(value, name, line)
            result |= self._call_all(bound, empty, line, Confidence.INFERRED)
        return frozenset(result)

    def enter(self, value: int, line: int) -> ValueSet:
        """What ``with value as x`` binds; calls ``__enter__`` and ``__exit__``."""
        kind = self._values.kinds[value]
        if kind in {ValueKind.INSTANCE, ValueKind.SELF}:
            empty = Arguments([], [])
            result: set[int] = set()
            for name in ("__enter__", "__aenter__", "__exit__", "__aexit__"):
                bound = self.attribute(value, name, line)
                values = self._call_all(bound, empty, line, Confidence.INFERRED)
                result |= values if name.endswith("enter__") else EMPTY
            return frozenset(result)
        if kind in {ValueKind.GENERATOR, ValueKind.EXTERNAL}:
            return self.iterate(value, line)
        return EMPTY


def dotted_text(expression: Expr) -> str:
    """``a.b.c`` of a callee as far as it is plain; a leading dot when its receiver is not a name."""
    if type(expression) is Name:
        return expression.id
    if type(expression) is Attribute:
        return f"{dotted_text(expression.value)}.{expression.attr}"
    return ""


def _last_name(expression: Expr) -> str:
    if type(expression) is Call:
        return _last_name(expression.function)
    if type(expression) is Attribute:
        return expression.attr
    return expression.id if type(expression) is Name else ""
