"""Places that the issue points at: paths, modules, traceback frames, permalinks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from graphloc.issue import Frame, Place
from graphloc.localization.query import Floats, Query
from graphloc.localization.signals.base import Column, SignalColumns

_FRAME_DECAY = 0.75
"""Worth of a frame compared with the one below it, nearer to the failure."""
_MOST_FILES = 8
"""A path that more files end with (``__init__.py``) points nowhere."""


class PathSignal:
    """File paths and dotted module names that the issue mentions."""

    name = "paths"

    def compute(self, query: Query) -> SignalColumns:
        """Columns ``mentioned_path`` and ``mentioned_module`` of files."""
        path, module = np.zeros(query.n_files, np.float32), np.zeros(query.n_files, np.float32)
        said: dict[int, str] = {}
        for mention in query.issue.paths:
            worth = 0.5 if mention.place == Place.TRACEBACK else 1.0
            for file, share in find_files(query, mention.suffixes):
                path[file] = max(path[file], worth * share)
                said.setdefault(file, mention.path)
        for dotted in _modules(query):
            for file, share in _module_files(query, dotted):
                module[file] = max(module[file], share)
                said.setdefault(file, dotted)

        def explain(file: int) -> str:
            return f"the issue mentions {said[file]}" if file in said else ""

        columns = (
            Column("mentioned_path", path, explain),
            Column("mentioned_module", module, explain),
        )
        return SignalColumns(files=columns)


def find_files(query: Query, suffixes: tuple[str, ...]) -> Iterator[tuple[int, float]]:
    """(file, share) of the files that the longest fitting suffix of a path means."""
    for suffix in suffixes:
        files = query.names.find_files(suffix)
        if files:
            if len(files) <= _MOST_FILES:
                full = 1.0 if "/" in suffix or len(files) == 1 else 0.7
                for file in files:
                    yield file, full / len(files) ** 0.5
            return


def _modules(query: Query) -> list[str]:
    names = [i.name for i in query.issue.identifiers if "." in i.name]
    names += [*query.issue.code.imported, *query.issue.code.qualified]
    names += [link.anchor for link in query.issue.documentation if link.anchor]
    return list(dict.fromkeys(names))


def _module_files(query: Query, dotted: str) -> Iterator[tuple[int, float]]:
    """Files of the longest leading part of a dotted name that is a module."""
    parts = dotted.split(".")
    for end in range(len(parts), 1, -1):
        stem = "/".join(parts[:end])
        for suffix in (f"{stem}.py", f"{stem}/__init__.py"):
            files = query.names.find_files(suffix)
            if files:
                share = 1.0 if suffix.endswith(f"/{parts[end - 1]}.py") else 0.5
                for file in files[:_MOST_FILES]:
                    yield file, share / len(files)
                return


class FrameSignal:
    """Traceback frames: the nearer to the failure, the stronger."""

    name = "traceback"

    def compute(self, query: Query) -> SignalColumns:
        """Columns ``frame`` (every frame) and ``last_frame`` (nearest in this repository)."""
        entities = query.snapshot.entities
        every, last = (np.zeros(len(entities), np.float32) for _ in range(2))
        file_every, file_last = (np.zeros(query.n_files, np.float32) for _ in range(2))
        said: dict[int, str] = {}
        seen: set[int] = set()
        for frame in sorted(query.issue.frames, key=lambda f: (f.traceback, f.position)):
            files = [file for file, _ in find_files(query, frame.suffixes)]
            if not files:
                continue
            is_last = frame.traceback not in seen
            seen.add(frame.traceback)
            worth = _FRAME_DECAY**frame.position / len(files)
            for file in files:
                file_every[file] += worth
                file_last[file] = max(file_last[file], float(is_last))
                row = _frame_row(query, file, frame)
                every[row] += worth
                last[row] = max(last[row], float(is_last))
                said.setdefault(row, _describe(frame))
        explain = _explain_from(said)
        files_said = {int(query.files[row]): text for row, text in said.items()}
        return SignalColumns(
            entities=(Column("frame", every, explain), Column("last_frame", last, explain)),
            files=(
                Column("file_frame", file_every, _explain_from(files_said)),
                Column("file_last_frame", file_last, _explain_from(files_said)),
            ),
        )


def _frame_row(query: Query, file: int, frame: Frame) -> int:
    """The entity a frame is in: by name where the line has moved, else by line."""
    entities = query.snapshot.entities
    rows = entities.rows_of_file(file)
    named = [row for row in rows[1:] if entities.names[row].rpartition(".")[2] == frame.function]
    if frame.line is not None:
        at = entities.at_line(file, frame.line)
        if not named or at in named:
            return at
        return min(named, key=lambda row: abs(int(entities.starts[row]) - (frame.line or 0)))
    return named[0] if named else rows[0]


def _describe(frame: Frame) -> str:
    line = f":{frame.line}" if frame.line is not None else ""
    function = f" in {frame.function}" if frame.function else ""
    depth = "nearest to the failure" if frame.position == 0 else f"{frame.position + 1} from it"
    return f"frame {frame.path}{line}{function}, {depth}"


def _explain_from(said: dict[int, str]) -> Callable[[int], str]:
    def explain(number: int) -> str:
        return said.get(number, "")

    return explain


class PermalinkSignal:
    """Links to lines of files on a forge."""

    name = "permalinks"

    def compute(self, query: Query) -> SignalColumns:
        """Columns ``linked`` of entities and ``file_linked`` of files."""
        entities = query.snapshot.entities
        linked = np.zeros(len(entities), np.float32)
        file_linked = np.zeros(query.n_files, np.float32)
        said: dict[int, str] = {}
        for link in query.issue.permalinks:
            suffixes = (link.path, *_tails(link.path))
            for file, share in find_files(query, suffixes):
                file_linked[file] = max(file_linked[file], share)
                row = entities.rows_of_file(file)[0]
                if link.start_line is not None:
                    row = entities.at_line(file, link.end_line or link.start_line)
                linked[row] = max(linked[row], share)
                said[row] = f"link to {link.path}"
        files_said: dict[int, str] = {int(query.files[row]): text for row, text in said.items()}
        return SignalColumns(
            entities=(Column("linked", linked, _explain_from(said)),),
            files=(Column("file_linked", file_linked, _explain_from(files_said)),),
        )


def _tails(path: str) -> tuple[str, ...]:
    parts = path.split("/")
    return tuple("/".join(parts[start:]) for start in range(1, len(parts)))


class MessageSignal:
    """Error messages and other quoted text that occur in string literals."""

    name = "messages"

    def compute(self, query: Query) -> SignalColumns:
        """Columns ``message`` of entities and ``file_message`` of files."""
        entities = query.snapshot.entities
        found: Floats = np.zeros(len(entities), np.float32)
        said: dict[int, str] = {}
        text = "\n".join(
            [
                query.issue.title,
                query.issue.body,
                *(error.message for error in query.issue.errors),
            ]
        )
        for match in query.snapshot.phrases.find_matches(text):
            found[match.doc] = match.score * match.coverage
            said[match.doc] = f"string literal: {' '.join(match.text.split())[:80]}"
        files_said: dict[int, str] = {}
        for row, words in said.items():
            files_said.setdefault(int(query.files[row]), words)
        return SignalColumns(
            entities=(Column("message", found, _explain_from(said)),),
            files=(Column("file_message", query.best_per_file(found), _explain_from(files_said)),),
        )
