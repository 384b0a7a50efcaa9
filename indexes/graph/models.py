"""What code outside the repository does with the values it is given.

Builtins and a few functions of the standard library hand on what they get: containers, iterators,
callbacks. Everything else outside is opaque: its results are external, and functions passed to it
are taken as called (that is what callbacks are for).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexes.graph.values import EMPTY, ValueKind, ValueSet, union
from indexes.model import Confidence

if TYPE_CHECKING:
    from indexes.graph.calls import Arguments
    from indexes.graph.evaluation import Evaluation

_SAME = frozenset({
    "builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset", "builtins.sorted",
    "builtins.reversed", "builtins.iter", "builtins.dict", "copy.copy", "copy.deepcopy",
    "collections.OrderedDict", "collections.deque", "typing.cast", "itertools.chain",
    "itertools.cycle", "itertools.islice", "builtins.aiter",
})  # fmt: skip
_PICKS = frozenset({"builtins.min", "builtins.max"})
_PLAIN = frozenset({
    "builtins.isinstance", "builtins.issubclass", "builtins.print", "builtins.len", "builtins.repr",
    "builtins.str", "builtins.id", "builtins.hash", "builtins.hasattr", "builtins.getattr",
    "builtins.setattr", "builtins.delattr", "builtins.callable", "builtins.bool", "builtins.int",
    "builtins.float", "builtins.vars", "builtins.dir", "builtins.format", "builtins.any",
    "builtins.all", "builtins.sum", "builtins.classmethod", "builtins.staticmethod",
    "functools.wraps", "functools.update_wrapper", "inspect.signature", "inspect.getsource",
    "warnings.warn", "typing.TypeVar", "typing.NewType", "typing.get_type_hints",
    "builtins.property", "dataclasses.dataclass", "dataclasses.fields", "pytest.raises",
    "builtins.ValueError", "builtins.TypeError", "builtins.object", "logging.getLogger",
})  # fmt: skip
"""External functions that look at what they get and never call it."""
_ITERATES = frozenset({
    "builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset", "builtins.sorted",
    "builtins.sum", "builtins.any", "builtins.all", "builtins.min", "builtins.max",
    "builtins.dict", "builtins.enumerate", "builtins.zip",
})  # fmt: skip
_OPAQUE = "*"


def call_external(e: Evaluation, name: str, arguments: Arguments, line: int) -> ValueSet:
    """Values of a call that goes to code outside the repository."""
    first = arguments.positional[0] if arguments.positional else EMPTY
    if name in {"functools.partial", "functools.partialmethod"}:
        return _partial(e, first, arguments, line)
    if name in {"builtins.next", "builtins.anext"}:
        return union([e.protocols.advance(value, line) for value in first])
    if name == "builtins.type" and len(arguments.positional) == 1:
        return _classes(e, first)
    if name in {"builtins.enumerate", "builtins.zip"}:
        return _paired(e, name, arguments, line)
    _call_back(e, name, arguments, line)
    if name in _SAME:
        return _same(e, name, arguments, line)
    if name in _PICKS:
        picked = [_iterate(e, values, line) for values in arguments.positional[:1]]
        return EMPTY.union(*picked, *arguments.positional[1:])
    if name == "builtins.map":
        return _mapped(e, arguments)
    if name == "builtins.filter":
        return EMPTY.union(*arguments.positional[1:2])
    return e.values.only(ValueKind.EXTERNAL, _OPAQUE)


def _call_back(e: Evaluation, name: str, arguments: Arguments, line: int) -> None:
    if name in _PLAIN:
        return
    passed = [*arguments.positional, *(values for _, values in arguments.keywords)]
    for values in passed:
        for value in values:
            kind = e.values.kinds[value]
            if kind in {ValueKind.FUNCTION, ValueKind.BOUND, ValueKind.PARTIAL}:
                e.calls.call(value, e.calls.nothing, line, Confidence.INFERRED)


def _same(e: Evaluation, name: str, arguments: Arguments, line: int) -> ValueSet:
    """The containers themselves; instances are iterated over."""
    found: set[int] = set()
    for values in arguments.positional:
        for value in values:
            if e.values.kinds[value] in {ValueKind.INSTANCE, ValueKind.SELF}:
                if name in _ITERATES:
                    e.protocols.iterate(value, line)
                elif name == "builtins.iter":
                    for method in e.members.attribute(value, "__iter__", line):
                        found |= e.calls.call(method, e.calls.nothing, line, Confidence.INFERRED)
                    continue
            found.add(value)
    return frozenset(found) or e.values.only(ValueKind.EXTERNAL, _OPAQUE)


def _iterate(e: Evaluation, values: ValueSet, line: int) -> ValueSet:
    return union([e.protocols.iterate(value, line) for value in values])


def _paired(e: Evaluation, name: str, arguments: Arguments, line: int) -> ValueSet:
    """``enumerate`` and ``zip``: an iterable of tuples; one site a place in the source."""
    outer, inner = _pair_sites(e, line, name)
    for position, values in enumerate(arguments.positional):
        index = position + 1 if name == "builtins.enumerate" else position
        e.put(inner, str(index), _iterate(e, values, line))
    e.put(outer, "", e.values.only(ValueKind.CONTAINER, inner))
    return e.values.only(ValueKind.CONTAINER, outer)


def _pair_sites(e: Evaluation, line: int, name: str) -> tuple[int, int]:
    linked = e.program.linked(e.unit)
    base = linked.first_site + 500_000 + 4 * line + (2 if name == "builtins.zip" else 0)
    return base, base + 1


def _mapped(e: Evaluation, arguments: Arguments) -> ValueSet:
    """An iterable of what the function returns."""
    site = e.program.linked(e.unit).first_site + 900_000
    results: set[int] = set()
    for values in arguments.positional:
        for value in values:
            payload = e.values.payloads[value]
            if e.values.kinds[value] == ValueKind.FUNCTION:
                results |= e.calls.returned(int(payload[0]), -1)
            elif e.values.kinds[value] == ValueKind.BOUND:
                results |= e.calls.returned(int(payload[0]), int(payload[1]))
    e.put(site, "", frozenset(results))
    return e.values.only(ValueKind.CONTAINER, site)


def _partial(e: Evaluation, functions: ValueSet, arguments: Arguments, line: int) -> ValueSet:
    rest = arguments.after(1)
    found: set[int] = set()
    for value in functions:
        kind = e.values.kinds[value]
        if kind in {ValueKind.FUNCTION, ValueKind.BOUND}:
            scope = e.values.scope(value)
            e.calls.bind(scope, rest, 0 if kind == ValueKind.FUNCTION else 1)
            found.add(e.values.number(ValueKind.PARTIAL, value, len(rest.positional)))
        else:
            found.add(value)
    return frozenset(found)


def _classes(e: Evaluation, values: ValueSet) -> ValueSet:
    found: set[int] = set()
    for value in values:
        kind = e.values.kinds[value]
        if kind == ValueKind.INSTANCE:
            found.add(e.values.number(ValueKind.CLASS, e.values.scope(value)))
        elif kind == ValueKind.SELF:
            found.add(e.values.number(ValueKind.OWN_CLASS, e.values.scope(value)))
    return frozenset(found) or e.values.only(ValueKind.EXTERNAL, _OPAQUE)


def external_attribute(e: Evaluation, dotted: str, name: str) -> ValueSet:
    """``external.name``; results of external calls stay opaque."""
    if dotted == _OPAQUE or dotted.count(".") > 5:
        return e.values.only(ValueKind.EXTERNAL, _OPAQUE)
    return e.values.only(ValueKind.EXTERNAL, f"{dotted}.{name}")


_PUTS = {"append": 0, "add": 0, "appendleft": 0, "insert": 1}
_MERGES = frozenset({"extend", "update"})
_GETS = frozenset({"get", "pop", "popitem", "popleft", "setdefault", "__getitem__"})
_VIEWS = frozenset({"values", "copy", "items", "__iter__", "union"})


def call_container_method(
    e: Evaluation, site: int, name: str, arguments: Arguments, line: int
) -> ValueSet:
    """Methods of list, dict, set, tuple and deque displays."""
    positional = arguments.positional
    if name in _PUTS:
        e.put(site, "", EMPTY.union(*positional[_PUTS[name] :]))
        return EMPTY
    if name in _MERGES:
        for values in positional:
            e.put(site, "", _iterate(e, values, line))
        for keyword, values in arguments.keywords:
            e.put(site, f"'{keyword}'", values)
        return EMPTY
    if name == "setdefault":
        e.put(site, "", EMPTY.union(*positional[1:]))
    if name in _GETS:
        return EMPTY.union(e.elements(site), *positional[1:])
    if name == "items":
        inner = e.program.linked(e.unit).first_site + 500_000 + 4 * line + 3
        e.put(inner, "1", e.elements(site))
        outer = e.program.linked(e.unit).first_site + 700_000 + line
        e.put(outer, "", e.values.only(ValueKind.CONTAINER, inner))
        return e.values.only(ValueKind.CONTAINER, outer)
    if name in _VIEWS:
        return e.values.only(ValueKind.CONTAINER, site)
    if name == "sort":
        _call_back(e, "list.sort", arguments, line)
    return e.values.only(ValueKind.EXTERNAL, _OPAQUE)
