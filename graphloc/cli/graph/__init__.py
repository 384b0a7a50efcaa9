"""``graphloc graph``: look at the code graph, or export it."""

from __future__ import annotations

import click

from graphloc.cli.commands import CommandEntry, LazyGroup, debug_option

ENTRIES = (
    CommandEntry("stats", "graphloc.cli.graph.stats", "Count what the graph holds."),
    CommandEntry("neighbors", "graphloc.cli.graph.neighbors", "Show what is around an entity."),
    CommandEntry("path", "graphloc.cli.graph.path", "Show how two entities are connected."),
    CommandEntry("export", "graphloc.cli.graph.export", "Write the graph as JSON or GraphML."),
)


@click.group("graph", cls=LazyGroup, entries=ENTRIES)
@debug_option
def command() -> None:
    """Look at the code graph, or export it.

    Nodes are folders, files, classes and functions; edges say what contains, imports, invokes,
    inherits from, overrides, references or tests what.
    """
