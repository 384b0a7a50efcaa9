"""Words of the issue in fields, in what is around an entity, and what is known beforehand."""

from __future__ import annotations

import numpy as np
import pytest
from rank_bm25 import BM25Okapi

from graphloc.localization.query import MAX_QUERY_TERMS
from graphloc.localization.signals import LexicalSignal, NeighborSignal, PriorSignal
from indexes.documents import FIELDS
from tests.graphloc.localization.indexed_samples import Sample, get_column

WORDS, NEIGHBORS, PRIORS = LexicalSignal(), NeighborSignal(), PriorSignal()


@pytest.mark.parametrize(
    ("field", "issue", "best"),
    [
        ("name", "ferment", "bakery/dough.py:ferment"),
        ("docstring", "the crust stays pale", "bakery/oven.py:Oven.bake"),
        ("comments", "yeast", "bakery/dough.py:Dough.rise"),
        ("strings", "degrees", "bakery/oven.py:Oven.bake"),
        ("signature", "celsius", "bakery/oven.py:Oven.__init__"),
        ("body", "strip", "bakery/oven.py:SteamOven.bake"),
        ("context", "steam oven", "bakery/oven.py:SteamOven.bake"),
    ],
)
def test_each_field_finds_its_words(bakery: Sample, field: str, issue: str, best: str) -> None:
    found = bakery.entities(WORDS, f"title_{field}", issue)
    assert max(found, key=lambda entity: found[entity]) == best


def test_there_is_a_column_for_each_part_and_field_and_level(bakery: Sample) -> None:
    columns = WORDS.compute(bakery.query("anything"))
    names = [f"{part}_{field}" for part in ("title", "full") for field in FIELDS]
    assert [column.name for column in columns.entities] == names
    assert [column.name for column in columns.files] == names
    assert {column.values.shape for column in columns.files} == {
        (bakery.snapshot.entities.n_files,)
    }


def test_the_title_s_words_do_not_come_from_the_body(bakery: Sample) -> None:
    issue = "Dough is flat\n\nAfter `ferment` the yeast is dead"
    assert bakery.entities(WORDS, "title_comments", issue) == {}
    assert set(bakery.entities(WORDS, "full_comments", issue)) == {"bakery/dough.py:Dough.rise"}


def test_a_file_s_words_are_those_of_all_that_is_in_it(bakery: Sample) -> None:
    found = bakery.files(WORDS, "full_comments", "Wrong\n\nyeast")
    assert set(found) == {"bakery/dough.py"}


def test_no_match_ever_counts_against_an_entity(bakery: Sample) -> None:
    query = bakery.query("dough oven bake self def")
    columns = WORDS.compute(query)
    assert all((column.values >= 0).all() for column in columns.entities + columns.files)


def test_scores_rank_like_rank_bm25_where_no_term_is_common(bakery: Sample) -> None:
    query = bakery.query("yeast warmth steam hot degrees crust")
    text = bakery.snapshot.text
    vocabulary = [text.vocabulary[n].decode() for n in range(len(text.vocabulary))]
    documents: list[list[str]] = [[] for _ in range(text.n_docs)]
    for term in vocabulary:
        rows, counts = text.term_frequencies("strings", term)
        for row, count in zip(rows.tolist(), counts.tolist(), strict=True):
            documents[row] += [term] * count
    expected = BM25Okapi(documents).get_scores(list(query.title_terms))
    found = query.scores("title", "strings")
    assert np.flatnonzero(expected).tolist() == np.flatnonzero(found).tolist()
    assert int(np.argmax(expected)) == int(np.argmax(found))


def test_reasons_hold_the_issue_s_own_words_rarest_first(bakery: Sample) -> None:
    issue = "Wrong\n\nBrown crusts are burnt"
    reason = bakery.reason(WORDS, "full_docstring", issue, "bakery/oven.py:Oven.bake")
    assert reason == "docstring has Brown, crusts"
    assert bakery.reason(WORDS, "full_docstring", issue, "bakery/oven.py") == reason
    assert bakery.reason(WORDS, "full_docstring", issue, "bakery/dough.py:knead") == ""


def test_a_long_issue_keeps_its_rarest_words(bakery: Sample) -> None:
    padding = " ".join(f"word{n}x" for n in range(600))
    query = bakery.query(f"Wrong\n\n{padding} ferment yeast")
    assert len(query.full_terms) == MAX_QUERY_TERMS
    assert "ferment" in query.full_terms


