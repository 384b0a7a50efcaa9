"""The tests: names used once, nothing asserted by the clock, and the README's way to run them."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))


def test_file_names_are_unique():
    counts = Counter(path.name for path in TESTS)
    assert [name for name, count in counts.items() if count > 1] == []


def test_folders_mirror_the_packages():
    for path in TESTS:
        parts = path.relative_to(ROOT / "tests").parts[:-1]
        if parts and parts[0] in {"graphloc", "indexes", "repair"}:
            module = ROOT.joinpath(*parts)
            assert module.is_dir() or module.with_suffix(".py").is_file(), path


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_every_test_can_fail(path):
    functions = {
        node.name: node
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.FunctionDef)
    }
    asserting = {name for name, node in functions.items() if any(map(may_fail, ast.walk(node)))}
    hollow = [
        name
        for name, node in functions.items()
        if name.startswith("test_") and name not in asserting and not called_by(node) & asserting
    ]
    assert hollow == []


def may_fail(node: ast.AST) -> bool:
    """Whether a node asserts, or calls what may: a check, an assertion of numpy's, `raises`."""
    if isinstance(node, ast.Assert | ast.Raise):
        return True
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func).rsplit(".", 1)[-1]
    return name.startswith(("assert", "check", "raises", "fail", "expect"))


def called_by(node: ast.AST) -> set[str]:
    return {
        inner.func.id
        for inner in ast.walk(node)
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name)
    }


def test_the_readme_and_ci_run_the_same_tests():
    readme = (ROOT / "README.md").read_text("utf-8")
    commands = re.findall(r"^.*python -m pytest.*$", readme, re.MULTILINE)
    assert commands
    assert commands[0] in (ROOT / ".ci/run").read_text("utf-8")


def test_ci_calls_the_verbs_of_the_makefile():
    verbs = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    called = re.findall(r"^make ([\w-]+)", (ROOT / ".ci/run").read_text("utf-8"), re.MULTILINE)
    assert {"lint", "types", "layers", "docs-check"} <= set(called) <= verbs
