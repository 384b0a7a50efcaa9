"""Spreading from anchors over the graph, and the paths that show how a result was reached.

Personalized PageRank (Page et al. 1999; Haveliwala 2002, https://doi.org/10.1145/511446.511513) over
typed edges followed in both directions. A walk leaves an entity along its edges in proportion to
their weight, so an entity that everything calls passes little on to each caller.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

import numpy as np

from graphloc.localization.query import Floats
from indexes.graph import CodeGraph, Edge
from indexes.graph.code_graph import EDGE_KINDS
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
_MOST_VISITED = 3_000
"""Entities looked at while a path is sought; hubs make more."""


class GraphWalk:
    """Transition weights of one graph; made once a snapshot."""

    def __init__(
        self, graph: CodeGraph, is_test: np.ndarray[tuple[int], np.dtype[np.bool_]]
    ) -> None:
        by_kind = np.array([KIND_WEIGHTS[kind] for kind in EDGE_KINDS], dtype=np.float64)
        weights = by_kind[graph.kinds] * graph.confidences
        weights[is_test[graph.sources] | is_test[graph.targets]] = 0.0
        kept = weights > 0
        self._graph = graph
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

    def path_from(self, anchors: Iterable[int], goal: int, most_hops: int = 3) -> list[Edge]:
        """A short path from one of the anchors to a row; empty when there is none so short.

        Edges of tests and folders are not taken. Breadth first from the goal, so the anchor found
        is a nearest one.
        """
        wanted = set(anchors) - {goal}
        came: dict[int, int] = {goal: -1}
        queue = deque([(goal, 0)])
        while queue and len(came) < _MOST_VISITED:
            at, depth = queue.popleft()
            if at in wanted:
                return self._unwind(came, at, goal)
            if depth < most_hops:
                for number in self._steps(at):
                    other = self._other_end(number, at)
                    if other not in came:
                        came[other] = number
                        queue.append((other, depth + 1))
        return []

    def _steps(self, row: int) -> list[int]:
        graph = self._graph
        numbers = np.concatenate([graph.out_edges(row), graph.in_edges(row)])
        kinds = [EDGE_KINDS[kind] for kind in graph.kinds[numbers]]
        steps = [
            (-KIND_WEIGHTS[kind] * float(graph.confidences[n]), int(n))
            for n, kind in zip(numbers, kinds, strict=True)
            if KIND_WEIGHTS[kind] > 0
        ]
        return [number for _, number in sorted(steps)]

    def _other_end(self, number: int, row: int) -> int:
        source, target = int(self._graph.sources[number]), int(self._graph.targets[number])
        return target if source == row else source

    def _unwind(self, came: Mapping[int, int], at: int, goal: int) -> list[Edge]:
        path: list[Edge] = []
        while at != goal:
            number = came[at]
            path.append(self._graph.edge(number))
            at = self._other_end(number, at)
        return path
