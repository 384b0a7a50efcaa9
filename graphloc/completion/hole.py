"""A hole: the place in a file that a completion fills, found by function or by lines."""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass
from itertools import pairwise

from tree_sitter import Node

from graphloc.completion.errors import AnswerError, HoleError
from graphloc.completion.indentation import fit_body, leading_blanks
from indexes.model import Span
from indexes.parsing import outline
from indexes.parsing.tree import SourceTree
from repair.patch.source_text import SourceText, read_source

_DEFAULT_INDENT = "    "


@dataclass(frozen=True, slots=True)
class Hole:
    """A file cut in two, and what stood between; filling it leaves both parts byte for byte."""

    path: str
    before: str
    after: str
    indent: str
    """Indentation of the statements that go in."""
    removed: str
    """What stood there; the ground truth when a benchmark cuts working code."""
    newline: str
    encoding: str
    mark: bytes
    """Byte order mark."""
    function: str = ""
    """Qualified name of the function whose body is missing; empty for a hole given by lines."""
    has_docstring: bool = False
    """Whether the function's docstring stands in front of the hole."""

    @property
    def line(self) -> int:
        """Number of whole lines in front of the hole (the 0-based line it starts on)."""
        return len(_line_starts(self.before))

    @property
    def prefix_lines(self) -> list[str]:
        """Lines in front of the hole, without their ends."""
        return _plain_lines(self.before)

    @property
    def span(self) -> Span:
        """Lines of what was removed; for an empty hole the line in front of it."""
        if not self.removed.strip():
            return Span(max(1, self.line), max(1, self.line))
        blank = len(self.removed) - len(self.removed.lstrip("\r\n"))
        first = len(_line_starts(self.before + self.removed[:blank])) + 1
        last = len(_plain_lines((self.before + self.removed).rstrip("\r\n")))
        return Span(min(first, last), last)

    def fill(self, body: str) -> bytes:
        """Return the file with `body` in the hole, at the right indentation.

        Raises
        ------
        AnswerError
            The body is empty, or the file's encoding lacks one of its characters.
        """
        lines = fit_body(body, self.indent)
        if not lines:
            raise AnswerError("the answer holds no code")
        return self._encode(self._text_of(lines))

    def original(self) -> bytes:
        """Return the file as it was found."""
        return self._encode(self.removed)

    def empty(self) -> bytes:
        """Return the file with a body that does nothing, so that it still parses."""
        return self.fill("pass" if self.function else "pass  # hole")

    def _text_of(self, lines: list[str]) -> str:
        start = "" if not self.before or self.before[-1] in "\r\n" else self.newline
        ends_open = not self.after and bool(self.removed) and self.removed[-1] not in "\r\n"
        return start + self.newline.join(lines) + ("" if ends_open else self.newline)

    def _encode(self, middle: str) -> bytes:
        text = SourceText((), self.encoding, self.mark)
        try:
            return text.encode([self.before, middle, self.after])
        except UnicodeEncodeError as error:
            raise AnswerError(
                f"the file is {self.encoding}, which has no {error.object[error.start]!r}"
            ) from error


def find_function_hole(data: bytes, path: str, function: str) -> Hole:
    """Cut the body out of a function, its docstring kept; a header without any body will do.

    Of several definitions of one name the last counts, as it does when Python runs the file.

    Raises
    ------
    HoleError
        There is no such function.
    """
    source = read_source(data)
    text = "".join(source.lines)
    span = _body_range(text, function) or _bodiless_range(text, function)
    if span is None:
        raise HoleError(f"{path} has no function {function}", path=path, function=function)
    start, end, has_docstring = span
    removed = text[start:end]
    return Hole(
        path=path,
        before=text[:start],
        after=text[end:],
        indent=_body_indent(text, span, function),
        removed=removed,
        newline=source.newline,
        encoding=source.encoding,
        mark=source.mark,
        function=function,
        has_docstring=has_docstring,
    )


