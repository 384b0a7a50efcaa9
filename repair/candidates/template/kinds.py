"""A rough guess of what sort of value an expression or a name has, from syntax alone."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum


class Kind(StrEnum):
    """Sorts of values that edits tell apart."""

    NUMBER = "number"
    STRING = "string"
    BOOLEAN = "boolean"
    LIST = "list"
    TUPLE = "tuple"
    SET = "set"
    MAPPING = "mapping"
    SEQUENCE = "sequence"
    """Something with a length that is iterated over or sliced."""
    CALLABLE = "callable"
    MODULE = "module"
    OBJECT = "object"
    """Something whose attributes are used."""
    UNKNOWN = "unknown"


SIZED = frozenset({Kind.STRING, Kind.LIST, Kind.TUPLE, Kind.SET, Kind.MAPPING, Kind.SEQUENCE})
SLICEABLE = frozenset({Kind.STRING, Kind.LIST, Kind.TUPLE, Kind.SEQUENCE})
_UNLIKE = 0.15
_UNKNOWN = 0.6
_RELATED = 0.5
# Weights of a name of another kind; a name of the same kind weighs 1.

_RESULTS = {
    **dict.fromkeys(
        ("len", "int", "float", "abs", "ord", "sum", "round", "hash", "id"), Kind.NUMBER
    ),
    **dict.fromkeys(("str", "chr", "repr", "bin", "hex", "oct", "format", "input"), Kind.STRING),
    **dict.fromkeys(("list", "sorted"), Kind.LIST),
    **dict.fromkeys(("set", "frozenset"), Kind.SET),
    **dict.fromkeys(("dict", "defaultdict", "Counter", "OrderedDict", "vars"), Kind.MAPPING),
    **dict.fromkeys(("any", "all", "bool", "isinstance", "issubclass", "callable"), Kind.BOOLEAN),
    **dict.fromkeys(("range", "reversed", "zip", "enumerate", "map", "filter"), Kind.SEQUENCE),
    "deque": Kind.LIST,
    "tuple": Kind.TUPLE,
}
_METHOD_OWNERS = {
    **dict.fromkeys(("append", "extend", "insert", "sort", "popleft", "appendleft"), Kind.LIST),
    **dict.fromkeys(("add", "discard", "issubset", "issuperset", "union"), Kind.SET),
    **dict.fromkeys(("items", "keys", "values", "get", "setdefault"), Kind.MAPPING),
    **dict.fromkeys(
        ("lower", "upper", "strip", "split", "startswith", "endswith", "replace", "join"),
        Kind.STRING,
    ),
}
_METHOD_RESULTS = {
    **dict.fromkeys(
        ("lower", "upper", "strip", "lstrip", "rstrip", "replace", "join", "format", "title"),
        Kind.STRING,
    ),
    **dict.fromkeys(("split", "splitlines", "readlines"), Kind.LIST),
    **dict.fromkeys(("items", "keys", "values"), Kind.SEQUENCE),
    **dict.fromkeys(("index", "count", "find", "rfind"), Kind.NUMBER),
    **dict.fromkeys(
        ("startswith", "endswith", "isdigit", "isalpha", "isupper", "islower", "issubset"),
        Kind.BOOLEAN,
    ),
}
_ANNOTATIONS = {
    **dict.fromkeys(("int", "float", "complex"), Kind.NUMBER),
    **dict.fromkeys(("str", "bytes"), Kind.STRING),
    **dict.fromkeys(("list", "List", "deque"), Kind.LIST),
    **dict.fromkeys(("dict", "Dict", "Mapping", "MutableMapping", "defaultdict"), Kind.MAPPING),
    **dict.fromkeys(("set", "Set", "frozenset", "FrozenSet"), Kind.SET),
    **dict.fromkeys(("tuple", "Tuple"), Kind.TUPLE),
    **dict.fromkeys(("Sequence", "Iterable", "Iterator", "Collection"), Kind.SEQUENCE),
    "bool": Kind.BOOLEAN,
    "Callable": Kind.CALLABLE,
}
_CONSTANTS: tuple[tuple[type, Kind], ...] = (
    (bool, Kind.BOOLEAN),
    (int, Kind.NUMBER),
    (float, Kind.NUMBER),
    (str, Kind.STRING),
    (bytes, Kind.STRING),
)
_DISPLAYS: tuple[tuple[tuple[type[ast.AST], ...], Kind], ...] = (
    ((ast.List, ast.ListComp), Kind.LIST),
    ((ast.Tuple,), Kind.TUPLE),
    ((ast.Set, ast.SetComp), Kind.SET),
    ((ast.Dict, ast.DictComp), Kind.MAPPING),
    ((ast.JoinedStr,), Kind.STRING),
    ((ast.Compare,), Kind.BOOLEAN),
    ((ast.Lambda,), Kind.CALLABLE),
    ((ast.GeneratorExp,), Kind.SEQUENCE),
)


def likeness(wanted: Kind, given: Kind) -> float:
    """Return how well a value of one kind can stand for another, in (0, 1]."""
    if wanted is given:
        return 1.0
    if Kind.UNKNOWN in (wanted, given) or Kind.OBJECT in (wanted, given):
        return _UNKNOWN
    if {wanted, given} <= SIZED or {wanted, given} == {Kind.NUMBER, Kind.BOOLEAN}:
        return _RELATED
    return _UNLIKE


def kind_of(node: ast.AST | None, known: dict[str, Kind] | None = None) -> Kind:
    """Guess an expression's kind; `known` tells names' kinds."""
    if isinstance(node, ast.Constant):
        return next(
            (kind for type_, kind in _CONSTANTS if isinstance(node.value, type_)), Kind.UNKNOWN
        )
    if isinstance(node, ast.Name):
        return (known or {}).get(node.id, Kind.UNKNOWN)
    for types, kind in _DISPLAYS:
        if isinstance(node, types):
            return kind
    return _compound_kind(node, known)


def _compound_kind(node: ast.AST | None, known: dict[str, Kind] | None) -> Kind:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return _RESULTS.get(name, Kind.UNKNOWN)
        case ast.Call(func=ast.Attribute(attr=name)):
            return _METHOD_RESULTS.get(name, Kind.UNKNOWN)
        case ast.UnaryOp(op=ast.Not()):
            return Kind.BOOLEAN
        case ast.UnaryOp():
            return Kind.NUMBER
        case ast.BinOp(left=left, right=right):
            return _arithmetic_kind(kind_of(left, known), kind_of(right, known), node.op)
        case ast.BoolOp(values=values):
            kinds = {kind_of(value, known) for value in values}
            return kinds.pop() if len(kinds) == 1 else Kind.UNKNOWN
        case ast.IfExp(body=body, orelse=orelse):
            kind = kind_of(body, known)
            return kind if kind is not Kind.UNKNOWN else kind_of(orelse, known)
        case ast.Subscript(value=value, slice=ast.Slice()):
            return kind_of(value, known)
    return Kind.UNKNOWN


def _arithmetic_kind(left: Kind, right: Kind, op: ast.operator) -> Kind:
    if isinstance(op, ast.Mult) and (left in SLICEABLE or right in SLICEABLE):
        return left if left in SLICEABLE else right
    if isinstance(op, ast.Mod) and left is Kind.STRING:
        return Kind.STRING
    if isinstance(op, (ast.Add, ast.BitOr, ast.BitAnd)) and Kind.UNKNOWN in (left, right):
        return left if left is not Kind.UNKNOWN else right
    return left if left is right else Kind.NUMBER


def annotation_kind(node: ast.AST | None) -> Kind:
    """Guess the kind that an annotation names."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _ANNOTATIONS.get(name, Kind.UNKNOWN)
        case ast.Subscript(value=value):
            return annotation_kind(value)
    return Kind.UNKNOWN


