"""Templates that put another name, attribute or expression from near by in a place."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

from repair.candidates.template.kinds import Kind, kind_of, likeness
from repair.candidates.template.model import EditTemplate, Rewrite, Site, Template
from repair.model import SpanEdit

_MAX_ATTRIBUTES = 24
_MAX_INGREDIENTS = 24
_UNBOUND = 0.3
_GLOBAL = 0.5
# Weights of names not bound yet and of names of the module, relative to bound local ones.


def variables(site: Site) -> Iterator[Rewrite]:
    """Another variable in scope, those of the same kind and bound before first."""
    node = site.node
    if not isinstance(node, ast.Name) or isinstance(node.ctx, ast.Del):
        return
    if isinstance(site.parent, ast.Call) and site.parent.func is node:
        return  # the callee template's
    kind = site.kind(node)
    is_target = isinstance(node.ctx, ast.Store)
    for name in site.variables():
        if name.id == node.id or (is_target and not name.is_local):
            continue
        weight = likeness(kind, name.kind)
        weight *= 1.0 if name.is_bound_before else _UNBOUND
        weight *= 1.0 if name.is_local else _GLOBAL
        yield site.replace_this(name.id, weight)


def attributes(site: Site) -> Iterator[Rewrite]:
    """Another attribute that this file, or another one that ran, knows; the most alike first."""
    node = site.node
    if not isinstance(node, ast.Attribute):
        return
    is_called = isinstance(site.parent, ast.Call) and site.parent.func is node
    own_file = _attribute_names(site, is_called)
    known = {**dict.fromkeys(site.ingredients.attributes, 0.5), **dict.fromkeys(own_file, 1.0)}
    known.pop(node.attr, None)
    ranked = sorted(known, key=lambda name: (-known[name] * _alike(name, node.attr), name))
    end = site.module.span(node)[1]
    for name in ranked[:_MAX_ATTRIBUTES]:
        edit = SpanEdit(end - len(node.attr), end, name)
        yield Rewrite((edit,), known[name] * _alike(name, node.attr))


def _attribute_names(site: Site, is_called: bool) -> list[str]:
    """Return attributes that this file reads, or calls if `is_called`, and its methods' names."""
    found: dict[str, None] = {}
    for node in ast.walk(site.module.tree):
        if isinstance(node, ast.Attribute):
            parent = site.module.parents.get(node)
            if (isinstance(parent, ast.Call) and parent.func is node) == is_called:
                found.setdefault(node.attr)
    return list(found)


def _alike(one: str, other: str) -> float:
    """Return how alike two names are, 0.1 to 1."""
    return max(0.1, difflib.SequenceMatcher(None, one, other, autojunk=False).ratio())


def ingredients(site: Site) -> Iterator[Rewrite]:
    """Another expression of the same function in the place of an expression."""
    node = site.node
    if not isinstance(node, (ast.Call, ast.Subscript, ast.Attribute, ast.BinOp, ast.Name)):
        return
    is_store = isinstance(getattr(node, "ctx", None), ast.Store)
    if isinstance(site.parent, (ast.Expr, ast.Attribute)) or _is_callee(site):
        return
    own = site.source(node)
    for text, weight in _near_expressions(site, is_store):
        if text != own and own not in text:
            yield site.replace_this(text, weight)
    if isinstance(node, (ast.Call, ast.Subscript)) and not is_store:
        yield from _plain_names(site, node)


def _is_callee(site: Site) -> bool:
    return isinstance(site.parent, ast.Call) and site.parent.func is site.node


def _plain_names(site: Site, node: ast.expr) -> Iterator[Rewrite]:
    """Put a name in the place of a call or an item."""
    inside = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    for name in site.variables():
        if name.is_local and name.is_bound_before:
            yield site.replace_this(name.id, 0.8 if name.id in inside else 0.6)


def _near_expressions(site: Site, is_store: bool) -> Iterator[tuple[str, float]]:
    """Yield the unit's items, attributes and calls; nearest statements first."""
    line = getattr(site.node, "lineno", 0)
    kind = kind_of(site.node, site.scopes.kinds_at(site.node))
    types = (ast.Subscript, ast.Attribute) if is_store else (ast.Subscript, ast.Attribute, ast.Call)
    found: dict[str, tuple[int, float]] = {}
    for node in ast.walk(site.unit.node):
        if not isinstance(node, types) or _is_called(site, node) or node is site.node:
            continue
        text = site.source(node)
        if "\n" not in text and text not in found:
            same = isinstance(node, type(site.node))
            weight = likeness(kind, site.kind(node)) * (1.0 if same else 0.5)
            found[text] = (abs(node.lineno - line), weight)
    nearest = sorted(found, key=lambda text: found[text][0])[:_MAX_INGREDIENTS]
    for text in nearest:
        yield text, found[text][1]


def _is_called(site: Site, node: ast.AST) -> bool:
    parent = site.module.parents.get(node)
    return isinstance(parent, ast.Call) and parent.func is node


def self_attributes(site: Site) -> Iterator[Rewrite]:
    """``x`` to ``self.x`` and back, where the class knows such an attribute."""
    node = site.node
    names = {name.id: name for name in site.names()}
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        if node.value.id in ("self", "cls") and node.attr in names:
            yield site.replace_this(node.attr)
    elif isinstance(node, ast.Name) and "self" in names and isinstance(node.ctx, ast.Load):
        is_own = node.id not in names or names[node.id].kind is not Kind.MODULE
        known = {
            other.attr
            for other in ast.walk(site.module.tree)
            if isinstance(other, ast.Attribute)
            and isinstance(other.value, ast.Name)
            and other.value.id == "self"
        }
        if node.id in known and is_own:
            yield site.replace_this(f"self.{node.id}")


TEMPLATES = (
    Template(EditTemplate.VARIABLE, (ast.Name,), variables),
    Template(EditTemplate.ATTRIBUTE, (ast.Attribute,), attributes),
    Template(EditTemplate.ATTRIBUTE, (ast.Attribute, ast.Name), self_attributes),
    Template(
        EditTemplate.INGREDIENT,
        (ast.Call, ast.Subscript, ast.Attribute, ast.BinOp, ast.Name),
        ingredients,
    ),
)
