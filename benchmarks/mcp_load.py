"""How fast the MCP server answers many calls at once, measured by the SDK's own client.

    python benchmarks/mcp_load.py REPO [--index-dir DIR] [--calls 200] [--rev REV]

Two figures for each tool: all calls sent at once over one pipe, and eight at a time, which is what
a few agents do. Latency is from sending a call to its answer, queueing included.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

Call = tuple[str, dict[str, Any]]
ISSUE = """autodoc: inherited members of a dataclass are documented twice

With :inherited-members: the directive in sphinx/ext/autodoc/__init__.py calls filter_members and
get_object_members for each base, and add_content is run again for attributes.
"""
FEW = 8


@dataclass(frozen=True)
class Load:
    """Latencies of one run."""

    latencies_ms: Sequence[float]
    elapsed_s: float

    def __str__(self) -> str:
        cuts = statistics.quantiles(self.latencies_ms, n=20)
        rate = len(self.latencies_ms) / self.elapsed_s
        return f"p50 {cuts[9]:7.1f} ms  p95 {cuts[18]:7.1f} ms  {rate:6.0f} calls/s"


async def find_names(client: Client) -> list[str]:
    """Ids of entities to ask about."""
    words = ["document", "parser", "builder", "node", "config"]
    arguments = {"terms": words, "kinds": ["function"], "top_k": 50, "max_tokens": 50_000}
    found = await client.call_tool("search_entity", arguments)
    assert found.structured_content is not None
    return [result["entity"] for result in found.structured_content["results"]]


def make_calls(names: list[str]) -> dict[str, list[Call]]:
    """Calls by what they ask; no two in a row are the same."""
    retrieve: list[Call] = [("retrieve_entity", {"ids": [name]}) for name in names]
    traverse: list[Call] = [("traverse_graph", {"start_entities": [name]}) for name in names]
    words = [name.rpartition(":")[2] for name in names]
    search: list[Call] = [("search_entity", {"terms": [word]}) for word in words]
    localize: list[Call] = [("localize", {"issue": f"{ISSUE}\n{word}"}) for word in words]
    graph = [call for calls in zip(retrieve, traverse, search, strict=True) for call in calls]
    return {
        "retrieve_entity": retrieve,
        "traverse_graph": traverse,
        "search_entity": search,
        "the three in turn": graph,
        "localize": localize,
    }


async def run(client: Client, calls: Sequence[Call], n_calls: int, at_once: int) -> Load:
    """Make the calls over and over, so many at once."""
    limiter = anyio.CapacityLimiter(at_once)
    latencies: list[float] = []

    async def one(number: int) -> None:
        name, arguments = calls[number % len(calls)]
        async with limiter:
            start = time.perf_counter()
            result = await client.call_tool(name, arguments)
            latencies.append((time.perf_counter() - start) * 1000)
        assert not result.is_error, result.content

    start = time.perf_counter()
    async with anyio.create_task_group() as group:
        for number in range(n_calls):
            group.start_soon(one, number)
    return Load(latencies, time.perf_counter() - start)


async def measure(options: argparse.Namespace) -> None:
    """Start a server, and load it."""
    arguments = ["-m", "graphloc", "mcp", options.repo]
    for name in ("index_dir", "rev"):
        value = getattr(options, name)
        arguments += [f"--{name.replace('_', '-')}", value] if value else []
    server = StdioServerParameters(command=sys.executable, args=arguments, env=options.env)
    start = time.perf_counter()
    async with Client(stdio_client(server), mode="legacy") as client:
        print(f"greeted after {time.perf_counter() - start:.2f} s")
        await client.call_tool("localize", {"issue": ISSUE})
        print(f"first answer after {time.perf_counter() - start:.2f} s")
        for title, calls in make_calls(await find_names(client)).items():
            await run(client, calls, FEW, FEW)
            for at_once in (FEW, options.calls):
                load = await run(client, calls, options.calls, at_once)
                print(f"{title:<18} {at_once:>4} at once  {load}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("repo")
    parser.add_argument("--index-dir")
    parser.add_argument("--rev")
    parser.add_argument("--calls", type=int, default=200)
    options = parser.parse_args()
    options.env = {"PYTHONPATH": ":".join(filter(None, sys.path))}
    anyio.run(measure, options)


if __name__ == "__main__":
    main()
