"""Unchanged files are not read again; changed ones always are."""

from __future__ import annotations

import os
import time

import pytest

from indexes.source import open_source
from indexes.source.stats import StatTable
from indexes.store import Store

LATER_NS = 10_000_000_000


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "index") as store:
        yield store


@pytest.fixture
def old_repository(repository, monkeypatch):
    """A repository all of whose files were changed some time ago."""
    now_ns = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now_ns() + LATER_NS)
    return repository


def forbid_reading(monkeypatch):
    def fail(path, object_format):
        raise AssertionError(f"{path!r} was read")

    monkeypatch.setattr("indexes.source.worktree.hash_file", fail)


def test_an_unchanged_tree_is_not_read(old_repository, store, monkeypatch):
    (old_repository.path / "link.py").symlink_to("pkg/a.py")
    entries = open_source(old_repository.path).entries(store)
    forbid_reading(monkeypatch)
    assert open_source(old_repository.path).entries(store) == entries


def test_young_files_are_not_trusted(repository, store, monkeypatch):
    open_source(repository.path).entries(store)
    forbid_reading(monkeypatch)
    with pytest.raises(AssertionError, match="was read"):
        open_source(repository.path).entries(store)


def test_a_change_of_same_size_and_time_is_seen(old_repository, store):
    file = old_repository.path / "pkg/a.py"
    before = {e.path: e for e in open_source(old_repository.path).entries(store)}
    found = file.stat()
    old_repository.write("pkg/a.py", "a = 9\n")
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
    after = {e.path: e for e in open_source(old_repository.path).entries(store)}
    assert after["pkg/a.py"].blob_id == old_repository.git("hash-object", "pkg/a.py")
    assert after["pkg/a.py"] != before["pkg/a.py"]
    assert after["tool"] == before["tool"]


def test_only_what_changed_is_read(old_repository, store, monkeypatch):
    open_source(old_repository.path).entries(store)
    old_repository.write("new.py", "new = 1\n")
    read = []
    from indexes.source import worktree

    real = worktree.hash_file

    def count(path, object_format):
        read.append(path)
        return real(path, object_format)

    monkeypatch.setattr(worktree, "hash_file", count)
    open_source(old_repository.path).entries(store)
    assert read == [os.fsencode(old_repository.path / "new.py")]


def test_a_spoilt_cache_is_no_cache(old_repository, store):
    key = os.fsencode(old_repository.path)
    store.save_stats(key, b"\x00spoilt")
    entries = open_source(old_repository.path).entries(store)
    assert entries == open_source(old_repository.path).entries()
    assert store.load_stats(key) != b"\x00spoilt"


def test_records_of_files_that_are_gone_are_dropped(tmp_path):
    (tmp_path / "a").write_bytes(b"a")
    found = (tmp_path / "a").stat()
    later = found.st_ctime_ns + LATER_NS
    table = StatTable(None, object_format="sha1", now_ns=later)
    table.add(b"a", found, "ab" * 20)
    table.add(b"b", found, "cd" * 20)
    table.keep({b"a"})
    again = StatTable(table.encode(), object_format="sha1", now_ns=later)
    assert again.find_blob_id(b"a", found) == "ab" * 20
    assert again.find_blob_id(b"b", found) is None
    assert not again.changed
    other = StatTable(table.encode(), object_format="sha256", now_ns=later)
    assert other.find_blob_id(b"a", found) is None


def test_a_file_from_the_future_is_never_trusted(tmp_path):
    (tmp_path / "a").write_bytes(b"a")
    os.utime(tmp_path / "a", ns=(0, time.time_ns() + 10**15))
    found = (tmp_path / "a").stat()
    table = StatTable(None, object_format="sha1", now_ns=time.time_ns() + LATER_NS)
    table.add(b"a", found, "ab" * 20)
    assert table.find_blob_id(b"a", found) is None