def test_a_word_said_again_and_again_counts_less_each_time(bakery: Sample) -> None:
    query = bakery.query("Wrong\n\n" + "yeast " * 9 + "steam")
    assert query.full_terms["yeast"] == pytest.approx(3 * query.full_terms["steam"])


def test_tests_with_the_issue_s_words_lead_to_what_they_exercise(bakery: Sample) -> None:
    found = bakery.entities(NEIGHBORS, "tested_by", "Wrong\n\nbrown crust of rye")
    assert "bakery/oven.py:Oven.bake" in found
    assert not any(entity.startswith("tests/") for entity in found)
    files = bakery.files(NEIGHBORS, "file_tested_by", "Wrong\n\nbrown crust of rye")
    assert "bakery/oven.py" in files


def test_callers_and_callees_share_words(bakery: Sample) -> None:
    callees = bakery.entities(NEIGHBORS, "callee_best", "Wrong\n\ngluten")
    assert "bakery/oven.py:Oven.bake" in callees
    callers = bakery.entities(NEIGHBORS, "caller_best", "Wrong\n\nyeast wants warmth")
    assert "bakery/dough.py:ferment" in callers


def test_kin_share_words(bakery: Sample) -> None:
    found = bakery.entities(NEIGHBORS, "kin_best", "Wrong\n\ntoo hot degrees")
    assert set(found) == {"bakery/oven.py:SteamOven.bake"}


def test_words_of_tests_do_not_reach_callees_as_callers(bakery: Sample) -> None:
    assert bakery.entities(NEIGHBORS, "caller_best", "Wrong\n\nrye") == {}
    assert "bakery/oven.py:Oven.bake" in bakery.entities(NEIGHBORS, "tested_by", "Wrong\n\nrye")


def test_priors_do_not_depend_on_the_issue_and_are_made_once(bakery: Sample) -> None:
    first = PRIORS.compute(bakery.query("one thing"))
    assert PRIORS.compute(bakery.query("another")) is first
    again = PriorSignal().compute(bakery.query("another"))
    for column, other in zip(
        first.entities + first.files, again.entities + again.files, strict=True
    ):
        np.testing.assert_array_equal(column.values, other.values)


def test_priors_describe_entities(bakery: Sample) -> None:
    columns = PRIORS.compute(bakery.query("x")).entities
    entities = bakery.snapshot.entities

    def value(column: str, entity: str) -> float:
        return float(get_column(columns, column).values[entities.get(entity)])

    assert value("is_class", "bakery/oven.py:Oven") == 1
    assert value("is_class", "bakery/oven.py:Oven.bake") == 0
    assert value("is_method", "bakery/oven.py:Oven.bake") == 1
    assert value("is_method", "bakery/dough.py:knead") == 0
    assert value("is_dunder", "bakery/oven.py:Oven.__init__") == 1
    assert value("is_private", "bakery/oven.py:Oven._crust") == 1
    assert value("lines", "bakery/dough.py:knead") == pytest.approx(np.log1p(3))
    assert value("callers", "bakery/dough.py:knead") == pytest.approx(np.log1p(1))
    assert value("callees", "bakery/oven.py:Oven.bake") == pytest.approx(np.log1p(3))


def test_calls_of_tests_do_not_make_anything_important(bakery: Sample) -> None:
    column = get_column(PRIORS.compute(bakery.query("x")).entities, "callers")
    bake = bakery.snapshot.entities.get("bakery/oven.py:Oven.bake")
    # SteamOven.bake calls it; the test does too, which does not count.
    assert column.values[bake] == pytest.approx(np.log1p(1))


def test_priors_describe_files(bakery: Sample) -> None:
    def marked(column: str) -> set[str]:
        return set(bakery.files(PRIORS, column, "x"))

    assert marked("is_init") == {"bakery/__init__.py", "bakery/util/__init__.py"}
    assert marked("is_auxiliary") == {"setup.py", "docs/conf.py"}
    depths = bakery.files(PRIORS, "depth", "x")
    assert (depths["bakery/util/clock.py"], depths["bakery/oven.py"]) == (2, 1)
    importers = bakery.files(PRIORS, "file_importers", "x")
    assert importers["bakery/dough.py"] == pytest.approx(np.log1p(1))
