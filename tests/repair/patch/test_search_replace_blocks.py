"""Search/replace blocks in the dresses that models put them in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repair.errors import MalformedPatchError
from repair.patch import Edit, parse_search_replace, render_search_replace

BLOCK = "<<<<<<< SEARCH\na = 1\n=======\na = 2\n>>>>>>> REPLACE\n"
EDIT = Edit("pkg/mod.py", "a = 1\n", "a = 2\n")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"pkg/mod.py\n{BLOCK}", id="bare"),
        pytest.param(f"pkg/mod.py\n```python\n{BLOCK}```\n", id="name before the fence"),
        pytest.param(f"```python\npkg/mod.py\n{BLOCK}```\n", id="name in the fence"),
        pytest.param(f"```python pkg/mod.py\n{BLOCK}```\n", id="name behind the language"),
        pytest.param(f"```python\n### pkg/mod.py\n{BLOCK}```\n", id="heading"),
        pytest.param(f"The fix, in `pkg/mod.py`:\n\n```\n{BLOCK}```\n", id="in a sentence"),
        pytest.param(f"**pkg/mod.py**:\n\n{BLOCK}", id="bold"),
        pytest.param(f"File: pkg/mod.py\n{BLOCK}", id="label"),
        pytest.param(f"1. pkg/mod.py\n{BLOCK}", id="list"),
        pytest.param(BLOCK.replace("SEARCH", "SEARCH pkg/mod.py"), id="behind the marker"),
        pytest.param(f"pkg/mod.py\n{BLOCK}".replace("\n", "\r\n"), id="Windows"),
        pytest.param(f"pkg/mod.py\n{BLOCK}".replace("<<<<<<<", "<<<<<<"), id="six characters"),
        pytest.param(f"pkg/mod.py\n{BLOCK}".replace(" REPLACE", ""), id="bare closing"),
        pytest.param(f"pkg/mod.py\n{BLOCK}".replace("=======\n", "======= \n"), id="blank behind"),
    ],
)
def test_one_block_in_many_dresses(text: str) -> None:
    assert parse_search_replace(text) == (EDIT,)


def test_a_block_without_name_continues_the_file() -> None:
    text = f"pkg/mod.py\n{BLOCK}and also\n\n{BLOCK}other.py\n{BLOCK}"
    assert [edit.path for edit in parse_search_replace(text)] == [
        "pkg/mod.py",
        "pkg/mod.py",
        "other.py",
    ]


def test_names_without_suffix_and_with_blanks() -> None:
    text = f"Makefile\n{BLOCK}\nmy docs/read me.txt\n{BLOCK}"
    assert [edit.path for edit in parse_search_replace(text)] == ["Makefile", "my docs/read me.txt"]


def test_empty_sides() -> None:
    text = "n.py\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n"
    assert parse_search_replace(text) == (Edit("n.py", "", "x\n"),)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("prose", "no <<<<<<< SEARCH"),
        (BLOCK, "line 1: no file name"),
        ("m.py\n<<<<<<< SEARCH\na\n=======\nb\n", "line 2: the block does not end"),
        ("m.py\n<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n", "has 0"),
        ("m.py\n<<<<<<< SEARCH\na\n=======\nb\n=======\nc\n>>>>>>> REPLACE\n", "has 2"),
    ],
)
def test_malformed_blocks_say_where(text: str, part: str) -> None:
    with pytest.raises(MalformedPatchError, match=part):
        parse_search_replace(text)


_PATH_PART = st.text("abcXYZ019_ é'\"漢", min_size=1, max_size=8).map(str.strip).filter(bool)
_PATHS = st.lists(_PATH_PART, min_size=1, max_size=3).map(lambda parts: "/".join(parts) + ".py")
_LINES = st.one_of(
    st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20),
    st.sampled_from(["=======", "<<<<<<< SEARCH", ">>>>>>> REPLACE", "```", "  ==========", ""]),
)
_SIDES = st.lists(_LINES, max_size=5).map(lambda lines: "".join(f"{line}\n" for line in lines))


@given(st.lists(st.builds(Edit, _PATHS, _SIDES, _SIDES), min_size=1, max_size=4))
def test_parse_reads_what_render_writes(edits: list[Edit]) -> None:
    assert parse_search_replace(render_search_replace(edits)) == tuple(edits)
