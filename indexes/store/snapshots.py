"""Compiled snapshots: named runs of bytes that belong together, stored whole or not at all."""

from __future__ import annotations

import sqlite3
import time
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from indexes.errors import StoreError
from indexes.store.blob_ids import pack_ids
from indexes.store.database import Database
from indexes.store.errors import SnapshotEvictedError, damaged

_TOUCH_NS = 60_000_000_000
"""Reading a snapshot counts as use, but is written down once a minute at most."""


@dataclass(frozen=True, slots=True)
class SnapshotRecord:
    """A stored snapshot whose sections are read one by one when they are asked for."""

    key: str
    meta: bytes
    section_names: tuple[str, ...]
    """Sorted."""
    _database: Database = field(repr=False, compare=False)

    def section(self, name: str) -> bytes:
        """Return one section's bytes.

        Raises
        ------
        KeyError
            If the snapshot never had it.
        SnapshotEvictedError
            If the snapshot was dropped or replaced meanwhile.
        IndexDamagedError
            If the bytes are not those that were stored.
        """
        if name not in self.section_names:
            raise KeyError(name)
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT crc, data FROM sections WHERE key = ? AND name = ?", (self.key, name)
            ).fetchone()
        if row is None:
            raise SnapshotEvictedError(
                f"snapshot {self.key} was dropped by another process: run again", key=self.key
            )
        crc, data = row
        if zlib.crc32(data) != crc:
            raise damaged(self._database.path, f"section {name} of snapshot {self.key}")
        return bytes(data)


def put(
    database: Database,
    key: str,
    meta: bytes,
    sections: Mapping[str, bytes],
    blob_ids: Iterable[str],
) -> None:
    """Store or replace a snapshot in one transaction."""
    rows = [(key, name, zlib.crc32(data), data) for name, data in sections.items()]
    id_size, packed = pack_ids(blob_ids)
    with database.writing() as connection:
        _delete(connection, key)
        connection.execute("INSERT INTO snapshots VALUES (?, ?, ?)", (key, time.time_ns(), meta))
        connection.execute("INSERT INTO snapshot_blobs VALUES (?, ?, ?)", (key, id_size, packed))
        connection.executemany("INSERT INTO sections VALUES (?, ?, ?, ?)", rows)


def find(database: Database, key: str) -> SnapshotRecord | None:
    """Return the snapshot of that key, if there is one, and count it as used now."""
    query = "SELECT key, used_at, meta FROM snapshots WHERE key = ?"
    return _find(database, query, (key,))


def find_latest(database: Database) -> SnapshotRecord | None:
    """Return the snapshot that was stored or used last, if there is any."""
    return _find(database, "SELECT key, used_at, meta FROM snapshots ORDER BY used_at DESC", ())


def evict(database: Database, keep: int) -> None:
    """Drop all but the `keep` snapshots that were stored or used last."""
    with database.writing() as connection:
        rows = connection.execute(
            "SELECT key FROM snapshots ORDER BY used_at DESC LIMIT -1 OFFSET ?", (keep,)
        ).fetchall()
        for (key,) in rows:
            _delete(connection, key)


def _delete(connection: sqlite3.Connection, key: str) -> None:
    for table in ("snapshots", "snapshot_blobs", "sections"):
        connection.execute(f"DELETE FROM {table} WHERE key = ?", (key,))


def _find(database: Database, query: str, parameters: tuple[str, ...]) -> SnapshotRecord | None:
    with database.reading() as connection:
        row = connection.execute(query, parameters).fetchone()
        if row is None:
            return None
        key, used_at, meta = row
        names = connection.execute(
            "SELECT name FROM sections WHERE key = ? ORDER BY name", (key,)
        ).fetchall()
    _touch(database, key, used_at)
    return SnapshotRecord(key, meta, tuple(name for (name,) in names), database)


def _touch(database: Database, key: str, used_at_ns: int) -> None:
    now_ns = time.time_ns()
    if database.read_only or now_ns - used_at_ns < _TOUCH_NS:
        return
    # Whoever reads does not care that a full disk, say, keeps us from writing this down.
    with suppress(StoreError), database.writing() as connection:
        connection.execute("UPDATE snapshots SET used_at = ? WHERE key = ?", (now_ns, key))
