"""The agent and its ablations, as switches."""

from __future__ import annotations

from dataclasses import dataclass

MAX_ROUNDS = 10
"""Rounds of refinement in the paper's main experiments."""
MAX_STEPS = 100
"""Replies of the model for one problem, as many as the paper allows its baseline agent."""


@dataclass(frozen=True, slots=True)
class Variant:
    """Which parts of the method are switched on."""

    name: str = "tdd-agent"
    writes_tests: bool = True
    """Tests come first, and are run on the code."""
    revises_tests: bool = True
    """Tests may be changed once there is code."""
    refines: bool = True
    """What is written may be revised; otherwise the first version counts."""
    max_rounds: int = MAX_ROUNDS
    """Runs of the tests; without tests, versions of the code."""
    max_steps: int = MAX_STEPS


TDD_AGENT = Variant()
VANILLA = Variant("vanilla", writes_tests=False, revises_tests=False, refines=False, max_rounds=1)
REFLECT = Variant("reflect", writes_tests=False, revises_tests=False)
SINGLE_TRACK = Variant("single-track", revises_tests=False)
ITER1 = Variant("tdd-agent-iter1", refines=False, max_rounds=1)
VARIANTS = {each.name: each for each in (TDD_AGENT, VANILLA, REFLECT, SINGLE_TRACK, ITER1)}
"""By name."""
