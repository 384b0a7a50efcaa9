"""Answers of tools: bounded, complete over their pages, safe for any input."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphloc import GraphlocError, Locator
from graphloc.locators.answers import Part
from graphloc.locators.errors import ArgumentsError, UnknownCursorError
from graphloc.locators.paging import Answer, Draft, Pager
from graphloc.locators.tools import TOOLS, ToolBox
from tests.functional.sample_trees import TRACEBACK, make_repository

SMALLEST = 500


@pytest.fixture
def box(locator: Locator) -> ToolBox:
    """The tools on the small repository."""
    return ToolBox(lambda: locator)


@pytest.fixture(scope="module")
def wide_box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToolBox]:
    """The tools on a repository where answers are long."""
    functions = "".join(
        f'def step_{n}(value, other="{"x" * (n % 50)}"):\n    """Step {n}."""\n    hub(value)\n\n\n'
        for n in range(120)
    )
    text = f"def hub(value):\n    return value\n\n\n{functions}LONG = '{'y' * 5_000}'\n"
    root = make_repository(tmp_path_factory.mktemp("wide") / "wide", {"steps.py": text})
    with Locator(root) as locator:
        yield ToolBox(lambda: locator)


def pages(box: ToolBox, tool: str, arguments: dict[str, object]) -> list[Answer]:
    """All pages of an answer."""
    found = [box.call(tool, arguments)]
    while found[-1].next_cursor is not None:
        follow = {"cursor": found[-1].next_cursor, "max_tokens": arguments["max_tokens"]}
        found.append(box.call(tool, follow))
    return found


def results(page: Answer) -> tuple[Part, ...]:
    """The results of a page."""
    found: tuple[Part, ...] = page.results  # type: ignore[attr-defined]
    return found


@pytest.mark.parametrize("max_tokens", [500, 800, 3_000])
def test_every_page_fits_and_together_they_are_complete(wide_box: ToolBox, max_tokens: int) -> None:
    arguments = {"start_entities": ["hub"], "hops": 1, "edge_kinds": ["invokes"]}
    found = pages(wide_box, "traverse_graph", {**arguments, "max_tokens": max_tokens})
    assert all(page.n_tokens <= max_tokens for page in found)
    names = [result.entity for page in found for result in results(page)]  # type: ignore[attr-defined]
    assert names == [f"steps.py:step_{n}" for n in range(120)]
    left = [page.n_left for page in found]
    assert left == sorted(left, reverse=True)
    assert left[-1] == 0


@pytest.mark.parametrize("max_tokens", [500, 900])
def test_code_that_does_not_fit_is_cut_between_lines(wide_box: ToolBox, max_tokens: int) -> None:
    found = pages(wide_box, "retrieve_entity", {"ids": ["steps.py"], "max_tokens": max_tokens})
    assert len(found) > 3
    assert all(page.n_tokens <= max_tokens for page in found)
    code = "\n".join(result.code for page in found for result in results(page))  # type: ignore[attr-defined]
    numbers = [int(line.split("|")[0]) for line in code.split("\n")]
    assert numbers == list(range(1, numbers[-1] + 1))
    assert "step_119" in code
    assert "(cut)" in code


def test_an_issue_is_answered_within_the_smallest_room(box: ToolBox) -> None:
    found = pages(box, "localize", {"issue": TRACEBACK, "max_tokens": SMALLEST})
    assert all(page.n_tokens <= SMALLEST for page in found)
    ranks = [result.rank for page in found for result in results(page)]  # type: ignore[attr-defined]
    assert ranks == list(range(1, len(ranks) + 1))


def test_asking_for_a_page_again_gives_the_same_results(wide_box: ToolBox) -> None:
    first = wide_box.call("traverse_graph", {"start_entities": ["hub"], "max_tokens": SMALLEST})
    again = [
        wide_box.call("traverse_graph", {"cursor": first.next_cursor, "max_tokens": SMALLEST})
        for _ in range(2)
    ]
    assert results(again[0]) == results(again[1])


def test_a_cursor_is_good_for_its_own_tool_only(wide_box: ToolBox) -> None:
    first = wide_box.call("traverse_graph", {"start_entities": ["hub"], "max_tokens": SMALLEST})
    with pytest.raises(UnknownCursorError, match="without a cursor"):
        wide_box.call("localize", {"cursor": first.next_cursor})


@pytest.mark.parametrize("cursor", ["", "x", "../../etc/passwd", "\0", "a" * 64])
def test_unknown_cursors_are_refused(box: ToolBox, cursor: str) -> None:
    with pytest.raises(UnknownCursorError):
        box.call("search_entity", {"terms": ["Cart"], "cursor": cursor})


class Numbers(Answer):
    """An answer of nothing but parts."""

    results: tuple[Part, ...]


def test_old_cursors_are_forgotten() -> None:
    pager = Pager(most_cursors=2)
    draft = Draft(Numbers, [Part()] * 500)
    cursors = [pager.cut("t", draft, 100).next_cursor for _ in range(3)]
    assert None not in cursors
    with pytest.raises(UnknownCursorError):
        pager.go_on("t", cursors[0] or "", 100)
    assert pager.go_on("t", cursors[2] or "", 100).n_left < 500


def test_lone_names_and_lists_written_as_text_are_taken(box: ToolBox) -> None:
    expected = box.call("search_entity", {"terms": ["Cart", "total"]})
    assert box.call("search_entity", {"terms": '["Cart", "total"]'}) == expected
    lone = box.call("search_entity", {"terms": "Cart", "kinds": "class"})
    assert len(results(lone)) == 2


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("localize", {}, "issue"),
        ("localize", {"issue": ""}, "issue"),
        ("localize", {"issue": "x", "top_k": "many"}, "top_k"),
        ("localize", {"issue": "x", "level": "module"}, "level"),
        ("localize", {"issue": "x", "max_tokens": 1}, "max_tokens"),
        ("localize", {"issue": "x", "shell": "rm"}, "shell"),
        ("search_entity", {"terms": []}, "terms"),
        ("search_entity", {"terms": [["x"]]}, "terms"),
        ("search_entity", {"terms": "[" * 5_000}, "terms"),
        ("traverse_graph", {"start_entities": ["x"], "hops": 99}, "hops"),
        ("retrieve_entity", {"ids": ["x" * 5_000]}, "ids"),
        ("explain", {"issue": "x", "entity": None}, "entity"),
        ("reindex", {"force": True}, "force"),
        ("drop_table", {}, "drop_table"),
    ],
)
def test_wrong_arguments_are_named(
    box: ToolBox, tool: str, arguments: dict[str, object], named: str
) -> None:
    with pytest.raises(ArgumentsError, match=named) as caught:
        box.call(tool, arguments)
    assert len(caught.value.message) < 1_500


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = sorted({name for tool in TOOLS for name in tool.arguments.model_fields})


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    tool=st.sampled_from([tool.name for tool in TOOLS]),
    arguments=st.dictionaries(st.sampled_from(NAMES), JSON | st.text(min_size=1), max_size=4),
)
def test_any_arguments_are_answered_or_refused_with_words(
    wide_box: ToolBox, tool: str, arguments: dict[str, object]
) -> None:
    try:
        said = wide_box.call(tool, arguments).model_dump_json()
    except GraphlocError as error:
        said = error.message
    assert said.encode()
    assert "/etc/" not in said


def test_answers_can_be_encoded_whatever_the_repository_holds(tmp_path: Path) -> None:
    source = "# coding: raw_unicode_escape\ndef odd():\n    return '\\ud800 \x01'\n"
    root = make_repository(tmp_path / "odd", {"odd.py": source})
    with Locator(root) as locator:
        answer = ToolBox(lambda: locator).call("retrieve_entity", {"ids": ["odd.py"]})
    assert b"def odd" in answer.model_dump_json().encode()
