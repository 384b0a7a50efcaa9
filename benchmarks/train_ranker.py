"""Train the ranker that graphloc ships, cross-validated by repository.

    python benchmarks/train_ranker.py --features DIR [--output graphloc/localization/ranker.bin]

`DIR` is what ``rank_features.py`` wrote. Two LambdaRank models (LightGBM): files, then entities
given the out-of-fold scores of their files; then one weight that lets a file's best entity revise
the file's score, and Platt curves for the confidences, both fitted on out-of-fold scores. The
same features give the same file, byte for byte.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import lightgbm
import numpy as np

from graphloc.evaluation.model import canonical_function, module_of
from graphloc.localization.confidence import Calibration, calibration_features
from graphloc.localization.learned import ModelCard, save_model
from graphloc.localization.matrix import MATRIX_VERSION
from graphloc.localization.trees import TreeEnsemble

FOLDS = 6
SEED = 20240601
FILE_PARAMETERS = {"num_leaves": 15, "min_data_in_leaf": 40, "learning_rate": 0.04}
FILE_TREES = 260
ENTITY_PARAMETERS = {"num_leaves": 15, "min_data_in_leaf": 60, "learning_rate": 0.05}
ENTITY_TREES = 260
SHARED_PARAMETERS = {
    "objective": "lambdarank",
    "metric": "None",
    "lambdarank_truncation_level": 10,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "seed": SEED,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbosity": -1,
}
SHARES = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
TEMPERATURES = (0.3, 0.5, 0.8, 1.2, 2.0)

Predictor = Callable[[np.ndarray], np.ndarray]


@dataclass(slots=True)
class Sample:
    """One instance's candidates."""

    name: str
    repo: str
    file_values: np.ndarray
    file_names: list[str]
    file_numbers: np.ndarray
    file_gold: set[str]
    file_hand: np.ndarray
    entity_values: np.ndarray
    entity_names: list[str]
    entity_files: np.ndarray
    entity_is_class: np.ndarray
    entity_hand: np.ndarray
    function_gold: set[str]
    module_gold: set[str]
    aliases: dict[str, str]
    file_columns: tuple[str, ...]
    entity_columns: tuple[str, ...]

    @property
    def file_labels(self) -> np.ndarray:
        """1 for files that the fix changes."""
        return np.array([name in self.file_gold for name in self.file_names], dtype=np.int32)

    def function_name(self, entity: str) -> str:
        """The name under which gold knows a function."""
        name = canonical_function(entity)
        return self.aliases.get(name, name)

    @property
    def entity_labels(self) -> np.ndarray:
        """2 for functions that the fix changes, 1 for classes that it changes by themselves."""
        return np.array([self._entity_label(name) for name in self.entity_names], dtype=np.int32)

    def _entity_label(self, entity: str) -> int:
        if self.function_name(entity) in self.function_gold:
            return 2
        return int(entity in self.module_gold)


def load(folder: Path) -> list[Sample]:
    """All instances of a folder, in order of their names."""
    samples = []
    for path in sorted(folder.glob("*.npz")):
        if path.name.endswith(".tmp.npz"):
            continue
        z = np.load(path)
        if int(z["version"]) != MATRIX_VERSION or not len(z["file_names"]):
            continue
        samples.append(
            Sample(
                name=path.stem,
                repo=str(z["repo"]),
                file_values=z["file_values"],
                file_names=z["file_names"].tolist(),
                file_numbers=z["file_numbers"],
                file_gold=set(z["file_gold"].tolist()),
                file_hand=z["file_hand"],
                entity_values=z["entity_values"],
                entity_names=z["entity_names"].tolist(),
                entity_files=z["entity_files"],
                entity_is_class=z["entity_is_class"],
                entity_hand=z["entity_hand"],
                function_gold=set(z["function_gold"].tolist()),
                module_gold=set(z["module_gold"].tolist()),
                aliases=dict(line.split("\t") for line in z["module_aliases"].tolist()),
                file_columns=tuple(z["file_columns"].tolist()),
                entity_columns=tuple(z["entity_columns"].tolist()),
            )
        )
    return samples


