"""Opening: versions, damage, read-only places, pickling, threads."""

from __future__ import annotations

import os
import pickle
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

import indexes
from indexes.errors import GraphlocError, IndexDamagedError, StoreError
from indexes.store import Store
from indexes.store.schema import INDEX_VERSION

INDEX = "index.sqlite"
NOBODY = 65534


def age(folder, version=INDEX_VERSION - 1):
    with closing(sqlite3.connect(folder / INDEX)) as other:
        other.execute(f"PRAGMA user_version = {version}")


def filled(folder, make_facts, count=2000):
    facts = make_facts(count)
    with Store.open(folder) as store:
        store.put_facts(facts)
        store.put_snapshot("key", b"meta", {"a": b"a" * 100_000}, dict(facts))
    return facts


@pytest.mark.parametrize("version", [INDEX_VERSION - 1, INDEX_VERSION + 10_000, 0])
def test_an_index_of_another_version_is_rebuilt_with_a_word(tmp_path, make_facts, version):
    facts = filled(tmp_path, make_facts, 10)
    age(tmp_path, version)
    with Store.open(tmp_path) as store:
        assert store.rebuilt is None if version == 0 else f"version {version}" in store.rebuilt
        assert store.missing_facts(dict(facts)) == set(dict(facts))
        assert store.get_snapshot("key") is None
        store.put_facts(facts)
    with Store.open(tmp_path) as store:
        assert store.rebuilt is None
        assert len(dict(store.get_facts(dict(facts)))) == 10


def test_a_store_that_was_rebuilt_by_another_version_writes_no_more(tmp_path, make_facts):
    with Store.open(tmp_path) as store:
        age(tmp_path, INDEX_VERSION + 1)
        with pytest.raises(StoreError, match="another version of graphloc"):
            store.put_facts(make_facts(1))


def test_an_empty_file_is_no_damage(tmp_path):
    (tmp_path / INDEX).touch()
    with Store.open(tmp_path) as store:
        store.put_meta("a", b"1")
        assert store.get_meta("a") == b"1"


def check_damage(folder):
    with pytest.raises(IndexDamagedError) as caught:
        _read_all(folder)
    assert f"delete the folder {folder}" in caught.value.message
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), IndexDamagedError)
    shutil.rmtree(folder)
    with Store.open(folder) as store:
        store.put_meta("a", b"1")


def _read_all(folder):
    with Store.open(folder) as store:
        list(store.get_facts(row.hex() for row in _all_ids(folder)))
        store.get_snapshot("key").section("a")


def _all_ids(folder):
    with closing(sqlite3.connect(folder / INDEX)) as other:
        try:
            return [row[0] for row in other.execute("SELECT blob_id FROM facts")]
        except sqlite3.DatabaseError:
            return [b"\xab" * 20]


def test_text_in_place_of_an_index(tmp_path):
    folder = tmp_path / "index"
    folder.mkdir()
    (folder / INDEX).write_text("this is no database, but it is long enough" * 100)
    check_damage(folder)


def test_a_truncated_index(tmp_path, make_facts):
    folder = tmp_path / "index"
    filled(folder, make_facts)
    os.truncate(folder / INDEX, (folder / INDEX).stat().st_size // 3)
    check_damage(folder)


def test_malformed_pages(tmp_path, make_facts):
    folder = tmp_path / "index"
    filled(folder, make_facts)
    with open(folder / INDEX, "r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(8192)
        file.write(os.urandom(size - 8192))
    check_damage(folder)


def test_missing_tables(tmp_path, make_facts):
    folder = tmp_path / "index"
    filled(folder, make_facts)
    with closing(sqlite3.connect(folder / INDEX)) as other:
        other.execute("DROP TABLE facts")
    check_damage(folder)


def test_a_database_of_another_program_is_left_alone(tmp_path):
    with closing(sqlite3.connect(tmp_path / INDEX)) as other, other:
        other.execute("CREATE TABLE theirs (a)")
    with pytest.raises(IndexDamagedError, match="another program"):
        Store.open(tmp_path)
    with closing(sqlite3.connect(tmp_path / INDEX)) as other:
        assert other.execute("SELECT count(*) FROM theirs").fetchone() == (0,)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="--index-dir"):
        Store.open(tmp_path / "file/index")


def test_a_folder_in_place_of_the_file(tmp_path):
    (tmp_path / INDEX).mkdir()
    with pytest.raises(StoreError, match="--index-dir"):
        Store.open(tmp_path)


READ_ONLY = f"""
import os, sys
from pathlib import Path
from indexes.store import Store
from indexes.errors import StoreError
if os.geteuid() == 0:
    os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
folder = Path(sys.argv[1])
with Store.open(folder) as store:
    assert store.read_only
    assert len(dict(store.get_facts(["ab" * 20]))) == 1
    assert store.missing_facts(["ab" * 20, "cd" * 20]) == {{"cd" * 20}}
    assert store.get_snapshot("key").section("a") == b"1"
    store.save_stats(b"k", b"v")
    try:
        store.put_meta("a", b"1")
    except StoreError as error:
        print(error)
"""


@pytest.mark.parametrize("in_use", [True, False])
def test_a_read_only_index_serves_readers(in_use):
    folder = Path(tempfile.mkdtemp())
    try:
        store = Store.open(folder)
        store.put_facts([("ab" * 20, b"x")])
        store.put_snapshot("key", b"", {"a": b"1"})
        if not in_use:
            store.close()
        folder.chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(folder)],
            env=os.environ | {"PYTHONPATH": str(Path(indexes.__file__).parents[1])},
            capture_output=True,
            text=True,
            check=False,
        )
        store.close()
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)
    assert "is read-only" in done.stdout, done.stderr


def test_a_pickled_store_opens_the_same_index(tmp_path):
    with Store.open(tmp_path, keep_snapshots=1) as store:
        store.put_meta("a", b"1")
        with pickle.loads(pickle.dumps(store)) as copy:
            assert copy.directory == tmp_path
            assert copy.get_meta("a") == b"1"
            copy.put_snapshot("k1", b"", {})
            copy.put_snapshot("k2", b"", {})
            assert store.get_snapshot("k1") is None


def test_threads_share_a_store(store, make_facts):
    def work(number):
        facts = make_facts(300, start=number * 150)
        store.put_facts(facts)
        return dict(store.get_facts(dict(facts))) == dict(facts)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(16)))


def test_a_closed_store_is_a_mistake_of_the_caller(tmp_path):
    store = Store.open(tmp_path)
    store.close()
    with pytest.raises(sqlite3.ProgrammingError) as caught:
        store.get_meta("a")
    assert not isinstance(caught.value, GraphlocError)
