"""The MCP server over a real socket: sessions, tokens, names of hosts."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from tests.functional.mcp_clients import ask, command, environment, http, run, serving
from tests.functional.sample_trees import TRACEBACK
from tests.functional.test_mcp_stdio import GREETING

TOKEN = "a-token-that-nobody-can-guess"
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


def greet(url: str, **headers: str) -> httpx2.Response:
    """Send the first message of a session."""
    with httpx2.Client(trust_env=False, timeout=60) as client:
        return client.post(url, content=json.dumps(GREETING), headers=HEADERS | headers)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_tools_answer_over_a_socket(shop: Path, mode: str) -> None:
    async def conversation(url: str) -> None:
        async with http(url, mode=mode) as client:
            page = await ask(client, "localize", issue=TRACEBACK, level="file", top_k=2)
            assert {place["entity"] for place in page["results"]} == {
                "shop/cart.py",
                "shop/prices.py",
            }

    with serving(shop) as server:
        run(lambda: conversation(server.url))


def test_two_hundred_concurrent_calls_from_several_clients_are_answered(shop: Path) -> None:
    expected = {
        ("search_entity", "terms", "net_price"): "shop/prices.py:net_price",
        ("search_entity", "terms", "GiftCart"): "shop/cart.py:GiftCart",
        ("retrieve_entity", "ids", "wrapping_fee"): "shop/cart.py:wrapping_fee",
        ("retrieve_entity", "ids", "shop/prices.py"): "shop/prices.py",
    }
    questions = list(expected) * 50
    found: list[tuple[tuple[str, str, str], str]] = []

    async def one(client: Any, question: tuple[str, str, str]) -> None:
        tool, name, value = question
        page = await ask(client, tool, **{name: [value]})
        found.append((question, page["results"][0]["entity"]))

    async def conversation(url: str) -> None:
        async with http(url) as first, http(url) as second, anyio.create_task_group() as group:
            for number, question in enumerate(questions):
                group.start_soon(one, (first, second)[number % 2], question)

    with serving(shop) as server:
        run(lambda: conversation(server.url))
    assert len(found) == 200
    assert all(entity == expected[question] for question, entity in found)


def test_progress_reaches_a_client_over_http(shop: Path) -> None:
    told: list[float] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async def conversation(url: str) -> None:
        async with http(url) as client:
            result = await client.call_tool("reindex", {}, progress_callback=listen)
            assert not result.is_error

    with serving(shop) as server:
        run(lambda: conversation(server.url))
    assert told == sorted(told)


def test_requests_without_the_token_are_refused(shop: Path) -> None:
    async def conversation(url: str) -> int:
        async with http(url, token=TOKEN) as client:
            return int((await ask(client, "reindex"))["n_files"])

    with serving(shop, "--token", TOKEN) as server:
        for headers in (
            {},
            {"Authorization": "Bearer wrong"},
            {"Authorization": f"Basic {TOKEN}"},
            {"Authorization": TOKEN},
            {"Authorization": f"Bearer {TOKEN}x"},
        ):
            refused = greet(server.url, **headers)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"].startswith("Bearer")
        assert greet(server.url, Authorization=f"Bearer {TOKEN}").status_code == 200
        assert run(lambda: conversation(server.url)) == 4


def test_the_token_may_come_from_the_environment(shop: Path) -> None:
    done = subprocess.run(
        command(shop, "--transport", "http", "--host", "0.0.0.0"),
        env=environment() | {"GRAPHLOC_MCP_TOKEN": "short"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert b"token must have" in done.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_listening_elsewhere_needs_a_token(shop: Path, host: str) -> None:
    done = subprocess.run(
        command(shop, "--transport", "http", "--host", host),
        env=environment(),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--token" in done.stderr


def test_other_hosts_and_web_pages_are_refused(shop: Path) -> None:
    with serving(shop) as server:
        port = server.url.split(":")[2].split("/")[0]
        assert greet(server.url, Host=f"localhost:{port}").status_code == 200
        assert greet(server.url, Host="evil.example").status_code == 421
        assert greet(server.url, Host=f"evil.example:{port}").status_code == 421
        assert greet(server.url, Origin="http://evil.example").status_code == 403
        assert greet(server.url, Origin="null").status_code == 403
        assert greet(server.url, Origin=f"http://localhost:{port}").status_code == 200


def test_a_further_name_may_be_allowed(shop: Path) -> None:
    with serving(shop, "--token", TOKEN, "--allowed-host", "code.example") as server:
        token = f"Bearer {TOKEN}"
        assert greet(server.url, Host="code.example", Authorization=token).status_code == 200
        assert greet(server.url, Host="code.example:8443", Authorization=token).status_code == 200
        assert greet(server.url, Host="other.example", Authorization=token).status_code == 421


def test_an_interrupt_ends_the_server(shop: Path) -> None:
    with serving(shop) as server:
        assert greet(server.url).status_code == 200
        server.process.send_signal(signal.SIGINT)
        out, said = server.process.communicate(timeout=60)
        assert server.process.returncode in {0, 130}
        assert (out, "Traceback" in said) == ("", False)
