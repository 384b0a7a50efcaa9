"""What past commits say about files: how often and how lately changed, for issues like this one.

Similar past changes: Zhou, Zhang & Lo, "Where should the bugs be fixed?" (ICSE 2012); recency and
frequency: Rahman et al., BugCache for inspections (FSE 2011).
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from graphloc.localization.query import LEXICAL_PARAMETERS, Floats, Query
from graphloc.localization.signals.base import Column, SignalColumns
from indexes.history import History
from indexes.snapshot import Snapshot

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

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Snapshot, _Past] = WeakKeyDictionary()

    def compute(self, query: Query) -> SignalColumns:
        """Columns of files: similar past commits, frequency, recency, changed together."""
        if query.history is None or not len(query.history):
            zero = np.zeros(query.n_files, np.float32)
            return SignalColumns(files=tuple(Column(name, zero) for name in _COLUMNS))
        past = self._known.get(query.snapshot)
        if past is None or past.history is not query.history:
            past = self._known[query.snapshot] = _Past.of(query, query.history)
        similar, best = _similar(query, past)

        def explain(file: int) -> str:
            return "changed by past commits about the same words" if similar[file] else ""

        return SignalColumns(
            files=(
                Column("past_similar", similar, explain),
                Column("past_similar_best", best, explain),
                Column("past_frequency", past.frequency),
                Column("past_recency", past.recency),
                Column("past_together", _together(query, past)),
            )
        )


@dataclass(frozen=True, slots=True)
class _Past:
    """A history as seen from one snapshot, whatever the issue."""

    history: History
    file_of: npt.NDArray[np.int64]
    """(n_changes,) file number of each change; -1 for files that are no more."""
    commit_of: npt.NDArray[np.int64]
    """(n_changes,) number of each change's commit."""
    sizes: npt.NDArray[np.int32]
    """(n_commits,) number of changes."""
    frequency: Floats
    recency: Floats
    """(n_files,) logarithms of the number of changes, all alike and with the old ones fading."""

    @classmethod
    def of(cls, query: Query, history: History) -> _Past:
        """Find the snapshot's files among the paths of past commits."""
        known = {path: number for number, path in enumerate(query.snapshot.entities.paths)}
        numbers = np.array([known.get(path, -1) for path in history.paths], dtype=np.int64)
        file_of, commit_of = numbers[history.changes], history.commit_of_change
        decay = 0.5 ** (commit_of / _HALF_LIFE_COMMITS)
        return cls(
            history=history,
            file_of=file_of,
            commit_of=commit_of,
            sizes=np.diff(history.starts),
            frequency=np.log1p(_per_file(query, file_of, np.ones_like(decay))),
            recency=np.log1p(_per_file(query, file_of, decay)),
        )


def _per_file(
    query: Query, file_of: npt.NDArray[np.int64], weights: npt.NDArray[np.float64]
) -> Floats:
    kept = file_of >= 0
    summed = np.bincount(file_of[kept], weights=weights[kept], minlength=query.n_files)
    return np.asarray(summed, dtype=np.float32)


def _similar(query: Query, past: _Past) -> tuple[Floats, Floats]:
    """Sum and best, over the most similar commits, of similarity shared among their files."""
    terms = dict(query.full_terms)
    for term, weight in query.title_terms.items():
        terms[term] = terms.get(term, 0.0) + 2 * weight
    scores = past.history.messages.scores("message", terms, LEXICAL_PARAMETERS)
    count = min(_MOST_SIMILAR, int(np.count_nonzero(scores)))
    chosen = np.argsort(-scores, kind="stable")[:count]
    share = np.zeros(len(past.history))
    share[chosen] = scores[chosen] / np.sqrt(past.sizes[chosen])
    weights = share[past.commit_of]
    best = np.zeros(query.n_files, np.float32)
    kept = (past.file_of >= 0) & (weights > 0)
    np.maximum.at(best, past.file_of[kept], weights[kept].astype(np.float32))
    return _per_file(query, past.file_of, weights), best


def _together(query: Query, past: _Past) -> Floats:
    """How often each file changed together with the files that the issue's words find first."""
    words = query.group_scores("full", "body") + query.group_scores("title", "name")
    tests = query.snapshot.entities.is_test[query.snapshot.entities.file_rows]
    leaders = np.argsort(-np.where(tests, 0, words), kind="stable")[:_MOST_LEADERS]
    is_leader = np.zeros(
        query.n_files + 1, dtype=np.bool_
    )  # the last is for files that are no more
    is_leader[leaders] = True
    leads = np.bincount(
        past.commit_of, weights=is_leader[past.file_of], minlength=len(past.history)
    )
    weights = (leads / np.maximum(past.sizes, 1))[past.commit_of]
    weights = np.where(is_leader[past.file_of], 0, weights)
    return np.asarray(np.log1p(_per_file(query, past.file_of, weights)), dtype=np.float32)
