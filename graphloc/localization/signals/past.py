"""What past commits say about files: how often and how lately changed, for issues like this one.

Similar past changes: Zhou, Zhang & Lo, "Where should the bugs be fixed?" (ICSE 2012); recency and
frequency: Rahman et al., BugCache for inspections (FSE 2011).
"""

from __future__ import annotations

import numpy as np

from graphloc.localization.query import Floats, Query
from graphloc.localization.signals.base import Column, SignalColumns
from indexes.history import History
from indexes.text import Bm25Parameters, IdfVariant

_PARAMETERS = Bm25Parameters(idf=IdfVariant.LUCENE)
_MOST_SIMILAR = 40
"""Past commits whose files are taken as hints."""
_HALF_LIFE_COMMITS = 200.0
"""A change counts half as much as one this many commits later."""
_MOST_LEADERS = 5
"""Files whose companions in past commits are looked at."""
_COLUMNS = (
    "past_similar",
    "past_similar_best",
    "past_frequency",
    "past_recency",
    "past_together",
)


class HistorySignal:
    """Past commits; says nothing where there is no history."""

    name = "history"

    def compute(self, query: Query) -> SignalColumns:
        """Columns of files: similar past commits, frequency, recency, changed together."""
        zero = np.zeros(query.n_files, np.float32)
        if query.history is None or not len(query.history):
            return SignalColumns(files=tuple(Column(name, zero) for name in _COLUMNS))
        history = query.history
        file_of = _file_numbers(query, history)
        similar, best = _similar(query, history, file_of)

        def explain(file: int) -> str:
            return "changed by past commits about the same words" if similar[file] else ""

        age = np.arange(len(history))[history.commit_of_change]
        decay = 0.5 ** (age / _HALF_LIFE_COMMITS)
        return SignalColumns(
            files=(
                Column("past_similar", similar, explain),
                Column("past_similar_best", best, explain),
                Column("past_frequency", np.log1p(_per_file(query, file_of, np.ones_like(decay)))),
                Column("past_recency", np.log1p(_per_file(query, file_of, decay))),
                Column("past_together", _together(query, history, file_of)),
            )
        )


def _file_numbers(query: Query, history: History) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """(n_changes,) file number of each change; -1 for files that are no more."""
    known = {path: number for number, path in enumerate(query.snapshot.entities.paths)}
    numbers = np.array([known.get(path, -1) for path in history.paths], dtype=np.int64)
    return numbers[history.changes]


def _per_file(
    query: Query,
    file_of: np.ndarray[tuple[int], np.dtype[np.int64]],
    weights: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> Floats:
    kept = file_of >= 0
    summed = np.bincount(file_of[kept], weights=weights[kept], minlength=query.n_files)
    return np.asarray(summed, dtype=np.float32)


def _similar(
    query: Query, history: History, file_of: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> tuple[Floats, Floats]:
    """Sum and best, over the most similar commits, of similarity shared among their files."""
    terms = dict(query.full_terms)
    for term, weight in query.title_terms.items():
        terms[term] = terms.get(term, 0.0) + 2 * weight
    scores = history.messages.scores("message", terms, _PARAMETERS)
    count = min(_MOST_SIMILAR, int(np.count_nonzero(scores)))
    chosen = np.argsort(-scores, kind="stable")[:count]
    share = np.zeros(len(history))
    sizes = np.diff(history.starts)
    share[chosen] = scores[chosen] / np.sqrt(sizes[chosen])
    weights = share[history.commit_of_change]
    best = np.zeros(query.n_files, np.float32)
    kept = (file_of >= 0) & (weights > 0)
    np.maximum.at(best, file_of[kept], weights[kept].astype(np.float32))
    return _per_file(query, file_of, weights), best


def _together(
    query: Query, history: History, file_of: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> Floats:
    """How often each file changed together with the files that the issue's words find first."""
    text, files = query.snapshot.text, query.files
    words = text.group_scores("body", query.full_terms, files, query.n_files, _PARAMETERS)
    words = words + text.group_scores("name", query.title_terms, files, query.n_files, _PARAMETERS)
    tests = query.snapshot.entities.is_test[query.snapshot.entities.file_rows]
    leaders = np.argsort(-np.where(tests, 0, words), kind="stable")[:_MOST_LEADERS]
    is_leader = np.zeros(query.n_files + 1, dtype=np.bool_)
    is_leader[leaders] = True
    leads = np.bincount(
        history.commit_of_change, weights=is_leader[file_of], minlength=len(history)
    )
    sizes = np.diff(history.starts)
    weights = (leads / np.maximum(sizes, 1))[history.commit_of_change]
    weights = np.where(is_leader[file_of], 0, weights)
    return np.asarray(np.log1p(_per_file(query, file_of, weights)), dtype=np.float32)
