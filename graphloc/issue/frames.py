"""How one frame looks in each tool's traceback.

A style reads the lines from a row on and returns what it recognises there. All of them tolerate
quote marks, exception groups' margins and log prefixes in front.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

MARGIN = " \t>|+│┃╎❱"
_MAX_LINE = 5_000
_SOURCE_ROWS = 14
"""Context that IPython and rich show around the failing line is at most this long in practice."""

_CPYTHON = re.compile(
    r"File [\"“”'](?P<path>[^\"“”\n]{1,500})[\"“”'],?\s? ?line (?P<line>\d{1,9})"
    r"(?:,? in (?P<function>[\w.<>]{1,300}))?"
)
_CPYTHON_OPEN = re.compile(
    r"File [\"“][^\"“”\n]{1,500}$|File [\"“][^\"“”\n]{1,500}[\"”], ?(?:line)?$"
)
_IPYTHON_FILE = re.compile(
    r"^File (?P<path>[^\"'\n]{1,500}?):(?P<line>\d{1,9})(?:, in (?P<function>[\w.<>]+))?"
)
_IPYTHON_CELL = re.compile(
    r"^(?:Cell |Input )(?P<path>In ?\[\d*\])(?:, in (?P<function>[\w.<>]+(?: line: ?\d+>)?))?"
    r"(?:, line (?P<line>\d{1,9}))?"
)
_IPYTHON_OLD = re.compile(
    r"^(?P<path>\S.{0,400}?\.(?:py|pyx|pxi|pxd|ipynb)|<ipython-input-[^>\s]{1,80}>)"
    r" in (?P<function>[\w.<>]+) ?\("
)
_ARROW = re.compile(r"^\s*(?:-{1,8}>|❱) ?(?P<line>\d{1,9})(?: (?P<code>.*))?$")
_PYTEST = re.compile(
    r"^(?P<path>[^\s:\"']{1,400}\.pyx?):(?P<line>\d{1,9}):"
    r"(?: (?:in (?P<function>[\w.<>]+)|[\w.]+))?\s*$"
)
_RICH = re.compile(r"^(?P<path>[^\s:\"']{1,400}\.pyx?):(?P<line>\d{1,9}) in (?P<function>[\w.<>]+)")
_PDB = re.compile(
    r"^(?P<path>[^\s\"'(]{1,400}\.pyx?)\((?P<line>\d{1,9})\)(?P<function>[\w<>]+)\(\)"
)
_TWISTED = re.compile(
    r"^(?P<path>[^\s:\"']{1,400}\.pyx?):(?P<line>\d{1,9}):(?P<function>[A-Za-z_]\w*)\s*$"
)
_PY_SPY = re.compile(
    r"^(?P<function>[\w.<>]{1,200}) \((?P<path>[^()\s:]{1,400}\.pyx?):(?P<line>\d{1,9})\)"
)
_DEFINITION = re.compile(r"^\s*(?:async )?def (?P<name>\w+)")
_HINT = re.compile(r"\.py|\.px|File |Cell In|Input In|<ipython|\.ipynb")
_MARKS_ONLY = re.compile(r"^[\s~^|]*$")


@dataclass(frozen=True, slots=True)
class FoundFrame:
    """A frame before its traceback is known."""

    style: str
    path: str
    line: int | None
    function: str | None
    code: str | None
    start: int
    """Row of its first line."""
    end: int
    """Row behind its last line."""
    prefix: str = ""
    """What stands before it in its line: indentation, margin, log prefix."""


Style = Callable[[Sequence[str], int], list[FoundFrame]]


def find_frames_at(lines: Sequence[str], row: int) -> list[FoundFrame]:
    """Return the frames that begin in a row; more than one if line breaks were lost."""
    line = lines[row]
    if _HINT.search(line) is None:
        return []
    if len(line) > _MAX_LINE:
        return _read_cpython(lines, row)
    return next((found for style in _STYLES if (found := style(lines, row))), [])


def strip_margin(line: str) -> str:
    """Return a line without what quoting, exception groups and boxes put in front of it."""
    return line.lstrip(MARGIN)


def _read_cpython(lines: Sequence[str], row: int) -> list[FoundFrame]:
    line, end = lines[row], row + 1
    if "File " not in line:
        return []
    if _CPYTHON_OPEN.search(line[-520:]) and end < len(lines):
        line, end = _join_wrapped(line, lines[end]), end + 1
    matches = list(_CPYTHON.finditer(line))
    found = []
    for number, match in enumerate(matches):
        last = number + 1 == len(matches)
        tail = line[match.end() : None if last else matches[number + 1].start()].strip(" \\,")
        prefix = line[: match.start()] if not number else ""
        code, after = (tail or None, end)
        if last and not code:
            code, after = _code_below(lines, end, prefix)
        found.append(_frame("cpython", match, code=code, start=row, end=after, prefix=prefix))
    return found


def _join_wrapped(line: str, follower: str) -> str:
    gap = " " if line.endswith((",", '"', "”", "line")) else ""
    return line + gap + follower.strip(MARGIN)


def _code_below(lines: Sequence[str], row: int, prefix: str) -> tuple[str | None, int]:
    """Return the source line under a frame, if there is one, and the row behind it."""
    if row >= len(lines) or len(lines[row]) > _MAX_LINE:
        return None, row
    line = strip_prefix(lines[row], prefix)
    indentation = len(prefix) - len(prefix.rstrip(" "))
    deeper = len(line) - len(line.lstrip(" \t"))
    code = strip_margin(line).strip()
    is_code = deeper > indentation or (deeper == indentation and not looks_like_error(code))
    if (
        not code
        or not is_code
        or _CPYTHON.search(code)
        or code.startswith(("Traceback (", "[Previous line"))
    ):
        return None, row
    while row + 1 < len(lines) and "^" in lines[row + 1] and _MARKS_ONLY.match(lines[row + 1]):
        row += 1
    return code, row + 1


def strip_prefix(line: str, prefix: str) -> str:
    """Return `line` without a log prefix of the shape of `prefix`, keeping its indentation."""
    log = prefix.rstrip(" ")
    if not log:
        return line
    start = line[: len(log)]
    return line[len(log) :] if _shape(start) == _shape(log) else line


def _shape(text: str) -> str:
    return re.sub(r"\d", "0", text)


_ERROR_START = re.compile(
    r"^(?:[\w.]*(?:Error|Exception|Warning|Interrupt|Exit)\b|[a-z_]\w*(?:\.\w+)+: )"
)


def looks_like_error(line: str) -> bool:
    """Whether a line begins as a traceback's last line does."""
    return _ERROR_START.match(line) is not None


