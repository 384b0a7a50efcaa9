"""The harness: RepoEval's shape, judging by held-out tests, one schema, resuming."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from graphloc.completion.agent.session import RunOptions
from graphloc.completion.agent.tdd_agent import TddAgent
from graphloc.completion.agent.variants import VARIANTS
from graphloc.completion.baselines import InFile, RepoCoder
from graphloc.completion.errors import RunMismatchError
from graphloc.completion.files import load_texts
from graphloc.completion.harness import (
    EvaluationPlan,
    Method,
    check_instances,
    evaluate,
    judge,
    run_instance,
    summarize,
)
from graphloc.completion.hole import find_function_hole
from graphloc.completion.model import CompletionTask
from graphloc.completion.pytest_runs import PytestEnvironment
from graphloc.completion.repoeval import CompletionDataset, load_repoeval
from graphloc.completion.results import Result
from graphloc.completion.suite_quality import measure_suites
from graphloc.completion.window_retrieval import bm25_retriever, jaccard_retriever
from graphloc.llm import OpenAIChatModel
from indexes.errors import DatasetError
from indexes.source import open_source
from repair.sandbox import Limits, find_python_environment, open_sandbox
from tests.fakes.chat_server import Reply, SeenRequest, Text, ToolCalls

from .conftest import Connect

ROOT = Path(__file__).parents[3]
TRUTHS = {
    "Square.area": "        return self.side * self.side\n",
    "total": "    return sum(Square(side).area() for side in sides)\n",
}
USES_TEST = "from uses import total\n\n\ndef test_total():\n    assert total([1, 2]) == 5\n"
SUITES = {
    "area": "from shapes import Square\n\ndef test_area():\n    assert Square(3).area() == 9\n",
    "total": "from uses import total\n\ndef test_total():\n    assert total([2]) == 4\n",
}


@pytest.fixture(scope="module")
def environment() -> PytestEnvironment:
    python = find_python_environment(Path(sys.executable))
    sandbox = open_sandbox(readonly=python.roots)
    return PytestEnvironment(sandbox, python.executable, Limits(wall_s=40.0, cpu_s=30.0))


def write_dataset(toy: Path) -> Path:
    (toy / "tests" / "test_uses.py").write_text(USES_TEST)
    rows = []
    for path, name, tests in (
        ("shapes.py", "Square.area", ["tests/test_shapes.py"]),
        ("uses.py", "total", ["tests/test_uses.py::test_total"]),
    ):
        truth = TRUTHS[name]
        text = (toy / path).read_text()
        line = text[: text.index(truth)].count("\n")
        metadata = {
            "task_id": "toy/idx",
            "ground_truth": truth,
            "fpath_tuple": ["toy", path],
            "context_start_lineno": 0,
            "line_no": line,
            "function_name": name,
            "tests": tests,
        }
        rows.append({"prompt": text[: text.index(truth)], "metadata": metadata})
    data = toy.parent / "toy.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return data


@pytest.fixture
def dataset(toy: Path) -> CompletionDataset:
    return load_repoeval(write_dataset(toy), toy.parent)


def test_holes_are_cut_where_the_truth_stands(dataset: CompletionDataset, toy: Path) -> None:
    area, total = dataset.instances
    assert (area.id, total.id) == ("toy/1", "toy/2")
    assert area.task.hole.removed == TRUTHS["Square.area"]
    assert area.task.hole.original() == (toy / "shapes.py").read_bytes()
    assert area.task.hidden_tests == ("tests/test_shapes.py", "tests/test_uses.py")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ground_truth": "    return 42\n"}, "line 1: the ground truth does not stand at line"),
        ({"ground_truth": "\n"}, "ground truth is empty"),
        ({"fpath_tuple": ["toy", "..", "x.py"]}, "no path inside"),
        ({"fpath_tuple": ["toy", "gone.py"]}, "cannot be read"),
    ],
)
def test_bad_lines_are_named(toy: Path, change: dict[str, Any], message: str) -> None:
    data = write_dataset(toy)
    row = json.loads(data.read_text().split("\n")[0])
    row["metadata"] |= change
    data.write_text(json.dumps(row))
    with pytest.raises(DatasetError, match=message):
        load_repoeval(data, toy.parent)
    data.write_text("[1, 2]")
    with pytest.raises(DatasetError, match="line 1"):
        load_repoeval(data, toy.parent)


def test_the_truth_passes_and_an_empty_body_fails(
    dataset: CompletionDataset, environment: PytestEnvironment
) -> None:
    checks = check_instances(dataset.instances, environment)
    assert all(check.is_usable for check in checks), checks
    first = dataset.instances[0]
    for cheat in ("import os\nos._exit(0)", "raise SystemExit(0)", "while True:\n    pass"):
        quick = PytestEnvironment(
            environment.sandbox, environment.python, Limits(wall_s=8.0, cpu_s=5.0)
        )
        assert judge(first, cheat, quick)[0] is False


def _answer(request: SeenRequest, texts: dict[str, str]) -> Reply:
    """Play a model that knows the answers, through whatever tools it is given."""
    opening = request.body["messages"][1]["content"]
    wants_total = "body of total," in opening or "function total in" in opening
    name = "total" if wants_total else "Square.area"
    tools = {each["function"]["name"] for each in request.body.get("tools", [])}
    if not tools:
        return Text(f"```python\n{texts[name]}```")
    called = [
        call["function"]["name"]
        for message in request.body["messages"]
        for call in message.get("tool_calls") or []
    ]
    if "submit_tests" in tools and "submit_tests" not in called:
        return ToolCalls([("submit_tests", {"code": SUITES[name.rpartition(".")[2]]})])
    if "submit_implementation" not in called:
        return ToolCalls([("submit_implementation", {"code": texts[name]})])
    if "run_tests" in tools and "run_tests" not in called:
        return ToolCalls([("run_tests", {})])
    return ToolCalls([("finish", {})])


def all_methods(model: OpenAIChatModel, environment: PytestEnvironment) -> list[Method]:
    def agent(name: str) -> Callable[[Path], TddAgent]:
        options = RunOptions(repeats=1)
        return lambda repository: TddAgent(model, environment, VARIANTS[name], options)

    def jaccard(repository: Path) -> RepoCoder:
        return RepoCoder(model, jaccard_retriever(load_texts(open_source(repository))), 1)

    def bm25(repository: Path) -> RepoCoder:
        return RepoCoder(model, bm25_retriever(load_texts(open_source(repository))), 2)

    return [
        Method("in-file", "1", lambda repository: InFile(model)),
        Method("rag", "1", jaccard),
        Method("repocoder", "1", bm25),
        *(Method(name, "1", agent(name)) for name in VARIANTS),
    ]


def test_an_oracle_passes_everything_and_nonsense_nothing(
    dataset: CompletionDataset, environment: PytestEnvironment, connect: Connect, tmp_path: Path
) -> None:
    nonsense = {name: "        return None\n" for name in TRUTHS}
    first = CompletionDataset(dataset.digest, dataset.instances[:1])
    for texts, rate, asked in ((TRUTHS, 1.0, dataset), (nonsense, 0.0, first)):
        n = len(asked.instances)
        line = connect(lambda request, texts=texts: _answer(request, texts))
        methods = all_methods(line.model, environment)
        plan = EvaluationPlan(tmp_path / f"{rate}.jsonl", jobs=2)
        results = evaluate(asked, methods, environment, plan)
        assert len(results) == n * len(methods)
        summaries = summarize(results)
        assert {each.method: each.pass_rate for each in summaries} == dict.fromkeys(
            (method.name for method in methods), rate
        )
        assert {each.exact_match for each in summaries} == {rate}
        by_name = {each.method: each for each in summaries}
        assert by_name["in-file"].calls == 1
        assert by_name["repocoder"].prompt_tokens == 20
        assert by_name["tdd-agent"].calls == 4
        assert by_name["tdd-agent"].mismatched_failures == n * (1 - rate)
        lines = (tmp_path / f"{rate}.jsonl").read_bytes().splitlines()[1:]
        assert [msgspec.json.decode(each, type=Result).schema for each in lines] == [
            "graphloc.complete-result/1"
        ] * len(results)


def test_passing_own_tests_and_failing_the_held_out_ones_is_told(
    dataset: CompletionDataset, environment: PytestEnvironment, connect: Connect
) -> None:
    weak = "from shapes import Square\n\ndef test_two():\n    assert Square(2).area() == 4\n"
    script = [
        ToolCalls([("submit_tests", {"code": weak})]),
        ToolCalls([("submit_implementation", {"code": "return 2 * self.side"})]),
        ToolCalls([("run_tests", {})]),
        ToolCalls([("finish", {})]),
    ]
    agent = TddAgent(connect(script).model, environment, options=RunOptions(repeats=1))
    result = run_instance(dataset.instances[0], agent, environment)
    assert (result.passed, result.passed_own_tests) == (False, True)
    assert result.is_matched_failure
    assert summarize([result])[0].matched_failures == 1


def test_another_run_is_not_resumed(
    dataset: CompletionDataset, environment: PytestEnvironment, connect: Connect, tmp_path: Path
) -> None:
    line = connect(lambda request: _answer(request, TRUTHS))
    plan = EvaluationPlan(tmp_path / "out.jsonl")
    method = Method("in-file", "1", lambda repository: InFile(line.model))
    first = evaluate(dataset, [method], environment, plan)
    asked = len(line.server.requests)
    resumed = EvaluationPlan(plan.output, resume=True)
    with plan.output.open("ab") as file:
        file.write(b'{"cut off')
    assert evaluate(dataset, [method], environment, resumed) == first
    assert len(line.server.requests) == asked
    other = Method("in-file", "2", method.make)
    with pytest.raises(RunMismatchError, match="another dataset, method or setting"):
        evaluate(dataset, [other], environment, resumed)
    plan.output.write_text("no results\n")
    with pytest.raises(RunMismatchError, match="something else"):
        evaluate(dataset, [method], environment, resumed)


RUNNER = """
import sys
from pathlib import Path
from graphloc.completion.agent.session import RunOptions
from graphloc.completion.agent.tdd_agent import TddAgent
from graphloc.completion.harness import EvaluationPlan, Method, evaluate
from graphloc.completion.hole import find_function_hole
from graphloc.completion.model import CompletionTask
from graphloc.completion.pytest_runs import PytestEnvironment
from graphloc.completion.repoeval import load_repoeval
from graphloc.llm import ModelSettings, OpenAIChatModel, ReplyRecord
from repair.sandbox import Limits, find_python_environment, open_sandbox

