"""Which of several plausible patches to deliver."""

from __future__ import annotations

import math
from collections.abc import Iterable

from repair.search.model import PlausiblePatch

_SIZE_HALF = 60.0
"""Characters of change that halve a patch's score: of two patches that pass the tests the smaller
one is right more often (Mechtaev, Yi, Roychoudhury 2015, doi:10.1109/ICSE.2015.63)."""


def ranked(patches: Iterable[PlausiblePatch]) -> tuple[PlausiblePatch, ...]:
    """Order by score, less for large edits and for two edits; ties by order of trial."""
    return tuple(sorted(patches, key=lambda patch: (-merit(patch), patch.rank)))


def merit(patch: PlausiblePatch) -> float:
    """Return the score discounted by the size of the change."""
    size = sum(len(edit.text) + edit.end - edit.start for edit in patch.variant.edits)
    return patch.score * math.pow(0.5, size / _SIZE_HALF) / patch.edits
