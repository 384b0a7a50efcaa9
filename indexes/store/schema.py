"""The tables of the index and the version they carry."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from indexes.errors import StoreError
from indexes.facts import EXTRACTOR_VERSION
from indexes.store.errors import damaged

SCHEMA_VERSION = 1
"""Raise when a table changes."""

INDEX_VERSION = SCHEMA_VERSION * 10_000 + EXTRACTOR_VERSION
"""Kept as SQLite's ``user_version``: tables and facts grow old together."""

_APPLICATION_ID = 0x67726C63
"""``grlc``: tells our files from other people's databases."""

_TABLES = (
    "CREATE TABLE facts (blob_id BLOB PRIMARY KEY, stored_at INTEGER NOT NULL, data BLOB NOT NULL)",
    "CREATE TABLE leases (id INTEGER PRIMARY KEY, taken_at INTEGER NOT NULL,"
    " id_size INTEGER NOT NULL, blob_ids BLOB NOT NULL)",
    "CREATE TABLE snapshots (key TEXT PRIMARY KEY, used_at INTEGER NOT NULL, meta BLOB NOT NULL)",
    "CREATE TABLE snapshot_blobs (key TEXT PRIMARY KEY, id_size INTEGER NOT NULL,"
    " blob_ids BLOB NOT NULL)",
    "CREATE TABLE sections (key TEXT NOT NULL, name TEXT NOT NULL, crc INTEGER NOT NULL,"
    " data BLOB NOT NULL, PRIMARY KEY (key, name))",
    "CREATE TABLE stats (key BLOB PRIMARY KEY, data BLOB NOT NULL)",
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL)",
)


def read_version(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of the index; 0 for an empty database.

    Raises
    ------
    IndexDamagedError
        If the database is somebody else's.
    """
    application = _read_pragma(connection, "application_id")
    if application == _APPLICATION_ID:
        return _read_pragma(connection, "user_version")
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application or tables:
        raise damaged(path, "it is a database of another program")
    return 0


def check_version(connection: sqlite3.Connection, path: Path) -> None:
    """Raise `StoreError` if another version of graphloc has rebuilt the index meanwhile."""
    if _read_pragma(connection, "user_version") != INDEX_VERSION:
        raise StoreError(
            f"another version of graphloc has rebuilt the index {path} meanwhile: run again, "
            "and give each version its own --index-dir",
            path=str(path),
        )


def rebuild_tables(connection: sqlite3.Connection) -> None:
    """Drop all tables and make new ones, inside the caller's transaction."""
    listed = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (name,) in listed:
        if not name.startswith("sqlite_"):
            connection.execute(f'DROP TABLE "{name}"')
    for statement in _TABLES:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {INDEX_VERSION}")


def _read_pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
