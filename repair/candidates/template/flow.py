"""Templates for returns, raises, loops and early exits."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from repair.candidates.template.kinds import SIZED, Kind
from repair.candidates.template.model import EditTemplate, Rewrite, Site, Template
from repair.candidates.template.source import FUNCTIONS
from repair.model import SpanEdit

_EMPTY = ("[]", "None", "0", "''", "False", "True", "{}", "()")


def _function(site: Site) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return the innermost function around the node."""
    node: ast.AST | None = site.node
    while node is not None and not isinstance(node, FUNCTIONS):
        node = site.module.parents.get(node)
    return node if isinstance(node, FUNCTIONS) else None


def early_returns(site: Site) -> Iterator[Rewrite]:
    """Leave a function at its start for empty or missing arguments, with an empty value."""
    node, function = site.node, _function(site)
    if not isinstance(node, ast.stmt) or function is None or site.block() is not function.body:
        return
    if node is not _first_statement(function):
        return
    for name in site.variables():
        if not name.is_local or not name.is_bound_before or name.id in ("self", "cls"):
            continue
        for condition, weight in _conditions(name.id, name.kind):
            for rank, value in enumerate((*_EMPTY, name.id, f"[{name.id}]", "1")):
                text = f"if {condition}:\n    return {value}"
                yield from site.insert_before(text, weight * 0.9**rank)


def _conditions(name: str, kind: Kind) -> Iterator[tuple[str, float]]:
    yield f"not {name}", 1.0 if kind in SIZED else 0.7
    if kind not in SIZED:
        yield f"{name} is None", 0.6
    if kind in (Kind.NUMBER, Kind.UNKNOWN):
        for condition in (f"{name} < 0", f"{name} <= 0", f"{name} == 1", f"{name} < 2"):
            yield condition, 0.5 if kind is Kind.NUMBER else 0.2
    if kind is not Kind.NUMBER:
        yield f"len({name}) == 1", 0.4


