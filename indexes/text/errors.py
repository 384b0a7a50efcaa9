"""Errors of text retrieval.

::

    GraphlocError
    |-- UnknownFieldError     a text index has no such field
"""

from __future__ import annotations

from collections.abc import Iterable

from indexes.errors import GraphlocError


class UnknownFieldError(GraphlocError):
    """The text index has no field of that name; `values` hold `field` and `fields`."""

    @classmethod
    def among(cls, field: str, fields: Iterable[str]) -> UnknownFieldError:
        """Name the field that is missing, and those that are there."""
        known = tuple(fields)
        return cls(
            f"no text field {field!r}; there are: {', '.join(known)}", field=field, fields=known
        )
