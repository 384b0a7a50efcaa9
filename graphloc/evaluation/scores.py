"""From predictions and gold to figures: per level, per method, and between methods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from graphloc.evaluation.metrics import METRICS, expected_calibration_error, score_ranking
from graphloc.evaluation.model import Failure, Gold, Level
from graphloc.evaluation.predictions import Prediction, names_at
from graphloc.evaluation.statistics import (
    Floats,
    Interval,
    bootstrap_intervals,
    paired_randomization,
)

COMPARED_METRICS = ("acc@1", "acc@5", "mrr")
_MISS = (0.0,) * len(METRICS)


@dataclass(frozen=True, slots=True)
class Case:
    """One instance as far as scoring needs it."""

    instance_id: str
    repo: str
    gold: Gold | None
    """None where it could not be told; the instance then counts as one with gold, and missed."""


@dataclass(frozen=True, slots=True)
class LevelScores:
    """Scores of one method at one level."""

    instance_ids: tuple[str, ...]
    """Of the instances that count, in the dataset's order."""
    repos: tuple[str, ...]
    values: Floats
    """(n_instances, n_metrics), columns as in `METRICS`."""
    without_gold: int
    """Instances left out because there is nothing to find at the level."""
    failed: int
    """Failed instances, among those that count unless they were to be left out."""
    ece: float | None
    """Expected calibration error over all ranked places that state a confidence; None without."""

    @property
    def n(self) -> int:
        """Number of instances that count."""
        return len(self.instance_ids)

    def means(self) -> dict[str, float | None]:
        """Mean of each metric; None without instances."""
        if not self.n:
            return dict.fromkeys(METRICS)
        return dict(zip(METRICS, self.values.mean(axis=0).tolist(), strict=True))

    def intervals(self) -> dict[str, Interval]:
        """95% bootstrap interval of each mean; empty without instances."""
        if not self.n:
            return {}
        return dict(zip(METRICS, bootstrap_intervals(self.values), strict=True))

    def by_repository(self) -> dict[str, LevelScores]:
        """Split by repository, sorted by name. Calibration is not told apart."""
        parts = {}
        for repo in sorted(set(self.repos)):
            rows = [row for row, name in enumerate(self.repos) if name == repo]
            ids = tuple(self.instance_ids[row] for row in rows)
            parts[repo] = LevelScores(ids, (repo,) * len(rows), self.values[rows], 0, 0, None)
        return parts


@dataclass(frozen=True, slots=True)
class MethodScores:
    """Everything measured about one method."""

    name: str
    levels: Mapping[Level, LevelScores]
    elapsed_ms: tuple[float, ...]
    """Of the instances for which it is known."""
    failures: tuple[Failure, ...] = field(default=())

    def elapsed_percentile(self, percent: float) -> float | None:
        """Milliseconds per instance; None if no time is known."""
        return float(np.percentile(self.elapsed_ms, percent)) if self.elapsed_ms else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two methods by one metric, over the instances that count for both."""

    level: Level
    metric: str
    a: str
    b: str
    difference: float
    """Mean of a minus mean of b."""
    interval: Interval
    """95% bootstrap interval of the difference."""
    p_value: float
    """Of the two-sided paired randomization test."""
    n: int


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of an evaluation."""

    dataset: str
    n: int
    """Instances of the dataset, unusable ones included."""
    methods: tuple[MethodScores, ...]
    comparisons: tuple[Comparison, ...]
    failures: tuple[Failure, ...]
    """All of them: of the dataset, of instances, of single methods."""


def score_method(
    name: str,
    cases: Sequence[Case],
    predictions: Mapping[str, Prediction],
    failures: Sequence[Failure],
    *,
    failures_as_misses: bool = True,
) -> MethodScores:
    """Score what one method predicted, by instance id. Instances without prediction are failed."""
    counted = [case for case in cases if failures_as_misses or case.instance_id in predictions]
    levels = {level: _score_level(level, counted, predictions) for level in Level}
    times = (prediction.elapsed_ms for prediction in predictions.values())
    return MethodScores(
        name, levels, tuple(time for time in times if time is not None), tuple(failures)
    )


def _score_level(
    level: Level, cases: Sequence[Case], predictions: Mapping[str, Prediction]
) -> LevelScores:
    counted = [case for case in cases if case.gold is None or case.gold.at(level)]
    rows, confidences, hits, failed = [], [], [], 0
    for case in counted:
        prediction = predictions.get(case.instance_id)
        if prediction is None or case.gold is None:
            failed += 1
            rows.append(_MISS)
            continue
        gold = case.gold.at(level)
        places = names_at(prediction.ranking, level, case.gold)
        rows.append(score_ranking([place.entity for place in places], gold))
        for place in places:
            if place.confidence is not None:
                confidences.append(place.confidence)
                hits.append(place.entity in gold)
    return LevelScores(
        instance_ids=tuple(case.instance_id for case in counted),
        repos=tuple(case.repo for case in counted),
        values=np.array(rows, dtype=np.float64).reshape(len(rows), len(METRICS)),
        without_gold=len(cases) - len(counted),
        failed=failed,
        ece=expected_calibration_error(confidences, hits),
    )


def compare_methods(methods: Sequence[MethodScores]) -> Iterator[Comparison]:
    """Compare each two methods at each level by `COMPARED_METRICS`."""
    for a, b in combinations(methods, 2):
        for level in Level:
            yield from _compare(level, a, b)


def _compare(level: Level, a: MethodScores, b: MethodScores) -> Iterator[Comparison]:
    rows_a = {name: row for row, name in enumerate(a.levels[level].instance_ids)}
    rows_b = {name: row for row, name in enumerate(b.levels[level].instance_ids)}
    both = [name for name in rows_a if name in rows_b]
    if not both:
        return
    for metric in COMPARED_METRICS:
        column = METRICS.index(metric)
        values_a = a.levels[level].values[[rows_a[name] for name in both], column]
        values_b = b.levels[level].values[[rows_b[name] for name in both], column]
        differences = values_a - values_b
        (interval,) = bootstrap_intervals(differences[:, np.newaxis])
        yield Comparison(
            level,
            metric,
            a.name,
            b.name,
            difference=float(differences.mean()),
            interval=interval,
            p_value=paired_randomization(values_a, values_b),
            n=len(both),
        )