def folds_of(samples: list[Sample]) -> np.ndarray:
    """Fold of each sample; a repository is in one fold only, folds are about equally large."""
    sizes: dict[str, int] = {}
    for sample in samples:
        sizes[sample.repo] = sizes.get(sample.repo, 0) + 1
    loads = [0] * FOLDS
    fold: dict[str, int] = {}
    for repo in sorted(sizes, key=lambda r: (-sizes[r], hashlib.sha256(r.encode()).hexdigest())):
        fold[repo] = int(np.argmin(loads))
        loads[fold[repo]] += sizes[repo]
    return np.array([fold[sample.repo] for sample in samples])


def train(
    matrices: list[np.ndarray], labels: list[np.ndarray], parameters: dict, trees: int
) -> lightgbm.Booster:
    """One LambdaRank model; a group an instance, instances of large repositories weigh the same."""
    data = lightgbm.Dataset(
        np.concatenate(matrices),
        label=np.concatenate(labels),
        group=[len(matrix) for matrix in matrices],
        free_raw_data=False,
    )
    return lightgbm.train({**SHARED_PARAMETERS, **parameters}, data, num_boost_round=trees)


def with_file_scores(sample: Sample, scores: np.ndarray) -> np.ndarray:
    """The entities' matrix, with the columns that tell of their file taken from learned scores."""
    values = sample.entity_values.copy()
    by_number = dict(zip(sample.file_numbers.tolist(), scores.tolist(), strict=True))
    worst = float(scores.min()) - 1.0
    own = np.array([by_number.get(n, worst) for n in sample.entity_files.tolist()])
    ranked = np.argsort(-scores, kind="stable")
    rank_of = {int(sample.file_numbers[n]): rank for rank, n in enumerate(ranked)}
    ranks = np.array([rank_of.get(n, len(scores)) for n in sample.entity_files.tolist()])
    columns = sample.entity_columns
    values[:, columns.index("in_file_gap")] = float(scores.max()) - own
    values[:, columns.index("in_file_rank")] = 1.0 / (1.0 + ranks)
    return values


def revised(sample: Sample, files: np.ndarray, entities: np.ndarray, share: float) -> np.ndarray:
    """File scores with a share of each file's best entity; as `LearnedRanker.revise_files`."""
    if not len(entities):
        return files
    best: dict[int, float] = {}
    floor = float(entities.min()) - 1.0
    for number, score in zip(sample.entity_files.tolist(), entities.tolist(), strict=True):
        best[number] = max(best.get(number, 0.0), score - floor)
    return files + share * np.array([best.get(n, 0.0) for n in sample.file_numbers.tolist()])


def is_hit(names: Iterable[str], gold: set[str], k: int) -> bool:
    """Acc@k as LocAgent's scorer counts it."""
    first = list(dict.fromkeys(names))[:k]
    return len(gold.intersection(first)) == min(k, len(gold))


def measure(
    samples: list[Sample], files: list[np.ndarray], entities: list[np.ndarray]
) -> dict[str, float]:
    """Accuracies over all samples that have gold at a level."""
    hits: dict[str, list[bool]] = {}
    for sample, file_scores, scores in zip(samples, files, entities, strict=True):
        names = [sample.file_names[n] for n in np.argsort(-file_scores, kind="stable")]
        ordered = [sample.entity_names[n] for n in np.argsort(-scores, kind="stable")]
        functions = [sample.function_name(name) for name in ordered]
        levels = {
            "file": (names, sample.file_gold),
            "module": ([module_of(name) for name in ordered], sample.module_gold),
            "function": (functions, sample.function_gold),
        }
        for level, (found, gold) in levels.items():
            for k in (1, 3, 5, 10) if gold else ():
                hits.setdefault(f"{level} acc@{k}", []).append(is_hit(found, gold, k))
    return {name: round(100 * float(np.mean(values)), 2) for name, values in hits.items()}


def fit_curve(groups: list[tuple[np.ndarray, np.ndarray]]) -> Calibration:
    """Platt curve over (scores best first, labels) of each instance, by Newton's method."""
    best: tuple[float, Calibration] | None = None
    for temperature in TEMPERATURES:
        odds, ranks, labels = [], [], []
        for scores, is_gold in groups:
            odd, rank = calibration_features(scores, temperature)
            count = min(len(odd), 10)
            odds.append(odd[:count])
            ranks.append(rank[:count])
            labels.append(is_gold[:count])
        x = np.stack(
            [np.ones(sum(map(len, odds))), np.concatenate(odds), np.concatenate(ranks)], axis=1
        )
        weights, loss = _logistic(x, np.concatenate(labels).astype(float))
        curve = Calibration(*(round(float(w), 5) for w in weights), temperature=temperature)
        if best is None or loss < best[0]:
            best = loss, curve
    assert best is not None
    return best[1]


