"""Postings of one field: which documents hold a term, and how often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
Arrays = Mapping[str, npt.NDArray[np.generic]]
"""Named arrays as the store keeps them."""

MAX_FREQUENCY = int(np.iinfo(np.uint16).max)
"""Frequencies are kept up to here: BM25's saturation makes larger ones indistinguishable."""


@dataclass(frozen=True, slots=True)
class Postings:
    """One field's postings, sorted by term and document, as compressed sparse rows.

    The documents of term ``t`` are ``docs[indptr[t]:indptr[t + 1]]``.
    """

    indptr: Int32Array
    """(n_terms + 1,)"""
    docs: Int32Array
    """(n_postings,)"""
    frequencies: npt.NDArray[np.uint16]
    """(n_postings,)"""
    lengths: Int32Array
    """(n_docs,) number of term occurrences in each document."""
    average_idf: float
    """Mean Okapi idf of the field's terms."""

    def document_frequencies(self, term_ids: Int64Array) -> Int64Array:
        """Number of documents that hold each of the terms."""
        return np.asarray(self.indptr[term_ids + 1] - self.indptr[term_ids], dtype=np.int64)

    def positions(self, term_ids: Int64Array) -> Int64Array:
        """Where the postings of the terms are, one term behind the other."""
        return concatenate_ranges(self.indptr[term_ids], self.document_frequencies(term_ids))

    def to_arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """Everything as named arrays; the inverse of `from_arrays`."""
        return {
            "indptr": self.indptr,
            "docs": self.docs,
            "frequencies": self.frequencies,
            "lengths": self.lengths,
            "average_idf": np.array([self.average_idf]),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays, prefix: str) -> Postings:
        """Wrap the arrays whose names begin with `prefix`; raises `KeyError` if one is missing."""
        return cls(
            indptr=np.asarray(arrays[f"{prefix}indptr"], dtype=np.int32),
            docs=np.asarray(arrays[f"{prefix}docs"], dtype=np.int32),
            frequencies=np.asarray(arrays[f"{prefix}frequencies"], dtype=np.uint16),
            lengths=np.asarray(arrays[f"{prefix}lengths"], dtype=np.int32),
            average_idf=float(np.asarray(arrays[f"{prefix}average_idf"], dtype=np.float64)[0]),
        )


def concatenate_ranges(starts: npt.NDArray[np.integer], sizes: Int64Array) -> Int64Array:
    """Indices ``start, start + 1, ...`` of several ranges, one behind the other."""
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(sizes.sum(), dtype=np.int64)


def sum_by_key(keys: Int64Array, counts: Int64Array) -> tuple[Int64Array, npt.NDArray[np.uint16]]:
    """Sort distinct keys and sum up their counts, both clipped to `MAX_FREQUENCY`.

    Key and count share one integer, because numpy sorts plain integers several times faster than
    it sorts indices. That leaves 47 bits for keys: 140 trillion pairs of a term and a document.
    """
    bits = MAX_FREQUENCY.bit_length()
    packed = keys << bits | np.minimum(counts, MAX_FREQUENCY)
    packed.sort()
    keys = packed >> bits
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    if not starts.size:
        return keys, np.zeros(0, dtype=np.uint16)
    sums = np.add.reduceat(packed & MAX_FREQUENCY, starts)
    return keys[starts], np.minimum(sums, MAX_FREQUENCY).astype(np.uint16)
