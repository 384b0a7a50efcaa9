"""Jaccard windows: pieces of code that share the most tokens with a query.

Zhang et al., "RepoCoder: Repository-Level Code Completion Through Iterative Retrieval and
Generation" (EMNLP 2023), https://arxiv.org/abs/2303.12570: overlapping windows of 20 lines, ten
apart, compared as sets of tokens. Three things differ from the released scripts: tokens are words
and single punctuation marks instead of a language model's subwords, unless a tokenizer is given;
only line feeds and carriage returns end a line, so that line numbers agree with those of entities;
and ties are broken by the order of windows.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
import numpy.typing as npt

from indexes.model import Span
from indexes.text.postings import Int64Array, concatenate_ranges

WINDOW_LINES = 20
SLICES = 2
"""A window starts every ``WINDOW_LINES // SLICES`` lines. Both are RepoCoder's settings."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_TOKEN = re.compile(r"\w+|[^\w\s]")

_LINES_AT_ONCE = 1 << 17
"""Lines whose tokens are expanded at a time: some 20 MB."""

LineTokenizer = Callable[[str], Iterable[str]]


@dataclass(frozen=True, slots=True)
class WindowPlace:
    """Where a window's text stands."""

    path: str
    span: Span


@dataclass(frozen=True, slots=True)
class Window:
    """A piece of code, with every place that holds exactly this text."""

    text: str
    """Lines joined by ``\\n``."""
    places: tuple[WindowPlace, ...]
    """At least one, in the order of files and lines."""


def build_windows(
    files: Mapping[str, str], *, window_lines: int = WINDOW_LINES, slices: int = SLICES
) -> list[Window]:
    """Cut files into overlapping windows and merge those with the same text.

    Around every ``window_lines // slices``-th line (counted from 0) lies one window: from half a
    window before it up to half a window behind it, cut off at the file's ends.

    Returns
    -------
    list of Window
        In the order of files and of each text's first place.
    """
    places: dict[str, list[WindowPlace]] = {}
    for path, text in files.items():
        lines = split_lines(text)
        for start, end in _window_ranges(len(lines), window_lines, slices):
            place = WindowPlace(path, Span(start + 1, end))
            places.setdefault("\n".join(lines[start:end]), []).append(place)
    return [Window(text, tuple(found)) for text, found in places.items()]


def split_lines(text: str) -> list[str]:
    """Lines without their ends; no empty line behind a final line end."""
    lines = _LINE_END.split(text)
    if not lines[-1]:
        lines.pop()
    return lines


def _window_ranges(n_lines: int, window_lines: int, slices: int) -> list[tuple[int, int]]:
    before = window_lines // 2
    return [
        (max(0, line - before), min(n_lines, line + window_lines - before))
        for line in range(0, n_lines, max(1, window_lines // slices))
    ]


def line_tokens(line: str) -> list[str]:
    """Words and single punctuation marks of one line of code, in order."""
    return _TOKEN.findall(line)


class WindowIndex:
    """Token sets of windows, inverted: for every token the windows that hold it.

    Parameters
    ----------
    windows : sequence of Window
    tokenize : callable, optional
        Gives the tokens of one line; called once for each distinct line.

    Notes
    -----
    Building takes O(p log p) for p tokens of all lines; a query O(windows + postings of
    its tokens).
    """

    def __init__(self, windows: Sequence[Window], *, tokenize: LineTokenizer = line_tokens) -> None:
        self.windows = tuple(windows)
        self._tokenize = tokenize
        self._numbers: dict[str, int] = {}
        pairs = self._distinct_pairs()
        tokens, self._owners = pairs // len(self.windows), pairs % len(self.windows)
        self._sizes = np.bincount(self._owners, minlength=len(self.windows))
        self._indptr = np.zeros(len(self._numbers) + 1, dtype=np.int64)
        np.cumsum(np.bincount(tokens, minlength=len(self._numbers)), out=self._indptr[1:])

    def similarities(self, query: str) -> npt.NDArray[np.float32]:
        """Jaccard similarity of the query's tokens with each window's.

        Returns
        -------
        (n_windows,) float32
            In [0, 1]; 0 where neither has a token.
        """
        tokens = {token for line in split_lines(query) for token in self._tokenize(line)}
        known = [self._numbers[token] for token in tokens if token in self._numbers]
        ids = np.array(known, dtype=np.int64)
        places = concatenate_ranges(self._indptr[ids], self._indptr[ids + 1] - self._indptr[ids])
        common = np.bincount(self._owners[places], minlength=len(self.windows))
        union = self._sizes + len(tokens) - common
        return np.asarray(common / np.maximum(union, 1), dtype=np.float32)

    def search(
        self,
        query: str,
        top_k: int = 20,
        *,
        is_allowed: Callable[[Window], bool] = lambda window: True,
    ) -> list[tuple[Window, float]]:
        """Find the `top_k` most similar windows that are allowed, best first, ties in order.

        RepoCoder keeps 20. Windows that share no token with the query are left out.
        """
        similarities = self.similarities(query)
        best: list[tuple[Window, float]] = []
        for number in np.argsort(-similarities, kind="stable"):
            if len(best) >= top_k or not similarities[number]:
                break
            if is_allowed(self.windows[number]):
                best.append((self.windows[number], float(similarities[number])))
        return best

    def _distinct_pairs(self) -> Int64Array:
        """Every ``token number * n_windows + window number`` that occurs, ascending."""
        line_numbers: defaultdict[str, int] = defaultdict(count().__next__)
        lines, line_counts = array("i"), array("i")
        for window in self.windows:
            texts = window.text.split("\n")
            lines.extend(map(line_numbers.__getitem__, texts))
            line_counts.append(len(texts))
        tokens, sizes = self._tokenize_lines(line_numbers)
        starts = np.cumsum(sizes) - sizes
        line_ids = np.array(lines, dtype=np.int64)
        owners = np.repeat(np.arange(len(self.windows)), np.array(line_counts, dtype=np.int64))
        chunks = [np.zeros(0, dtype=np.int64)]
        for start in range(0, line_ids.size, _LINES_AT_ONCE):
            chunk = line_ids[start : start + _LINES_AT_ONCE]
            pairs = tokens[concatenate_ranges(starts[chunk], sizes[chunk])] * len(self.windows)
            pairs += np.repeat(owners[start : start + _LINES_AT_ONCE], sizes[chunk])
            chunks.append(_sort_distinct(pairs))
        return _sort_distinct(np.concatenate(chunks))

    def _tokenize_lines(self, lines: Iterable[str]) -> tuple[Int64Array, Int64Array]:
        """Distinct token numbers of each line, one line behind the other, and how many."""
        numbering: defaultdict[str, int] = defaultdict(count().__next__)
        tokens, sizes = array("i"), array("i")
        for line in lines:
            distinct = set(self._tokenize(line))
            tokens.extend(map(numbering.__getitem__, distinct))
            sizes.append(len(distinct))
        self._numbers = dict(numbering)
        return np.array(tokens, dtype=np.int64), np.array(sizes, dtype=np.int64)


def _sort_distinct(values: Int64Array) -> Int64Array:
    """Distinct values >= 0, ascending; sorts in place, which `numpy.unique` does not."""
    values.sort()
    return values[np.diff(values, prepend=-1) > 0]
