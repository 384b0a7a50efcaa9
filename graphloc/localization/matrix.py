"""Feature matrices for a learned ranker: the same code makes them for training and for use.

Every signal's column appears as it is and as a share of the largest value in the snapshot; priors
appear as they are. A few columns describe the issue itself, so that a model can learn what to trust
when (a traceback, a path, nothing but prose).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from graphloc.localization.features import Features
from graphloc.localization.query import Floats, Ints, Query

MATRIX_VERSION = 2
"""Raise it whenever a column changes its meaning; a model of another version is not used."""
_RANKED = (
    "title_total",
    "full_total",
    "title_best",
    "full_best",
    "walk",
    "walk_sum",
    "past_similar",
    "tested_by",
    "file_tested_by",
)
"""Columns that also appear as reciprocal ranks."""
FILE_CANDIDATES = 200
ENTITY_CANDIDATES = 400
"""Candidates that the hand-set weights choose for the learned ranker."""

Matrix = npt.NDArray[np.float32]


def file_matrix(query: Query, features: Features, candidates: Ints) -> tuple[list[str], Matrix]:
    """Columns of candidate files.

    Returns
    -------
    names, matrix
        matrix : (n_candidates, n_columns) float32
    """
    allowed = query.ranked_files
    columns = _columns(features.files, _prior_names(features, "file"), allowed, candidates)
    columns |= _issue_columns(query, len(candidates))
    return list(columns), np.stack(list(columns.values()), axis=1)


def entity_matrix(
    query: Query, features: Features, candidates: Ints, file_scores: Floats
) -> tuple[list[str], Matrix]:
    """Columns of candidate entities, given the files' scores (higher is better, any scale)."""
    allowed = query.ranked
    columns = _columns(features.entities, _prior_names(features, "entity"), allowed, candidates)
    files = query.files[candidates]
    best = float(file_scores.max()) if len(file_scores) else 0.0
    order = np.argsort(np.argsort(-file_scores, kind="stable"), kind="stable")
    columns["in_file_gap"] = (best - file_scores[files]).astype(np.float32)
    columns["in_file_rank"] = (1.0 / (1.0 + order[files])).astype(np.float32)
    for name in ("full_total", "title_total", "walk", "exact_name"):
        values = features.entities[name]
        top = query.best_per_file(values)
        columns[f"{name}_in_file"] = _divide(values[candidates], top[files])
    for name in ("full_total", "title_total", "defined_names_best", "mentioned_path"):
        values = features.files[name]
        columns[f"file_{name}_share"] = _share(values[files], values)
    columns |= _issue_columns(query, len(candidates))
    return list(columns), np.stack(list(columns.values()), axis=1)


def _prior_names(features: Features, level: str) -> frozenset[str]:
    return frozenset(
        name
        for (at, name), (signal, _) in features.columns.items()
        if at == level and signal == "priors"
    )


def _columns(
    values: dict[str, Floats],
    priors: frozenset[str],
    allowed: npt.NDArray[np.bool_],
    candidates: Ints,
) -> dict[str, Floats]:
    found: dict[str, Floats] = {}
    numbers = np.flatnonzero(allowed)
    for name, column in values.items():
        found[name] = column[candidates]
        if name not in priors:
            found[f"{name}_share"] = _share(column[candidates], column[numbers])
    for name in _RANKED:
        if name in values:
            found[f"{name}_rank"] = _reciprocal_ranks(values[name], numbers, candidates)
    return found


def _reciprocal_ranks(values: Floats, allowed: Ints, candidates: Ints) -> Floats:
    """1, 1/2, 1/3... for the candidates by their place among all allowed; 0 for a value of 0."""
    positive = allowed[values[allowed] > 0]
    ranks = np.zeros(len(values), dtype=np.float32)
    order = positive[np.argsort(-values[positive], kind="stable")]
    ranks[order] = 1.0 / (1.0 + np.arange(len(order)))
    return ranks[candidates]


def _share(values: Floats, considered: Floats) -> Floats:
    """Values as shares of the largest one considered."""
    top = float(considered.max()) if len(considered) else 0.0
    shares = values / top if top > 0 else np.zeros_like(values)
    return np.asarray(shares, dtype=np.float32)


def _divide(values: Floats, by: Floats) -> Floats:
    shares = np.divide(values, by, out=np.zeros_like(values), where=by > 0)
    return np.asarray(shares, dtype=np.float32)


def _issue_columns(query: Query, n: int) -> dict[str, Floats]:
    issue = query.issue
    facts = {
        "issue_terms": np.log1p(len(query.full_terms)),
        "issue_title_terms": float(len(query.title_terms)),
        "issue_identifiers": np.log1p(len(issue.identifiers)),
        "issue_frames": np.log1p(len(issue.frames)),
        "issue_paths": np.log1p(len(issue.paths)),
        "issue_code": float(bool(issue.code_blocks)),
        "issue_errors": float(bool(issue.errors)),
        "snapshot_files": np.log1p(query.n_files),
    }
    return {name: np.full(n, value, dtype=np.float32) for name, value in facts.items()}
