"""What is known about the files of a work tree, so that unchanged ones need not be read."""

from __future__ import annotations

import os
from collections.abc import Container

import msgspec

_RACY_NS = 2_000_000_000
"""A file changed this recently may change again without a new time stamp: FAT counts in 2 s."""

_FORMAT = 1

_Record = tuple[int, int, int, int, int, bytes]
"""Size, mtime and ctime in ns, inode, mode, blob id."""


class _Table(msgspec.Struct, array_like=True):
    format: int
    object_format: str
    records: dict[bytes, _Record]


_DECODER = msgspec.msgpack.Decoder(_Table)


class StatTable:
    """Blob ids by path, each believed as long as the file's stat data stay the same.

    A record is kept only if the file was already old when its bytes were hashed (git's racy rule).

    Parameters
    ----------
    data : bytes or None
        What `encode` gave an earlier time; anything else counts as nothing.
    object_format : str
        Name of the hash; records of another one are dropped.
    now_ns : int
        Time before the first file is read, ns since 1970.
    """

    def __init__(self, data: bytes | None, *, object_format: str, now_ns: int) -> None:
        self._object_format = object_format
        self._trusted_until_ns = now_ns - _RACY_NS
        self._records = _decode(data, object_format)
        self.changed = False

    def find_blob_id(self, path: bytes, stat: os.stat_result) -> str | None:
        """Return the id of the file's bytes if the file is as it was."""
        record = self._records.get(path)
        if record is None or record[:5] != _stat_fields(stat):
            return None
        return record[5].hex()

    def add(self, path: bytes, stat: os.stat_result, blob_id: str) -> None:
        """Remember a file that was just hashed, unless it is too young to be trusted."""
        if max(stat.st_mtime_ns, stat.st_ctime_ns) < self._trusted_until_ns:
            self._records[path] = (*_stat_fields(stat), bytes.fromhex(blob_id))
            self.changed = True
        elif self._records.pop(path, None) is not None:
            self.changed = True

    def keep(self, paths: Container[bytes]) -> None:
        """Forget files that are no longer listed."""
        kept = {path: record for path, record in self._records.items() if path in paths}
        self.changed = self.changed or len(kept) < len(self._records)
        self._records = kept

    def encode(self) -> bytes:
        """Return the table as bytes."""
        table = _Table(_FORMAT, self._object_format, self._records)
        return msgspec.msgpack.encode(table)


def _decode(data: bytes | None, object_format: str) -> dict[bytes, _Record]:
    if data is None:
        return {}
    try:
        table = _DECODER.decode(data)
    except msgspec.MsgspecError:
        return {}
    same = table.format == _FORMAT and table.object_format == object_format
    return table.records if same else {}


def _stat_fields(stat: os.stat_result) -> tuple[int, int, int, int, int]:
    return (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, stat.st_mode)
