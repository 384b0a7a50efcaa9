"""BM25 of the issue against each field of entities and files.

Robertson & Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009). The positive idf
variant is used, since common words of an issue must not count against an entity.
"""

from __future__ import annotations

from collections.abc import Callable

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
                values = query.snapshot.text.scores(field, terms, _PARAMETERS)
                explain = _explainer(query, field, part)
                entities.append(Column(f"{part}_{field}", values, explain))
                grouped = query.snapshot.text.group_scores(
                    field, terms, query.files, query.n_files, _PARAMETERS
                )
                files.append(
                    Column(f"{part}_{field}", grouped, _file_explainer(query, field, part))
                )
        return SignalColumns(tuple(entities), tuple(files))


def _explainer(query: Query, field: str, part: str) -> Callable[[int], str]:
    def explain(row: int) -> str:
        words = _matched(query, field, part, {row})
        return f"{_FIELD_WORDS[field]} has {', '.join(words)}" if words else ""

    return explain


def _file_explainer(query: Query, field: str, part: str) -> Callable[[int], str]:
    def explain(file: int) -> str:
        rows = set(query.snapshot.entities.rows_of_file(file))
        words = _matched(query, field, part, rows)
        return f"{_FIELD_WORDS[field]} has {', '.join(words)}" if words else ""

    return explain


def _matched(query: Query, field: str, part: str, rows: set[int]) -> list[str]:
    """Terms of the issue that a field of some rows holds, the weightiest first."""
    terms = query.title_terms if part == "title" else query.full_terms
    text = query.snapshot.text
    found: list[tuple[float, str]] = []
    for term, weight in terms.items():
        docs, _ = text.term_frequencies(field, term)
        if rows.intersection(docs.tolist()):
            found.append((-weight * text.idf(field, term, _PARAMETERS), term))
    return [term for _, term in sorted(found)[:_MOST_WORDS]]


_FIELD_WORDS = {
    "name": "name",
    "context": "path or class",
    "signature": "signature",
    "docstring": "docstring",
    "body": "code",
    "comments": "comments",
    "strings": "string literals",
}
