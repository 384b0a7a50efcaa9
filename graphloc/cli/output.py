"""Writing: data to stdout, remarks to stderr, both safe on any terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping

from indexes.errors import GraphlocError
from indexes.model import Entity
from indexes.source import printable_path


class OutputError(GraphlocError):
    """What was found cannot be written."""

    exit_code = 2


def write_line(text: str = "") -> None:
    """Write one line of data."""
    write_chunks((f"{text}\n",))


def write_json(document: Mapping[str, object]) -> None:
    """Write one JSON document, indented; in ASCII if stdout is no UTF-8."""
    write_line(json.dumps(document, ensure_ascii=not writes_utf8(), indent=2))


def write_chunks(chunks: Iterable[str]) -> None:
    """Write a long text piece by piece.

    Raises
    ------
    BrokenPipeError
        If whoever read it has left.
    OutputError
        If there is no room, or writing fails in another way.
    """
    for chunk in chunks:
        try:
            sys.stdout.write(chunk)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"the output cannot be written: {error.strerror}") from error


def write_remark(text: str) -> None:
    """Write one line to stderr."""
    print(f"graphloc: {printable_path(text)}", file=sys.stderr, flush=True)


def writes_utf8() -> bool:
    """Whether stdout takes any character."""
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def iter_markdown(header: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table; what would break a cell is escaped."""
    names = tuple(header)
    for row in (names, ("---",) * len(names), *rows):
        yield f"| {' | '.join(map(markdown_cell, row))} |"


def markdown_cell(text: str) -> str:
    """Return a text that stays inside its cell."""
    return printable_path(text).replace("|", "\\|")


def lines_of(entity: Entity) -> str:
    """Return an entity's lines as text; empty for folders.

    >>> from indexes.model import EntityKind, Span
    >>> lines_of(Entity("a.py:f", EntityKind.FUNCTION, "a.py", "f", Span(3, 8)))
    '3-8'
    """
    first, last = entity.span.start_line, entity.span.end_line
    if not first:
        return ""
    return f"{first}-{last}" if last > first else str(first)


def entity_fields(entity: Entity) -> dict[str, object]:
    """Return the JSON fields that name an entity wherever one is written."""
    return {
        "entity": printable_path(entity.id),
        "kind": str(entity.kind),
        "path": printable_path(entity.path),
        "start_line": entity.span.start_line,
        "end_line": entity.span.end_line,
    }
