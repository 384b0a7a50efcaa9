"""Blob ids as the index keeps them: bytes, and many of them as one run of bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def pack_ids(blob_ids: Iterable[str]) -> tuple[int, bytes]:
    """Return (bytes per id, all ids in one run); all ids have to come from one kind of hash."""
    ids = [bytes.fromhex(blob_id) for blob_id in blob_ids]
    return (len(ids[0]) if ids else 0), b"".join(ids)


def unpack_ids(id_size: int, packed: bytes) -> Iterator[bytes]:
    """Inverse of `pack_ids`, the ids as bytes."""
    return (packed[i : i + id_size] for i in range(0, len(packed), id_size or 1))