def find_line_hole(data: bytes, path: str, span: Span, *, function: str = "") -> Hole:
    """Cut lines out of a file.

    Raises
    ------
    HoleError
        The lines are not in the file.
    """
    source = read_source(data)
    start, end = span.start_line - 1, span.end_line
    if not 0 <= start < end <= len(source.lines):
        raise HoleError(
            f"lines {span.start_line}-{span.end_line} are not in {path}, which has "
            f"{len(source.lines)}",
            path=path,
        )
    removed = "".join(source.lines[start:end])
    before = "".join(source.lines[:start])
    return Hole(
        path=path,
        before=before,
        after="".join(source.lines[end:]),
        indent=_first_indent(removed) or _next_indent(before),
        removed=removed,
        newline=source.newline,
        encoding=source.encoding,
        mark=source.mark,
        function=function,
        has_docstring=before.rstrip().endswith(('"""', "'''")),
    )


def _body_range(text: str, function: str) -> tuple[int, int, bool] | None:
    """Offsets of a function's body behind its docstring, whole lines where possible."""
    tree = SourceTree(_unix(text))
    node = _find_node(tree, function)
    block = node.child_by_field_name("body") if node is not None else None
    if node is None or block is None or block.start_byte == block.end_byte:
        return None
    header_end = _header_end(tree, block)
    docstring = _docstring(block)
    start = docstring.end_byte if docstring is not None else header_end
    first = _byte_to_offset(tree, start)
    rest = tree.text[first:]
    line_end = rest.find("\n")
    ends_line = line_end >= 0 and not rest[:line_end].partition("#")[0].strip()
    first += line_end + 1 if ends_line else 0
    last = _byte_to_offset(tree, max(block.end_byte, start))
    tail = tree.text.find("\n", last) if tree.text[last - 1 : last] != "\n" else last - 1
    last = len(tree.text) if tail < 0 else tail + 1
    first = min(first, last)
    return _to_original(text, first), _to_original(text, max(first, last)), docstring is not None


def _bodiless_range(text: str, function: str) -> tuple[int, int, bool] | None:
    """Offset behind a header without a body: found by giving it one and parsing again."""
    last = function.rpartition(".")[2]
    pattern = re.compile(rf"^[ \t]*(?:async[ \t]+)?def[ \t]+{re.escape(last)}\b", re.MULTILINE)
    found = None
    for match in pattern.finditer(text):
        end = _colon(text, match.start())
        if end is None:
            continue
        line_end = text.find("\n", end)
        cut = len(text) if line_end < 0 else line_end + 1
        start = "" if text[:cut].endswith("\n") else "\n"
        body = f"{start}{_deeper(leading_blanks(match.group()), text)}pass\n"
        names = _function_lines(text[:cut] + body + text[cut:])
        if names.get(function) == text.count("\n", 0, match.start()) + 1:
            found = (cut, cut, False)
    return found


def _function_lines(text: str) -> dict[str, int]:
    definitions = outline(_unix(text).encode("utf-8", "surrogatepass"))
    return {each.name: each.line for each in definitions if not each.is_class}


def _colon(text: str, start: int) -> int | None:
    """Offset behind the colon that ends the header which starts at an offset."""
    depth = 0
    lines = text[start:].splitlines(keepends=True)
    try:
        for token in tokenize.generate_tokens(io.StringIO("".join(lines).lstrip()).readline):
            if token.type != tokenize.OP:
                continue
            depth += (token.string in "([{") - (token.string in ")]}")
            if token.string == ":" and depth == 0:
                blanks = len(lines[0]) - len(lines[0].lstrip()) if token.end[0] == 1 else 0
                above = sum(map(len, lines[: token.end[0] - 1]))
                return start + above + blanks + token.end[1]
    except (tokenize.TokenError, SyntaxError):
        return None
    return None


def _find_node(tree: SourceTree, function: str) -> Node | None:
    """The last definition of that qualified name."""
    found: Node | None = None
    stack: list[tuple[Node, str]] = [(tree.tree.root_node, "")]
    while stack:
        node, scope = stack.pop()
        name_node = node.child_by_field_name("name")
        if node.type in ("function_definition", "class_definition") and name_node is not None:
            scope = f"{scope}.{tree.text_of(name_node)}" if scope else tree.text_of(name_node)
            is_wanted = node.type == "function_definition" and scope == function
            if is_wanted and (found is None or node.start_byte > found.start_byte):
                found = node
        stack.extend((child, scope) for child in node.named_children)
    return found


