"""Applying edits to files: all of them or none, and nothing outside of them changes by a byte."""

from __future__ import annotations

import ast
import difflib
import warnings
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from indexes.model import PYTHON_SUFFIXES
from repair.errors import MalformedPatchError
from repair.patch.diff import build_patch
from repair.patch.matching import Match, find_matches, reindent
from repair.patch.model import (
    Edit,
    EditKind,
    EditStatus,
    FileChange,
    Files,
    PatchOutcome,
)
from repair.patch.search_replace import has_search_replace, parse_search_replace
from repair.patch.source_text import (
    SourceText,
    line_end,
    read_source,
    split_lines,
    without_end,
)
from repair.patch.unified import parse_unified_diff


class _Rejection(Exception):  # noqa: N818 - control flow inside this module, never leaves it
    def __init__(self, status: EditStatus, path: str, message: str) -> None:
        super().__init__(message)
        self.outcome = PatchOutcome(status, path=path, message=message)


def apply_edits(files: Files, edits: Iterable[Edit]) -> PatchOutcome:
    """Apply edits in order; a later edit of a file sees what earlier ones made of it.

    Parameters
    ----------
    files
        The repository's files by path; never changed.
    edits
        What `parse_search_replace` or `parse_unified_diff` read.

    Returns
    -------
    PatchOutcome
        ``applied`` with the patch, or the first edit's failure. Python files that parsed before
        have to parse afterwards.
    """
    work = _Work(files)
    try:
        for edit in edits:
            work.apply(edit)
        patch = build_patch(work.changes())
        if not patch.changes:
            return PatchOutcome(EditStatus.NO_CHANGE, message="the files stay as they are")
        for change in patch.changes:
            _check_syntax(change)
    except _Rejection as rejection:
        return rejection.outcome
    return PatchOutcome(EditStatus.APPLIED, patch)


def apply_reply(files: Files, text: str) -> PatchOutcome:
    """Read a reply's search/replace blocks, or else its unified diff, and apply them."""
    is_blocks = has_search_replace(text)
    parse = parse_search_replace if is_blocks else parse_unified_diff
    try:
        edits = parse(text)
    except MalformedPatchError as error:
        return PatchOutcome(EditStatus.MALFORMED, message=error.message)
    return apply_edits(files, edits)


def is_safe_path(path: str) -> bool:
    """Whether a path stays inside the repository and out of git's own folder."""
    parts = PurePosixPath(path).parts
    if not parts or "\0" in path or path.startswith("/") or ".." in parts:
        return False
    has_drive = len(path) > 1 and path[1] == ":"
    return ".git" not in {part.lower() for part in parts} and "\\" not in path and not has_drive


