"""Localizations for people: a list with reasons, on a terminal or in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from graphloc.cli.options import OutputFormat
from graphloc.cli.output import iter_markdown, lines_of, markdown_cell, write_line
from graphloc.cli.tables import make_console, make_table, print_trimmed
from graphloc.localization import Evidence, RankedEntity
from graphloc.locators.tokens import count_tokens
from indexes.source import printable_path

_REASONS = 3
"""Reasons shown without ``--explain``: more than one looks at."""
_BETWEEN_REASONS = "; "


def write_results(
    title: str,
    results: Sequence[RankedEntity],
    output_format: str,
    *,
    explain: bool,
    max_tokens: int | None = None,
) -> None:
    """Write results, the surest first, each with its reasons; Markdown within `max_tokens`."""
    if output_format == OutputFormat.MARKDOWN:
        for line in _iter_fitting(_iter_markdown(title, results, explain=explain), max_tokens):
            write_line(line)
        return
    table = make_table(("#", "sure", "place and lines"), numeric=(0, 1))
    for result in results:
        place = Text(printable_path(result.entity.id), style="bold")
        place.append(f"  {lines_of(result.entity)}", style="not bold cyan")
        for line in _reasons(result, explain=explain):
            place.append(f"\n{line}", style="not bold dim")
        table.add_row(str(result.rank), _percent(result), place)
    print_trimmed(make_console(), table)


def _percent(result: RankedEntity) -> str:
    return f"{100 * result.confidence:.0f}%"


def _reasons(result: RankedEntity, *, explain: bool) -> Iterator[str]:
    """Yield the lines that say why."""
    if explain:
        for evidence in result.evidence:
            yield from _explain(evidence)
    else:
        shown = (printable_path(evidence.detail) for evidence in result.evidence[:_REASONS])
        yield _BETWEEN_REASONS.join(shown)


def _explain(evidence: Evidence) -> Iterator[str]:
    yield f"{evidence.weight:+.2f} {evidence.signal}: {printable_path(evidence.detail)}"
    # Entities and edges alternate: one line a step, the anchor first.
    hops = [printable_path(hop) for hop in evidence.hops]
    for place in range(0, len(hops), 2):
        yield f"      {' '.join(hops[max(0, place - 1) : place + 1])}"


def _iter_markdown(title: str, results: Sequence[RankedEntity], *, explain: bool) -> Iterator[str]:
    yield f"### {markdown_cell(title)}"
    yield ""
    rows = (
        (
            str(result.rank),
            _percent(result),
            f"`{result.entity.id}`",
            lines_of(result.entity),
            _BETWEEN_REASONS.join(line.strip() for line in _reasons(result, explain=explain)),
        )
        for result in results
    )
    yield from iter_markdown(("#", "sure", "place", "lines", "why"), rows)


def _iter_fitting(lines: Iterator[str], max_tokens: int | None) -> Iterator[str]:
    """Yield the first lines, as many as fit into so many tokens."""
    room = max_tokens
    for line in lines:
        if room is not None:
            room -= count_tokens(f"{line}\n")
            if room < 0:
                return
        yield line
