"""`TextIndex`: BM25 over several separate fields of the same documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from indexes.errors import IndexDamagedError
from indexes.text.bm25 import (
    DEFAULT_PARAMETERS,
    Bm25Parameters,
    FloatArray,
    IdfVariant,
    inverse_document_frequencies,
    length_norms,
    saturate,
)
from indexes.text.errors import UnknownFieldError
from indexes.text.grouping import average_group_idf, group_frequencies
from indexes.text.postings import Arrays, Int32Array, Int64Array, Postings
from indexes.text.vocabulary import Vocabulary

Terms = Sequence[str] | Mapping[str, float]
"""A query: terms as `Tokenizer` makes them, repeats counting, or terms with weights."""

Float32Array = npt.NDArray[np.float32]

_CELLS_AT_ONCE = 1 << 21
"""Cells (term, group) that `group_scores` holds at a time: 16 MB of float64."""


class TextIndex:
    """BM25 over several fields; every field has the same documents and vocabulary.

    Made by `TextIndexBuilder` or `from_arrays`. A document without a field counts as an empty
    one there, so that document numbers, mean lengths and idf mean the same in all fields.
    """

    def __init__(self, vocabulary: Vocabulary, postings: Mapping[str, Postings]) -> None:
        self._vocabulary = vocabulary
        self._postings = dict(postings)

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields."""
        return tuple(self._postings)

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return next((postings.lengths.size for postings in self._postings.values()), 0)

    @property
    def vocabulary(self) -> Vocabulary:
        """Every term of every field, sorted."""
        return self._vocabulary

    def scores(
        self, field: str, terms: Terms, parameters: Bm25Parameters = DEFAULT_PARAMETERS
    ) -> Float32Array:
        """Score every document for a query in one field.

        Returns
        -------
        (n_docs,) float32
            0 where no term occurs; equal to ``rank_bm25.BM25Okapi.get_scores`` on the same tokens
            under the default parameters. Never negative under `IdfVariant.LUCENE`.

        Notes
        -----
        Complexity: O(n_docs + postings of the query's terms).
        """
        postings = self._get_postings(field)
        ids, weights = self._resolve(terms)
        df = postings.document_frequencies(ids)
        weights = weights * inverse_document_frequencies(
            df, self.n_docs, parameters, postings.average_idf
        )
        positions = postings.positions(ids)
        docs = postings.docs[positions]
        norms = length_norms(postings.lengths, parameters)
        values = saturate(postings.frequencies[positions], norms[docs], parameters.k1)
        values *= np.repeat(weights, df)
        return np.bincount(docs, weights=values, minlength=self.n_docs).astype(np.float32)

    def group_scores(
        self,
        field: str,
        terms: Terms,
        groups: npt.NDArray[np.integer],
        n_groups: int,
        parameters: Bm25Parameters = DEFAULT_PARAMETERS,
    ) -> Float32Array:
        """Score groups of documents as if each group were one document.

        Frequencies and lengths are summed within a group; idf and mean length are those of the
        groups.

        Parameters
        ----------
        groups : (n_docs,) int
            Each document's group, below `n_groups`; negative for documents to leave out.

        Returns
        -------
        (n_groups,) float32

        Notes
        -----
        Complexity: O(n_docs + postings of the terms + terms * n_groups). `IdfVariant.OKAPI` needs
        the mean idf of all terms among the groups, which takes one pass over all postings.
        """
        postings = self._get_postings(field)
        # Documents that are left out go to one more group, cut off at the end.
        group_of = np.where(groups < 0, n_groups, groups).astype(np.int64)
        ids, weights = self._resolve(terms)
        average_idf = 0.0
        if parameters.idf is IdfVariant.OKAPI:
            average_idf = average_group_idf(postings, group_of, n_groups)
        lengths = np.bincount(group_of, weights=postings.lengths, minlength=n_groups)[:n_groups]
        norms = length_norms(lengths, parameters)
        scores = np.zeros(n_groups)
        step = max(1, _CELLS_AT_ONCE // (n_groups + 1))
        for start in range(0, ids.size, step):
            chunk = slice(start, start + step)
            rows, columns, frequencies = group_frequencies(postings, ids[chunk], group_of, n_groups)
            df = np.bincount(rows, minlength=ids[chunk].size)
            idf = inverse_document_frequencies(df, n_groups, parameters, average_idf)
            values = saturate(frequencies, norms[columns], parameters.k1)
            values *= (weights[chunk] * idf)[rows]
            scores += np.bincount(columns, weights=values, minlength=n_groups)
        return scores.astype(np.float32)

    def term_frequencies(self, field: str, term: str) -> tuple[Int32Array, npt.NDArray[np.uint16]]:
        """Documents that hold `term`, ascending, and how often each does (up to 65,535)."""
        postings = self._get_postings(field)
        ids, _ = self._resolve([term])
        positions = postings.positions(ids)
        return postings.docs[positions], postings.frequencies[positions]

    def document_frequency(self, field: str, term: str) -> int:
        """Number of documents that hold `term`."""
        ids, _ = self._resolve([term])
        return int(self._get_postings(field).document_frequencies(ids).sum())

    def idf(self, field: str, term: str, parameters: Bm25Parameters = DEFAULT_PARAMETERS) -> float:
        """Weight of `term` by rarity; 0 if no document of the field holds it."""
        postings = self._get_postings(field)
        df = np.array([self.document_frequency(field, term)])
        return float(
            inverse_document_frequencies(df, self.n_docs, parameters, postings.average_idf)[0]
        )

    def lengths(self, field: str) -> Int32Array:
        """(n_docs,) int32: number of term occurrences in each document."""
        return self._get_postings(field).lengths

    def to_arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """Everything as named one-dimensional arrays; the inverse of `from_arrays`."""
        arrays: dict[str, npt.NDArray[np.generic]] = {
            "fields": np.frombuffer("\n".join(self.fields).encode(), dtype=np.uint8),
            "vocabulary.blob": self._vocabulary.blob,
            "vocabulary.offsets": self._vocabulary.offsets,
        }
        for name, postings in self._postings.items():
            arrays |= {f"{name}.{key}": array for key, array in postings.to_arrays().items()}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> TextIndex:
        """Wrap the arrays of `to_arrays` without copying them; they may be read-only.

        Raises
        ------
        IndexDamagedError
            If an array is missing.
        """
        try:
            names = arrays["fields"].tobytes().decode().split("\n")
            vocabulary = Vocabulary(
                np.asarray(arrays["vocabulary.blob"], dtype=np.uint8),
                np.asarray(arrays["vocabulary.offsets"], dtype=np.int32),
            )
            postings = {name: Postings.from_arrays(arrays, f"{name}.") for name in names if name}
        except KeyError as error:
            raise IndexDamagedError(
                f"the text index lacks the array {error}; rebuild it with `graphloc index`"
            ) from error
        return cls(vocabulary, postings)

    def _get_postings(self, field: str) -> Postings:
        try:
            return self._postings[field]
        except KeyError as error:
            raise UnknownFieldError.among(field, self.fields) from error

    def _resolve(self, terms: Terms) -> tuple[Int64Array, FloatArray]:
        """Ids and weights of the query's terms that the vocabulary holds."""
        weights = terms if isinstance(terms, Mapping) else Counter(terms)
        found = [
            (term_id, weight)
            for term, weight in weights.items()
            if (term_id := self._vocabulary.find_id(term)) >= 0
        ]
        ids = np.array([term_id for term_id, _ in found], dtype=np.int64)
        return ids, np.array([weight for _, weight in found], dtype=np.float64)
