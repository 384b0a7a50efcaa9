"""A bug of a benchmark, what became of it, and the figures over all of them."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec


@dataclass(frozen=True, slots=True)
class BugInstance:
    """One faulty program with its tests."""

    id: str
    files: Mapping[str, bytes]
    """The tree to repair, by path."""
    target: str
    """The faulty file."""
    test_file: str
    function: str
    """The function the tests call."""
    reference: str = ""
    """A right version of the target's source; empty if there is none."""
    inputs: tuple[str, ...] = ()
    """Arguments of known calls, each a JSON list; examples from which random ones are drawn."""
    import_path: tuple[str, ...] = ()
    """Folders of the tree put on the import path."""


class Verdict(StrEnum):
    """How one repair came out."""

    CORRECT = "correct"
    """Passes the given and the held-out tests, and agrees with the reference where there is one."""
    DISAGREES = "disagrees"
    """Passes all tests, but differs from the reference on random inputs."""
    OVERFITTED = "overfitted"
    """Passes the given tests and fails a held-out one."""
    NOT_REPAIRED = "not_repaired"
    NO_BUG_SHOWN = "no_bug_shown"
    """No test fails on the faulty program here."""
    BROKEN = "broken"
    """The instance cannot be run here."""


class EvaluationRecord(msgspec.Struct, frozen=True):
    """One line of the results file."""

    id: str
    verdict: Verdict
    given: int = 0
    """Number of given tests."""
    held_out: int = 0
    tried: int = 0
    timed_out: int = 0
    seconds: float = 0.0
    cpu_s: float = 0.0
    """Processor time of the candidates."""
    rank: int = 0
    """Number of the delivered candidate among those tried; 0 without one."""
    plausible: int = 0
    """Plausible patches found."""
    template: str = ""
    edits: int = 0
    compared: int = 0
    """Random inputs on which patch and reference were compared."""
    differing: int = 0
    diff: str = ""
    message: str = ""

    @property
    def is_plausible(self) -> bool:
        """Whether a patch that passes the given tests was delivered."""
        return self.verdict in (Verdict.CORRECT, Verdict.DISAGREES, Verdict.OVERFITTED)


@dataclass(frozen=True, slots=True)
class EvaluationSummary:
    """Figures over a benchmark."""

    n: int
    """Instances that show their bug here."""
    plausible: int
    held_out: int
    """Plausible ones that pass the held-out tests too."""
    correct: int
    """Those that also agree with the reference on all random inputs."""
    left_out: int
    """Instances without a failing test, or that cannot be run."""
    median_rank: float
    median_seconds: float
    candidates: int
    cpu_s: float


def summarize(records: Sequence[EvaluationRecord]) -> EvaluationSummary:
    """Count verdicts; instances that show no bug are counted apart."""
    shown = [r for r in records if r.verdict not in (Verdict.NO_BUG_SHOWN, Verdict.BROKEN)]
    plausible = [record for record in shown if record.is_plausible]
    return EvaluationSummary(
        len(shown),
        len(plausible),
        sum(record.verdict is not Verdict.OVERFITTED for record in plausible),
        sum(record.verdict is Verdict.CORRECT for record in plausible),
        len(records) - len(shown),
        statistics.median([record.rank for record in plausible] or [0]),
        statistics.median([record.seconds for record in shown] or [0.0]),
        sum(record.tried for record in shown),
        sum(record.cpu_s for record in shown),
    )
