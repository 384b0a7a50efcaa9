"""Files and functions stay small enough to be read at once."""

from __future__ import annotations

import ast

from tests.architecture.test_layers import MODULES, ROOT

MOST_FILE_LINES = 500
MOST_FUNCTION_LINES = 50
"""Lines of code: the docstring, comments and blank lines do not count."""


def count_code_lines(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> int:
    body = node.body
    if ast.get_docstring(node) is not None:
        body = body[1:]
    if not body:
        return 0
    texts = lines[body[0].lineno - 1 : body[-1].end_lineno]
    return sum(bool(text.strip()) and not text.lstrip().startswith("#") for text in texts)


def test_files():
    sizes = {
        str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in MODULES
    }
    assert {path: size for path, size in sizes.items() if size > MOST_FILE_LINES} == {}


def test_functions():
    long = {}
    for path in MODULES:
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                size = count_code_lines(node, text.splitlines())
                if size > MOST_FUNCTION_LINES:
                    long[f"{path.relative_to(ROOT)}:{node.name}"] = size
    assert long == {}
