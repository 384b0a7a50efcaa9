"""The use case: an issue goes in, ranked entities come out."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from functools import cached_property

import numpy as np

from graphloc.issue import Issue
from graphloc.localization.confidence import MOST_COMPARED, estimate_confidences
from graphloc.localization.evidence import EvidenceWriter
from graphloc.localization.features import Features, compute_features
from graphloc.localization.learned import load_shipped_model
from graphloc.localization.model import Evidence, Localization, RankedEntity
from graphloc.localization.query import Floats, Ints, NameIndex, Query
from graphloc.localization.ranker import Ranker, WeightedRanker
from graphloc.localization.signals import Signal, default_signals
from graphloc.localization.walk import GraphWalk
from indexes.graph.entities import CLASS, FUNCTION
from indexes.history import History
from indexes.snapshot import Snapshot
from indexes.text import Tokenizer


class Localizer:
    """Localizes issues in one snapshot; what does not depend on the issue is made once.

    Parameters
    ----------
    snapshot
        The indexed tree.
    history
        Its past commits, where there are any.
    ranker
        The learned one that comes with the package by default.
    signals
        All by default.
    tokenizer
        Shared among localizers of one thread, so that words are cut up once.
    without
        Names of signals to leave out; ``graph`` is the walk.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        history: History | None = None,
        *,
        ranker: Ranker | None = None,
        signals: tuple[Signal, ...] | None = None,
        tokenizer: Tokenizer | None = None,
        without: Collection[str] = (),
    ) -> None:
        self._snapshot = snapshot
        self._history = history
        self._ranker = ranker or load_shipped_model() or WeightedRanker()
        self._signals = default_signals() if signals is None else signals
        self._tokenizer = tokenizer or Tokenizer()
        self._without = frozenset(without)

    @cached_property
    def _names(self) -> NameIndex:
        return NameIndex(self._snapshot)

    @cached_property
    def _walk(self) -> GraphWalk:
        return GraphWalk(self._snapshot.graph, self._snapshot.entities)

    def features(self, issue: Issue, *, include_tests: bool = False) -> tuple[Query, Features]:
        """All columns of an issue, as a ranker sees them."""
        query = Query(
            issue,
            self._snapshot,
            self._names,
            self._tokenizer,
            self._history,
            include_tests=include_tests,
        )
        return query, compute_features(query, self._signals, self._walk, self._without)

    def localize(
        self, issue: Issue, *, top_k: int = 10, include_tests: bool = False
    ) -> Localization:
        """Rank the files, classes and functions of the snapshot for an issue.

        Parameters
        ----------
        issue
            What `graphloc.issue.read_issue` returned.
        top_k
            Results of each kind.
        include_tests
            Rank test files and what is in them too.

        Returns
        -------
        Localization
            Fewer results than asked for, or none, in a small or empty repository. Ties go by
            order of path and line. O(edges + postings of the issue's terms).
        """
        started = time.perf_counter()
        query, features = self.features(issue, include_tests=include_tests)
        entities = self._snapshot.entities
        file_scores = self._ranker.score_files(query, features)
        scores = self._ranker.score_entities(query, features, file_scores)
        file_scores = self._ranker.revise_files(query, file_scores, scores)
        writer = EvidenceWriter(query, features, self._walk)
        allowed = query.ranked

        def ranked(kind: str, candidates: Ints, values: Floats) -> tuple[RankedEntity, ...]:
            reasons = writer.of_file if kind == "file" else writer.of_entity
            return self._rank(kind, candidates, values, reasons, top_k)

        all_files = np.flatnonzero(allowed[entities.file_rows])
        files = ranked("file", all_files, file_scores)
        classes = ranked("class", np.flatnonzero(allowed & (entities.kinds == CLASS)), scores)
        functions = ranked(
            "function", np.flatnonzero(allowed & (entities.kinds == FUNCTION)), scores
        )
        merged = _merge(files, classes, functions, top_k)
        elapsed_ms = (time.perf_counter() - started) * 1000
        return Localization(issue, elapsed_ms, files, classes, functions, merged)

    def _rank(
        self,
        kind: str,
        candidates: Ints,
        values: Floats,
        reasons: Callable[[int], tuple[Evidence, ...]],
        top_k: int,
    ) -> tuple[RankedEntity, ...]:
        order = np.argsort(-values[candidates], kind="stable")[: max(top_k, MOST_COMPARED)]
        best = candidates[order]
        confidences = estimate_confidences(self._ranker.calibrations[kind], values[best])
        confidences += confidences[-1:] * (len(best) - len(confidences))
        entities = self._snapshot.entities
        return tuple(
            RankedEntity(
                rank=rank,
                entity=entities.entity(int(entities.file_rows[n]) if kind == "file" else n),
                score=round(float(values[n]), 4),
                confidence=round(confidence, 4),
                evidence=reasons(n),
            )
            for rank, (n, confidence) in enumerate(
                zip(best[:top_k].tolist(), confidences, strict=False), 1
            )
        )


def _merge(
    files: tuple[RankedEntity, ...],
    classes: tuple[RankedEntity, ...],
    functions: tuple[RankedEntity, ...],
    top_k: int,
) -> tuple[RankedEntity, ...]:
    """All kinds by confidence; the more exact kind first where they are equally sure."""
    everything = [*functions, *classes, *files]
    everything.sort(key=lambda result: -result.confidence)
    return tuple(
        RankedEntity(rank, r.entity, r.score, r.confidence, r.evidence)
        for rank, r in enumerate(everything[:top_k], 1)
    )
