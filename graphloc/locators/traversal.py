"""Walking the code graph from some entities."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graphloc.locators.model import Direction, GraphEdge, ReachedEntity, Traversal
from indexes.graph import Edge, EntityTable
from indexes.graph.entities import KINDS
from indexes.model import EdgeKind, EntityKind
from indexes.snapshot import Snapshot

MOST_REACHED = 1_000
"""Entities after which a traversal ends; a hub has more neighbors than anybody reads."""


@dataclass(frozen=True, slots=True)
class TraversalLimits:
    """Which edges and entities a traversal may use."""

    direction: Direction = Direction.BOTH
    hops: int = 1
    edge_kinds: Collection[EdgeKind] = ()
    """All when empty."""
    entity_kinds: Collection[EntityKind] = ()
    """Entities of other kinds are neither returned nor walked through; all when empty."""
    min_confidence: float = 0.0


def traverse(snapshot: Snapshot, starts: Sequence[int], limits: TraversalLimits) -> Traversal:
    """Walk breadth first from rows.

    Each entity is returned once, with the edge by which it was first reached; nearest first, then
    in the order of edges (by source, then as the graph holds them). O(edges) for the filter and
    O(edges around what is reached) for the walk.
    """
    entities, graph = snapshot.entities, snapshot.graph
    mask = graph.select(limits.edge_kinds, limits.min_confidence)
    wanted = _wanted_kinds(entities, limits.entity_kinds)
    seen = set(starts)
    queue = deque((row, 0) for row in dict.fromkeys(starts))
    reached: list[ReachedEntity] = []
    while queue:
        at, depth = queue.popleft()
        if depth == limits.hops:
            continue
        for other, edge in _around(snapshot, at, mask, limits.direction):
            if other in seen or not wanted[other]:
                continue
            if len(reached) == MOST_REACHED:
                return _traversal(entities, starts, reached, is_cut=True)
            seen.add(other)
            queue.append((other, depth + 1))
            reached.append(
                ReachedEntity(entities.entity(other), depth + 1, name_edge(entities, edge))
            )
    return _traversal(entities, starts, reached, is_cut=False)


def name_edge(entities: EntityTable, edge: Edge) -> GraphEdge:
    """Return an edge by the ids of its ends."""
    ids = entities.ids
    return GraphEdge(ids[edge.source], ids[edge.target], edge.kind, edge.line, edge.confidence)


def _traversal(
    entities: EntityTable, starts: Sequence[int], reached: list[ReachedEntity], *, is_cut: bool
) -> Traversal:
    named = tuple(entities.entity(row) for row in dict.fromkeys(starts))
    return Traversal(named, tuple(reached), is_cut)


def _wanted_kinds(entities: EntityTable, kinds: Collection[EntityKind]) -> npt.NDArray[np.bool_]:
    if not kinds:
        return np.ones(len(entities), np.bool_)
    return np.isin(entities.kinds, [KINDS.index(kind) for kind in kinds])


def _around(
    snapshot: Snapshot, row: int, mask: npt.NDArray[np.bool_], direction: Direction
) -> Iterator[tuple[int, Edge]]:
    graph = snapshot.graph
    if direction is not Direction.UPSTREAM:
        for number in graph.out_edges(row):
            if mask[number]:
                edge = graph.edge(number)
                yield edge.target, edge
    if direction is not Direction.DOWNSTREAM:
        for number in graph.in_edges(row):
            if mask[number]:
                edge = graph.edge(number)
                yield edge.source, edge
