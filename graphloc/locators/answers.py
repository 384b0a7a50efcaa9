"""What tools answer, as JSON: the values of `graphloc.locators.model` in the words of models.

Every text is safe to encode. Results are items, so that an answer can be cut between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from graphloc.locators.model import FoundEntity, GraphEdge, ReachedEntity
from graphloc.locators.tokens import count_tokens
from indexes.model import Entity
from indexes.source.model import printable_path

if TYPE_CHECKING:
    from graphloc.localization import Evidence, RankedEntity

_MAX_TEXT_CHARS = 300
"""Signatures, reasons and first lines of docstrings are cut to this."""
_MOST_HOPS = 9
"""Entities and edges of a path: five entities."""


def _printable(text: str) -> str:
    # Nearly all ids are, and looking costs far less than escaping character by character.
    return text if text.isascii() and text.isprintable() else printable_path(text)


def _shorten(text: str) -> str:
    cut = text if len(text) <= _MAX_TEXT_CHARS else f"{text[: _MAX_TEXT_CHARS - 3]}..."
    return _printable(cut.encode("utf-8", "backslashreplace").decode())


EntityId = Annotated[str, BeforeValidator(_printable)]
ShortText = Annotated[str, BeforeValidator(_shorten)]


class Part(BaseModel):
    """A part of an answer."""

    model_config = ConfigDict(frozen=True)

    def fit(self, room: int) -> tuple[Self, Self | None]:
        """Return what fits into so many tokens, as far as it can be cut, and the rest."""
        del room
        return self, None

    @property
    def n_tokens(self) -> int:
        """Tokens of its JSON."""
        return count_tokens(self.model_dump_json())


class EntityPart(Part):
    """An entity."""

    entity: EntityId = Field(description="Its id, for the other tools.")
    kind: str
    path: EntityId
    start_line: int = Field(description="1-based; 0 for folders.")
    end_line: int = Field(description="Inclusive.")
    signature: ShortText = ""


class Reason(Part):
    """One piece of evidence."""

    signal: str = Field(description="Which source of evidence speaks.")
    detail: ShortText
    weight: float = Field(description="Share of the score that it brings.")
    hops: tuple[EntityId, ...] = Field((), description="Way through the graph, anchor first.")


class Place(EntityPart):
    """One place that an issue may be about."""

    rank: int
    confidence: float = Field(description="Estimated probability that the fix changes it.")
    evidence: tuple[Reason, ...] = ()

    def fit(self, room: int) -> tuple[Self, Self | None]:
        """Leave out the weakest reasons where there is no room for them."""
        place = self
        while place.evidence and place.n_tokens > room:
            place = place.model_copy(update={"evidence": place.evidence[:-1]})
        return place, None


class Found(EntityPart):
    """One entity that a search found."""

    rank: int
    term: ShortText = Field(description="The term that found it.")
    matched: tuple[str, ...] = Field(description="Where the term or its words occur.")
    docstring: ShortText = Field("", description="First line.")


class Link(Part):
    """An edge of the code graph."""

    source: EntityId
    edge: str
    target: EntityId
    line: int = Field(description="Line in the source's file; 0 where there is none.")
    confidence: float


class Reached(EntityPart):
    """One entity that a traversal came to."""

    hops: int
    via: Link


def entity_part(entity: Entity) -> dict[str, object]:
    """Return the fields of an `EntityPart`."""
    return {
        "entity": entity.id,
        "kind": str(entity.kind),
        "path": entity.path,
        "start_line": entity.span.start_line,
        "end_line": entity.span.end_line,
        "signature": entity.signature,
    }


def describe_entity(entity: Entity) -> EntityPart:
    """Return an entity as models see it."""
    return EntityPart.model_validate(entity_part(entity))


def describe_reason(evidence: Evidence) -> Reason:
    """Return a reason as models see it."""
    return Reason(
        signal=evidence.signal,
        detail=evidence.detail,
        weight=evidence.weight,
        hops=evidence.hops[:_MOST_HOPS],
    )


def describe_place(result: RankedEntity, rank: int) -> Place:
    """Return a ranked entity as models see it."""
    return Place.model_validate(
        {
            **entity_part(result.entity),
            "rank": rank,
            "confidence": result.confidence,
            "evidence": tuple(map(describe_reason, result.evidence)),
        }
    )


def describe_found(found: FoundEntity) -> Found:
    """Return a found entity as models see it."""
    return Found.model_validate(
        {
            **entity_part(found.entity),
            "rank": found.rank,
            "term": found.term,
            "matched": found.matched,
            "docstring": found.entity.docstring.strip().split("\n", 1)[0],
        }
    )


def describe_link(edge: GraphEdge) -> Link:
    """Return an edge as models see it."""
    return Link(
        source=edge.source,
        edge=str(edge.kind),
        target=edge.target,
        line=edge.line,
        confidence=edge.confidence,
    )


def describe_reached(reached: ReachedEntity) -> Reached:
    """Return a reached entity as models see it."""
    fields = {"hops": reached.hops, "via": describe_link(reached.edge)}
    return Reached.model_validate(entity_part(reached.entity) | fields)
