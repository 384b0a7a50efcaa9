"""Values that are overwritten before anything can use them.

Flow analysis takes all bindings of a name together. Where straight-line code binds a name, or puts
something under a constant key, and binds it again before any call or use, the first value never
travels; it is left out. Only adjacent simple statements of one block are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from indexes.parsing.tree import SourceTree, first_child

_QUIET = frozenset({
    "identifier", "attribute", "lambda", "string", "integer", "float", "true", "false", "none",
})  # fmt: skip
"""Expressions that call nothing."""
_LONGEST_RUN = 8
_GAP = re.compile(rb"[\s;]*")
"""What stands between two statements of a block."""
_UPDATE = re.compile(rb"\w+\.update\b")


def find_overwritten(source: SourceTree, assignments: list[Node]) -> set[int]:
    """First bytes of values (of an assignment, or of a pair of a dict display) never used."""
    return _Finder(source).find(assignments)


class _Finder:
    def __init__(self, source: SourceTree) -> None:
        self._source = source
        self._dead: set[int] = set()

    def find(self, assignments: list[Node]) -> set[int]:
        data, starts = self._source.data, {node.start_byte for node in assignments}
        for node in assignments:
            match = _GAP.match(data, node.end_byte)
            if match is None or (
                match.end() not in starts and not _UPDATE.match(data, match.end())
            ):
                continue  # an assignment follows seldom, and asking the tree for siblings is slow
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is None or right is None or left.type not in {"identifier", "subscript"}:
                continue
            if right.type == "dictionary" and left.type == "identifier":
                self._follow_dictionary(node, self._source.text_of(left), right)
            elif right.type in _QUIET:
                self._follow_value(node, self._source.text_of(left), right)
        return self._dead

    def _follow_value(self, node: Node, target: str, value: Node) -> None:
        root = target.partition("[")[0]
        for left, right in self._next_assignments(node):
            text = self._source.text_of(left)
            if self._mentions(right, root):
                return
            if text == target and left.type in {"identifier", "subscript"}:
                self._dead.add(value.start_byte)
                return
            if self._mentions(left, root):
                return

    def _follow_dictionary(self, node: Node, name: str, display: Node) -> None:
        for left, right in self._next_assignments(node, updated=name):
            if right.type == "dictionary" and left.type == "attribute":  # name.update({...})
                for key, _ in self._pairs(right):
                    self._kill(display, [key])
            elif self._mentions(right, name) or left.type != "subscript":
                return
            else:
                path = self._path(left, name)
                if path is None:
                    return
                self._kill(display, path)

    def _next_assignments(self, node: Node, updated: str = "") -> Iterator[tuple[Node, Node]]:
        """(target, value) of the quiet assignments that follow without anything between."""
        statement = node.parent.next_named_sibling if node.parent is not None else None
        for _ in range(_LONGEST_RUN):
            if statement is None or statement.type != "expression_statement":
                return
            inner = first_child(statement)
            pair = inner and (self._assignment(inner) or self._update(inner, updated))
            if not pair:
                return
            yield pair
            statement = statement.next_named_sibling

    def _assignment(self, node: Node) -> tuple[Node, Node] | None:
        if node.type != "assignment":
            return None
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or right.type not in _QUIET:
            return None
        return left, right

    def _update(self, node: Node, name: str) -> tuple[Node, Node] | None:
        """``name.update({...})`` with quiet values."""
        function = node.child_by_field_name("function") if node.type == "call" else None
        if not name or function is None or self._source.text_of(function) != f"{name}.update":
            return None
        arguments = node.child_by_field_name("arguments")
        given = arguments.named_children if arguments is not None else []
        if len(given) != 1 or given[0].type != "dictionary":
            return None
        pairs = self._pairs(given[0])
        quiet = len(pairs) == given[0].named_child_count
        quiet = quiet and all(value.type in _QUIET for _, value in pairs)
        return (function, given[0]) if quiet else None

    def _pairs(self, display: Node) -> list[tuple[str, Node]]:
        """(key, value) of a dict display's pairs whose keys are constants."""
        found: list[tuple[str, Node]] = []
        for child in display.named_children:
            key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
            if key is not None and value is not None and key.type in {"string", "integer"}:
                found.append((self._constant(key), value))
        return found

    def _path(self, target: Node, name: str) -> list[str] | None:
        """Constant keys of ``name[a][b]``, outermost first."""
        keys: list[str] = []
        node: Node | None = target
        while node is not None and node.type == "subscript":
            inner = node.named_children
            if len(inner) != 2 or inner[1].type not in {"string", "integer"}:
                return None
            keys.append(self._constant(inner[1]))
            node = inner[0]
        if node is None or node.type != "identifier" or self._source.text_of(node) != name:
            return None
        return keys[::-1]

    def _constant(self, node: Node) -> str:
        return self._source.text_of(node).replace('"', "'")

    def _kill(self, display: Node, path: list[str]) -> None:
        for key, value in self._pairs(display):
            if key == path[0]:
                if len(path) == 1:
                    self._dead.add(value.start_byte)
                elif value.type == "dictionary":
                    self._kill(value, path[1:])

    def _mentions(self, node: Node, name: str) -> bool:
        return re.search(rf"\b{re.escape(name)}\b", self._source.text_of(node)) is not None
