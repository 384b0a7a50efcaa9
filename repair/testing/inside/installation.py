"""Putting a variant into a program: into the running one where possible, or by loading it anew."""

from __future__ import annotations

import ast
import gc
import importlib.machinery
import io
import os
import tokenize
import types
import warnings
from typing import Any

HOT, COLD = "hot", "cold"
Place = tuple[str, int, str]
"""File, first line and name of a function."""
Functions = dict[Place, list[types.FunctionType]]


def find_functions() -> Functions:
    """Return all functions alive by file, first line and name."""
    found: Functions = {}
    for item in gc.get_objects():
        if type(item) is types.FunctionType:
            code = item.__code__
            place = (os.path.abspath(code.co_filename), code.co_firstlineno, code.co_name)
            found.setdefault(place, []).append(item)
    return found


def install(variant: dict[str, Any], functions: Functions) -> str:
    """Change the running program, ``hot``, or what imports will find, ``cold``; return which.

    A function's code object is replaced, which reaches it wherever it is referred to, decorated or
    bound. It has to have the same free variables.
    """
    if not variant.get("edits"):
        return HOT
    path = os.path.abspath(variant["path"])
    text = edited_text(path, variant["edits"])
    unit = variant["unit"]
    originals = functions.get((path, unit[0], unit[1]), []) if unit else []
    if originals:
        code = unit_code(path, text, unit[0], unit[1])
        if code is not None and all(
            one.__code__.co_freevars == code.co_freevars for one in originals
        ):
            for function in originals:
                function.__code__ = code
            return HOT
    load_from(path, text)
    return COLD


def edited_text(path: str, edits: list[tuple[int, int, str]]) -> str:
    """Return a file's text with spans of characters replaced."""
    with open(path, "rb") as file:
        data = file.read()
    encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    text = data.decode(encoding)
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def unit_code(path: str, text: str, first_line: int, name: str) -> types.CodeType | None:
    """Compile one function of a file, in its classes but without the rest of the file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
        future = [
            node
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        ]
        reduced = _reduced_to(tree.body, first_line, name)
        if reduced is None:
            return None
        tree.body = [*future, reduced]
        module = compile(tree, path, "exec", dont_inherit=True)
    return _find_code(module, first_line, name)


def _reduced_to(body: list[ast.stmt], first_line: int, name: str) -> ast.stmt | None:
    """Return the statement that holds the function, its class without other members."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            inner = _reduced_to(node.body, first_line, name)
            if inner is not None:
                node.body = [inner]
                return node
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            if (first, node.name) == (first_line, name):
                return node
    return None


def _find_code(code: types.CodeType, first_line: int, name: str) -> types.CodeType | None:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            if constant.co_name == name and constant.co_firstlineno == first_line:
                return constant
            inner = _find_code(constant, first_line, name)
            if inner is not None:
                return inner
    return None


def load_from(path: str, text: str) -> None:
    """Let the next import of a file read other text."""
    loader: Any = importlib.machinery.SourceFileLoader
    original = loader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        if os.path.abspath(self.path) == path:
            return compile(text, path, "exec", dont_inherit=True)
        return original(self, fullname)

    loader.get_code = get_code
