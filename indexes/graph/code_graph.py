"""The code graph in compact arrays, with its traversals."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from indexes.arrays import Arrays, unpack_texts
from indexes.model import EdgeKind

EDGE_KINDS = tuple(EdgeKind)
"""Order of the edge kinds' numbers."""
KIND_NUMBERS = {kind: number for number, kind in enumerate(EDGE_KINDS)}


@dataclass(frozen=True, slots=True)
class Edge:
    """One edge between rows of the entity table."""

    source: int
    target: int
    kind: EdgeKind
    line: int
    """Line in the source's file; 0 where there is none (contains, overrides)."""
    confidence: float


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A call whose target is not known."""

    source: int
    name: str
    line: int


class CodeGraph:
    """Directed, typed multigraph over rows of an `EntityTable`.

    Parameters
    ----------
    arrays
        ``sources``, ``targets`` (int32), ``kinds`` (uint8), ``lines`` (int32), ``confidences``
        (float32), all (n_edges,), sorted by source; ``unresolved`` (m, 2) int32 of (source, line)
        with their ``unresolved_names``; ``n_nodes`` and ``counts`` (call sites by outcome).
    """

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = dict(arrays)
        self.n_nodes = int(arrays["n_nodes"][0])
        self.sources: npt.NDArray[np.int32] = arrays["sources"]
        self.targets: npt.NDArray[np.int32] = arrays["targets"]
        self.kinds: npt.NDArray[np.uint8] = arrays["kinds"]
        self.lines: npt.NDArray[np.int32] = arrays["lines"]
        self.confidences: npt.NDArray[np.float32] = arrays["confidences"]

    def __len__(self) -> int:
        return len(self.sources)

    def to_arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """The arrays, for storing."""
        return self._arrays

    @cached_property
    def _out_starts(self) -> npt.NDArray[np.int64]:
        return np.searchsorted(self.sources, np.arange(self.n_nodes + 1))

    @cached_property
    def _in_order(self) -> npt.NDArray[np.int64]:
        return np.argsort(self.targets, kind="stable")

    @cached_property
    def _in_starts(self) -> npt.NDArray[np.int64]:
        return np.searchsorted(self.targets[self._in_order], np.arange(self.n_nodes + 1))

    def out_edges(self, row: int) -> npt.NDArray[np.int64]:
        """Numbers of the edges that start at a row."""
        return np.arange(self._out_starts[row], self._out_starts[row + 1])

    def in_edges(self, row: int) -> npt.NDArray[np.int64]:
        """Numbers of the edges that end at a row."""
        return self._in_order[self._in_starts[row] : self._in_starts[row + 1]]

    def edge(self, number: int) -> Edge:
        """One edge as a value."""
        return Edge(
            int(self.sources[number]),
            int(self.targets[number]),
            EDGE_KINDS[self.kinds[number]],
            int(self.lines[number]),
            round(float(self.confidences[number]), 3),
        )

    def select(
        self, kinds: Collection[EdgeKind] | None = None, min_confidence: float = 0.0
    ) -> npt.NDArray[np.bool_]:
        """(n_edges,) mask of the edges of some kinds that are sure enough."""
        mask = self.confidences >= np.float32(min_confidence)
        if kinds:
            mask &= np.isin(self.kinds, [KIND_NUMBERS[kind] for kind in kinds])
        return mask

    def unresolved(self) -> list[Unresolved]:
        """Calls whose target is not known, by source and line."""
        places = self._arrays["unresolved"].tolist()
        names = unpack_texts(self._arrays["unresolved_names"], len(places))
        return [
            Unresolved(source, name, line)
            for (source, line), name in zip(places, names, strict=True)
        ]

    def counts(self) -> dict[str, int]:
        """Call sites by outcome: certain, inferred, guessed, external, unresolved."""
        return dict(zip(COUNT_NAMES, self._arrays["counts"].tolist(), strict=True))

    def neighbors(
        self,
        row: int,
        hops: int = 1,
        kinds: Collection[EdgeKind] | None = None,
        min_confidence: float = 0.0,
    ) -> list[tuple[int, int, Edge]]:
        """Entities within some hops of a row, in both directions, breadth first.

        Returns
        -------
        list of (row, hops, edge)
            Each entity once, with the edge by which it was first reached; nearest first, then in
            order of rows.
        """
        mask = self.select(kinds, min_confidence)
        seen = {row}
        found: list[tuple[int, int, Edge]] = []
        queue = deque([(row, 0)])
        while queue:
            at, depth = queue.popleft()
            if depth == hops:
                continue
            for number in self._around(at, mask):
                edge = self.edge(number)
                other = edge.target if edge.source == at else edge.source
                if other not in seen:
                    seen.add(other)
                    found.append((other, depth + 1, edge))
                    queue.append((other, depth + 1))
        return found

    def _around(self, row: int, mask: npt.NDArray[np.bool_]) -> Iterable[int]:
        numbers = np.concatenate([self.out_edges(row), self.in_edges(row)])
        kept: list[int] = numbers[mask[numbers]].tolist()
        return kept

    def shortest_path(
        self,
        start: int,
        goal: int,
        kinds: Collection[EdgeKind] | None = None,
        min_confidence: float = 0.0,
    ) -> list[Edge] | None:
        """A path of fewest edges, direction ignored; `None` when there is none."""
        mask = self.select(kinds, min_confidence)
        came: dict[int, int] = {start: -1}
        queue = deque([start])
        while queue and goal not in came:
            at = queue.popleft()
            for number in self._around(at, mask):
                ends = int(self.sources[number]), int(self.targets[number])
                other = ends[1] if ends[0] == at else ends[0]
                if other not in came:
                    came[other] = number
                    queue.append(other)
        return self._unwind(came, start, goal) if goal in came else None

    def _unwind(self, came: dict[int, int], start: int, goal: int) -> list[Edge]:
        path: list[Edge] = []
        at = goal
        while at != start:
            edge = self.edge(came[at])
            path.append(edge)
            at = edge.source if edge.target == at else edge.target
        return path[::-1]


COUNT_NAMES = ("certain", "inferred", "guessed", "external", "unresolved")
