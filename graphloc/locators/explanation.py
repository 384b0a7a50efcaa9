"""Why one entity is where it is in the ranking for an issue."""

from __future__ import annotations

from collections.abc import Callable

from graphloc.localization import Localization, RankedEntity
from graphloc.locators.model import Explanation, GraphEdge
from graphloc.locators.quoting import shown
from graphloc.locators.traversal import name_edge
from indexes.errors import EntityNotFoundError
from indexes.model import EdgeKind, EntityKind
from indexes.snapshot import Snapshot

RANKED = 100
"""Places of each kind that are looked at; nobody reads further."""
_TELLING = tuple(kind for kind in EdgeKind if kind is not EdgeKind.CONTAINS)
"""By way of the root folder everything is near to everything."""


def explain(snapshot: Snapshot, row: int, localize: Callable[[int], Localization]) -> Explanation:
    """Explain the place of a row.

    Parameters
    ----------
    snapshot
        The tree.
    row
        Of a file, class or function.
    localize
        Ranks so many places of each kind for the issue, tests included.

    Raises
    ------
    EntityNotFoundError
        If it is a folder, as folders are not ranked.
    """
    entity = snapshot.entities.entity(row)
    if entity.kind is EntityKind.DIRECTORY:
        name = shown(entity.id)
        raise EntityNotFoundError(f"{name!r} is a folder, and folders are not ranked: name a file")
    ranked = _of_kind(localize(RANKED), entity.kind)
    own = next((result for result in ranked if result.entity.id == entity.id), None)
    best = ranked[0].entity.id if ranked else None
    path: tuple[GraphEdge, ...] = ()
    if best is not None and best != entity.id:
        start = snapshot.entities.get(best)
        found = snapshot.graph.shortest_path(start, row, _TELLING) or []
        path = tuple(name_edge(snapshot.entities, edge) for edge in found)
    return Explanation(
        entity,
        rank=own.rank if own else None,
        n_ranked=len(ranked),
        score=own.score if own else None,
        confidence=own.confidence if own else None,
        evidence=own.evidence if own else (),
        best=best,
        path=path,
    )


def _of_kind(found: Localization, kind: EntityKind) -> tuple[RankedEntity, ...]:
    if kind is EntityKind.FILE:
        return found.files
    return found.classes if kind is EntityKind.CLASS else found.functions
