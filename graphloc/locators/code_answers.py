"""Source code in answers: numbered, in pieces that fit, with the nearest neighbors."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, Self

from pydantic import BeforeValidator, Field

from graphloc.locators.answers import EntityId, EntityPart, entity_part
from graphloc.locators.model import EntityCode, GraphEdge, number_lines
from graphloc.locators.tokens import CHARS_PER_TOKEN
from indexes.source.model import printable_path

_MAX_LINE_CHARS = 600
"""Longer lines are data, not code to read."""
_MOST_NEIGHBORS = 10
"""Edges on each side in an answer; `traverse_graph` has them all."""
_MOST_CHILDREN = 30


def _encodable(text: str) -> str:
    """Return code that JSON can carry: odd codecs decode to lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode()


class Code(EntityPart):
    """An entity's source, or a piece of it, with what is around the entity."""

    first_line: int = Field(description="Number of the first line in code.")
    code: Annotated[str, BeforeValidator(_encodable)] = Field(
        description="Source lines, each behind its number."
    )
    is_piece: bool = Field(False, description="Whether there is more of it than code holds.")
    contains: tuple[EntityId, ...] = Field((), description="What is directly inside the entity.")
    n_contains: int = 0
    uses: tuple[str, ...] = Field((), description="Edges to what it uses, the surest first.")
    n_uses: int = 0
    used_by: tuple[str, ...] = Field((), description="Edges from what uses it, likewise.")
    n_used_by: int = 0

    def fit(self, room: int) -> tuple[Self, Self | None]:
        """Cut behind the last line that fits; the neighbors get half of the room at most."""
        if self.n_tokens <= room:
            return self, None
        head = self.model_copy(update={"code": "", "is_piece": True})
        while head.n_tokens > room // 2 and (head.contains or head.uses or head.used_by):
            halves = {
                name: getattr(head, name)[: len(getattr(head, name)) // 2]
                for name in ("contains", "uses", "used_by")
            }
            head = head.model_copy(update=halves)
        lines = self.code.split("\n")
        kept = _count_fitting(lines, (room - head.n_tokens) * CHARS_PER_TOKEN)
        piece = head.model_copy(update={"code": "\n".join(lines[:kept])})
        if kept == len(lines):
            return piece, None
        rest = {
            "code": "\n".join(lines[kept:]),
            "first_line": self.first_line + kept,
            "is_piece": True,
            **dict.fromkeys(("contains", "uses", "used_by"), ()),
        }
        return piece, self.model_copy(update=rest)


def _count_fitting(lines: list[str], room_chars: int) -> int:
    """Return how many lines fit as JSON text; one at least, so that there is an end."""
    for number, line in enumerate(lines):
        room_chars -= len(json.dumps(line, ensure_ascii=False))
        if room_chars < 0:
            return max(number, 1)
    return len(lines)


def describe_code(found: EntityCode) -> Code:
    """Return an entity's code as models see it."""
    lines = tuple(map(_cut_line, found.lines))
    first = found.entity.span.start_line
    fields = {
        "first_line": first,
        "code": number_lines(lines, first) if lines else "",
        "contains": found.contains[:_MOST_CHILDREN],
        "n_contains": len(found.contains),
        "uses": tuple(_links(found.uses, to_target=True)),
        "n_uses": found.n_uses,
        "used_by": tuple(_links(found.used_by, to_target=False)),
        "n_used_by": found.n_used_by,
    }
    return Code.model_validate(entity_part(found.entity) | fields)


def _cut_line(line: str) -> str:
    return line if len(line) <= _MAX_LINE_CHARS else f"{line[:_MAX_LINE_CHARS]}... (cut)"


def _links(edges: Iterable[GraphEdge], *, to_target: bool) -> Iterable[str]:
    """Yield edges as ``invokes path/to/file.py:function (line 12, 0.8)``."""
    for edge in tuple(edges)[:_MOST_NEIGHBORS]:
        where = printable_path(edge.target if to_target else edge.source)
        place = f"line {edge.line}, " if edge.line else ""
        yield f"{edge.kind} {where} ({place}{edge.confidence:g})"
