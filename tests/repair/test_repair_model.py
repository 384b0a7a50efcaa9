"""The repair loop's values: duplicates, difficulty, pass rates."""

from __future__ import annotations

import pytest

from indexes.model import Span
from repair.model import (
    CandidatePatch,
    Difficulty,
    Location,
    TestOutcome,
    TestStatus,
    deduplicate,
    pass_rate,
)
from repair.patch import build_patch

HERE = Location("m.py", "m.py:A.f", Span(10, 20))


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        (Location("m.py", "m.py:A.f", Span(20, 30), reason="other", confidence=0.9), True),
        (Location("m.py", "m.py:A.f", Span(21, 30)), False),
        (Location("m.py", "m.py:A.g", Span(10, 20)), False),
        (Location("n.py", "n.py:A.f", Span(10, 20)), False),
    ],
)
def test_duplicates_share_file_entity_and_lines(other: Location, is_same: bool) -> None:
    assert HERE.is_same_as(other) is other.is_same_as(HERE) is is_same


def test_the_first_of_duplicates_stays() -> None:
    again = Location("m.py", "m.py:A.f", Span(12, 13))
    other = Location("m.py", "m.py", Span(1, 2))
    assert deduplicate([HERE, other, again]) == (HERE, other)
    assert (HERE.name, other.name) == ("A.f", "")


@pytest.mark.parametrize(
    ("n", "difficulty"), [(0, "simple"), (1, "simple"), (2, "medium"), (4, "medium"), (5, "hard")]
)
def test_difficulty_is_the_number_of_locations(n: int, difficulty: str) -> None:
    assert Difficulty.of(n) == difficulty


def test_pass_rates_leave_skipped_tests_out() -> None:
    statuses = (TestStatus.PASSED, TestStatus.FAILED, TestStatus.ERROR, TestStatus.TIMED_OUT)
    outcomes = tuple(TestOutcome(f"t.py::{status}", status) for status in statuses)
    skipped = TestOutcome("t.py::skipped", TestStatus.SKIPPED)
    assert pass_rate([*outcomes, skipped], empty=0.5) == 0.25
    assert pass_rate([skipped], empty=0.5) == 0.5
    candidate = CandidatePatch(HERE, build_patch([]), round=1, origin="template")
    assert (candidate.regression_pass_rate, candidate.reproduction_pass_rate) == (1.0, 0.0)
