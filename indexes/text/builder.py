"""`TextIndexBuilder`: from documents of raw words to a `TextIndex`."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from indexes.text.bm25 import average_okapi_idf
from indexes.text.errors import UnknownFieldError
from indexes.text.index import TextIndex
from indexes.text.postings import Int64Array, Postings, concatenate_ranges, sum_by_key
from indexes.text.tokenizer import Tokenizer
from indexes.text.vocabulary import Vocabulary


class TextIndexBuilder:
    """Collects documents, numbered in the order of adding, and builds a `TextIndex`.

    Parameters
    ----------
    fields : sequence of str
        Names of the fields, without line breaks.
    tokenizer : Tokenizer, optional
        Share one among several builds of a process: most words of the next revision are known.
    """

    def __init__(self, fields: Sequence[str], tokenizer: Tokenizer | None = None) -> None:
        self._tokenizer = tokenizer or Tokenizer()
        self._numbering: defaultdict[str, int] = defaultdict(count().__next__)
        self._fields = {field: _WordCounts() for field in fields}

    def add(self, document: Mapping[str, Mapping[str, int]]) -> None:
        """Add a document: for each field its raw words with their counts; fields may be missing.

        Raises
        ------
        UnknownFieldError
            If `document` has a field that the builder has not.
        """
        if not document.keys() <= self._fields.keys():
            unknown = min(document.keys() - self._fields.keys())
            raise UnknownFieldError.among(unknown, self._fields)
        number_of = self._numbering.__getitem__
        for name, field in self._fields.items():
            words = document.get(name, {})
            field.sizes.append(len(words))
            field.words.extend(map(number_of, words))
            field.counts.extend(words.values())

    def build(self) -> TextIndex:
        """Build the index of all documents added so far.

        Complexity: O(p log p) for p pairs of a document and a term; each distinct raw word is
        tokenized once.
        """
        vocabulary, expansion = self._expand_words()
        return TextIndex(
            vocabulary,
            {name: field.to_postings(expansion) for name, field in self._fields.items()},
        )

    def _expand_words(self) -> tuple[Vocabulary, _Expansion]:
        numbering: defaultdict[str, int] = defaultdict(count().__next__)
        number_of = numbering.__getitem__
        terms, sizes = array("i"), array("i")
        for word in self._numbering:
            word_terms = self._tokenizer.identifier_terms(word)
            sizes.append(len(word_terms))
            terms.extend(map(number_of, word_terms))
        in_order = sorted(numbering)
        rank = np.empty(len(in_order), dtype=np.int64)
        rank[[numbering[term] for term in in_order]] = np.arange(len(in_order))
        sizes_array = np.array(sizes, dtype=np.int64)
        expansion = _Expansion(
            starts=np.cumsum(sizes_array) - sizes_array,
            sizes=sizes_array,
            terms=rank[np.array(terms, dtype=np.int64)],
            n_terms=len(in_order),
        )
        return Vocabulary.from_sorted(in_order), expansion


class _WordCounts:
    """What a builder collects for one field: raw word ids and counts, document after document."""

    __slots__ = ("counts", "sizes", "words")

    def __init__(self) -> None:
        self.words = array("i")
        self.counts = array("i")
        self.sizes = array("i")

    def to_postings(self, expansion: _Expansion) -> Postings:
        """Turn raw words into terms and sum up their counts for each document."""
        n_docs, n_terms = len(self.sizes), expansion.n_terms
        words = np.array(self.words, dtype=np.int64)
        sizes = expansion.sizes[words]
        docs = np.repeat(np.arange(n_docs), np.array(self.sizes, dtype=np.int64))
        docs = np.repeat(docs, sizes)
        terms = expansion.terms[concatenate_ranges(expansion.starts[words], sizes)]
        counts = np.repeat(np.array(self.counts, dtype=np.int64), sizes)
        lengths = np.bincount(docs, weights=counts, minlength=n_docs).astype(np.int32)
        keys, frequencies = sum_by_key(terms * n_docs + docs, counts)
        term_of, doc_of = np.divmod(keys, max(n_docs, 1))
        document_frequencies = np.bincount(term_of, minlength=n_terms)
        indptr = np.zeros(n_terms + 1, dtype=np.int32)
        np.cumsum(document_frequencies, out=indptr[1:])
        return Postings(
            indptr=indptr,
            docs=doc_of.astype(np.int32),
            frequencies=frequencies,
            lengths=lengths,
            average_idf=average_okapi_idf(document_frequencies, n_docs),
        )


@dataclass(frozen=True, slots=True)
class _Expansion:
    """The terms of every raw word, as compressed sparse rows."""

    starts: Int64Array
    sizes: Int64Array
    terms: Int64Array
    n_terms: int
