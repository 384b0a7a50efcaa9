"""The learned ranker: tree ensembles for files, then for entities given the files.

The model is one file in the package, written by ``benchmarks/train_ranker.py``: LambdaRank (Burges,
From RankNet to LambdaRank to LambdaMART, 2010) trained with LightGBM on development issues of
repositories outside of SWE-bench. Running it needs numpy only.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec
import numpy as np
import numpy.typing as npt

from graphloc.localization.confidence import Calibration
from graphloc.localization.features import Features
from graphloc.localization.matrix import (
    ENTITY_CANDIDATES,
    FILE_CANDIDATES,
    MATRIX_VERSION,
    entity_matrix,
    file_matrix,
)
from graphloc.localization.query import Floats, Ints, Query
from graphloc.localization.ranker import WeightedRanker
from graphloc.localization.trees import TreeEnsemble
from indexes.arrays import pack_arrays, unpack_arrays

MODEL_FILE = "ranker.bin"
_BELOW = 1.0
"""How far below the worst candidate everything else is put."""


class ModelCard(msgspec.Struct, frozen=True):
    """What is known about a trained model besides its trees."""

    matrix_version: int
    file_columns: tuple[str, ...]
    entity_columns: tuple[str, ...]
    entity_share: float
    """Weight of a file's best entity in the file's revised score."""
    calibrations: dict[str, Calibration]
    """By kind: file, class, function."""
    data_digest: str
    """Of the training data's instance ids and matrices."""
    instances: int
    repositories: int
    metrics: dict[str, float]
    """Cross-validated by repository."""


class LearnedRanker:
    """Scores candidates that hand-set weights choose; what is no candidate comes after them.

    Parameters
    ----------
    card, file_trees, entity_trees
        As `load_model` returns them.
    """

    def __init__(
        self, card: ModelCard, file_trees: TreeEnsemble, entity_trees: TreeEnsemble
    ) -> None:
        self.card = card
        self._file_trees = file_trees
        self._entity_trees = entity_trees
        self._weighted = WeightedRanker()

    @property
    def calibrations(self) -> Mapping[str, Calibration]:
        """Curves from scores to confidences."""
        return self.card.calibrations

    def score_files(self, query: Query, features: Features) -> Floats:
        """Scores of all files before entities are known."""
        hand = self._weighted.score_files(query, features)
        candidates = best_candidates(hand, query.ranked_files, FILE_CANDIDATES)
        if not len(candidates):
            return hand
        names, matrix = file_matrix(query, features, candidates)
        return _spread(hand, candidates, self._file_trees.predict(names, matrix))

    def score_entities(self, query: Query, features: Features, file_scores: Floats) -> Floats:
        """Scores of classes and functions, given the files'."""
        entities = query.snapshot.entities
        hand_files = self._weighted.score_files(query, features)
        hand = self._weighted.score_entities(query, features, hand_files)
        allowed = query.ranked & (entities.kinds >= 2)
        candidates = best_candidates(hand, allowed, ENTITY_CANDIDATES)
        if not len(candidates):
            return hand
        names, matrix = entity_matrix(query, features, candidates, file_scores)
        return _spread(hand, candidates, self._entity_trees.predict(names, matrix))

    def revise_files(self, query: Query, file_scores: Floats, entity_scores: Floats) -> Floats:
        """File scores once more, with each file's best entity."""
        share = self.card.entity_share
        entities = query.snapshot.entities
        candidates = best_candidates(
            entity_scores, query.ranked & (entities.kinds >= 2), ENTITY_CANDIDATES
        )
        shifted = np.zeros(len(entities), dtype=np.float32)
        if len(candidates):
            scores = entity_scores[candidates]
            shifted[candidates] = scores - scores.min() + _BELOW
        return np.asarray(file_scores + share * query.best_per_file(shifted), dtype=np.float32)


def best_candidates(scores: Floats, allowed: npt.NDArray[np.bool_], most: int) -> Ints:
    """Numbers of the best allowed places, best first; ties by number."""
    numbers = np.flatnonzero(allowed)
    order = np.argsort(-scores[numbers], kind="stable")[:most]
    return numbers[order].astype(np.int64)


def _spread(hand: Floats, candidates: Ints, scores: Floats) -> Floats:
    """Candidates' scores; all other places keep their order behind the worst candidate."""
    top = float(hand.max()) if len(hand) else 0.0
    spread = float(scores.min()) - _BELOW - (top - hand)
    result = np.asarray(spread, dtype=np.float32)
    result[candidates] = scores
    return result


def save_model(card: ModelCard, file_trees: TreeEnsemble, entity_trees: TreeEnsemble) -> bytes:
    """The model as bytes; equal models give equal bytes."""
    encoded = msgspec.json.encode(card)
    arrays = {f"file.{n}": a for n, a in file_trees.to_arrays().items()}
    arrays |= {f"entity.{n}": a for n, a in entity_trees.to_arrays().items()}
    return len(encoded).to_bytes(8, "little") + encoded + pack_arrays(arrays)


def read_model(data: bytes) -> LearnedRanker | None:
    """Inverse of `save_model`; `None` for a model of another matrix version."""
    length = int.from_bytes(data[:8], "little")
    card = msgspec.json.decode(data[8 : 8 + length], type=ModelCard)
    if card.matrix_version != MATRIX_VERSION:
        return None
    arrays = unpack_arrays(data[8 + length :])
    file_arrays = {n[5:]: a for n, a in arrays.items() if n.startswith("file.")}
    entity_arrays = {n[7:]: a for n, a in arrays.items() if n.startswith("entity.")}
    return LearnedRanker(
        card,
        TreeEnsemble.from_arrays(card.file_columns, file_arrays),
        TreeEnsemble.from_arrays(card.entity_columns, entity_arrays),
    )


@cache
def load_shipped_model() -> LearnedRanker | None:
    """The model in the package, if there is one that fits."""
    resource = files("graphloc.localization").joinpath(MODEL_FILE)
    return read_model(resource.read_bytes()) if resource.is_file() else None
