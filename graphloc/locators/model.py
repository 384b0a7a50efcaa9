"""What a locator returns. All of it is immutable, and ids are those of the index."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from indexes.model import EdgeKind, Entity

if TYPE_CHECKING:
    from graphloc.localization import Evidence


class ResultLevel(StrEnum):
    """What is named."""

    FILE = "file"
    CLASS = "class"
    FUNCTION = "function"
    ALL = "all"


class Direction(StrEnum):
    """Which way edges are followed; they point from the user to the used."""

    DOWNSTREAM = "downstream"
    """To what an entity contains, imports, invokes, inherits from or references."""
    UPSTREAM = "upstream"
    """To what contains, imports, invokes, inherits from or references an entity."""
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """One entity that a search found."""

    rank: int
    """From 1."""
    term: str
    """The term that found it best."""
    entity: Entity
    score: float
    """0 or more, comparable among the entities of one term only."""
    matched: tuple[str, ...]
    """``name`` if the term names the entity, then the fields that hold its words."""


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """One edge of the code graph between two entities, by their ids."""

    source: str
    target: str
    kind: EdgeKind
    line: int
    """Line in the source's file; 0 where there is none."""
    confidence: float
    """In (0, 1]; see `indexes.model.Confidence`."""


@dataclass(frozen=True, slots=True)
class ReachedEntity:
    """One entity that a traversal came to."""

    entity: Entity
    hops: int
    """Edges between it and the nearest start, from 1."""
    edge: GraphEdge
    """By which it was reached first."""


@dataclass(frozen=True, slots=True)
class Traversal:
    """A walk through the code graph."""

    starts: tuple[Entity, ...]
    reached: tuple[ReachedEntity, ...]
    """Nearest first, each once."""
    is_cut: bool
    """Whether there was more than a traversal returns."""


@dataclass(frozen=True, slots=True)
class EntityCode:
    """One entity with its source code and what is around it."""

    entity: Entity
    lines: tuple[str, ...]
    """Its source, without line ends; empty for folders."""
    contains: tuple[str, ...]
    """Ids of the entities directly inside it."""
    uses: tuple[GraphEdge, ...]
    """Edges to what it uses, the surest first, at most `graphloc.locators.code.MOST_NEIGHBORS`."""
    used_by: tuple[GraphEdge, ...]
    """Edges from what uses it, likewise."""
    n_uses: int
    n_used_by: int

    @property
    def numbered_code(self) -> str:
        """The source with the number of each line before it."""
        return number_lines(self.lines, self.entity.span.start_line)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an entity is where it is in the ranking for an issue."""

    entity: Entity
    rank: int | None
    """Among the entities of its kind, from 1; None if it is not among the first `n_ranked`."""
    n_ranked: int
    """How many entities of its kind were looked at."""
    score: float | None
    confidence: float | None
    evidence: tuple[Evidence, ...]
    """Strongest first; all evidence there is."""
    best: str | None
    """Id of the first entity of its kind, or None if nothing was found."""
    path: tuple[GraphEdge, ...]
    """The shortest way through the graph from `best` to the entity; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Refresh:
    """What bringing an index up to date came to."""

    revision: str
    """Commit id, or ``worktree``."""
    n_files: int
    n_read: int
    """Files that were read because they are new or have changed."""
    has_changed: bool
    """Whether the index is another one than before."""
    elapsed_ms: float


@dataclass(frozen=True, slots=True)
class RepositoryMap:
    """The entities that the rest of a repository leans on most, as text."""

    text: str
    n_shown: int
    """Classes and functions in the text."""
    n_entities: int
    """Classes and functions in the repository, tests left out."""


def number_lines(lines: tuple[str, ...], first: int) -> str:
    """Return lines as text with their numbers.

    >>> print(number_lines(("def f():", "    pass"), 9))
     9| def f():
    10|     pass
    """
    width = len(str(first + len(lines) - 1))
    return "\n".join(f"{number:>{width}}| {line}" for number, line in enumerate(lines, first))
