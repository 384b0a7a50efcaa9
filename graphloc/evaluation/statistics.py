"""How sure a figure is: bootstrap intervals and the paired randomization test. All are seeded."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

SEED = 20250101
RESAMPLES = 10_000
INTERVAL = 0.95
_EXACT_UP_TO = 14
"""Differing pairs up to which all 2^n assignments of signs are tried (16,384)."""
_ROUND = 1_000
"""Resamples at a time, so that memory stays at n_instances * 1,000 counts."""
_TOLERANCE = 1e-12
"""Sums of the same differences in another order must count as equal."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided confidence interval."""

    low: float
    high: float


def bootstrap_intervals(values: Floats, *, seed: int = SEED) -> list[Interval]:
    """95% percentile bootstrap intervals of the columns' means.

    Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13. Instances are drawn
    with replacement 10,000 times; all columns share the draws.

    Parameters
    ----------
    values : (n_instances, n_columns) float64
        At least one instance.
    seed : int
        The same seed and values give the same intervals.

    Returns
    -------
    list of Interval
        One a column. O(n_instances * n_columns) for each resample.
    """
    random = np.random.default_rng(seed)
    n = len(values)
    shares = np.full(n, 1 / n)
    means = [random.multinomial(n, shares, _ROUND) @ values / n for _ in range(RESAMPLES // _ROUND)]
    tail = (1 - INTERVAL) / 2
    lows, highs = np.quantile(np.concatenate(means), (tail, 1 - tail), axis=0)
    return [Interval(float(low), float(high)) for low, high in zip(lows, highs, strict=True)]


def paired_randomization(a: Floats, b: Floats, *, seed: int = SEED) -> float:
    """Two-sided p-value of the mean difference between two methods on the same instances.

    Fisher's randomization test: under the hypothesis that the methods are alike, each pair could as
    well be the other way round. Exact with at most 14 pairs that differ, else from 10,000 random
    assignments with (extreme + 1) / (drawn + 1), which is never 0. See Smucker, Allan and
    Carterette, "A Comparison of Statistical Significance Tests for Information Retrieval
    Evaluation" (CIKM 2007).

    Parameters
    ----------
    a, b : (n_instances,) float64
        Scores in the same order of instances.
    """
    differences = a - b
    differences = differences[differences != 0]
    if not len(differences):
        return 1.0
    observed = abs(differences.sum()) - _TOLERANCE
    if len(differences) <= _EXACT_UP_TO:
        signs = np.array(list(product((-1.0, 1.0), repeat=len(differences))))
        return float((np.abs(signs @ differences) >= observed).mean())
    random = np.random.default_rng(seed)
    extreme = 0
    for _ in range(RESAMPLES // _ROUND):
        signs = random.choice((-1.0, 1.0), size=(_ROUND, len(differences)))
        extreme += int((np.abs(signs @ differences) >= observed).sum())
    return (extreme + 1) / (RESAMPLES + 1)
