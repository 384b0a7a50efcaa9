"""Edges in JSON."""

from __future__ import annotations

from indexes.graph import Edge, EntityTable
from indexes.source import printable_path


def edge_fields(table: EntityTable, edge: Edge) -> dict[str, object]:
    """Return an edge as ``graph export`` writes it."""
    return {
        "source": printable_path(table.ids[edge.source]),
        "target": printable_path(table.ids[edge.target]),
        "kind": str(edge.kind),
        "line": edge.line,
        "confidence": edge.confidence,
    }
