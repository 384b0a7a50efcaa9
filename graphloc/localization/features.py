"""All signals of one issue side by side, with what is derived from several of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from graphloc.localization.query import Floats, Query
from graphloc.localization.signals import Column, Signal
from graphloc.localization.walk import GraphWalk

FIELD_WEIGHTS: Mapping[str, float] = {
    "name": 2.0,
    "context": 0.5,
    "signature": 0.7,
    "docstring": 1.0,
    "body": 1.0,
    "comments": 0.6,
    "strings": 0.7,
}
"""How much a field counts where one figure for all words is needed."""
ANCHORS = 30
"""Entities that start the walk over the graph."""
_NAMED_ANCHOR = 1.0
"""Worth of a name, frame or link beside the best lexical match (1.0)."""


@dataclass(slots=True)
class Features:
    """Columns of one issue by name, with the signal each comes from."""

    entities: dict[str, Floats] = field(default_factory=dict)
    """(n_entities,) each."""
    files: dict[str, Floats] = field(default_factory=dict)
    """(n_files,) each."""
    columns: dict[tuple[str, str], tuple[str, Column]] = field(default_factory=dict)
    """(level, column name) -> (signal, column), for evidence."""
    anchors: dict[int, float] = field(default_factory=dict)
    """Rows that started the walk, with their weights."""


def compute_features(
    query: Query,
    signals: Iterable[Signal],
    walk: GraphWalk,
    without: Collection[str] = (),
) -> Features:
    """Compute all columns.

    Parameters
    ----------
    query
        The issue and the snapshot.
    signals
        What is asked.
    walk
        The snapshot's graph, ready to be walked.
    without
        Signals to leave out (their columns are zero), for ablation.
    """
    features = Features()
    for signal in signals:
        columns = signal.compute(query)
        for level, found in (("entity", columns.entities), ("file", columns.files)):
            target = features.entities if level == "entity" else features.files
            for column in found:
                left_out = signal.name in without
                target[column.name] = np.zeros_like(column.values) if left_out else column.values
                if not left_out:
                    features.columns[level, column.name] = (signal.name, column)
    _add_totals(query, features)
    _add_walk(query, features, walk, enabled="graph" not in without)
    return features


def _add_totals(query: Query, features: Features) -> None:
    """Weighted sums of the lexical fields, and the best entity of each file and class by them."""
    entities = query.snapshot.entities
    inside = entities.parents >= 0
    for part in ("title", "full"):
        total = _weighted(features.entities, part)
        features.entities[f"{part}_total"] = total
        features.files[f"{part}_total"] = _weighted(features.files, part)
        features.files[f"{part}_best"] = query.best_per_file(total)
        inner = np.zeros_like(total)
        np.maximum.at(inner, entities.parents[inside], total[inside])
        features.entities[f"{part}_inner"] = inner
        features.entities[f"{part}_outer"] = np.where(
            inside, total[np.maximum(entities.parents, 0)], 0
        ).astype(np.float32)


def _weighted(columns: Mapping[str, Floats], part: str) -> Floats:
    parts = [
        weight * columns[f"{part}_{name}"]
        for name, weight in FIELD_WEIGHTS.items()
        if f"{part}_{name}" in columns
    ]
    return np.asarray(np.sum(parts, axis=0), dtype=np.float32)


def _add_walk(query: Query, features: Features, walk: GraphWalk, *, enabled: bool) -> None:
    features.anchors = find_anchors(query, features) if enabled else {}
    spread = walk.spread(features.anchors)
    features.entities["walk"] = spread
    features.files["walk_sum"] = query.sum_per_file(spread)
    features.files["walk_best"] = query.best_per_file(spread)


def find_anchors(query: Query, features: Features) -> dict[int, float]:
    """The entities that retrieval alone finds best, with weights that sum to 1."""
    entities = query.snapshot.entities
    score = relative(features.entities["title_total"]) + relative(features.entities["full_total"])
    for name in ("exact_name", "dotted_name", "frame", "linked", "message"):
        if name in features.entities:
            score = score + _NAMED_ANCHOR * relative(features.entities[name])
    score = np.where((entities.kinds > 0) & query.ranked, score, 0)
    count = min(ANCHORS, int(np.count_nonzero(score)))
    best = np.argsort(-score, kind="stable")[:count]
    total = float(score[best].sum())
    return {int(row): float(score[row]) / total for row in best} if total > 0 else {}


def relative(values: Floats) -> Floats:
    """Values as shares of the largest; zeros when there is none above zero."""
    top = float(values.max()) if len(values) else 0.0
    return (values / top).astype(np.float32) if top > 0 else np.zeros_like(values)
