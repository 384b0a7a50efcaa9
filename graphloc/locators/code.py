"""The source code of entities, from the disk or from git, and what is around them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from graphloc.locators.model import EntityCode, GraphEdge
from graphloc.locators.traversal import name_edge
from indexes.errors import EntityNotFoundError
from indexes.graph.entities import DIRECTORY
from indexes.model import EdgeKind
from indexes.parsing.encoding import decode_source
from indexes.snapshot import Snapshot
from indexes.source import Source, SourceEntry, printable_path
from indexes.source.model import WORKTREE

MOST_NEIGHBORS = 30
"""Edges shown on each side of an entity: the surest ones."""
_CACHED_TEXTS = 128
"""Files of a revision kept decoded, about 3 MB; reading one costs a git process."""
_NOT_SHOWN = frozenset({EdgeKind.CONTAINS, EdgeKind.CO_CHANGES})
"""Containment has a place of its own, and co-change is no use."""


class ChangedFileError(Exception):
    """The file on disk is not the one that was indexed."""


class SourceTexts:
    """Reads files of one listing of a source, one thread at a time."""

    def __init__(self, source: Source, entries: Iterable[SourceEntry]) -> None:
        self._source = source
        self._entries = {entry.path: entry for entry in entries}
        self._lock = threading.Lock()
        self._cache: OrderedDict[str, tuple[str, ...]] = OrderedDict()

    def lines(self, path: str) -> tuple[str, ...]:
        """Return the lines of a file as it was indexed.

        Raises
        ------
        ChangedFileError
            If it has changed on disk since.
        EntityNotFoundError
            If it is gone or cannot be read.
        """
        entry = self._entries[path]
        with self._lock:
            known = self._cache.get(entry.blob_id)
            if known is not None:
                self._cache.move_to_end(entry.blob_id)
                return known
            return self._read(entry)

    def _read(self, entry: SourceEntry) -> tuple[str, ...]:
        found = next(iter(self._source.read([entry])), None)
        if found is None:
            name = printable_path(entry.path)
            raise EntityNotFoundError(f"{name} cannot be read any more: refresh the index")
        if found[0].blob_id != entry.blob_id:
            raise ChangedFileError
        lines = tuple(decode_source(found[1]).split("\n"))
        # Files on disk are read anew each time: only so is it known that they have not changed.
        if self._source.revision != WORKTREE:
            self._cache[entry.blob_id] = lines
            if len(self._cache) > _CACHED_TEXTS:
                self._cache.popitem(last=False)
        return lines


def retrieve(snapshot: Snapshot, texts: SourceTexts, row: int) -> EntityCode:
    """Return an entity with its code and its neighbors; errors as `SourceTexts.lines`."""
    entities, graph = snapshot.entities, snapshot.graph
    entity = entities.entity(row)
    lines: tuple[str, ...] = ()
    if entities.kinds[row] != DIRECTORY:
        span = entity.span
        lines = texts.lines(entity.path)[span.start_line - 1 : span.end_line]
    uses = graph.out_edges(row)
    used_by = graph.in_edges(row)
    return EntityCode(
        entity,
        lines,
        contains=tuple(entities.ids[child] for child in entities.children(row)),
        uses=_surest(snapshot, uses),
        used_by=_surest(snapshot, used_by),
        n_uses=len(_shown(snapshot, uses)),
        n_used_by=len(_shown(snapshot, used_by)),
    )


def _shown(snapshot: Snapshot, numbers: npt.NDArray[np.int64]) -> list[int]:
    graph = snapshot.graph
    return [number for number in numbers.tolist() if graph.edge(number).kind not in _NOT_SHOWN]


def _surest(snapshot: Snapshot, numbers: npt.NDArray[np.int64]) -> tuple[GraphEdge, ...]:
    shown = _shown(snapshot, numbers)
    shown.sort(key=lambda number: -float(snapshot.graph.confidences[number]))
    return tuple(
        name_edge(snapshot.entities, snapshot.graph.edge(number))
        for number in shown[:MOST_NEIGHBORS]
    )
