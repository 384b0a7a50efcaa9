"""Where the text of an issue comes from: a file, stdin, or the command line itself."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from indexes.errors import EmptyIssueError, InputError
from indexes.source import printable_path

_Command = TypeVar("_Command", bound=Callable[..., object])

STDIN = "-"
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""The longer marks first where one begins with another."""


def issue_options(function: _Command) -> _Command:
    """Add the options that name an issue; a command needs one of them."""
    function = click.option("--text", metavar="TEXT", help="The issue itself.")(function)
    return click.option(
        "--issue",
        metavar="FILE",
        help="File with the issue: its title in the first line, then its body. - reads stdin.",
    )(function)


def load_issue_text(issue: str | None, text: str | None) -> str:
    """Return the text of the issue that the options name.

    Raises
    ------
    InputError
        If not exactly one is given, or the file cannot be read.
    EmptyIssueError
        If it is empty.
    """
    if (issue is None) == (text is None):
        raise InputError("name one issue: --issue FILE, --issue - for stdin, or --text TEXT")
    found = text if text is not None else decode_issue(_read_bytes(issue or STDIN))
    if not found.strip():
        raise EmptyIssueError("the issue is empty: give it a title or a text to search for")
    return found


def _read_bytes(name: str) -> bytes:
    if name == STDIN:
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        where = printable_path(name)
        raise InputError(
            f"the issue {where} cannot be read ({reason}): name a file, or - for stdin", path=where
        ) from error


def decode_issue(data: bytes) -> str:
    """Return the text of bytes: by their byte order mark, else UTF-8, what is none replaced."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace").removeprefix("\ufeff")
    return data.decode("utf-8", "replace")
