"""``graphloc search``: find entities by name and by words."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import click

from graphloc.cli.commands import debug_option
from graphloc.cli.options import (
    OutputFormat,
    argument_text,
    format_option,
    index_options,
    repository_argument,
    top_k_option,
)
from graphloc.cli.output import entity_fields, lines_of, write_json, write_remark
from graphloc.cli.repository import TreeChoice, TreeOptions, open_tree
from indexes.errors import InputError
from indexes.model import EntityKind
from indexes.search import SearchHit, search
from indexes.source import printable_path

SCHEMA = "graphloc.search/1"


@click.command("search")
@click.argument("query", metavar="QUERY")
@repository_argument
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="KIND",
    type=click.Choice([str(kind) for kind in EntityKind]),
    help=f"Find only this kind of entity: {', '.join(EntityKind)}. May be given several times.",
)
@top_k_option
@format_option
@index_options
@debug_option
def command(
    query: str,
    repo: Path,
    kinds: tuple[str, ...],
    top_k: int,
    output_format: str,
    **choice: Unpack[TreeOptions],
) -> int:
    """Find entities by name and by words.

    QUERY is a name, such as Store.open, or words. What it names comes first, then what holds its
    words, the rarer the better.
    """
    if not query.strip():
        raise InputError("the query is empty: give it a name or a word")
    with open_tree(TreeChoice.from_options(repo, choice)) as tree:
        hits = search(
            tree.snapshot,
            argument_text(query),
            tokenizer=tree.tokenizer,
            kinds=[EntityKind(kind) for kind in kinds],
            limit=top_k,
        )
        _write(query, hits, output_format)
    return 0 if hits else 1


def _write(query: str, hits: list[SearchHit], output_format: str) -> None:
    if output_format == OutputFormat.JSON:
        write_json(_document(query, hits))
        return
    if not hits:
        write_remark(f"nothing is named or holds the words {query!r}")
        return
    from graphloc.cli.tables import write_table  # noqa: PLC0415 - JSON needs no rich

    rows = [
        (
            str(rank),
            f"{hit.score:.1f}",
            hit.entity.kind,
            hit.entity.id,
            lines_of(hit.entity),
            ", ".join(hit.matched[:3]),
        )
        for rank, hit in enumerate(hits, 1)
    ]
    header = ("#", "score", "kind", "entity", "lines", "found in")
    write_table(header, rows, output_format, numeric=(0, 1, 4), spare=5)


def _document(query: str, hits: list[SearchHit]) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "query": printable_path(query),
        "results": [
            {
                "rank": rank,
                **entity_fields(hit.entity),
                "score": hit.score,
                "matched": list(hit.matched),
            }
            for rank, hit in enumerate(hits, 1)
        ],
    }
