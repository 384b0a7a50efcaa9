"""The connection to the index: opening, locking, transactions, errors in our own words."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from indexes.errors import StoreError
from indexes.store.errors import from_os_error, from_sqlite_error
from indexes.store.schema import INDEX_VERSION, check_version, read_version, rebuild_tables

INDEX_FILE = "index.sqlite"

_BUSY_TIMEOUT_S = 60.0
"""Longest wait for another writer; the longest write, a big snapshot, takes about a second."""

_PAGE_BYTES = 8192
"""Sections of 30 MB load a third faster than from the usual 4096; 16384 gains nothing more."""

_WAL_LIMIT_BYTES = 32 << 20
"""The log is cut back to this after a checkpoint: one snapshot should not leave its size behind."""

_NEW_FILE_PRAGMAS = (f"page_size = {_PAGE_BYTES}", "auto_vacuum = INCREMENTAL")
"""Have to come before the first table and before the log."""

_PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = NORMAL",
    f"journal_size_limit = {_WAL_LIMIT_BYTES}",
    "trusted_schema = OFF",
)


_SHRINK = "PRAGMA incremental_vacuum"
"""To be run as a script: it frees one page a step, and a plain statement is stepped once."""


class Database:
    """One connection, shared by the threads of a process under a lock, remade after a fork."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / INDEX_FILE
        self.read_only = _is_read_only(self.path)
        self.rebuilt: str | None = None
        self._inherited: list[sqlite3.Connection] = []
        self._start()

    def close(self) -> None:
        """Close the connection; the log is folded in if nobody else uses the index."""
        with self._lock:
            if self._pid == os.getpid():
                self._connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give the connection to one reader, with errors translated."""
        self._follow_fork()
        with self._lock, self._translated():
            yield self._connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give the connection to one writer in a transaction: all of it happens, or nothing.

        Raises
        ------
        StoreError
            If the index is read-only, locked for too long, or was rebuilt by another version.
        DiskFullError
            If there is no room; earlier transactions are kept.
        """
        self._follow_fork()
        if self.read_only:
            raise StoreError(
                f"the index {self.path} is read-only: choose another place with --index-dir",
                path=str(self.path),
            )
        with self._lock, self._translated(), _transaction(self._connection, "BEGIN IMMEDIATE"):
            check_version(self._connection, self.path)
            yield self._connection

    def shrink(self) -> None:
        """Give free pages back to the disk."""
        self._follow_fork()
        with self._lock, self._translated():
            self._connection.executescript(_SHRINK)

    def _start(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.RLock()
        with self._translated():
            connect = _connect_read_only if self.read_only else _connect
            self._connection = connect(self.path)
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def _follow_fork(self) -> None:
        """Connect anew in a child process; closing the parent's connection there would harm it."""
        if self._pid != os.getpid():
            self._inherited.append(self._connection)
            self._start()

    def _prepare(self) -> None:
        """Make the tables where there are none, and anew where they have another version."""
        with _transaction(self._connection, "BEGIN"):
            version = read_version(self._connection, self.path)
        if version == INDEX_VERSION:
            return
        if self.read_only:
            raise StoreError(
                f"the index {self.path} has another version and is read-only: "
                "choose another place with --index-dir",
                path=str(self.path),
            )
        with _transaction(self._connection, "BEGIN IMMEDIATE"):
            version = read_version(self._connection, self.path)  # another process may be quicker
            if version == INDEX_VERSION:
                return
            rebuild_tables(self._connection)
        if version:
            self.rebuilt = f"the index had version {version}, this graphloc needs {INDEX_VERSION}"
            self._connection.executescript(_SHRINK)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.ProgrammingError:
            raise  # a mistake of the caller's, such as using a closed store
        except sqlite3.Error as error:
            raise from_sqlite_error(error, self.path) from error


@contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _is_read_only(path: Path) -> bool:
    """Whether an index can only be read here.

    Raises
    ------
    StoreError
        If there is none and none can be made.
    """
    try:
        if path.exists():
            return not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise from_os_error(error, path.parent) from error
    return False


def _connect(path: Path) -> sqlite3.Connection:
    is_new = not path.exists() or path.stat().st_size == 0
    connection = sqlite3.connect(
        path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
    )
    try:
        # Choosing these on an index that has them would be a write.
        for pragma in (*(_NEW_FILE_PRAGMAS if is_new else ()), *_PRAGMAS):
            connection.execute(f"PRAGMA {pragma}").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def _connect_read_only(path: Path) -> sqlite3.Connection:
    """Connect without writing; where not even the log's index can be made, without the log."""
    for option in ("mode=ro", "mode=ro&immutable=1"):
        connection = sqlite3.connect(
            f"file:{quote(os.fsencode(path.absolute()))}?{option}",
            uri=True,
            timeout=_BUSY_TIMEOUT_S,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            connection.execute("PRAGMA user_version").fetchall()
        except sqlite3.OperationalError:
            connection.close()
            if "immutable" in option:
                raise
        except BaseException:
            connection.close()
            raise
        else:
            break
    return connection
