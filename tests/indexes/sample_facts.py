"""Tables and graphs of files that a test writes down."""

from __future__ import annotations

from collections.abc import Mapping

from indexes.facts import FileFacts
from indexes.graph import CodeGraph, EntityTable, build_entities, build_graph
from indexes.parsing import extract_facts


def facts_of(files: Mapping[str, str]) -> dict[str, FileFacts]:
    """Facts by path, sorted by path as the builder sorts them."""
    return {path: extract_facts(text.encode()) for path, text in sorted(files.items())}


def table_of(files: Mapping[str, str]) -> EntityTable:
    """Entities of files."""
    return build_entities(facts_of(files))[0]


def graph_of(files: Mapping[str, str]) -> tuple[EntityTable, CodeGraph]:
    """Entities and edges of files."""
    facts = facts_of(files)
    entities, owner_rows = build_entities(facts)
    return entities, build_graph(facts, entities, owner_rows)
