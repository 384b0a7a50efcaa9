"""Templates that change, swap, add or drop operators and operands."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator

from repair.candidates.template.kinds import SIZED, Kind
from repair.candidates.template.model import EditTemplate, Rewrite, Site, Template
from repair.model import SpanEdit

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.MatMult: "@",
}
_COMPARISON_CHANGES = {
    "<": ("<=", ">", ">=", "==", "!="),
    "<=": ("<", ">=", ">", "==", "!="),
    ">": (">=", "<", "<=", "==", "!="),
    ">=": (">", "<=", "<", "==", "!="),
    "==": ("!=", "<=", ">=", "<", ">", "in"),
    "!=": ("==", "<", ">", "<=", ">=", "not in"),
    "is": ("is not",),
    "is not": ("is",),
    "in": ("not in", "=="),
    "not in": ("in", "!="),
}
_ARITHMETIC_CHANGES = {
    "+": ("-", "*", "|"),
    "-": ("+", "//", "%", "/", "*"),
    "*": ("**", "+", "//", "/", "-"),
    "/": ("//", "*", "-"),
    "//": ("/", "%", "*", "-"),
    "%": ("//", "/", "*", "-"),
    "**": ("*", "//", "+"),
    "&": ("|", "^"),
    "|": ("&", "^", "+"),
    "^": ("&", "|", "**"),
    "<<": (">>",),
    ">>": ("<<",),
}
_STEP = 0.8
"""Weight of each further choice of one operator, relative to the one before."""


def _gap_edit(site: Site, left: ast.expr, right: ast.expr, pair: tuple[str, str]) -> list[SpanEdit]:
    """Replace the operator text between two operands; empty if it cannot be told there."""
    start, end = site.module.span(left)[1], site.module.span(right)[0]
    old, new = pair
    pattern = re.escape(old).replace(r"\ ", r"\s+")
    if old[0].isalpha():
        pattern = rf"\b{pattern}\b"
    found = list(re.finditer(pattern, site.module.text[start:end]))
    if len(found) != 1:
        return []
    place = found[0]
    return [SpanEdit(start + place.start(), start + place.end(), new)]


def _changes(
    site: Site, operands: tuple[ast.expr, ast.expr], old: str, choices: tuple[str, ...]
) -> Iterator[Rewrite]:
    for rank, new in enumerate(choices):
        edits = _gap_edit(site, *operands, (old, new))
        if edits:
            yield Rewrite(tuple(edits), _STEP**rank)


def comparison_operators(site: Site) -> Iterator[Rewrite]:
    """``<`` to ``<=``, ``==`` to ``!=``, ``in`` to ``not in`` and so on."""
    node = site.node
    if not isinstance(node, ast.Compare):
        return
    operands = [node.left, *node.comparators]
    for op, left, right in zip(node.ops, operands, operands[1:], strict=False):
        old = COMPARISONS[type(op)]
        yield from _changes(site, (left, right), old, _COMPARISON_CHANGES[old])


def comparison_bounds(site: Site) -> Iterator[Rewrite]:
    """Another operator and a constant one off at once: ``n == 0`` to ``n <= 1``."""
    match site.node:
        case ast.Compare(
            left=left, ops=[op], comparators=[ast.Constant(value=int(value)) as right]
        ):
            if isinstance(value, bool):
                return
            old = COMPARISONS[type(op)]
            for new in _COMPARISON_CHANGES[old]:
                for rank, bound in enumerate((value + 1, value - 1)):
                    edits = _gap_edit(site, left, right, (old, new))
                    if edits and new[0] in "<>=!":
                        number = site.replace(right, str(bound)).edits
                        yield Rewrite((*edits, *number), _STEP**rank)


def identity_equality(site: Site) -> Iterator[Rewrite]:
    """``is`` to ``==`` and back."""
    match site.node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            old = COMPARISONS[type(op)]
            new = {"is": "==", "==": "is", "is not": "!=", "!=": "is not"}.get(old)
            is_singleton = isinstance(right, ast.Constant) and not isinstance(
                right.value, (int, str, bytes, float)
            )
            if new and (new[0] != "i" or is_singleton):
                yield from _changes(site, (left, right), old, (new,))


def arithmetic_operators(site: Site) -> Iterator[Rewrite]:
    """``+`` to ``-``, ``/`` to ``//``, ``*`` to ``**`` and so on."""
    node = site.node
    if isinstance(node, ast.BinOp):
        old = ARITHMETIC[type(node.op)]
        text_like = Kind.STRING in (site.kind(node.left), site.kind(node.right))
        if not (text_like and old in "+%"):
            changes = _ARITHMETIC_CHANGES.get(old, ())
            yield from _changes(site, (node.left, node.right), old, changes)


