"""Shortest ways from the anchors of one issue to its results, for evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from indexes.graph import CodeGraph, Edge

MOST_HOPS = 3
"""A longer way convinces nobody."""
_FAR = 127


class AnchorPaths:
    """Paths of fewest edges, direction ignored, from a nearest anchor.

    Parameters
    ----------
    graph
        The code graph.
    weights : (n_edges,) float
        How readily an edge is taken; edges of weight 0 are not.
    anchors
        Rows to start from.

    Notes
    -----
    Distances from all anchors are measured once, in O(MOST_HOPS * edges). A path is then found from
    its end, looking at nothing but the entities that lie on a shortest one.
    """

    def __init__(
        self, graph: CodeGraph, weights: npt.NDArray[np.float64], anchors: Iterable[int]
    ) -> None:
        self._graph = graph
        self._weights = weights
        self._distances = self._measure(sorted(anchors))

    def _measure(self, anchors: list[int]) -> npt.NDArray[np.int8]:
        """(n_nodes,) hops from the nearest anchor, `_FAR` from `MOST_HOPS` on."""
        taken = self._weights > 0
        sources, targets = self._graph.sources[taken], self._graph.targets[taken]
        distances = np.full(self._graph.n_nodes, _FAR, dtype=np.int8)
        distances[anchors] = 0
        for hops in range(1, MOST_HOPS):
            reached = distances < hops
            around = np.zeros_like(reached)
            around[targets[reached[sources]]] = True
            around[sources[reached[targets]]] = True
            distances[around & ~reached] = hops
        return distances

    def find_path(self, goal: int) -> list[Edge]:
        """Edges from an anchor to a row, the anchor's first.

        Among paths of equal length the one with the largest sum of weights is taken, then the one
        whose edges come first. Empty for an anchor itself, and where no path of at most `MOST_HOPS`
        edges leads.
        """
        hops = int(self._distances[goal])
        if hops == _FAR:
            hops = MOST_HOPS
        came: dict[int, int] = {}
        level = {goal: 0.0}
        for distance in range(hops - 1, -1, -1):
            following: dict[int, float] = {}
            for at, total in level.items():
                for number, other, weight in self._steps(at, distance):
                    if total + weight > following.get(other, 0.0):
                        following[other] = total + weight
                        came[other] = number
            level = following
        if not level:
            return []
        anchor = max(level, key=lambda row: (level[row], -row))
        return self._unwind(came, anchor, goal)

    def _steps(self, row: int, distance: int) -> Iterator[tuple[int, int, float]]:
        """(edge, other end, weight) of the edges to rows at a distance from the anchors."""
        graph = self._graph
        numbers = np.concatenate([graph.out_edges(row), graph.in_edges(row)])
        sources, targets = graph.sources[numbers], graph.targets[numbers]
        others = np.where(sources == row, targets, sources)
        weights = self._weights[numbers]
        kept = (weights > 0) & (self._distances[others] == distance)
        return zip(
            numbers[kept].tolist(), others[kept].tolist(), weights[kept].tolist(), strict=True
        )

    def _unwind(self, came: Mapping[int, int], at: int, goal: int) -> list[Edge]:
        path: list[Edge] = []
        while at != goal:
            edge = self._graph.edge(came[at])
            path.append(edge)
            at = edge.target if edge.source == at else edge.source
        return path
