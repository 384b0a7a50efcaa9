"""What is known about entities before the issue is read: size, place, how much depends on them."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from graphloc.localization.query import Floats, Query
from graphloc.localization.signals.base import Column, SignalColumns
from indexes.graph.code_graph import KIND_NUMBERS
from indexes.model import EdgeKind
from indexes.snapshot import Snapshot

_AUXILIARY = frozenset({
    "docs", "doc", "examples", "example", "benchmarks", "benchmark", "asv_bench", "scripts",
    "tools", "tutorials", "demo", "demos", "samples", "ci", ".github", "release", "third_party",
    "vendor", "_vendor", "migrations",
})  # fmt: skip
"""Folders whose files are seldom what an issue is about."""


class PriorSignal:
    """Features of entities and files that no issue changes."""

    name = "priors"

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Snapshot, SignalColumns] = WeakKeyDictionary()

    def compute(self, query: Query) -> SignalColumns:
        """Columns of sizes, places and degrees; made once a snapshot."""
        found = self._known.get(query.snapshot)
        if found is None:
            found = self._known[query.snapshot] = _compute_priors(query)
        return found


def _compute_priors(query: Query) -> SignalColumns:
    entities = query.snapshot.entities
    lines = (entities.ends - entities.starts + 1).astype(np.float32)
    incoming, outgoing = _degrees(query)
    names = [name.rpartition(".")[2] for name in entities.names]
    dunder = np.array([name.startswith("__") for name in names], np.float32)
    private = np.array([name.startswith("_") for name in names], np.float32)
    file_rows = entities.file_rows
    return SignalColumns(
        entities=(
            Column("lines", np.log1p(lines)),
            Column("is_class", (entities.kinds == 2).astype(np.float32)),
            Column("is_method", _is_method(query)),
            Column("is_dunder", dunder),
            Column("is_private", private),
            Column("callers", np.log1p(incoming)),
            Column("callees", np.log1p(outgoing)),
        ),
        files=(
            Column("file_lines", np.log1p(lines[file_rows])),
            Column("file_entities", np.log1p(query.sum_per_file(np.ones_like(lines)))),
            Column("file_callers", np.log1p(query.sum_per_file(incoming))),
            Column("file_importers", np.log1p(_importers(query))),
            *_path_columns(entities.paths),
        ),
    )


def _degrees(query: Query) -> tuple[Floats, Floats]:
    """Calls that reach and leave each entity, tests left out."""
    graph, is_test = query.snapshot.graph, query.snapshot.entities.is_test
    calls = (graph.kinds == KIND_NUMBERS[EdgeKind.INVOKES]) & ~is_test[graph.sources]
    incoming = np.bincount(graph.targets[calls], minlength=graph.n_nodes)
    outgoing = np.bincount(graph.sources[calls], minlength=graph.n_nodes)
    return incoming.astype(np.float32), outgoing.astype(np.float32)


def _importers(query: Query) -> Floats:
    graph, entities = query.snapshot.graph, query.snapshot.entities
    imports = (graph.kinds == KIND_NUMBERS[EdgeKind.IMPORTS]) & ~entities.is_test[graph.sources]
    counts = np.bincount(graph.targets[imports], minlength=graph.n_nodes)
    return np.asarray(counts[entities.file_rows], dtype=np.float32)


def _is_method(query: Query) -> Floats:
    entities = query.snapshot.entities
    parents = np.maximum(entities.parents, 0)
    inside = (entities.kinds == 3) & (entities.kinds[parents] == 2)
    return np.asarray(inside, dtype=np.float32)


def _path_columns(paths: list[str]) -> tuple[Column, ...]:
    folders = [path.split("/")[:-1] for path in paths]
    names = [path.rpartition("/")[2] for path in paths]
    auxiliary = [
        bool(_AUXILIARY.intersection(parts)) or name in {"setup.py", "conf.py"}
        for parts, name in zip(folders, names, strict=True)
    ]
    return (
        Column("depth", np.array([len(parts) for parts in folders], np.float32)),
        Column("is_init", np.array([n.startswith("__init__") for n in names], np.float32)),
        Column("is_stub", np.array([n.endswith(".pyi") for n in names], np.float32)),
        Column("is_private_file", np.array([n.startswith("_") for n in names], np.float32)),
        Column("is_auxiliary", np.array(auxiliary, np.float32)),
    )
