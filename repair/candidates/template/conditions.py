"""Templates for conditions: negated, extended, reduced, replaced, guarded against ``None``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from repair.candidates.template.calls import functions_of_one
from repair.candidates.template.kinds import SIZED, Kind
from repair.candidates.template.model import EditTemplate, Rewrite, Site, Template
from repair.model import SpanEdit

_TESTED = (ast.If, ast.While, ast.IfExp)
_MAX_CLAUSES = 24


def _test(site: Site) -> ast.expr | None:
    """Return the condition a node decides by."""
    node = site.node
    if isinstance(node, _TESTED):
        return node.test
    if isinstance(node, ast.comprehension) and node.ifs:
        return node.ifs[0]
    if isinstance(node, ast.Return) and isinstance(node.value, (ast.Compare, ast.BoolOp)):
        return node.value
    return None


def negated(site: Site) -> Iterator[Rewrite]:
    """``if c`` to ``if not c`` and back."""
    test = _test(site)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield site.replace(test, site.source(test.operand))
    elif test is not None:
        is_plain = isinstance(test, ast.Compare) and len(test.ops) == 1
        yield site.replace(test, f"not {_held(site, test, 6)}", 0.3 if is_plain else 1.0)


def _held(site: Site, node: ast.expr, level: int) -> str:
    """Return a condition's text so that ``not`` (6), ``and`` (5) or ``or`` (4) can stand by it."""
    loose = {ast.BoolOp: 4, ast.IfExp: 3, ast.Lambda: 2, ast.NamedExpr: 1}
    own = loose.get(type(node), 7)
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        own = 5
    return f"({site.source(node)})" if own < level else site.source(node)


def extended(site: Site) -> Iterator[Rewrite]:
    """Add a clause with ``and`` or ``or``: names' truth, emptiness, other conditions near by."""
    test = _test(site)
    if test is None:
        return
    own = site.source(test)
    for clause, weight in _clauses(site):
        if clause == own:
            continue
        yield site.replace(test, f"{_held(site, test, 4)} or {clause}", weight)
        yield site.replace(test, f"{_held(site, test, 5)} and {clause}", weight)


def filtered(site: Site) -> Iterator[Rewrite]:
    """Give a comprehension a condition where it has none."""
    node = site.node
    if isinstance(node, ast.comprehension) and not node.ifs:
        for clause, weight in _clauses(site):
            yield site.replace(node.iter, f"{site.source(node.iter)} if {clause}", weight * 0.5)


def _clauses(site: Site) -> Iterator[tuple[str, float]]:
    """Yield conditions that could be missing, with weights."""
    for name in site.variables():
        if not name.is_local or not name.is_bound_before:
            continue
        if name.kind is not Kind.NUMBER:
            yield f"not {name.id}", 1.0 if name.kind in SIZED else 0.5
            yield name.id, 0.6 if name.kind in SIZED else 0.4
            yield f"{name.id} is None", 0.4
            yield f"{name.id} is not None", 0.4
        else:
            yield f"{name.id} == 0", 0.4
            yield f"{name.id} > 0", 0.4
            yield f"{name.id} % 2 == 0", 0.15
            yield f"{name.id} % 2 != 0", 0.15
    yield from ((text, 0.7) for text in _near_conditions(site))
    yield from _predicate_calls(site)


def _near_conditions(site: Site) -> list[str]:
    """Return the unit's other single conditions, in order."""
    found: dict[str, None] = {}
    for node in ast.walk(site.unit.node):
        if isinstance(node, ast.Compare) or isinstance(getattr(node, "op", None), ast.Not):
            found.setdefault(site.source(node))
    return [text for text in found if "\n" not in text][:_MAX_CLAUSES]


def _predicate_calls(site: Site) -> Iterator[tuple[str, float]]:
    """Yield calls of functions of one parameter with names in scope, as conditions."""
    variables = [name for name in site.variables() if name.is_local and name.is_bound_before]
    for function in functions_of_one(site):
        yield from ((f"{function}({name.id})", 0.3) for name in variables)


