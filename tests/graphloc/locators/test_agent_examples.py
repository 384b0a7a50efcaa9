"""The scripts of examples/ as agents run them: as programs, in a folder of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.fakes.chat_server import ChatServer, Text, ToolCalls
from tests.functional.sample_trees import TRACEBACK

PROJECT = Path(__file__).parents[3]
EXAMPLES = PROJECT / "examples"
BUNDLE = EXAMPLES / "swe-agent" / "graphloc"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Environment in which graphloc is a program on the path."""
    programs = tmp_path / "bin"
    programs.mkdir()
    graphloc = programs / "graphloc"
    graphloc.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m graphloc "$@"\n')
    graphloc.chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return dict(os.environ) | {"PATH": path, "PYTHONPATH": str(PROJECT)}


def run(
    program: Path, *arguments: object, cwd: Path, env: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a script of an example."""
    return subprocess.run(
        [str(program), *map(str, arguments)],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_bundle_declares_just_the_tools_that_it_has() -> None:
    declared = yaml.safe_load((BUNDLE / "config.yaml").read_text())["tools"]
    programs = {path.name for path in (BUNDLE / "bin").iterdir()}
    assert declared.keys() == programs
    for name, tool in declared.items():
        assert tool["signature"].startswith(name)
        assert os.access(BUNDLE / "bin" / name, os.X_OK)


@pytest.mark.parametrize(
    ("program", "arguments", "expected"),
    [
        ("graphloc_search", ["net_price"], "shop/prices.py:net_price"),
        ("graphloc_traverse", ["Cart.total", "downstream"], "shop/prices.py:net_price"),
        ("graphloc_traverse", ["discount_of", "upstream", 2], "shop/cart.py:Cart.total"),
        ("graphloc_retrieve", ["shop/prices.py:net_price"], "10|     return item.price"),
    ],
)
def test_the_tools_of_the_bundle_answer(
    shop: Path, environment: dict[str, str], program: str, arguments: list[object], expected: str
) -> None:
    done = run(BUNDLE / "bin" / program, *arguments, cwd=shop, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert expected in done.stdout


def test_the_bundle_localizes_an_issue_in_a_file(
    shop: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    issue = tmp_path / "issue.md"
    issue.write_text(TRACEBACK)
    done = run(BUNDLE / "bin" / "graphloc_localize", issue, 3, cwd=shop, env=environment)
    assert done.returncode == 0
    assert "shop/cart.py" in done.stdout


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        ("graphloc_localize", []),
        ("graphloc_search", []),
        ("graphloc_traverse", ["../../etc/passwd"]),
        ("graphloc_retrieve", ["/etc/passwd"]),
        ("graphloc_retrieve", ["$(touch owned)"]),
    ],
)
def test_what_cannot_be_done_is_said_on_stderr(
    shop: Path, environment: dict[str, str], program: str, arguments: list[object]
) -> None:
    done = run(BUNDLE / "bin" / program, *arguments, cwd=shop, env=environment)
    assert done.returncode != 0
    assert done.stderr
    assert "root:x:" not in done.stdout
    assert not (shop / "owned").exists()


def test_the_task_of_mini_swe_agent_holds_issue_and_ranking(
    shop: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    issue = tmp_path / "issue.md"
    issue.write_text(TRACEBACK)
    script = EXAMPLES / "mini-swe-agent" / "task.sh"
    done = run(script, issue, shop, cwd=tmp_path, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert TRACEBACK in done.stdout
    assert "| 1 |" in done.stdout


def test_the_commands_that_mini_swe_agent_is_told_of_exist(environment: dict[str, str]) -> None:
    config = yaml.safe_load((EXAMPLES / "mini-swe-agent" / "graphloc.yaml").read_text())
    told = config["agent"]["system_template"]
    commands = {
        line.split()[1] for line in told.splitlines() if line.strip().startswith("graphloc ")
    }
    assert commands == {"localize", "search", "tools"}
    for command in commands:
        done = subprocess.run(["graphloc", command, "--help"], env=environment, check=False)
        assert done.returncode == 0


def test_function_calling_goes_round_and_ends(
    shop: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    issue = tmp_path / "issue.md"
    issue.write_text(TRACEBACK)
    script = [
        ToolCalls([("search_entity", {"terms": ["net_price"]})]),
        ToolCalls([("retrieve_entity", {"ids": ["../../etc/passwd"]})]),
        Text("shop/prices.py:net_price"),
    ]
    with ChatServer(script) as server:
        keys = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "none"}
        program = EXAMPLES / "function_calling.py"
        done = run(
            Path(sys.executable),
            program,
            shop,
            issue,
            "scripted",
            cwd=tmp_path,
            env=environment | keys,
        )
        bodies = [request.body for request in server.requests]
    assert (done.returncode, done.stdout) == (0, "shop/prices.py:net_price\n")
    assert len(bodies[0]["tools"]) == 4
    assert "shop/prices.py:net_price" in bodies[1]["messages"][-1]["content"]
    assert "leads out of the repository" in bodies[2]["messages"][-1]["content"]


def test_a_tool_is_called_from_the_command_line(shop: Path, environment: dict[str, str]) -> None:
    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["graphloc", "tools", str(shop), *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    found = call("--call", "search_entity", "--arguments", '{"terms": ["Cart"], "top_k": 1}')
    assert json.loads(found.stdout)["results"][0]["entity"] == "shop/cart.py:Cart"
    nothing = call("--call", "search_entity", "--arguments", '{"terms": ["zzzzzz"]}')
    assert (nothing.returncode, json.loads(nothing.stdout)["results"]) == (1, [])
    for arguments in ("not json", "[]", '{"terms": 7}'):
        wrong = call("--call", "search_entity", "--arguments", arguments)
        assert (wrong.returncode, wrong.stdout) == (2, "")
        assert wrong.stderr.count("\n") == 1
    assert len(json.loads(call("--format", "anthropic").stdout)) == 4


def test_markdown_fits_into_the_room_of_a_prompt(shop: Path, environment: dict[str, str]) -> None:
    def localize(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["graphloc", "localize", str(shop), "--text", TRACEBACK, *options],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    whole = localize("--format", "markdown").stdout
    short = localize("--format", "markdown", "--max-tokens", "150").stdout
    assert whole.startswith(short)
    assert 0 < len(short) <= 450 < len(whole)
    refused = localize("--max-tokens", "150")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--format markdown" in refused.stderr
