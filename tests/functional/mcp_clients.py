"""The SDK's own client on a server that runs as a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import anyio
import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

PROJECT = Path(__file__).parents[2]
_URL = re.compile(r"listening on (http://\S+)")
_Result = TypeVar("_Result")


def environment() -> dict[str, str]:
    """Environment in which the program finds itself."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GRAPHLOC_")}
    return kept | {"PYTHONPATH": str(PROJECT), "PYTHONWARNINGS": "error"}


def command(repo: Path, *options: object) -> list[str]:
    """The command line that serves a repository."""
    return [sys.executable, "-m", "graphloc", "mcp", str(repo), *map(str, options)]


@asynccontextmanager
async def stdio(repo: Path, *options: object, mode: str = "legacy") -> AsyncIterator[Client]:
    """Talk to a server over a pipe."""
    program, *arguments = command(repo, *options)
    server = StdioServerParameters(command=program, args=arguments, env=environment())
    with open(os.devnull, "w") as nowhere:
        async with Client(stdio_client(server, errlog=nowhere), mode=mode) as client:
            yield client


@dataclass(frozen=True)
class HttpServer:
    """A server that listens."""

    url: str
    process: subprocess.Popen[str]


@contextmanager
def serving(repo: Path, *options: object) -> Iterator[HttpServer]:
    """Run a server on a free port."""
    process = subprocess.Popen(
        command(repo, "--transport", "http", "--port", 0, *options),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        text=True,
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        match = _URL.search(line)
        assert match, line
        yield HttpServer(match[1], process)
    finally:
        process.terminate()
        process.communicate()


@asynccontextmanager
async def http(
    url: str, *, token: str | None = None, mode: str = "legacy"
) -> AsyncIterator[Client]:
    """Talk to a server over a socket."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as transport,
        Client(streamable_http_client(url, http_client=transport), mode=mode) as client,
    ):
        yield client


def run(conversation: Callable[[], Awaitable[_Result]]) -> _Result:
    """Hold a conversation to its end; a server that hangs ends the test."""

    async def bounded() -> _Result:
        with anyio.fail_after(300):
            return await conversation()

    return anyio.run(bounded)


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool that must answer, and return what it says."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return dict(result.structured_content)


async def refusal(client: Client, tool: str, arguments: dict[str, Any]) -> str:
    """Call a tool that must refuse, and return its reason."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.structured_content
    return str(result.content[0].text)  # type: ignore[union-attr]
