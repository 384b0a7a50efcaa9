"""Errors, warnings and messages stated anywhere: in prose, logs, ``raise`` statements, quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from graphloc.issue.model import ErrorKind, ReportedError

_MAX_MESSAGE = 300
_TYPE = re.compile(
    r"(?<![\w.\-/])[A-Za-z_][\w.]*+"
    r"(?:(?<=Error)|(?<=Exception)|(?<=Warning)|(?<=Interrupt)|(?<=DoesNotExist)|(?<=NotFound))"
    r"(?:`? ?: ?(?P<message>[^\n`]{1,300})|\(\s?[frbu]?[\"'](?P<argument>[^\"'\n]{3,300})[\"'])?"
)
_LOG_LINE = re.compile(
    r"(?<![\w.])(?:(?P<level>ERROR|CRITICAL|FATAL|WARNING)\b[\]:| )-]{1,12}"
    r"|(?P<word>[Ee]rror|fatal)\b[\])]{0,2}: {0,4})(?P<message>[^\s\n][^\n]{3,300})"
)
_QUOTES = (
    re.compile(r'(?<![\w\\])"([^"\n]{8,300})"'),
    re.compile(r"(?<![\w\\])'([^'\n]{8,300})'(?!\w)"),
    re.compile(r"[“«„]([^”»“\n]{8,300})[”»“]"),
    re.compile(r"(?<!`)`([^`\n]{8,300})`(?!`)"),
)
_MIN_WORDS = 3
_WORD = re.compile(r"(?<!\S)[(\[]{0,2}[^\W\d_]{2,}+[\w'.:,;)-]{0,60}(?!\S)")
_GENERIC_TYPES = frozenset({"Error", "Exception", "Warning", "NotFound"})


def find_errors(text: str) -> Iterator[ReportedError]:
    """Yield the exceptions, warnings and log errors that `text` states, in order of kind.

    A type is a name that ends as Python's exceptions do; its message is what follows the colon in
    the same line, or the literal it is raised with. Linear in the text's length.
    """
    for match in _TYPE.finditer(text):
        name = re.split(r"[:(` ]", match[0], maxsplit=1)[0]
        message = (match["message"] or match["argument"] or "").strip()
        if name in _GENERIC_TYPES and not message:
            continue
        kind = ErrorKind.WARNING if name.endswith("Warning") else ErrorKind.EXCEPTION
        yield ReportedError(name, message, kind)
    for match in _LOG_LINE.finditer(text):
        level = match["level"] or match["word"]
        yield ReportedError(level, match["message"].strip(), ErrorKind.LOG)


def merge_errors(*groups: tuple[ReportedError, ...]) -> tuple[ReportedError, ...]:
    """Join errors, earlier groups first; what an earlier error says already is left out.

    An error says another one if type and message agree, or if types agree and the other one has no
    message. Errors of different tracebacks are all kept.
    """
    found = list(dict.fromkeys(error for group in groups for error in group))
    told = {(error.type, error.message) for error in found if error.traceback is not None}
    with_message = {error.type for error in found if error.message}
    kept = []
    for error in found:
        if error.traceback is None:
            is_bare = not error.message and error.type in with_message
            if is_bare or (error.type, error.message) in told:
                continue
            told.add((error.type, error.message))
        kept.append(error)
    return tuple(kept)


def find_messages(text: str) -> list[str]:
    """Return the quoted texts of three words or more, in order of their quotes' kind."""
    found = (match[1].strip() for quotes in _QUOTES for match in quotes.finditer(text))
    return list(dict.fromkeys(message for message in found if _has_words(message)))


def _has_words(message: str) -> bool:
    return len(_WORD.findall(message)) >= _MIN_WORDS
