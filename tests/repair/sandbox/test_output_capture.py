"""Outputs of any length in bounded memory."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from repair.sandbox.capture import BoundedOutput


@given(st.lists(st.binary(max_size=30)), st.integers(2, 60))
def test_head_and_tail_are_those_of_the_whole(pieces: list[bytes], cap: int) -> None:
    output = BoundedOutput(cap)
    for piece in pieces:
        output.feed(piece)
    whole = b"".join(pieces)
    half = cap // 2
    if len(whole) <= 2 * half:
        assert output.text() == whole.decode("utf-8", "replace")
        assert not output.is_truncated
        return
    head, tail = (part.decode("utf-8", "replace") for part in (whole[:half], whole[-half:]))
    mark = f"\n[... {len(whole) - 2 * half} bytes left out ...]\n"
    assert output.text() == head + mark + tail
    assert output.is_truncated
