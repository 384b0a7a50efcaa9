"""Arrays as bytes."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from indexes.arrays import pack_arrays, pack_texts, unpack_arrays, unpack_texts

DTYPES = ("<i4", "<i8", "<f4", "<f8", "|u1", "<u2", "|b1")
ARRAYS = st.dictionaries(
    st.text(min_size=1, max_size=8),
    st.sampled_from(DTYPES).flatmap(
        lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=1, max_dims=3, min_side=0))
    ),
    max_size=6,
)


@given(arrays=ARRAYS)
def test_arrays_come_back_as_they_were(arrays: dict[str, np.ndarray]) -> None:
    found = unpack_arrays(pack_arrays(arrays))

    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        np.testing.assert_array_equal(found[name], array)


def test_no_arrays_and_empty_arrays_come_back() -> None:
    assert unpack_arrays(pack_arrays({})) == {}
    found = unpack_arrays(pack_arrays({"none": np.zeros((0, 3), np.int32)}))
    assert found["none"].shape == (0, 3)
    assert found["none"].dtype == np.int32


def test_each_array_begins_at_a_multiple_of_64_bytes() -> None:
    arrays = {f"a{n}": np.arange(n, dtype=np.uint8) for n in (1, 63, 64, 65, 200)}
    data = pack_arrays(arrays)
    start = np.frombuffer(data, dtype=np.uint8).ctypes.data

    found = unpack_arrays(data)

    assert [(array.ctypes.data - start) % 64 for array in found.values()] == [0] * len(arrays)


def test_arrays_are_views_of_the_bytes_that_nobody_can_write_to() -> None:
    data = pack_arrays({"a": np.arange(5)})
    array = unpack_arrays(data)["a"]

    assert np.shares_memory(array, np.frombuffer(data, dtype=np.uint8))
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


def test_arrays_that_are_not_contiguous_are_packed_in_order() -> None:
    table = np.arange(12).reshape(3, 4)
    found = unpack_arrays(pack_arrays({"column": table[:, 1], "turned": table.T}))

    assert found["column"].tolist() == [1, 5, 9]
    np.testing.assert_array_equal(found["turned"], table.T)


def test_equal_arrays_give_equal_bytes() -> None:
    def pack() -> bytes:
        return pack_arrays({"b": np.arange(3), "a": np.ones(2, np.float32)})

    assert pack() == pack()


def test_bytes_of_something_else_are_refused() -> None:
    with pytest.raises((msgspec.MsgspecError, ValueError)):
        unpack_arrays(b"\x05\0\0\0\0\0\0\0hello, world")


@given(texts=st.lists(st.text(st.characters(exclude_characters="\0"))))
def test_texts_come_back_as_they_were(texts: list[str]) -> None:
    assert unpack_texts(pack_texts(texts), len(texts)) == texts


def test_names_of_files_that_are_not_utf_8_survive() -> None:
    name = b"caf\xe9.py".decode("utf-8", "surrogateescape")
    assert unpack_texts(pack_texts([name, ""]), 2) == [name, ""]


def test_a_nul_inside_a_text_does_not_move_the_others() -> None:
    assert unpack_texts(pack_texts(["a\0b", "c"]), 2) == ["a b", "c"]


def test_no_text_and_one_empty_text_are_told_apart() -> None:
    assert unpack_texts(pack_texts([]), 0) == []
    assert unpack_texts(pack_texts([""]), 1) == [""]
