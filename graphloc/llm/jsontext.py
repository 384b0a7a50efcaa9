"""Reading JSON that a language model wrote: fences, trailing commas, Python literals, cut ends.

Nothing here guesses at content: a text is tried as it is, then with the slips that models are
known for undone, one after the other.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

from repair.ports import JsonValue

_FENCE = re.compile(r"```[ \t]*([\w+-]*)[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL)
_STRING_OR_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)
_OPENING = re.compile(r"[{\[]")
_MAX_STARTS = 64
"""How many opening brackets of a text are tried; a long reply full of code has thousands, and each
try may read to the end."""
_MAX_LITERAL_CHARS = 100_000
"""`ast.literal_eval` needs memory many times the text's size."""


def parse_json(text: str) -> JsonValue:
    """Read one JSON value that makes up the whole of `text`.

    Accepted beyond JSON: raw newlines inside strings, trailing commas, Python literals (single
    quotes, ``True``, ``None``).

    Raises
    ------
    ValueError
        The text is no such value; the message says where reading failed.
    """
    try:
        return _loads(text)
    except ValueError as error:
        first = str(error)
    try:
        return _loads(_STRING_OR_COMMA.sub(lambda match: match.group(1) or "", text))
    except ValueError:
        pass
    value = _python_literal(text)
    if value is None:
        raise ValueError(first)
    return value


def find_json(text: str) -> JsonValue:
    """Find the JSON value that a reply holds: all of it, a fenced block, or a part of the prose.

    Raises
    ------
    ValueError
        There is none.
    """
    try:
        return parse_json(text.strip())
    except ValueError as error:
        first = str(error)
    for candidate in iter_json(text):
        return candidate
    raise ValueError(first)


def iter_json(text: str) -> Iterator[JsonValue]:
    """Yield the values of fenced blocks; without any, those that stand in the prose."""
    found = False
    for _, body in iter_fences(text):
        try:
            value = parse_json(body.strip())
        except ValueError:
            continue
        found = True
        yield value
    if not found:
        yield from _iter_embedded(text)


def iter_fences(text: str) -> Iterator[tuple[str, str]]:
    """Yield (language, body) of each fenced block; the last one may lack its closing fence."""
    for match in _FENCE.finditer(text):
        yield match.group(1).lower(), match.group(2)


def without_fences(text: str) -> str:
    """Return the text with its fenced blocks left out."""
    return _FENCE.sub("", text)


def _iter_embedded(text: str) -> Iterator[JsonValue]:
    decoder = json.JSONDecoder(strict=False)
    position = 0
    for _ in range(_MAX_STARTS):
        match = _OPENING.search(text, position)
        if match is None:
            return
        try:
            value, position = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            position = match.end()
            continue
        yield value


def _loads(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text, strict=False, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _python_literal(text: str) -> JsonValue:
    """Read a dict or list written as Python; None when it is none or holds more than JSON can."""
    if len(text) > _MAX_LITERAL_CHARS:
        return None
    try:
        value = ast.literal_eval(text.strip())
        if not isinstance(value, dict | list):
            return None
        return _loads(json.dumps(value, allow_nan=False))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
