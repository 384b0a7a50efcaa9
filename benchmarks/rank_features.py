"""Compute the ranker's features for every instance whose repository is at hand.

    python benchmarks/rank_features.py --data DATASET.jsonl... --repos DIR --output DIR [--jobs 2]

One compressed file an instance, so that a run can be stopped and continued. Instances without gold
at file level are left out; so are those of SWE-bench's twelve repositories.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from graphloc.evaluation.datasets import load_dataset
from graphloc.evaluation.gold import named_gold, patch_gold
from graphloc.evaluation.model import Gold, Instance
from graphloc.evaluation.repositories import Repositories
from graphloc.issue import read_issue
from graphloc.localization import Localizer
from graphloc.localization.features import Features
from graphloc.localization.matrix import (
    ENTITY_CANDIDATES,
    FILE_CANDIDATES,
    MATRIX_VERSION,
    entity_matrix,
    file_matrix,
)
from graphloc.localization.query import Query
from graphloc.localization.ranker import WeightedRanker
from indexes.builder import build_index
from indexes.errors import GraphlocError
from indexes.history import load_history
from indexes.source import Source, open_source
from indexes.store import Store
from indexes.text import Tokenizer

SWE_BENCH = frozenset({
    "astropy/astropy", "django/django", "pallets/flask", "matplotlib/matplotlib",
    "pylint-dev/pylint", "pytest-dev/pytest", "psf/requests", "scikit-learn/scikit-learn",
    "mwaskom/seaborn", "sphinx-doc/sphinx", "sympy/sympy", "pydata/xarray",
})  # fmt: skip
"""Never trained on."""


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--final-check", action="store_true", help="allow SWE-bench repositories")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    repositories = Repositories(arguments.repos, {}, remote=None)
    groups: dict[str, list[Instance]] = defaultdict(list)
    for path in arguments.data:
        for instance in load_dataset(path, keep_going=True).instances:
            if instance.repo not in SWE_BENCH or arguments.final_check:
                groups[instance.repo].append(instance)
    tasks = []
    for repo, instances in groups.items():
        try:
            tasks.append((repo, repositories.get(repo), instances, arguments.output))
        except GraphlocError as error:
            print(f"left out: {repo}: {error}", file=sys.stderr)
    tasks.sort(key=lambda task: len(task[2]))
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for message in pool.map(run_repository, tasks):
            print(message, flush=True)
    return 0


def run_repository(task: tuple[str, Path, list[Instance], Path]) -> str:
    """Compute the features of one repository's instances."""
    repo, path, instances, output = task
    tokenizer = Tokenizer()
    done = failed = 0
    started = time.perf_counter()
    with Store.open(output / "indexes" / repo.replace("/", "__"), keep_snapshots=6) as store:
        for instance in instances:
            target = output / f"{instance.instance_id}.npz"
            if target.exists():
                continue
            try:
                done += compute_instance(instance, path, store, tokenizer, target)
            except Exception:  # noqa: BLE001 - one instance must not end the run
                failed += 1
                traceback.print_exc()
    return f"{repo}: {done} done, {failed} failed, {time.perf_counter() - started:.0f} s"


def compute_instance(
    instance: Instance, path: Path, store: Store, tokenizer: Tokenizer, target: Path
) -> bool:
    """Write one instance's matrices; False when it has no gold."""
    source = open_source(path, instance.base_commit)
    gold = find_gold(instance, source)
    if not gold.files:
        return False
    snapshot, _ = build_index(source, store, jobs=1, tokenizer=tokenizer)
    history = load_history(source, store, tokenizer)
    localizer = Localizer(snapshot, history, tokenizer=tokenizer)
    query, features = localizer.features(read_issue(instance.issue_text))
    arrays = collect(query, features, gold)
    temporary = target.with_suffix(".tmp.npz")
    np.savez_compressed(temporary, repo=np.array(instance.repo), **arrays)
    temporary.rename(target)
    return True


def find_gold(instance: Instance, source: Source) -> Gold:
    """The dataset's own gold, or the patch's."""
    return named_gold(instance) or patch_gold(instance, source)


def collect(query: Query, features: Features, gold: Gold) -> dict[str, np.ndarray]:
    """Matrices, labels and names of the candidates of both levels."""
    ranker = WeightedRanker()
    entities = query.snapshot.entities
    file_scores = ranker.score_files(query, features)
    allowed = np.flatnonzero(~entities.is_test[entities.file_rows])
    files = allowed[np.argsort(-file_scores[allowed], kind="stable")[:FILE_CANDIDATES]]
    file_names, file_values = file_matrix(query, features, files)
    scores = ranker.score_entities(query, features, file_scores)
    rows = np.flatnonzero(~entities.is_test & (entities.kinds >= 2))
    rows = rows[np.argsort(-scores[rows], kind="stable")[:ENTITY_CANDIDATES]]
    names, values = entity_matrix(query, features, rows, file_scores)
    ids = [entities.ids[row] for row in rows]
    return {
        "version": np.array(MATRIX_VERSION),
        "file_columns": np.array(file_names),
        "file_values": file_values,
        "file_hand": file_scores[files],
        "file_names": np.array([entities.paths[file] for file in files]),
        "file_numbers": files,
        "file_gold": np.array(sorted(gold.files)),
        "entity_columns": np.array(names),
        "entity_values": values,
        "entity_hand": scores[rows],
        "entity_names": np.array(ids),
        "entity_files": query.files[rows],
        "entity_is_class": entities.kinds[rows] == 2,
        "function_gold": np.array(sorted(gold.functions)),
        "module_gold": np.array(sorted(gold.modules)),
        "module_aliases": np.array([f"{a}\t{b}" for a, b in sorted(gold.aliases.items())]),
    }


if __name__ == "__main__":
    sys.exit(main())
