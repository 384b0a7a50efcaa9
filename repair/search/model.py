"""What a search is allowed and what it found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from repair.candidates.template import TemplateCandidate
from repair.model import Variant
from repair.patch import Patch
from repair.testing.model import TestPlan


@dataclass(frozen=True, slots=True)
class Budget:
    """Upper bounds of one search."""

    candidates: int = 2000
    seconds: float = 300.0
    """Wall clock, from the start of the search."""


class StopCause(StrEnum):
    """Why a search ended."""

    FOUND = "found"
    """Enough candidates were tried after the first plausible patch."""
    EXHAUSTED = "exhausted"
    """No template has anything left to propose."""
    CANDIDATES = "candidates"
    SECONDS = "seconds"
    NOTHING_FAILS = "nothing_fails"
    """There is no failing test to make pass, or it fails for another reason than the program."""


@dataclass(frozen=True, slots=True)
class PlausiblePatch:
    """A patch that makes all given tests pass."""

    patch: Patch
    candidate: TemplateCandidate
    """What was tried last; the second of two edits, if there are two."""
    variant: Variant
    """All edits, against the file as it was."""
    rank: int
    """1-based number of the candidate among those tried."""
    score: float
    """By which plausible patches are ordered; comparable within one search only."""
    edits: int = 1
    """How many templates were applied one after the other."""


@dataclass(frozen=True, slots=True)
class SearchReport:
    """The outcome of a search, best patch first."""

    plausible: tuple[PlausiblePatch, ...]
    plan: TestPlan
    flaky: tuple[str, ...]
    """Tests set aside because two runs of the unchanged program differ."""
    tried: int
    timed_out: int
    seconds: float
    cpu_s: float
    """Processor time of all candidates."""
    cause: StopCause

    @property
    def best(self) -> PlausiblePatch | None:
        """The patch to deliver."""
        return self.plausible[0] if self.plausible else None