class _Work:
    """The files as they become, edit by edit."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._new: dict[str, bytes | None] = {}
        self._offsets: dict[str, int] = {}

    def changes(self) -> list[FileChange]:
        return [FileChange(path, self._files.get(path), new) for path, new in self._new.items()]

    def apply(self, edit: Edit) -> None:
        for path in filter(None, (edit.path, edit.new_path)):
            if not is_safe_path(path):
                raise _Rejection(
                    EditStatus.OUTSIDE_REPOSITORY, path, "the path leads out of the repository"
                )
        path = self._resolve(edit.path)
        match edit.kind:
            case EditKind.CREATE:
                self._create(path, edit)
            case EditKind.DELETE:
                self._delete(path, edit)
            case EditKind.RENAME:
                self._rename(path, edit)
            case EditKind.REPLACE:
                self._replace(path, edit)

    def _resolve(self, path: str) -> str:
        """Return the file meant: the path itself, or without ``a/`` or ``b/`` if that is one."""
        clean = str(PurePosixPath(path))
        if self._current(clean) is None and clean.startswith(("a/", "b/")):
            return clean[2:] if self._current(clean[2:]) is not None else clean
        return clean

    def _current(self, path: str) -> bytes | None:
        return self._new[path] if path in self._new else self._files.get(path)

    def _create(self, path: str, edit: Edit) -> None:
        if self._current(path):
            raise _Rejection(EditStatus.DOES_NOT_MATCH, path, "the file to create exists")
        self._new[path] = edit.replace.encode("utf-8", "surrogateescape")

    def _delete(self, path: str, edit: Edit) -> None:
        current = self._existing(path)
        wanted = [without_end(line) for line in split_lines(edit.search)]
        actual = [without_end(line) for line in read_source(current).lines]
        if [line.rstrip() for line in wanted] != [line.rstrip() for line in actual]:
            raise _Rejection(EditStatus.DOES_NOT_MATCH, path, "the file to delete has other lines")
        self._new[path] = None

    def _rename(self, path: str, edit: Edit) -> None:
        current = self._existing(path)
        if self._current(edit.new_path) is not None:
            raise _Rejection(EditStatus.DOES_NOT_MATCH, edit.new_path, "the new name is taken")
        self._new[path], self._new[edit.new_path] = None, current

    def _existing(self, path: str) -> bytes:
        current = self._current(path)
        if current is None:
            raise _Rejection(EditStatus.UNKNOWN_FILE, path, "no such file in the repository")
        return current

    def _replace(self, path: str, edit: Edit) -> None:
        if not edit.search and edit.line is None and not self._current(path):
            self._create(path, edit)
            return
        source = read_source(self._existing(path))
        hint = None if edit.line is None else edit.line - 1 + self._offsets.get(path, 0)
        match = _find(path, source, edit, hint)
        lines = _spliced(source, edit, match)
        self._offsets[path] = self._offsets.get(path, 0) + len(lines) - len(source.lines)
        try:
            self._new[path] = source.encode(lines)
        except UnicodeEncodeError as error:
            message = f"the file is {source.encoding}, which has no {error.object[error.start]!r}"
            raise _Rejection(EditStatus.MALFORMED, path, message) from error


def _find(path: str, source: SourceText, edit: Edit, hint: int | None) -> Match:
    search = [without_end(line) for line in split_lines(edit.search)]
    if not search:
        if hint is None or not 0 <= hint <= len(source.lines):
            raise _Rejection(EditStatus.DOES_NOT_MATCH, path, "nothing to search for")
        return Match(hint, hint, ())
    lines = [without_end(line) for line in source.lines]
    matches = find_matches(lines, search)
    if len(matches) > 1:
        hinted = [m for m in matches if hint is not None and m.start - m.trimmed[0] == hint]
        if len(hinted) == 1:
            return hinted[0]
        places = ", ".join(str(match.start + 1) for match in matches[:5])
        raise _Rejection(
            EditStatus.AMBIGUOUS, path, f"{len(matches)} places match, at lines {places}"
        )
    if not matches:
        raise _Rejection(EditStatus.DOES_NOT_MATCH, path, _nearest(lines, search))
    return matches[0]


def _nearest(lines: Sequence[str], search: Sequence[str]) -> str:
    """Say which searched line the file does not have, and the most like one it has."""
    known = {line.strip() for line in lines}
    missing = next((line for line in search if line.strip() not in known), search[0]).strip()
    close = difflib.get_close_matches(missing, sorted(known)[:5000], n=1)
    hint = f"; the nearest is {close[0]!r}" if close else ""
    return f"the lines are not there; first missing: {missing!r}{hint}"


def _spliced(source: SourceText, edit: Edit, match: Match) -> list[str]:
    """Return the file's lines with the match replaced; lines the edit keeps stay as they are."""
    head, tail = match.trimmed
    replace = [without_end(line) for line in split_lines(edit.replace)]
    replace = _without_blank_ends(replace, head, tail)
    old = source.lines[match.start : match.end]
    newline = line_end(old[0]) if old and line_end(old[0]) else source.newline
    codes = difflib.SequenceMatcher(None, match.search, replace, autojunk=False).get_opcodes()
    middle: list[str] = []
    for tag, a, b, c, d in codes:
        if tag == "equal":
            middle += old[a:b]
        else:
            anchors = [_anchor(match, min(a + k, b - 1) if b > a else a - 1) for k in range(d - c)]
            middle += [
                _fresh(line, match, source, anchor) + newline
                for line, anchor in zip(replace[c:d], anchors, strict=True)
            ]
    lines = [*source.lines[: match.start], *middle, *source.lines[match.end :]]
    is_at_end = match.end == len(source.lines)
    return _with_line_ends(lines, newline, _ends_in_newline(source, edit) if is_at_end else None)


def _without_blank_ends(replace: list[str], head: int, tail: int) -> list[str]:
    """Drop as many blank lines as the search lost at its ends: they mirror those."""
    start = 0
    while start < min(head, len(replace)) and not replace[start].strip():
        start += 1
    end = len(replace)
    while end > start and len(replace) - end < tail and not replace[end - 1].strip():
        end -= 1
    return replace[start:end]


def _anchor(match: Match, index: int) -> int:
    """Return the searched line whose shift a new line shares: `index`, or the next with text."""
    full = [i for i, line in enumerate(match.search) if line.strip()]
    return min(full, key=lambda i: (abs(i - index), i), default=0)


def _fresh(line: str, match: Match, source: SourceText, anchor: int) -> str:
    """Return a new line at the indentation that fits the place found."""
    if not match.is_shifted:
        return line
    found = without_end(source.lines[match.start + anchor])
    return reindent(line, search=match.search[anchor], found=found)


def _ends_in_newline(source: SourceText, edit: Edit) -> bool | None:
    """Whether the file ends in a line end after an edit of its last line; `None`: as it comes.

    A diff can say so on both sides. Where it says nothing of a change, the file keeps its way.
    """
    if not edit.replace:
        return None
    asked = edit.replace.endswith("\n")
    if not edit.search or asked != edit.search.endswith("\n"):
        return asked
    return bool(line_end(source.lines[-1]))


def _with_line_ends(lines: list[str], newline: str, ends: bool | None) -> list[str]:
    """Give all lines but the last an end, and the last one as `ends` says, if it says."""
    body = [line if line_end(line) else line + newline for line in lines[:-1]]
    if not lines:
        return []
    last = lines[-1]
    if ends is True and not line_end(last):
        last += newline
    elif ends is False:
        last = without_end(last)
    return [*body, last]


def _check_syntax(change: FileChange) -> None:
    """Reject a Python file that parsed before, or is new, and does not parse now."""
    if change.new is None or not change.path.endswith(PYTHON_SUFFIXES):
        return
    error = syntax_error(change.new)
    if error and (change.old is None or syntax_error(change.old) is None):
        raise _Rejection(EditStatus.DOES_NOT_PARSE, change.path, error)


def syntax_error(data: bytes) -> str | None:
    """Return the message of a Python source's syntax error; `None` if it parses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(data)
        except SyntaxError as error:
            return f"line {error.lineno}: {error.msg}"
        except (ValueError, RecursionError, MemoryError) as error:
            return f"the parser gave up: {error}"
    return None
