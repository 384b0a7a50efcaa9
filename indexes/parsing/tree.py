"""One syntax tree and what the query found in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache
from importlib.resources import files
from operator import attrgetter

import tree_sitter_python
from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

_NEWLINE = re.compile(b"\n")
_COMMENT_LINES = 200
"""Lines of a run of comments that are parsed as such. At each comment the grammar's scanner looks
ahead over the rest of the run, so that 4,000 lines take 2.5 s and 40,000 four minutes."""
_LONG_RUN = re.compile(rb"(?:^[ \t]*+(?:#[^\n]*+)?\n){%d,}+" % (_COMMENT_LINES + 1), re.MULTILINE)
_NO_NEWLINE = re.compile(rb"[^\n]")


@cache
def python_language() -> Language:
    """The tree-sitter grammar."""
    return Language(tree_sitter_python.language())


@cache
def _query(name: str) -> Query:
    text = files("indexes.parsing").joinpath(f"{name}.scm").read_text(encoding="utf-8")
    return Query(python_language(), text)


@cache
def kind_ids(*names: str) -> frozenset[int]:
    """The grammar's numbers of named node kinds; kinds of another grammar version are left out."""
    language = python_language()
    found = {language.id_for_node_kind(name, True) for name in names}
    return frozenset(number for number in found if number)


_first_byte = attrgetter("start_byte")
_UNORDERED = frozenset({"attribute", "call", "class", "comment", "function", "string"})
"""Captures whose readers sort them anyway, together with others; they are nine tenths of all."""


class SourceTree:
    """A parsed file: its text, its tree, and captures by name.

    Parameters
    ----------
    text
        Decoded source with line feeds only (`decode_source`).
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.is_ascii = text.isascii()
        self.data = text.encode("utf-8", "replace")
        self.tree: Tree = Parser(python_language()).parse(_shorten_comments(self.data))
        self._newlines = [match.start() for match in _NEWLINE.finditer(self.data)]

    @property
    def line_count(self) -> int:
        """Lines of the file; a last line without a line feed counts."""
        ends_open = bool(self.data) and not self.data.endswith(b"\n")
        return len(self._newlines) + ends_open

    def captures(self) -> dict[str, list[Node]]:
        """Nodes that the queries found, by capture name.

        The binding gathers captures in sets, whose order depends on the hash seed. Here they are
        in order of their places, but for the names in `_UNORDERED`.
        """
        root = self.tree.root_node
        found = QueryCursor(_query("python")).captures(root)
        if root.has_error:
            found |= QueryCursor(_query("errors")).captures(root)
        return {
            name: list(nodes) if name in _UNORDERED else sorted(nodes, key=_first_byte)
            for name, nodes in found.items()
        }

    def slice(self, start: int, end: int) -> str:
        """Text between two byte offsets."""
        if self.is_ascii:
            return self.text[start:end]
        return self.data[start:end].decode("utf-8", "replace")

    def text_of(self, node: Node) -> str:
        """Source text of a node."""
        return self.slice(node.start_byte, node.end_byte)

    def line_at(self, offset: int) -> int:
        """1-based line of a byte offset."""
        return bisect_right(self._newlines, offset - 1) + 1


def _shorten_comments(data: bytes) -> bytes:
    """Blank out all but the last lines of long runs of comments; every offset is kept.

    The same lines inside a string are blanked, too, which changes neither its place nor its text,
    as that is taken from the source.
    """

    def blank(match: re.Match[bytes]) -> bytes:
        lines = match[0].splitlines(keepends=True)
        blanked = b"".join(lines[:-_COMMENT_LINES])
        return _NO_NEWLINE.sub(b" ", blanked) + b"".join(lines[-_COMMENT_LINES:])

    return _LONG_RUN.sub(blank, data)


def end_line(source: SourceTree, node: Node) -> int:
    """Last line that holds a byte of the node (a block's end may sit on the next line's start)."""
    return source.line_at(max(node.end_byte - 1, node.start_byte))


def first_child(node: Node) -> Node | None:
    """First named child that is no comment, or `None`."""
    if not node.named_child_count:
        return None
    child = node.named_child(0)
    comment = kind_ids("comment")
    if child is None or child.kind_id not in comment:
        return child
    return next((each for each in node.named_children if each.kind_id not in comment), None)
