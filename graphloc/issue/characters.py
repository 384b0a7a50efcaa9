"""Cleaning an issue's characters before anything else looks at them."""

from __future__ import annotations

import re

_ESCAPE_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-9;?]{0,32}[A-Za-z]|\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\))"
)
_PRINTED_COLOUR = re.compile(r"(?:\^\[|␛|\\x1b|\\033|\\u001b)\[[0-9;]{0,32}m")
_LINE_END = re.compile("\r\n|[\r\v\f\x85\u2028\u2029]")
_BLANK_RUN = re.compile(r"\n(?:[ \t]*+\n){4,}+")
_UNUSABLE = {
    **dict.fromkeys([*range(0x00, 0x09), *range(0x0E, 0x20), 0x7F, 0xA0, 0x3000], " "),
    **dict.fromkeys([0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0xAD]),
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}
_PRINTED_TRACEBACK = re.compile(r'\\n[ \\tn|+]{0,12}+File \\{0,3}["\']')
_PRINTED_NEWLINE = re.compile(r"\\{1,3}n")
_PRINTED_QUOTE = re.compile(r"\\{1,3}([\"'])")


def clean_text(text: str) -> str:
    r"""Return `text` with ``\n`` line ends only, fit for regular expressions and for any encoding.

    Terminal colours and zero-width characters go; NUL, other control characters and no-break
    spaces become spaces, lone surrogates U+FFFD; five empty lines or more become four. A
    traceback that stands in one line as a program printed it (``\n  File \"a.py\", line 1``) is
    set in lines. Linear in the text's length.
    """
    text = _LINE_END.sub("\n", text)
    if "\x1b" in text:
        text = _ESCAPE_SEQUENCE.sub("", text)
    text = _PRINTED_COLOUR.sub("", text)
    text = text.translate(_UNUSABLE)
    text = _BLANK_RUN.sub("\n\n\n\n", text)
    if _PRINTED_TRACEBACK.search(text) is None:
        return text
    return "\n".join(_set_in_lines(line) for line in text.split("\n"))


def _set_in_lines(line: str) -> str:
    if _PRINTED_TRACEBACK.search(line) is None:
        return line
    return _PRINTED_QUOTE.sub(r"\1", _PRINTED_NEWLINE.sub("\n", line))
