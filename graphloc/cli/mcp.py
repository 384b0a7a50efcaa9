"""``graphloc mcp``: serve the repository to coding agents."""

from __future__ import annotations

import gc
import importlib.util
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from graphloc.cli.commands import debug_option
from graphloc.cli.options import (
    index_directory_option,
    jobs_option,
    repository_argument,
    revision_option,
)
from graphloc.cli.output import write_remark
from graphloc.locators.mcp_settings import HttpSettings
from indexes.errors import InputError
from indexes.source import open_source

if TYPE_CHECKING:
    from graphloc.locators.locator import Locator


class McpOptions(TypedDict):
    """What the options of the command say."""

    transport: str
    host: str
    port: int
    token: str | None
    allowed_hosts: tuple[str, ...]
    rev: str | None
    index_dir: Path | None
    jobs: int | None


@click.command("mcp")
@repository_argument
@click.option(
    "--transport",
    type=click.Choice(["stdio", "http"]),
    default="stdio",
    show_default=True,
    help="How clients talk to it: over its own stdin and stdout, or over streamable HTTP.",
)
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="Listen here; elsewhere than on loopback a token is needed.",
)
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="Listen on this port; 0 takes a free one.",
)
@click.option(
    "--token",
    metavar="TOKEN",
    envvar="GRAPHLOC_MCP_TOKEN",
    help="Refuse requests without this bearer token. Or set GRAPHLOC_MCP_TOKEN.",
)
@click.option(
    "--allowed-host",
    "allowed_hosts",
    metavar="NAME",
    multiple=True,
    help="Accept requests for this host name, too; may be given several times.",
)
@revision_option
@index_directory_option
@jobs_option
@debug_option
def command(repo: Path, **options: Unpack[McpOptions]) -> None:
    """Serve the repository to coding agents (Model Context Protocol).

    Agents get the tools localize, search_entity, traverse_graph, retrieve_entity, explain and
    reindex, and a map of the repository. The index is made in the background and follows changes of
    the files. See docs/mcp.md for how to set up Claude Code, Cursor, VS Code, Codex and Zed.
    """
    if importlib.util.find_spec("mcp") is None:
        raise InputError("the MCP server needs the mcp package: pip install 'graphloc[mcp]'")
    over_http = options["transport"] == "http"
    settings = (
        HttpSettings(options["host"], options["port"], options["token"], options["allowed_hosts"])
        if over_http
        else None
    )
    _serve(repo, options, settings)


def _serve(repo: Path, options: McpOptions, settings: HttpSettings | None) -> None:
    # The SDK makes thousands of classes; collecting garbage among them takes a fifth of the start.
    gc.disable()
    from graphloc.locators.mcp_transports import serve_http, serve_stdio  # noqa: PLC0415
    from graphloc.locators.tools import ToolBox  # noqa: PLC0415

    gc.enable()
    root = open_source(repo, options["rev"]).root
    box = ToolBox(lambda: _open_locator(repo, options))
    with closing(box):
        if settings is None:
            serve_stdio(box, root)
        else:
            serve_http(box, root, settings, lambda url: write_remark(f"listening on {url}"))


def _open_locator(repo: Path, options: McpOptions) -> Locator:
    from graphloc.locators.locator import Locator  # noqa: PLC0415 - once the client is greeted

    return Locator(repo, options["rev"], options["index_dir"], jobs=options["jobs"])
