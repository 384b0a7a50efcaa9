from __future__ import annotations

import re
from pathlib import Path

import pytest
from rank_bm25 import BM25Okapi

from graphloc.evaluation.baselines import Bm25Baseline, JaccardBaseline, baseline_registry
from graphloc.evaluation.methods import Method, RankingContext, build_methods
from graphloc.evaluation.model import Instance
from indexes.errors import InputError
from indexes.source import open_source
from tests.graphloc.evaluation.sample_repositories import CALC, SampleRepository

FILES = {
    "calc.py": CALC,
    "pkg/text.py": 'class Text:\n    """Words."""\n\n    def split(self):\n        return 1\n',
    "pkg/empty.py": "",
    "tests/test_calc.py": "def test_adder_add_value():\n    total = value = 1\n",
    "README.md": "Adder adds the value\n",
}
ISSUE = "Adder.add loses the value: total is wrong, total should be start + value"


@pytest.fixture
def repository(tmp_path: Path) -> SampleRepository:
    return SampleRepository.create(tmp_path / "r", FILES)


def context(repository: SampleRepository, issue: str = ISSUE, **fields: int) -> RankingContext:
    instance = Instance("i", "a/a", repository.head(), issue, patch="")
    return RankingContext(instance, open_source(repository.path, repository.head()), **fields)


def test_bm25_agrees_with_rank_bm25(repository: SampleRepository) -> None:
    paths = ["calc.py", "pkg/empty.py", "pkg/text.py"]
    corpus = [re.findall(r"\w+", FILES[path].lower()) for path in paths]
    expected = BM25Okapi(corpus).get_scores(re.findall(r"\w+", ISSUE.lower()))
    ranking = Bm25Baseline().rank(context(repository))
    assert {p.entity: p.score for p in ranking.files} == pytest.approx(
        dict(zip(paths, expected, strict=True))
    )


@pytest.mark.parametrize("method", [Bm25Baseline(), JaccardBaseline()])
def test_finds_the_function_and_no_test(repository: SampleRepository, method: Method) -> None:
    ranking = method.rank(context(repository))
    assert ranking.files[0].entity == "calc.py"
    assert "calc.py:Adder.add" in [place.entity for place in ranking.functions[:2]]
    named = {place.entity for place in (*ranking.files, *ranking.functions)}
    assert not any("test" in name.partition(":")[0].split("/")[-1][:5] for name in named)
    assert "calc.py:outer.inner" not in named
    assert "calc.py:Adder.__init__" not in named


@pytest.mark.parametrize("method", [Bm25Baseline(), JaccardBaseline()])
def test_tests_if_wanted_and_no_more_than_asked_for(
    repository: SampleRepository, method: Method
) -> None:
    ranking = method.rank(context(repository, include_tests=True))
    assert "tests/test_calc.py" in [place.entity for place in ranking.files]
    assert len(method.rank(context(repository, depth=1)).functions) == 1


@pytest.mark.parametrize("method", [Bm25Baseline(), JaccardBaseline()])
def test_what_was_cached_changes_no_ranking(repository: SampleRepository, method: Method) -> None:
    before = method.rank(context(repository))
    repository.commit({"calc.py": CALC.replace("total", "amount"), "new.py": "total = value\n"})
    after = method.rank(context(repository))
    assert after != before
    assert after == type(method)().rank(context(repository))


@pytest.mark.parametrize("method", [Bm25Baseline(), JaccardBaseline()])
def test_nothing_to_rank(tmp_path: Path, method: Method) -> None:
    empty = SampleRepository.create(tmp_path / "e", {"a.txt": "", "b.py": ""})
    assert method.rank(context(empty)).functions == ()
    assert method.rank(context(empty, issue="")).functions == ()


def test_a_class_has_its_own_lines_only(repository: SampleRepository) -> None:
    scores = {
        p.entity: p.score for p in Bm25Baseline().rank(context(repository, "words")).functions
    }
    assert scores["pkg/text.py:Text"] > 0
    assert scores["pkg/text.py:Text.split"] == 0


def test_a_registry_makes_what_is_asked_for() -> None:
    registry = baseline_registry()
    assert [m.name for m in build_methods(["jaccard", "bm25", "bm25"], registry)] == [
        "jaccard",
        "bm25",
    ]
    with pytest.raises(InputError, match="choose from bm25, jaccard"):
        build_methods(["magic"], registry)
