"""Frames put together to tracebacks, with the error that ends each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from graphloc.issue.frames import (
    FoundFrame,
    find_frames_at,
    looks_like_error,
    strip_margin,
    strip_prefix,
)
from graphloc.issue.model import ErrorKind, Frame, ReportedError
from graphloc.issue.paths import normalize_path

_HEADER = re.compile(r"Traceback \(most recent call (?:last|first)\)|\(most recent call first\)")
_FIRST = "most recent call first"
_CHAIN = re.compile(
    r"During handling of the above exception|The above exception was the direct cause"
    r"|exception caught here"
)
_ERROR = re.compile(r"^(?P<type>[A-Za-z_][\w.]*+)(?: ?\([\w -]{1,40}\))?(?:: ?(?P<message>.*))?$")
_PYTEST_ERROR = re.compile(r"^E {2,}(?P<type>[A-Za-z_][\w.]*+)(?:: (?P<message>.*))?$")
_MAX_GAP = {"cpython": 12, "ipython": 40, "pytest": 120, "rich": 40, "pdb": 6}
"""Rows without a frame after which another one starts a new traceback: as many as a tool prints
between two frames of one."""
_DEFAULT_GAP = 3
_MAX_MESSAGE = 1_000


@dataclass(frozen=True, slots=True)
class Tracebacks:
    """All that the tracebacks of a text say, and which rows they take up."""

    frames: tuple[Frame, ...]
    errors: tuple[ReportedError, ...]
    rows: frozenset[int]


def find_tracebacks(lines: Sequence[str]) -> Tracebacks:
    """Find the frames of every traceback in the lines of a cleaned text. Linear in its length.

    A traceback ends at its error, at a header, where a chained one begins, where the style
    changes, or after more rows without a frame than its tool prints.
    """
    collector = _Collector()
    row = 0
    while row < len(lines):
        line = lines[row]
        if not line or line.isspace():
            row += 1
            continue
        frames = find_frames_at(lines, row)
        if frames:
            collector.add(frames)
            row = max(row + 1, frames[-1].end)
            continue
        collector.read(line, row)
        row += 1
    collector.close()
    return collector.result()


@dataclass(slots=True)
class _Collector:
    """The traceback that is being read, and those read before."""

    open: list[FoundFrame] = field(default_factory=list)
    first_row: int | None = None
    is_reversed: bool = False
    frames: list[Frame] = field(default_factory=list)
    errors: list[ReportedError] = field(default_factory=list)
    rows: set[int] = field(default_factory=set)
    number: int = 0

    def add(self, found: list[FoundFrame]) -> None:
        """Take frames into the open traceback, or into a new one if they cannot belong to it."""
        last = self.open[-1] if self.open else None
        if last is not None and (
            last.style != found[0].style
            or found[0].start - last.end > _MAX_GAP.get(last.style, _DEFAULT_GAP)
        ):
            self.close()
        elif (
            last is None
            and self.first_row is not None
            and (found[0].start - self.first_row > _DEFAULT_GAP)
        ):
            self.first_row = None
        self.open.extend(found)

    def read(self, line: str, row: int) -> None:
        """Take a line that holds no frame: a header, a link of a chain, an error, or nothing."""
        if _CHAIN.search(line):
            self.close(row)
        elif header := _HEADER.search(line):
            self.close()
            self.first_row, self.is_reversed = row, _FIRST in header[0]
        elif self.open:
            self._read_error(line, row)
        elif line.startswith("E  ") and (error := _PYTEST_ERROR.match(line)):
            self._report(error, row, close=False)

    def _read_error(self, line: str, row: int) -> None:
        last = self.open[-1]
        if row - last.end > _MAX_GAP.get(last.style, _DEFAULT_GAP):
            return
        text = strip_prefix(line, last.prefix)
        pytest_error = _PYTEST_ERROR.match(text)
        if pytest_error is not None:
            self._report(pytest_error, row, close=False)
            return
        bare = strip_margin(text)
        match = _ERROR.match(bare.rstrip())
        if match is not None and self._is_error(match, bare, text):
            self._report(match, row, close=True)

    def _is_error(self, match: re.Match[str], bare: str, text: str) -> bool:
        last = self.open[-1]
        if looks_like_error(bare):
            return True
        if last.style != "cpython" or not match["type"].isascii():
            return False
        indentation = len(last.prefix) - len(last.prefix.rstrip(" "))
        depth = len(text) - len(text.lstrip(" "))
        return 0 < indentation > depth and ("." in match["type"] or match["message"] is not None)

    def _report(self, match: re.Match[str], row: int, *, close: bool) -> None:
        message = (match["message"] or "").strip()[:_MAX_MESSAGE]
        kind = ErrorKind.WARNING if match["type"].endswith("Warning") else ErrorKind.EXCEPTION
        self.errors.append(ReportedError(match["type"], message, kind, self.number))
        if close:
            self.close(row)

    def close(self, last_row: int | None = None) -> None:
        """End the open traceback, at `last_row` or at its last frame."""
        if self.open:
            frames = self.open
            start = frames[0].start if self.first_row is None else self.first_row
            end = frames[-1].end if last_row is None else last_row + 1
            self.rows.update(range(start, end))
            self._number_frames(frames)
            self.number += 1
        self.open, self.first_row, self.is_reversed = [], None, False

    def _number_frames(self, frames: list[FoundFrame]) -> None:
        nearest_first = self.is_reversed or frames[0].style == "py-spy"
        for index, found in enumerate(frames):
            position = index if nearest_first else len(frames) - 1 - index
            path = normalize_path(found.path) or found.path
            self.frames.append(
                Frame(path, found.line, found.function, found.code, position, self.number)
            )

    def result(self) -> Tracebacks:
        """Return what was found so far."""
        return Tracebacks(
            tuple(self.frames), tuple(dict.fromkeys(self.errors)), frozenset(self.rows)
        )