data, output, url, record = sys.argv[1:]
python = find_python_environment(Path(sys.executable))
environment = PytestEnvironment(
    open_sandbox(readonly=python.roots), python.executable, Limits(wall_s=40.0, cpu_s=30.0))
settings = ModelSettings(model="scripted", base_url=url)
with ReplyRecord(Path(record)) as replies, OpenAIChatModel(settings, record=replies) as model:
    agent = TddAgent(model, environment, options=RunOptions(repeats=1))
    method = Method("tdd-agent", "1", lambda repository: agent)
    dataset = load_repoeval(Path(data), Path(data).parent)
    evaluate(dataset, [method], environment, EvaluationPlan(Path(output), resume=True))
"""


def test_a_killed_run_goes_on_without_asking_twice(
    toy: Path, tmp_path: Path, connect: Connect
) -> None:
    def slow_at_the_end(request: SeenRequest) -> Reply:
        if request.index == 6:
            time.sleep(60)
        return _answer(request, TRUTHS)

    data, output, record = write_dataset(toy), tmp_path / "out.jsonl", tmp_path / "record.sqlite"
    script = tmp_path / "runner.py"
    script.write_text(textwrap.dedent(RUNNER))

    def command(url: str) -> list[str]:
        return [sys.executable, str(script), str(data), str(output), url, str(record)]

    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    first = connect(slow_at_the_end)
    process = subprocess.Popen(command(first.server.base_url), env=variables)
    while len(first.server.requests) < 7 and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert output.read_bytes().count(b"\n") == 2
    second = connect(lambda request: _answer(request, TRUTHS))
    subprocess.run(command(second.server.base_url), env=variables, check=True)
    lines = output.read_bytes().splitlines()[1:]
    results = [msgspec.json.decode(line, type=Result) for line in lines]
    assert [(each.instance_id, each.passed) for each in results] == [
        ("toy/1", True),
        ("toy/2", True),
    ]
    assert len(second.server.requests) == 2  # of four: two replies came from the record


class _Mutants:
    def find_mutants(self, body: str) -> list[str]:
        return [body.replace("*", "+"), body.replace("*", "**"), body.replace("* self.side", "")]


def test_suites_are_measured_on_the_reference(toy: Path, environment: PytestEnvironment) -> None:
    body = (
        "        if self.side < 0:\n            return 0.0\n        return self.side * self.side\n"
    )
    (toy / "shapes.py").write_text(
        (toy / "shapes.py").read_text().replace(TRUTHS["Square.area"], body)
    )
    hole = find_function_hole((toy / "shapes.py").read_bytes(), "shapes.py", "Square.area")
    task = CompletionTask(toy, hole, ("tests/test_shapes.py",))
    weak = "from shapes import Square\n\ndef test_two():\n    assert Square(2).area() == 4\n"
    more = "assert Square(3).area() == 9\n    assert Square(-1).area() == 0"
    strong = f"{weak}\ndef test_more():\n    {more}\n"
    wrong = weak.replace("== 4", "== 5")
    first, second, third = measure_suites(
        task, [weak, strong, wrong], hole.removed, environment, mutator=_Mutants()
    )
    assert (first.passes_reference, first.reference_pass_rate) == (True, 1.0)
    assert first.mutation_score == pytest.approx(1 / 3)
    assert second.mutation_score == 1.0
    assert first.coverage is not None
    assert second.coverage is not None
    assert (first.coverage.lines, first.coverage.branches) == (pytest.approx(2 / 3), 0.5)
    assert (second.coverage.lines, second.coverage.branches) == (1.0, 1.0)
    assert (third.passes_reference, third.mutation_score) == (False, None)
