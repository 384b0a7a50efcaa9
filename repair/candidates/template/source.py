"""A file as templates see it: a syntax tree whose nodes know their characters, cut into units.

The standard library's `ast` gives byte-exact positions of every statement and expression, twenty
times faster than a concrete syntax tree does (see docs/repair.md), and edits are spliced into the
text, so nothing of the file is ever written anew.
"""

from __future__ import annotations

import ast
import hashlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from indexes.errors import InputError
from repair.model import SpanEdit, splice
from repair.patch.source_text import SourceText, read_source

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """What is compared and replaced as one: an outermost function or method, or a statement."""

    node: ast.stmt
    start: int
    """Offset of its first line's first character, decorators included."""
    end: int
    first_line: int

    @property
    def name(self) -> str:
        """The function's name; empty for other statements."""
        return self.node.name if isinstance(self.node, FUNCTIONS) else ""


class SourceModule:
    """One Python file, parsed once.

    Raises
    ------
    InputError
        The file is not Python that this interpreter can parse.
    """

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self.source: SourceText = read_source(data)
        self.lines = self.source.lines
        self.text = "".join(self.lines)
        self.newline = self.source.newline
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.tree = ast.parse(self.text)
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                raise InputError(f"{path} cannot be parsed: {error}", path=path) from error
        self._starts = [0, *accumulate(len(line) for line in self.lines)]

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Each node's parent."""
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """The file's units in order; together they hold all statements but classes' own lines."""
        return tuple(self._iter_units(self.tree.body))

    def _iter_units(self, body: list[ast.stmt]) -> Iterator[Unit]:
        for node in body:
            if isinstance(node, ast.ClassDef):
                yield from self._iter_units(node.body)
                continue
            decorators = node.decorator_list if isinstance(node, FUNCTIONS) else []
            first = min([node.lineno, *(item.lineno for item in decorators)])
            end = self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
            yield Unit(node, self._starts[first - 1], end, first)

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a 1-based line and a column in UTF-8 bytes, as `ast` has them."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        if not text.isascii():
            column = len(text.encode()[:column].decode(errors="ignore"))
        return self._starts[line - 1] + column

    def line_start(self, line: int) -> int:
        """Return the offset of a 1-based line; that behind the last line is the text's end."""
        return self._starts[line - 1]

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the offsets of a statement's or expression's first and behind its last character.

        Parentheses around an expression are not part of it.
        """
        if not isinstance(node, (ast.expr, ast.stmt, ast.excepthandler, ast.arg, ast.keyword)):
            raise TypeError(f"{type(node).__name__} has no place in the text")
        return (
            self.offset(node.lineno, node.col_offset),
            self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0),
        )

    def segment(self, node: ast.AST) -> str:
        """Return a node's own text."""
        start, end = self.span(node)
        return self.text[start:end]

    def edited(self, edits: tuple[SpanEdit, ...]) -> bytes:
        """Return the whole file with the edits made.

        Raises
        ------
        InputError
            The file's encoding lacks a character.
        """
        try:
            return self.source.encode([splice(self.text, edits)])
        except UnicodeEncodeError as error:
            raise InputError(f"{self.path} is {self.source.encoding}: {error}") from error

    def edit_key(self, unit: Unit, edits: tuple[SpanEdit, ...]) -> str | None:
        """Return a digest of the unit's syntax after the edits; `None` if it does not compile.

        Edits outside of the unit count by their text. Only the unit is parsed, so this is fast in
        long files.
        """
        inside = [edit for edit in edits if unit.start <= edit.start <= unit.end]
        outside = [edit for edit in edits if edit not in inside]
        shifted = [SpanEdit(e.start - unit.start, e.end - unit.start, e.text) for e in inside]
        end = max([unit.end, *(edit.end for edit in inside)])
        tree = parse_unit(splice(self.text[unit.start : end], shifted))
        if tree is None:
            return None
        digest = hashlib.sha256(ast.dump(tree).encode("utf-8", "surrogateescape"))
        digest.update(repr((unit.start, outside)).encode("utf-8", "surrogateescape"))
        return digest.hexdigest()


def parse_unit(text: str) -> ast.Module | None:
    """Parse and compile a unit's text at any indentation; `None` if Python refuses it."""
    is_indented = text[:1] in (" ", "\t")
    source = f"if 1:\n{text}" if is_indented else text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(source)
            compile(source, "<unit>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    return tree


def iter_bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield every list of statements that a node holds itself: body, else, finally and handlers."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield block
    for handler in getattr(node, "handlers", ()):
        yield handler.body
    for case in getattr(node, "cases", ()):
        yield case.body
