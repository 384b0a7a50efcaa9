"""From scores to probabilities.

The chance that a result is changed by the fix falls with its rank and with its distance from the
best one. A logistic curve over both is fitted on held-out repositories (Platt scaling, Platt 1999).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Calibration:
    """Coefficients of one kind of entity."""

    bias: float
    log_rank: float
    gap: float
    """Weight of the relative distance from the best score, in [0, 1]."""
    lead: float
    """Weight of the best score's relative lead over the second."""


CALIBRATIONS: Mapping[str, Calibration] = {
    "file": Calibration(bias=-0.3, log_rank=-1.1, gap=-1.0, lead=3.0),
    "class": Calibration(bias=-1.0, log_rank=-1.0, gap=-1.0, lead=2.5),
    "function": Calibration(bias=-1.3, log_rank=-0.8, gap=-1.0, lead=2.5),
}


def estimate_confidences(kind: str, scores: list[float]) -> list[float]:
    """Probability of each result of a kind, best first.

    Parameters
    ----------
    kind
        A key of `CALIBRATIONS`.
    scores
        Best first, at least as many as are asked about.

    Returns
    -------
    list of float in [0, 1], never rising with the rank.
    """
    if not scores:
        return []
    curve = CALIBRATIONS[kind]
    best = scores[0]
    scale = max(abs(best), 1e-9)
    lead = (best - scores[1]) / scale if len(scores) > 1 else 1.0
    found: list[float] = []
    for rank, score in enumerate(scores, 1):
        gap = (best - score) / scale
        logit = curve.bias + curve.log_rank * math.log(rank) + curve.gap * gap
        logit += curve.lead * lead if rank == 1 else -curve.lead * lead / 2
        value = 1.0 / (1.0 + math.exp(-max(min(logit, 30.0), -30.0)))
        found.append(min(value, found[-1]) if found else value)
    return found
