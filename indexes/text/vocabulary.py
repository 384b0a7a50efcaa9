"""All distinct terms of an index, sorted, in two arrays that load without copying."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


class Vocabulary:
    """Sorted terms as UTF-8; a term's id is its rank.

    Parameters
    ----------
    blob : (n_bytes,) uint8
        All terms, one behind the other.
    offsets : (n_terms + 1,) int32
        Where each term begins in `blob`.

    Notes
    -----
    Loading costs nothing. Looking a term up takes O(log n_terms) steps once; the answer is kept.
    """

    def __init__(self, blob: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int32]) -> None:
        self.blob = blob
        self.offsets = offsets
        self._bytes = blob.data
        self._starts = offsets.data
        self._ids: dict[str, int] = {}

    @classmethod
    def from_sorted(cls, terms: Sequence[str]) -> Vocabulary:
        """Pack terms that are sorted already; UTF-8 keeps the order of code points."""
        encoded = [term.encode() for term in terms]
        offsets = np.zeros(len(terms) + 1, dtype=np.int32)
        np.cumsum([len(term) for term in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, term_id: int) -> bytes:
        return bytes(self._bytes[self._starts[term_id] : self._starts[term_id + 1]])

    def find_id(self, term: str) -> int:
        """Return the id of `term`, or -1 if the index does not hold it."""
        term_id = self._ids.get(term)
        if term_id is None:
            key = term.encode("utf-8", "surrogatepass")
            rank = bisect_left(self, key)
            term_id = rank if rank < len(self) and self[rank] == key else -1
            self._ids[term] = term_id
        return term_id
