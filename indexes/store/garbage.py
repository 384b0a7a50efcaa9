"""Dropping facts that no snapshot and no running indexer needs."""

from __future__ import annotations

import sqlite3
import time

from indexes.store.blob_ids import unpack_ids
from indexes.store.database import Database
from indexes.store.fact_table import LEASE_S


def used_bytes(database: Database) -> int:
    """Bytes of the index that hold something; free pages inside the file do not count."""
    with database.reading() as connection:
        size, count, free = (
            int(connection.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_size", "page_count", "freelist_count")
        )
    return size * (count - free)


def collect(database: Database) -> int:
    """Drop facts without use and give the room back to the disk; return how many were dropped.

    In use is what a stored snapshot was made of, what any process asked for in the last hour
    (leases), and what was stored in the last hour. Linear in the number of facts.
    """
    oldest_s = int(time.time()) - LEASE_S
    with database.writing() as connection:
        used = _find_used(connection, oldest_s)
        rows = connection.execute("SELECT blob_id FROM facts WHERE stored_at < ?", (oldest_s,))
        unused = [row for row in rows if row[0] not in used]
        connection.executemany("DELETE FROM facts WHERE blob_id = ?", unused)
    if unused:
        database.shrink()
    return len(unused)


def _find_used(connection: sqlite3.Connection, oldest_s: int) -> set[bytes]:
    rows = connection.execute(
        "SELECT id_size, blob_ids FROM snapshot_blobs UNION ALL"
        " SELECT id_size, blob_ids FROM leases WHERE taken_at >= ?",
        (oldest_s,),
    )
    return {blob_id for id_size, packed in rows for blob_id in unpack_ids(id_size, packed)}
