"""``graphloc graph path``: show how two entities are connected."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

import click

from graphloc.cli.commands import debug_option
from graphloc.cli.graph.edges import edge_fields
from graphloc.cli.graph.options import edge_option, min_confidence_option
from graphloc.cli.options import OutputFormat, format_option, index_options, repository_argument
from graphloc.cli.output import iter_markdown, write_json, write_line, write_remark
from graphloc.cli.repository import TreeChoice, TreeOptions, find_entity, open_tree
from indexes.graph import CodeGraph, Edge
from indexes.model import EdgeKind
from indexes.snapshot import Snapshot
from indexes.source import printable_path

SCHEMA = "graphloc.path/1"
_TELLING = tuple(kind for kind in EdgeKind if kind is not EdgeKind.CONTAINS)


@click.command("path")
@click.argument("start", metavar="FROM")
@click.argument("goal", metavar="TO")
@repository_argument
@edge_option
@min_confidence_option
@format_option
@index_options
@debug_option
def command(
    start: str,
    goal: str,
    repo: Path,
    edges: tuple[str, ...],
    min_confidence: float,
    output_format: str,
    **choice: Unpack[TreeOptions],
) -> int:
    """Show how two entities are connected.

    The path has the fewest edges possible, whatever their direction. Without --edge, containment
    is used only when there is no other way: by way of the root folder all is near to all.
    """
    with open_tree(TreeChoice.from_options(repo, choice)) as tree:
        snapshot = tree.snapshot
        ends = find_entity(snapshot, start), find_entity(snapshot, goal)
        kinds = [EdgeKind(edge) for edge in edges]
        found = _find_path(snapshot.graph, ends, kinds, min_confidence)
        if output_format == OutputFormat.JSON:
            write_json(_document(snapshot, ends, found))
        elif found is None:
            write_remark(f"no path leads from {start} to {goal} along these edges")
        else:
            _write(snapshot, ends[0], found, output_format)
    return 1 if found is None else 0


def _find_path(
    graph: CodeGraph, ends: tuple[int, int], kinds: Sequence[EdgeKind], min_confidence: float
) -> list[Edge] | None:
    tries = [kinds] if kinds else [_TELLING, ()]
    for allowed in tries:
        found = graph.shortest_path(*ends, allowed, min_confidence)
        if found is not None:
            return found
    return None


def _write(snapshot: Snapshot, start: int, found: list[Edge], output_format: str) -> None:
    ids = snapshot.entities.ids
    steps = [("", printable_path(ids[start]))]
    at = start
    for edge in found:
        is_forward = edge.source == at
        at = edge.target if is_forward else edge.source
        line = f" (line {edge.line})" if edge.line else ""
        steps.append((f"{'->' if is_forward else '<-'} {edge.kind}{line}", printable_path(ids[at])))
    if output_format == OutputFormat.MARKDOWN:
        for text in iter_markdown(("edge", "entity"), steps):
            write_line(text)
        return
    for edge_text, entity in steps:
        if edge_text:
            write_line(f"  {edge_text}")
        write_line(entity)


def _document(
    snapshot: Snapshot, ends: tuple[int, int], found: list[Edge] | None
) -> dict[str, object]:
    table = snapshot.entities
    return {
        "schema": SCHEMA,
        "from": printable_path(table.ids[ends[0]]),
        "to": printable_path(table.ids[ends[1]]),
        "path": None if found is None else [edge_fields(table, edge) for edge in found],
    }
