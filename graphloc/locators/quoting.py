"""Texts from outside in messages of our own."""

from __future__ import annotations

from indexes.source.model import printable_path

_SHOWN_CHARS = 200
"""What a message repeats of a name that may be anything."""


def shown(text: str) -> str:
    """Return a text from outside as a message may repeat it."""
    cut = text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."
    return printable_path(cut.encode("utf-8", "surrogatepass").decode("utf-8", "replace"))
