"""Every error that graphloc raises on purpose.

::

    GraphlocError
    |-- InputError              the caller's input cannot be used (exit code 2)
    |   |-- RepositoryNotFoundError
    |   |-- RevisionNotFoundError
    |   |-- EntityNotFoundError
    |   |-- EmptyIssueError
    |   |-- DatasetError        a dataset or predictions line cannot be read
    |-- GitError                git itself failed
    |-- StoreError              the index on disk
        |-- IndexDamagedError   unreadable: says how to rebuild
        |-- DiskFullError

Each message says what is wrong and how to mend it, in one line. Plain values (path, line, name) are
attributes. All of them survive pickling, because they cross process borders.
"""

from __future__ import annotations

from typing import Any


class GraphlocError(Exception):
    """Root of all errors raised on purpose; `exit_code` is what the command line exits with."""

    exit_code = 1

    def __init__(self, message: str, **values: Any) -> None:
        super().__init__(message)
        self.message = message
        self.values = values

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.message, self.values)


def _rebuild(cls: type[GraphlocError], message: str, values: dict[str, Any]) -> GraphlocError:
    return cls(message, **values)


class InputError(GraphlocError):
    """The input cannot be used as it is."""

    exit_code = 2


class RepositoryNotFoundError(InputError):
    """There is no folder or repository at the path."""


class RevisionNotFoundError(InputError):
    """The repository does not hold the revision."""


class EntityNotFoundError(InputError):
    """No entity has that name in the index."""


class EmptyIssueError(InputError):
    """The issue holds no text to search for."""


class DatasetError(InputError):
    """A line of a dataset or predictions file cannot be read."""


class GitError(GraphlocError):
    """A git command failed."""

    exit_code = 2


class StoreError(GraphlocError):
    """The index on disk cannot be used."""

    exit_code = 2


class IndexDamagedError(StoreError):
    """The index on disk cannot be read."""


class DiskFullError(StoreError):
    """No room left for the index."""
