"""A map of a repository that fits into a prompt: what the rest leans on most, file by file.

Entities are ranked by PageRank (Page et al. 1999, http://ilpubs.stanford.edu:8090/422/) over the
edges from users to what they use, so that what important code uses is important. The best ones are
taken until the room is used up.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from graphloc.locators.model import RepositoryMap
from graphloc.locators.tokens import count_tokens
from indexes.graph.code_graph import EDGE_KINDS
from indexes.graph.entities import CLASS
from indexes.model import EdgeKind, EntityKind
from indexes.snapshot import Snapshot
from indexes.source import printable_path

_DAMPING = 0.85
"""The usual one."""
_ROUNDS = 30
"""0.85 ** 30 < 0.01: what is left changes no order that matters."""
_KIND_WEIGHTS: Mapping[EdgeKind, float] = {
    EdgeKind.IMPORTS: 0.5,
    EdgeKind.INVOKES: 1.0,
    EdgeKind.INHERITS: 1.0,
    EdgeKind.REFERENCES: 0.5,
}
"""By hand: an import says less than a call. Edges of other kinds are no use of anything."""
_MAX_SIGNATURE_CHARS = 120


def draw_map(snapshot: Snapshot, max_tokens: int) -> RepositoryMap:
    """Draw the map of a snapshot.

    Parameters
    ----------
    snapshot
        The tree; test files are left out.
    max_tokens
        Room, as `graphloc.locators.tokens.count_tokens` counts.

    Returns
    -------
    RepositoryMap
        Files in order of path, under each its entities in order of lines. The same snapshot gives
        the same map; ties go by rows. O(edges).
    """
    entities = snapshot.entities
    candidates = np.flatnonzero((entities.kinds >= CLASS) & ~entities.is_test)
    importance = _importance(snapshot)
    order = candidates[np.lexsort((candidates, -importance[candidates]))]
    lines: dict[int, str] = {}
    room = max_tokens
    for row in order.tolist():
        added = _missing_lines(snapshot, row, lines)
        cost = sum(count_tokens(line + "\n") for line in added.values())
        if cost > room:
            break
        room -= cost
        lines |= added
    text = "\n".join(lines[row] for row in sorted(lines))
    shown = sum(1 for row in lines if entities.kinds[row] >= CLASS)
    return RepositoryMap(text, shown, len(candidates))


def _importance(snapshot: Snapshot) -> npt.NDArray[np.float64]:
    """(n_entities,) float64: PageRank, sums to 1 at most."""
    graph, n = snapshot.graph, len(snapshot.entities)
    by_kind = np.array([_KIND_WEIGHTS.get(kind, 0.0) for kind in EDGE_KINDS])
    weights = by_kind[graph.kinds] * graph.confidences
    total = np.bincount(graph.sources, weights=weights, minlength=n)
    shares = weights / np.where(total > 0, total, 1.0)[graph.sources]
    rank = np.full(n, 1.0 / max(n, 1))
    for _ in range(_ROUNDS):
        moved = np.bincount(graph.targets, weights=shares * rank[graph.sources], minlength=n)
        rank = (1 - _DAMPING) / max(n, 1) + _DAMPING * moved
    return rank


def _missing_lines(snapshot: Snapshot, row: int, lines: Mapping[int, str]) -> dict[int, str]:
    """Return the line of a row and those around it that the map does not have yet."""
    entities = snapshot.entities
    around = [a for a in entities.iter_ancestors(row) if entities.kinds[a] >= CLASS - 1]
    return {r: _line(snapshot, r) for r in (row, *around) if r not in lines}


def _line(snapshot: Snapshot, row: int) -> str:
    entity = snapshot.entities.entity(row)
    if entity.kind is EntityKind.FILE:
        return printable_path(entity.path)
    depth = entity.name.count(".") + 1
    word = "class" if entity.kind is EntityKind.CLASS else "def"
    signature = entity.signature
    if len(signature) > _MAX_SIGNATURE_CHARS:
        signature = f"{signature[:_MAX_SIGNATURE_CHARS]}..."
    name = entity.name.rpartition(".")[2]
    head = printable_path(f"{word} {name}{signature}")
    return f"{'  ' * depth}{entity.span.start_line}: {head}"
