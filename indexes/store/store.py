"""The face of the index on disk."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from indexes.store import fact_table, garbage, snapshots
from indexes.store.database import Database
from indexes.store.snapshots import SnapshotRecord

KEPT_SNAPSHOTS = 16
"""A work tree and a few revisions that somebody goes back and forth between, with histories."""

MAX_BYTES = 1 << 30
"""Beyond 1 GiB facts are collected: about 200,000 files' worth."""


class Store:
    """One index on disk. Threads may share it; pickled, it opens the same index elsewhere.

    Every method that reads or writes raises `IndexDamagedError` on a damaged index, every one that
    writes `DiskFullError` without room, and `StoreError` if the index is read-only or stays locked.
    """

    def __init__(self, database: Database, *, keep_snapshots: int, max_bytes: int) -> None:
        self._database = database
        self._keep_snapshots = keep_snapshots
        self._max_bytes = max_bytes

    @classmethod
    def open(
        cls, directory: Path, *, keep_snapshots: int = KEPT_SNAPSHOTS, max_bytes: int = MAX_BYTES
    ) -> Self:
        """Open the index in a folder, and make it if there is none.

        Parameters
        ----------
        directory : Path
            Usually from `index_directory`.
        keep_snapshots : int
            How many snapshots are kept, the last used ones.
        max_bytes : int
            Size beyond which facts without use are dropped.

        Raises
        ------
        IndexDamagedError
            If the file is damaged or no index.
        StoreError
            If the folder cannot be used.
        """
        return cls(Database(directory), keep_snapshots=keep_snapshots, max_bytes=max_bytes)

    def __reduce__(self) -> tuple[object, ...]:
        return _reopen, (type(self), self.directory, self._keep_snapshots, self._max_bytes)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the index; records of snapshots can no longer be read."""
        self._database.close()

    @property
    def directory(self) -> Path:
        """The folder of the index."""
        return self._database.path.parent

    @property
    def rebuilt(self) -> str | None:
        """Why opening found an index of another version and emptied it; None if it did not."""
        return self._database.rebuilt

    @property
    def read_only(self) -> bool:
        """Whether the index can only be read: all ``put`` methods raise `StoreError` then."""
        return self._database.read_only

    def missing_facts(self, blob_ids: Collection[str]) -> set[str]:
        """Return the blob ids without facts; the facts of the others stay for an hour at least."""
        return fact_table.find_missing(self._database, blob_ids)

    def put_facts(self, facts: Iterable[tuple[str, bytes]]) -> None:
        """Store (blob id, bytes) pairs in batches; each batch is safe once the next one begins."""
        fact_table.put(self._database, facts)

    def get_facts(self, blob_ids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield (blob id, bytes) of those ids that have facts, each once, in any order."""
        return fact_table.iter_facts(self._database, blob_ids)

    def put_snapshot(
        self,
        key: str,
        meta: bytes,
        sections: Mapping[str, bytes],
        blob_ids: Iterable[str] = (),
    ) -> None:
        """Store or replace a snapshot, whole or not at all, and drop what there is too much of.

        Parameters
        ----------
        key : str
            Digest of what the snapshot was made of.
        meta : bytes
            Comes with the record.
        sections : mapping of str to bytes
            Read one by one later; stored as they are.
        blob_ids : iterable of str
            What it was made of: these facts are kept as long as the snapshot.
        """
        snapshots.put(self._database, key, meta, sections, blob_ids)
        snapshots.evict(self._database, self._keep_snapshots)
        if garbage.used_bytes(self._database) > self._max_bytes:
            garbage.collect(self._database)

    def get_snapshot(self, key: str) -> SnapshotRecord | None:
        """Return the snapshot of that key, if there is one; that counts as using it."""
        return snapshots.find(self._database, key)

    def latest_snapshot(self) -> SnapshotRecord | None:
        """Return the snapshot that was stored or used last, if there is any."""
        return snapshots.find_latest(self._database)

    def collect_garbage(self) -> int:
        """Drop facts that no snapshot and no recent run needs; return how many."""
        return garbage.collect(self._database)

    def load_stats(self, key: bytes) -> bytes | None:
        """Return the stat cache of a work tree; a `StatCache` of `indexes.source`."""
        return self._find_value("SELECT data FROM stats WHERE key = ?", key)

    def save_stats(self, key: bytes, data: bytes) -> None:
        """Replace the stat cache of a work tree; a read-only index goes without."""
        if not self.read_only:
            with self._database.writing() as connection:
                connection.execute("INSERT OR REPLACE INTO stats VALUES (?, ?)", (key, data))

    def get_meta(self, key: str) -> bytes | None:
        """Return a small value, or None if it was never set."""
        return self._find_value("SELECT value FROM meta WHERE key = ?", key)

    def put_meta(self, key: str, value: bytes) -> None:
        """Set a small value."""
        with self._database.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def _find_value(self, query: str, key: str | bytes) -> bytes | None:
        with self._database.reading() as connection:
            row = connection.execute(query, (key,)).fetchone()
        return None if row is None else bytes(row[0])


def _reopen(cls: type[Store], directory: Path, keep_snapshots: int, max_bytes: int) -> Store:
    return cls.open(directory, keep_snapshots=keep_snapshots, max_bytes=max_bytes)
