"""`PhraseIndex`: which messages of the code occur in an issue.

A string literal of the code is cut at its format holes (``%s``, ``{}``, f-string expressions) into
segments of words. Every run of three consecutive words of a segment, and a segment of two words as
a whole, is a *shingle*. An issue is cut into shingles the same way, so looking it up takes one
binary search for each. Hashes have 64 bits: with 32, one issue in a hundred (500 words against the
50,000 shingles of a large repository) would match some message by collision alone.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

import numpy as np
import numpy.typing as npt

from indexes.errors import IndexDamagedError
from indexes.text.bm25 import Bm25Parameters, FloatArray, IdfVariant, inverse_document_frequencies
from indexes.text.postings import Arrays, Int32Array, Int64Array, concatenate_ranges
from indexes.text.shingles import (
    SHINGLE_WORDS,
    ShingledText,
    UInt64Array,
    hash_runs,
    hash_word,
    is_telling,
    split_segments,
)

_RARITY = Bm25Parameters(idf=IdfVariant.LUCENE)


@dataclass(frozen=True, slots=True)
class PhraseMatch:
    """A document whose messages occur in the text."""

    doc: int
    score: float
    """Sum of the rarity of the shingles found, each counted once; > 0."""
    coverage: float
    """Largest share of one literal's shingles that was found, in (0, 1]."""
    text: str
    """Longest stretch of the text that the shingles found cover, as it stands there."""


class PhraseIndexBuilder:
    """Collects the string literals of documents and builds a `PhraseIndex`."""

    def __init__(self) -> None:
        self._numbering: defaultdict[str, int] = defaultdict(count().__next__)
        self._words = array("i")
        self._segment_sizes = array("i")
        self._segment_literals = array("i")
        self._owners = array("i")

    def add(self, doc: int, literals: Iterable[str]) -> None:
        """Add string literals of the document number `doc`, without quotes and prefixes."""
        for literal in literals:
            if len(literal.split(None, 1)) < 2:
                continue
            segments = [words for words in split_segments(literal) if len(words) > 1]
            for words in segments:
                self._words.extend(map(self._numbering.__getitem__, words))
                self._segment_sizes.append(len(words))
                self._segment_literals.append(len(self._owners))
            if segments:
                self._owners.append(doc)

    def build(self, n_docs: int) -> PhraseIndex:
        """Build the index; `n_docs` is above every document number added.

        Complexity: O(n log n) for n words.
        """
        hashes, literals = self._hash_shingles()
        order = np.lexsort((literals, hashes))
        hashes, literals = hashes[order], literals[order]
        is_first = np.ones(hashes.size, dtype=bool)
        is_first[1:] = (hashes[1:] != hashes[:-1]) | (literals[1:] != literals[:-1])
        hashes, literals = hashes[is_first], literals[is_first]
        distinct, sizes = np.unique(hashes, return_counts=True)
        indptr = np.zeros(distinct.size + 1, dtype=np.int32)
        np.cumsum(sizes, out=indptr[1:])
        return PhraseIndex(
            hashes=distinct,
            indptr=indptr,
            literals=literals.astype(np.int32),
            owners=np.array(self._owners, dtype=np.int32),
            sizes=np.bincount(literals, minlength=len(self._owners)).astype(np.int32),
            n_docs=n_docs,
        )

    def _hash_shingles(self) -> tuple[UInt64Array, Int64Array]:
        """Hash and literal of every shingle that holds a telling word."""
        words = np.array(self._words, dtype=np.int64)
        word_hashes = np.array([hash_word(word) for word in self._numbering], dtype=np.uint64)
        telling = np.array([is_telling(word) for word in self._numbering], dtype=bool)
        sizes = np.array(self._segment_sizes, dtype=np.int64)
        literals = np.array(self._segment_literals, dtype=np.int64)
        segment_starts = np.cumsum(sizes) - sizes
        hashes, owners = [], []
        for size, chosen in ((SHINGLE_WORDS, sizes >= SHINGLE_WORDS), (2, sizes == 2)):
            n_runs = sizes[chosen] - size + 1
            starts = concatenate_ranges(segment_starts[chosen], n_runs)
            runs_telling = np.zeros(starts.size, dtype=bool)
            for offset in range(size):
                runs_telling |= telling[words[starts + offset]]
            hashes.append(hash_runs(word_hashes[words], starts, size)[runs_telling])
            owners.append(np.repeat(literals[chosen], n_runs)[runs_telling])
        return np.concatenate(hashes), np.concatenate(owners)


