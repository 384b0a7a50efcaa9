"""Reading unified diffs, those of git and those that models write.

A hunk becomes an `Edit`: context and deleted lines to search for, context and added lines to
replace them with. Counts in the header are believed when the hunk keeps to them and ignored
otherwise; line numbers become tie-breaks. A missing space before a context line, blank lines that
lost theirs, hunk headers without numbers and files without ``a/`` and ``b/`` are all understood.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from repair.errors import MalformedPatchError
from repair.patch.model import Edit, EditKind
from repair.patch.quoting import unquote_path

_HUNK = re.compile(r"^@@+(?:\s*-(\d+)(?:,(\d+))?\s+\+(\d+)(?:,(\d+))?)?.*$")
_NO_NEWLINE = "\\"
_DEV_NULL = "/dev/null"


@dataclass(slots=True)
class _FileHeader:
    old: str = ""
    new: str = ""
    is_rename: bool = False


@dataclass(slots=True)
class _Hunk:
    """Lines of both sides, each with its line feed unless the diff says there is none."""

    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    last: str = " "

    def add(self, mark: str, text: str) -> None:
        if mark in " -":
            self.old.append(f"{text}\n")
        if mark in " +":
            self.new.append(f"{text}\n")
        self.last = mark

    def cut_newline(self) -> None:
        """Take the last line's line feed away, on the sides that line stands on."""
        for mark, side in (("-", self.old), ("+", self.new)):
            if self.last in (mark, " ") and side:
                side[-1] = side[-1].removesuffix("\n")


def parse_unified_diff(text: str) -> tuple[Edit, ...]:
    """Read every hunk of a diff, in order; prose and code fences around it are ignored.

    Raises
    ------
    MalformedPatchError
        There is no hunk, or one comes before any file name.
    """
    reader = _Reader(text.split("\n"))
    edits = reader.read()
    if not edits:
        raise MalformedPatchError("no hunk of a unified diff in the text")
    return edits


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0
        self._edits: list[Edit] = []
        self._header = _FileHeader()

    def read(self) -> tuple[Edit, ...]:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith("diff --git "):
                self._git_header()
            elif self._is_file_header(self._at):
                self._file_header()
            elif _HUNK.match(line):
                self._hunk(self._at + 1)
            else:
                self._at += 1
        return tuple(self._edits)

    def _git_header(self) -> None:
        """Read ``diff --git`` and the extended lines up to the first hunk or file header."""
        self._header = _FileHeader(*_git_names(self._line(self._at)))
        self._at += 1
        is_new = is_deleted = False
        while self._at < len(self._lines) and not self._starts_something(self._at):
            line = self._line(self._at)
            is_new |= line.startswith("new file")
            is_deleted |= line.startswith("deleted file")
            if line.startswith("rename from "):
                self._header.old = unquote_path(line.removeprefix("rename from "))
            elif line.startswith("rename to "):
                self._header.new = unquote_path(line.removeprefix("rename to "))
                self._rename()
            self._at += 1
        if not self._has_hunk_next():
            self._empty_file(is_new=is_new, is_deleted=is_deleted)

    def _line(self, at: int) -> str:
        """Return a header line; Windows tools end it in CR LF."""
        return self._lines[at].removesuffix("\r")

    def _rename(self) -> None:
        self._header.is_rename = True
        old, new = self._header.old, self._header.new
        self._edits.append(Edit(old, "", "", kind=EditKind.RENAME, new_path=new))

    def _has_hunk_next(self) -> bool:
        at = self._at
        return at < len(self._lines) and not self._lines[at].startswith("diff --git ")

    def _empty_file(self, *, is_new: bool, is_deleted: bool) -> None:
        """Note a file that came or went without a line in it."""
        if is_new:
            self._edits.append(Edit(self._header.new, "", "", kind=EditKind.CREATE))
        elif is_deleted:
            self._edits.append(Edit(self._header.old, "", "", kind=EditKind.DELETE))

    def _is_file_header(self, at: int) -> bool:
        pair = self._lines[at : at + 2]
        return len(pair) == 2 and pair[0].startswith("--- ") and pair[1].startswith("+++ ")

    def _starts_something(self, at: int) -> bool:
        line = self._lines[at]
        if line.startswith(("diff --git ", "@@")):
            return True
        return self._is_file_header(at)

    def _file_header(self) -> None:
        old = _header_name(self._line(self._at).removeprefix("--- "))
        new = _header_name(self._line(self._at + 1).removeprefix("+++ "))
        if not self._header.is_rename:
            self._header = _FileHeader(*_without_prefixes(old, new))
        self._at += 2
        if self._at < len(self._lines) and self._lines[self._at][:1] in ("+", "-", " "):
            self._hunk(self._at)

    def _hunk(self, start: int) -> None:
        """Read the hunk whose lines begin at `start`; its header, if any, is the line before."""
        if not (self._header.old or self._header.new):
            raise MalformedPatchError(f"line {start}: a hunk before any file name", line=start)
        match = _HUNK.match(self._lines[start - 1]) if start else None
        counted = _read_counted(self._lines, start, match) if match else None
        hunk, self._at = counted or self._read_loosely(start)
        if hunk.old or hunk.new:
            self._edits.append(self._edit(hunk, match))

    def _read_loosely(self, start: int) -> tuple[_Hunk, int]:
        hunk = _Hunk()
        end = start
        while end < len(self._lines) and not self._starts_something(end):
            if self._lines[end].startswith("```"):
                break
            end += 1
        last = end
        while last > start and not self._lines[last - 1].strip("\r"):
            last -= 1
        for line in self._lines[start:last]:
            _take(hunk, line)
        return hunk, max(end, start)

    def _edit(self, hunk: _Hunk, match: re.Match[str] | None) -> Edit:
        search, replace = "".join(hunk.old), "".join(hunk.new)
        header = self._header
        if header.old == _DEV_NULL:
            return Edit(header.new, "", replace, kind=EditKind.CREATE)
        if header.new == _DEV_NULL:
            return Edit(header.old, search, "", kind=EditKind.DELETE)
        line = int(match[1]) if match and match[1] else None
        if line is not None and match and match[2] == "0":
            line += 1  # of an empty range git names the line before it
        return Edit(header.new if header.is_rename else header.old, search, replace, line)


