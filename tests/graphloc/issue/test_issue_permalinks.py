"""Links to forges and to documentation."""

from __future__ import annotations

import pytest

from graphloc.issue import read_issue
from graphloc.issue.permalinks import find_urls, parse_documentation_link, parse_permalink


@pytest.mark.parametrize(
    ("url", "path", "revision", "repo", "lines"),
    [
        ("github.com/o/r/blob/abc/a/b.py#L10-L20", "a/b.py", "abc", "o/r", (10, 20)),
        ("github.com/o/r/blob/abc/a/b.py#L10", "a/b.py", "abc", "o/r", (10, 10)),
        ("github.com/o/r/blob/abc/b.py#L3C5-L4C6", "b.py", "abc", "o/r", (3, 4)),
        ("github.com/o/r/blame/main/a.py?plain=1#L7", "a.py", "main", "o/r", (7, 7)),
        ("github.com/o/r/tree/main/src/pkg", "src/pkg", "main", "o/r", (None, None)),
        ("gitlab.com/g/s/r/-/blob/v1/x%20y.py#L2-3", "x y.py", "v1", "g/s/r", (2, 3)),
        ("bitbucket.org/o/r/src/abc/m.py#lines-4:9", "m.py", "abc", "o/r", (4, 9)),
        ("raw.githubusercontent.com/o/r/main/m.py", "m.py", "main", "o/r", (None, None)),
        (
            "raw.githubusercontent.com/o/r/refs/heads/dev/m.py",
            "m.py",
            "dev",
            "o/r",
            (None, None),
        ),
        ("git.acme.dev/o/r/blob/abc/m.py", "m.py", "abc", "o/r", (None, None)),
    ],
)
def test_permalinks(
    url: str, path: str, revision: str, repo: str, lines: tuple[int | None, int | None]
) -> None:
    link = parse_permalink(f"https://{url}")
    assert link is not None
    assert (link.path, link.revision, link.repo) == (path, revision, repo)
    assert (link.start_line, link.end_line) == lines


@pytest.mark.parametrize(
    "url",
    ["https://github.com/o/r", "https://github.com/o/r/issues/3", "https://[", "http://a.b/c"],
)
def test_other_links_are_no_permalinks(url: str) -> None:
    assert parse_permalink(url) is None


def test_documentation_links() -> None:
    link = parse_documentation_link(
        "https://www.sphinx-doc.example/en/master/usage/ext.html#sphinx.ext.Documenter"
    )
    assert link is not None
    assert link.words == ("master", "usage", "ext")
    assert link.anchor == "sphinx.ext.Documenter"
    assert parse_documentation_link("https://example.org/blog") is None


def test_urls_lose_their_punctuation() -> None:
    text = "(https://a.org/x_(y)), [t](https://b.org/z). <https://c.org> https://d.org/e,"
    assert find_urls(text) == [
        "https://a.org/x_(y)",
        "https://b.org/z",
        "https://c.org",
        "https://d.org/e",
    ]


def test_links_of_an_issue_are_found_once() -> None:
    url = "https://github.com/o/r/blob/abc/a.py#L1"
    issue = read_issue(f"Title\n\n{url} and again {url}\n\nhttps://r.readthedocs.io/en/latest/use")
    assert [link.path for link in issue.permalinks] == ["a.py"]
    assert [link.words for link in issue.documentation] == [("en", "latest", "use")]
