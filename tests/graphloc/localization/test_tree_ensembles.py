"""Trees against a literal walk, and against LightGBM itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphloc.issue import read_issue
from graphloc.localization.confidence import Calibration
from graphloc.localization.learned import (
    LearnedRanker,
    ModelCard,
    best_candidates,
    read_model,
    save_model,
)
from graphloc.localization.matrix import MATRIX_VERSION, entity_matrix, file_matrix
from graphloc.localization.ranker import WeightedRanker
from graphloc.localization.trees import TreeEnsemble
from tests.functional.sample_trees import write
from tests.graphloc.localization.indexed_samples import Sample, index_sample

ISSUE = "Crust is pale\n\n`Oven.bake` leaves the dough raw, see bakery/dough.py"


def random_trees(columns: tuple[str, ...], seed: int = 0, n_trees: int = 9) -> TreeEnsemble:
    """Trees of random shapes, as the trainer lays them out."""
    random = np.random.default_rng(seed)
    leaves, width = 7, 13
    arrays = {
        "features": np.zeros((n_trees, width), np.int16),
        "thresholds": np.zeros((n_trees, width), np.float32),
        "lefts": np.tile(np.arange(width, dtype=np.int16), (n_trees, 1)),
        "rights": np.tile(np.arange(width, dtype=np.int16), (n_trees, 1)),
        "values": np.zeros((n_trees, width), np.float32),
    }
    deepest = 0
    for tree in range(n_trees):
        depths = {0: 0}
        for new in range(1, 2 * leaves - 2, 2):
            node = int(random.choice(list(depths)))
            depth = depths.pop(node) + 1
            depths |= {new: depth, new + 1: depth}
            arrays["features"][tree, node] = random.integers(len(columns))
            arrays["thresholds"][tree, node] = random.normal()
            arrays["lefts"][tree, node], arrays["rights"][tree, node] = new, new + 1
        for node, depth in depths.items():
            arrays["values"][tree, node] = random.normal()
            deepest = max(deepest, depth)
    return TreeEnsemble(columns, depth=deepest, **arrays)


def literal_walk(trees: TreeEnsemble, row: np.ndarray) -> float:
    """What a row's way through each tree leads to, one step at a time."""
    total = 0.0
    for tree in range(len(trees.features)):
        node = 0
        while trees.lefts[tree, node] != node:
            left = row[trees.features[tree, node]] <= trees.thresholds[tree, node]
            node = (trees.lefts if left else trees.rights)[tree, node]
        total += float(trees.values[tree, node])
    return total


COLUMNS = ("a", "b", "c", "d")


@pytest.mark.parametrize("seed", range(4))
def test_predictions_are_those_of_a_literal_walk(seed: int) -> None:
    trees = random_trees(COLUMNS, seed)
    rows = np.random.default_rng(seed).normal(size=(50, 4)).astype(np.float32)
    rows[0] = trees.thresholds[0, 0]  # equal to a threshold goes left
    found = trees.predict(COLUMNS, rows)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [literal_walk(trees, row) for row in rows], rtol=1e-5)


def test_columns_are_found_by_name_and_count_as_zero_when_they_are_not_there() -> None:
    trees = random_trees(COLUMNS)
    rows = np.random.default_rng(1).normal(size=(20, 4)).astype(np.float32)
    shuffled = rows[:, [2, 0, 3, 1]]
    np.testing.assert_array_equal(
        trees.predict(("c", "a", "d", "b"), shuffled), trees.predict(COLUMNS, rows)
    )
    without = rows.copy()
    without[:, 1] = 0
    np.testing.assert_array_equal(
        trees.predict(("a", "c", "new", "d"), rows[:, [0, 2, 1, 3]]),
        trees.predict(COLUMNS, without),
    )


def test_no_rows_give_no_predictions() -> None:
    assert random_trees(COLUMNS).predict(COLUMNS, np.zeros((0, 4), np.float32)).shape == (0,)


def test_predictions_are_those_of_lightgbm() -> None:
    lightgbm = pytest.importorskip("lightgbm")  # what trains is no part of what is installed
    from benchmarks.train_ranker import to_ensemble

    random = np.random.default_rng(3)
    rows = random.normal(size=(600, 5)).astype(np.float32)
    rows[:, 4] = random.integers(0, 3, 600)
    labels = (rows[:, 0] * rows[:, 1] > rows[:, 4] - 1).astype(int)
    data = lightgbm.Dataset(rows, label=labels, group=[60] * 10)
    settings = {"objective": "lambdarank", "num_leaves": 15, "verbosity": -1, "num_threads": 1}
    model = lightgbm.train(settings, data, num_boost_round=25)
    names = tuple(f"column {n}" for n in range(5))

    found = to_ensemble(model, names).predict(names, rows)

    np.testing.assert_allclose(found, model.predict(rows), atol=1e-5)


