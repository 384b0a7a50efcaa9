"""Names that the issue mentions."""

from __future__ import annotations

import pytest

from graphloc.localization.signals import NameSignal
from tests.functional.sample_trees import write
from tests.graphloc.localization.indexed_samples import Sample, index_sample

NAMES = NameSignal()


def test_an_exact_name_finds_what_bears_it(bakery: Sample) -> None:
    found = bakery.entities(NAMES, "exact_name", "Bread is raw\n\nI called `knead()` and waited.")
    assert set(found) == {"bakery/dough.py:knead"}


def test_a_name_in_the_title_says_more_than_one_in_a_code_block(bakery: Sample) -> None:
    issue = "SteamOven leaks\n\n```python\nbread = OvenError()\n```\n"
    found = bakery.entities(NAMES, "exact_name", issue)
    assert found["bakery/oven.py:SteamOven"] > found["bakery/errors.py:OvenError"]


def test_a_name_that_many_bear_says_less(bakery: Sample) -> None:
    found = bakery.entities(NAMES, "exact_name", "Broken\n\n`ferment` and `bake` fail")
    assert found["bakery/dough.py:ferment"] > found["bakery/oven.py:Oven.bake"]
    assert found["bakery/oven.py:Oven.bake"] == found["bakery/oven.py:SteamOven.bake"]


def test_a_dotted_name_prefers_the_class_that_it_names(bakery: Sample) -> None:
    issue = "Wrong\n\n`SteamOven.bake` returns nothing"
    dotted = bakery.entities(NAMES, "dotted_name", issue)
    assert set(dotted) == {"bakery/oven.py:SteamOven.bake"}
    assert bakery.entities(NAMES, "exact_name", issue)["bakery/oven.py:Oven.bake"] > 0


def test_a_dotted_name_may_begin_with_a_module(bakery: Sample) -> None:
    dotted = bakery.entities(NAMES, "dotted_name", "Wrong\n\n`bakery.dough.knead` is slow")
    assert set(dotted) == {"bakery/dough.py:knead"}


def test_what_a_snippet_s_alias_stands_for_counts(bakery: Sample) -> None:
    issue = (
        "Wrong\n\n```python\nfrom bakery import dough as d\nloaf = d.Dough('rye')\n"
        "loaf.rise(3)\n```\n"
    )
    assert "bakery/dough.py:Dough.rise" in bakery.entities(NAMES, "dotted_name", issue)


def test_case_is_forgiven_at_a_price(bakery: Sample) -> None:
    exact = bakery.entities(NAMES, "exact_name", "Wrong\n\n`SteamOven` hisses")
    folded = bakery.entities(NAMES, "exact_name", "Wrong\n\n`steamoven` hisses")
    assert set(folded) == {"bakery/oven.py:SteamOven"}
    assert folded["bakery/oven.py:SteamOven"] < exact["bakery/oven.py:SteamOven"]


def test_methods_share_in_what_is_said_of_their_class(bakery: Sample) -> None:
    issue = "SteamOven hisses"
    owner = bakery.entities(NAMES, "owner_name", issue)
    assert set(owner) == {"bakery/oven.py:SteamOven.bake"}
    assert bakery.reason(NAMES, "owner_name", issue, "bakery/oven.py:SteamOven.bake") == (
        "the issue names its class SteamOven"
    )


def test_files_stand_for_what_they_define(bakery: Sample) -> None:
    issue = "Wrong\n\n`knead` and `ferment` disagree, `Oven` too"
    best = bakery.files(NAMES, "defined_names_best", issue)
    summed = bakery.files(NAMES, "defined_names_sum", issue)
    assert set(best) == {"bakery/dough.py", "bakery/oven.py"}
    assert summed["bakery/dough.py"] > best["bakery/dough.py"]
    reason = bakery.reason(NAMES, "defined_names_best", issue, "bakery/dough.py")
    assert reason == "defines knead, ferment"


def test_reasons_name_the_name(bakery: Sample) -> None:
    issue = "Wrong\n\n`knead` fails"
    assert bakery.reason(NAMES, "exact_name", issue, "bakery/dough.py:knead") == (
        "the issue names knead"
    )
    assert bakery.reason(NAMES, "exact_name", issue, "bakery/dough.py:ferment") == ""


def test_a_name_that_too_many_bear_says_nothing(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("many")
    files = {f"m{n}.py": "class A:\n    def run_it(self):\n        pass\n" for n in range(61)}
    sample = index_sample(write(folder / "tree", files), folder / "index")
    assert sample.entities(NAMES, "exact_name", "Wrong\n\n`run_it` fails") == {}


def test_an_issue_without_names_says_nothing(bakery: Sample) -> None:
    for column in ("exact_name", "dotted_name", "owner_name"):
        assert bakery.entities(NAMES, column, "it does not work") == {}
