"""Names that may be used at a place of a file, nearest first."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from repair.candidates.template.kinds import Kind, infer_kinds
from repair.candidates.template.source import FUNCTIONS, SourceModule

_SCOPES = (*FUNCTIONS, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, slots=True)
class NameInScope:
    """A name that is bound somewhere around a place."""

    id: str
    kind: Kind
    is_local: bool
    """Bound in a function, lambda or comprehension around the place, not in the module."""
    is_bound_before: bool
    """Bound in the same line or one above, or a parameter."""


class ScopeTable:
    """The names of one module, looked up by place."""

    def __init__(self, module: SourceModule) -> None:
        self._module = module
        self._local: dict[ast.AST, dict[str, int]] = {}
        self._kinds: dict[ast.AST, dict[str, Kind]] = {}

    @cached_property
    def module_names(self) -> dict[str, Kind]:
        """Names bound in the module's own statements."""
        kinds = infer_kinds(self._module.tree.body)
        names: dict[str, Kind] = {}
        for node in _own_nodes(self._module.tree):
            for name, _ in _bindings(node):
                names[name] = _definition_kind(node) or kinds.get(name, Kind.UNKNOWN)
        return names

    def names_at(self, node: ast.AST) -> tuple[NameInScope, ...]:
        """Return the variables visible at a node: locals in order of binding, then the module's."""
        line = self._line_of(node)
        found: dict[str, NameInScope] = {}
        kinds = self.kinds_at(node)
        for scope in self._scopes_around(node):
            for name, bound in self._names_of(scope).items():
                kind = kinds.get(name, Kind.UNKNOWN)
                found.setdefault(name, NameInScope(name, kind, True, bound <= line))
        for name, kind in self.module_names.items():
            found.setdefault(name, NameInScope(name, kinds.get(name, kind), False, True))
        return tuple(found.values())

    def kinds_at(self, node: ast.AST) -> dict[str, Kind]:
        """Return the guessed kinds of names in the outermost function around a node."""
        scopes = list(self._scopes_around(node))
        outermost = scopes[-1] if scopes else self._module.tree
        if outermost not in self._kinds:
            self._kinds[outermost] = {
                **self.module_names,
                **infer_kinds(ast.walk(outermost)),
            }
        return self._kinds[outermost]

    def _line_of(self, node: ast.AST) -> int:
        current: ast.AST | None = node
        while current is not None and not hasattr(current, "lineno"):
            current = self._module.parents.get(current)
        return getattr(current, "lineno", 0)

    def _scopes_around(self, node: ast.AST) -> Iterator[ast.AST]:
        current: ast.AST | None = node
        while current is not None:
            if isinstance(current, _SCOPES):
                yield current
            current = self._module.parents.get(current)

    def _names_of(self, scope: ast.AST) -> dict[str, int]:
        """Return names bound in a scope with the line they are first bound in; parameters: 0."""
        if scope not in self._local:
            names: dict[str, int] = {}
            for node in _own_nodes(scope):
                for name, line in _bindings(node):
                    names[name] = min(line, names.get(name, line))
            self._local[scope] = names
        return self._local[scope]


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield a scope's nodes in source order, without those of nested scopes and classes."""
    pending = list(ast.iter_child_nodes(scope))[::-1]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (*_SCOPES, ast.ClassDef)):
            pending += list(ast.iter_child_nodes(node))[::-1]


def _bindings(node: ast.AST) -> Iterator[tuple[str, int]]:
    match node:
        case ast.arg(arg=name):
            yield name, 0
        case ast.Name(id=name, ctx=ast.Store()):
            yield name, node.lineno
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name, 0
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            for alias in aliases:
                yield (alias.asname or alias.name.split(".")[0]), 0
        case ast.ExceptHandler(name=str(name)):
            yield name, node.lineno


def _definition_kind(node: ast.AST) -> Kind | None:
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return Kind.CALLABLE
    return Kind.MODULE if isinstance(node, ast.Import) else None
