"""What a unified diff does to each file: hunks, and in them runs of removed and added lines."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk as PatchHunk
from unidiff.patch import Line, PatchSet

from graphloc.evaluation.errors import GoldError


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring changed lines, with no context line between them."""

    removed: tuple[int, ...]
    """Numbers, 1-based, in the file before the change."""
    added: tuple[str, ...]
    """Texts."""
    after: int
    """Number of the line before the run, in the file before the change; 0 at its top."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """One hunk of a file's change."""

    start: int
    """Number of its first line in the file before the change, as the patch states it."""
    source: tuple[str, ...]
    """Texts of the lines that were there before, context included."""
    runs: tuple[Run, ...]

    def moved_to(self, lines: Sequence[str]) -> tuple[Run, ...]:
        """Return the runs where the file really has them, as ``git apply`` does.

        A dataset's base commit can be a few commits off the patch's own base. Of several places
        that hold the hunk's lines the nearest is meant; without any the stated one stays.
        Quadratic at worst, linear in the file for hunks whose first line is rare.
        """
        source = [text.rstrip() for text in self.source]
        places = [
            place
            for place in range(len(lines) - len(source) + 1)
            if all(lines[place + i].rstrip() == text for i, text in enumerate(source))
        ]
        if not source or not places:
            return self.runs
        offset = min((place + 1 - self.start for place in places), key=abs)
        return tuple(
            Run(tuple(n + offset for n in run.removed), run.added, run.after + offset)
            for run in self.runs
        )


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a patch does to one file that was there before."""

    path: str
    """Name before the change."""
    hunks: tuple[Hunk, ...]


def read_patch(patch: str) -> tuple[FileChange, ...]:
    """Return the changes to files that exist before the patch; new files are left out.

    Raises
    ------
    GoldError
        If the text is no unified diff.
    """
    try:
        # A stream that ends lines at \n only: form feeds and the like belong to their line.
        files = PatchSet(io.StringIO(patch, newline="\n"))
    except UnidiffParseError as error:
        raise GoldError(
            f"the patch is no unified diff ({error}): take it from `git diff`"
        ) from error
    return tuple(
        FileChange(
            file.source_file.removeprefix("a/"),
            tuple(map(_read_hunk, file)),
        )
        for file in files
        if not file.is_added_file and file.source_file != "/dev/null"
    )


def _read_hunk(hunk: PatchHunk) -> Hunk:
    # A hunk without source lines names the line before it instead of its first.
    start = hunk.source_start + (0 if hunk.source_length else 1)
    source = tuple(line.value for line in hunk if line.is_removed or line.is_context)
    return Hunk(start, source, tuple(_iter_runs(hunk, start - 1)))


def _iter_runs(lines: Iterable[Line], after: int) -> Iterator[Run]:
    removed: list[int] = []
    added: list[str] = []
    for line in lines:
        number = line.source_line_no
        if line.is_added:
            added.append(line.value)
        elif number is None:
            continue  # the mark that a file has no line end at its end
        elif line.is_removed:
            removed.append(number)
        else:
            if removed or added:
                yield Run(tuple(removed), tuple(added), after)
                removed, added = [], []
            after = number
    if removed or added:
        yield Run(tuple(removed), tuple(added), after)
