"""Stores in temporary folders."""

from __future__ import annotations

import hashlib

import pytest

from indexes.store import Store


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "index") as store:
        yield store


@pytest.fixture
def make_facts():
    """Make (blob id, bytes) pairs whose bytes follow from the id's number."""

    def make(count, start=0, size=100):
        return [
            (hashlib.sha1(b"%d" % n).hexdigest(), b"%d " % n * (size // 4))
            for n in range(start, start + count)
        ]

    return make
