"""Finding entities by name and by words."""

from __future__ import annotations

import pytest

from indexes.builder import build_index
from indexes.model import EntityKind
from indexes.search import search
from indexes.source import open_source
from indexes.store import Store
from indexes.text import Tokenizer

SOURCE = '''
class Reader:
    """Reads tables."""

    def open(self, path):
        raise OSError("the table cannot be opened")


class reader:
    pass


def open_reader():
    return Reader()


def unrelated():
    pass
'''


@pytest.fixture
def find(tmp_path):
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "tables.py").write_text(SOURCE)
    (folder / "reader.py").write_text("")
    with Store.open(tmp_path / "index") as store:
        snapshot, _ = build_index(open_source(folder), store, jobs=1)

        def find(query, **options):
            return search(snapshot, query, tokenizer=Tokenizer(), **options)

        yield find


def names(hits):
    return [hit.entity.id for hit in hits]


def test_an_id_is_first(find):
    assert names(find("tables.py:Reader.open"))[0] == "tables.py:Reader.open"
    assert names(find("tables.py"))[0] == "tables.py"


def test_case_decides_between_equals(find):
    assert names(find("Reader"))[:2] == ["tables.py:Reader", "tables.py:reader"]
    assert names(find("reader"))[0] == "tables.py:reader"


def test_names_come_before_words(find):
    hits = find("open")
    assert hits[0].entity.id == "tables.py:Reader.open"
    assert hits[0].matched[0] == "name"
    assert names(find("open()"))[0] == "tables.py:Reader.open"


def test_words(find):
    (hit, *_) = find("cannot be opened")
    assert hit.entity.id == "tables.py:Reader.open"
    assert "strings" in hit.matched
    assert "tables.py:unrelated" not in names(find("cannot be opened"))


def test_kinds_and_limit(find):
    assert {hit.entity.kind for hit in find("reader", kinds=[EntityKind.CLASS])} == {"class"}
    assert len(find("reader", limit=1)) == 1
    assert find("zzzq") == []
    assert find("()") == []