def _logistic(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    weights = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        gradient = x.T @ (p - y) + 1e-3 * weights
        hessian = (x * (p * (1 - p))[:, None]).T @ x + 1e-3 * np.eye(x.shape[1])
        weights -= np.linalg.solve(hessian, gradient)
    p = np.clip(1 / (1 + np.exp(-np.clip(x @ weights, -30, 30))), 1e-9, 1 - 1e-9)
    return weights, float(-np.mean(y * np.log(p) + (1 - y) * np.log(1 - p)))


def expected_calibration_error(
    groups: list[tuple[np.ndarray, np.ndarray]], curve: Calibration
) -> float:
    """ECE over the first ten results, 15 equal bins."""
    found, labels = [], []
    for scores, is_gold in groups:
        odds, ranks = calibration_features(scores, curve.temperature)
        logits = curve.bias + curve.share * odds[:10] + curve.log_rank * ranks[:10]
        found.append(1 / (1 + np.exp(-logits)))
        labels.append(is_gold[:10])
    p, y = np.concatenate(found), np.concatenate(labels).astype(float)
    bins = np.minimum((p * 15).astype(int), 14)
    return float(sum(abs(p[bins == b].sum() - y[bins == b].sum()) for b in range(15)) / len(p))


def sorted_groups(
    samples: list[Sample], scores: list[np.ndarray], kind: str
) -> list[tuple[np.ndarray, np.ndarray]]:
    """(scores best first, labels) of each sample for one kind of entity."""
    groups = []
    for sample, values in zip(samples, scores, strict=True):
        if kind == "file":
            labels = sample.file_labels
            chosen = np.arange(len(values))
        else:
            wanted = sample.entity_is_class if kind == "class" else ~sample.entity_is_class
            chosen = np.flatnonzero(wanted)
            labels = class_labels(sample) if kind == "class" else sample.entity_labels == 2
        chosen = chosen[np.argsort(-values[chosen], kind="stable")]
        if len(chosen):
            groups.append((values[chosen], labels[chosen]))
    return groups


def class_labels(sample: Sample) -> np.ndarray:
    """A class is changed when something inside it is."""
    return np.array([name in sample.module_gold for name in sample.entity_names])


def to_ensemble(booster: lightgbm.Booster, columns: tuple[str, ...]) -> TreeEnsemble:
    """LightGBM's trees as arrays."""
    trees = [tree["tree_structure"] for tree in booster.dump_model()["tree_info"]]
    flat = [_flatten(tree) for tree in trees]
    width = max(len(nodes) for nodes, _ in flat)
    shape = (len(flat), width)
    arrays = {
        "features": np.zeros(shape, np.int16),
        "thresholds": np.zeros(shape, np.float32),
        "lefts": np.tile(np.arange(width, dtype=np.int16), (len(flat), 1)),
        "rights": np.tile(np.arange(width, dtype=np.int16), (len(flat), 1)),
        "values": np.zeros(shape, np.float32),
    }
    for number, (nodes, _) in enumerate(flat):
        for place, node in enumerate(nodes):
            for name, value in node.items():
                arrays[name][number, place] = value
    return TreeEnsemble(columns, depth=max(depth for _, depth in flat), **arrays)


def _flatten(tree: dict) -> tuple[list[dict], int]:
    nodes: list[dict] = []

    def add(node: dict, depth: int) -> tuple[int, int]:
        place = len(nodes)
        nodes.append({})
        if "split_feature" not in node:
            nodes[place] = {"values": node["leaf_value"]}
            return place, depth
        left, left_depth = add(node["left_child"], depth + 1)
        right, right_depth = add(node["right_child"], depth + 1)
        threshold = np.nextafter(np.float32(node["threshold"]), np.float32(-np.inf))
        if float(np.float32(node["threshold"])) <= node["threshold"]:
            threshold = np.float32(node["threshold"])
        nodes[place] = {
            "features": node["split_feature"],
            "thresholds": threshold,
            "lefts": left,
            "rights": right,
        }
        return place, max(left_depth, right_depth)

    _, depth = add(tree, 0)
    return nodes, depth


def cross_validate(
    samples: list[Sample], folds: np.ndarray
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Out-of-fold scores of files and entities."""
    files: list[np.ndarray] = [np.zeros(0)] * len(samples)
    entities: list[np.ndarray] = [np.zeros(0)] * len(samples)
    for fold in range(FOLDS):
        inside = np.flatnonzero(folds != fold).tolist()
        model = train(
            [samples[n].file_values for n in inside],
            [samples[n].file_labels for n in inside],
            FILE_PARAMETERS,
            FILE_TREES,
        )
        for n in np.flatnonzero(folds == fold).tolist():
            files[n] = np.asarray(model.predict(samples[n].file_values))
    for fold in range(FOLDS):
        inside = [
            n for n in np.flatnonzero(folds != fold).tolist() if samples[n].entity_labels.any()
        ]
        model = train(
            [with_file_scores(samples[n], files[n]) for n in inside],
            [samples[n].entity_labels for n in inside],
            ENTITY_PARAMETERS,
            ENTITY_TREES,
        )
        for n in np.flatnonzero(folds == fold).tolist():
            if len(samples[n].entity_names):
                entities[n] = np.asarray(model.predict(with_file_scores(samples[n], files[n])))
    return files, entities


def choose_share(
    samples: list[Sample], files: list[np.ndarray], entities: list[np.ndarray]
) -> float:
    """The weight of the best entity that makes files most accurate."""
    worth = []
    for share in SHARES:
        scores = [revised(s, f, e, share) for s, f, e in zip(samples, files, entities, strict=True)]
        found = measure(samples, scores, entities)
        worth.append((found["file acc@1"] + found["file acc@3"] + found["file acc@5"], -share))
    return -max(worth)[1]


def digest(samples: list[Sample]) -> str:
    """Digest of everything that training depends on."""
    state = hashlib.sha256()
    for sample in samples:
        state.update(sample.name.encode())
        state.update(np.ascontiguousarray(sample.file_values).tobytes())
        state.update(np.ascontiguousarray(sample.entity_values).tobytes())
    return state.hexdigest()


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--features", type=Path, required=True)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    samples = load(arguments.features)
    folds = folds_of(samples)
    repositories = len({sample.repo for sample in samples})
    print(f"{len(samples)} instances of {repositories} repositories, {FOLDS} folds")
    hand = measure(samples, [s.file_hand for s in samples], [s.entity_hand for s in samples])
    print("hand-set   ", json.dumps(hand))
    files, entities = cross_validate(samples, folds)
    print("learned    ", json.dumps(measure(samples, files, entities)))
    share = choose_share(samples, files, entities)
    final = [revised(s, f, e, share) for s, f, e in zip(samples, files, entities, strict=True)]
    metrics = measure(samples, final, entities)
    print(f"revised {share}", json.dumps(metrics))
    curves = {}
    for kind, scores in (("file", final), ("class", entities), ("function", entities)):
        groups = sorted_groups(samples, scores, kind)
        curves[kind] = fit_curve(groups)
        error = expected_calibration_error(groups, curves[kind])
        metrics[f"{kind} ece"] = round(error, 4)
        print(kind, curves[kind], "ece", round(error, 4))
    if arguments.output:
        arguments.output.write_bytes(train_final(samples, files, share, curves, metrics))
    return 0


def train_final(
    samples: list[Sample],
    files: list[np.ndarray],
    share: float,
    curves: dict[str, Calibration],
    metrics: dict[str, float],
) -> bytes:
    """Train on everything; entities see out-of-fold scores of files, as they will in use."""
    file_model = train(
        [s.file_values for s in samples],
        [s.file_labels for s in samples],
        FILE_PARAMETERS,
        FILE_TREES,
    )
    kept = [n for n, s in enumerate(samples) if s.entity_labels.any()]
    entity_model = train(
        [with_file_scores(samples[n], files[n]) for n in kept],
        [samples[n].entity_labels for n in kept],
        ENTITY_PARAMETERS,
        ENTITY_TREES,
    )
    card = ModelCard(
        matrix_version=MATRIX_VERSION,
        file_columns=samples[0].file_columns,
        entity_columns=samples[0].entity_columns,
        entity_share=share,
        calibrations=curves,
        data_digest=digest(samples),
        instances=len(samples),
        repositories=len({sample.repo for sample in samples}),
        metrics=metrics,
    )
    return save_model(
        card,
        to_ensemble(file_model, card.file_columns),
        to_ensemble(entity_model, card.entity_columns),
    )


if __name__ == "__main__":
    sys.exit(main())
