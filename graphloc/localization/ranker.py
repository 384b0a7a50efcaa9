"""From columns to one score a file and one an entity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from graphloc.localization.confidence import HAND_CALIBRATIONS, Calibration
from graphloc.localization.features import Features, relative
from graphloc.localization.query import Floats, Query

FILE_WEIGHTS: Mapping[str, float] = {
    "title_total": 0.8,
    "full_total": 1.2,
    "title_best": 0.8,
    "full_best": 1.2,
    "mentioned_path": 2.5,
    "mentioned_module": 0.8,
    "defined_names_best": 0.9,
    "defined_names_sum": 0.5,
    "dotted_names_best": 0.5,
    "file_frame": 0.8,
    "file_last_frame": 1.0,
    "file_linked": 2.0,
    "file_message": 0.8,
    "past_similar": 0.6,
    "past_recency": 0.2,
    "walk_sum": 1.2,
    "walk_best": 0.6,
    "is_init": -0.4,
    "is_stub": -1.0,
    "is_auxiliary": -1.0,
}
ENTITY_WEIGHTS: Mapping[str, float] = {
    "title_total": 0.8,
    "full_total": 1.0,
    "title_outer": 0.2,
    "full_outer": 0.3,
    "exact_name": 1.0,
    "dotted_name": 0.8,
    "owner_name": 0.3,
    "frame": 0.6,
    "last_frame": 1.0,
    "linked": 2.0,
    "message": 0.8,
    "walk": 1.2,
}
"""Hand-set on a few issues each of dask and sqlglot; every column counts as a share of its largest
value, so weights are comparable."""
_FILE_SHARE = 2.0
"""How much an entity's file counts beside the entity's own columns."""
_FLAGS = frozenset({"is_init", "is_stub", "is_auxiliary"})


class Ranker(Protocol):
    """Scores files, then entities given the files, then files given the entities."""

    @property
    def calibrations(self) -> Mapping[str, Calibration]:
        """Curves from scores to confidences, by kind."""
        ...

    def score_files(self, query: Query, features: Features) -> Floats:
        """(n_files,) scores; higher is better, scale is the ranker's own."""
        ...

    def score_entities(self, query: Query, features: Features, file_scores: Floats) -> Floats:
        """(n_entities,) scores of classes and functions."""
        ...

    def revise_files(self, query: Query, file_scores: Floats, entity_scores: Floats) -> Floats:
        """(n_files,) scores of files once their entities are known."""
        ...


class WeightedRanker:
    """Weighted sums of shares, with weights set by hand."""

    @property
    def calibrations(self) -> Mapping[str, Calibration]:
        """Curves set by hand."""
        return HAND_CALIBRATIONS

    def score_files(self, query: Query, features: Features) -> Floats:
        """Weighted sum of the files' columns."""
        del query
        return _weighted_sum(features.files, FILE_WEIGHTS)

    def score_entities(self, query: Query, features: Features, file_scores: Floats) -> Floats:
        """Weighted sum of the entities' columns and their file's score."""
        own = _weighted_sum(features.entities, ENTITY_WEIGHTS)
        share = relative(np.maximum(file_scores, 0))
        shares = np.append(share, np.float32(0))  # the last one is for folders, whose file is -1
        return own + (_FILE_SHARE * shares[query.files]).astype(np.float32)

    def revise_files(self, query: Query, file_scores: Floats, entity_scores: Floats) -> Floats:
        """Leave the files as they are: their columns hold their best entities already."""
        del query, entity_scores
        return file_scores


def _weighted_sum(columns: Mapping[str, Floats], weights: Mapping[str, float]) -> Floats:
    parts = [
        weight * (columns[name] if name in _FLAGS else relative(columns[name]))
        for name, weight in weights.items()
        if name in columns
    ]
    return np.asarray(np.sum(parts, axis=0), dtype=np.float32)
