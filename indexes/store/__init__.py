"""The index on disk: facts by blob id, stat caches of work trees, compiled snapshots.

One SQLite file in WAL mode per repository. Every write is one transaction, so a kill at any moment
leaves a readable index, and several processes may read and write at once.
"""

from indexes.store.errors import SnapshotEvictedError
from indexes.store.location import index_directory
from indexes.store.snapshots import SnapshotRecord
from indexes.store.store import Store

__all__ = ["SnapshotEvictedError", "SnapshotRecord", "Store", "index_directory"]
