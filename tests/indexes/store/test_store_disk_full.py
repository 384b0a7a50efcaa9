"""A full disk loses nothing that was stored before."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import indexes
from indexes.errors import DiskFullError
from indexes.store import Store

NAMESPACE = ("unshare", "--map-root-user", "--mount", "--")


def test_a_database_that_may_not_grow(store):
    kept = [(os.urandom(20).hex(), os.urandom(3000)) for _ in range(300)]
    more = [(os.urandom(20).hex(), os.urandom(3000)) for _ in range(300)]
    store.put_facts(kept)
    with store._database.reading() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 3}").fetchall()
    with pytest.raises(DiskFullError, match="what was stored before is kept") as caught:
        store.put_facts(more)
    assert caught.value.exit_code == 2
    with pytest.raises(DiskFullError):
        store.put_snapshot("key", b"", {"a": b"a" * 1_000_000})
    assert store.get_snapshot("key") is None
    assert dict(store.get_facts(dict(kept))) == dict(kept)
    with store._database.reading() as connection:
        connection.execute("PRAGMA max_page_count = 100000").fetchall()
    store.put_facts(more)
    assert dict(store.get_facts(dict(more))) == dict(more)


FILL = """
import os, subprocess, sys
from pathlib import Path
from indexes.errors import DiskFullError
from indexes.store import Store, index_directory
disk = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(disk)], check=True)
folder = index_directory(disk)
stored = {}
with Store.open(folder) as store:
    try:
        while True:
            facts = {os.urandom(20).hex(): os.urandom(2000) for _ in range(50)}
            store.put_facts(facts.items())
            stored.update(facts)
    except DiskFullError:
        print("full")
    assert dict(store.get_facts(stored)) == stored
with open(disk / "filler", "wb", buffering=0) as file:
    try:
        while file.write(bytes(4096)):
            pass
    except OSError:
        print("filled")
try:
    with Store.open(folder) as store:
        store.put_facts([("ab" * 20, os.urandom(100_000))])
except DiskFullError:
    print("still full")
(disk / "filler").unlink()
with Store.open(folder) as store:
    assert dict(store.get_facts(stored)) == stored
    print("kept", len(stored) > 100)
(folder / "index.sqlite").unlink()
with open(disk / "filler", "wb", buffering=0) as file:
    try:
        while file.write(bytes(4096)):
            pass
    except OSError:
        pass
try:
    index_directory(disk / "other")
except DiskFullError:
    print("no room for a folder")
"""


def test_a_disk_that_fills_up(tmp_path):
    probe = subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False)
    if probe.returncode:
        pytest.skip("this machine lets nobody mount a small disk")
    done = subprocess.run(
        [*NAMESPACE, sys.executable, "-c", FILL, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(Path(indexes.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[:4] == ["full", "filled", "still full", "kept True"], (
        done.stderr
    )
    assert done.stdout.splitlines()[4:] == ["no room for a folder"], done.stderr
    with Store.open(tmp_path) as store:
        assert store.latest_snapshot() is None
