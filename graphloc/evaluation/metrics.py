"""How good a ranking is: Acc@k in three readings, recall@k, MRR, MAP and NDCG@k.

`acc@k` follows the scorers that LocAgent (https://github.com/gersteinlab/LocAgent) and SweRank
(https://github.com/SalesforceAIResearch/SweRank) released: an instance counts when the hits among
the first k equal min(k, number of gold). So with more gold than k it asks for k hits, where the
papers' words, "all gold among the first k", are `strict_acc@k`; `hit@k` asks for one hit.
The others are the standard ones of information retrieval with binary relevance.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from math import log2

import numpy as np

CUTOFFS = (1, 3, 5, 10)
CALIBRATION_BINS = 15

_AT_K = ("acc", "strict_acc", "hit", "recall", "ndcg")
METRICS = (*(f"{name}@{k}" for name in _AT_K for k in CUTOFFS), "mrr", "map")
"""Names, in the order of `score_ranking`'s values."""


def score_ranking(ranking: Sequence[str], gold: Set[str]) -> tuple[float, ...]:
    """Score one ranking.

    Parameters
    ----------
    ranking : sequence of str
        Entities, best first, each once.
    gold : set of str
        At least one.

    Returns
    -------
    tuple of float
        One value in [0, 1] for each of `METRICS`. Linear in the ranking's length.

    Raises
    ------
    ValueError
        If there is no gold: such instances are to be left out.
    """
    if not gold:
        raise ValueError("an instance without gold has no score")
    hits = [entity in gold for entity in ranking]
    at_k = [_score_at(hits, k, len(gold)) for k in CUTOFFS]
    by_name = (value for values in zip(*at_k, strict=True) for value in values)
    return (*by_name, _reciprocal_rank(hits), _average_precision(hits, len(gold)))


def _score_at(hits: Sequence[bool], k: int, n_gold: int) -> tuple[float, ...]:
    """Return the values of `_AT_K` for the first k."""
    found = sum(hits[:k])
    return (
        float(found == min(k, n_gold)),
        float(found == n_gold),
        float(found > 0),
        found / n_gold,
        _discounted(hits[:k]) / _discounted([True] * min(k, n_gold)),
    )


def _discounted(hits: Sequence[bool]) -> float:
    return sum(1 / log2(rank + 1) for rank, hit in enumerate(hits, 1) if hit)


def _reciprocal_rank(hits: Sequence[bool]) -> float:
    return next((1 / rank for rank, hit in enumerate(hits, 1) if hit), 0.0)


def _average_precision(hits: Sequence[bool], n_gold: int) -> float:
    ranks = [rank for rank, hit in enumerate(hits, 1) if hit]
    return sum(found / rank for found, rank in enumerate(ranks, 1)) / n_gold


def expected_calibration_error(
    confidences: Sequence[float], is_hit: Sequence[bool], *, bins: int = CALIBRATION_BINS
) -> float | None:
    """Mean distance between stated confidence and share of hits, over bins of equal width.

    Guo et al., "On Calibration of Modern Neural Networks" (ICML 2017), with 15 bins as there. Bin i
    holds (i/15, (i+1)/15], the first one 0 as well; each weighs as many pairs as it holds.

    Parameters
    ----------
    confidences : (n,) in [0, 1]
    is_hit : (n,)

    Returns
    -------
    float or None
        In [0, 1], 0 is best; None without any pair.
    """
    if not confidences:
        return None
    stated = np.asarray(confidences, dtype=np.float64)
    hits = np.asarray(is_hit, dtype=np.float64)
    numbers = np.clip(np.ceil(stated * bins).astype(np.int64) - 1, 0, bins - 1)
    gaps = np.bincount(numbers, weights=stated - hits, minlength=bins)
    return float(np.abs(gaps).sum() / len(stated))
