"""``graphloc tools``: the tools for function calling, and calling one from any language."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Unpack

import click

from graphloc.cli.commands import debug_option
from graphloc.cli.options import index_options, repository_argument
from graphloc.cli.output import write_line, writes_utf8
from graphloc.cli.repository import TreeOptions
from indexes.errors import InputError

STDIN = "-"


class ToolsOptions(TreeOptions):
    """What the options of the command say."""

    shape: str
    call: str | None
    arguments: str


@click.command("tools")
@repository_argument
@click.option(
    "--format",
    "shape",
    type=click.Choice(["openai", "anthropic", "json-schema"]),
    default="openai",
    show_default=True,
    help="Whose shape the schemas have.",
)
@click.option("--call", metavar="NAME", help="Call this tool instead, and write its answer.")
@click.option(
    "--arguments",
    metavar="JSON",
    default="{}",
    help="Arguments of the call, as the model gave them. - reads stdin.",
)
@index_options
@debug_option
def command(repo: Path, **options: Unpack[ToolsOptions]) -> int:
    """Print tools for function calling, or call one.

    The schemas go into the tools of a request to a model. What the model then calls is done by
    --call NAME --arguments JSON, which writes JSON; in Python, graphloc.Locator has a method for
    each. Answers are bounded by max_tokens; n_left tells what is left out.
    """
    if options["call"] is None:
        from graphloc.locators.schemas import SchemaFormat, function_schemas  # noqa: PLC0415

        _write(function_schemas(SchemaFormat(options["shape"])))
        return 0
    from graphloc.locators.locator import Locator  # noqa: PLC0415 - schemas need none of it
    from graphloc.locators.tools import ToolBox  # noqa: PLC0415

    arguments = _load_arguments(options["arguments"])
    with Locator(repo, options["rev"], options["index_dir"], jobs=options["jobs"]) as locator:
        answer = ToolBox(lambda: locator).call(options["call"], arguments)
    # A cursor does not outlive the process that gave it.
    _write(answer.model_dump(mode="json", exclude={"next_cursor"}))
    return 0 if getattr(answer, "results", True) else 1


def _load_arguments(text: str) -> dict[str, object]:
    """Return the arguments of a call.

    Raises
    ------
    InputError
        If the text is no JSON object.
    """
    if text == STDIN:
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"--arguments is no JSON ({error}): give an object") from error
    if not isinstance(arguments, dict):
        raise InputError('--arguments must be a JSON object, such as {"terms": ["Store"]}')
    return arguments


def _write(document: object) -> None:
    write_line(json.dumps(document, ensure_ascii=not writes_utf8(), indent=2))
