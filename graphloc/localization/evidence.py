"""Why a result is where it is, in words a maintainer can check."""

from __future__ import annotations

from graphloc.localization.features import Features, relative
from graphloc.localization.model import Evidence
from graphloc.localization.query import Query
from graphloc.localization.ranker import ENTITY_WEIGHTS, FILE_WEIGHTS
from graphloc.localization.walk import GraphWalk
from indexes.graph import Edge

MOST_REASONS = 6
_MIN_SHARE = 0.05
"""Columns that bring less of a result's score than this are not worth a line."""


class EvidenceWriter:
    """Writes the evidence of results of one localization."""

    def __init__(self, query: Query, features: Features, walk: GraphWalk) -> None:
        self._query = query
        self._features = features
        self._walk = walk
        self._shares = {
            "entity": {n: relative(v) for n, v in features.entities.items()},
            "file": {n: relative(v) for n, v in features.files.items()},
        }

    def of_entity(self, row: int) -> tuple[Evidence, ...]:
        """Reasons for a class or function."""
        found = self._from_columns("entity", row, row)
        file = int(self._query.files[row])
        path = self._query.snapshot.entities.paths[file]
        for reason in self._from_columns("file", file, -1)[:2]:
            detail = f"its file {path}: {reason.detail}"
            found.append(Evidence(reason.signal, detail, round(reason.weight / 2, 3)))
        return self._finish(found, row)

    def of_file(self, file: int) -> tuple[Evidence, ...]:
        """Reasons for a file."""
        row = int(self._query.snapshot.entities.file_rows[file])
        return self._finish(self._from_columns("file", file, row), row)

    def _from_columns(self, level: str, number: int, row: int) -> list[Evidence]:
        weights = ENTITY_WEIGHTS if level == "entity" else FILE_WEIGHTS
        best: dict[tuple[str, str], Evidence] = {}
        for (at, name), (signal, column) in self._features.columns.items():
            if at != level or signal == "priors":
                continue
            share = float(self._shares[level][name][number])
            weight = share * weights.get(name, _lexical_weight(name))
            if share <= 0 or weight < _MIN_SHARE:
                continue
            detail = column.explain(number)
            known = best.get((signal, detail))
            if detail and (known is None or known.weight < weight):
                best[signal, detail] = Evidence(signal, detail, round(weight, 3))
        reasons = sorted(best.values(), key=lambda reason: (-reason.weight, reason.detail))
        return _one_per_kind(reasons) + (self._graph_reason(level, number, row) if row >= 0 else [])

    def _graph_reason(self, level: str, number: int, row: int) -> list[Evidence]:
        name = "walk" if level == "entity" else "walk_best"
        share = float(self._shares[level][name][number])
        if share < _MIN_SHARE or row in self._features.anchors:
            return []
        path = self._walk.path_from(self._features.anchors, row)
        if not path:
            return []
        hops = self._hops(path)
        detail = f"{len(path)} hop{'s' if len(path) > 1 else ''} from {hops[0]}"
        weight = share * ENTITY_WEIGHTS["walk"]
        return [Evidence("graph", detail, round(weight, 3), hops)]

    def _hops(self, path: list[Edge]) -> tuple[str, ...]:
        """Entities and edges of a path, from the anchor on; the arrow shows the edge's direction."""
        ids = self._query.snapshot.entities.ids
        first, second = {path[0].source, path[0].target}, set()
        if len(path) > 1:
            second = {path[1].source, path[1].target}
        shared = first & second
        at = next(iter(first - shared)) if shared and first - shared else path[0].source
        if len(path) == 1:
            at = path[0].source if path[0].source in self._features.anchors else path[0].target
        hops = [ids[at]]
        for edge in path:
            forward = edge.source == at
            at = edge.target if forward else edge.source
            hops += [f"{edge.kind} ->" if forward else f"<- {edge.kind}", ids[at]]
        return tuple(hops)

    def _finish(self, found: list[Evidence], row: int) -> tuple[Evidence, ...]:
        del row
        found.sort(key=lambda reason: -reason.weight)
        return tuple(found[:MOST_REASONS])


def _lexical_weight(name: str) -> float:
    """Share of one field's column in the totals that the weights know."""
    return 0.4 if name.startswith("title_") else 0.3


def _one_per_kind(reasons: list[Evidence]) -> list[Evidence]:
    """Lexical reasons repeat each other field by field: the best three are enough."""
    lexical = [reason for reason in reasons if reason.signal == "words"][:3]
    return [reason for reason in reasons if reason.signal != "words"] + lexical
