"""What calling a value does: edges, arguments that travel, values that come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from indexes.facts import Attribute, Call, Name, Star
from indexes.graph import models
from indexes.graph.frames import Frame
from indexes.graph.state import KeyKind
from indexes.graph.values import EMPTY, ValueKind, ValueSet, union
from indexes.model import Confidence

if TYPE_CHECKING:
    from indexes.graph.evaluation import Evaluation

_INSTANCES = frozenset({ValueKind.INSTANCE, ValueKind.SELF})
_FUNCTIONS = frozenset({ValueKind.FUNCTION, ValueKind.BOUND})
_CLASSES = frozenset({ValueKind.CLASS, ValueKind.OWN_CLASS})


_NO_STARS: frozenset[int] = frozenset()


class Arguments:
    """Values passed to a call."""

    __slots__ = ("keywords", "positional", "stars")

    def __init__(
        self,
        positional: list[ValueSet],
        keywords: list[tuple[str, ValueSet]],
        stars: frozenset[int] = _NO_STARS,
    ) -> None:
        self.positional = positional
        self.keywords = keywords
        self.stars = stars
        """Positions that hold a ``*value``."""

    def after(self, count: int) -> Arguments:
        """What is left behind the first `count` positional arguments."""
        stars = frozenset(star - count for star in self.stars if star >= count)
        return Arguments(self.positional[count:], self.keywords, stars)


class _Signature:
    """Where arguments of a function go."""

    __slots__ = ("named", "outside_tests", "places", "scope")

    def __init__(
        self, scope: int, places: list[int], named: dict[str, int], outside_tests: bool
    ) -> None:
        self.scope = scope
        self.places = places
        """State keys of positional parameters; -1 where nothing reads it."""
        self.named = named
        self.outside_tests = outside_tests


class _Plan:
    """What calling a function or class does, as far as it is the same for every call."""

    __slots__ = ("binds", "offset", "outside_tests", "receiver", "result", "scope", "targets")

    def __init__(self, targets: tuple[int, ...], offset: int, result: ValueSet | None) -> None:
        self.targets = targets
        """Definitions that get an edge."""
        self.offset = offset
        """1 when the first parameter is bound already."""
        self.result = result
        """Values of the call; `None` means what the function `scope` returns."""
        self.binds: tuple[_Signature, ...] = ()
        self.outside_tests = True
        self.scope = -1
        self.receiver = -1


class CallEvaluator:
    """The part of `Evaluation` that knows what calls do."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._e = evaluation
        self._values = evaluation.values
        self._hierarchy = evaluation.hierarchy
        self._program = evaluation.program
        self._plans: dict[int, _Plan] = {}
        self._signatures: dict[int, _Signature] = {}
        self.nothing = Arguments([], [])

    # --- calls ------------------------------------------------------------------------------

    def evaluate(self, expression: Call, frame: Frame) -> ValueSet:
        """Evaluate a call: record its edges, pass its arguments on, return its values."""
        e = self._e
        function = expression.function
        before, e.dynamic = e.dynamic, False
        if type(function) is Name:
            if function.id == "super":
                found = self._super(expression, frame)
                if found is not None:
                    e.dynamic = before
                    return found
            functions = e.names.read(function, frame)
        else:
            functions = e.readers[type(function)](function, frame)
        fluid = e.dynamic
        if len(functions) == 1:
            (value,) = functions
            plan = self._plans.get(value) or self._make_plan(value)
            if plan is not None:
                direct = e.expressions.is_direct(function, frame)
                confidence = Confidence.CERTAIN if direct else Confidence.INFERRED
                result = self._call_planned(plan, expression, frame, confidence)
                e.dynamic = e.dynamic or before
                return result
        arguments = self._arguments(expression, frame)
        passed, e.dynamic = e.dynamic, fluid
        result = self._call_values(functions, expression, arguments)
        e.dynamic = e.dynamic or passed or before
        return result

    def _call_planned(
        self, plan: _Plan, expression: Call, frame: Frame, confidence: float
    ) -> ValueSet:
        e = self._e
        if plan.targets:
            add = e.findings().add_edge
            for target in plan.targets:
                add((e.owner, target, expression.line), confidence)
        if expression.arguments or expression.keywords:
            if plan.binds and not (e.in_test and plan.outside_tests):
                arguments = self._arguments(expression, frame)
                for signature in plan.binds:
                    self._bind(signature, arguments, plan.offset)
            else:
                self._scan(expression, frame)
        if plan.result is not None:
            return plan.result
        return self.returned(plan.scope, plan.receiver)

    def _call_values(self, functions: ValueSet, expression: Call, arguments: Arguments) -> ValueSet:
        e = self._e
        if not functions:
            findings = e.findings()
            callee = expression.function
            findings.add_unresolved(id(expression), e.owner, callee, expression.line)
            return EMPTY
        kinds = self._values.kinds
        if any(kinds[value] == ValueKind.EXTERNAL for value in functions):
            e.findings().add_external(id(expression))
        inferred = Confidence.INFERRED
        return union([self.call(v, arguments, expression.line, inferred) for v in functions])

    def _scan(self, expression: Call, frame: Frame) -> None:
        """Evaluate arguments for what happens in them."""
        readers = self._e.readers
        named = self._values.named
        for argument in expression.arguments:
            if argument is not None:
                values = readers[type(argument)](argument, frame)
                if len(values) == 1:
                    (value,) = values
                    if named[value] >= 0:
                        self._refer(named[value], expression.line)
        for _, keyword in expression.keywords:
            if keyword is not None:
                self._refer_to(readers[type(keyword)](keyword, frame), expression.line)

    def _arguments(self, expression: Call, frame: Frame) -> Arguments:
        readers = self._e.readers
        positional: list[ValueSet] = []
        stars: list[int] = []
        for argument in expression.arguments:
            if argument is None:
                positional.append(EMPTY)
                continue
            values = readers[type(argument)](argument, frame)
            positional.append(values)
            if type(argument) is Star:
                stars.append(len(positional) - 1)
            elif values:
                self._refer_to(values, expression.line)
        keywords: list[tuple[str, ValueSet]] = []
        for name, value in expression.keywords:
            values = EMPTY if value is None else readers[type(value)](value, frame)
            keywords.append((name, values))
            self._refer_to(values, expression.line)
        return Arguments(positional, keywords, frozenset(stars) if stars else _NO_STARS)

    def _refer_to(self, values: ValueSet, line: int) -> None:
        """Note a function or class handed over by name."""
        if len(values) == 1:
            (value,) = values
            scope = self._values.named[value]
            if scope >= 0:
                self._refer(scope, line)

    def _refer(self, scope: int, line: int) -> None:
        if self._program.scopes[scope].kind != "lambda":
            self._e.findings().add_reference((self._e.owner, scope, line))

    def call(self, value: int, arguments: Arguments, line: int, confidence: float) -> ValueSet:
        """Call one value."""
        plan = self._plans.get(value) or self._make_plan(value)
        if plan is not None:
            for target in plan.targets:
                self._e.edge(target, line, confidence)
            if not (self._e.in_test and plan.outside_tests):
                for signature in plan.binds:
                    self._bind(signature, arguments, plan.offset)
            return self.returned(plan.scope, plan.receiver) if plan.result is None else plan.result
        kind = self._values.kinds[value]
        payload = self._values.payloads[value]
        if kind == ValueKind.EXTERNAL:
            return models.call_external(self._e, cast(str, payload[0]), arguments, line)
        first = cast(int, payload[0])
        if kind in _INSTANCES:
            bound = self._e.members.attribute(value, "__call__", line)
            return union([self.call(each, arguments, line, Confidence.INFERRED) for each in bound])
        if kind == ValueKind.PARTIAL:
            return self._call_partial(first, cast(int, payload[1]), arguments, line)
        if kind == ValueKind.CONTAINER_METHOD:
            method = cast(str, payload[1])
            return models.call_container_method(self._e, first, method, arguments, line)
        return EMPTY

    def _call_partial(self, value: int, bound: int, arguments: Arguments, line: int) -> ValueSet:
        shifted = Arguments(
            [EMPTY] * bound + arguments.positional,
            arguments.keywords,
            frozenset(star + bound for star in arguments.stars),
        )
        return self.call(value, shifted, line, Confidence.INFERRED)

    # --- plans ------------------------------------------------------------------------------

    def _make_plan(self, value: int) -> _Plan | None:
        kind = self._values.kinds[value]
        if kind in _FUNCTIONS:
            plan = self._plan_function(value)
        elif kind in _CLASSES:
            plan = self._plan_class(value)
        else:
            return None
        plan.outside_tests = all(signature.outside_tests for signature in plan.binds)
        self._plans[value] = plan
        return plan

    def _plan_function(self, value: int) -> _Plan:
        scope = self._values.scope(value)
        data = self._program.scopes[scope]
        bound = self._values.kinds[value] == ValueKind.BOUND
        receiver = cast(int, self._values.payloads[value][1]) if bound else -1
        result = None
        if data.yields:
            result = self._values.only(ValueKind.GENERATOR, scope, receiver)
        plan = _Plan(() if data.kind == "lambda" else (scope,), int(bound), result)
        plan.scope, plan.receiver = scope, receiver
        if len(data.parameters) > plan.offset:
            plan.binds = (self._signature(scope),)
        return plan

    def _plan_class(self, value: int) -> _Plan:
        cls = self._values.scope(value)
        made: list[int] = []
        for name in ("__init__", "__new__"):
            member = self._hierarchy.lookup(cls, name)
            if member is not None:
                made += [slot.definition for slot in member[1] if slot.definition >= 0]
        exact = self._values.kinds[value] == ValueKind.CLASS
        same = ValueKind.INSTANCE if exact else ValueKind.SELF
        plan = _Plan(tuple(made) or (cls,), 1, self._values.only(same, cls))
        plan.binds = tuple(
            self._signature(each) for each in made if len(self._program.scopes[each].parameters) > 1
        )
        return plan

    def _signature(self, scope: int) -> _Signature:
        known = self._signatures.get(scope)
        if known is None:
            parameters = self._program.scopes[scope].parameters
            number = self._e.state.number
            keys = {p.name: number((KeyKind.PARAMETER, scope, p.name)) for p in parameters}
            places = [keys[p.name] for p in parameters if p.kind <= 1]
            named = {p.name: keys[p.name] for p in parameters if p.kind in {1, 3}}
            outside_tests = not self._program.linked(scope).is_test
            known = self._signatures[scope] = _Signature(scope, places, named, outside_tests)
        return known

    # --- results ----------------------------------------------------------------------------

    def returned(self, scope: int, receiver: int) -> ValueSet:
        """What a call of a function gives."""
        data = self._program.scopes[scope]
        if data.yields:
            return self._values.only(ValueKind.GENERATOR, scope, receiver)
        values = EMPTY
        if data.returns:
            values = self._e.read(self._e.key(KeyKind.RETURN, scope))
        annotation = data.return_annotation
        if annotation is not None:
            if type(annotation) is Name and annotation.id == "Self":
                values = values | self._as_instance(receiver)
            else:
                parent = self._program.parents[scope]
                values = values | self._e.annotations.instances(annotation, parent)
        return self.substitute(values, receiver) if receiver >= 0 and values else values

    def _as_instance(self, receiver: int) -> ValueSet:
        if receiver < 0:
            return EMPTY
        kind = self._values.kinds[receiver]
        if kind in _CLASSES:
            same = ValueKind.INSTANCE if kind == ValueKind.CLASS else ValueKind.SELF
            return self._values.only(same, self._values.scope(receiver))
        return self._values.singleton(receiver) if kind in _INSTANCES else EMPTY

    def substitute(self, values: ValueSet, receiver: int) -> ValueSet:
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

    def decorate(self, decorators: ValueSet, current: ValueSet, line: int) -> ValueSet:
        """What a definition becomes under a decorator.

        Where nothing is known of what a decorator returns, the definition is taken to stay what it
        is; but only when what is to be known is known, lest a wrapped function be called directly.
        """
        e = self._e
        found = EMPTY
        arguments = Arguments([current], [])
        for value in decorators:
            if self._values.kinds[value] == ValueKind.EXTERNAL:
                found = found | current
            else:
                found = found | self.call(value, arguments, line, Confidence.CERTAIN)
        known = frozenset(v for v in found if self._values.kinds[v] != ValueKind.EXTERNAL)
        if current <= known:  # it hands back what it is given, and others gave it something else
            return frozenset(v for v in known if v in current or self._is_nested(v))
        if known:
            return known
        if not decorators or e.resigned or found:
            return current
        return e.wait()

    def _is_nested(self, value: int) -> bool:
        """Whether a value is a function inside a function, as wrappers are."""
        scope = self._values.named[value]
        parent = self._program.parents[scope] if scope >= 0 else -1
        return parent >= 0 and self._program.scopes[parent].kind == "function"

    def _super(self, expression: Call, frame: Frame) -> ValueSet | None:
        """`super()` and ``super(Class, self)``; `None` if the name means something else."""
        known = self._program.static(frame.number, "super")
        if known is None or self._values.only(ValueKind.EXTERNAL, "builtins.super") != known:
            return None
        method = self._method_around(frame.number)
        if method < 0:
            return EMPTY
        own = cls = self._program.parents[method]
        if expression.arguments and expression.arguments[0] is not None:
            named = self._e.evaluate(expression.arguments[0], frame)
            classes = [v for v in named if self._values.kinds[v] == ValueKind.CLASS]
            cls = self._values.scope(classes[0]) if len(classes) == 1 else cls
        role = self._e.members.role(method)
        kind = ValueKind.OWN_CLASS if role == "class" else ValueKind.SELF
        return self._values.only(ValueKind.SUPER, cls, self._values.number(kind, own))

    def _method_around(self, scope: int) -> int:
        """The nearest function around a scope that stands in a class body, or -1."""
        while scope >= 0:
            parent = self._program.parents[scope]
            if parent >= 0 and self._program.scopes[parent].kind == "class":
                return scope
            scope = parent
        return -1

    # --- arguments --------------------------------------------------------------------------

    def bind(self, scope: int, arguments: Arguments, offset: int) -> None:
        """Pass arguments to a function's parameters. Tests pass nothing to the code they test."""
        signature = self._signature(scope)
        if not (self._e.in_test and signature.outside_tests):
            self._bind(signature, arguments, offset)

    def _bind(self, signature: _Signature, arguments: Arguments, offset: int) -> None:
        position = offset
        for index, values in enumerate(arguments.positional):
            if values:
                if arguments.stars and index in arguments.stars:
                    self._bind_star(signature, position, values)
                else:
                    self._bind_position(signature, position, values)
            position += 1
        for name, values in arguments.keywords:
            if not values:
                continue
            if name == "**":
                self._bind_double_star(signature, values)
            else:
                self._bind_name(signature, name, f"'{name}'", values)

    def _bind_position(self, signature: _Signature, position: int, values: ValueSet) -> None:
        places = signature.places
        if position < len(places):
            self._e.write(places[position], values)
        else:
            self._e.put(-(2 * signature.scope + 1), str(position - len(places)), values)

    def _bind_star(self, signature: _Signature, position: int, values: ValueSet) -> None:
        for value in values:
            if self._values.kinds[value] != ValueKind.CONTAINER:
                continue
            for key, held in self._e.pairs(self._values.scope(value)):
                if key.isdigit():
                    self._bind_position(signature, position + int(key), held)
                else:
                    for place in range(position, max(len(signature.places), position + 1)):
                        self._bind_position(signature, place, held)

    def _bind_double_star(self, signature: _Signature, values: ValueSet) -> None:
        for value in values:
            if self._values.kinds[value] == ValueKind.CONTAINER:
                for key, held in self._e.pairs(self._values.scope(value)):
                    self._bind_name(signature, key.strip("'"), key, held)

    def _bind_name(self, signature: _Signature, name: str, key: str, values: ValueSet) -> None:
        place = signature.named.get(name)
        if place is not None:
            self._e.write(place, values)
        else:
            self._e.put(-(2 * signature.scope + 2), key, values)


def dotted_text(expression: object) -> str:
    """``a.b.c`` of a callee as far as it is plain; a leading dot when it starts with no name."""
    parts: list[str] = []
    while isinstance(expression, Attribute):
        parts.append(expression.attr)
        expression = expression.value
    parts.append(expression.id if isinstance(expression, Name) else "")
    return ".".join(reversed(parts))
