"""The words of each owner: identifiers in code, comments, string literals."""

from __future__ import annotations

import keyword
import re
from collections import Counter

from tree_sitter import Node

from indexes.facts import OwnerText
from indexes.parsing.outline import Outline, string_content
from indexes.parsing.tree import SourceTree

MAX_STRING_CHARS = 1_000
MAX_OWNER_CHARS = 60_000
"""Comments, and likewise string literals, of one owner beyond this are data, not words."""
_WORD = re.compile(r"[^\W\d]\w*")
_KEYWORDS = frozenset(keyword.kwlist) | {"print", "exec", "self", "cls"}


def read_words(
    source: SourceTree, captures: dict[str, list[Node]], outline: Outline
) -> tuple[OwnerText, ...]:
    """Texts of all owners, the file first, then the definitions in order."""
    owners = len(outline.definitions) + 1
    comments = _by_owner(captures.get("comment", []), outline, owners)
    strings = _by_owner(captures.get("string", []), outline, owners)
    words = _code_words(source, captures, outline, owners)
    return tuple(
        OwnerText(
            words[owner],
            _join_comments(source, comments[owner]),
            _literals(source, strings[owner], outline),
        )
        for owner in range(owners)
    )


def _by_owner(nodes: list[Node], outline: Outline, owners: int) -> list[list[Node]]:
    found: list[list[Node]] = [[] for _ in range(owners)]
    for node in nodes:
        found[outline.text_owner(node.start_byte)].append(node)
    return found


def _join_comments(source: SourceTree, nodes: list[Node]) -> str:
    if not nodes:
        return ""
    nodes.sort(key=lambda node: node.start_byte)
    return "\n".join(source.text_of(node).lstrip("#!: ") for node in nodes)[:MAX_OWNER_CHARS]


def _literals(source: SourceTree, nodes: list[Node], outline: Outline) -> tuple[str, ...]:
    nodes.sort(key=lambda node: node.start_byte)
    found: list[str] = []
    room = MAX_OWNER_CHARS
    for node in nodes:
        if node.start_byte in outline.docstring_offsets:
            continue
        text = string_content(source.text_of(node))[:MAX_STRING_CHARS]
        if text.strip() and room > 0:
            found.append(text)
            room -= len(text)
    return tuple(found)


def _code_words(
    source: SourceTree, captures: dict[str, list[Node]], outline: Outline, owners: int
) -> list[dict[str, int]]:
    code = _blanked(source, captures)
    counters: list[Counter[str]] = [Counter() for _ in range(owners)]
    segments = outline.text_segments()
    ends = [mark for mark, _ in segments[1:]] + [len(code)]
    for (start, owner), end in zip(segments, ends, strict=True):
        if end > start:
            counters[owner].update(_WORD.findall(code[start:end].decode("utf-8", "replace")))
    return [
        {word: count for word, count in counter.items() if word not in _KEYWORDS}
        for counter in counters
    ]


def _blanked(source: SourceTree, captures: dict[str, list[Node]]) -> bytes:
    """The source with comments and string literals blanked out, every offset kept."""
    spans = sorted(
        (node.start_byte, node.end_byte)
        for name in ("comment", "string")
        for node in captures.get(name, [])
    )
    pieces: list[bytes] = []
    at = 0
    for start, end in spans:
        if start < at:
            continue  # a string inside an f-string that is blanked already
        pieces.append(source.data[at:start])
        pieces.append(b" " * (end - start))
        at = end
    pieces.append(source.data[at:])
    return b"".join(pieces)
