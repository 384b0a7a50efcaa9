"""Which nodes of a function are worth an edit: not texts, logs, annotations or dead code."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from repair.candidates.template.source import FUNCTIONS, iter_bodies

_LOGGERS = frozenset({"log", "logger", "logging", "_logger", "_log", "LOG", "LOGGER", "warnings"})
_LOG_METHODS = frozenset(
    {"debug", "info", "warning", "warn", "error", "exception", "critical", "log"}
)
_ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)


def iter_relevant(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a unit's nodes in source order, those left out whose change nobody could notice."""
    yield node
    for child in _children(node):
        yield from iter_relevant(child)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    dead = {statement for body in iter_bodies(node) for statement in _dead(body)}
    annotations = {
        getattr(node, name, None) for name in ("annotation", "returns") if hasattr(node, name)
    }
    for child in ast.iter_child_nodes(node):
        if child in dead or child in annotations or _is_silent(child):
            continue
        yield child


def _dead(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements behind one that always leaves the block."""
    end = next((i for i, statement in enumerate(body) if isinstance(statement, _ENDS)), len(body))
    return body[end + 1 :]


def _is_silent(node: ast.AST) -> bool:
    """Whether a statement is a text, a log message or a block that never runs."""
    match node:
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=method))):
            return owner in _LOGGERS and method in _LOG_METHODS
        case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Constant(value=False)):
            return True
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return True
    return False


def header_lines(node: ast.AST) -> range:
    """Return the lines of an expression or of a statement without the blocks it holds."""
    first = getattr(node, "lineno", 0)
    last = getattr(node, "end_lineno", first) or first
    bodies = list(iter_bodies(node)) if isinstance(node, ast.stmt) else []
    if bodies:
        last = max(first, bodies[0][0].lineno - 1)
        if isinstance(node, FUNCTIONS):
            last = first
    return range(first, last + 1)
