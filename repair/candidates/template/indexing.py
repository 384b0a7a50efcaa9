"""Templates for items and slices, and for reads of what may be missing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from repair.candidates.template.kinds import Kind, likeness
from repair.candidates.template.model import EditTemplate, Rewrite, Site, Template


def indexes(site: Site) -> Iterator[Rewrite]:
    """One further, one before, last, first; an exchanged or shifted part of a tuple index."""
    node = site.node
    if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Slice):
        return
    if isinstance(node.slice, ast.Tuple):
        yield from _tuple_indexes(site, node.slice)
        return
    if isinstance(node.slice, ast.Constant) and not isinstance(node.slice.value, int):
        return
    owner, text = site.operand(node.value), site.source(node.slice)
    yield site.replace_this(f"{owner}[{text} + 1]")
    yield site.replace_this(f"{owner}[{text} - 1]")
    yield site.replace_this(f"{owner}[-1]", 0.5)
    yield site.replace_this(f"{owner}[0]", 0.5)
    yield site.replace_this(f"{owner}[-{_atom(text)}]", 0.3)
    if isinstance(getattr(node, "ctx", None), ast.Load):
        yield site.replace_this(owner, 0.4)


def _atom(text: str) -> str:
    return text if text.isidentifier() or text.isdigit() else f"({text})"


def _tuple_indexes(site: Site, index: ast.Tuple) -> Iterator[Rewrite]:
    for part in index.elts:
        text = site.source(part)
        for step in (" - 1", " + 1"):
            if isinstance(part, ast.Name):
                yield site.replace(part, f"{text}{step}")
    for left, right in zip(index.elts, index.elts[1:], strict=False):
        yield site.swap(left, right)


def slices(site: Site) -> Iterator[Rewrite]:
    """Change a slice's bounds and step, leave it out, or slice what is not sliced."""
    node = site.node
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        yield from _changed_slice(site, node, node.slice)
    elif isinstance(node, (ast.Name, ast.Call, ast.ListComp, ast.Attribute)) and _is_read(site):
        weight = likeness(Kind.SEQUENCE, site.kind(node))
        if weight >= 0.5:
            yield from _fresh_slices(site, node, weight)


def _is_read(site: Site) -> bool:
    if not isinstance(getattr(site.node, "ctx", ast.Load()), ast.Load):
        return False
    parent = site.parent
    is_callee = isinstance(parent, ast.Call) and parent.func is site.node
    return not is_callee and not isinstance(parent, (ast.Expr, ast.Attribute, ast.keyword))


def _fresh_slices(site: Site, node: ast.expr, weight: float) -> Iterator[Rewrite]:
    text = site.operand(node)
    for bounds in ("1:", ":-1", "::-1"):
        yield site.replace_this(f"{text}[{bounds}]", weight)
    for name in site.variables():
        is_near = name.is_local and name.is_bound_before and name.id != text
        if is_near and name.kind in (Kind.NUMBER, Kind.UNKNOWN):
            likely = weight * (0.8 if name.kind is Kind.NUMBER else 0.4)
            yield site.replace_this(f"{text}[{name.id}:]", likely)
            yield site.replace_this(f"{text}[:{name.id}]", likely)


def _changed_slice(site: Site, node: ast.Subscript, part: ast.Slice) -> Iterator[Rewrite]:
    owner = site.operand(node.value)
    lower = site.source(part.lower) if part.lower else ""
    upper = site.source(part.upper) if part.upper else ""
    step = f":{site.source(part.step)}" if part.step else ""
    yield site.replace_this(owner, 0.6)
    for new in _shifted(lower, ("1",)):
        yield site.replace_this(f"{owner}[{new}:{upper}{step}]")
    for new in _shifted(upper, ("-1",)):
        yield site.replace_this(f"{owner}[{lower}:{new}{step}]")
    if lower and not upper:
        yield site.replace_this(f"{owner}[:{lower}{step}]", 0.8)
    if upper and not lower:
        yield site.replace_this(f"{owner}[{upper}:{step}]", 0.8)
    if lower and upper:
        yield site.replace_this(f"{owner}[{upper}:{lower}{step}]", 0.3)
    for new in ("", ":2", ":-1"):
        if new != step:
            yield site.replace_this(f"{owner}[{lower}:{upper}{new}]", 0.4)


def _shifted(bound: str, usual: tuple[str, ...]) -> list[str]:
    """Return other bounds than the given one."""
    if not bound:
        return list(usual)
    if bound.lstrip("-").isdigit():
        number = int(bound)
        return ["", str(number + 1), str(number - 1), str(-number)]
    return [f"{bound} + 1", f"{bound} - 1", ""]


def dict_gets(site: Site) -> Iterator[Rewrite]:
    """``d[k]`` to ``d.get(k)`` with usual defaults, and back."""
    node = site.node
    match node:
        case ast.Subscript(value=value, slice=key, ctx=ast.Load()) if not isinstance(
            key, ast.Slice
        ):
            if likeness(Kind.MAPPING, site.kind(value)) >= 0.5:
                is_mapping = site.kind(value) is Kind.MAPPING
                for rank, default in enumerate(("", ", 0", ", []", ", ''", ", {}", ", None")):
                    text = f"{site.operand(value)}.get({site.source(key)}{default})"
                    yield site.replace_this(text, (1.0 if is_mapping else 0.5) * 0.8**rank)
        case ast.Call(func=ast.Attribute(value=value, attr="get"), args=[key]):
            yield site.replace_this(f"{site.operand(value)}[{site.source(key)}]")
            for default in ("0", "[]", "''", "{}", "False"):
                text = f"{site.source(node.func)}({site.source(key)}, {default})"
                yield site.replace_this(text, 0.6)


def getattr_defaults(site: Site) -> Iterator[Rewrite]:
    """``x.a`` to ``getattr(x, 'a', None)``."""
    match site.node:
        case ast.Attribute(value=value, attr=name, ctx=ast.Load()):
            is_callee = isinstance(site.parent, ast.Call) and site.parent.func is site.node
            if not is_callee and not isinstance(site.parent, ast.Attribute):
                yield site.replace_this(f"getattr({site.source(value)}, {name!r}, None)")


TEMPLATES = (
    Template(EditTemplate.INDEX, (ast.Subscript,), indexes),
    Template(
        EditTemplate.SLICE,
        (ast.Subscript, ast.Name, ast.Call, ast.ListComp, ast.Attribute),
        slices,
    ),
    Template(EditTemplate.DICT_GET, (ast.Subscript, ast.Call), dict_gets),
    Template(EditTemplate.GETATTR_DEFAULT, (ast.Attribute,), getattr_defaults),
)
