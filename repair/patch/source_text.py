"""A file's bytes as lines of text and back, losing nothing.

The encoding is the one Python would use (byte order mark, coding line, UTF-8), and is believed
only if it gives the same bytes back; otherwise Latin-1 is used, in which every byte is a character.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from dataclasses import dataclass

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")  # PEP 263
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True, slots=True)
class SourceText:
    """Decoded lines, each with its own line end, and what is needed to encode them again."""

    lines: tuple[str, ...]
    encoding: str
    mark: bytes = b""
    """Byte order mark, kept in front."""

    @property
    def newline(self) -> str:
        """The line end most lines have; ``\\n`` for a file without any."""
        ends = Counter(line_end(line) for line in self.lines)
        ends.pop("", None)
        return ends.most_common(1)[0][0] if ends else "\n"

    def encode(self, lines: list[str] | tuple[str, ...]) -> bytes:
        """Return the bytes of other lines in this file's encoding.

        Raises
        ------
        UnicodeEncodeError
            A character that the file's encoding does not have.
        """
        return self.mark + "".join(lines).encode(self.encoding)


def read_source(data: bytes) -> SourceText:
    """Decode a file so that encoding its lines gives `data` again, always."""
    mark, encoding = next(((m, e) for m, e in _MARKS if data.startswith(m)), (b"", ""))
    body = data[len(mark) :]
    for candidate in (encoding or _coding_line(body) or "utf-8", "utf-8"):
        text = _decoded(body, candidate)
        if text is not None:
            return SourceText(split_lines(text), candidate, mark)
    return SourceText(split_lines(body.decode("latin-1")), "latin-1", mark)


def split_lines(text: str) -> tuple[str, ...]:
    """Split at CR LF, CR and LF only, line ends kept; form feeds and the like are no line ends."""
    return tuple(_LINE.findall(text))


def line_end(line: str) -> str:
    """Return a line's own end: two, one or no characters."""
    if line.endswith("\r\n"):
        return "\r\n"
    return line[-1:] if line[-1:] in ("\r", "\n") else ""


def without_end(line: str) -> str:
    """Return a line without its end."""
    return line.removesuffix("\n").removesuffix("\r")


def _coding_line(body: bytes) -> str:
    for line in re.split(rb"\r\n|\r|\n", body[:1000], maxsplit=2)[:2]:
        match = _CODING.match(line)
        if match:
            return match[1].decode("ascii", "replace")
    return ""


def _decoded(body: bytes, encoding: str) -> str | None:
    try:
        text = body.decode(encoding)
        return text if isinstance(text, str) and text.encode(encoding) == body else None
    except (LookupError, UnicodeError, ValueError):
        return None
