"""Evaluations for people: a table a level and repository, with intervals."""

from __future__ import annotations

from rich.text import Text

from graphloc.cli.output import write_line
from graphloc.cli.tables import make_console, make_table, print_trimmed
from graphloc.evaluation.report import (
    Table,
    comparison_table,
    failure_table,
    level_tables,
    repository_tables,
    time_table,
)
from graphloc.evaluation.scores import Evaluation
from indexes.source import printable_path


def write_evaluation(evaluation: Evaluation) -> None:
    """Write all tables, one below the other; empty ones are left out."""
    for table in (
        *level_tables(evaluation),
        *repository_tables(evaluation),
        time_table(evaluation),
        comparison_table(evaluation),
        failure_table(evaluation),
    ):
        if table.rows:
            _write(table)


def _write(table: Table) -> None:
    write_line()
    write_line(table.title)
    numeric = () if table.header[-1] == "reason" else range(1, len(table.header))
    shown = make_table(table.header, numeric=numeric)
    for row in table.rows:
        shown.add_row(*map(_cell, row))
    print_trimmed(make_console(), shown)


def _cell(text: str) -> Text:
    """Return a cell; an interval gets a line of its own, so that a level fits a terminal."""
    figure, bracket, interval = text.partition(" (")
    if bracket and figure.replace(".", "").isdecimal():
        return Text(figure).append(f"\n{interval.removesuffix(')')}", style="dim")
    return Text(printable_path(text))
