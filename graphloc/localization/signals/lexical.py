"""BM25 of the issue against each field of entities and files.

Robertson & Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from graphloc.localization.query import LEXICAL_PARAMETERS, Ints, Query
from graphloc.localization.signals.base import Column, SignalColumns
from indexes.documents import FIELDS
from indexes.text.bm25 import inverse_document_frequencies

_MOST_WORDS = 6


class LexicalSignal:
    """Words of the issue's title, and of all of it, in each field."""

    name = "words"

    def compute(self, query: Query) -> SignalColumns:
        """One column for each of title and full text, field, and level."""
        entities: list[Column] = []
        files: list[Column] = []
        for part in ("title", "full"):
            for field in FIELDS:
                name = f"{part}_{field}"
                words = _FieldWords(query, part, field)
                entities.append(Column(name, query.scores(part, field), words.explain_row))
                files.append(Column(name, query.group_scores(part, field), words.explain_file))
        return SignalColumns(tuple(entities), tuple(files))


class _FieldWords:
    """Which words of the issue one field of an entity holds; looked up when first asked."""

    def __init__(self, query: Query, part: str, field: str) -> None:
        self._query = query
        self._field = field
        self._terms = query.terms_of(part)

    @cached_property
    def _holders(self) -> tuple[list[str], Ints, Ints]:
        """Terms, the weightiest first, with all (row, place of a term) pairs that occur."""
        text = self._query.snapshot.text
        terms = sorted(self._terms)
        rows = [text.term_frequencies(self._field, term)[0] for term in terms]
        sizes = np.array([len(found) for found in rows], dtype=np.int64)
        idf = inverse_document_frequencies(sizes, text.n_docs, LEXICAL_PARAMETERS, 0.0)
        worth = idf * np.array([self._terms[term] for term in terms])
        order = np.argsort(-worth, kind="stable")
        none = np.zeros(0, dtype=np.int64)
        holding = np.concatenate([none, *(rows[place] for place in order)])
        places = np.repeat(np.arange(len(order)), sizes[order])
        return [terms[place] for place in order], holding, places

    def explain_row(self, row: int) -> str:
        """Words that the field of a row holds."""
        return self._say(range(row, row + 1))

    def explain_file(self, file: int) -> str:
        """Words that the field of any row of a file holds."""
        return self._say(self._query.snapshot.entities.rows_of_file(file))

    def _say(self, rows: range) -> str:
        terms, holding, places = self._holders
        inside = places[(holding >= rows.start) & (holding < rows.stop)]
        best = sorted(set(inside.tolist()))
        written = dict.fromkeys(self._query.as_written(terms[place]) for place in best)
        said = list(written)[:_MOST_WORDS]
        return f"{_FIELD_WORDS[self._field]} has {', '.join(said)}" if said else ""


_FIELD_WORDS = {
    "name": "name",
    "context": "path or class",
    "signature": "signature",
    "docstring": "docstring",
    "body": "code",
    "comments": "comments",
    "strings": "string literals",
}