def _read_counted(
    lines: Sequence[str], start: int, match: re.Match[str]
) -> tuple[_Hunk, int] | None:
    """Read a hunk by its header's counts; `None` if it does not keep to them."""
    if match[1] is None:
        return None
    left, right = (int(match[group] or 1) for group in (2, 4))
    hunk = _Hunk()
    at = start
    while len(hunk.old) < left or len(hunk.new) < right:
        if at >= len(lines) or lines[at][:1] not in (" ", "+", "-", _NO_NEWLINE, "", "\r"):
            return None
        _take(hunk, lines[at])
        at += 1
    if at < len(lines) and lines[at].startswith(_NO_NEWLINE):
        hunk.cut_newline()
        at += 1
    is_exact = (len(hunk.old), len(hunk.new)) == (left, right)
    return (hunk, at) if is_exact and not _goes_on(lines, at) else None


def _goes_on(lines: Sequence[str], at: int) -> bool:
    """Whether more hunk lines follow where the counts say it ends, so that they must be wrong."""
    line = lines[at] if at < len(lines) else ""
    is_header = line.startswith("--- ") and lines[at + 1 : at + 2] and lines[at + 1][:4] == "+++ "
    is_signature = line.rstrip() == "--"  # git format-patch ends in one
    return line[:1] in ("+", "-", " ") and not is_header and not is_signature


def _take(hunk: _Hunk, line: str) -> None:
    if line.startswith(_NO_NEWLINE) and "newline" in line:
        hunk.cut_newline()
    elif line[:1] in ("+", "-", " "):
        hunk.add(line[0], line[1:])
    else:
        hunk.add(" ", line)  # the space before a context line is easily lost


def _header_name(field_text: str) -> str:
    """Return the path of a ``---`` or ``+++`` line, without the time stamp some tools add."""
    return unquote_path(field_text.split("\t", 1)[0].rstrip())


def _without_prefixes(old: str, new: str) -> tuple[str, str]:
    """Drop ``a/`` and ``b/`` when both sides carry theirs."""
    old_bare, new_bare = old.removeprefix("a/"), new.removeprefix("b/")
    has_old = old_bare != old or old == _DEV_NULL
    has_new = new_bare != new or new == _DEV_NULL
    return (old_bare, new_bare) if has_old and has_new else (old, new)


def _git_names(line: str) -> tuple[str, str]:
    """Split ``diff --git a/x b/x``: quoted names, or two equal halves, or the last ``b/``."""
    rest = line.removeprefix("diff --git ")
    quoted = re.fullmatch(r'("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)', rest)
    if quoted:
        return _without_prefixes(unquote_path(quoted[1]), unquote_path(quoted[2]))
    half = len(rest) // 2
    old, new = rest[:half], rest[half + 1 :]
    if old.removeprefix("a/") == new.removeprefix("b/"):
        return _without_prefixes(old, new)
    head, _, tail = rest.rpartition(" b/")
    return head.removeprefix("a/"), tail
