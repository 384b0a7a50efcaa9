"""The whole of localization on small trees."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from graphloc.issue import read_issue
from graphloc.localization import Localization, RankedEntity
from graphloc.localization.evidence import MOST_REASONS
from graphloc.localization.features import ANCHORS, find_anchors, relative
from graphloc.localization.ranker import WeightedRanker
from graphloc.localization.signals import default_signals
from indexes.model import EdgeKind, EntityKind
from tests.functional.sample_trees import commit, make_repository, write
from tests.graphloc.localization.indexed_samples import BAKERY, Sample, index_sample

PROJECT = Path(__file__).parents[3]
ISSUE = """Crust stays pale

`Oven.bake` leaves the crust white when yeast is old:

```
Traceback (most recent call last):
  File "bakery/oven.py", line 19, in bake
    return self._crust(knead(dough))
  File "bakery/dough.py", line 19, in knead
    return dough
bakery.errors.OvenError: oven is too hot: 451 degrees, at most 300
```

See https://github.com/me/bakery/blob/main/bakery/util/clock.py#L1 and bakery/dough.py.
"""


@pytest.fixture(scope="module")
def found(bakery: Sample) -> Localization:
    return bakery.localizer(ranker=WeightedRanker()).localize(read_issue(ISSUE))


def comparable(found: Localization) -> tuple[tuple[RankedEntity, ...], ...]:
    """All but the time that it took."""
    return found.files, found.classes, found.functions, found.results


def test_results_are_of_their_kind_and_ranked_from_one(found: Localization) -> None:
    for results, kind in (
        (found.files, EntityKind.FILE),
        (found.classes, EntityKind.CLASS),
        (found.functions, EntityKind.FUNCTION),
    ):
        assert {result.entity.kind for result in results} == {kind}
        assert [result.rank for result in results] == list(range(1, len(results) + 1))
        scores = [result.score for result in results]
        assert scores == sorted(scores, reverse=True)
        confidences = [result.confidence for result in results]
        assert confidences == sorted(confidences, reverse=True)
        assert all(0 <= confidence <= 1 for confidence in confidences)


def test_what_the_issue_is_about_comes_first(found: Localization) -> None:
    assert {found.files[n].entity.id for n in (0, 1)} == {"bakery/oven.py", "bakery/dough.py"}
    assert found.classes[0].entity.id == "bakery/oven.py:Oven"
    first = {result.entity.id for result in found.functions[:3]}
    assert {"bakery/oven.py:Oven.bake", "bakery/dough.py:knead"} <= first


def test_all_kinds_are_merged_by_confidence(found: Localization) -> None:
    everything = {r.entity.id: r for r in (*found.files, *found.classes, *found.functions)}
    assert len(found.results) == 10
    confidences = [result.confidence for result in found.results]
    assert confidences == sorted((r.confidence for r in everything.values()), reverse=True)[:10]
    for result in found.results:
        own = everything[result.entity.id]
        assert (result.score, result.confidence, result.evidence) == (
            own.score,
            own.confidence,
            own.evidence,
        )


def test_top_k_limits_each_kind(bakery: Sample) -> None:
    found = bakery.localizer().localize(read_issue(ISSUE), top_k=2)
    assert [len(results) for results in comparable(found)] == [2, 2, 2, 2]


def test_fewer_results_for_the_asking_are_the_first_of_more(bakery: Sample) -> None:
    localizer = bakery.localizer()
    few = localizer.localize(read_issue(ISSUE), top_k=3)
    many = localizer.localize(read_issue(ISSUE), top_k=8)
    assert few.functions == many.functions[:3]
    assert few.files == many.files[:3]


def test_tests_are_ranked_only_when_that_is_asked_for(bakery: Sample) -> None:
    issue = read_issue("test_brown_crust fails\n\nin tests/test_oven.py")
    localizer = bakery.localizer(ranker=WeightedRanker())
    without = localizer.localize(issue)
    assert not any(result.entity.is_test for result in without.results)
    found = localizer.localize(issue, include_tests=True)
    assert found.files[0].entity.id == "tests/test_oven.py"
    assert found.functions[0].entity.id == "tests/test_oven.py:test_brown_crust"


def test_evidence_names_signals_strongest_first(found: Localization) -> None:
    known = {signal.name for signal in default_signals()} | {"graph"}
    for result in (*found.files, *found.classes, *found.functions):
        assert len(result.evidence) <= MOST_REASONS
        assert {reason.signal for reason in result.evidence} <= known
        assert all(reason.detail and reason.weight > 0 for reason in result.evidence)
        weights = [reason.weight for reason in result.evidence]
        assert weights == sorted(weights, reverse=True)


def test_evidence_holds_what_the_issue_says(found: Localization) -> None:
    def reasons(results: tuple[RankedEntity, ...], entity: str) -> dict[str, str]:
        result = next(r for r in results if r.entity.id == entity)
        return {reason.signal: reason.detail for reason in reversed(result.evidence)}

    bake = reasons(found.functions, "bakery/oven.py:Oven.bake")
    assert "bake" in bake["names"]
    assert "oven is too hot" in bake["messages"]
    clock = reasons(found.files, "bakery/util/clock.py")
    assert clock["permalinks"] == "link to bakery/util/clock.py"
    dough = reasons(found.files, "bakery/dough.py")
    assert dough["paths"] == "the issue mentions bakery/dough.py"


def test_hops_lead_from_an_anchor_to_the_result_along_real_edges(bakery: Sample) -> None:
    localizer = bakery.localizer(ranker=WeightedRanker())
    graph, entities = bakery.snapshot.graph, bakery.snapshot.entities
    edges = {
        (entities.ids[e.source], e.kind, entities.ids[e.target])
        for e in (graph.edge(n) for n in range(len(graph)))
    }
    shown = 0
    for text in (ISSUE, "`ferment` is slow", "The class SteamOven", "gluten"):
        issue = read_issue(text)
        _, features = localizer.features(issue)
        anchors = {entities.ids[row] for row in features.anchors}
        found = localizer.localize(issue, top_k=20)
        for result in (*found.files, *found.classes, *found.functions):
            for reason in result.evidence:
                if reason.signal != "graph":
                    assert reason.hops == ()
                    continue
                shown += 1
                assert reason.hops[0] in anchors
                assert reason.hops[-1] == result.entity.id
                assert reason.detail.endswith(f"from {reason.hops[0]}")
                for at, arrow, to in zip(
                    reason.hops[::2], reason.hops[1::2], reason.hops[2::2], strict=False
                ):
                    kind = EdgeKind(arrow.strip("<-> "))
                    assert ((at, kind, to) if arrow.endswith(">") else (to, kind, at)) in edges
    assert shown > 3


@pytest.mark.parametrize("signal", [signal.name for signal in default_signals()] + ["graph"])
def test_a_signal_left_out_says_nothing(bakery: Sample, signal: str) -> None:
    issue = read_issue(ISSUE)
    _, whole = bakery.localizer().features(issue)
    localizer = bakery.localizer(without=[signal], ranker=WeightedRanker())
    _, features = localizer.features(issue)

    assert features.entities.keys() == whole.entities.keys()
    assert features.files.keys() == whole.files.keys()
    for (level, name), (owner, _) in whole.columns.items():
        columns = features.entities if level == "entity" else features.files
        if owner == signal:
            assert not columns[name].any()
        else:
            np.testing.assert_array_equal(
                columns[name], (whole.entities if level == "entity" else whole.files)[name]
            )
    if signal == "graph":
        assert not features.entities["walk"].any()
        assert not features.files["walk_sum"].any()
    found = localizer.localize(issue)
    given = {reason.signal for result in found.results for reason in result.evidence}
    assert signal not in given


def test_all_signals_left_out_rank_by_nothing(bakery: Sample) -> None:
    names = [signal.name for signal in default_signals()] + ["graph"]
    found = bakery.localizer(without=names, ranker=WeightedRanker()).localize(read_issue(ISSUE))
    assert {result.score for result in found.functions} == {0.0}
    paths = [result.entity.path for result in found.files]
    assert paths == sorted(paths)


def test_anchors_are_entities_with_shares_of_one(bakery: Sample) -> None:
    query, features = bakery.localizer().features(read_issue(ISSUE))
    entities = bakery.snapshot.entities
    assert 0 < len(features.anchors) <= ANCHORS
    assert sum(features.anchors.values()) == pytest.approx(1.0, abs=1e-5)
    assert all(entities.kinds[row] > 0 and not entities.is_test[row] for row in features.anchors)
    assert find_anchors(query, features) == features.anchors


def test_shares_are_of_the_largest_value() -> None:
    assert relative(np.array([1, 4, 0], np.float32)).tolist() == [0.25, 1.0, 0.0]
    assert relative(np.zeros(3, np.float32)).tolist() == [0.0, 0.0, 0.0]
    assert relative(np.zeros(0, np.float32)).tolist() == []


def test_one_localizer_answers_the_same_again_and_again(bakery: Sample) -> None:
    localizer = bakery.localizer()
    first = localizer.localize(read_issue(ISSUE))
    localizer.localize(read_issue("Something else\n\n`ferment` is slow"))
    assert comparable(localizer.localize(read_issue(ISSUE))) == comparable(first)
    assert comparable(bakery.localizer().localize(read_issue(ISSUE))) == comparable(first)


def test_a_tree_without_files_has_no_results(tmp_path: Path) -> None:
    sample = index_sample(write(tmp_path / "tree", {"README": "x"}), tmp_path / "index")
    assert comparable(sample.localizer().localize(read_issue(ISSUE))) == ((), (), (), ())


def test_a_tree_of_one_file(tmp_path: Path) -> None:
    files = {"only.py": "def greet():\n    return 'hello'\n"}
    sample = index_sample(write(tmp_path / "tree", files), tmp_path / "index")
    found = sample.localizer().localize(read_issue("`greet` is rude"))
    assert [result.entity.id for result in found.files] == ["only.py"]
    assert [result.entity.id for result in found.functions] == ["only.py:greet"]
    assert found.classes == ()
    assert sample.localizer().localize(read_issue("zzz qqq")).files[0].entity.id == "only.py"


def test_a_tree_of_empty_files(tmp_path: Path) -> None:
    files = {"a.py": "", "b.py": "", "tests/test_a.py": ""}
    sample = index_sample(write(tmp_path / "tree", files), tmp_path / "index")
    found = sample.localizer().localize(read_issue(ISSUE))
    assert [result.entity.id for result in found.files] == ["a.py", "b.py"]
    assert found.functions == ()


def test_a_tree_of_tests_alone_has_results_when_they_are_asked_for(tmp_path: Path) -> None:
    files = {"tests/test_a.py": "def test_it():\n    pass\n"}
    sample = index_sample(write(tmp_path / "tree", files), tmp_path / "index")
    assert sample.localizer().localize(read_issue("test_it")).results == ()
    found = sample.localizer().localize(read_issue("test_it"), include_tests=True)
    assert found.functions[0].entity.id == "tests/test_a.py:test_it"


def test_a_repository_of_three_files_with_history(tmp_path: Path) -> None:
    files = {f"{name}.py": f"def {name}_it():\n    pass\n" for name in ("read", "write", "sort")}
    repo = make_repository(tmp_path / "repo", files)
    write(repo, {"sort.py": "def sort_it():\n    return 1\n"})
    commit(repo, "Put umlauts in order")
    sample = index_sample(repo, tmp_path / "index")
    assert sample.history is not None
    found = sample.localizer(ranker=WeightedRanker()).localize(
        read_issue("Umlauts are not in order")
    )
    assert found.files[0].entity.id == "sort.py"
    assert found.files[0].evidence[0].signal == "history"


SCRIPT = """
import sys
from pathlib import Path
from graphloc.cli.localization_json import localization_document
from graphloc.issue import read_issue
from tests.graphloc.localization.indexed_samples import index_sample
import json

sample = index_sample(Path(sys.argv[1]), Path(sys.argv[2]))
found = sample.localizer().localize(read_issue(sys.stdin.read()), top_k=20)
document = localization_document(".", "x", found, found.results)
document.pop("elapsed_ms")
print(json.dumps(document))
"""


def test_results_do_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "repo", BAKERY)
    outputs = []
    for seed in ("0", "1", "4711"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(repo), str(tmp_path / f"index{seed}")],
            input=ISSUE,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(PROJECT)},
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.append(done.stdout)
    assert json.loads(outputs[0])["results"]
    assert outputs[1:] == outputs[:1] * 2
