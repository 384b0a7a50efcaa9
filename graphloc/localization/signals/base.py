"""What a signal is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from graphloc.localization.query import Floats, Query


def _nothing(row: int) -> str:
    del row
    return ""


@dataclass(frozen=True, slots=True)
class Column:
    """One feature: a value for each row of the entity table, or for each file."""

    name: str
    values: Floats
    """(n_entities,) or, for a column of files, (n_files,) float32; >= 0, and 0 says nothing."""
    explain: Callable[[int], str] = _nothing
    """Detail for a row (or file number), in words; empty when the column says nothing of it."""


@dataclass(frozen=True, slots=True)
class SignalColumns:
    """What one signal says about an issue."""

    entities: tuple[Column, ...] = ()
    files: tuple[Column, ...] = ()


class Signal(Protocol):
    """One source of evidence."""

    @property
    def name(self) -> str:
        """Short name, used in evidence and ablation."""
        ...

    def compute(self, query: Query) -> SignalColumns:
        """Score the entities and files of the query's snapshot."""
        ...
