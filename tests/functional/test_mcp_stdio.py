"""The MCP server over a real pipe, asked by the SDK's own client."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import anyio
import pytest
from jsonschema import Draft202012Validator
from mcp.types import TextResourceContents

from tests.functional.mcp_clients import ask, command, environment, refusal, run, stdio
from tests.functional.sample_trees import TRACEBACK, make_big_folder, make_repository, write

CALLS = {
    "localize": {"issue": TRACEBACK},
    "search_entity": {"terms": ["net_price"]},
    "traverse_graph": {"start_entities": ["shop/cart.py:Cart.total"]},
    "retrieve_entity": {"ids": ["shop/prices.py:net_price"]},
    "explain": {"issue": TRACEBACK, "entity": "shop/prices.py:net_price"},
    "reindex": {},
}
GREETING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_all_tools_have_schemas_and_answer_by_them(shop: Path, mode: str) -> None:
    async def conversation() -> None:
        async with stdio(shop, mode=mode) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert tools.keys() == CALLS.keys()
            for name, arguments in CALLS.items():
                tool = tools[name]
                assert tool.description
                Draft202012Validator(tool.input_schema).validate(arguments)
                result = await client.call_tool(name, arguments)
                assert not result.is_error
                assert tool.output_schema is not None
                Draft202012Validator(tool.output_schema).validate(result.structured_content)
                (text,) = result.content
                assert json.loads(text.text) == result.structured_content  # type: ignore[union-attr]

    run(conversation)


def test_the_map_is_a_resource_of_the_size_asked_for(shop: Path) -> None:
    async def conversation() -> None:
        async with stdio(shop) as client:
            (resource,) = (await client.list_resources()).resources
            (whole,) = (await client.read_resource(resource.uri)).contents
            (small,) = (await client.read_resource(f"{resource.uri}/30")).contents
            assert isinstance(whole, TextResourceContents)
            assert isinstance(small, TextResourceContents)
            assert "def net_price(item)" in whole.text
            assert 0 < len(small.text) <= 90

    run(conversation)


def test_answers_are_paged_by_cursor(shop: Path) -> None:
    async def conversation() -> None:
        async with stdio(shop) as client:
            page = await ask(client, "localize", issue=TRACEBACK, max_tokens=500)
            ranks = [result["rank"] for result in page["results"]]
            while page["next_cursor"]:
                cursor = page["next_cursor"]
                page = await ask(client, "localize", issue="", cursor=cursor, max_tokens=500)
                ranks += [result["rank"] for result in page["results"]]
            assert ranks == list(range(1, 11))
            said = await refusal(client, "localize", {"issue": "x", "cursor": "no-such-cursor"})
            assert "ask again without a cursor" in said

    run(conversation)


def test_a_stale_index_is_refreshed_before_answering(shop: Path) -> None:
    async def conversation() -> None:
        async with stdio(shop) as client:
            assert (await ask(client, "reindex"))["n_files"] == 4
            write(shop, {"shop/rebates.py": "def loyalty_rebate(customer):\n    return 2\n"})
            page = await ask(client, "search_entity", terms=["loyalty_rebate"])
            assert page["results"][0]["entity"] == "shop/rebates.py:loyalty_rebate"
            write(shop, {"shop/rebates.py": "\n\ndef loyalty_rebate(customer):\n    return 3\n"})
            page = await ask(client, "retrieve_entity", ids=["loyalty_rebate"])
            assert page["results"][0]["code"] == "3| def loyalty_rebate(customer):\n4|     return 3"
            again = await ask(client, "reindex")
            assert (again["n_read"], again["has_changed"]) == (0, False)

    run(conversation)


def test_indexing_tells_its_progress(tmp_path: Path) -> None:
    folder = make_big_folder(tmp_path / "big")
    told: list[tuple[float, float | None, str | None]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async def conversation() -> None:
        async with stdio(folder) as client:
            result = await client.call_tool("reindex", {}, progress_callback=listen)
            assert not result.is_error

    run(conversation)
    values = [progress for progress, _, _ in told]
    assert values
    assert values == sorted(set(values))
    assert all(total == 100 and message for _, total, message in told)


def test_a_cancelled_call_ends_and_the_server_goes_on(tmp_path: Path) -> None:
    folder = make_big_folder(tmp_path / "big", 200)

    async def conversation() -> None:
        async with stdio(folder) as client:
            with anyio.move_on_after(0.3) as scope:
                await client.call_tool("localize", {"issue": "combine fails in step_7"})
            assert scope.cancelled_caught
            assert (await client.list_tools()).tools
            page = await ask(client, "localize", issue="combine fails in step_7 of part_3")
            assert page["results"]

    run(conversation)


def test_a_hundred_questions_at_once_get_their_own_answers(shop: Path) -> None:
    names = ["Cart", "GiftCart", "PriceError", "net_price", "discount_of"]

    async def conversation() -> None:
        found: dict[int, str] = {}
        async with stdio(shop) as client:

            async def one(number: int) -> None:
                page = await ask(client, "search_entity", terms=[names[number % 5]], top_k=1)
                found[number] = page["results"][0]["entity"]

            async with anyio.create_task_group() as group:
                for number in range(100):
                    group.start_soon(one, number)
        assert [found[n].rpartition(":")[2] for n in range(100)] == names * 20

    run(conversation)


def test_a_bare_revision_is_served(shop: Path) -> None:
    async def conversation() -> None:
        async with stdio(shop, "--rev", "HEAD") as client:
            write(shop, {"shop/prices.py": "changed = 1\n"})
            page = await ask(client, "retrieve_entity", ids=["net_price"])
            assert "def net_price(item)" in page["results"][0]["code"]

    run(conversation)


def test_stdout_carries_the_protocol_only_and_ends_with_stdin(shop: Path) -> None:
    calls = [
        {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        }
        for number, (name, arguments) in enumerate(CALLS.items(), 2)
    ]
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    process = subprocess.Popen(
        command(shop),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdin
    assert process.stdout
    for message in [GREETING, initialized, *calls]:
        process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in range(len(calls) + 1)]
    assert {answer["id"] for answer in answers} == set(range(1, len(calls) + 2))
    rest, said = process.communicate(timeout=60)
    assert (process.returncode, rest, said) == (0, b"", b"")


def test_the_host_is_greeted_before_anything_is_indexed(tmp_path: Path) -> None:
    folder = make_big_folder(tmp_path / "big", 200)
    process = subprocess.Popen(
        command(folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps(GREETING).encode() + b"\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    assert answer["result"]["serverInfo"]["name"] == "graphloc"
    assert answer["result"]["instructions"]
    assert not list(folder.glob(".graphloc/index.sqlite"))
    process.stdin.close()
    assert process.wait(60) == 0
    process.stdout.close()


def test_a_repository_that_is_not_there_is_said_in_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        command(tmp_path / "nowhere"), env=environment(), capture_output=True, check=False
    )
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.count(b"\n") == 1
    assert b"does not exist" in done.stderr


def test_a_damaged_index_is_a_clear_error_of_each_tool(tmp_path: Path) -> None:
    shop = make_repository(tmp_path / "shop")
    write(shop, {".graphloc/index.sqlite": "this is no index"})

    async def conversation() -> None:
        async with stdio(shop) as client:
            for name, arguments in CALLS.items():
                said = await refusal(client, name, dict(arguments))
                assert "index cannot be used" in said
                assert str(tmp_path) not in said

    run(conversation)
