"""Reading and writing search/replace blocks, the edit format chat models keep best.

::

    pkg/module.py
    <<<<<<< SEARCH
    old lines
    =======
    new lines
    >>>>>>> REPLACE

The name may stand before the code fence, behind the fence's language, behind the word SEARCH, as
``### name`` or ``File: name``, in back ticks or asterisks; a block without one continues the file
before it. Markers may be longer than seven characters, which is how lines that look like markers
are quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from repair.errors import MalformedPatchError
from repair.patch.model import Edit

_OPENING = re.compile(r"^\s*(<{5,})\s*(?:SEARCH|ORIGINAL|OLD)\b:?[ \t]*(.*?)\s*$", re.IGNORECASE)
_DIVIDER = re.compile(r"^\s*(={5,})\s*$")
_CLOSING = re.compile(r"^\s*(>{5,})\s*(?:REPLACE|UPDATED|NEW)?\s*$", re.IGNORECASE)
_FENCE = re.compile(r"^\s*(?:`{3,}|~{3,})\s*(.*?)\s*$")
_LABEL = re.compile(r"^(?:\d+[.)]\s+|[-*]\s+)?(?:#+\s+)?(?:(?:file|path|filename)\s*:\s*)?", re.I)
_LANGUAGES = frozenset({"python", "py", "diff", "text", "txt", "toml", "ini", "yaml", "json", "c"})
_MARKER_LENGTH = 7
_NAME_DISTANCE = 3
"""A name stands at most this many non-blank lines above its block: name, fence, one remark."""


def has_search_replace(text: str) -> bool:
    """Whether a block opens anywhere in the text; a diff of one does not count."""
    return any(map(_OPENING.match, text.splitlines()))


def parse_search_replace(text: str) -> tuple[Edit, ...]:
    """Read all blocks of a reply, in order; prose around them is ignored.

    Raises
    ------
    MalformedPatchError
        There is no block, a block does not end, has no name before it or two dividers.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    edits: list[Edit] = []
    path = ""
    at = 0
    floor = 0
    while at < len(lines):
        opening = _OPENING.match(lines[at])
        if not opening:
            at += 1
            continue
        path = opening[2].strip("`*\"' ") or _name_above(lines, at, floor) or path
        if not path:
            raise MalformedPatchError(f"line {at + 1}: no file name before the block", line=at + 1)
        search, replace, at = _body(lines, at, len(opening[1]))
        edits.append(Edit(path, _joined(search), _joined(replace)))
        floor = at
    if not edits:
        raise MalformedPatchError("no <<<<<<< SEARCH block in the text")
    return tuple(edits)


def render_search_replace(edits: Iterable[Edit]) -> str:
    """Write edits as blocks; `parse_search_replace` reads the same edits back.

    Only path, search and replace are written, and their lines end in a line feed.
    """
    return "\n".join(_rendered(edit) for edit in edits)


def _rendered(edit: Edit) -> str:
    length = _marker_length(edit)
    return (
        f"{edit.path}\n{'<' * length} SEARCH\n{edit.search}{'=' * length}\n"
        f"{edit.replace}{'>' * length} REPLACE\n"
    )


def _marker_length(edit: Edit) -> int:
    runs = re.findall(r"^\s*([<=>])(\1*)", f"{edit.search}\n{edit.replace}", re.MULTILINE)
    longest = max((len(rest) + 1 for _, rest in runs), default=0)
    return max(_MARKER_LENGTH, longest + 1)


def _body(lines: Sequence[str], opened: int, length: int) -> tuple[list[str], list[str], int]:
    """Return search lines, replace lines and the line behind the block that opens at `opened`."""
    end = _find(lines, opened + 1, _CLOSING, length)
    if end is None:
        raise MalformedPatchError(f"line {opened + 1}: the block does not end", line=opened + 1)
    inner = range(opened + 1, end)
    dividers = [i for i in inner if _is_marker(lines[i], _DIVIDER, length)]
    if len(dividers) != 1:
        raise MalformedPatchError(
            f"line {opened + 1}: the block needs one ======= line and has {len(dividers)}",
            line=opened + 1,
        )
    middle = dividers[0]
    return list(lines[opened + 1 : middle]), list(lines[middle + 1 : end]), end + 1


def _find(lines: Sequence[str], start: int, marker: re.Pattern[str], length: int) -> int | None:
    found = (i for i in range(start, len(lines)) if _is_marker(lines[i], marker, length))
    return next(found, None)


def _is_marker(line: str, marker: re.Pattern[str], length: int) -> bool:
    """Whether a line is the marker; a block that opens with a quoting length keeps to it."""
    match = marker.match(line)
    if not match:
        return False
    return len(match[1]) == length if length > _MARKER_LENGTH else True


def _name_above(lines: Sequence[str], opened: int, floor: int) -> str:
    """Find the file name in the few lines above a block, not above `floor`."""
    seen = 0
    for i in range(opened - 1, floor - 1, -1):
        if not lines[i].strip():
            continue
        seen += 1
        if seen > _NAME_DISTANCE:
            break
        name = _name_of(lines[i], is_adjacent=seen == 1)
        if name:
            return name
    return ""


def _name_of(line: str, *, is_adjacent: bool) -> str:
    """Read one line as a file name; prose has to look like a path, the line next to it has not."""
    fence = _FENCE.match(line)
    if fence:
        info = fence[1].split(maxsplit=1)
        name = info[-1] if info and info[-1].lower() not in _LANGUAGES else ""
        return name if "." in name or "/" in name else ""
    ticked: list[str] = re.findall(r"`([^`]+)`", line)
    if len(ticked) == 1:
        return ticked[0].strip()
    bare = _LABEL.sub("", line.strip())
    name = bare.rstrip(":").strip().strip("*").rstrip(":")
    if " " not in name:
        is_word = is_adjacent and bare == name and name.lower() not in _LANGUAGES
        return name if is_word or "." in name or "/" in name else ""
    return name if is_adjacent and re.search(r"\.\w+$", name) else ""


def _joined(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
