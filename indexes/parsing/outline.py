"""The definitions of a file: names, spans, signatures, docstrings, decorators."""

from __future__ import annotations

import inspect
import re
import sys
from bisect import bisect_right
from dataclasses import dataclass, field

from tree_sitter import Node

from indexes.facts import Definition
from indexes.parsing.tree import SourceTree, end_line, first_child

MAX_DOCSTRING_CHARS = 6_000
MAX_SIGNATURE_CHARS = 600
_SPACE = re.compile(r"\s+")
_TRIPLE = frozenset({'"""', "'''"})


@dataclass(slots=True)
class Outline:
    """Definitions with their nodes, and which of them is innermost at a byte offset.

    Owner numbers are 0 for the file and index + 1 for a definition.
    """

    definitions: list[Definition] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    """First byte of each definition, its decorators included."""
    docstring: str = ""
    docstring_offsets: set[int] = field(default_factory=set)
    _text_marks: list[int] = field(default_factory=list)
    _text_owners: list[int] = field(default_factory=list)

    def text_owner(self, offset: int) -> int:
        """Owner whose text holds the byte: decorators and signature belong to the definition."""
        return self._text_owners[bisect_right(self._text_marks, offset) - 1]

    def take_docstring(self, source: SourceTree, block: Node) -> str:
        """The docstring a block starts with, noted so that it does not count as a literal."""
        first = first_child(block)
        if first is None or first.type != "expression_statement":
            return ""
        literal = first_child(first)
        if literal is None or literal.type != "string":
            return ""
        self.docstring_offsets.add(literal.start_byte)
        return clean_docstring(source.text_of(literal))

    def text_segments(self) -> list[tuple[int, int]]:
        """(first byte, owner) of each run of text that belongs to one owner, in order."""
        return list(zip(self._text_marks, self._text_owners, strict=True))


def read_outline(source: SourceTree, captures: dict[str, list[Node]]) -> Outline:
    """Build the outline from the captures ``function`` and ``class``."""
    classes = captures.get("class", [])
    nodes = sorted(captures.get("function", []) + classes, key=lambda node: node.start_byte)
    class_offsets = {node.start_byte for node in classes}
    decorated = _decorated_definitions(captures.get("decorator", []))
    outline = Outline()
    outline.docstring = outline.take_docstring(source, source.tree.root_node)
    stack: list[tuple[int, int]] = []  # (end byte, owner)
    for node in nodes:
        while stack and stack[-1][0] <= node.start_byte:
            stack.pop()
        parent = stack[-1][1] if stack else 0
        is_class = node.start_byte in class_offsets
        outer = decorated.get(node.start_byte, node)
        outline.definitions.append(_definition(source, (node, outer), parent, is_class, outline))
        outline.nodes.append(node)
        outline.starts.append(outer.start_byte)
        stack.append((node.end_byte, len(outline.definitions)))
    ends = [node.end_byte for node in nodes]
    outline._text_marks, outline._text_owners = innermost_marks(
        list(zip(outline.starts, ends, range(1, len(nodes) + 1), strict=True))
    )
    return outline


def innermost_marks(spans: list[tuple[int, int, int]]) -> tuple[list[int], list[int]]:
    """Offsets at which the innermost of nested spans changes, and its number from there on.

    Parameters
    ----------
    spans
        (first byte, end byte, number) of properly nested spans in order of their first byte;
        number 0 is what surrounds them all.
    """
    marks, numbers = [0], [0]
    stack: list[tuple[int, int]] = []

    def close_until(offset: int) -> None:
        while stack and stack[-1][0] <= offset:
            end, _ = stack.pop()
            marks.append(end)
            numbers.append(stack[-1][1] if stack else 0)

    for start, end, number in spans:
        close_until(start)
        marks.append(start)
        numbers.append(number)
        stack.append((end, number))
    close_until(sys.maxsize)
    return marks, numbers


def _definition(
    source: SourceTree,
    nodes: tuple[Node, Node],
    parent: int,
    is_class: bool,
    outline: Outline,
) -> Definition:
    """The definition of a statement's node and of what holds its decorators, too."""
    node, outer = nodes
    name_node = node.child_by_field_name("name")
    simple = source.text_of(name_node) if name_node is not None else "_"
    name = f"{outline.definitions[parent - 1].name}.{simple}" if parent else simple
    body = node.child_by_field_name("body")
    return Definition(
        name=name,
        is_class=is_class,
        parent=parent,
        start_line=source.line_at(outer.start_byte),
        line=source.line_at(node.start_byte),
        end_line=end_line(source, node),
        signature=_signature(source, node, is_class),
        docstring=outline.take_docstring(source, body) if body is not None else "",
        decorators=_decorators(source, outer) if outer is not node else (),
        is_async=not is_class and source.data[node.start_byte : node.start_byte + 5] == b"async",
    )


def _decorated_definitions(decorators: list[Node]) -> dict[int, Node]:
    """What holds decorators and definition, by the first byte of the definition.

    Asked of the decorators, for they are few, and a parent is found by a walk from the root.
    """
    found: dict[int, Node] = {}
    for decorator in decorators:
        outer = decorator.parent
        if outer is not None and outer.type == "decorated_definition":
            definition = outer.child_by_field_name("definition")
            if definition is not None:
                found[definition.start_byte] = outer
    return found


def _decorators(source: SourceTree, outer: Node) -> tuple[str, ...]:
    return tuple(
        _SPACE.sub(" ", source.text_of(child)[1:].strip())
        for child in outer.named_children
        if child.type == "decorator"
    )


def _signature(source: SourceTree, node: Node, is_class: bool) -> str:
    if is_class:
        bases = node.child_by_field_name("superclasses")
        text = source.text_of(bases) if bases is not None else ""
    else:
        parameters = node.child_by_field_name("parameters")
        returns = node.child_by_field_name("return_type")
        text = source.text_of(parameters) if parameters is not None else "()"
        if returns is not None:
            text += f" -> {source.text_of(returns)}"
    return " ".join(text.split())[:MAX_SIGNATURE_CHARS]


def clean_docstring(literal: str) -> str:
    """A string literal's text without quotes and common indentation, cut at a fixed length."""
    return inspect.cleandoc(string_content(literal)[: 2 * MAX_DOCSTRING_CHARS])[
        :MAX_DOCSTRING_CHARS
    ]


def string_content(literal: str) -> str:
    """A string literal's text without prefix and quotes."""
    start = 0
    while start < 3 and literal[start : start + 1].isalpha():
        start += 1
    quote = literal[start : start + 3]
    if quote not in _TRIPLE:
        quote = quote[:1]
    end = len(literal) - len(quote) if literal.endswith(quote) else len(literal)
    return literal[start + len(quote) : max(end, start + len(quote))]
