"""Facts of many files: in this process and over several, always the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexes import extraction
from indexes.extraction import extract_all, usable_cores
from indexes.facts import decode_facts, encode_facts
from indexes.parsing import extract_facts


def sources(count: int = 40, size: int = 100_000) -> list[tuple[str, bytes]]:
    """So many bytes that processes pay, but little to parse: comments, mostly."""
    padding = (b"# " + b"nothing to see " * 60 + b"\nx = 1\n") * (size // 909)
    return [
        (f"{n:040x}", f"def function_{n}(a):\n    return a + {n}\n\n\n".encode() + padding)
        for n in range(count)
    ]


def test_processes_find_the_same_facts_in_the_same_order() -> None:
    files = sources()
    total = sum(len(data) for _, data in files)
    assert total > extraction._SERIAL_BYTES

    serial = list(extract_all(files, total, jobs=1))
    parallel = list(extract_all(files, total, jobs=2))

    assert parallel == serial
    assert [blob_id for blob_id, _ in serial] == [blob_id for blob_id, _ in files]


def test_a_file_s_facts_are_those_of_the_parser() -> None:
    data = b"class A:\n    def f(self):\n        return g()\n"
    [(blob_id, encoded)] = extract_all([("b1", data)], len(data))
    assert blob_id == "b1"
    assert encoded == encode_facts(extract_facts(data))
    assert decode_facts(encoded) == extract_facts(data)


def test_files_are_read_as_they_are_needed() -> None:
    read: list[str] = []

    def iter_files() -> Iterator[tuple[str, bytes]]:
        for blob_id, data in sources(60):
            read.append(blob_id)
            yield blob_id, data

    found = extract_all(iter_files(), 60 * 100_000, jobs=1)
    next(found)
    assert len(read) < 10
    assert len(list(found)) == 59


def test_nothing_to_do() -> None:
    assert list(extract_all([], 0)) == []
    assert list(extract_all([], 10_000_000, jobs=2)) == []


def test_an_error_while_reading_reaches_the_caller() -> None:
    def iter_files() -> Iterator[tuple[str, bytes]]:
        yield from sources(12)
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        list(extract_all(iter_files(), 10_000_000, jobs=2))


def test_there_is_a_core() -> None:
    assert usable_cores() >= 1
