"""Errors of code completion.

::

    GraphlocError
    |-- InputError
    |   |-- HoleError            the place to be filled cannot be told
    |   |-- RunMismatchError     the output file holds the results of another run
    |-- AnswerError              a reply holds no code that fits the hole
    |-- ToolError                a tool of the agent was called wrongly
        |-- CommandRefusedError  a search command is not on the allow-list
"""

from __future__ import annotations

from indexes.errors import GraphlocError, InputError


class HoleError(InputError):
    """The place to be filled cannot be told; `path` names the file."""


class RunMismatchError(InputError):
    """The output file holds the results of another dataset, method or setting."""


class AnswerError(GraphlocError):
    """A reply holds no code that fits the hole."""


class ToolError(GraphlocError):
    """A tool was called wrongly; the message is sent back to the model."""


class CommandRefusedError(ToolError):
    """A search command, or one of its arguments, is not on the allow-list."""
