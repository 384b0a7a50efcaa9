"""``graphloc complete-eval`` from the shell."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from graphloc.cli.program import main
from tests.fakes.chat_server import Text

from .conftest import Connect

TRUTH = "        return self.side * self.side\n"


@pytest.fixture
def dataset(toy: Path) -> Path:
    text = (toy / "shapes.py").read_text()
    metadata = {
        "ground_truth": TRUTH,
        "fpath_tuple": ["toy", "shapes.py"],
        "line_no": text[: text.index(TRUTH)].count("\n"),
        "function_name": "Square.area",
    }
    path = toy.parent / "data.jsonl"
    path.write_text(json.dumps({"prompt": "", "metadata": metadata}) + "\n")
    return path


def test_a_method_is_measured_and_resumed(
    dataset: Path,
    connect: Connect,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = connect([Text(f"```python\n{TRUTH}```")])
    monkeypatch.setenv("OPENAI_BASE_URL", line.server.base_url)
    output = dataset.parent / "out.jsonl"
    arguments = ["complete-eval", str(dataset), "--repositories", str(dataset.parent)]
    arguments += ["--model", "scripted", "--output", str(output)]
    assert main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "graphloc.complete-eval/1"
    assert document["methods"][0]["pass_rate"] == 1.0
    assert main([*arguments, "--resume"]) == 0
    assert "in-file" in capsys.readouterr().out
    assert len(line.server.requests) == 1


def test_bad_input_ends_with_two(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["complete-eval", "gone.jsonl", "--repositories", "."]) == 2
    assert "gone.jsonl cannot be read" in capsys.readouterr().err
    tests = dataset.parent / "tests.json"
    tests.write_text("[]")
    arguments = [str(dataset), "--repositories", str(dataset.parent), "--tests", str(tests)]
    assert main(["complete-eval", *arguments]) == 2
    assert "has to map names" in capsys.readouterr().err


def test_instances_can_be_checked_without_a_model(
    dataset: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(dataset), "--repositories", str(dataset.parent), "--check", "--json"]
    arguments += ["--python", sys.executable, "--sandbox", "local", "--jobs", "1"]
    assert main(["complete-eval", *arguments, "--method", "in-file"]) == 0
    assert json.loads(capsys.readouterr().out)
