from __future__ import annotations

from math import log2

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, RR, R, Success, nDCG

from graphloc.evaluation.metrics import (
    CUTOFFS,
    METRICS,
    expected_calibration_error,
    score_ranking,
)

ENTITIES = [f"e{i}" for i in range(15)]
rankings = st.lists(st.sampled_from(ENTITIES), unique=True)
golds = st.sets(st.sampled_from(ENTITIES), min_size=1)


def scores(ranking: list[str], gold: set[str]) -> dict[str, float]:
    return dict(zip(METRICS, score_ranking(ranking, gold), strict=True))


def test_known_values() -> None:
    found = scores(["x", "a", "b", "y"], {"a", "b", "c"})
    assert [found[f"acc@{k}"] for k in CUTOFFS] == [0, 0, 0, 0]
    assert [found[f"hit@{k}"] for k in CUTOFFS] == [0, 1, 1, 1]
    assert found["recall@3"] == pytest.approx(2 / 3)
    assert found["mrr"] == 0.5
    assert found["map"] == pytest.approx((1 / 2 + 2 / 3) / 3)
    ideal = 1 + 1 / log2(3) + 1 / 2
    assert found["ndcg@3"] == pytest.approx((1 / log2(3) + 1 / 2) / ideal)


def test_acc_asks_for_as_many_hits_as_fit() -> None:
    found = scores(["a", "b", "c", "d"], {"a", "b", "c", "d"})
    assert (found["acc@1"], found["acc@3"]) == (1, 1)
    assert (found["strict_acc@1"], found["strict_acc@3"], found["strict_acc@5"]) == (0, 0, 1)
    assert scores(["x", "a"], {"a", "b"})["acc@1"] == 0


def test_an_empty_ranking_scores_nothing() -> None:
    assert set(score_ranking([], {"a"})) == {0.0}


def test_no_gold_has_no_score() -> None:
    with pytest.raises(ValueError, match="without gold"):
        score_ranking(["a"], set())


@settings(deadline=None)
@given(rankings, golds)
def test_agrees_with_ir_measures(ranking: list[str], gold: set[str]) -> None:
    measures = [RR, AP, *(m @ k for m in (nDCG, R, Success) for k in CUTOFFS)]
    qrels = [ir_measures.Qrel("q", entity, 1) for entity in gold]
    run = [
        ir_measures.ScoredDoc("q", entity, float(len(ranking) - place))
        for place, entity in enumerate(ranking)
    ]
    expected = ir_measures.calc_aggregate(measures, qrels, run) if run else {}
    found = scores(ranking, gold)
    names = {"RR": "mrr", "AP": "map"}
    for measure in measures:
        name, _, k = str(measure).partition("@")
        ours = names.get(name) or {"nDCG": "ndcg", "R": "recall", "Success": "hit"}[name] + f"@{k}"
        assert found[ours] == pytest.approx(expected.get(measure, 0.0)), ours


@settings(deadline=None)
@given(rankings, golds)
def test_the_three_readings_are_ordered(ranking: list[str], gold: set[str]) -> None:
    found = scores(ranking, gold)
    assert all(0 <= value <= 1 for value in found.values())
    for k in CUTOFFS:
        assert found[f"strict_acc@{k}"] <= found[f"acc@{k}"] <= found[f"hit@{k}"]
        if len(gold) <= k:
            assert found[f"strict_acc@{k}"] == found[f"acc@{k}"]
        assert found[f"strict_acc@{k}"] == float(found[f"recall@{k}"] == 1)


@settings(deadline=None)
@given(rankings, golds)
def test_moving_a_hit_up_harms_nothing_but_cut_off_readings(
    ranking: list[str], gold: set[str]
) -> None:
    better = sorted(ranking, key=lambda entity: entity not in gold)
    before, after = scores(ranking, gold), scores(better, gold)
    assert all(after[name] >= before[name] - 1e-12 for name in METRICS)


def test_calibration_error() -> None:
    assert expected_calibration_error([], []) is None
    assert expected_calibration_error([1.0, 1.0, 0.0], [True, True, False]) == 0
    assert expected_calibration_error([0.9] * 10, [True] * 5 + [False] * 5) == pytest.approx(0.4)
    two_bins = expected_calibration_error([0.05, 0.95], [True, False])
    assert two_bins == pytest.approx(0.95)
    same_bin = expected_calibration_error([0.61, 0.65], [True, False])
    assert same_bin == pytest.approx(0.13)


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1))
def test_calibration_error_is_a_share(pairs: list[tuple[float, bool]]) -> None:
    stated, hits = [c for c, _ in pairs], [h for _, h in pairs]
    error = expected_calibration_error(stated, hits)
    assert error is not None
    assert 0 <= error <= 1
    one_bin = expected_calibration_error(stated, hits, bins=1)
    assert one_bin == pytest.approx(abs(sum(stated) - sum(hits)) / len(pairs))
    assert error >= one_bin - 1e-9
