"""The scripted server itself, where the client's tests do not show it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from graphloc.llm import ModelSettings, OpenAIChatModel
from graphloc.llm.errors import RequestRejectedError
from tests.fakes.chat_server import Drop, Raw, Slow, Status, Text, ToolCalls, load_script

ROOT = Path(__file__).resolve().parents[3]


def test_a_script_file_names_every_kind_of_reply(tmp_path):
    path = tmp_path / "script.json"
    path.write_text(
        json.dumps(
            [
                {"kind": "text", "text": "a"},
                {"kind": "tool_calls", "calls": [["search", {"query": "x"}]]},
                {"kind": "status", "status": 429, "headers": {"Retry-After": "1"}},
                {"kind": "raw", "body": "b"},
                {"kind": "drop", "after_bytes": 3},
                {"kind": "slow", "delay_s": 0.1, "reply": {"kind": "text", "text": "c"}},
            ]
        )
    )
    assert load_script(path) == [
        Text("a"),
        ToolCalls([["search", {"query": "x"}]]),
        Status(429, headers={"Retry-After": "1"}),
        Raw("b"),
        Drop(3),
        Slow(0.1, Text("c")),
    ]


def test_it_runs_as_a_process_and_logs_what_it_is_asked(tmp_path, ask):
    script, log = tmp_path / "script.json", tmp_path / "log.jsonl"
    script.write_text('[{"kind": "text", "text": "from afar"}]')
    command = [sys.executable, "-m", "tests.fakes.chat_server", str(script), "--log", str(log)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            base_url = process.stdout.readline().strip()
            with OpenAIChatModel(ModelSettings(model="scripted", base_url=base_url)) as model:
                assert model.complete(ask())[0].text == "from afar"
                with pytest.raises(RequestRejectedError, match="script exhausted"):
                    model.complete(ask())
        finally:
            process.kill()
    logged = [json.loads(line) for line in log.read_text().splitlines()]
    assert [entry["path"] for entry in logged] == ["/v1/chat/completions"] * 2