def infer_kinds(nodes: Iterable[ast.AST]) -> dict[str, Kind]:
    """Guess names' kinds by majority of what is assigned to them and done with them.

    Two passes over the nodes: the second one knows what the first one found.
    """
    found = list(nodes)
    known: dict[str, Kind] = {}
    for _ in range(2):
        votes: dict[str, Counter[Kind]] = {}
        for node in found:
            for name, kind in _evidence(node, known):
                if kind is not Kind.UNKNOWN:
                    votes.setdefault(name, Counter())[kind] += 1
        known = {name: _elected(counts) for name, counts in votes.items()}
    return known


def _elected(counts: Counter[Kind]) -> Kind:
    """Return the most voted kind; a definite one goes before ``sequence`` and ``object``."""
    vague = (Kind.SEQUENCE, Kind.OBJECT)
    definite = [kind for kind in counts if kind not in vague] or list(counts)
    return max(definite, key=lambda kind: (counts[kind], kind))


def _evidence(node: ast.AST, known: dict[str, Kind]) -> Iterator[tuple[str, Kind]]:
    """Yield (name, kind) pairs that one node speaks for."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _bound(target, value, known)
        case ast.AugAssign(target=ast.Name(id=name), value=value):
            yield name, kind_of(value, known)
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.arg(arg=name):
            yield name, annotation_kind(node.annotation)
        case (
            ast.For(target=target, iter=iterated) | ast.comprehension(target=target, iter=iterated)
        ):
            yield from _iterated(target, iterated)
        case ast.arguments():
            yield from _defaults(node, known)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            yield name, _METHOD_OWNERS.get(attribute, Kind.OBJECT)
        case _:
            yield from _use(node, known)


def _use(node: ast.AST, known: dict[str, Kind]) -> Iterator[tuple[str, Kind]]:
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Slice()):
            yield name, Kind.SEQUENCE
        case ast.Subscript(
            slice=ast.BinOp(left=ast.Name(id=name), right=ast.Constant(value=int()))
        ):
            yield name, Kind.NUMBER
        case ast.Call(func=ast.Name(id="len" | "enumerate" | "sorted"), args=[ast.Name(id=name)]):
            yield name, Kind.SEQUENCE
        case ast.Call(func=ast.Name(id="range"), args=arguments):
            yield from ((item.id, Kind.NUMBER) for item in arguments if isinstance(item, ast.Name))
        case ast.Call(func=ast.Name(id=name)):
            yield name, Kind.CALLABLE
        case ast.Compare(left=left, comparators=[right]) | ast.BinOp(left=left, right=right):
            for name_node, other in ((left, right), (right, left)):
                if isinstance(name_node, ast.Name) and not _is_membership(node):
                    yield name_node.id, kind_of(other, known)


def _is_membership(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn))


def _bound(target: ast.expr, value: ast.expr, known: dict[str, Kind]) -> Iterator[tuple[str, Kind]]:
    if isinstance(target, ast.Name):
        yield target.id, kind_of(value, known)
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for part, item in zip(target.elts, value.elts, strict=False):
            yield from _bound(part, item, known)


def _iterated(target: ast.expr, iterated: ast.expr) -> Iterator[tuple[str, Kind]]:
    if isinstance(iterated, ast.Name):
        yield iterated.id, Kind.SEQUENCE
    if not isinstance(iterated, ast.Call) or not isinstance(iterated.func, ast.Name):
        return
    if iterated.func.id == "range" and isinstance(target, ast.Name):
        yield target.id, Kind.NUMBER
    if iterated.func.id == "enumerate" and isinstance(target, ast.Tuple):
        first = target.elts[0]
        if isinstance(first, ast.Name):
            yield first.id, Kind.NUMBER


def _defaults(node: ast.arguments, known: dict[str, Kind]) -> Iterator[tuple[str, Kind]]:
    positional = [*node.posonlyargs, *node.args]
    for argument, default in zip(reversed(positional), reversed(node.defaults), strict=False):
        yield argument.arg, kind_of(default, known)
    for argument, keyword_default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
        yield argument.arg, kind_of(keyword_default, known)
