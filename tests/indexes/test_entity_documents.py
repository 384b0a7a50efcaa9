"""Which words of an entity go into which field."""

from __future__ import annotations

import numpy as np
import pytest

from indexes.documents import FIELDS, build_text
from indexes.graph import EntityTable, build_entities
from indexes.text import PhraseIndex, TextIndex
from tests.indexes.sample_facts import facts_of

FILES = {
    "garden/plants/__init__.py": '"""Flowers."""\n',
    "garden/plants/roses.py": '''"""Thorny bushes."""

# Pruned in spring.
from garden import soil


@register("rose")
class Rose(Bush):
    """Smells nice."""

    def water(self, litres: Volume) -> Moisture:
        """Pour gently."""
        # Never at noon.
        if litres < minimum:
            raise DryError("the ground stays too dry: %s" % litres)
        return soak(litres)

    @property
    def colour(self):
        """First."""
        return self._pigment

    @colour.setter
    def colour(self, dye):
        self._tint = dye
''',
}

Indexed = tuple[EntityTable, TextIndex, PhraseIndex]


@pytest.fixture(scope="module")
def indexed() -> Indexed:
    facts = facts_of(FILES)
    entities, owner_rows = build_entities(facts)
    return entities, *build_text(facts, entities, owner_rows)


def fields_with(indexed: Indexed, term: str) -> set[tuple[str, str]]:
    """(entity, field) pairs that hold a term."""
    entities, text, _ = indexed
    return {
        (entities.ids[row].removeprefix("garden/plants/"), field)
        for field in FIELDS
        for row in text.term_frequencies(field, term)[0].tolist()
    }


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ("rose", {("roses.py:Rose", "name"), ("roses.py", "name")}),
        ("water", {("roses.py:Rose.water", "name")}),
        ("volum", {("roses.py:Rose.water", "signature")}),
        ("moistur", {("roses.py:Rose.water", "signature")}),
        ("bush", {("roses.py:Rose", "signature"), ("roses.py", "docstring")}),
        ("regist", {("roses.py:Rose", "signature")}),
        ("smell", {("roses.py:Rose", "docstring")}),
        ("gentl", {("roses.py:Rose.water", "docstring")}),
        ("flower", {("__init__.py", "docstring")}),
        ("noon", {("roses.py:Rose.water", "comments")}),
        ("spring", {("roses.py", "comments")}),
        ("ground", {("roses.py:Rose.water", "strings")}),
        ("minimum", set()),
    ],
)
def test_words_and_where_they_are_found(
    indexed: Indexed, term: str, expected: set[tuple[str, str]]
) -> None:
    found = {pair for pair in fields_with(indexed, term) if pair[1] not in {"context", "body"}}
    # The decorator's argument is a string literal of the class, and part of its signature.
    assert found - {("roses.py:Rose", "strings"), ("roses.py:Rose", "signature")} == (
        expected - {("roses.py:Rose", "signature")}
    )
    assert expected <= found


@pytest.mark.parametrize(
    ("term", "entities"),
    [
        ("minimum", {"roses.py:Rose.water"}),
        ("soak", {"roses.py:Rose.water"}),
        ("soil", {"roses.py"}),
        ("moistur", {"roses.py:Rose.water"}),
        ("ground", set()),
        ("noon", set()),
        ("smell", set()),
    ],
)
def test_the_body_holds_identifiers_of_code_alone(
    indexed: Indexed, term: str, entities: set[str]
) -> None:
    found = {entity for entity, field in fields_with(indexed, term) if field == "body"}
    assert found == entities


def test_context_holds_what_is_around_an_entity(indexed: Indexed) -> None:
    in_garden = {entity for entity, field in fields_with(indexed, "garden") if field == "context"}
    in_rose = {entity for entity, field in fields_with(indexed, "rose") if field == "context"}

    assert "roses.py" in in_garden
    assert "roses.py:Rose.water" in in_garden
    assert {"roses.py:Rose.water", "roses.py:Rose.colour", "roses.py:Rose"} == in_rose


def test_a_package_is_named_by_its_folder(indexed: Indexed) -> None:
    assert ("__init__.py", "name") in fields_with(indexed, "plant")
    assert not fields_with(indexed, "init")


def test_definitions_that_share_a_row_share_their_words(indexed: Indexed) -> None:
    entities, text, _ = indexed
    row = entities.get("garden/plants/roses.py:Rose.colour")
    assert ("roses.py:Rose.colour", "body") in fields_with(indexed, "pigment")
    assert ("roses.py:Rose.colour", "body") in fields_with(indexed, "tint")
    rows, counts = text.term_frequencies("name", "colour")
    assert counts[rows.tolist().index(row)] == 1


def test_documents_are_rows_of_the_table(indexed: Indexed) -> None:
    entities, text, phrases = indexed
    assert text.n_docs == phrases.n_docs == len(entities)
    assert text.fields == FIELDS
    folders = entities.kinds == 0
    for field in FIELDS:
        assert not np.any(text.lengths(field)[folders])


def test_messages_are_found_by_what_they_look_like_when_printed(indexed: Indexed) -> None:
    entities, _, phrases = indexed
    matches = phrases.find_matches("DryError: the ground stays too dry: 0.5")
    assert [entities.ids[match.doc] for match in matches] == ["garden/plants/roses.py:Rose.water"]


def test_short_strings_are_no_messages(indexed: Indexed) -> None:
    _, _, phrases = indexed
    assert phrases.find_matches("rose") == []


def test_no_files_give_an_index_without_words() -> None:
    entities, owner_rows = build_entities({})
    text, phrases = build_text({}, entities, owner_rows)
    assert text.scores("name", ["anything"]).tolist() == [0.0]
    assert phrases.find_matches("the ground stays too dry") == []
