"""Every module, public class, function and field says what it is."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator

import pytest

from tests.architecture.test_layers import MODULES, ROOT

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def iter_public(tree: ast.Module) -> Iterator[tuple[str, Documented]]:
    """Yield what others may use: public classes and functions, and public methods of those."""
    yield "module", tree
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, node
            for inner in node.body:
                if is_public_function(inner) and not is_redefinition(inner):
                    yield f"{node.name}.{inner.name}", inner
        elif is_public_function(node):
            yield node.name, node


def is_public_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith(
        "_"
    )


def is_redefinition(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Setters and overloads are documented where they are first defined."""
    names = {ast.unparse(decorator) for decorator in node.decorator_list}
    return "overload" in names or any(name.endswith(".setter") for name in names)


WRITTEN = [path for path in MODULES if path.read_bytes().strip()]
"""Modules that hold more than the fact that their folder is a package."""


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: str(path.relative_to(ROOT)))
def test_public_objects_are_documented(path):
    tree = ast.parse(path.read_bytes())
    assert [name for name, node in iter_public(tree) if not ast.get_docstring(node)] == []


def test_exported_names_exist():
    missing = []
    for path in MODULES:
        if "\n__all__ = " in path.read_text("utf-8"):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            module = importlib.import_module(name.removesuffix(".__init__"))
            missing += [f"{name}: {n}" for n in module.__all__ if not hasattr(module, n)]
    assert missing == []
