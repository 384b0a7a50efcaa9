"""Python files: one tree-sitter pass from bytes to facts."""

from __future__ import annotations

import msgspec
from tree_sitter import Node

from indexes.facts import Definition, FileFacts
from indexes.parsing.encoding import decode_source
from indexes.parsing.flow import read_flow
from indexes.parsing.outline import read_outline
from indexes.parsing.tree import SourceTree
from indexes.parsing.words import read_words

MAX_SOURCE_BYTES = 4_000_000
"""Larger files are generated data: they are listed and reported, not parsed."""
MAX_FAILURES = 20


def extract_facts(data: bytes) -> FileFacts:
    """All facts of one Python file.

    Parameters
    ----------
    data
        The file's bytes, in any encoding Python knows.

    Returns
    -------
    FileFacts
        Partial where the file does not parse; `FileFacts.failures` then says where. Never raises
        for any content. Linear in the size of the file.
    """
    if len(data) > MAX_SOURCE_BYTES:
        return _unparsed(data, f"larger than {MAX_SOURCE_BYTES} bytes, not parsed")
    source = SourceTree(decode_source(data))
    captures = source.captures()
    outline = read_outline(source, captures)
    flow = read_flow(source, captures, outline)
    failures = _failures(source, captures)
    failures += [(line, "expression nested too deep to follow") for line in flow.too_deep]
    return FileFacts(
        source.line_count,
        outline.docstring,
        tuple(outline.definitions),
        read_words(source, captures, outline),
        flow.imports,
        flow.scopes,
        flow.exports,
        tuple(failures[:MAX_FAILURES]),
    )


def outline(data: bytes) -> tuple[Definition, ...]:
    """Only the definitions of a file, for callers that need spans and nothing else."""
    source = SourceTree(decode_source(data))
    return tuple(read_outline(source, source.captures()).definitions)


def _failures(source: SourceTree, captures: dict[str, list[Node]]) -> list[tuple[int, str]]:
    found = [
        (source.line_at(node.start_byte), message)
        for name, message in (("error", "syntax not understood"), ("missing", "syntax incomplete"))
        for node in captures.get(name, [])
    ]
    return sorted(set(found))


def _unparsed(data: bytes, reason: str) -> FileFacts:
    empty = extract_facts(b"")
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    return msgspec.structs.replace(empty, line_count=lines, failures=((1, reason),))
