from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from graphloc.evaluation.statistics import bootstrap_intervals, paired_randomization

unit = st.floats(0, 1, allow_subnormal=False)


def test_an_interval_agrees_with_scipys() -> None:
    values = np.random.default_rng(3).random((60, 2))
    for column, ours in enumerate(bootstrap_intervals(values)):
        theirs = stats.bootstrap(
            (values[:, column],), np.mean, method="percentile", rng=np.random.default_rng(4)
        ).confidence_interval
        assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_intervals_of_constants_and_of_one_instance() -> None:
    (constant,) = bootstrap_intervals(np.full((9, 1), 0.25))
    assert (constant.low, constant.high) == pytest.approx((0.25, 0.25))
    (single,) = bootstrap_intervals(np.array([[1.0]]))
    assert (single.low, single.high) == (1, 1)


def test_the_same_seed_gives_the_same_interval() -> None:
    values = np.random.default_rng(5).random((30, 1))
    assert bootstrap_intervals(values) == bootstrap_intervals(values)
    assert bootstrap_intervals(values, seed=1) != bootstrap_intervals(values, seed=2)


@settings(max_examples=10, deadline=None)
@given(st.lists(unit, min_size=1, max_size=30))
def test_an_interval_holds_the_mean(values: list[float]) -> None:
    (interval,) = bootstrap_intervals(np.array(values)[:, np.newaxis])
    assert interval.low - 1e-9 <= np.mean(values) <= interval.high + 1e-9


@pytest.mark.parametrize(
    ("a", "b", "p"),
    [
        ([1, 1, 1, 1], [0, 0, 0, 0], 2 / 16),
        ([1, 0, 1], [1, 0, 1], 1.0),
        ([1, 0], [0, 1], 1.0),
        ([1, 1, 1, 0, 1], [0, 0, 0, 1, 1], 10 / 16),
        ([], [], 1.0),
    ],
)
def test_exact_p_values(a: list[float], b: list[float], p: float) -> None:
    assert paired_randomization(np.array(a, float), np.array(b, float)) == pytest.approx(p)


def test_sampled_p_values_agree_with_the_sign_test() -> None:
    a, b = np.ones(40), np.zeros(40)
    a[:12], b[:12] = 0, 1
    expected = stats.binomtest(12, 40).pvalue
    assert paired_randomization(a, b) == pytest.approx(expected, abs=0.01)
    assert paired_randomization(a, b) == paired_randomization(b, a)
    assert paired_randomization(np.ones(60), np.zeros(60)) == pytest.approx(1 / 10_001)
