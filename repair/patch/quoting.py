"""Git's C-style quoting of path names in diffs.

Reference: ``core.quotePath`` in https://git-scm.com/docs/git-config and the "quoted" names of
https://git-scm.com/docs/diff-format.
"""

from __future__ import annotations

import os
import re

_ESCAPES = {
    ord("\a"): b"\\a",
    ord("\b"): b"\\b",
    ord("\t"): b"\\t",
    ord("\n"): b"\\n",
    ord("\v"): b"\\v",
    ord("\f"): b"\\f",
    ord("\r"): b"\\r",
    ord('"'): b'\\"',
    ord("\\"): b"\\\\",
}
_UNESCAPES = {escape[1:]: bytes([byte]) for byte, escape in _ESCAPES.items()}
_ESCAPED = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)


def quote_path(path: str) -> bytes:
    """Return a path as git writes it in a header: in quotes if any byte of it needs them."""
    raw = os.fsencode(path)
    if all(0x20 <= byte < 0x7F and byte not in _ESCAPES for byte in raw):
        return raw
    return b'"' + b"".join(_quoted(byte) for byte in raw) + b'"'


def unquote_path(text: str) -> str:
    """Inverse of `quote_path`, for decoded text; a name without quotes is returned as it is."""
    if len(text) < 2 or not (text.startswith('"') and text.endswith('"')):
        return text
    raw = _ESCAPED.sub(_unescaped, text[1:-1].encode("utf-8", "surrogateescape"))
    return os.fsdecode(raw)


def _quoted(byte: int) -> bytes:
    if byte in _ESCAPES:
        return _ESCAPES[byte]
    return bytes([byte]) if 0x20 <= byte < 0x7F else b"\\%03o" % byte


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if len(code) == 3:
        return bytes([int(code, 8) & 0xFF])
    return _UNESCAPES.get(code, code)
