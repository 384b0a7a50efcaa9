"""Snapshots, their eviction, and the collection of facts."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

import pytest

from indexes.errors import IndexDamagedError
from indexes.store import SnapshotEvictedError, Store


def change(store, statement):
    with closing(sqlite3.connect(store.directory / "index.sqlite")) as other, other:
        other.execute(statement)


def test_sections_come_back_one_by_one(store):
    sections = {"names": b"n" * 5_000_000, "edges": b"", "ünïcode": bytes(range(256))}
    store.put_snapshot("key", b"meta", sections)
    record = store.get_snapshot("key")
    assert record.key == "key"
    assert record.meta == b"meta"
    assert record.section_names == ("edges", "names", "ünïcode")
    assert {name: record.section(name) for name in record.section_names} == sections
    with pytest.raises(KeyError, match="other"):
        record.section("other")


def test_an_unknown_snapshot_is_none(store):
    assert store.get_snapshot("key") is None
    assert store.latest_snapshot() is None


def test_storing_again_replaces_the_whole(store):
    store.put_snapshot("key", b"1", {"a": b"1", "b": b"1"})
    old = store.get_snapshot("key")
    store.put_snapshot("key", b"2", {"a": b"2"})
    record = store.get_snapshot("key")
    assert (record.meta, record.section_names, record.section("a")) == (b"2", ("a",), b"2")
    with pytest.raises(SnapshotEvictedError, match="dropped"):
        old.section("b")


def test_a_snapshot_that_fails_half_way_leaves_the_old_one(store):
    store.put_snapshot("key", b"1", {"a": b"1"})
    with pytest.raises(UnicodeEncodeError):
        store.put_snapshot("key", b"2", {"a": b"2", "b": b"2", "\udcff": b"2"})
    assert store.get_snapshot("key").section("a") == b"1"


def test_the_last_used_snapshots_stay(tmp_path):
    with Store.open(tmp_path, keep_snapshots=3) as store:
        for number in range(3):
            store.put_snapshot(f"k{number}", b"", {"a": b"%d" % number})
        change(store, "UPDATE snapshots SET used_at = used_at - 3600000000000")
        assert store.get_snapshot("k0").section("a") == b"0"
        assert store.latest_snapshot().key == "k0"
        evicted = store.get_snapshot("k1")
        change(store, "UPDATE snapshots SET used_at = 1 WHERE key = 'k1'")
        store.put_snapshot("k3", b"", {})
        assert store.latest_snapshot().key == "k3"
        assert [store.get_snapshot(f"k{n}") is not None for n in range(4)] == [
            True, False, True, True,
        ]  # fmt: skip
        with pytest.raises(SnapshotEvictedError):
            evicted.section("a")


def test_spoilt_sections_are_damage(store):
    store.put_snapshot("key", b"", {"a": b"12345"})
    change(store, "UPDATE sections SET data = x'00'")
    with pytest.raises(IndexDamagedError, match="section a of snapshot key"):
        store.get_snapshot("key").section("a")


AGE = "UPDATE {} = 0"


def test_collection_drops_old_facts_that_no_snapshot_has(store, make_facts):
    facts = make_facts(10)
    ids = [blob_id for blob_id, _ in facts]
    store.put_facts(facts)
    store.put_snapshot("key", b"", {}, ids[:4])
    assert store.collect_garbage() == 0, "just stored"
    change(store, AGE.format("facts SET stored_at"))
    assert store.collect_garbage() == 6
    assert dict(store.get_facts(ids)).keys() == set(ids[:4])


def test_collection_spares_what_another_indexer_just_asked_for(tmp_path, make_facts):
    facts = make_facts(10)
    ids = [blob_id for blob_id, _ in facts]
    with Store.open(tmp_path) as store, Store.open(tmp_path) as other:
        store.put_facts(facts)
        change(store, AGE.format("facts SET stored_at"))
        assert other.missing_facts(ids[:3]) == set()
        assert store.collect_garbage() == 7
        assert len(dict(other.get_facts(ids[:3]))) == 3
        change(store, AGE.format("leases SET taken_at"))
        assert store.collect_garbage() == 3


def test_a_big_index_is_collected_and_shrinks(tmp_path):
    facts = [(os.urandom(20).hex(), os.urandom(4000)) for _ in range(1000)]
    with Store.open(tmp_path, max_bytes=1 << 20) as store:
        store.put_facts(facts)
        store.put_snapshot("young", b"", {})
        assert store.missing_facts(dict(facts)) == set()
        change(store, AGE.format("facts SET stored_at"))
        change(store, AGE.format("leases SET taken_at"))
        store.put_snapshot("old", b"", {})
        assert len(dict(store.get_facts(dict(facts)))) == 0
    assert (tmp_path / "index.sqlite").stat().st_size < 1 << 20


def test_small_values(store):
    assert store.get_meta("a") is None
    store.put_meta("a", b"1")
    store.put_meta("a", b"2")
    assert store.get_meta("a") == b"2"
    assert store.load_stats(b"/root\xff") is None
    store.save_stats(b"/root\xff", b"x")
    assert store.load_stats(b"/root\xff") == b"x"
