"""``graphloc graph stats``: count what the graph holds."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import click
import numpy as np

from graphloc.cli.commands import debug_option
from graphloc.cli.options import OutputFormat, format_option, index_options, repository_argument
from graphloc.cli.output import write_json
from graphloc.cli.repository import TreeChoice, TreeOptions, open_tree
from indexes.graph.code_graph import EDGE_KINDS
from indexes.graph.entities import KINDS
from indexes.snapshot import Snapshot
from indexes.source import printable_path

SCHEMA = "graphloc.stats/1"


@click.command("stats")
@repository_argument
@format_option
@index_options
@debug_option
def command(repo: Path, output_format: str, **choice: Unpack[TreeOptions]) -> None:
    """Count what the graph holds.

    Entities and edges by kind, call sites by what became of them, and what could not be read.
    Every call site is in one of these: certain, inferred, guessed, external (what it calls is not
    in the repository) or unresolved.
    """
    with open_tree(TreeChoice.from_options(repo, choice)) as tree:
        counts = _count(tree.snapshot)
        if output_format == OutputFormat.JSON:
            write_json(
                {
                    "schema": SCHEMA,
                    "repo": printable_path(str(repo)),
                    "revision": tree.snapshot.revision,
                    **counts,
                }
            )
            return
    from graphloc.cli.tables import write_table  # noqa: PLC0415 - JSON needs no rich

    rows = [
        (group.replace("_", " "), name.replace("_", " "), f"{count:,}", _share(count, group, names))
        for group, names in counts.items()
        for name, count in names.items()
    ]
    write_table(("what", "which", "count", "share"), rows, output_format, numeric=(2, 3))


def _count(snapshot: Snapshot) -> dict[str, dict[str, int]]:
    info, graph = snapshot.info, snapshot.graph
    nodes = np.bincount(snapshot.entities.kinds, minlength=len(KINDS)).tolist()
    edges = np.bincount(graph.kinds, minlength=len(EDGE_KINDS)).tolist()
    return {
        "entities": {str(kind): count for kind, count in zip(KINDS, nodes, strict=True)},
        "edges": {str(kind): count for kind, count in zip(EDGE_KINDS, edges, strict=True) if count},
        "call_sites": graph.counts(),
        "sources": {
            "files": info.n_files,
            "lines": info.n_lines,
            "parse_failures": len(info.failures),
            "files_left_out": len(info.missing),
        },
    }


def _share(count: int, group: str, names: dict[str, int]) -> str:
    total = sum(names.values())
    return f"{100 * count / total:.1f}%" if group != "sources" and total else ""
