"""Why a result is where it is, in words a maintainer can check."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from graphloc.localization.anchor_paths import AnchorPaths
from graphloc.localization.features import Features
from graphloc.localization.model import Evidence
from graphloc.localization.query import Query
from graphloc.localization.ranker import ENTITY_WEIGHTS, FILE_WEIGHTS
from graphloc.localization.signals import Column
from graphloc.localization.walk import GraphWalk
from indexes.graph import Edge

MOST_REASONS = 6
_MOST_LEXICAL = 3
_MIN_SHARE = 0.05
"""Columns that bring less of a result's score than this are not worth a line."""


class EvidenceWriter:
    """Writes the evidence of results of one localization."""

    def __init__(self, query: Query, features: Features, walk: GraphWalk) -> None:
        self._query = query
        self._features = features
        self._walk = walk
        self._tops: dict[tuple[str, str], np.float32] = {}

    @cached_property
    def _paths(self) -> AnchorPaths:
        return self._walk.paths_from(self._features.anchors)

    def _share(self, level: str, name: str, number: int) -> float:
        """One value of a column, as a share of the column's largest."""
        values = (self._features.entities if level == "entity" else self._features.files)[name]
        top = self._tops.get((level, name))
        if top is None:
            top = self._tops[level, name] = values.max()
        return float(values[number] / top) if top > 0 else 0.0

    def of_entity(self, row: int) -> tuple[Evidence, ...]:
        """Reasons for a class or function."""
        found = self._from_columns("entity", row, row)
        file = int(self._query.files[row])
        path = self._query.snapshot.entities.paths[file]
        for reason in self._from_columns("file", file, -1)[:2]:
            detail = f"its file {path}: {reason.detail}"
            found.append(Evidence(reason.signal, detail, round(reason.weight / 2, 3)))
        return _strongest(found)

    def of_file(self, file: int) -> tuple[Evidence, ...]:
        """Reasons for a file."""
        row = int(self._query.snapshot.entities.file_rows[file])
        return _strongest(self._from_columns("file", file, row))

    def _from_columns(self, level: str, number: int, row: int) -> list[Evidence]:
        weights = ENTITY_WEIGHTS if level == "entity" else FILE_WEIGHTS
        weighed: list[tuple[float, str, Column]] = []
        for (at, name), (signal, column) in self._features.columns.items():
            if at == level and signal != "priors":
                weight = self._share(level, name, number) * weights.get(name, _lexical_weight(name))
                if weight >= _MIN_SHARE:
                    weighed.append((weight, signal, column))
        weighed.sort(key=lambda item: -item[0])
        found = self._explain(weighed, number)
        return found + (self._graph_reason(level, number, row) if row >= 0 else [])

    def _explain(self, weighed: list[tuple[float, str, Column]], number: int) -> list[Evidence]:
        """Reasons of the weightiest columns; only so many of the lexical ones, which repeat."""
        found: dict[tuple[str, str], Evidence] = {}
        words = 0
        for weight, signal, column in weighed:
            if signal == "words" and words >= _MOST_LEXICAL:
                continue
            words += signal == "words"
            detail = column.explain(number)
            if detail:
                found.setdefault((signal, detail), Evidence(signal, detail, round(weight, 3)))
        return list(found.values())

    def _graph_reason(self, level: str, number: int, row: int) -> list[Evidence]:
        name = "walk" if level == "entity" else "walk_best"
        share = self._share(level, name, number)
        if share < _MIN_SHARE or row in self._features.anchors:
            return []
        path = self._paths.find_path(row)
        if not path:
            return []
        hops = self._hops(path)
        detail = f"{len(path)} hop{'s' if len(path) > 1 else ''} from {hops[0]}"
        weight = share * ENTITY_WEIGHTS["walk"]
        return [Evidence("graph", detail, round(weight, 3), hops)]

    def _hops(self, path: list[Edge]) -> tuple[str, ...]:
        """Entities and edges of a path, from the anchor on; arrows show the edges' directions."""
        ids = self._query.snapshot.entities.ids
        start = path[0]
        at = start.source if start.source in self._features.anchors else start.target
        hops = [ids[at]]
        for edge in path:
            forward = edge.source == at
            at = edge.target if forward else edge.source
            hops += [f"{edge.kind} ->" if forward else f"<- {edge.kind}", ids[at]]
        return tuple(hops)


def _strongest(reasons: list[Evidence]) -> tuple[Evidence, ...]:
    return tuple(sorted(reasons, key=lambda reason: -reason.weight)[:MOST_REASONS])


def _lexical_weight(name: str) -> float:
    """Share of one field's column in the totals that the weights know."""
    return 0.4 if name.startswith("title_") else 0.3
