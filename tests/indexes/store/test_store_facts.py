"""Facts go in and come out by blob id."""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes.errors import IndexDamagedError
from indexes.store import Store

SHA1 = st.binary(min_size=20, max_size=20).map(bytes.hex)


def test_facts_come_back(store, make_facts):
    facts = make_facts(3)
    ids = [blob_id for blob_id, _ in facts]
    assert store.missing_facts(ids) == set(ids)
    store.put_facts(facts[:2])
    assert store.missing_facts(ids) == {ids[2]}
    assert dict(store.get_facts(ids)) == dict(facts[:2])
    assert dict(store.get_facts([])) == {}
    assert store.missing_facts([]) == set()


def test_thousands_of_facts(store, make_facts):
    facts = make_facts(3000)
    store.put_facts(iter(facts))
    assert dict(store.get_facts(blob_id for blob_id, _ in facts)) == dict(facts)
    assert store.missing_facts([blob_id for blob_id, _ in facts]) == set()


def test_ids_of_both_hashes_live_side_by_side(store):
    store.put_facts([("ab" * 20, b"short"), ("ab" * 32, b"long")])
    assert dict(store.get_facts(["ab" * 32])) == {"ab" * 32: b"long"}
    assert store.missing_facts(["ab" * 32, "cd" * 32]) == {"cd" * 32}


def test_an_id_that_is_asked_for_twice_comes_once(store):
    store.put_facts([("ab" * 20, b"x")])
    assert list(store.get_facts(["ab" * 20] * 2)) == [("ab" * 20, b"x")]


def test_facts_survive_closing(tmp_path, make_facts):
    facts = make_facts(10)
    with Store.open(tmp_path) as store:
        store.put_facts(facts)
    with Store.open(tmp_path) as store:
        assert dict(store.get_facts(dict(facts))) == dict(facts)
        assert store.rebuilt is None


def test_batches_before_a_failing_one_are_kept(store, make_facts):
    facts = make_facts(1000)

    def broken():
        yield from facts[:700]
        raise RuntimeError("the parser broke")

    with pytest.raises(RuntimeError, match="the parser broke"):
        store.put_facts(broken())
    assert dict(store.get_facts(dict(facts))).items() <= dict(facts).items()
    assert len(store.missing_facts(dict(facts))) == 1000 - 512


def test_facts_may_be_read_while_others_are_being_stored(store, make_facts):
    first, second = make_facts(600), make_facts(600, start=600)
    store.put_facts(first)
    store.put_facts((f"{n:040x}", data) for n, (_, data) in enumerate(store.get_facts(dict(first))))
    store.put_facts(second)
    assert dict(store.get_facts([f"{599:040x}"])).keys() == {f"{599:040x}"}


def test_spoilt_facts_are_damage(store):
    store.put_facts([("ab" * 20, b"x" * 100)])
    with sqlite3.connect(store.directory / "index.sqlite") as other:
        other.execute("UPDATE facts SET data = x'00'")
    other.close()
    with pytest.raises(IndexDamagedError, match=f"delete the folder {store.directory}"):
        list(store.get_facts(["ab" * 20]))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.dictionaries(SHA1, st.binary(max_size=200), max_size=8), max_size=4))
def test_first_facts_of_an_id_stay(writes):
    expected: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder)) as store:
        for facts in writes:
            store.put_facts(facts.items())
            expected = facts | expected
        assert dict(store.get_facts(expected)) == expected
