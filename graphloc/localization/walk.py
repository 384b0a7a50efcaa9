"""Spreading from anchors over the graph.

Personalized PageRank (Page et al. 1999; Haveliwala 2002, https://doi.org/10.1145/511446.511513)
over typed edges followed in both directions. A walk leaves an entity along its edges in proportion
to their weight, so an entity that everything calls passes little on to each caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from graphloc.localization.anchor_paths import AnchorPaths
from graphloc.localization.query import Floats
from indexes.graph import CodeGraph, EntityTable
from indexes.graph.code_graph import EDGE_KINDS
from indexes.graph.entities import DIRECTORY
from indexes.model import EdgeKind

KIND_WEIGHTS: Mapping[EdgeKind, float] = {
    EdgeKind.CONTAINS: 0.6,
    EdgeKind.INVOKES: 1.0,
    EdgeKind.INHERITS: 0.8,
    EdgeKind.OVERRIDES: 0.5,
    EdgeKind.REFERENCES: 0.5,
    EdgeKind.IMPORTS: 0.3,
    EdgeKind.TESTS: 0.0,
    EdgeKind.CO_CHANGES: 0.5,
}
"""How readily a walk takes an edge; times the edge's confidence."""
RESTART = 0.35
"""Probability of going back to an anchor at each step; keeps the walk within a few hops."""
ROUNDS = 8
"""(1 - RESTART) ** 8 = 0.03 of the walk is left unfinished."""


class GraphWalk:
    """Transition weights of one graph; made once a snapshot.

    Edges from and to tests are not taken. The walk knows folders, but no path is shown through
    one: that two files share a folder is no reason that a maintainer would accept.
    """

    def __init__(self, graph: CodeGraph, entities: EntityTable) -> None:
        by_kind = np.array([KIND_WEIGHTS[kind] for kind in EDGE_KINDS], dtype=np.float64)
        weights = by_kind[graph.kinds] * graph.confidences
        weights[entities.is_test[graph.sources] | entities.is_test[graph.targets]] = 0.0
        kept = weights > 0
        self._graph = graph
        self._path_weights: npt.NDArray[np.float64] = np.where(
            entities.kinds[graph.sources] == DIRECTORY, 0.0, weights
        )
        self._sources = np.concatenate([graph.sources[kept], graph.targets[kept]])
        self._targets = np.concatenate([graph.targets[kept], graph.sources[kept]])
        doubled = np.concatenate([weights[kept], weights[kept]])
        total = np.bincount(self._sources, weights=doubled, minlength=graph.n_nodes)
        self._shares = doubled / total[self._sources]

    def spread(self, anchors: Mapping[int, float]) -> Floats:
        """Stationary visiting probability of each row.

        Parameters
        ----------
        anchors
            Rows with positive weights.

        Returns
        -------
        (n_nodes,) float32
            Sums to 1 at most; zeros without anchors. O(ROUNDS * edges).
        """
        n = self._graph.n_nodes
        start = np.zeros(n)
        for row, weight in anchors.items():
            start[row] = weight
        total = start.sum()
        if total <= 0:
            return start.astype(np.float32)
        start /= total
        current = start
        for _ in range(ROUNDS):
            flow = np.bincount(
                self._targets, weights=current[self._sources] * self._shares, minlength=n
            )
            current = RESTART * start + (1 - RESTART) * flow
        return current.astype(np.float32)

    def paths_from(self, anchors: Iterable[int]) -> AnchorPaths:
        """Ways from the anchors along the edges that the walk takes, folders left out."""
        return AnchorPaths(self._graph, self._path_weights, anchors)