def _first_statement(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
    first = function.body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return function.body[1] if is_docstring and len(function.body) > 1 else first


def added_returns(site: Site) -> Iterator[Rewrite]:
    """Return what is computed and thrown away; return a name at the end; leave an ``if`` early."""
    node, function = site.node, _function(site)
    if not isinstance(node, ast.stmt) or function is None:
        return
    if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
        yield site.replace_this(f"return {site.source(node.value)}")
    is_last = function.body[-1] is node and not isinstance(node, (ast.Return, ast.Raise))
    block = site.block() or []
    if is_last or (block and block[-1] is node and isinstance(site.parent, (ast.If, ast.For))):
        if isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
            return
        weight = 1.0 if is_last else 0.3
        for name in site.variables():
            if name.is_local:
                yield from site.insert_after(f"return {name.id}", weight)
        for value in ("None", "True", "False", "[]", "0"):
            yield from site.insert_after(f"return {value}", weight * 0.4)


def returned_values(site: Site) -> Iterator[Rewrite]:
    """``yield f(x)`` to ``yield from f(x)`` and back, ``return x`` to ``yield x``; drop a sort."""
    node = site.node
    match node:
        case ast.Expr(value=ast.Yield(value=ast.expr() as value)):
            yield site.replace_this(f"yield from {site.source(value)}")
            yield site.replace_this(f"return {site.source(value)}", 0.5)
        case ast.Expr(value=ast.YieldFrom(value=value)):
            yield site.replace_this(f"yield {site.source(value)}")
        case ast.Return(value=ast.Call(func=ast.Attribute(value=owner, attr="sort" | "reverse"))):
            yield site.replace_this(f"return {site.source(owner)}")
            yield site.replace_this(f"return sorted({site.source(owner)})", 0.7)
        case ast.Return(value=ast.expr() as value):
            for wrapped in (f"[{site.source(value)}]", f"not ({site.source(value)})"):
                yield site.replace(value, wrapped, 0.5)
            yield from _with_sibling(site, value)
        case ast.Return(value=None):
            for name in site.variables():
                if name.is_local and name.is_bound_before:
                    yield site.replace_this(f"return {name.id}", 0.7)


def _with_sibling(site: Site, value: ast.expr) -> Iterator[Rewrite]:
    """Return another local variable in place of what is returned."""
    if isinstance(value, ast.Name):
        return  # the variable template's
    for name in site.variables():
        if name.is_local and name.is_bound_before:
            yield site.replace(value, name.id, 0.4)


def loop_controls(site: Site) -> Iterator[Rewrite]:
    """``break`` to ``continue`` or ``return``, and back; leave a loop after a statement."""
    node = site.node
    if isinstance(node, ast.Break):
        yield site.replace_this("continue")
    elif isinstance(node, ast.Continue):
        yield site.replace_this("break")
        yield site.replace_this("pass", 0.5)
    elif isinstance(node, ast.stmt) and _is_last_in_loop(site):
        yield from site.insert_after("break", 0.8)
        yield from site.insert_after("continue", 0.4)
    elif isinstance(node, ast.While):
        edit = SpanEdit(site.module.span(node)[0], site.module.span(node)[0] + len("while"), "if")
        yield Rewrite((edit,), 0.4)
    elif isinstance(node, ast.If) and not node.orelse and not site.source(node).startswith("elif"):
        edit = SpanEdit(site.module.span(node)[0], site.module.span(node)[0] + len("if"), "while")
        yield Rewrite((edit,), 0.5)


def _is_last_in_loop(site: Site) -> bool:
    """Whether the node ends a block under a condition in a loop."""
    node, block = site.node, site.block()
    if (
        not block
        or node is not block[-1]
        or isinstance(node, (ast.Return, ast.Raise, ast.If, ast.While))
    ):
        return False
    parent = site.parent
    while parent is not None and not isinstance(parent, (*FUNCTIONS, ast.For, ast.While)):
        parent = site.module.parents.get(parent)
    return isinstance(parent, (ast.For, ast.While)) and isinstance(site.parent, ast.If)


def else_to_elif(site: Site) -> Iterator[Rewrite]:
    """``elif`` to ``if`` and back."""
    node = site.node
    if not isinstance(node, ast.If) or site.indentation() is None:
        return
    start = site.module.span(node)[0]
    text = site.source(node)
    if text.startswith("elif"):
        yield Rewrite((SpanEdit(start, start + 2, ""),), 0.7)
        return
    block = site.block() or []
    index = block.index(node) if node in block else 0
    if index and isinstance(block[index - 1], ast.If):
        yield Rewrite((SpanEdit(start, start, "el"),), 0.7)


_RAISED = ("ValueError", "TypeError", "KeyError", "IndexError")


def added_raises(site: Site) -> Iterator[Rewrite]:
    """``raise`` an exception that is only made; raise for empty arguments; raise for an else."""
    node, function = site.node, _function(site)
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id=name))) if name.endswith(
            ("Error", "Exception")
        ):
            yield site.replace_this(f"raise {site.source(node)}")
        case ast.Return(value=ast.Call(func=ast.Name(id=name)) as value) if name.endswith("Error"):
            yield site.replace_this(f"raise {site.source(value)}")
        case ast.Pass():
            yield site.replace_this("raise", 0.7)
    is_first = function is not None and node is _first_statement(function)
    if is_first and isinstance(node, ast.stmt):
        for name_ in site.variables():
            if name_.is_local and name_.is_bound_before and name_.id not in ("self", "cls"):
                for error in _RAISED[:2]:
                    yield from site.insert_before(f"if not {name_.id}:\n    raise {error}", 0.2)


def super_calls(site: Site) -> Iterator[Rewrite]:
    """Call the base class's method of the same name, with the same arguments."""
    node, function = site.node, _function(site)
    if function is None or not isinstance(node, ast.stmt) or node is not _first_statement(function):
        return
    owner = site.module.parents.get(function)
    if not isinstance(owner, ast.ClassDef) or not owner.bases:
        return
    names = [item.arg for item in function.args.args][1:]
    rest = [f"*{function.args.vararg.arg}"] if function.args.vararg else []
    rest += [f"**{function.args.kwarg.arg}"] if function.args.kwarg else []
    for arguments in (", ".join([*names, *rest]), ""):
        yield from site.insert_before(f"super().{function.name}({arguments})")
    yield from site.insert_before(f"return super().{function.name}({', '.join(names)})", 0.2)


_STATEMENTS = (
    ast.Assign,
    ast.AugAssign,
    ast.Expr,
    ast.Return,
    ast.If,
    ast.For,
    ast.While,
    ast.With,
    ast.Try,
)
TEMPLATES = (
    Template(EditTemplate.EARLY_RETURN, _STATEMENTS, early_returns),
    Template(EditTemplate.RETURN_ADD, _STATEMENTS, added_returns),
    Template(EditTemplate.RETURN_VALUE, (ast.Expr, ast.Return), returned_values),
    Template(EditTemplate.LOOP_CONTROL, (*_STATEMENTS, ast.Break, ast.Continue), loop_controls),
    Template(EditTemplate.LOOP_CONTROL, (ast.If,), else_to_elif),
    Template(EditTemplate.RAISE_ADD, (*_STATEMENTS, ast.Pass), added_raises),
    Template(EditTemplate.SUPER_CALL, _STATEMENTS, super_calls),
)
