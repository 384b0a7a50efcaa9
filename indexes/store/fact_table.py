"""Facts by blob id, compressed.

zlib level 1, after a measurement on the facts of 600 modules of the standard library (7.46 MB):

===== ======= =========== =============
level size MB compress ms decompress ms
===== ======= =========== =============
none  7.46    0           0
1     2.71    75          32
3     2.61    87          29
6     2.47    144         28
9     2.47    175         29
===== ======= =========== =============

Higher levels save a tenth of the room for twice the time.
"""

from __future__ import annotations

import sqlite3
import time
import zlib
from collections.abc import Collection, Iterable, Iterator
from itertools import islice

from indexes.store.blob_ids import pack_ids
from indexes.store.database import Database
from indexes.store.errors import damaged

LEASE_S = 3600
"""How long facts stay safe from collection after an indexer asked for them or stored them."""

_COMPRESSION_LEVEL = 1
_IDS_PER_QUERY = 500
"""Below the 999 parameters that old builds of SQLite take."""
_ROWS_PER_BATCH = 256
"""What a kill may cost: one batch is a few megabytes and a few milliseconds."""


def find_missing(database: Database, blob_ids: Collection[str]) -> set[str]:
    """Return the ids without facts, and lease the others to this run of the indexer."""
    if database.read_only:
        with database.reading() as connection:
            return _find_missing(connection, blob_ids)
    id_size, packed = pack_ids(blob_ids)
    now_s = int(time.time())
    with database.writing() as connection:
        connection.execute("DELETE FROM leases WHERE taken_at < ?", (now_s - LEASE_S,))
        connection.execute(
            "INSERT INTO leases (taken_at, id_size, blob_ids) VALUES (?, ?, ?)",
            (now_s, id_size, packed),
        )
        return _find_missing(connection, blob_ids)


def _find_missing(connection: sqlite3.Connection, blob_ids: Collection[str]) -> set[str]:
    missing = set(blob_ids)
    for chunk in _iter_chunks(list(missing)):
        rows = connection.execute(
            f"SELECT blob_id FROM facts WHERE blob_id IN ({_marks(chunk)})", chunk
        )
        missing.difference_update(row[0].hex() for row in rows)
    return missing


def put(database: Database, facts: Iterable[tuple[str, bytes]]) -> None:
    """Store facts batch by batch, each in its own transaction; known ids are left as they are."""
    pending = iter(facts)
    while batch := list(islice(pending, _ROWS_PER_BATCH)):
        now_s = int(time.time())
        rows = [
            (bytes.fromhex(blob_id), now_s, zlib.compress(data, _COMPRESSION_LEVEL))
            for blob_id, data in batch
        ]
        with database.writing() as connection:
            connection.executemany("INSERT OR IGNORE INTO facts VALUES (?, ?, ?)", rows)


def iter_facts(database: Database, blob_ids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield (blob id, facts) of the ids that have any, in no particular order."""
    for chunk in _iter_chunks(list(dict.fromkeys(blob_ids))):
        query = f"SELECT blob_id, data FROM facts WHERE blob_id IN ({_marks(chunk)})"
        with database.reading() as connection:
            rows = connection.execute(query, chunk).fetchall()
        for blob_id, data in rows:
            try:
                yield blob_id.hex(), zlib.decompress(data)
            except zlib.error as error:
                raise damaged(database.path, f"facts of {blob_id.hex()}: {error}") from error


def _iter_chunks(blob_ids: list[str]) -> Iterator[list[bytes]]:
    for start in range(0, len(blob_ids), _IDS_PER_QUERY):
        yield [bytes.fromhex(blob_id) for blob_id in blob_ids[start : start + _IDS_PER_QUERY]]


def _marks(chunk: list[bytes]) -> str:
    return ",".join("?" * len(chunk))
