"""Errors in prose, logs and raise statements; quoted messages."""

from __future__ import annotations

import pytest

from graphloc.issue import ErrorKind, read_issue
from graphloc.issue.failures import find_messages


@pytest.mark.parametrize(
    ("text", "kind", "name", "message"),
    [
        ("it raises ValueError: bad shelf", ErrorKind.EXCEPTION, "ValueError", "bad shelf"),
        ("get a `shelf.FullError`", ErrorKind.EXCEPTION, "shelf.FullError", ""),
        ('`raise KeyError("no such book")`', ErrorKind.EXCEPTION, "KeyError", "no such book"),
        ("DeprecationWarning: use fill", ErrorKind.WARNING, "DeprecationWarning", "use fill"),
        ("[12:00] ERROR: shelf fell down", ErrorKind.LOG, "ERROR", "shelf fell down"),
        ("error: no overload matches", ErrorKind.LOG, "error", "no overload matches"),
    ],
)
def test_errors(text: str, kind: ErrorKind, name: str, message: str) -> None:
    found = [(e.kind, e.type, e.message) for e in read_issue(f"Title\n\n{text}").errors]
    assert found == [(kind, name, message)]


def test_prose_about_errors_is_none() -> None:
    assert read_issue("Title\n\nthere is an error on save and an Exception too").errors == ()


def test_an_error_is_told_once() -> None:
    text = (
        "ValueError on save\n\nI get ValueError and ValueError: bad\n\n"
        'Traceback (most recent call last):\n  File "m.py", line 1, in f\n    g()\n'
        "ValueError: bad\n"
    )
    errors = read_issue(text).errors
    assert [(e.type, e.message, e.traceback) for e in errors] == [("ValueError", "bad", 0)]


def test_messages() -> None:
    text = (
        "says \"the shelf is full\" and 'not enough books left' and “no room at all” but not "
        "\"full\" or 'two words' or don't panic or it's fine"
    )
    assert find_messages(text) == ["the shelf is full", "not enough books left", "no room at all"]
