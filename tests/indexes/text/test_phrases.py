"""Messages of the code are found in issues."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.errors import IndexDamagedError
from indexes.text import PhraseIndex, PhraseIndexBuilder
from indexes.text.shingles import MAX_EVIDENCE_CHARS, MAX_LITERAL_WORDS, split_segments


def build(*documents, n_docs=None):
    builder = PhraseIndexBuilder()
    for doc, literals in enumerate(documents):
        builder.add(doc, literals)
    return builder.build(n_docs or len(documents))


@pytest.mark.parametrize(
    ("literal", "segments"),
    [
        ("No module named %r", [["no", "module", "named"]]),
        ("%s has no attribute '%s'", [["has", "no", "attribute"]]),
        ("%(count)d of %5.2f rows", [["of"], ["rows"]]),
        ("got {} but {expected!r:>{width}} was due", [["got"], ["but"], ["was", "due"]]),
        ("f-string {call(a, {1: 2})} here", [["f", "string"], ["here"]]),
        ("prefix_%s glued{x} words", [["words"]]),
        ("100% sure", [["100", "sure"]]),
        (r"first line\nsecond line", [["first", "line", "second", "line"]]),
        ("{a}{b}", []),
        ("", []),
    ],
)
def test_literals_are_cut_at_holes(literal, segments):
    assert split_segments(literal) == segments


def test_only_the_beginning_of_an_endless_literal_counts():
    assert len(split_segments("word " * 10_000)[0]) == MAX_LITERAL_WORDS


def test_a_message_with_filled_holes_is_found_with_its_text():
    index = build(["unrelated words in here"], ["cannot convert %s to expected type %s"])
    issue = "It fails:\n\n    TypeError: Cannot convert 'a b' to  Expected type int"
    (match,) = index.find_matches(issue)
    assert match.doc == 1
    assert match.coverage == 1.0
    assert match.text == "to  Expected type"


def test_coverage_tells_a_whole_message_from_a_shared_phrase():
    index = build(
        ["the array shape must match"],
        ["the array shape must match before the operation can be applied to it"],
    )
    matches = index.find_matches("ValueError: the array shape must match")
    assert [match.doc for match in matches] == [0, 1]
    assert matches[0].coverage == 1.0
    assert 0 < matches[1].coverage < 1
    assert matches[0].text == "the array shape must match"


def test_two_words_count_only_as_a_whole_segment():
    index = build(["singular matrix"], ["singular matrix found"])
    assert [match.doc for match in index.find_matches("a singular matrix appears")] == [0]


def test_rare_phrases_weigh_more():
    index = build(["rare alpha phrase", "some common phrase"], ["some common phrase"], [])
    rare = index.find_matches("rare alpha phrase")[0].score
    common = index.find_matches("some common phrase")[0].score
    assert rare > common > 0


@pytest.mark.parametrize("literal", ["it is not", "1 2 3 4", "a b c", "word", ""])
def test_runs_that_say_nothing_are_not_indexed(literal):
    assert build([literal]).find_matches(f"so {literal} then") == []


def test_repeats_count_once():
    once = build(["bad magic number"], [])
    twice = build(["bad magic number", "bad magic number"], [])
    text = "bad magic number, I say: bad magic number"
    np.testing.assert_array_equal(once.scores(text), twice.scores(text))
    np.testing.assert_array_equal(once.scores(text), once.scores("bad magic number"))


def test_evidence_is_cut_and_matches_are_limited():
    message = " ".join(f"unusual{number}" for number in range(100))
    index = build([message], [message], [message])
    matches = index.find_matches(message, limit=2)
    assert [match.doc for match in matches] == [0, 1]
    assert matches[0].text == message[:MAX_EVIDENCE_CHARS]


@given(st.lists(st.lists(st.text(max_size=40), max_size=4), max_size=4), st.text())
def test_any_text_is_safe_and_matches_agree_with_scores(documents, text):
    index = build(*documents)
    scores = index.scores(text)
    assert scores.shape == (len(documents),)
    assert {match.doc for match in index.find_matches(text)} == set(np.flatnonzero(scores))


@given(st.lists(st.from_regex(r"[a-z]{4,8}", fullmatch=True), min_size=3, max_size=12))
def test_every_plain_message_is_found_whole(words):
    message = " ".join(words)
    matches = build([message]).find_matches(f"Error: {message}!")
    assert not matches or matches[0].coverage == 1.0


def test_arrays_round_trip_without_copies():
    index = build(["bad magic number"], ["another odd message %s follows here"])
    arrays = {
        name: np.frombuffer(array.tobytes(), dtype=array.dtype)
        for name, array in index.to_arrays().items()
    }
    loaded = PhraseIndex.from_arrays(arrays)
    text = "bad magic number in another odd message"
    assert loaded.find_matches(text) == index.find_matches(text)
    for name, array in loaded.to_arrays().items():
        assert name == "n_docs" or np.shares_memory(array, arrays[name])


def test_a_missing_array_is_damage():
    arrays = build(["bad magic number"]).to_arrays()
    del arrays["owners"]
    with pytest.raises(IndexDamagedError, match="owners"):
        PhraseIndex.from_arrays(arrays)
