"""Finding the lines an edit means, strictly first and then ever more forgivingly.

Four ways, each tried only if the one before found nothing: the lines as they are; the same with
trailing white space dropped and runs inside a line counted as one blank; the same with all of them
shifted by one indentation; the same without any indentation. A way that finds two places ends the
search: guessing would be worse.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_BLANKS = re.compile(r"[ \t\f\v]+")
_TAB_WIDTH = 8
"""What Python itself counts a tab as."""

Key = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Match:
    """Where the searched lines stand: ``lines[start:end]``, 0-based."""

    start: int
    end: int
    search: tuple[str, ...]
    """The searched lines that stand there; blank ones at the ends may have been dropped."""
    trimmed: tuple[int, int] = (0, 0)
    """How many blank lines were dropped before and after."""
    is_shifted: bool = False


def find_matches(lines: Sequence[str], search: Sequence[str]) -> list[Match]:
    """Return the places of the strictest way that finds any; lines come without their ends.

    O(n_lines * n_search) at worst, near O(n_lines) for lines that differ.
    """
    whole = tuple(search)
    for key in (_exact, _folded):
        places = _places([key(line) for line in lines], [key(line) for line in whole])
        if places:
            return [Match(at, at + len(whole), whole) for at in places]
    head, trimmed, tail = _trim(whole)
    if not trimmed:
        return []
    folded = _places([_folded(line) for line in lines], [_folded(line) for line in trimmed])
    if folded:
        return [Match(at, at + len(trimmed), trimmed, (head, tail)) for at in folded]
    bare = _places([_bare(line) for line in lines], [_bare(line) for line in trimmed])
    shifted = [at for at in bare if _is_one_shift(lines[at : at + len(trimmed)], trimmed)]
    return [
        Match(at, at + len(trimmed), trimmed, (head, tail), is_shifted=True)
        for at in shifted or bare
    ]


def reindent(new: str, *, search: str, found: str) -> str:
    """Move a new line by the way from `search`'s indentation to `found`'s."""
    if not new.strip():
        return new
    wanted, actual = indentation(search), indentation(found)
    if new.startswith(wanted):
        return actual + new[len(wanted) :]
    width = max(0, columns(indentation(new)) + columns(actual) - columns(wanted))
    return " " * width + new.lstrip(" \t")


def indentation(line: str) -> str:
    """Return the blanks and tabs a line starts with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def columns(indent: str) -> int:
    """Return the width of an indentation, tabs at every eighth column."""
    return len(indent.expandtabs(_TAB_WIDTH))


def _places(keys: Sequence[str], wanted: Sequence[str]) -> list[int]:
    size = len(wanted)
    return [
        at
        for at in range(len(keys) - size + 1)
        if keys[at] == wanted[0] and keys[at : at + size] == wanted
    ]


def _trim(search: tuple[str, ...]) -> tuple[int, tuple[str, ...], int]:
    """Drop blank lines at both ends; return how many went before, the rest, how many after."""
    full = [i for i, line in enumerate(search) if line.strip()]
    if not full:
        return 0, (), 0
    return full[0], search[full[0] : full[-1] + 1], len(search) - 1 - full[-1]


def _is_one_shift(found: Sequence[str], search: Sequence[str]) -> bool:
    shifts = {
        columns(indentation(a)) - columns(indentation(b))
        for a, b in zip(found, search, strict=True)
        if b.strip()
    }
    return len(shifts) == 1


def _exact(line: str) -> str:
    return line


def _folded(line: str) -> str:
    return indentation(line).expandtabs(_TAB_WIDTH) + _bare(line)


def _bare(line: str) -> str:
    return _BLANKS.sub(" ", line.strip())
