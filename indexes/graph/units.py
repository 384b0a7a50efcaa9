"""Units of evaluation, their items, and what the last run of them found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from indexes.graph.frames import Frame
from indexes.graph.state import Findings

Runner: TypeAlias = Callable[[Frame, Any], None]
"""Evaluates one item in a frame."""


WAITING = -1
"""Read by what would go on differently once unknown values are taken to stay unknown."""
PENDING: frozenset[int] = frozenset({-2})
"""Read by what met a value still being evaluated: never changes, but is not known for good."""


class Item:
    """One statement's part of a unit, and what evaluating it found."""

    __slots__ = ("findings", "frame", "reads", "runner", "what")

    def __init__(
        self,
        runner: Runner,
        frame: Frame,
        what: object,
        reads: tuple[int, ...],
        findings: Findings | None,
    ) -> None:
        self.runner = runner
        self.frame = frame
        self.what = what
        self.reads = reads
        """State it depends on."""
        self.findings = findings
        """What it found that depends on state."""


class Unit:
    """One unit, and what evaluating it found so far."""

    __slots__ = (
        "definitions",
        "fixed",
        "frames",
        "is_new",
        "items",
        "number",
        "own",
        "reads",
        "scopes",
        "stale",
    )

    def __init__(self, number: int, scopes: list[int], definitions: list[int]) -> None:
        self.number = number
        self.scopes = scopes
        self.definitions = definitions
        """Definitions that are evaluated (decorators, defaults, bases) in one of its scopes."""
        self.frames: list[Frame] = []
        self.is_new = True
        self.items: list[Item] = []
        """What depends on state, once the unit has been evaluated."""
        self.fixed = Findings()
        """Findings that no round will change."""
        self.reads: set[int] = set()
        """State that the last run read."""
        self.own: set[int] = set()
        """Containers that the last run read, its own elements included."""
        self.stale: set[int] = set()
        """Containers read in the last run before all of its own elements were in."""