def augmented_operators(site: Site) -> Iterator[Rewrite]:
    """``-=`` to ``+=`` and so on."""
    node = site.node
    if isinstance(node, ast.AugAssign):
        old = ARITHMETIC[type(node.op)]
        for rank, new in enumerate(_ARITHMETIC_CHANGES.get(old, ())):
            edits = _gap_edit(site, node.target, node.value, (f"{old}=", f"{new}="))
            if edits:
                yield Rewrite(tuple(edits), _STEP**rank)


def boolean_operators(site: Site) -> Iterator[Rewrite]:
    """``and`` to ``or``, all of a chain at once and each by itself."""
    node = site.node
    if not isinstance(node, ast.BoolOp):
        return
    old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    single: list[SpanEdit] = []
    for left, right in zip(node.values, node.values[1:], strict=False):
        single += _gap_edit(site, left, right, (old, new))
    if single:
        yield Rewrite(tuple(single))
    if len(single) > 1:
        yield from (Rewrite((edit,), 0.5) for edit in single)


def unary_operators(site: Site) -> Iterator[Rewrite]:
    """Drop a minus, or put one before a number."""
    node = site.node
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        yield site.replace_this(site.operand(node.operand))
    elif isinstance(node, (ast.Name, ast.Call, ast.Subscript)) and _is_value(site):
        weight = {Kind.NUMBER: 0.3, Kind.UNKNOWN: 0.3}.get(site.kind(node))
        if weight:
            yield site.replace_this(f"-{site.operand(node)}", weight)


def _is_value(site: Site) -> bool:
    """Whether the node is a value that is read, and not a function being called."""
    node, parent = site.node, site.parent
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return False
    if isinstance(parent, ast.Call) and parent.func is node:
        return False
    return not isinstance(parent, (ast.Attribute, ast.Expr, ast.keyword, ast.withitem))


def swapped_operands(site: Site) -> Iterator[Rewrite]:
    """``a - b`` to ``b - a``, ``x in y`` to ``y in x``, ``a if c else b`` to ``b if c else a``."""
    node = site.node
    match node:
        case ast.BinOp(left=left, right=right):
            yield site.swap(left, right)
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[right]):
            yield site.swap(left, right)
        case ast.IfExp(body=body, orelse=orelse):
            yield site.swap(body, orelse)
        case ast.Tuple(elts=elements) | ast.List(elts=elements) if 2 <= len(elements) <= 4:
            for left, right in itertools.pairwise(elements):
                yield site.swap(left, right)


def dropped_operands(site: Site) -> Iterator[Rewrite]:
    """``a + b`` to ``a`` or ``b``; one of a chain; ``x if c else y`` to one of its branches."""
    match site.node:
        case ast.BinOp(left=left, right=right):
            yield site.replace_this(site.operand(left))
            yield site.replace_this(site.operand(right))
            if isinstance(left, ast.BinOp):
                yield site.replace(left, site.operand(left.left))
        case ast.IfExp(body=body, orelse=orelse):
            yield site.replace_this(site.operand(body), 0.5)
            yield site.replace_this(site.operand(orelse), 0.5)


