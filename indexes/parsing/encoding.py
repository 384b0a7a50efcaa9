"""From the bytes on disk to UTF-8 text with line feeds, whatever the editor wrote.

Python's own rules (PEP 263, https://peps.python.org/pep-0263/) say which encoding a source has. The
text keeps its line numbers: a lone carriage return ends a line for Python and becomes a line feed,
NUL bytes become spaces, and bytes that the declared encoding cannot decode become U+FFFD.
"""

from __future__ import annotations

import codecs
import re

_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decode_source(data: bytes) -> str:
    """Decode a source file; never fails. Line numbers are those Python would count."""
    text = _decode(data)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.replace("\0", " ") if "\0" in text else text


def _decode(data: bytes) -> str:
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data[len(bom) :].decode(encoding, "replace")
    if data.isascii():
        return data.decode("ascii")
    return data.decode(_declared_encoding(data), "replace")


def _declared_encoding(data: bytes) -> str:
    for line in data.split(b"\n", 2)[:2]:
        match = _CODING.match(line)
        if match:
            return _known_encoding(match.group(1).decode("ascii"))
    return "utf-8"


def _known_encoding(name: str) -> str:
    """The codec of that name, or UTF-8 where there is none or it is not a text encoding."""
    try:
        codec = codecs.lookup(name)
    except LookupError:
        return "utf-8"
    is_text = getattr(codec, "_is_text_encoding", True)
    return codec.name if is_text else "utf-8"
