"""Tables for people, drawn by rich.

Kept apart because importing rich costs more than answering: JSON and Markdown do without.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from graphloc.cli.options import OutputFormat
from graphloc.cli.output import iter_markdown, write_line
from indexes.source import printable_path

_NARROW_COLUMNS = 100
"""Terminals below this width go without a table's least important column."""
_PIPE_COLUMNS = 1_000
"""Width where there is no terminal: nothing is folded, so that lines can be searched."""


def make_console() -> Console:
    """Return a console on stdout, as wide as the terminal or, in a pipe, as the text needs."""
    is_sized = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(
        width=None if is_sized else _PIPE_COLUMNS, markup=False, emoji=False, highlight=False
    )


def make_table(header: Sequence[str], *, numeric: Iterable[int] = ()) -> Table:
    """Return an empty table; `numeric` columns are aligned to the right and never folded."""
    table = Table(
        box=box.SIMPLE_HEAD,
        header_style="bold",
        pad_edge=False,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    right = set(numeric)
    for number, name in enumerate(header):
        table.add_column(
            name,
            justify="right" if number in right else "left",
            overflow="fold",
            no_wrap=number in right,
        )
    return table


def write_table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    output_format: str,
    *,
    numeric: Iterable[int] = (),
    spare: int | None = None,
) -> None:
    """Write rows as a table or as Markdown; narrow terminals go without the `spare` column."""
    if output_format == OutputFormat.MARKDOWN:
        for line in iter_markdown(header, rows):
            write_line(line)
        return
    console = make_console()
    shown = [n for n in range(len(header)) if n != spare or console.width >= _NARROW_COLUMNS]
    right = [place for place, number in enumerate(shown) if number in set(numeric)]
    table = make_table([header[number] for number in shown], numeric=right)
    for row in rows:
        table.add_row(*(Text(printable_path(row[number])) for number in shown))
    print_trimmed(console, table)


def print_trimmed(console: Console, part: RenderableType) -> None:
    """Print without the blanks that rich fills lines with."""
    with console.capture() as capture:
        console.print(part)
    for line in capture.get().splitlines():
        write_line(line.rstrip())
