"""Jaccard windows, against a slow literal reading of the method."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.model import Span
from indexes.text import WindowIndex, WindowPlace, build_windows

LINES = st.sampled_from(["", "a = b", "def f(x):", "    return x + a", "naïve = '数据'", "b(a, b)"])
FILES = st.dictionaries(
    st.sampled_from(["a.py", "b.py", "c.py"]), st.lists(LINES, max_size=45).map("\n".join)
)


def windows_by_the_book(files, size=20, step=10):
    """(text, [(path, first line, line behind the last), ...]) counted from 0, first come first."""
    merged = {}
    for path, text in files.items():
        lines = text.split("\n")
        if lines[-1] == "":
            lines = lines[:-1]
        for line in range(0, len(lines), step):
            start, end = max(0, line - size // 2), min(len(lines), line + size // 2)
            merged.setdefault("\n".join(lines[start:end]), []).append((path, start, end))
    return list(merged.items())


def jaccard_by_the_book(query, text):
    left, right = (set(re.findall(r"\w+|[^\w\s]", side)) for side in (query, text))
    return len(left & right) / len(left | right) if left | right else 0.0


@given(FILES)
def test_windows_are_those_of_the_method(files):
    found = [
        (
            window.text,
            [
                (place.path, place.span.start_line - 1, place.span.end_line)
                for place in window.places
            ],
        )
        for window in build_windows(files)
    ]
    assert found == windows_by_the_book(files)


@given(FILES, st.lists(LINES, max_size=8).map("\n".join))
def test_similarities_are_those_of_the_method(files, query):
    windows = build_windows(files)
    expected = [jaccard_by_the_book(query, window.text) for window in windows]
    similarities = WindowIndex(windows).similarities(query)
    assert similarities.dtype == np.float32
    np.testing.assert_allclose(similarities, expected, atol=1e-6)


@given(FILES, st.lists(LINES, max_size=8).map("\n".join), st.integers(0, 5))
def test_search_sorts_by_similarity_and_then_order(files, query, top_k):
    windows = build_windows(files)
    ranking = sorted(
        ((np.float32(jaccard_by_the_book(query, window.text)), -number)
         for number, window in enumerate(windows)),
        reverse=True,
    )  # fmt: skip
    expected = [windows[-number] for similarity, number in ranking if similarity > 0][:top_k]
    assert [window for window, _ in WindowIndex(windows).search(query, top_k)] == expected


def test_identical_texts_are_one_window_with_all_places():
    text = "import os\nimport sys\n"
    (window,) = build_windows({"one.py": text, "two.py": text})
    assert window.text == "import os\nimport sys"
    assert window.places == (
        WindowPlace("one.py", Span(1, 2)),
        WindowPlace("two.py", Span(1, 2)),
    )


def test_windows_overlap_by_half():
    text = "\n".join(f"line{number}" for number in range(1, 36))
    spans = [window.places[0].span for window in build_windows({"a.py": text})]
    assert spans == [Span(1, 10), Span(1, 20), Span(11, 30), Span(21, 35)]


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_every_line_end_counts_and_form_feeds_do_not(end):
    (window,) = build_windows({"a.py": f"a{end}\x0cb{end}c\u2028d"})
    assert window.places[0].span == Span(1, 3)


def test_windows_can_be_left_out():
    windows = build_windows({"a.py": "alpha beta", "b.py": "alpha gamma"})
    found = WindowIndex(windows).search(
        "alpha beta", is_allowed=lambda window: window.places[0].path != "a.py"
    )
    assert [(window.text, score) for window, score in found] == [
        ("alpha gamma", pytest.approx(1 / 3))
    ]


def test_another_tokenizer_can_be_used():
    index = WindowIndex(build_windows({"a.py": "alpha beta"}), tokenize=str.split)
    assert index.similarities("alpha, beta").tolist() == [pytest.approx(1 / 3)]


def test_nothing_to_search_gives_nothing():
    index = WindowIndex(build_windows({"empty.py": ""}))
    assert index.windows == ()
    assert index.search("alpha") == []
    assert WindowIndex(build_windows({"blank.py": "\n\n"})).similarities("").tolist() == [0.0]
