"""Replacing a span of a file by new source, the rest of the file left as it is.

For edits that know their place, such as templates: no search, no regeneration of the whole file.
"""

from __future__ import annotations

from collections.abc import Sequence

from indexes.errors import InputError
from indexes.model import Span
from repair.patch.matching import indentation
from repair.patch.source_text import line_end, read_source, split_lines, without_end


def replace_lines(data: bytes, span: Span, source: str) -> bytes:
    """Replace whole lines by source code, indented as the span's first line with text is.

    Parameters
    ----------
    data
        The file, in any encoding `read_source` knows.
    span
        Lines to replace, 1-based, end inclusive.
    source
        New lines with ``\\n``, at any common indentation; empty to delete the span. The file's
        line ends, its byte order mark and a missing final line end are kept.

    Raises
    ------
    InputError
        The span is not inside the file, or the file's encoding lacks a character.
    """
    text = read_source(data)
    start, end = span.start_line - 1, span.end_line
    if not 0 <= start < end <= len(text.lines):
        raise InputError(
            f"lines {span.start_line}-{span.end_line} are not in a file of {len(text.lines)} lines"
        )
    old = text.lines[start:end]
    indent = indentation(next((line for line in old if line.strip()), ""))
    newline = line_end(old[0]) or text.newline
    fresh = [f"{line}{newline}" for line in indented(split_lines(source), indent)]
    if fresh and not line_end(old[-1]):
        fresh[-1] = without_end(fresh[-1])
    try:
        return text.encode([*text.lines[:start], *fresh, *text.lines[end:]])
    except UnicodeEncodeError as error:
        raise InputError(
            f"the file is {text.encoding}, which has no {error.object[error.start]!r}"
        ) from error


def replace_bytes(data: bytes, start: int, end: int, source: bytes) -> bytes:
    """Replace ``data[start:end]``, as a syntax tree's byte offsets give it.

    Raises
    ------
    InputError
        The offsets are not inside the file.
    """
    if not 0 <= start <= end <= len(data):
        raise InputError(f"bytes {start}-{end} are not in a file of {len(data)} bytes")
    return data[:start] + source + data[end:]


def indented(lines: Sequence[str], indent: str) -> list[str]:
    """Give lines `indent` in place of their common indentation; line ends are dropped.

    Blank lines become empty. Lines inside triple-quoted strings move too, like in an editor.
    """
    bare = [without_end(line) for line in lines]
    common = _common_indentation([line for line in bare if line.strip()])
    return [indent + line[len(common) :] if line.strip() else "" for line in bare]


def _common_indentation(lines: Sequence[str]) -> str:
    if not lines:
        return ""
    shortest = min((indentation(line) for line in lines), key=len)
    while not all(line.startswith(shortest) for line in lines):
        shortest = shortest[:-1]
    return shortest