def _header_end(tree: SourceTree, block: Node) -> int:
    """Byte behind the header's colon."""
    sibling = block.prev_sibling
    while sibling is not None and sibling.type != ":":
        sibling = sibling.prev_sibling
    return sibling.end_byte if sibling is not None else block.start_byte


def _docstring(block: Node) -> Node | None:
    for child in block.named_children:
        if child.type == "comment":
            continue
        inner = child.named_children[0] if child.named_children else None
        is_string = child.type == "expression_statement" and child.named_child_count == 1
        return child if is_string and inner is not None and inner.type == "string" else None
    return None


def _header_start(text: str, start: int, function: str) -> int:
    last = function.rpartition(".")[2]
    pattern = rf"^[ \t]*(?:async[ \t]+)?def[ \t]+{re.escape(last)}\b"
    starts = [m.start() for m in re.finditer(pattern, text[:start], re.MULTILINE)]
    return starts[-1] if starts else start


def _body_indent(text: str, span: tuple[int, int, bool], function: str) -> str:
    """Indentation of the body that was there, of the docstring, or one level more than ``def``."""
    start, end, has_docstring = span
    starts_line = not text[:start] or text[start - 1] in "\r\n"
    found = _first_indent(text[start:end]) if starts_line else ""
    if not found and has_docstring:
        found = _docstring_indent(text, start)
    header = text[: _header_start(text, start, function)]
    outer = text[len(header.rstrip(" \t")) : start]
    return found or _deeper(leading_blanks(outer), text)


def _first_indent(removed: str) -> str:
    """Indentation of the first statement; empty if there is none."""
    for line in _plain_lines(removed):
        if line.strip() and not line.lstrip().startswith("#"):
            return leading_blanks(line)
    return ""


def _next_indent(before: str) -> str:
    """Indentation of a statement that follows the last line with text."""
    filled = [line for line in _plain_lines(before) if line.strip()]
    if not filled:
        return ""
    indent = leading_blanks(filled[-1])
    return _deeper(indent, before) if filled[-1].rstrip().endswith(":") else indent


def _docstring_indent(text: str, start: int) -> str:
    tree = SourceTree(_unix(text[:start]) + "\n")
    strings = [n for n in _walk(tree.tree.root_node) if n.type == "string"]
    if not strings:
        return ""
    line = tree.text.split("\n")[strings[-1].start_point[0]]
    return leading_blanks(line) if line.lstrip()[:1] in "\"'rRuU" else ""


def _walk(node: Node) -> list[Node]:
    found, stack = [], [node]
    while stack:
        at = stack.pop()
        found.append(at)
        stack.extend(reversed(at.named_children))
    return sorted(found, key=lambda each: each.start_byte)


def _deeper(outer: str, text: str) -> str:
    """One level more than `outer`, in the file's own unit."""
    lines = [line for line in _plain_lines(text) if line.strip()]
    for header, first in pairwise(lines):
        shallow, deep = leading_blanks(header), leading_blanks(first)
        opens = header.rstrip().endswith(":") and deep.startswith(shallow)
        if opens and len(deep) > len(shallow):
            return outer + deep[len(shallow) :]
    return outer + _DEFAULT_INDENT


def _byte_to_offset(tree: SourceTree, byte: int) -> int:
    return byte if tree.is_ascii else len(tree.data[:byte].decode("utf-8", "replace"))


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _to_original(text: str, offset: int) -> int:
    """Offset in the text with its own line ends, of an offset in the text with line feeds."""
    if "\r" not in text:
        return offset
    at = 0
    for _ in range(offset):
        at += 2 if text.startswith("\r\n", at) else 1
    return at


def _line_starts(text: str) -> list[str]:
    """Whole lines of a text: a last one without an end does not count."""
    lines = _unix(text).split("\n")
    return lines[:-1]


def _plain_lines(text: str) -> list[str]:
    lines = _unix(text).split("\n")
    return lines if lines[-1] else lines[:-1]
