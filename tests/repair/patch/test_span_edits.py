"""Spans replaced by new source."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.errors import InputError
from indexes.model import Span
from repair.patch import replace_bytes, replace_lines

DATA = b"class A:\r\n\tdef f(self):\r\n\t\treturn 1\r\n\r\n\tdef g(self):\r\n\t\treturn 2"


def test_new_source_takes_the_spans_indentation_and_line_ends() -> None:
    new = replace_lines(DATA, Span(2, 3), "    def f(self, x):\n\n        return x\n")
    assert new == DATA.replace(
        b"\tdef f(self):\r\n\t\treturn 1", b"\tdef f(self, x):\r\n\r\n\t    return x"
    )


def test_a_missing_final_line_end_stays_missing() -> None:
    assert replace_lines(DATA, Span(6, 6), "return 3\n") == DATA[:-1] + b"3"


def test_a_span_can_be_deleted() -> None:
    assert replace_lines(b"a\nb\nc\n", Span(2, 2), "") == b"a\nc\n"


@pytest.mark.parametrize("span", [Span(0, 1), Span(3, 2), Span(6, 7)])
def test_spans_outside_are_refused(span: Span) -> None:
    with pytest.raises(InputError, match="not in a file of 6 lines"):
        replace_lines(DATA, span, "x\n")


def test_characters_the_encoding_lacks_are_refused() -> None:
    with pytest.raises(InputError, match="latin-1, which has no '→'"):
        replace_lines(b"# coding: latin-1\nx = 1\n", Span(2, 2), "x = '→'\n")


def test_bytes() -> None:
    assert replace_bytes(b"abcdef", 2, 4, b"XYZ") == b"abXYZef"
    with pytest.raises(InputError, match="bytes 4-9"):
        replace_bytes(b"abcdef", 4, 9, b"")


@given(st.binary(max_size=60), st.data())
def test_everything_outside_stays(data: bytes, draw: st.DataObject) -> None:
    text = data.replace(b"\r", b"") + b"\nlast\n"
    if text.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")) or b"coding" in text:
        return
    lines = text.split(b"\n")
    line = draw.draw(st.integers(1, len(lines) - 1))
    new = replace_lines(text, Span(line, line), "NEW\n").split(b"\n")
    assert (new[: line - 1], new[line:]) == (lines[: line - 1], lines[line:])
    assert new[line - 1].strip(b" \t") == b"NEW"
