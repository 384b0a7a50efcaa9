"""Words of the issue in what surrounds an entity: its tests, its callers and callees, its kin.

Unlike the walk over the graph, which follows many hops from a few anchors, these columns look one
step around every entity.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
import numpy.typing as npt

from graphloc.localization.query import Floats, Query
from graphloc.localization.signals.base import Column, SignalColumns
from indexes.graph.code_graph import KIND_NUMBERS
from indexes.model import EdgeKind

_FIELDS = ("name", "docstring", "body", "comments", "strings")
_MOST_TESTS = 40
"""Tests whose words are most like the issue's; the rest is noise."""


class NeighborSignal:
    """Best lexical score one edge away, by kind of edge and direction."""

    name = "neighbors"

    def compute(self, query: Query) -> SignalColumns:
        """Columns ``tested_by``, ``caller_best``, ``callee_best`` and ``kin_best``."""
        words = _lexical(query)
        is_test = query.snapshot.entities.is_test
        product = np.where(is_test, 0, words).astype(np.float32)
        calls = {EdgeKind.INVOKES}
        kin = {EdgeKind.INHERITS, EdgeKind.OVERRIDES}
        callers = _best_source(query, product, calls)
        callees = _best_target(query, product, calls)
        family = np.maximum(_best_source(query, product, kin), _best_target(query, product, kin))
        tested = _tested_by(query, np.where(is_test, words, 0).astype(np.float32))
        return SignalColumns(
            entities=(
                Column("tested_by", tested, _explain(tested, "tests about it mention the words")),
                Column("caller_best", callers),
                Column("callee_best", callees),
                Column("kin_best", family),
            ),
            files=(
                Column("file_tested_by", query.sum_per_file(tested)),
                Column("file_caller_best", query.best_per_file(callers)),
            ),
        )


def _explain(values: Floats, words: str) -> Callable[[int], str]:
    def explain(row: int) -> str:
        return words if values[row] > 0 else ""

    return explain


def _lexical(query: Query) -> Floats:
    """One lexical figure a row: title and text over the fields that say most."""
    parts = [query.scores(part, field) for field in _FIELDS for part in ("title", "full")]
    return np.asarray(np.sum(parts, axis=0), dtype=np.float32)


def _edges(query: Query, kinds: Collection[EdgeKind]) -> npt.NDArray[np.bool_]:
    graph = query.snapshot.graph
    return np.isin(graph.kinds, [KIND_NUMBERS[kind] for kind in kinds])


def _best_source(query: Query, values: Floats, kinds: Collection[EdgeKind]) -> Floats:
    """Largest value among the sources of each row's incoming edges, times their confidence."""
    graph, mask = query.snapshot.graph, _edges(query, kinds)
    best = np.zeros(graph.n_nodes, np.float32)
    mask &= values[graph.sources] > 0
    worth = values[graph.sources[mask]] * graph.confidences[mask]
    np.maximum.at(best, graph.targets[mask], worth)
    return best


def _best_target(query: Query, values: Floats, kinds: Collection[EdgeKind]) -> Floats:
    """Largest value among the targets of each row's outgoing edges, times their confidence."""
    graph, mask = query.snapshot.graph, _edges(query, kinds)
    best = np.zeros(graph.n_nodes, np.float32)
    mask &= values[graph.targets] > 0
    worth = values[graph.targets[mask]] * graph.confidences[mask]
    np.maximum.at(best, graph.sources[mask], worth)
    return best


def _tested_by(query: Query, words: Floats) -> Floats:
    """What the tests most like the issue exercise; a test shares its score among its targets."""
    graph = query.snapshot.graph
    chosen = np.argsort(-words, kind="stable")[:_MOST_TESTS]
    weights = np.zeros(graph.n_nodes)
    weights[chosen] = words[chosen]
    mask = _edges(query, {EdgeKind.TESTS}) & (weights[graph.sources] > 0)
    sources = graph.sources[mask]
    targets_of = np.bincount(sources, minlength=graph.n_nodes)
    share = weights[sources] * graph.confidences[mask] / np.sqrt(targets_of[sources])
    summed = np.bincount(graph.targets[mask], weights=share, minlength=graph.n_nodes)
    return np.asarray(summed, dtype=np.float32)
