"""What localization returns: ranked entities with confidence and evidence."""

from __future__ import annotations

from dataclasses import dataclass

from graphloc.issue import Issue
from indexes.model import Entity


@dataclass(frozen=True, slots=True)
class Evidence:
    """One reason for a result."""

    signal: str
    """Name of the signal, as `graphloc.localization.signals` lists them."""
    detail: str
    """What matched, in words."""
    weight: float
    """How strong the reason is, by the hand-set weights; comparable within one localization. The
    learned ranking weighs reasons against each other in its own way."""
    hops: tuple[str, ...] = ()
    """Path through the graph, from an anchor to the entity: ids and edges alternate."""


@dataclass(frozen=True, slots=True)
class RankedEntity:
    """One result."""

    rank: int
    """From 1."""
    entity: Entity
    score: float
    """Comparable within one localization and kind only."""
    confidence: float
    """Estimated probability that the fix changes the entity, in [0, 1]."""
    evidence: tuple[Evidence, ...]
    """Strongest first."""


@dataclass(frozen=True, slots=True)
class Localization:
    """What `Localizer.localize` returns."""

    issue: Issue
    elapsed_ms: float
    files: tuple[RankedEntity, ...]
    classes: tuple[RankedEntity, ...]
    functions: tuple[RankedEntity, ...]
    results: tuple[RankedEntity, ...]
    """All kinds merged, most confident first."""
