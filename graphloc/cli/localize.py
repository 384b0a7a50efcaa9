"""``graphloc localize``: name the places an issue is about."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Unpack

import click

from graphloc.cli.commands import debug_option
from graphloc.cli.issue_text import issue_options, load_issue_text
from graphloc.cli.localization_json import localization_document
from graphloc.cli.options import (
    OutputFormat,
    format_option,
    include_tests_option,
    index_options,
    repository_argument,
    top_k_option,
)
from graphloc.cli.output import write_json, write_remark
from graphloc.cli.repository import IndexedTree, TreeChoice, TreeOptions, open_tree
from graphloc.issue import read_issue
from graphloc.localization import Localization, Localizer, RankedEntity
from indexes.errors import InputError
from indexes.history import load_history


class ResultLevel(StrEnum):
    """What is named."""

    FILE = "file"
    CLASS = "class"
    FUNCTION = "function"
    ALL = "all"


class LocalizeOptions(TreeOptions):
    """What the options of the command say."""

    issue: str | None
    text: str | None
    level: str
    top_k: int
    include_tests: bool
    output_format: str
    max_tokens: int | None
    explain: bool


@click.command("localize")
@repository_argument
@issue_options
@click.option(
    "--level",
    type=click.Choice([str(level) for level in ResultLevel]),
    default=str(ResultLevel.ALL),
    show_default=True,
    help="What to name; all puts the kinds into one list.",
)
@top_k_option
@include_tests_option
@format_option
@click.option(
    "--max-tokens",
    metavar="N",
    type=click.IntRange(min=1),
    help="Leave out the last places of Markdown so that it fits into a prompt's room.",
)
@click.option("--explain", is_flag=True, help="Show all evidence with weights and paths.")
@index_options
@debug_option
def command(repo: Path, **options: Unpack[LocalizeOptions]) -> int:
    """Name the places an issue is about.

    The issue is a bug report, a feature request or a bare traceback. Each place comes with the
    probability that a fix changes it, and with the reasons. The index is made or brought up to
    date first, so the first run on a repository takes longer.
    """
    _check_bound(options["max_tokens"], options["output_format"])
    issue = read_issue(load_issue_text(options["issue"], options["text"]))
    with open_tree(TreeChoice.from_options(repo, options)) as tree:
        _remark_problems(tree)
        history = load_history(tree.source, tree.store, tree.tokenizer)
        found = Localizer(tree.snapshot, history, tokenizer=tree.tokenizer).localize(
            issue, top_k=options["top_k"], include_tests=options["include_tests"]
        )
    results = select_level(found, ResultLevel(options["level"]))
    if options["output_format"] == OutputFormat.JSON:
        revision = tree.snapshot.revision
        write_json(localization_document(str(repo), revision, found, results))
    elif results:
        from graphloc.cli.localization_table import write_results  # noqa: PLC0415 - JSON needs no rich

        write_results(
            issue.title,
            results,
            options["output_format"],
            explain=options["explain"],
            max_tokens=options["max_tokens"],
        )
    else:
        write_remark("nothing in the repository matches the issue: add names or messages to it")
    return 0 if results else 1


def _check_bound(max_tokens: int | None, output_format: str) -> None:
    if max_tokens is not None and output_format != OutputFormat.MARKDOWN:
        raise InputError("--max-tokens bounds Markdown only: add --format markdown")


def select_level(found: Localization, level: ResultLevel) -> tuple[RankedEntity, ...]:
    """Return the results of one level, less those that nothing speaks for."""
    chosen = {
        ResultLevel.FILE: found.files,
        ResultLevel.CLASS: found.classes,
        ResultLevel.FUNCTION: found.functions,
        ResultLevel.ALL: found.results,
    }[level]
    return tuple(result for result in chosen if result.evidence)


def _remark_problems(tree: IndexedTree) -> None:
    """Tell of files that are not whole in the index, when it is new."""
    info = tree.snapshot.info
    if tree.report.reused_snapshot:
        return
    broken = len({path for path, _, _ in info.failures})
    if broken or info.missing:
        write_remark(
            f"{broken} files did not parse whole, {len(info.missing)} were left out: "
            "`graphloc index` names them"
        )
