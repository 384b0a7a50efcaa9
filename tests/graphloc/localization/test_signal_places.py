"""Places that the issue points at: frames, paths, modules, links, messages."""

from __future__ import annotations

import pytest

from graphloc.localization.signals import (
    FrameSignal,
    MessageSignal,
    PathSignal,
    PermalinkSignal,
)
from tests.functional.sample_trees import write
from tests.graphloc.localization.indexed_samples import BAKERY, Sample, index_sample

FRAMES, PATHS, LINKS, MESSAGES = FrameSignal(), PathSignal(), PermalinkSignal(), MessageSignal()


def line_of(path: str, part: str) -> int:
    """1-based line of the first line of a file that holds a text."""
    return next(n for n, line in enumerate(BAKERY[path].splitlines(), 1) if part in line)


TRACEBACK = f"""Baking fails

```
Traceback (most recent call last):
  File "/home/me/bread.py", line 3, in <module>
    SteamOven(400).bake(dough)
  File "/usr/lib/python3/site-packages/bakery/oven.py", line {
    line_of("bakery/oven.py", "return super().bake")
}, in bake
    return super().bake(dough).strip()
  File "/usr/lib/python3/site-packages/bakery/oven.py", line {
    line_of("bakery/oven.py", "return self._crust(")
}, in bake
    return self._crust(knead(dough))
  File "/usr/lib/python3/site-packages/bakery/dough.py", line {
    line_of("bakery/dough.py", "return dough")
}, in knead
    return dough
  File "/usr/lib/python3/json/decoder.py", line 337, in decode
    obj, end = self.raw_decode(s)
ValueError: no flour
```
"""


def test_frames_count_the_more_the_nearer_they_are_to_the_failure(bakery: Sample) -> None:
    found = bakery.entities(FRAMES, "frame", TRACEBACK)
    assert sorted(found, key=lambda entity: -found[entity]) == [
        "bakery/dough.py:knead",
        "bakery/oven.py:Oven.bake",
        "bakery/oven.py:SteamOven.bake",
    ]


def test_the_last_frame_is_the_last_one_in_this_repository(bakery: Sample) -> None:
    assert bakery.entities(FRAMES, "last_frame", TRACEBACK) == {"bakery/dough.py:knead": 1.0}
    assert bakery.files(FRAMES, "file_last_frame", TRACEBACK) == {"bakery/dough.py": 1.0}
    assert set(bakery.files(FRAMES, "file_frame", TRACEBACK)) == {
        "bakery/dough.py",
        "bakery/oven.py",
    }


def test_a_frame_s_function_counts_where_its_line_has_moved(bakery: Sample) -> None:
    issue = 'Wrong\n\n```\nTraceback (most recent call last):\n  File "bakery/dough.py", line 400, in ferment\n    return dough\nValueError: x\n```\n'  # noqa: E501
    assert set(bakery.entities(FRAMES, "frame", issue)) == {"bakery/dough.py:ferment"}


def test_a_frame_of_module_level_code_is_the_file_s(bakery: Sample) -> None:
    issue = 'Wrong\n\n```\nTraceback (most recent call last):\n  File "bakery/dough.py", line 1, in <module>\n    import x\nValueError: x\n```\n'  # noqa: E501
    assert set(bakery.entities(FRAMES, "frame", issue)) == {"bakery/dough.py"}


def test_two_tracebacks_have_a_last_frame_each(bakery: Sample) -> None:
    second = TRACEBACK.split("\n\n", 1)[1].replace("dough.py", "gone.py")
    found = bakery.entities(FRAMES, "last_frame", f"{TRACEBACK}\nor\n\n{second}")
    assert set(found) == {"bakery/dough.py:knead", "bakery/oven.py:Oven.bake"}


def test_frames_say_where_they_are(bakery: Sample) -> None:
    reason = bakery.reason(FRAMES, "frame", TRACEBACK, "bakery/dough.py:knead")
    line = line_of("bakery/dough.py", "return dough")
    assert f"bakery/dough.py:{line} in knead" in reason
    assert bakery.reason(FRAMES, "file_frame", TRACEBACK, "bakery/dough.py") == reason
    assert bakery.reason(FRAMES, "frame", TRACEBACK, "bakery/dough.py:ferment") == ""


def test_frames_of_other_repositories_say_nothing(bakery: Sample) -> None:
    issue = 'Wrong\n\n```\nTraceback (most recent call last):\n  File "/lib/python3/asyncio/queues.py", line 3, in get\n    x\nValueError: x\n```\n'  # noqa: E501
    assert bakery.entities(FRAMES, "frame", issue) == {}
    assert bakery.files(FRAMES, "file_frame", issue) == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see bakery/dough.py", {"bakery/dough.py"}),
        ("see bakery/dough.py:12", {"bakery/dough.py"}),
        ("see `/opt/app/bakery/util/clock.py`, line 3", {"bakery/util/clock.py"}),
        (r"see C:\app\bakery\oven.py", {"bakery/oven.py"}),
        ("see clock.py", {"bakery/util/clock.py"}),
        ("see bakery/nothing.py", set()),
        ("see oven.txt", set()),
    ],
)
def test_paths_find_files_by_their_ends(bakery: Sample, text: str, expected: set[str]) -> None:
    assert set(bakery.files(PATHS, "mentioned_path", f"Wrong\n\n{text}\n")) == expected


