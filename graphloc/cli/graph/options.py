"""Options that the graph's commands share."""

from __future__ import annotations

import click

from indexes.model import EdgeKind

edge_option = click.option(
    "--edge",
    "edges",
    multiple=True,
    type=click.Choice([str(kind) for kind in EdgeKind]),
    metavar="KIND",
    help=f"Use only this kind of edge: {', '.join(EdgeKind)}. May be given several times.",
)
min_confidence_option = click.option(
    "--min-confidence",
    metavar="X",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Leave out edges that are less sure: 1 certain, 0.8 inferred, 0.4 guessed.",
)