def _read_ipython(lines: Sequence[str], row: int) -> list[FoundFrame]:
    line = strip_margin(lines[row])
    for pattern in (_IPYTHON_FILE, _IPYTHON_CELL, _IPYTHON_OLD):
        match = pattern.match(line)
        if match is None:
            continue
        number, code, end = _arrow_below(lines, row + 1)
        groups = match.groupdict()
        at = int(groups["line"]) if groups.get("line") else number
        prefix = lines[row][: len(lines[row]) - len(line)]
        return [_frame("ipython", match, code=code, start=row, end=end, prefix=prefix, line=at)]
    return []


def _arrow_below(lines: Sequence[str], row: int) -> tuple[int | None, str | None, int]:
    """Find the line that IPython's or rich's arrow marks before the next blank line."""
    for at in range(row, min(row + _SOURCE_ROWS, len(lines))):
        text = lines[at].strip("│┃ ").lstrip("> ") if len(lines[at]) < _MAX_LINE else ""
        arrow = _ARROW.match(text)
        if arrow is not None:
            code = (arrow["code"] or "").strip(" │┃")
            return int(arrow["line"]), code or None, at + 1
        if not text and at > row + 1:
            break
    return None, None, row


def _read_pytest(lines: Sequence[str], row: int) -> list[FoundFrame]:
    match = _PYTEST.match(strip_margin(lines[row]))
    if match is None:
        return []
    prefix = lines[row][: len(lines[row]) - len(strip_margin(lines[row]))]
    if match["function"]:
        code, end = _code_below(lines, row + 1, prefix)
        return [_frame("pytest", match, code=code, start=row, end=end, prefix=prefix)]
    function, code, start = _listing_above(lines, row)
    found = _frame("pytest", match, code=code, start=start, end=row + 1, function=function)
    return [found]


def _listing_above(lines: Sequence[str], row: int) -> tuple[str | None, str | None, int]:
    """Read the function's name and the failing line off the listing that pytest prints above."""
    code, start = None, row
    for at in range(row - 1, max(-1, row - 8 * _SOURCE_ROWS), -1):
        line = lines[at]
        if len(line) > _MAX_LINE or (line and not line.startswith((" ", ">", "E "))):
            break
        if code is None and line.startswith(">") and not line.startswith(">>"):
            code = line.lstrip("> ").rstrip()
        definition = _DEFINITION.match(line)
        if definition is not None:
            return definition["name"], code, at
        start = at if line else start
    return None, code, start


def _read_rich(lines: Sequence[str], row: int) -> list[FoundFrame]:
    match = _RICH.match(strip_margin(lines[row]))
    if match is None:
        return []
    _, code, end = _arrow_below(lines, row + 1)
    return [_frame("rich", match, code=code, start=row, end=end)]


def _read_pdb(lines: Sequence[str], row: int) -> list[FoundFrame]:
    match = _PDB.match(strip_margin(lines[row]))
    if match is None:
        return []
    below = lines[row + 1].strip() if row + 1 < len(lines) else ""
    has_code = below.startswith("-> ")
    code = below[3:] if has_code else None
    return [_frame("pdb", match, code=code, start=row, end=row + 1 + has_code)]


def _read_log(lines: Sequence[str], row: int) -> list[FoundFrame]:
    line = strip_margin(lines[row])
    if match := _TWISTED.match(line):
        return [_frame("twisted", match, code=None, start=row, end=row + 1)]
    if match := _PY_SPY.match(line):
        return [_frame("py-spy", match, code=None, start=row, end=row + 1)]
    return []


def _frame(
    style: str,
    match: re.Match[str],
    *,
    code: str | None,
    start: int,
    end: int,
    prefix: str = "",
    **known: int | str | None,
) -> FoundFrame:
    groups: dict[str, int | str | None] = {**match.groupdict(), **known}
    line, function = groups.get("line"), groups.get("function")
    return FoundFrame(
        style,
        match["path"].strip(),
        None if line is None else int(line),
        None if function is None else str(function),
        code,
        start,
        end,
        prefix,
    )


_STYLES: tuple[Style, ...] = (
    _read_cpython,
    _read_ipython,
    _read_pytest,
    _read_rich,
    _read_pdb,
    _read_log,
)
