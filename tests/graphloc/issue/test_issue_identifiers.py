"""Names that look like code, and where they stand."""

from __future__ import annotations

import pytest

from graphloc.issue import Identifier, IdentifierKind, Place, read_issue


def named(text: str) -> dict[str, Identifier]:
    return {identifier.name: identifier for identifier in read_issue(text).identifiers}


@pytest.mark.parametrize(
    ("token", "name", "kind"),
    [
        ("read_rows", "read_rows", IdentifierKind.SNAKE_CASE),
        ("_private", "_private", IdentifierKind.SNAKE_CASE),
        ("readRows", "readRows", IdentifierKind.CAMEL_CASE),
        ("RowReader", "RowReader", IdentifierKind.PASCAL_CASE),
        ("HTTPRowReader", "HTTPRowReader", IdentifierKind.PASCAL_CASE),
        ("DMatrix", "DMatrix", IdentifierKind.PASCAL_CASE),
        ("MAX_ROWS", "MAX_ROWS", IdentifierKind.CONSTANT),
        ("__init__", "__init__", IdentifierKind.DUNDER),
        ("rows.io.read()", "rows.io.read", IdentifierKind.DOTTED),
        ("Reader.read", "Reader.read", IdentifierKind.DOTTED),
        ("Reader#read", "Reader.read", IdentifierKind.DOTTED),
        ("rows::read", "rows.read", IdentifierKind.DOTTED),
        ("--dry-run", "dry-run", IdentifierKind.OPTION),
        ("strict=True", "strict", IdentifierKind.KEYWORD),
        ("`rows`", "rows", IdentifierKind.WORD),
        ("interpolate()", "interpolate", IdentifierKind.WORD),
        ("the squeeze method", "squeeze", IdentifierKind.WORD),
        ("function squeeze", "squeeze", IdentifierKind.WORD),
        ("`@cached`", "cached", IdentifierKind.DECORATOR),
        ("._copy_all()", "_copy_all", IdentifierKind.SNAKE_CASE),
        ("rows[0].save_as(x)", "save_as", IdentifierKind.SNAKE_CASE),
        ("log1pexp", "log1pexp", IdentifierKind.WORD),
    ],
)
def test_kinds(token: str, name: str, kind: IdentifierKind) -> None:
    found = [i for i in read_issue(f"Broken\n\nSee {token} for it").identifiers if i.name == name]
    assert kind in {identifier.kind for identifier in found}


@pytest.mark.parametrize(
    "prose",
    [
        "e.g. this, i.e. that",
        "thanks @someone for example.com",
        "see https://x.org/a_b?c_d=e#f_g",
        "APIs and URLs",
        "edit setup.py please",
        "self and None",
        "this method and that class",
    ],
)
def test_prose_without_names(prose: str) -> None:
    assert named(f"Title\n\n{prose}") == {}


def test_places_and_counts() -> None:
    text = (
        "`load_all` fails\n\ncall load_all or `load_all`\n\n```python\nload_all()\n```\n\n"
        'Traceback (most recent call last):\n  File "m.py", line 1, in load_all\n'
        "    go()\nOSError\n"
    )
    found = named(text)["load_all"]
    assert dict(found.counts) == {
        Place.TITLE: 1,
        Place.PROSE: 1,
        Place.INLINE_CODE: 1,
        Place.CODE_BLOCK: 1,
        Place.TRACEBACK: 1,
    }
    assert found.count == 5
    assert read_issue(text).identifiers[0] == found


def test_plain_words_of_code_and_frames() -> None:
    found = named(
        "Title\n\n```python\nframe.interpolate()\nclass Widget: pass\n```\n\n"
        'File "m.py", line 1, in run\n'
    )
    assert found["interpolate"].places == {Place.CODE_BLOCK}
    assert found["Widget"].places == {Place.CODE_BLOCK}
    assert found["run"].places == {Place.TRACEBACK}


def test_names_of_documentation_links() -> None:
    found = named("Title\n\nhttps://lib.readthedocs.io/en/stable/api.html#lib.core.Reader.read")
    assert found["lib.core.Reader.read"].places == {Place.LINK}
    assert found["lib.core.Reader.read"].parts == ("lib", "core", "Reader", "read")


def test_an_endless_name_is_none() -> None:
    assert named("Title\n\n" + "a." * 5000 + "a and " + "b_" * 5000) == {}