@dataclass(frozen=True, slots=True)
class _Hits:
    """Shingles of a text that the index holds; (shingle, document) pairs are distinct."""

    hashes: UInt64Array
    rows: Int64Array
    docs: Int64Array
    literals: Int32Array
    """One for each literal and shingle found, unlike `rows` and `docs`."""


class PhraseIndex:
    """Shingles of all string literals, sorted by hash.

    Parameters
    ----------
    hashes : (n_shingles,) uint64
        Distinct and ascending.
    indptr : (n_shingles + 1,) int32
    literals : (n_postings,) int32
        ``literals[indptr[i]:indptr[i + 1]]`` hold shingle i.
    owners, sizes : (n_literals,) int32
        Document of each literal, and its number of distinct shingles.
    """

    def __init__(
        self,
        *,
        hashes: UInt64Array,
        indptr: Int32Array,
        literals: Int32Array,
        owners: Int32Array,
        sizes: Int32Array,
        n_docs: int,
    ) -> None:
        self._hashes = hashes
        self._indptr = indptr
        self._literals = literals
        self._owners = owners
        self._sizes = sizes
        self.n_docs = n_docs

    def scores(self, text: str) -> npt.NDArray[np.float32]:
        """Score every document: the summed rarity of its shingles that `text` holds.

        Returns
        -------
        (n_docs,) float32
            >= 0. Rarity is Lucene's idf over documents; each shingle counts once for a document.
        """
        return self._score(self._look_up(ShingledText.cut(text))).astype(np.float32)

    def find_matches(self, text: str, limit: int = 50) -> list[PhraseMatch]:
        """Find the documents whose messages occur in `text`, best first, ties by number."""
        runs = ShingledText.cut(text)
        hits = self._look_up(runs)
        scores = self._score(hits)
        coverage = self._cover(hits)
        found = np.flatnonzero(scores)
        best = found[np.argsort(-scores[found], kind="stable")][:limit]
        return [
            PhraseMatch(
                doc=int(doc),
                score=float(scores[doc]),
                coverage=float(coverage[doc]),
                text=runs.longest_covered(hits.hashes[hits.rows[hits.docs == doc]]),
            )
            for doc in best
        ]

    def to_arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """Everything as named one-dimensional arrays; the inverse of `from_arrays`."""
        return {
            "hashes": self._hashes,
            "indptr": self._indptr,
            "literals": self._literals,
            "owners": self._owners,
            "sizes": self._sizes,
            "n_docs": np.array([self.n_docs], dtype=np.int64),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> PhraseIndex:
        """Wrap the arrays of `to_arrays` without copying them; they may be read-only.

        Raises
        ------
        IndexDamagedError
            If an array is missing.
        """
        try:
            return cls(
                hashes=np.asarray(arrays["hashes"], dtype=np.uint64),
                indptr=np.asarray(arrays["indptr"], dtype=np.int32),
                literals=np.asarray(arrays["literals"], dtype=np.int32),
                owners=np.asarray(arrays["owners"], dtype=np.int32),
                sizes=np.asarray(arrays["sizes"], dtype=np.int32),
                n_docs=int(np.asarray(arrays["n_docs"], dtype=np.int64)[0]),
            )
        except KeyError as error:
            raise IndexDamagedError(
                f"the phrase index lacks the array {error}; rebuild it with `graphloc index`"
            ) from error

    def _look_up(self, runs: ShingledText) -> _Hits:
        wanted = np.unique(runs.hashes)
        places = np.searchsorted(self._hashes, wanted)
        inside = places < self._hashes.size
        places, wanted = places[inside], wanted[inside]
        places = places[self._hashes[places] == wanted]
        counts = (self._indptr[places + 1] - self._indptr[places]).astype(np.int64)
        literals = self._literals[concatenate_ranges(self._indptr[places], counts)]
        rows = np.repeat(np.arange(places.size), counts)
        pairs = np.unique(rows * self.n_docs + self._owners[literals])
        rows, docs = np.divmod(pairs, max(self.n_docs, 1))
        return _Hits(hashes=self._hashes[places], rows=rows, docs=docs, literals=literals)

    def _score(self, hits: _Hits) -> FloatArray:
        df = np.bincount(hits.rows, minlength=hits.hashes.size)
        rarity = inverse_document_frequencies(df, self.n_docs, _RARITY, average_idf=0.0)
        sums = np.bincount(hits.docs, weights=rarity[hits.rows], minlength=self.n_docs)
        return np.asarray(sums, dtype=np.float64)

    def _cover(self, hits: _Hits) -> FloatArray:
        literals, found = np.unique(hits.literals, return_counts=True)
        coverage = np.zeros(self.n_docs)
        np.maximum.at(coverage, self._owners[literals], found / self._sizes[literals])
        return coverage
