"""From scores to probabilities.

A result's probability of being changed by the fix is a logistic curve (Platt scaling, Platt 1999)
over two things that the ranking itself knows: the result's share of a softmax over the best scores,
and its rank. The coefficients are fitted on repositories held out from the ranker's training.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np

from graphloc.localization.query import Floats

MOST_COMPARED = 50
"""Scores that a softmax is taken over."""
_LEAST = 1e-6


class Calibration(msgspec.Struct, frozen=True):
    """Coefficients of one kind of entity."""

    bias: float
    share: float
    """Weight of the log-odds of the softmax share."""
    log_rank: float
    temperature: float
    """Scores are divided by it before the softmax; in units of the score."""


HAND_CALIBRATIONS = {
    "file": Calibration(bias=0.6, share=0.9, log_rank=-0.3, temperature=1.0),
    "class": Calibration(bias=-0.2, share=0.8, log_rank=-0.3, temperature=1.0),
    "function": Calibration(bias=-0.4, share=0.8, log_rank=-0.3, temperature=1.0),
}
"""For the hand-set weights, set by hand as well."""


def softmax_shares(scores: Floats, temperature: float) -> Floats:
    """(n,) shares, best first, of at most `MOST_COMPARED` scores."""
    compared = np.asarray(scores[:MOST_COMPARED], dtype=np.float64) / temperature
    weights = np.exp(compared - compared.max()) if len(compared) else compared
    return np.asarray(weights / weights.sum() if len(weights) else weights, dtype=np.float32)


def calibration_features(scores: Floats, temperature: float) -> tuple[Floats, Floats]:
    """Log-odds of the softmax shares, and logarithms of the ranks, of scores sorted best first."""
    shares = np.clip(softmax_shares(scores, temperature), _LEAST, 1 - _LEAST)
    odds = np.log(shares / (1 - shares))
    ranks = np.log(np.arange(1, len(shares) + 1))
    return np.asarray(odds, dtype=np.float32), np.asarray(ranks, dtype=np.float32)


def estimate_confidences(curve: Calibration, scores: Floats) -> list[float]:
    """Probability of each of the best results, best first, never rising with the rank."""
    odds, ranks = calibration_features(scores, curve.temperature)
    found: list[float] = []
    for odd, rank in zip(odds.tolist(), ranks.tolist(), strict=True):
        logit = curve.bias + curve.share * odd + curve.log_rank * rank
        value = 1.0 / (1.0 + math.exp(-max(min(logit, 30.0), -30.0)))
        found.append(min(value, found[-1]) if found else value)
    return found
