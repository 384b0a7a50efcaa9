"""Blocks and inline code of every markup that issues are written in."""

from __future__ import annotations

import pytest

from graphloc.issue import BlockKind
from graphloc.issue.markdown import find_blocks, find_inline_code


def kinds(text: str) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in find_blocks(text.split("\n"))]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("```python\nx = 1\n```", "python"),
        ("~~~ py\nx = 1\n~~~", "py"),
        ("  ```{.python}\nx = 1\n  ```", "python"),
        ("```\nx = 1\n```", ""),
        ("```python\nx = 1", "python"),
        ("````md\nx = 1\n````", "md"),
        ("> ```python\n> x = 1\n> ```", "python"),
        ("{{{\nx = 1\n}}}", ""),
        ("{code:python}\nx = 1\n{code}", "python"),
        ("{noformat}\nx = 1\n{noformat}", ""),
        ("<pre>\nx = 1\n</pre>", ""),
        (">>> x = 1", "pycon"),
        ("\n    x = 1", ""),
    ],
)
def test_code_blocks(text: str, language: str) -> None:
    (block,) = find_blocks(text.split("\n"))
    assert block.kind is BlockKind.CODE
    assert block.language == language
    assert block.text.strip().removeprefix(">>> ") == "x = 1"


def test_rows_point_into_the_text() -> None:
    lines = ["para", "", "```", "a", "b", "```", "", "> quoted"]
    blocks = find_blocks(lines)
    assert [(b.kind, b.start, len(b.lines)) for b in blocks] == [
        (BlockKind.PROSE, 0, 1),
        (BlockKind.CODE, 3, 2),
        (BlockKind.QUOTE, 7, 1),
    ]


def test_headings() -> None:
    text = "# One #\n**Two**\nThree\n-----\nh2. Four\n#123 is an issue"
    assert kinds(text) == [
        ("heading", "One"),
        ("heading", "Two"),
        ("heading", "Three"),
        ("heading", "Four"),
        ("prose", "#123 is an issue"),
    ]


def test_comments_go_but_unclosed_ones_stay() -> None:
    assert kinds("a <!-- b --> c") == [("prose", "a   c")]
    assert kinds("<!-- x\n```\ny\n-->\nz") == [("prose", "z")]
    assert kinds("<!-- my words") == [("prose", "<!-- my words")]


def test_details_are_transparent() -> None:
    text = "<details><summary>Log</summary>\n\n```\nx\n```\n</details>"
    assert kinds(text) == [("prose", "  Log "), ("code", "x")]


def test_fence_closed_at_the_end_of_a_line() -> None:
    assert kinds("```\nx\ny```\nafter") == [("code", "x\ny"), ("prose", "after")]


def test_code_behind_the_opening_fence() -> None:
    assert kinds("```import numpy as np\nx\n```") == [("code", "import numpy as np\nx")]


def test_pre_unescapes_entities() -> None:
    assert kinds("<pre><code>a &lt; b</code></pre>") == [("code", "a < b")]


def test_words_around_a_block_in_one_line_stay() -> None:
    assert kinds("see <pre>x</pre> and <pre>\ny\n</pre> there") == [
        ("prose", "see "),
        ("code", "x"),
        ("prose", " and "),
        ("code", "\ny\n"),
        ("prose", " there"),
    ]


def test_words_behind_a_language_are_no_code() -> None:
    assert kinds("```python title here\nx\n```") == [("code", "x")]


def test_indented_prose_of_a_list_is_prose() -> None:
    assert [kind for kind, _ in kinds("- item\n\n    goes on here\n\n    x = f(1)")] == [
        "prose",
        "prose",
        "code",
    ]


def test_inline_code() -> None:
    text = "use `foo` or ``b`ar`` or {{{baz}}} or <code>qux</code> or :func:`~m.fun`, not ```x```"
    found = find_inline_code(text)
    assert found[0] == "foo"
    assert {"baz", "qux", "m.fun"} <= set(found)
