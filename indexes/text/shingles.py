"""Runs of words ("shingles") of messages, and hashes of them that no process changes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from zlib import crc32

import numpy as np
import numpy.typing as npt

from indexes.text.postings import Int64Array, concatenate_ranges
from indexes.text.stop_words import STOP_WORDS

UInt64Array = npt.NDArray[np.uint64]

SHINGLE_WORDS = 3
"""Words of a shingle; two are common by chance, four miss messages with many holes."""
MAX_LITERAL_WORDS = 256
"""Words of a literal that are looked at: no message is longer; templates and data tables are."""

MAX_EVIDENCE_CHARS = 200
"""Length at which a stretch of text shown as evidence is cut."""

_WORD = re.compile(r"\w+")
_HOLE = re.compile(
    r"%(?:\(\w+\))?[-#0+]*(?:\d+|\*)?(?:\.(?:\d+|\*))?[diouxXeEfFgGcrsa]"  # printf style
    r"|\{(?:[^{}]|\{[^{}]*\})*\}"  # str.format and f-strings, with nested format specs
)
_HOLE_MARK = "\0"
_ESCAPE = re.compile(r"\\[abfnrtv]")
_WORD_OR_HOLE = re.compile(rf"{_HOLE_MARK}?\w+{_HOLE_MARK}?|{_HOLE_MARK}")

_PRIME = np.uint64(0x100000001B3)
_BASIS = np.uint64(0xCBF29CE484222325)
_FOLD = np.uint64(32)


def split_segments(literal: str) -> list[list[str]]:
    """Cut a literal at its format holes and return each segment's words, lower-cased.

    A word that touches a hole is a fragment of something longer and is left out.

    Examples
    --------
    >>> split_segments("No module named '%s' (tried {paths!r}): give up")
    [['no', 'module', 'named'], ['tried'], ['give', 'up']]
    """
    marked = _HOLE.sub(_HOLE_MARK, literal.replace(_HOLE_MARK, " "))
    segments: list[list[str]] = [[]]
    for token in _WORD_OR_HOLE.findall(_ESCAPE.sub(" ", marked))[:MAX_LITERAL_WORDS]:
        if _HOLE_MARK in token:
            segments.append([])
        else:
            segments[-1].append(token.lower())
    return [segment for segment in segments if segment]


def is_telling(word: str) -> bool:
    """Whether a lower-case word says something: no stop word, no number, three letters or more."""
    return len(word) > 2 and not word.isdecimal() and word not in STOP_WORDS


def hash_word(word: str) -> int:
    """Hash a word to 32 bits."""
    return crc32(word.encode("utf-8", "surrogatepass"))


def hash_runs(word_hashes: UInt64Array, starts: Int64Array, size: int) -> UInt64Array:
    """Hash the runs of `size` words that begin at `starts`, mixing as FNV-1a does.

    Parameters
    ----------
    word_hashes : (n_words,) uint64
    starts : (n_runs,) int64
        Each at most ``n_words - size``.

    Returns
    -------
    (n_runs,) uint64
    """
    hashes = np.full(starts.size, _BASIS)
    for offset in range(size):
        hashes = (hashes ^ word_hashes[starts + offset]) * _PRIME
        hashes ^= hashes >> _FOLD
    return hashes


@dataclass(frozen=True, slots=True)
class ShingledText:
    """A text cut into all its runs of three and of two words."""

    text: str
    spans: list[tuple[int, int]]
    """Where each word stands."""
    hashes: UInt64Array
    """(n_runs,) as `hash_runs` gives them; the two arrays below go with it."""
    starts: Int64Array
    """Number of each run's first word."""
    sizes: Int64Array
    """Words of each run."""

    @classmethod
    def cut(cls, text: str) -> ShingledText:
        """Find the words of `text` and hash their runs."""
        words = list(_WORD.finditer(text))
        word_hashes = np.array([hash_word(word.group().lower()) for word in words], dtype=np.uint64)
        starts = {
            size: np.arange(max(0, len(words) - size + 1), dtype=np.int64)
            for size in (SHINGLE_WORDS, 2)
        }
        return cls(
            text=text,
            spans=[word.span() for word in words],
            hashes=np.concatenate(
                [hash_runs(word_hashes, start, size) for size, start in starts.items()]
            ),
            starts=np.concatenate(list(starts.values())),
            sizes=np.repeat(list(starts), [start.size for start in starts.values()]),
        )

    def longest_covered(self, found: UInt64Array) -> str:
        """Longest stretch of the text whose words all lie in runs with one of the hashes.

        At least one of them must occur. Cut at `MAX_EVIDENCE_CHARS`.
        """
        chosen = np.isin(self.hashes, found)
        covered = np.zeros(len(self.spans) + 2, dtype=np.int8)
        covered[concatenate_ranges(self.starts[chosen] + 1, self.sizes[chosen])] = 1
        edges = np.diff(covered)
        first, last = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
        longest = int(np.argmax(last - first))
        start = self.spans[first[longest]][0]
        return self.text[start : min(self.spans[last[longest] - 1][1], start + MAX_EVIDENCE_CHARS)]
