"""What goes wrong between a caller and a locator, besides what `indexes.errors` names."""

from __future__ import annotations

from indexes.errors import GraphlocError, InputError


class OutsideRepositoryError(InputError):
    """A path leads out of the repository."""


class UnknownCursorError(InputError):
    """The cursor was never given out, was given out by another tool, or has been forgotten."""


class ArgumentsError(InputError):
    """The arguments of a tool are not those of its schema."""


class WorkCancelledError(GraphlocError):
    """Whoever asked no longer wants the answer."""
