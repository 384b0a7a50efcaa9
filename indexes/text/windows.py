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
from indexes.text.postings import concatenate_ranges

WINDOW_LINES = 20
SLICES = 2
"""A window starts every ``WINDOW_LINES // SLICES`` lines. Both are RepoCoder's settings."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_TOKEN = re.compile(r"\w+|[^\w\s]")

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
    Building takes O(tokens of distinct lines); a query O(windows + postings of its tokens).
    """

    def __init__(self, windows: Sequence[Window], *, tokenize: LineTokenizer = line_tokens) -> None:
        self.windows = tuple(windows)
        self._tokenize = tokenize
        numbering: defaultdict[str, int] = defaultdict(count().__next__)
        tokens, sizes = self._token_sets(numbering)
        self._numbers = dict(numbering)
        self._sizes = np.array(sizes, dtype=np.int64)
        token_ids = np.array(tokens, dtype=np.int64)
        owners = np.repeat(np.arange(len(sizes), dtype=np.int32), self._sizes)
        self._owners = owners[np.argsort(token_ids, kind="stable")]
        self._indptr = np.zeros(len(self._numbers) + 1, dtype=np.int64)
        np.cumsum(np.bincount(token_ids, minlength=len(self._numbers)), out=self._indptr[1:])

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

    def _token_sets(self, numbering: defaultdict[str, int]) -> tuple[array[int], array[int]]:
        """Distinct token numbers of every window, one window behind the other, and their sizes."""
        number_of = numbering.__getitem__
        lines: dict[str, tuple[int, ...]] = {}
        tokens, sizes = array("i"), array("i")
        for window in self.windows:
            distinct: set[int] = set()
            for line in window.text.split("\n"):
                numbers = lines.get(line)
                if numbers is None:
                    numbers = lines[line] = tuple(map(number_of, self._tokenize(line)))
                distinct.update(numbers)
            sizes.append(len(distinct))
            tokens.extend(distinct)
        return tokens, sizes
