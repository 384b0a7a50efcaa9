"""Templates that change numbers, truth values, strings and the items of displays."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from repair.candidates.template.kinds import Kind
from repair.candidates.template.model import EditTemplate, Rewrite, Site, Template

_USUAL_NUMBERS = (0, 1, 2, -1)
_MAX_NEIGHBOURS = 12


def numbers(site: Site) -> Iterator[Rewrite]:
    """One more, one less, 0, 1, 2, -1, the negative, a name, or a number from near by."""
    node = site.node
    if not isinstance(node, ast.Constant) or isinstance(node.value, bool):
        return
    value = node.value
    if not isinstance(value, (int, float)):
        return
    near = (value + 1, value - 1) if isinstance(value, int) else (value * 10, value / 10)
    seen = {value}
    for number in (*near, *_USUAL_NUMBERS, -value, value * 2, *_neighbours(site)):
        if number not in seen:
            seen.add(number)
            yield site.replace_this(repr(number), 1.0 if number in near else 0.6)
    if value and isinstance(value, float):
        yield site.replace_this(repr(1 / value), 0.5)
    for name in site.variables():
        if name.is_local and name.is_bound_before and name.kind in (Kind.NUMBER, Kind.UNKNOWN):
            yield site.replace_this(name.id, 0.5 if name.kind is Kind.NUMBER else 0.25)


def _neighbours(site: Site) -> list[int | float]:
    """Return other numbers of the unit, most frequent first, and one more and less than each."""
    found: dict[int | float, int] = {}
    for node in ast.walk(site.unit.node):
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            found[value] = found.get(value, 0) + 1
    usual = sorted(found, key=lambda number: (-found[number], abs(number), number))
    beside = [number + step for number in usual if type(number) is int for step in (2, -2, 1, -1)]
    return [*usual, *beside][:_MAX_NEIGHBOURS]


def booleans(site: Site) -> Iterator[Rewrite]:
    """``True`` to ``False``; ``None`` to an empty value; returned truth to a name's or a test's."""
    node = site.node
    if not isinstance(node, ast.Constant) or not isinstance(node.value, bool):
        return
    yield site.replace_this(str(not node.value))
    if isinstance(site.parent, (ast.Return, ast.While, ast.Assign)):
        for name in site.variables():
            if not (name.is_local and name.is_bound_before):
                continue
            weight = 0.3 if isinstance(site.parent, ast.Assign) else 0.6
            yield site.replace_this(name.id, weight)
            yield site.replace_this(f"not {name.id}", weight * 0.7)
            if name.kind in (Kind.NUMBER, Kind.UNKNOWN):
                yield site.replace_this(f"{name.id} == 0", weight)
                yield site.replace_this(f"{name.id} > 0", weight * 0.5)


def flipped_results(site: Site) -> Iterator[Rewrite]:
    """Exchange all ``return True`` and ``return False`` of a function."""
    node = site.node
    if not isinstance(node, ast.Return) or not _is_truth(node.value):
        return
    results = [
        other.value
        for other in ast.walk(site.unit.node)
        if isinstance(other, ast.Return) and _is_truth(other.value) and other.value is not None
    ]
    if len(results) > 1 and results[0] is node.value:
        edits = [
            site.replace(item, str(not getattr(item, "value", None))).edits[0] for item in results
        ]
        yield Rewrite(tuple(edits))
        if len(edits) > 2:
            yield Rewrite(tuple(edits[-2:]), 0.7)


def _is_truth(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


_EMPTY = ("None", "[]", "{}", "''", "0", "()", "set()", "False")


def empty_literals(site: Site) -> Iterator[Rewrite]:
    """An empty list, string, tuple, dict or ``None``: other empty values, nested, or a name's."""
    node = site.node
    is_none = isinstance(node, ast.Constant) and (node.value is None or node.value == "")
    is_display = isinstance(node, (ast.List, ast.Tuple, ast.Set)) and not node.elts
    is_dict = isinstance(node, ast.Dict) and not node.keys
    if not (is_none or is_display or is_dict) or not isinstance(
        getattr(node, "ctx", ast.Load()), ast.Load
    ):
        return
    own = site.source(node)
    if isinstance(node, ast.List):
        yield site.replace_this("[[]]")
    for name in site.variables():
        if name.is_local and name.is_bound_before:
            yield site.replace_this(name.id, 0.6)
            if is_display and isinstance(node, ast.List):
                yield site.replace_this(f"[{name.id}]")
    for text in _EMPTY:
        if text != own:
            yield site.replace_this(text, 0.4)


def collection_items(site: Site) -> Iterator[Rewrite]:
    """Leave an item out of a list, tuple or set, or put one of the names in scope in."""
    node = site.node
    if not isinstance(node, (ast.List, ast.Tuple, ast.Set)) or not node.elts:
        return
    if isinstance(node, ast.Tuple) and not isinstance(
        site.parent, (ast.Return, ast.Call, ast.Compare)
    ):
        return
    if len(node.elts) > 1:
        for index in range(len(node.elts)):
            rest = [site.source(item) for i, item in enumerate(node.elts) if i != index]
            yield site.replace_this(_display(node, rest), 0.7)


def _display(node: ast.List | ast.Tuple | ast.Set, items: list[str]) -> str:
    inner = ", ".join(items)
    if isinstance(node, ast.Tuple):
        return f"({inner},)" if len(items) == 1 else f"({inner})"
    return f"[{inner}]" if isinstance(node, ast.List) else f"{{{inner}}}"


TEMPLATES = (
    Template(EditTemplate.NUMBER, (ast.Constant,), numbers),
    Template(EditTemplate.BOOLEAN_CONSTANT, (ast.Constant,), booleans),
    Template(EditTemplate.BOOLEAN_CONSTANT, (ast.Return,), flipped_results),
    Template(
        EditTemplate.EMPTY_LITERAL,
        (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict),
        empty_literals,
    ),
    Template(EditTemplate.COLLECTION_ITEM, (ast.List, ast.Tuple, ast.Set), collection_items),
)
