"""Whole issues."""

from __future__ import annotations

import json

import pytest

import graphloc.issue as issue_package
from graphloc.issue import IssueLanguage, read_issue
from indexes.errors import EmptyIssueError


@pytest.mark.parametrize("text", ["", " \n\t\r\n", "\x00\x00", "\ufeff\u200b\n"])
def test_empty(text: str) -> None:
    with pytest.raises(EmptyIssueError, match="empty"):
        read_issue(text)


@pytest.mark.parametrize(
    ("text", "title", "body"),
    [
        ("# Title\n\nbody", "Title", "body"),
        ("\n\nTitle", "Title", ""),
        ("=Title=\rbody\r\nmore", "Title=", "body\nmore"),
        ("###\nbody", "###", "body"),
    ],
)
def test_title_and_body(text: str, title: str, body: str) -> None:
    issue = read_issue(text)
    assert (issue.title, issue.body) == (title, body)


def test_fence_in_the_first_line() -> None:
    issue = read_issue("```python\nshelf.fill()\n```")
    assert issue.title == "shelf.fill()"
    assert issue.code.called == ("shelf.fill",)


def test_json_fields() -> None:
    issue = read_issue(
        "sort_all fails\n\nin `a/b.py` and a/b.py:3\n\n"
        'Traceback (most recent call last):\n  File "a/b.py", line 3, in sort_all\n    x\nOSError\n'
    )
    fields = issue.to_json_fields()
    assert json.loads(json.dumps(fields)) == fields
    assert fields["title"] == "sort_all fails"
    assert fields["frames"] == [{"path": "a/b.py", "line": 3, "function": "sort_all"}]
    assert fields["paths"] == ["a/b.py"]
    assert "sort_all" in fields["identifiers"]  # type: ignore[operator]


def test_searched_text_has_title_prose_and_code() -> None:
    issue = read_issue("Title\n\n### Description\n\nwords\n\n```\ncode\n```")
    assert issue.searched_text == "Title\n\nwords\n\ncode"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Short", IssueLanguage.ENGLISH),
        (
            "The shelf is full when it should not be and that is why I cannot add a book to it",
            "english",
        ),
        ("书架已满 无法添加书籍", IssueLanguage.OTHER),
        ("Полка заполнена, книги добавить нельзя", IssueLanguage.OTHER),
        (
            "Das Regal ist voll und nimmt keine Bücher mehr auf, obwohl noch Platz sein müsste",
            IssueLanguage.OTHER,
        ),
    ],
)
def test_language(text: str, language: str) -> None:
    assert read_issue(text).language == language


def test_surrogates_and_control_characters() -> None:
    issue = read_issue("a\ud800b\x00c\n\n`load\x00all` and\u00a0load_all")
    assert issue.title == "a\ufffdb c"
    issue.searched_text.encode()
    assert "load_all" in {identifier.name for identifier in issue.identifiers}


def test_issue_can_be_hashed_and_compared() -> None:
    assert read_issue("a `b`") == read_issue("a `b`")
    assert len({read_issue("a `b`"), read_issue("a `b`")}) == 1


def test_public_names_are_documented() -> None:
    for name in issue_package.__all__:
        assert getattr(issue_package, name).__doc__