def card(file_columns: list[str], entity_columns: list[str], **changes: object) -> ModelCard:
    values: dict[str, object] = {
        "matrix_version": MATRIX_VERSION,
        "file_columns": tuple(file_columns),
        "entity_columns": tuple(entity_columns),
        "entity_share": 0.3,
        "calibrations": {
            kind: Calibration(0.1, 0.8, -0.2, 1.2) for kind in ("file", "class", "function")
        },
        "data_digest": "0" * 64,
        "instances": 3,
        "repositories": 2,
        "metrics": {"file acc@1": 50.0},
    }
    return ModelCard(**(values | changes))  # type: ignore[arg-type]


def trained_on(sample: Sample) -> tuple[ModelCard, TreeEnsemble, TreeEnsemble]:
    """A model whose columns are those that the sample's features have."""
    query, features = sample.localizer().features(read_issue(ISSUE))
    file_scores = WeightedRanker().score_files(query, features)
    file_columns, _ = file_matrix(query, features, np.arange(2))
    entity_columns, _ = entity_matrix(query, features, np.arange(8, 10), file_scores)
    return (
        card(file_columns, entity_columns),
        random_trees(tuple(file_columns), 1),
        random_trees(tuple(entity_columns), 2),
    )


def test_a_model_comes_back_from_its_bytes(bakery: Sample) -> None:
    model = trained_on(bakery)
    data = save_model(*model)
    again = read_model(data)

    assert again is not None
    assert again.card == model[0]
    assert again.calibrations == model[0].calibrations
    before = bakery.localizer(ranker=LearnedRanker(*model)).localize(read_issue(ISSUE))
    after = bakery.localizer(ranker=again).localize(read_issue(ISSUE))
    assert (after.files, after.classes, after.functions) == (
        before.files,
        before.classes,
        before.functions,
    )
    assert save_model(*model) == data


def test_a_model_of_other_columns_is_not_used(bakery: Sample) -> None:
    _, file_trees, entity_trees = trained_on(bakery)
    other = card(["a"], ["b"], matrix_version=MATRIX_VERSION - 1)
    assert read_model(save_model(other, file_trees, entity_trees)) is None


def test_a_learned_ranker_puts_its_candidates_before_all_else(bakery: Sample) -> None:
    ranker = LearnedRanker(*trained_on(bakery))
    query, features = bakery.localizer().features(read_issue(ISSUE))
    files = ranker.score_files(query, features)
    scores = ranker.score_entities(query, features, files)
    revised = ranker.revise_files(query, files, scores)

    entities = bakery.snapshot.entities
    is_test = entities.is_test[entities.file_rows]
    assert files[~is_test].min() > files[is_test].max()
    inside = (entities.kinds >= 2) & ~entities.is_test
    assert scores[inside].min() > scores[(entities.kinds >= 2) & entities.is_test].max()
    assert np.isfinite(revised).all()
    assert (revised >= files - 1e-6).all()


def test_candidates_are_the_best_allowed_ones_ties_by_number() -> None:
    scores = np.array([1, 5, 3, 5, 9, 0], np.float32)
    allowed = np.array([True, True, True, True, False, True])
    assert best_candidates(scores, allowed, 3).tolist() == [1, 3, 2]
    assert best_candidates(scores, allowed, 99).tolist() == [1, 3, 2, 0, 5]
    assert best_candidates(scores, allowed & False, 3).tolist() == []


@pytest.mark.parametrize("files", [{}, {"a.py": ""}, {"tests/test_a.py": "def test_a(): ..."}])
def test_a_learned_ranker_serves_trees_with_next_to_nothing(
    bakery: Sample, tmp_path: Path, files: dict[str, str]
) -> None:
    ranker = LearnedRanker(*trained_on(bakery))
    sample = index_sample(write(tmp_path / "tree", files), tmp_path / "index")
    found = sample.localizer(ranker=ranker).localize(read_issue(ISSUE))
    assert [result.entity.id for result in found.files] == [p for p in files if "/" not in p]
    assert found.functions == ()
