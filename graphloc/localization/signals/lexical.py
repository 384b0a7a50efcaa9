"""BM25 of the issue against each field of entities and files.

Robertson & Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009). The positive idf
variant is used, since common words of an issue must not count against an entity.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from graphloc.localization.query import Query
from graphloc.localization.signals.base import Column, SignalColumns
from indexes.documents import FIELDS
from indexes.text import Bm25Parameters, IdfVariant

_PARAMETERS = Bm25Parameters(idf=IdfVariant.LUCENE)
_MOST_WORDS = 6


class LexicalSignal:
    """Words of the issue's title, and of all of it, in each field."""

    name = "words"

    def compute(self, query: Query) -> SignalColumns:
        """One column for each of title and full text, field, and level."""
        entities: list[Column] = []
        files: list[Column] = []
        for part, terms in (("title", query.title_terms), ("full", query.full_terms)):
            for field in FIELDS:
                name = f"{part}_{field}"
                values = query.snapshot.text.scores(field, terms, _PARAMETERS)
                grouped = query.snapshot.text.group_scores(
                    field, terms, query.files, query.n_files, _PARAMETERS
                )
                words = _FieldWords(query, field, terms)
                entities.append(Column(name, values, words.explain_row))
                files.append(Column(name, grouped, words.explain_file))
        return SignalColumns(tuple(entities), tuple(files))


class _FieldWords:
    """Which words of the issue one field of an entity holds; looked up when first asked."""

    def __init__(self, query: Query, field: str, terms: Mapping[str, float]) -> None:
        self._query = query
        self._field = field
        self._terms = terms

    @cached_property
    def _documents(self) -> list[tuple[str, frozenset[int]]]:
        """(term, rows that hold it), the weightiest term first."""
        text, field = self._query.snapshot.text, self._field
        ordered = sorted(
            self._terms, key=lambda t: (-self._terms[t] * text.idf(field, t, _PARAMETERS), t)
        )
        found = [(term, text.term_frequencies(field, term)[0]) for term in ordered]
        return [(term, frozenset(rows.tolist())) for term, rows in found if len(rows)]

    def explain_row(self, row: int) -> str:
        """Words that the field of a row holds."""
        return self._say({row})

    def explain_file(self, file: int) -> str:
        """Words that the field of any row of a file holds."""
        return self._say(set(self._query.snapshot.entities.rows_of_file(file)))

    def _say(self, rows: set[int]) -> str:
        words = [term for term, documents in self._documents if not rows.isdisjoint(documents)]
        said = [self._query.as_written(term) for term in words[:_MOST_WORDS]]
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
