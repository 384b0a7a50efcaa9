"""The words of the repair loop: edit locations, difficulty, candidate patches, test outcomes.

The terms are PhoenixRepair's: *locations* are sampled and deduplicated, their number tells the
*difficulty*, each gets a *candidate patch*, candidates are ranked by their tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from indexes.model import Span, split_entity_id
from repair.patch import Patch

MEDIUM_AT_MOST = 4
"""PhoenixRepair's k: with more locations than this, localization counts as hard."""


class Difficulty(StrEnum):
    """How uncertain the place of the fix is, by the number of locations left."""

    SIMPLE = "simple"
    MEDIUM = "medium"
    HARD = "hard"

    @classmethod
    def of(cls, n_locations: int, *, medium_at_most: int = MEDIUM_AT_MOST) -> Difficulty:
        """Return simple for one location, medium up to k, hard above."""
        if n_locations <= 1:
            return cls.SIMPLE
        return cls.MEDIUM if n_locations <= medium_at_most else cls.HARD


@dataclass(frozen=True, slots=True)
class Location:
    """A place that a fix may have to edit."""

    path: str
    entity: str
    """Id of the innermost entity around it; the file itself outside of all."""
    span: Span
    """Lines that may change."""
    reason: str = ""
    """Why this place, in the locator's words."""
    confidence: float = 0.0
    """Probability that the fix changes it, 0 to 1."""

    @property
    def name(self) -> str:
        """Qualified name of the entity inside its file; empty for the file."""
        return split_entity_id(self.entity)[1]

    def is_same_as(self, other: Location) -> bool:
        """Whether two are duplicates: same file, same entity, overlapping lines."""
        is_one_entity = (self.path, self.entity) == (other.path, other.entity)
        return (
            is_one_entity
            and self.span.start_line <= other.span.end_line
            and other.span.start_line <= self.span.end_line
        )


class TestStatus(StrEnum):
    """How one test ended."""

    __test__ = False  # not a test class, whatever pytest thinks of its name

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    """It did not come to its assertions: set-up or collection failed."""
    SKIPPED = "skipped"
    TIMED_OUT = "timed_out"


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """One test's end on one version of the code."""

    __test__ = False

    test: str
    """As pytest names it, ``path::Class::name[parameters]``."""
    status: TestStatus
    duration_s: float = 0.0
    message: str = ""
    """Why it failed, shortened."""

    @property
    def is_pass(self) -> bool:
        """Whether it passed; a skipped test did not."""
        return self.status is TestStatus.PASSED


@dataclass(frozen=True, slots=True)
class CandidatePatch:
    """A patch tried at a location, with what its tests said."""

    location: Location
    patch: Patch
    round: int
    """1-based round of refinement it comes from."""
    origin: str
    """What made it: a template's or a model's name."""
    regression: tuple[TestOutcome, ...] = ()
    """Tests that passed before the patch and have to go on passing."""
    reproduction: tuple[TestOutcome, ...] = ()
    """Tests that show the issue, and edge cases around it."""

    @property
    def regression_pass_rate(self) -> float:
        """Share of regression tests that pass, 0 to 1; 1 without any."""
        return pass_rate(self.regression, empty=1.0)

    @property
    def reproduction_pass_rate(self) -> float:
        """Share of reproduction tests that pass, 0 to 1; 0 without any: nothing is shown."""
        return pass_rate(self.reproduction, empty=0.0)


def pass_rate(outcomes: Sequence[TestOutcome], *, empty: float) -> float:
    """Return the share of passed tests among those not skipped; `empty` if there are none."""
    counted = [outcome for outcome in outcomes if outcome.status is not TestStatus.SKIPPED]
    return sum(outcome.is_pass for outcome in counted) / len(counted) if counted else empty


def deduplicate(locations: Sequence[Location]) -> tuple[Location, ...]:
    """Keep the first of each group of duplicates, order kept; O(n^2) for n of a handful."""
    kept: list[Location] = []
    for location in locations:
        if not any(location.is_same_as(other) for other in kept):
            kept.append(location)
    return tuple(kept)


@dataclass(frozen=True, slots=True, order=True)
class SpanEdit:
    """Characters of one decoded file and the text that takes their place."""

    start: int
    """0-based offset of the first character; line ends count as they are in the file."""
    end: int
    """Offset behind the last character; equal to `start` for an insertion."""
    text: str


def splice(text: str, edits: Sequence[SpanEdit]) -> str:
    """Return `text` with every span replaced; spans are offsets into `text` and do not overlap."""
    pieces: list[str] = []
    position = 0
    for edit in sorted(edits):
        pieces += [text[position : edit.start], edit.text]
        position = edit.end
    return "".join([*pieces, text[position:]])


@dataclass(frozen=True, slots=True)
class Variant:
    """One version of a program to be tried: one file with a few spans replaced."""

    path: str
    edits: tuple[SpanEdit, ...]
    unit: tuple[int, str] | None = None
    """First line (decorators included) and name of the function whose body holds all edits: it can
    then be replaced in a running program. `None` if the file has to be loaded anew."""
