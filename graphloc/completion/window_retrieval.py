"""Retrieval of windows: RepoCoder's Jaccard similarity, and BM25 over the same windows.

Zhang et al., "RepoCoder" (EMNLP 2023), https://arxiv.org/abs/2303.12570, and the scripts released
with it, https://github.com/microsoft/CodeT/tree/main/RepoCoder. As there, of windows with equal
scores the later one is the better one, and windows of no similarity fill up what is missing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt

from graphloc.completion.fragments import TOP_K, Fragment, HoleContext
from indexes.text import TextIndex, TextIndexBuilder, Tokenizer, Window, WindowIndex, build_windows
from indexes.text.windows import SLICES, WINDOW_LINES, WindowPlace, split_lines

STEP_LINES = WINDOW_LINES // SLICES
"""How far a window is moved down when what follows it is wanted."""
_WORD = re.compile(r"\w+")
_FIELD = "words"


class WindowScorer(Protocol):
    """Scores every window for a query."""

    def similarities(self, query: str) -> npt.NDArray[np.float32]:
        """(n_windows,) float32, larger is better."""
        ...


class WindowRetriever:
    """Ranks the windows of a repository by a score.

    Parameters
    ----------
    name
        For reports.
    files
        Text of each file by path, as the windows were cut from them.
    windows
        What `indexes.text.build_windows` made of the files.
    scorer
        Gives one score a window, in their order.
    """

    def __init__(
        self, name: str, files: Mapping[str, str], windows: Iterable[Window], scorer: WindowScorer
    ) -> None:
        self.name = name
        self._files = files
        self._windows = tuple(windows)
        self._scorer = scorer

    def find_fragments(
        self, context: HoleContext, query: str, *, top_k: int = TOP_K, moved: bool = False
    ) -> list[Fragment]:
        """Find windows, best first; see `Retriever.find_fragments`.

        Windows of the hole's file count only if they end before the prompt starts, at one of
        their places at least. O(windows + postings of the query's tokens).
        """
        scores = self._scorer.similarities(query)
        found: list[Fragment] = []
        taken = 0
        for number in np.argsort(scores, kind="stable")[::-1]:
            if taken >= top_k:
                break
            window = self._windows[number]
            if not any(_is_allowed(place, context) for place in window.places):
                continue
            taken += 1
            text = self._moved_text(window, context) if moved else window.text
            if text is not None:
                found.append(Fragment(text, window.places, float(scores[number])))
        return found

    def _moved_text(self, window: Window, context: HoleContext) -> str | None:
        """What follows the window's first place that does not then reach the hole."""
        for place in window.places:
            lines = split_lines(self._files[place.path])
            end = min(place.span.end_line + STEP_LINES, len(lines))
            if place.path == context.hole.path and end >= context.hole.line:
                continue
            return "\n".join(lines[max(0, end - WINDOW_LINES) : end])
        return None


class Bm25Windows:
    """BM25 of windows, as ``rank_bm25.BM25Okapi`` scores them on the tokenizer's terms.

    Parameters
    ----------
    windows
        The documents.
    tokenizer
        Splits words into terms.
    """

    def __init__(self, windows: Iterable[Window], tokenizer: Tokenizer | None = None) -> None:
        self._tokenizer = tokenizer or Tokenizer()
        builder = TextIndexBuilder([_FIELD], self._tokenizer)
        for window in windows:
            builder.add({_FIELD: Counter(_WORD.findall(window.text))})
        self._index: TextIndex = builder.build()

    def similarities(self, query: str) -> npt.NDArray[np.float32]:
        """Score every window."""
        terms = [
            term for word in _WORD.findall(query) for term in self._tokenizer.identifier_terms(word)
        ]
        return self._index.scores(_FIELD, terms)


def jaccard_retriever(files: Mapping[str, str]) -> WindowRetriever:
    """Index a repository's files for RepoCoder's retrieval."""
    windows = build_windows(files)
    return WindowRetriever("jaccard", files, windows, WindowIndex(windows))


def bm25_retriever(files: Mapping[str, str], tokenizer: Tokenizer | None = None) -> WindowRetriever:
    """Index the same windows for BM25."""
    windows = build_windows(files)
    return WindowRetriever("bm25", files, windows, Bm25Windows(windows, tokenizer))


def _is_allowed(place: WindowPlace, context: HoleContext) -> bool:
    return context.is_before_context(place.path, place.span.end_line)
