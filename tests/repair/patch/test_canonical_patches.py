"""Which patches count as one."""

from __future__ import annotations

import pytest

from repair.patch import FileChange, build_patch, canonical_key

OLD = b'def f(a):\n    """Doc."""\n    # why\n    return a\n'


def key(new: bytes | None, old: bytes | None = OLD, path: str = "m.py") -> str:
    return canonical_key(build_patch([FileChange(path, old, new)]))


FIX = b'def f(a):\n    """Doc."""\n    return a + 1\n'


@pytest.mark.parametrize(
    "same",
    [
        b'def f(a):\n    """Doc."""\n    # other\n\n    return (a + 1)  # tail\n',
        b"def f(a):\n  '''Doc.'''\n  return a+1",
        b'def f(\n    a,\n):\n    """Doc."""\n    return a \\\n        + 1\n',
        FIX.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + FIX,
    ],
)
def test_format_and_comments_do_not_count(same: bytes) -> None:
    assert key(same) == key(FIX)


@pytest.mark.parametrize(
    "other",
    [
        FIX.replace(b"a + 1", b"1 + a"),
        FIX.replace(b"Doc.", b"Docs."),
        FIX.replace(b"a + 1", b"a + 1.0"),
        FIX + b"x = 1\n",
        None,
    ],
)
def test_code_and_docstrings_count(other: bytes | None) -> None:
    assert key(other) != key(FIX)


def test_a_patch_of_comments_is_the_empty_patch() -> None:
    assert key(OLD.replace(b"why", b"because")) == canonical_key(build_patch([]))


def test_paths_count() -> None:
    assert key(FIX, path="n.py") != key(FIX)


def test_sources_that_do_not_parse_are_compared_as_tokens() -> None:
    old = b"print 'a'\n"
    new = b"print 'b'  # c\n\n\nif x :\n    print 'c'\n"
    assert key(new, old) == key(b"print   'b'\nif x:\n  # d\n  print 'c'\n", old)
    assert key(new, old) != key(b"print 'b'\nif y:\n  print 'c'\n", old)


def test_other_files_are_compared_as_lines() -> None:
    assert key(b"a  \nb\n", b"x", "m.txt") == key(b"a\r\nb", b"x", "m.txt")
    assert key(b"# a\nb\n", b"x", "m.txt") != key(b"b\n", b"x", "m.txt")


def test_deep_nesting_is_no_obstacle() -> None:
    deep = b"x = " + b"[" * 5000 + b"]" * 5000 + b"\n"
    assert key(deep, b"x = 1\n") == key(b"#c\n" + deep, b"x = 1\n")