def added_operands(site: Site) -> Iterator[Rewrite]:
    """Combine a value with a name in scope: ``k`` to ``k - n``, ``rest`` to ``done + rest``."""
    node = site.node
    if not isinstance(node, (ast.Name, ast.Call, ast.Subscript, ast.ListComp, ast.BinOp)):
        return
    if not _is_value(site):
        return
    kind, own = site.kind(node), site.source(node)
    for name in site.variables():
        if name.id != own and name.is_local and name.is_bound_before:
            yield from _combined(site, node, (kind, name.kind), name.id)
    if isinstance(node, ast.Name) and kind in (Kind.NUMBER, Kind.UNKNOWN):
        yield site.replace_this(f"{own} ** 2", 0.5)
        yield site.replace_this(f"{own} / 2", 0.3)
        yield site.replace_this(f"{own} // 2", 0.3)
        yield site.replace_this(f"{own} * 2", 0.3)


def _combined(site: Site, node: ast.expr, kinds: tuple[Kind, Kind], name: str) -> Iterator[Rewrite]:
    text = site.operand(node)
    weight = 1.0 if kinds[0] is kinds[1] else 0.4
    if not set(kinds) & SIZED:
        if isinstance(node, (ast.Name, ast.Call)):
            yield site.replace_this(f"{text} - {name}", weight)
            yield site.replace_this(f"{text} + {name}", weight * 0.7)
            yield site.replace_this(f"{text} * {name}", weight * 0.4)
            yield site.replace_this(f"{text} // {name}", weight * 0.3)
            yield site.replace_this(f"{text} % {name}", weight * 0.3)
    elif not set(kinds) & {Kind.NUMBER, Kind.BOOLEAN, Kind.MAPPING, Kind.SET}:
        yield site.replace_this(f"{name} + {text}", weight)
        yield site.replace_this(f"{text} + {name}", weight)


def off_by_one(site: Site) -> Iterator[Rewrite]:
    """``n`` to ``n + 1`` or ``n - 1``; ``n + 1`` to ``n``."""
    node = site.node
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=ast.Constant(value=1)):
            yield site.replace_this(site.operand(left))
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.FloorDiv()):
            yield from _one_off(site, site.source(node), 0.6)
        case ast.Name() | ast.Call() | ast.Subscript() | ast.Attribute() if _is_value(site):
            if site.kind(node) is Kind.NUMBER:
                yield from _one_off(site, site.source(node), 1.0)
            elif site.kind(node) in (Kind.UNKNOWN, Kind.OBJECT):
                yield from _one_off(site, site.source(node), 0.4)


def _one_off(site: Site, text: str, weight: float) -> Iterator[Rewrite]:
    yield site.replace_this(f"{text} + 1", weight)
    yield site.replace_this(f"{text} - 1", weight)


_VALUES = (ast.Name, ast.Call, ast.Subscript)
TEMPLATES = (
    Template(EditTemplate.COMPARISON_OPERATOR, (ast.Compare,), comparison_operators),
    Template(EditTemplate.COMPARISON_BOUND, (ast.Compare,), comparison_bounds),
    Template(EditTemplate.IDENTITY_EQUALITY, (ast.Compare,), identity_equality),
    Template(EditTemplate.ARITHMETIC_OPERATOR, (ast.BinOp,), arithmetic_operators),
    Template(EditTemplate.AUGMENTED_OPERATOR, (ast.AugAssign,), augmented_operators),
    Template(EditTemplate.BOOLEAN_OPERATOR, (ast.BoolOp,), boolean_operators),
    Template(EditTemplate.UNARY_OPERATOR, (ast.UnaryOp, *_VALUES), unary_operators),
    Template(
        EditTemplate.OPERAND_SWAP,
        (ast.BinOp, ast.Compare, ast.IfExp, ast.Tuple, ast.List),
        swapped_operands,
    ),
    Template(EditTemplate.OPERAND_DROP, (ast.BinOp, ast.IfExp), dropped_operands),
    Template(EditTemplate.OPERAND_ADD, (*_VALUES, ast.ListComp, ast.BinOp), added_operands),
    Template(EditTemplate.OFF_BY_ONE, (*_VALUES, ast.Attribute, ast.BinOp), off_by_one),
)
