"""A compiled tree: entities, graph and words, each part loaded when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import msgspec
import numpy.typing as npt

from indexes.arrays import pack_arrays, unpack_arrays
from indexes.graph import CodeGraph, EntityTable
from indexes.model import ParseFailure
from indexes.text import PhraseIndex, TextIndex

PARTS = ("entities", "graph", "text", "phrases")


class SnapshotInfo(msgspec.Struct, frozen=True):
    """What is known about a snapshot besides its parts."""

    revision: str
    """Commit id, or ``worktree``."""
    n_files: int
    n_lines: int
    failures: tuple[tuple[str, int, str], ...]
    """(path, line, message) of what did not parse."""
    missing: tuple[tuple[str, str], ...]
    """(path, reason) of files left out."""


class Snapshot:
    """Everything that is known about one tree.

    Parameters
    ----------
    info
        Figures and failures.
    load
        Gives the packed arrays of a part of `PARTS`.
    """

    def __init__(self, info: SnapshotInfo, load: Callable[[str], bytes]) -> None:
        self.info = info
        self._load = load

    @property
    def revision(self) -> str:
        """Commit id, or ``worktree``."""
        return self.info.revision

    @property
    def failures(self) -> list[ParseFailure]:
        """Places that did not parse."""
        return [ParseFailure(*failure) for failure in self.info.failures]

    @cached_property
    def entities(self) -> EntityTable:
        """All entities."""
        return EntityTable(self._arrays("entities"))

    @cached_property
    def graph(self) -> CodeGraph:
        """The code graph over the rows of `entities`."""
        return CodeGraph(self._arrays("graph"))

    @cached_property
    def text(self) -> TextIndex:
        """Words by field; documents are rows of `entities`."""
        return TextIndex.from_arrays(self._arrays("text"))

    @cached_property
    def phrases(self) -> PhraseIndex:
        """Messages in string literals; documents are rows of `entities`."""
        return PhraseIndex.from_arrays(self._arrays("phrases"))

    def _arrays(self, part: str) -> dict[str, npt.NDArray[Any]]:
        return unpack_arrays(self._load(part))


def pack_parts(
    entities: EntityTable, graph: CodeGraph, text: TextIndex, phrases: PhraseIndex
) -> dict[str, bytes]:
    """The parts of a snapshot as bytes, for storing."""
    arrays: Mapping[str, Mapping[str, npt.NDArray[Any]]] = {
        "entities": entities.to_arrays(),
        "graph": graph.to_arrays(),
        "text": text.to_arrays(),
        "phrases": phrases.to_arrays(),
    }
    return {part: pack_arrays(arrays[part]) for part in PARTS}
