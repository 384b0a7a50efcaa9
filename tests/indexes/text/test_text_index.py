"""BM25 by field, against rank_bm25 on the same tokens."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from indexes.errors import IndexDamagedError
from indexes.text import (
    Bm25Parameters,
    IdfVariant,
    TextIndex,
    TextIndexBuilder,
    Tokenizer,
    UnknownFieldError,
)
from indexes.text.postings import MAX_FREQUENCY

LUCENE = Bm25Parameters(idf=IdfVariant.LUCENE)
WORDS = ["alpha", "beta", "getGamma", "get_gamma", "delta_alpha", "Beta2", "x", "gammas", "omega_x"]
DOCUMENTS = st.lists(
    st.dictionaries(st.sampled_from(WORDS), st.integers(1, 5), max_size=6), min_size=1, max_size=12
).filter(any)
QUERIES = st.lists(st.sampled_from([*WORDS, "unknown_word"]), max_size=6)


def build(documents, field="body"):
    builder = TextIndexBuilder([field])
    for document in documents:
        builder.add({field: document})
    return builder.build()


def tokens_of(document):
    tokenizer = Tokenizer()
    return [
        term
        for word, count in document.items()
        for term in tokenizer.identifier_terms(word) * count
    ]


def terms_of(query):
    return [term for word in query for term in Tokenizer().identifier_terms(word)]


def merge(documents, groups, n_groups):
    merged = [[] for _ in range(n_groups)]
    for document, group in zip(documents, groups, strict=True):
        if group >= 0:
            merged[group] += tokens_of(document)
    return merged


@given(DOCUMENTS, QUERIES)
def test_scores_equal_rank_bm25(documents, query):
    expected = BM25Okapi([tokens_of(document) for document in documents])
    scores = build(documents).scores("body", terms_of(query))
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, expected.get_scores(terms_of(query)), atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_scores_equal_rank_bm25_on_a_zipfian_corpus(seed):
    random = np.random.default_rng(seed)
    documents = [
        {f"word{n}": int(c) for n, c in zip(*np.unique(sample, return_counts=True), strict=True)}
        for sample in (random.zipf(1.3, random.integers(1, 200)) % 500 for _ in range(300))
    ]
    query = [f"word{n}" for n in random.zipf(1.2, 40) % 600]
    expected = BM25Okapi([tokens_of(document) for document in documents]).get_scores(query)
    np.testing.assert_allclose(build(documents).scores("body", query), expected, atol=1e-4)


@given(DOCUMENTS, QUERIES, st.data())
@settings(max_examples=60)
def test_group_scores_equal_an_index_of_merged_documents(documents, query, data):
    n_groups = data.draw(st.integers(1, 4))
    groups = data.draw(
        st.lists(
            st.integers(-1, n_groups - 1), min_size=len(documents), max_size=len(documents)
        ).filter(lambda groups: any(g >= 0 and d for g, d in zip(groups, documents, strict=True)))
    )
    expected = BM25Okapi(merge(documents, groups, n_groups)).get_scores(terms_of(query))
    scores = build(documents).group_scores(
        "body", terms_of(query), np.array(groups, dtype=np.int32), n_groups
    )
    np.testing.assert_allclose(scores, expected, atol=1e-4)


def test_groups_of_one_document_score_as_documents(monkeypatch):
    documents = [{word: n + 1} for n, word in enumerate(WORDS)]
    index, terms = build(documents), terms_of(WORDS)
    whole = index.group_scores("body", terms, np.arange(len(WORDS)), len(WORDS), LUCENE)
    np.testing.assert_allclose(whole, index.scores("body", terms, LUCENE), atol=1e-6)
    monkeypatch.setattr("indexes.text.index._CELLS_AT_ONCE", 1)
    one_by_one = index.group_scores("body", terms, np.arange(len(WORDS)), len(WORDS), LUCENE)
    np.testing.assert_allclose(one_by_one, whole, atol=1e-6)


@given(DOCUMENTS, QUERIES)
def test_lucene_scores_are_positive_exactly_where_a_term_occurs(documents, query):
    scores = build(documents).scores("body", terms_of(query), LUCENE)
    wanted = set(terms_of(query))
    assert [score > 0 for score in scores] == [
        bool(wanted & set(tokens_of(document))) for document in documents
    ]


def test_lucene_idf_falls_with_document_frequency():
    index = build([{"common": 1, "rare": 1}, {"common": 1}, {"common": 2}])
    assert index.idf("body", "common", LUCENE) == pytest.approx(np.log1p(0.5 / 3.5))
    assert index.idf("body", "rare", LUCENE) == pytest.approx(np.log1p(2.5 / 1.5))
    assert index.idf("body", "absent", LUCENE) == 0.0


def test_weights_of_a_mapping_equal_repeats():
    index = build([{"alpha": 2, "beta": 1}, {"beta": 3}, {"x": 1}, {"x": 2}])
    repeated = index.scores("body", ["alpha", "beta", "alpha"])
    np.testing.assert_array_equal(index.scores("body", {"alpha": 2.0, "beta": 1.0}), repeated)
    np.testing.assert_allclose(index.scores("body", {"alpha": 1.0, "beta": 0.5}), repeated / 2)


def test_fields_are_separate_and_may_be_missing():
    builder = TextIndexBuilder(["names", "comments"])
    builder.add({"names": {"parser": 1}})
    builder.add({"comments": {"parser": 1}})
    builder.add({})
    index = builder.build()
    assert index.fields == ("names", "comments")
    assert index.n_docs == 3
    assert np.flatnonzero(index.scores("names", ["parser"], LUCENE)).tolist() == [0]
    assert np.flatnonzero(index.scores("comments", ["parser"], LUCENE)).tolist() == [1]
    assert index.lengths("names").tolist() == [1, 0, 0]


def test_frequencies_can_be_looked_up():
    index = build([{"getName": 2, "get": 1}, {"name": 1}, {"names": 1, "name": 3}])
    docs, frequencies = index.term_frequencies("body", "name")
    assert docs.tolist() == [0, 1, 2]
    assert frequencies.tolist() == [2, 1, 4]
    assert index.document_frequency("body", "name") == 3
    assert index.document_frequency("body", "get_name") == 1
    assert index.document_frequency("body", "absent") == 0
    assert index.term_frequencies("body", "absent")[0].size == 0


def test_huge_frequencies_are_clipped_but_lengths_are_not():
    index = build([{"alpha": 10 * MAX_FREQUENCY, "beta": 1}, {"beta": 1}])
    assert index.term_frequencies("body", "alpha")[1].tolist() == [MAX_FREQUENCY]
    assert index.lengths("body").tolist() == [10 * MAX_FREQUENCY + 1, 1]


def test_arrays_round_trip_without_copies():
    index = build([{"alpha": 1, "größe": 2}, {"beta_alpha": 1}, {}])
    arrays = {
        name: np.frombuffer(array.tobytes(), dtype=array.dtype)
        for name, array in index.to_arrays().items()
    }
    loaded = TextIndex.from_arrays(arrays)
    terms = ["alpha", "größe", "beta_alpha", "absent"]
    np.testing.assert_array_equal(loaded.scores("body", terms), index.scores("body", terms))
    assert loaded.fields == index.fields
    for name, array in loaded.to_arrays().items():
        if name not in {"fields", "body.average_idf"}:
            assert np.shares_memory(array, arrays[name])


def test_the_vocabulary_is_sorted_and_searchable():
    index = build([{"zeta": 1, "ähre": 1, "数据": 1, "alpha_beta": 1}])
    terms = [index.vocabulary[number].decode() for number in range(len(index.vocabulary))]
    assert terms == sorted(terms)
    assert [index.vocabulary.find_id(term) for term in terms] == list(range(len(terms)))
    assert index.vocabulary.find_id("\ud800") == -1


def test_an_empty_index_scores_nothing():
    index = TextIndex.from_arrays(TextIndexBuilder(["body"]).build().to_arrays())
    assert index.n_docs == 0
    assert index.scores("body", ["alpha"]).shape == (0,)
    assert index.group_scores("body", ["alpha"], np.zeros(0, dtype=np.int32), 2).tolist() == [0, 0]


def test_unknown_fields_are_named():
    with pytest.raises(UnknownFieldError, match="'title'; there are: body"):
        build([{"alpha": 1}]).scores("title", ["alpha"])
    with pytest.raises(UnknownFieldError):
        TextIndexBuilder(["body"]).add({"title": {"alpha": 1}})


def test_a_missing_array_is_damage():
    arrays = build([{"alpha": 1}]).to_arrays()
    del arrays["body.docs"]
    with pytest.raises(IndexDamagedError, match=r"body\.docs"):
        TextIndex.from_arrays(arrays)
