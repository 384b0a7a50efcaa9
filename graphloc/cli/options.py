"""Arguments and options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., object])


class OutputFormat(StrEnum):
    """How results are written."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"


repository_argument = click.argument(
    "repo", metavar="[REPO]", default=".", type=click.Path(path_type=Path)
)
revision_option = click.option(
    "--rev", metavar="REV", help="Read this git revision instead of the files on disk."
)
index_directory_option = click.option(
    "--index-dir",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Keep the index here instead of in REPO/.graphloc.",
)
jobs_option = click.option(
    "--jobs",
    metavar="N",
    type=click.IntRange(min=1),
    help="Use at most N processes; as many as there are cores by default.",
)
format_option = click.option(
    "--format",
    "output_format",
    type=click.Choice([str(choice) for choice in OutputFormat]),
    default=str(OutputFormat.TABLE),
    show_default=True,
    help="How to write the result.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Write JSON to stdout.")
top_k_option = click.option(
    "--top-k",
    metavar="N",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="How many places to name.",
)
include_tests_option = click.option(
    "--include-tests", is_flag=True, help="Rank test files and what is in them, too."
)


def index_options(function: _Command) -> _Command:
    """Add the options that say which tree is meant and where its index is."""
    for option in (jobs_option, index_directory_option, revision_option):
        function = option(function)
    return function


def argument_text(argument: str) -> str:
    """Return a command-line argument as paths and entities are written inside.

    Arguments are decoded by the locale, paths always by UTF-8.
    """
    return os.fsencode(argument).decode("utf-8", "surrogateescape")
