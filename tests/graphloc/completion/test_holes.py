"""Holes: found by function or by lines, filled at the right indentation, the rest untouched."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from graphloc.completion.answer import read_body
from graphloc.completion.errors import AnswerError, HoleError
from graphloc.completion.hole import Hole, find_function_hole, find_line_hole
from indexes.model import Span
from indexes.parsing import outline

ROOT = Path(__file__).parents[3]

METHOD = '''class Box:
    """A box."""

    size = 1

    def area(self, scale: int = 2) -> int:
        """Return the area."""
        # scaled
        return self.size * scale

    def other(self):
        return 1
'''


def test_a_methods_body_is_cut_out_behind_its_docstring() -> None:
    hole = find_function_hole(METHOD.encode(), "box.py", "Box.area")
    assert hole.removed == "        # scaled\n        return self.size * scale\n"
    assert hole.before.endswith('"""Return the area."""\n')
    assert hole.after.startswith("\n    def other")
    assert (hole.indent, hole.line, hole.span) == (" " * 8, 7, Span(8, 9))
    assert hole.original() == METHOD.encode()


@pytest.mark.parametrize(
    "reply",
    [
        "return self.size * 3",
        "        return self.size * 3\n",
        "Sure:\n```python\n    return self.size * 3\n```\nThat is it.",
        "```python\ndef area(self, scale=2) -> int:\n    '''Doc.'''\n    return self.size * 3\n```",
        "```\nclass Box:\n    def area(self, scale=2):\n        return self.size * 3\n```",
        "        return self.size * 3\n\n    def more(self):\n        return 2\n",
        "```python\n        return self.size * 3\n",
    ],
)
def test_what_models_reply_becomes_the_body(reply: str) -> None:
    hole = find_function_hole(METHOD.encode(), "box.py", "Box.area")
    filled = hole.fill(read_body(reply, hole)).decode()
    assert filled == METHOD.replace(hole.removed, "        return self.size * 3\n")


def test_a_first_line_that_goes_on_behind_the_prompts_blanks_is_levelled() -> None:
    hole = find_function_hole(METHOD.encode(), "box.py", "Box.area")
    assert read_body("x = 1\n        return x", hole) == "        x = 1\n        return x\n"
    nested = "if scale:\n    return 1\nreturn 2"
    assert read_body(nested, hole) == "".join(f"        {x}\n" for x in nested.split("\n"))


def test_the_insides_of_strings_keep_their_columns() -> None:
    hole = find_function_hole(METHOD.encode(), "box.py", "Box.area")
    body = 'text = """\n  a\n\n   \nb"""\nreturn text\n'
    filled = hole.fill(body).decode()
    assert '        text = """\n  a\n\n   \nb"""\n        return text\n' in filled


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_line_ends_and_encodings_stay(newline: str, encoding: str) -> None:
    text = f"{'# -*- coding: latin-1 -*-' if encoding == 'latin-1' else '# é'}\n{METHOD}# größe\n"
    data = text.replace("\n", newline).encode(encoding)
    hole = find_function_hole(data, "box.py", "Box.area")
    assert hole.original() == data
    filled = hole.fill("a = 1\nreturn a")
    removed = hole.removed
    wanted = text.replace("\n", newline).replace(
        removed, f"        a = 1{newline}        return a{newline}"
    )
    assert filled == wanted.encode(encoding)


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("def f(x):\n", "def f(x):\n    return 1\n"),
        ("def f(x):", "def f(x):\n    return 1\n"),
        ("def f(x: dict[str, int] = {1: 2},\n      y=lambda: 0) -> int:\n\nA = 1\n",
         "def f(x: dict[str, int] = {1: 2},\n      y=lambda: 0) -> int:\n    return 1\n\nA = 1\n"),
        ("def f(x): return x\nA = 1\n", "def f(x):\n    return 1\nA = 1\n"),
        ("def f(x):\n  '''Doc.'''\nA = 1\n", "def f(x):\n  '''Doc.'''\n  return 1\nA = 1\n"),
        ("def f(x):\n\t...\n", "def f(x):\n\treturn 1\n"),
        ("def f(x):\n    return 2", "def f(x):\n    return 1"),
        ("def f(x):  # why\n    pass\n", "def f(x):  # why\n    return 1\n"),
    ],
)  # fmt: skip
def test_headers_without_a_body_and_odd_bodies(source: str, wanted: str) -> None:
    assert find_function_hole(source.encode(), "f.py", "f").fill("return 1").decode() == wanted


def test_a_bodiless_method_among_others_is_told_apart_by_its_class() -> None:
    first = "class A:\n    def f(self):\n        return 1\n\n"
    source = f"{first}class B:\n    def f(self):\n\n    def g(self):\n        return 2\n"
    hole = find_function_hole(source.encode(), "f.py", "B.f")
    filled = hole.fill("return 3").decode()
    assert filled == source.replace(
        "B:\n    def f(self):\n", "B:\n    def f(self):\n        return 3\n"
    )


def test_lines_make_a_hole_as_well() -> None:
    hole = find_line_hole(METHOD.encode(), "box.py", Span(9, 9))
    assert hole.fill("return 7") == METHOD.replace("self.size * scale", "7").encode()
    with pytest.raises(HoleError, match=r"lines 12-13 are not in box\.py"):
        find_line_hole(METHOD.encode(), "box.py", Span(12, 13))


def test_blank_lines_take_what_comes_before_for_their_indentation() -> None:
    source = b"def f(x):\n  if x:\n\n  return 2\n\n"
    assert find_line_hole(source, "f.py", Span(3, 3)).indent == "    "
    assert find_line_hole(source, "f.py", Span(5, 5)).indent == "  "
    assert find_line_hole(b"\n", "f.py", Span(1, 1)).indent == ""


def test_no_such_function_and_no_code_are_told() -> None:
    with pytest.raises(HoleError, match=r"box\.py has no function Box\.volume"):
        find_function_hole(METHOD.encode(), "box.py", "Box.volume")
    hole = find_function_hole(METHOD.encode(), "box.py", "Box.area")
    with pytest.raises(AnswerError, match="no code"):
        read_body("```python\n\n```\n", hole)
    ascii_file = b"# -*- coding: ascii -*-\ndef f():\n    pass\n"
    with pytest.raises(AnswerError, match="the file is ascii"):
        find_function_hole(ascii_file, "f.py", "f").fill("return 'é'")


def _holes(data: bytes, path: str) -> list[Hole]:
    names = {each.name for each in outline(data) if not each.is_class}
    return [find_function_hole(data, path, name) for name in sorted(names)]


@pytest.mark.parametrize("package", ["indexes/text", "repair/patch", "json"])
def test_every_functions_own_body_gives_the_file_again(package: str) -> None:
    folder = ROOT / package if (ROOT / package).is_dir() else Path(ast.__file__).parent / package
    n_holes = 0
    for file in sorted(folder.glob("*.py")):
        data = file.read_bytes()
        for hole in _holes(data, file.name):
            n_holes += 1
            assert hole.original() == data
            if hole.removed.strip():
                body = read_body(hole.removed, hole)
                filled = hole.fill(body)
                assert ast.dump(ast.parse(filled)) == ast.dump(ast.parse(data)), hole.function
                stripped = [line for line in filled.splitlines() if line.strip()]
                assert stripped == [line for line in data.splitlines() if line.strip()]
    assert n_holes > 20