def reduced(site: Site) -> Iterator[Rewrite]:
    """Drop a clause of ``and`` or ``or``, or a comprehension's condition."""
    node = site.node
    if isinstance(node, ast.BoolOp):
        joint = " and " if isinstance(node.op, ast.And) else " or "
        for index in range(len(node.values)):
            rest = [_held(site, value, 5) for i, value in enumerate(node.values) if i != index]
            yield site.replace_this(joint.join(rest))
    elif isinstance(node, ast.comprehension) and node.ifs:
        start, end = site.module.span(node.iter)[1], site.module.span(node.ifs[-1])[1]
        yield Rewrite((SpanEdit(start, end, ""),), 0.5)


def replaced(site: Site) -> Iterator[Rewrite]:
    """Put another condition of the function, a name or a constant in a condition's place."""
    test = _test(site)
    if test is None:
        return
    own = site.source(test)
    for name in site.variables():
        if name.is_local and name.is_bound_before and name.id != own:
            sized = name.kind in SIZED
            yield site.replace(test, name.id, 0.8 if sized else 0.4)
            yield site.replace(test, f"not {name.id}", 0.8 if sized else 0.4)
    for text in _near_conditions(site):
        if text != own:
            yield site.replace(test, text, 0.5)
    if isinstance(site.node, (ast.If, ast.IfExp)):
        yield site.replace(test, "True", 0.3)
        yield site.replace(test, "False", 0.3)


def none_guarded(site: Site) -> Iterator[Rewrite]:
    """Check what a condition dereferences: ``x.a is None`` to ``x is None or x.a is None``."""
    test = _test(site)
    if test is None:
        return
    clause = _held(site, test, 5)
    for owner in _dereferenced(site, test):
        yield site.replace(test, f"{owner} is None or {_held(site, test, 4)}")
        yield site.replace(test, f"{owner} is not None and {clause}")
        yield site.replace(test, f"{owner} and {clause}", 0.7)
        yield site.replace(test, f"not {owner} or {_held(site, test, 4)}", 0.7)


def _dereferenced(site: Site, test: ast.expr) -> list[str]:
    """Return texts of what attributes and items are taken of, outermost first."""
    owners: dict[str, None] = {}
    for node in ast.walk(test):
        owner = node.value if isinstance(node, (ast.Attribute, ast.Subscript)) else None
        if isinstance(owner, (ast.Name, ast.Attribute, ast.Subscript)):
            owners.setdefault(site.source(owner))
    visible = {name.id for name in site.names() if name.kind is Kind.MODULE}
    return [text for text in owners if text not in visible]


def swapped_branches(site: Site) -> Iterator[Rewrite]:
    """Exchange the bodies of ``if`` and ``else``."""
    node = site.node
    if not isinstance(node, ast.If) or not node.orelse or _is_chain(site, node):
        return
    edits = []
    blocks = (node.body, node.orelse)
    for own, other in (blocks, blocks[::-1]):
        start, end = site.module.span(own[0])[0], site.module.span(own[-1])[1]
        text = site.module.text[site.module.span(other[0])[0] : site.module.span(other[-1])[1]]
        edits.append(SpanEdit(start, end, text))
    yield Rewrite(tuple(edits))


def _is_chain(site: Site, node: ast.If) -> bool:
    """Whether the ``else`` is an ``elif``."""
    first = node.orelse[0]
    return isinstance(first, ast.If) and first.col_offset == node.col_offset


_CONDITIONALS = (*_TESTED, ast.comprehension, ast.Return)
TEMPLATES = (
    Template(EditTemplate.CONDITION_NEGATE, _CONDITIONALS, negated),
    Template(EditTemplate.CONDITION_EXTEND, _CONDITIONALS, extended),
    Template(EditTemplate.CONDITION_EXTEND, (ast.comprehension,), filtered),
    Template(EditTemplate.CONDITION_REDUCE, (ast.BoolOp, ast.comprehension), reduced),
    Template(EditTemplate.CONDITION_REPLACE, _CONDITIONALS, replaced),
    Template(EditTemplate.NONE_GUARD, _CONDITIONALS, none_guarded),
    Template(EditTemplate.BRANCH_SWAP, (ast.If,), swapped_branches),
)
