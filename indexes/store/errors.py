"""What can go wrong with the index, and SQLite's errors in those words.

::

    StoreError
    |-- IndexDamagedError       (indexes.errors)
    |-- DiskFullError           (indexes.errors)
    |-- SnapshotEvictedError    another process needed the room: build the snapshot again
"""

from __future__ import annotations

import errno
import shutil
import sqlite3
from pathlib import Path

from indexes.errors import DiskFullError, IndexDamagedError, StoreError

_FULL_BYTES = 1 << 20
"""Less than 1 MiB left explains a failure whose cause SQLite does not tell."""


class SnapshotEvictedError(StoreError):
    """The snapshot was dropped after its record was read."""


def damaged(path: Path, reason: str) -> IndexDamagedError:
    """Return the error for an index that cannot be read."""
    return IndexDamagedError(
        f"the index {path} is damaged ({reason}): delete the folder {path.parent}, "
        "it is rebuilt at the next run",
        path=str(path),
    )


def disk_full(path: Path) -> DiskFullError:
    """Return the error for an index that finds no room."""
    return DiskFullError(
        f"no room left on the disk for the index {path}: free some, or put the index elsewhere "
        "with --index-dir; what was stored before is kept",
        path=str(path),
    )


def from_os_error(error: OSError, path: Path) -> StoreError:
    """Return our error for what the operating system said about a path of the index."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return disk_full(path)
    return StoreError(
        f"the index cannot be kept in {path} ({error.strerror}): choose a folder that can be "
        "written with --index-dir",
        path=str(path),
    )


def from_sqlite_error(error: sqlite3.Error, path: Path) -> StoreError:
    """Return our error for SQLite's."""
    primary = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    may_be_full = primary in {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}
    if primary == sqlite3.SQLITE_FULL or (may_be_full and _is_full(path)):
        return disk_full(path)
    # The statements are fixed, so a plain SQL error means that tables are not what they were.
    if primary in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}:
        return damaged(path, str(error))
    if primary in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        remedy = "another process is writing to it for a long time, try again later"
    else:
        remedy = "check that the folder can be written, or choose another with --index-dir"
    return StoreError(f"the index {path} cannot be used ({error}): {remedy}", path=str(path))


def _is_full(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < _FULL_BYTES
    except OSError:
        return False
