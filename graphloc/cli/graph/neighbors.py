"""``graphloc graph neighbors``: show what is around an entity."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import click

from graphloc.cli.commands import debug_option
from graphloc.cli.graph.edges import edge_fields
from graphloc.cli.graph.options import edge_option, min_confidence_option
from graphloc.cli.options import OutputFormat, format_option, index_options, repository_argument
from graphloc.cli.output import entity_fields, write_json, write_remark
from graphloc.cli.repository import TreeChoice, TreeOptions, find_entity, open_tree
from indexes.graph import Edge
from indexes.model import EdgeKind
from indexes.snapshot import Snapshot

SCHEMA = "graphloc.neighbors/1"

Found = list[tuple[int, int, Edge]]
"""Rows with their distance and the edge by which they were reached."""


@click.command("neighbors")
@click.argument("entity", metavar="ENTITY")
@repository_argument
@click.option(
    "--hops",
    metavar="N",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How far to go.",
)
@edge_option
@min_confidence_option
@format_option
@index_options
@debug_option
def command(
    entity: str,
    repo: Path,
    hops: int,
    edges: tuple[str, ...],
    min_confidence: float,
    output_format: str,
    **choice: Unpack[TreeOptions],
) -> int:
    """Show what is around an entity.

    ENTITY is named path/to/file.py, path/to/file.py:Class or path/to/file.py:Class.method. Edges
    are followed in both directions; each neighbor is shown once, with the edge that led to it.
    """
    with open_tree(TreeChoice.from_options(repo, choice)) as tree:
        snapshot = tree.snapshot
        row = find_entity(snapshot, entity)
        kinds = [EdgeKind(edge) for edge in edges]
        found = snapshot.graph.neighbors(row, hops, kinds, min_confidence)
        if output_format == OutputFormat.JSON:
            write_json(_document(snapshot, row, found))
        elif found:
            _write(snapshot, found, output_format)
        else:
            write_remark(f"nothing is around {entity} along these edges")
    return 0 if found else 1


def _write(snapshot: Snapshot, found: Found, output_format: str) -> None:
    from graphloc.cli.tables import write_table  # noqa: PLC0415 - JSON needs no rich

    rows = [
        (
            str(distance),
            snapshot.entities.ids[other],
            "uses it" if edge.source == other else "used by it",
            str(edge.kind),
            str(edge.line or ""),
            f"{edge.confidence:g}",
        )
        for other, distance, edge in found
    ]
    header = ("hops", "entity", "direction", "edge", "line", "sure")
    write_table(header, rows, output_format, numeric=(0, 4, 5))


def _document(snapshot: Snapshot, row: int, found: Found) -> dict[str, object]:
    table = snapshot.entities
    return {
        "schema": SCHEMA,
        **entity_fields(table.entity(row)),
        "neighbors": [
            {
                **entity_fields(table.entity(other)),
                "hops": distance,
                "edge": edge_fields(table, edge),
            }
            for other, distance, edge in found
        ],
    }
