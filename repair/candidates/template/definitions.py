"""Templates for exceptions, default values, coroutines, type checks and imports."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator

from repair.candidates.template.model import EditTemplate, Rewrite, Site, Template
from repair.candidates.template.source import FUNCTIONS
from repair.model import SpanEdit

_RELATED_ERRORS = (
    ("KeyError", "IndexError", "LookupError"),
    ("ValueError", "TypeError", "AttributeError"),
    ("OSError", "IOError", "FileNotFoundError", "PermissionError"),
    ("UnicodeError", "UnicodeDecodeError", "UnicodeEncodeError", "ValueError"),
    ("ImportError", "ModuleNotFoundError", "AttributeError"),
    ("ZeroDivisionError", "ArithmeticError", "ValueError", "OverflowError"),
)


def exception_types(site: Site) -> Iterator[Rewrite]:
    """Catch or raise a related exception, or catch more."""
    node = site.node
    if isinstance(node, ast.ExceptHandler) and node.type is not None:
        own = site.source(node.type)
        for other in _related(own):
            yield site.replace(node.type, f"({own.strip('()')}, {other})")
            yield site.replace(node.type, other, 0.7)
        if own != "Exception":
            yield site.replace(node.type, "Exception", 0.8)
    elif isinstance(node, ast.Raise) and node.exc is not None:
        target = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        for other in _related(site.source(target)):
            yield site.replace(target, other)


def _related(name: str) -> list[str]:
    groups = [group for group in _RELATED_ERRORS if name in group]
    found = dict.fromkeys(other for group in groups for other in group if other != name)
    return list(found) or [
        other
        for other in ("ValueError", "TypeError", "KeyError", "AttributeError")
        if other != name
    ]


def added_tries(site: Site) -> Iterator[Rewrite]:
    """Go on with ``None``, or with the next round of a loop, when a statement raises."""
    node, indent = site.node, site.indentation()
    if not isinstance(node, (ast.Assign, ast.Expr, ast.Return)) or indent is None:
        return
    text = site.source(node)
    if "\n" in text or not any(
        isinstance(part, (ast.Call, ast.Subscript)) for part in ast.walk(node)
    ):
        return
    start, end = site.module.span(node)
    for error in ("KeyError", "ValueError", "(AttributeError, TypeError)", "IndexError"):
        for fallback, weight in _fallbacks(site, node):
            lines = (f"try:\n    {text}\nexcept {error}:\n    {fallback}").split("\n")
            fresh = (site.module.newline + indent).join(lines)
            yield Rewrite((SpanEdit(start, end, fresh),), weight)


def _fallbacks(site: Site, node: ast.stmt) -> Iterator[tuple[str, float]]:
    if isinstance(node, ast.Assign):
        yield f"{site.source(node.targets[0])} = None", 0.5
    elif isinstance(node, ast.Return):
        for value in ("None", "False", "[]"):
            yield f"return {value}", 0.4
    else:
        yield "pass", 0.5


def mutable_defaults(site: Site) -> Iterator[Rewrite]:
    """``def f(x=[])`` to ``x=None`` with a fresh list made inside."""
    node = site.node
    if not isinstance(node, FUNCTIONS):
        return
    positional = [*node.args.posonlyargs, *node.args.args]
    for argument, default in zip(reversed(positional), reversed(node.args.defaults), strict=False):
        if isinstance(default, (ast.List, ast.Dict, ast.Set)) or _is_fresh_call(default):
            yield from _made_inside(site, node, argument.arg, default)


def _is_fresh_call(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _called_name(node) in ("list", "dict", "set")


def _called_name(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _made_inside(
    site: Site, node: ast.FunctionDef | ast.AsyncFunctionDef, name: str, default: ast.expr
) -> Iterator[Rewrite]:
    first = node.body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    if is_docstring and len(node.body) > 1:
        first = node.body[1]
    body = Site(site.module, site.scopes, site.unit, first)
    text = f"if {name} is None:\n    {name} = {site.source(default)}"
    for insertion in body.insert_before(text):
        yield Rewrite((*site.replace(default, "None").edits, *insertion.edits))


def awaits(site: Site) -> Iterator[Rewrite]:
    """Await a call in a coroutine, or no longer."""
    node = site.node
    function = site.module.parents.get(node)
    while function is not None and not isinstance(function, FUNCTIONS):
        function = site.module.parents.get(function)
    if not isinstance(function, ast.AsyncFunctionDef):
        return
    if isinstance(node, ast.Await):
        yield site.replace_this(site.source(node.value), 0.5)
    elif isinstance(node, ast.Call) and not isinstance(site.parent, ast.Await):
        yield site.replace_this(f"await {site.source(node)}")


_WIDER = {
    "int": ("float",),
    "float": ("int",),
    "str": ("bytes",),
    "bytes": ("str", "bytearray"),
    "list": ("tuple", "set"),
    "tuple": ("list",),
    "dict": ("list",),
    "set": ("frozenset", "list"),
}


def widened_checks(site: Site) -> Iterator[Rewrite]:
    """``isinstance(x, list)`` to ``isinstance(x, (list, tuple))``; ``type(x) == T`` likewise."""
    match site.node:
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Name(id=name) as kind]):
            for other in _WIDER.get(name, ()):
                yield site.replace(kind, f"({name}, {other})")
                yield site.replace(kind, other, 0.4)
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="type"), args=[value]),
            ops=[ast.Eq() | ast.Is()],
            comparators=[kind],
        ):
            yield site.replace_this(f"isinstance({site.source(value)}, {site.source(kind)})")


def imports(site: Site) -> Iterator[Rewrite]:
    """Import a name that the function uses and nothing binds."""
    node = site.node
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return
    known = {name.id for name in site.names()}
    if node.id in known or hasattr(builtins, node.id):
        return
    start = _import_place(site)
    newline = site.module.newline
    for line in _import_lines(site, node.id):
        yield Rewrite((SpanEdit(start, start, line + newline),))


def _import_lines(site: Site, name: str) -> list[str]:
    lines = [f"import {name}"] if name in sys.stdlib_module_names else []
    lines += [
        f"from {module} import {item}" for module, item in site.ingredients.members if item == name
    ]
    if name in site.ingredients.modules:
        lines.append(f"import {name}")
    usual = {"defaultdict": "collections", "Counter": "collections", "deque": "collections"}
    usual |= {"Path": "pathlib", "partial": "functools", "reduce": "functools", "Any": "typing"}
    if name in usual:
        lines.append(f"from {usual[name]} import {name}")
    return list(dict.fromkeys(lines))


def _import_place(site: Site) -> int:
    """Return the offset of the line behind the docstring and ``__future__`` imports."""
    body = site.module.tree.body
    line = 1
    for node in body:
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not (is_docstring or is_future):
            break
        line = (node.end_lineno or node.lineno) + 1
    return site.module.line_start(line)


TEMPLATES = (
    Template(EditTemplate.EXCEPTION_TYPE, (ast.ExceptHandler, ast.Raise), exception_types),
    Template(EditTemplate.TRY_ADD, (ast.Assign, ast.Expr, ast.Return), added_tries),
    Template(EditTemplate.MUTABLE_DEFAULT, FUNCTIONS, mutable_defaults),
    Template(EditTemplate.AWAIT_ADD, (ast.Call, ast.Await), awaits),
    Template(EditTemplate.ISINSTANCE_WIDEN, (ast.Call, ast.Compare), widened_checks),
    Template(EditTemplate.IMPORT_ADD, (ast.Name,), imports),
)
