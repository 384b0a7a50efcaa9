"""Errors of an evaluation.

::

    GraphlocError
    |-- InputError
    |   |-- RunMismatchError    the output folder belongs to another run
    |   |-- GoldError           a patch does not fit the tree it is said to change
    |-- CloneError              a repository is neither at hand nor to be had
"""

from __future__ import annotations

from indexes.errors import GraphlocError, InputError


class RunMismatchError(InputError):
    """The output folder holds the predictions of another dataset, method or setting."""


class GoldError(InputError):
    """What has to be found cannot be told from an instance's patch."""


class CloneError(GraphlocError):
    """A repository is not at hand, and cloning it failed."""
