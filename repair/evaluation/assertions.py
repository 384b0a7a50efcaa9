"""Turning one big test of a benchmark into single pytest tests, so that they can be told apart."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator


def split_check(source: str, function: str, *, module: str) -> tuple[str, tuple[str, ...]]:
    """Make a test of each assertion of a ``check(candidate)`` function.

    Parameters
    ----------
    source
        Code that defines ``check`` and calls it.
    function, module
        What ``check`` is called with, and where that is.

    Returns
    -------
    tests : str
        A test module; statements between assertions are repeated before each later one.
    inputs : tuple of str
        JSON lists of the arguments of calls in the assertions, where they are constants.
    """
    tree = ast.parse(source)
    check = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    parameter = check.args.args[0].arg
    head = [node for node in tree.body if node is not check and not isinstance(node, ast.Expr)]
    lines = [f"from {module} import {function} as {parameter}", *map(ast.unparse, head)]
    setup: list[ast.stmt] = []
    count = 0
    for statement in check.body:
        if not _asserts(statement):
            setup.append(statement)
        elif not _is_trivial(statement):
            body = "\n".join(map(ast.unparse, [*setup, statement]))
            lines += [f"\ndef test_{count}():", *(f"    {line}" for line in body.split("\n"))]
            count += 1
    inputs = tuple(dict.fromkeys(_constant_calls(check, {parameter, function})))
    return "\n".join(lines) + "\n", inputs


def _asserts(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Assert) for node in ast.walk(statement))


def _is_trivial(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Constant)


def _constant_calls(tree: ast.AST, names: set[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in names:
                try:
                    values = [ast.literal_eval(argument) for argument in arguments]
                    text = json.dumps(values)
                except (ValueError, TypeError, SyntaxError):
                    continue
                if json.loads(text) == values:
                    yield text


def split_loop(source: str, function: str, *, module: str) -> tuple[str, tuple[str, ...]]:
    """Make a parametrized test of a loop over ``inputs`` and ``results``.

    Parameters and results are those of `split_check`.
    """
    tree = ast.parse(source)
    loop = next(node for node in reversed(tree.body) if isinstance(node, ast.For))
    head = [node for node in tree.body if node is not loop]
    body = "\n".join(f"    {line}" for line in map(ast.unparse, loop.body))
    lines = [
        "import pytest",
        f"from {module} import {function}",
        *map(ast.unparse, head),
        "@pytest.mark.parametrize('case', range(min(len(inputs), len(results))))",
        "def test_case(case):",
        "    inp, exp = inputs[case], results[case]",
        body,
    ]
    return "\n".join(lines) + "\n", tuple(_listed_inputs(head))


def _listed_inputs(statements: list[ast.stmt]) -> Iterator[str]:
    for node in statements:
        match node:
            case ast.Assign(targets=[ast.Name(id="inputs")], value=value):
                try:
                    cases = ast.literal_eval(value)
                except (ValueError, TypeError, SyntaxError):
                    return
                for case in cases:
                    try:
                        text = json.dumps(case)
                    except (TypeError, ValueError):
                        continue
                    if json.loads(text) == case:
                        yield text