def test_a_path_in_a_traceback_says_less_than_one_in_prose(bakery: Sample) -> None:
    prose = bakery.files(PATHS, "mentioned_path", "Wrong\n\nsee bakery/dough.py")
    frames = bakery.files(PATHS, "mentioned_path", TRACEBACK)
    assert 0 < frames["bakery/dough.py"] < prose["bakery/dough.py"]


def test_a_name_that_many_files_have_points_nowhere(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("inits")
    files = {f"p{n}/__init__.py": f"x = {n}\n" for n in range(9)} | {"p1/a.py": "", "p2/a.py": ""}
    sample = index_sample(write(folder / "tree", files), folder / "index")

    assert sample.files(PATHS, "mentioned_path", "Wrong\n\nsee __init__.py") == {}
    two = sample.files(PATHS, "mentioned_path", "Wrong\n\nsee a.py")
    one = sample.files(PATHS, "mentioned_path", "Wrong\n\nsee p1/a.py")
    assert set(two) == {"p1/a.py", "p2/a.py"}
    assert two["p1/a.py"] < one["p1/a.py"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`bakery.dough.knead` is slow", {"bakery/dough.py"}),
        ("`bakery.dough` is slow", {"bakery/dough.py"}),
        ("`bakery.util.clock.now_minutes`", {"bakery/util/clock.py"}),
        ("`bakery.util.gone`", {"bakery/util/__init__.py"}),
        ("```python\nfrom bakery.dough import knead\n```", {"bakery/dough.py"}),
        ("`numpy.linalg.norm`", set()),
    ],
)
def test_modules_find_their_files(bakery: Sample, text: str, expected: set[str]) -> None:
    assert set(bakery.files(PATHS, "mentioned_module", f"Wrong\n\n{text}\n")) == expected


def test_paths_and_modules_say_what_was_mentioned(bakery: Sample) -> None:
    issue = "Wrong\n\nsee bakery/dough.py"
    reason = bakery.reason(PATHS, "mentioned_path", issue, "bakery/dough.py")
    assert reason == "the issue mentions bakery/dough.py"
    assert bakery.reason(PATHS, "mentioned_path", issue, "bakery/oven.py") == ""


def link(path: str, lines: str = "") -> str:
    """An issue with a link to a file."""
    return f"Wrong\n\nSee https://github.com/me/bakery/blob/0a1b2c3d/{path}{lines} please.\n"


def test_a_link_to_a_line_finds_what_is_there(bakery: Sample) -> None:
    line = line_of("bakery/dough.py", "return ferment")
    issue = link("bakery/dough.py", f"#L{line}")
    assert bakery.entities(LINKS, "linked", issue) == {"bakery/dough.py:Dough.rise": 1.0}
    assert bakery.files(LINKS, "file_linked", issue) == {"bakery/dough.py": 1.0}
    assert bakery.reason(LINKS, "linked", issue, "bakery/dough.py:Dough.rise") == (
        "link to bakery/dough.py"
    )


def test_a_link_to_lines_finds_what_they_show(bakery: Sample) -> None:
    start, end = line_of("bakery/oven.py", "def bake"), line_of("bakery/oven.py", "raise OvenE")
    issue = link("bakery/oven.py", f"#L{start}-L{end}")
    assert bakery.entities(LINKS, "linked", issue) == {"bakery/oven.py:Oven.bake": 1.0}


def test_a_link_to_a_file_alone_is_the_file_s(bakery: Sample) -> None:
    assert bakery.entities(LINKS, "linked", link("bakery/oven.py")) == {"bakery/oven.py": 1.0}


def test_a_link_from_inside_a_larger_repository_finds_its_file(bakery: Sample) -> None:
    issue = link("python/src/bakery/oven.py")
    assert set(bakery.files(LINKS, "file_linked", issue)) == {"bakery/oven.py"}
    assert bakery.files(LINKS, "file_linked", link("bakery/gone.py")) == {}


@pytest.mark.parametrize(
    "text",
    [
        "OvenError: oven is too hot: 451 degrees, at most 300",
        'It says "oven is too hot: 301 degrees"',
        "```\nbakery.errors.OvenError: oven is too hot: 451 degrees, at most 300\n```",
    ],
)
def test_a_printed_message_finds_the_literal_with_its_holes(bakery: Sample, text: str) -> None:
    found = bakery.entities(MESSAGES, "message", f"Wrong\n\n{text}\n")
    assert set(found) == {"bakery/oven.py:Oven.bake"}
    files = bakery.files(MESSAGES, "file_message", f"Wrong\n\n{text}\n")
    assert files == {"bakery/oven.py": pytest.approx(found["bakery/oven.py:Oven.bake"])}


def test_more_of_a_message_says_more(bakery: Sample) -> None:
    part = bakery.entities(MESSAGES, "message", "It says oven is too hot")
    whole = bakery.entities(MESSAGES, "message", "oven is too hot: 9 degrees, at most 300")
    assert part["bakery/oven.py:Oven.bake"] < whole["bakery/oven.py:Oven.bake"]


def test_messages_say_what_was_found(bakery: Sample) -> None:
    issue = "Wrong\n\nOvenError: oven is too hot: 451 degrees, at most 300"
    reason = bakery.reason(MESSAGES, "message", issue, "bakery/oven.py:Oven.bake")
    assert reason.startswith("string literal: oven is too hot")
    assert bakery.reason(MESSAGES, "file_message", issue, "bakery/oven.py") == reason
    assert bakery.entities(MESSAGES, "message", "nobody eats bread at night") == {}
