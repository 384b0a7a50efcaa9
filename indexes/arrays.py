"""Named arrays as one run of bytes, read back without copying.

Layout: 8 bytes little-endian header length, a MessagePack header {name: (dtype, shape, offset)},
then each array's bytes at an offset that is a multiple of 64.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

Arrays = Mapping[str, npt.NDArray[Any]]

_ALIGNMENT = 64
_Header = dict[str, tuple[str, tuple[int, ...], int]]


def pack_arrays(arrays: Arrays) -> bytes:
    """Encode arrays; object arrays are not allowed."""
    header: _Header = {}
    offset = 0
    parts: list[bytes] = []
    for name, array in arrays.items():
        data = np.ascontiguousarray(array).tobytes()
        header[name] = (array.dtype.str, array.shape, offset)
        padding = -len(data) % _ALIGNMENT
        parts += [data, bytes(padding)]
        offset += len(data) + padding
    encoded = msgspec.msgpack.encode(header)
    encoded += b"\xc1" * (-(len(encoded) + 8) % _ALIGNMENT)
    return b"".join([len(encoded).to_bytes(8, "little"), encoded, *parts])


def unpack_arrays(data: bytes) -> dict[str, npt.NDArray[Any]]:
    """Inverse of `pack_arrays`; the arrays are read-only views of `data`."""
    length = int.from_bytes(data[:8], "little")
    encoded = data[8 : 8 + length].rstrip(b"\xc1")
    header = msgspec.msgpack.decode(encoded, type=_Header)
    start = 8 + length
    return {
        name: np.frombuffer(
            data, dtype=np.dtype(dtype), count=int(np.prod(shape)), offset=start + offset
        ).reshape(shape)
        for name, (dtype, shape, offset) in header.items()
    }


def pack_texts(texts: Iterable[str]) -> npt.NDArray[np.uint8]:
    """Texts as one array of bytes, NUL between them; a NUL inside a text becomes a space."""
    joined = "\0".join(text.replace("\0", " ") for text in texts)
    return np.frombuffer(joined.encode("utf-8", "surrogateescape"), dtype=np.uint8)


def unpack_texts(array: npt.NDArray[np.uint8], count: int) -> list[str]:
    """Inverse of `pack_texts`; `count` tells no text from one empty text."""
    if count == 0:
        return []
    return array.tobytes().decode("utf-8", "surrogateescape").split("\0")
