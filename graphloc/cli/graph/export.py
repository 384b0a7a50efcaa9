"""``graphloc graph export``: write the graph as JSON or GraphML."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import click

from graphloc.cli.commands import debug_option
from graphloc.cli.graph.options import edge_option, min_confidence_option
from graphloc.cli.options import index_options, repository_argument
from graphloc.cli.output import write_chunks
from graphloc.cli.repository import TreeChoice, TreeOptions, open_tree
from indexes.graph.export import GraphView, iter_graphml, iter_json
from indexes.model import EdgeKind


@click.command("export")
@repository_argument
@click.option(
    "--to",
    "target",
    type=click.Choice(["json", "graphml"]),
    required=True,
    help="The language to write.",
)
@edge_option
@min_confidence_option
@index_options
@debug_option
def command(
    repo: Path,
    target: str,
    edges: tuple[str, ...],
    min_confidence: float,
    **choice: Unpack[TreeOptions],
) -> None:
    """Write the graph as JSON or GraphML.

    It goes to stdout. JSON lists calls that lead nowhere apart, as "unresolved". A call at module
    level has the file as its source.
    """
    with open_tree(TreeChoice.from_options(repo, choice)) as tree:
        kinds = [EdgeKind(edge) for edge in edges]
        view = GraphView(tree.snapshot.entities, tree.snapshot.graph, kinds, min_confidence)
        write_chunks(iter_json(view) if target == "json" else iter_graphml(view))
