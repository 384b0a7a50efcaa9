"""Paths in prose, code and logs."""

from __future__ import annotations

import pytest

from graphloc.issue import Place, path_suffixes, read_issue
from graphloc.issue.paths import normalize_path


@pytest.mark.parametrize(
    ("text", "path", "line", "node"),
    [
        ("in src/pkg/mod.py it", "src/pkg/mod.py", None, ""),
        ("in mod.py.", "mod.py", None, ""),
        ("src/pkg/mod.py:12", "src/pkg/mod.py", 12, ""),
        ("src/pkg/mod.py:12:5: E501", "src/pkg/mod.py", 12, ""),
        ("`mod.py` line 12", "mod.py", 12, ""),
        ("mod.py (line 12)", "mod.py", 12, ""),
        ("mod.py, line 12", "mod.py", 12, ""),
        ("mod.py L12", "mod.py", 12, ""),
        ("mod.py#L12-L14", "mod.py", 12, ""),
        ("line 12 of `pkg/mod.py`", "pkg/mod.py", 12, ""),
        ("lines 12-14 in pkg/mod.py", "pkg/mod.py", 12, ""),
        ("tests/test_a.py::TestA::test_b[x]", "tests/test_a.py", None, "TestA.test_b"),
        ("pkg/mod.py:Class.method", "pkg/mod.py", None, "Class.method"),
        ("mod.py:57(__init__)", "mod.py", 57, ""),
        ("pkg\\sub\\mod.py", "pkg/sub/mod.py", None, ""),
        ("C:\\Users\\ann\\pkg\\mod.py", "pkg/mod.py", None, ""),
        ("/usr/lib/python3/dist-packages/pkg/mod.py", "pkg/mod.py", None, ""),
        ("./docs/index.rst", "docs/index.rst", None, ""),
        ("templates/<name>.html", "templates/<name>.html", None, ""),
        ("src/native/fast.c", "src/native/fast.c", None, ""),
        ("the pkg/core/parsing folder", "pkg/core/parsing", None, ""),
        ("`pkg/core`", "pkg/core", None, ""),
        ("the Dockerfile", "Dockerfile", None, ""),
        ("[mod.py](https://example.org/x)", "mod.py", None, ""),
    ],
)
def test_mentions(text: str, path: str, line: int | None, node: str) -> None:
    mentions = read_issue(f"Title\n\nSee {text}").paths
    assert [(m.path, m.line, m.node) for m in mentions] == [(path, line, node)]


@pytest.mark.parametrize(
    "text",
    ["and/or", "client/server", "response.json()", "obj.c", "1/2/3", "https://a.org/b/c.py", "..."],
)
def test_no_paths(text: str) -> None:
    assert read_issue(f"Title\n\nSee {text} now").paths == ()


def test_places() -> None:
    issue = read_issue("a.py fails\n\n`b.py`\n\n```\nc.py\n```")
    assert [(m.path, m.place) for m in issue.paths] == [
        ("a.py", Place.TITLE),
        ("b.py", Place.INLINE_CODE),
        ("c.py", Place.CODE_BLOCK),
    ]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("/home/u/p/./q/../r.py", "p/r.py"),
        ("...\\lib\\site-packages\\x\\y.py", "x/y.py"),
        ("~/env/Lib/site-packages/x.py", "x.py"),
        ("../x/y.py", "x/y.py"),
        ("C:\\Python310\\lib\\json\\decoder.py", "json/decoder.py"),
    ],
)
def test_normalize_path(written: str, expected: str) -> None:
    assert normalize_path(written) == expected


def test_suffixes() -> None:
    assert path_suffixes("a/b/c.py") == ("a/b/c.py", "b/c.py", "c.py")
