"""From scores to probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphloc.localization.confidence import (
    HAND_CALIBRATIONS,
    MOST_COMPARED,
    Calibration,
    calibration_features,
    estimate_confidences,
    softmax_shares,
)

SCORES = st.lists(st.floats(-50, 50, width=32), max_size=80).map(
    lambda values: np.array(sorted(values, reverse=True), dtype=np.float32)
)
CURVES = st.builds(
    Calibration,
    bias=st.floats(-5, 5),
    share=st.floats(0, 3),
    log_rank=st.floats(-2, 2),
    temperature=st.floats(0.1, 5),
)


@given(curve=CURVES, scores=SCORES)
def test_confidences_are_probabilities_that_never_rise_with_the_rank(
    curve: Calibration, scores: np.ndarray
) -> None:
    found = estimate_confidences(curve, scores)
    assert len(found) == min(len(scores), MOST_COMPARED)
    assert all(0 <= value <= 1 for value in found)
    assert found == sorted(found, reverse=True)


@given(scores=SCORES, temperature=st.floats(0.1, 5))
def test_shares_sum_to_one_and_keep_the_order(scores: np.ndarray, temperature: float) -> None:
    shares = softmax_shares(scores, temperature)
    assert shares.sum() == pytest.approx(1.0 if len(scores) else 0.0, abs=1e-5)
    assert (np.diff(shares) <= 0).all()


@given(scores=SCORES.filter(len), shift=st.floats(-20, 20))
def test_confidences_depend_on_gaps_alone(scores: np.ndarray, shift: float) -> None:
    curve = HAND_CALIBRATIONS["file"]
    moved = estimate_confidences(curve, (scores.astype(np.float64) + shift).astype(np.float32))
    np.testing.assert_allclose(moved, estimate_confidences(curve, scores), atol=1e-3)


@pytest.mark.parametrize("kind", ["file", "class", "function"])
def test_a_larger_lead_makes_the_first_surer(kind: str) -> None:
    curve = HAND_CALIBRATIONS[kind]
    leads = [
        estimate_confidences(curve, np.array([lead, 0, 0, 0], np.float32))[0]
        for lead in (0.0, 1.0, 3.0, 9.0)
    ]
    assert leads == sorted(leads)
    assert leads[0] < leads[-1]


def test_the_formula_is_the_one_that_is_documented() -> None:
    curve = Calibration(bias=0.5, share=0.8, log_rank=-0.4, temperature=2.0)
    scores = np.array([3.0, 1.0, 0.5], np.float32)
    shares = np.exp(scores / 2) / np.exp(scores / 2).sum()
    logits = 0.5 + 0.8 * np.log(shares / (1 - shares)) - 0.4 * np.log([1, 2, 3])
    expected = 1 / (1 + np.exp(-logits))
    assert estimate_confidences(curve, scores) == pytest.approx(expected, rel=1e-4)
    odds, ranks = calibration_features(scores, 2.0)
    assert odds == pytest.approx(np.log(shares / (1 - shares)), rel=1e-4)
    assert ranks == pytest.approx(np.log([1, 2, 3]))
