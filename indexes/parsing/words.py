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
_ASCII_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
"""The same words in ASCII text, found in two thirds of the time."""
_KEYWORDS = frozenset(keyword.kwlist) | {"print", "exec", "self", "cls"}

_Span = tuple[int, int]
"""First byte and end byte."""


def read_words(
    source: SourceTree, captures: dict[str, list[Node]], outline: Outline
) -> tuple[OwnerText, ...]:
    """Texts of all owners, the file first, then the definitions in order."""
    owners = len(outline.definitions) + 1
    spans = {kind: _spans(captures.get(kind, [])) for kind in ("comment", "string")}
    comments = _by_owner(spans["comment"], outline, owners)
    strings = _by_owner(spans["string"], outline, owners)
    words = _code_words(source, sorted(spans["comment"] + spans["string"]), outline, owners)
    return tuple(
        OwnerText(
            words[owner],
            _join_comments(source, comments[owner]) if comments[owner] else "",
            _literals(source, strings[owner], outline) if strings[owner] else (),
        )
        for owner in range(owners)
    )


def _spans(nodes: list[Node]) -> list[_Span]:
    return sorted([(node.start_byte, node.end_byte) for node in nodes])


def _by_owner(spans: list[_Span], outline: Outline, owners: int) -> list[list[_Span]]:
    found: list[list[_Span]] = [[] for _ in range(owners)]
    for span in spans:
        found[outline.text_owner(span[0])].append(span)
    return found


def _join_comments(source: SourceTree, spans: list[_Span]) -> str:
    texts = [source.slice(start, end).lstrip("#!: ") for start, end in spans]
    return "\n".join(texts)[:MAX_OWNER_CHARS]


def _literals(source: SourceTree, spans: list[_Span], outline: Outline) -> tuple[str, ...]:
    found: list[str] = []
    room = MAX_OWNER_CHARS
    for start, end in spans:
        if start in outline.docstring_offsets:
            continue
        text = string_content(source.slice(start, end))[:MAX_STRING_CHARS]
        if room > 0 and text and not text.isspace():
            found.append(text)
            room -= len(text)
    return tuple(found)


def _code_words(
    source: SourceTree, literals: list[_Span], outline: Outline, owners: int
) -> list[dict[str, int]]:
    find = (_ASCII_WORD if source.is_ascii else _WORD).findall
    found: list[dict[str, int]] = []
    for pieces in _code(source, literals, outline, owners):
        counter = Counter(find(" ".join(pieces)))
        for word in _KEYWORDS.intersection(counter):
            del counter[word]
        found.append(dict(counter))
    return found


def _code(
    source: SourceTree, literals: list[_Span], outline: Outline, owners: int
) -> list[list[str]]:
    """The pieces of code of each owner: what is neither comment nor string literal."""
    pieces: list[list[str]] = [[] for _ in range(owners)]
    segments = outline.text_segments()
    ends = [mark for mark, _ in segments[1:]] + [len(source.data)]
    spans = iter([*literals, (len(source.data), len(source.data))])
    start, end = next(spans)
    for (first, owner), last in zip(segments, ends, strict=True):
        at = first
        while start < last:
            if start > at:
                pieces[owner].append(source.slice(at, start))
            at = max(at, end)  # a string inside an f-string ends before it
            start, end = next(spans)
        if last > at:
            pieces[owner].append(source.slice(at, last))
    return pieces
