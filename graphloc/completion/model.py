"""What completion methods share: the task, one attempt, the result, the method as a protocol."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from graphloc.completion.fragments import Fragment
from graphloc.completion.hole import Hole
from repair.ports import Usage


@dataclass(frozen=True, slots=True)
class CompletionTask:
    """A repository and a hole in one of its files."""

    repository: Path
    hole: Hole
    hidden_tests: tuple[str, ...] = ()
    """Files of the repository's own tests for the target, which no method gets to see."""
    requirement: str = ""
    """What the code has to do, where more is known than its file says."""


class StopCause(StrEnum):
    """Why a method stopped."""

    DONE = "done"
    """It came to its end, or the model said so."""
    MAX_ROUNDS = "max_rounds"
    MAX_STEPS = "max_steps"
    NO_TOOL_CALLS = "no_tool_calls"
    """The model kept answering without calling a tool."""
    CONVERGED = "converged"
    """Further refinement was not expected to change anything."""
    MODEL_FAILED = "model_failed"
    """The model could not be asked any more, a used-up budget included."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One prediction on the way to the result."""

    body: str
    """Empty when the reply held no code."""
    query: str = ""
    """What was searched for."""
    fragments: tuple[Fragment, ...] = ()
    """What the prompt showed, in its order."""
    tests: str = ""
    """The generated tests at that moment."""
    report: str = ""
    """What running them said."""
    passed_own_tests: bool | None = None
    """None where none were run."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What a method made of a task."""

    body: str
    """Empty if there is none."""
    attempts: tuple[Attempt, ...]
    calls: int
    """Replies of the model."""
    usage: Usage
    stop: StopCause = StopCause.DONE
    problem: str = ""
    """What went wrong, in one line."""


class Completer(Protocol):
    """A way to fill holes."""

    @property
    def name(self) -> str:
        """For reports."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes with anything that may change the results."""
        ...

    def complete(self, task: CompletionTask) -> Completion:
        """Fill a hole; a model that fails gives a result with a problem, not an error."""
        ...
