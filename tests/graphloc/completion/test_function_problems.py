"""Function-level problems: shapes, prompt strategies, checking answers, pass@k."""

from __future__ import annotations

import base64
import json
import pickle
import sys
import zlib
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import pytest

from graphloc.completion.problems import Problem, load_problems, read_problem
from graphloc.completion.program_checks import check_program, count_passed
from graphloc.completion.scores import (
    edit_similarity,
    is_exact_match,
    mean_pass_at_k,
    pass_at_k,
)
from graphloc.completion.strategies import Strategy, draw_samples, whole_program
from indexes.errors import DatasetError, InputError
from repair.sandbox import Limits, LocalSandbox
from tests.fakes.chat_server import SeenRequest, Text

from .conftest import Connect

PYTHON = Path(sys.executable)
HUMAN_EVAL: dict[str, Any] = {
    "task_id": "HumanEval/0",
    "prompt": 'from typing import List\n\ndef double(xs: List[int]) -> List:\n    """Double."""\n',
    "entry_point": "double",
    "canonical_solution": "    return [2 * x for x in xs]\n",
    "test": "def check(candidate):\n    assert candidate([1, 2]) == [2, 4]\n",
}
EVAL_PLUS = {
    "task_id": "Mbpp/2",
    "prompt": '"""Halve a number."""\n',
    "entry_point": "halve",
    "canonical_solution": "def halve(x):\n    return x / 2\n",
    "base_input": [[1], [3]],
    "plus_input": [[0.1]],
    "atol": 1e-6,
}
MBPP = {
    "task_id": 7,
    "prompt": "Write a function that triples a number.",
    "code": "def triple(x):\n    return 3 * x\n",
    "test_imports": ["import math"],
    "test_list": ["assert triple(2) == 6", "assert math.isclose(triple(0.5), 1.5)"],
}


def live_code_bench(kind: str, cases: list[tuple[str, str]], **fields: object) -> dict[str, Any]:
    tests = [{"input": i, "output": o, "testtype": kind} for i, o in cases]
    packed = base64.b64encode(zlib.compress(pickle.dumps(json.dumps(tests[1:])))).decode()
    return {
        "question_id": "q1",
        "question_content": "Add two numbers.",
        "starter_code": "",
        "public_test_cases": json.dumps(tests[:1]),
        "private_test_cases": packed,
        "metadata": "{}",
        **fields,
    }


STDIN = live_code_bench("stdin", [("1 2\n", "3\n"), ("5 6\n", "11\n")])
CALLS = live_code_bench(
    "functional",
    [("1\n2", "3"), ("[5]\n[6]", "[5, 6]")],
    starter_code="class Solution:\n    def add(self, a, b):\n",
    metadata='{"func_name": "add"}',
)


@pytest.mark.parametrize("row", [HUMAN_EVAL, EVAL_PLUS, MBPP])
def test_references_pass_and_wrong_answers_fail(row: dict[str, Any]) -> None:
    problem = read_problem(row)
    sandbox = LocalSandbox()
    assert check_program(problem.reference, problem, sandbox, python=PYTHON).passed
    for wrong in (
        problem.reference.replace("2", "7").replace("3 *", "4 *"),
        "import os\nos._exit(0)\n",
        "raise SystemExit(0)\n",
        "def (:\n",
    ):
        check = check_program(wrong, problem, sandbox, python=PYTHON)
        assert not check.passed
        assert check.detail


def test_live_code_bench_runs_programs_and_calls() -> None:
    sandbox = LocalSandbox()
    stdin, calls = read_problem(STDIN), read_problem(CALLS)
    assert len(stdin.cases) == len(calls.cases) == 2
    adder = "a, b = map(int, input().split())\nprint(a + b)\n"
    method = "class Solution:\n    def add(self, a, b):\n        return a + b\n"
    assert check_program(adder, stdin, sandbox, python=PYTHON).passed
    assert check_program(method, calls, sandbox, python=PYTHON).passed
    assert not check_program("print(3)", stdin, sandbox, python=PYTHON).passed
    assert not check_program(method.replace("a + b", "3"), calls, sandbox, python=PYTHON).passed
    assert count_passed([adder, "", adder, "print(3)"], stdin, sandbox, python=PYTHON) == 2


def test_an_answer_that_hangs_fails() -> None:
    problem = read_problem(HUMAN_EVAL)
    limits = Limits(wall_s=2.0, cpu_s=2.0)
    check = check_program(
        "while True:\n    pass\n", problem, LocalSandbox(), python=PYTHON, limits=limits
    )
    assert not check.passed
    assert check.detail.startswith("stopped by")


class _Harmful:
    def __reduce__(self) -> tuple[Any, ...]:
        return print, ("unpickled",)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "line 2"),
        (json.dumps({"task_id": 1}), "the fields are not those"),
        (json.dumps({**HUMAN_EVAL, "prompt": None}), "line 2"),
        (json.dumps({**STDIN, "private_test_cases": "????"}), "cannot be unpacked"),
        (
            json.dumps(
                {
                    **STDIN,
                    "private_test_cases": base64.b64encode(
                        zlib.compress(pickle.dumps(_Harmful()))
                    ).decode(),
                }
            ),
            r"names builtins\.print",
        ),
        (json.dumps({**STDIN, "public_test_cases": "[]", "private_test_cases": ""}), "no tests"),
    ],
)
def test_bad_lines_are_named(
    row: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(f"{json.dumps(MBPP)}\n{row}\n")
    with pytest.raises(DatasetError, match=message):
        load_problems(path)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("strategy", list(Strategy))
def test_every_strategy_ends_in_code(strategy: Strategy, connect: Connect) -> None:
    def answer(request: SeenRequest) -> Text:
        wants_code = "fenced Python block." in request.body["messages"][-1]["content"][-60:]
        code = "```python\ndef double(xs):\n    return [x + x for x in xs]\n```"
        return Text(f"Thoughts. ```python\nassert 1\n```\n{code}" if wants_code else "A plan.")

    line = connect(answer)
    problem = read_problem(HUMAN_EVAL)
    samples = draw_samples(line.model, strategy, problem, n=3)
    stages = 2 if strategy in (Strategy.SCOT, Strategy.SELF_PLANNING, Strategy.ICOT) else 1
    assert len(line.server.requests) == 3 * stages
    assert [sample.calls for sample in samples] == [stages] * 3
    assert {sample.usage.prompt_tokens for sample in samples} == {10 * stages}
    codes = [sample.code for sample in samples]
    assert codes[0].startswith("from typing import List\n")
    assert count_passed(codes, problem, LocalSandbox(), python=PYTHON) == 3
    seen = [request.body["messages"][1]["content"] for request in line.server.requests]
    assert all("def double(xs: List[int]) -> List:" in text for text in seen)


def test_replies_become_whole_programs() -> None:
    problem = read_problem(HUMAN_EVAL)
    body = whole_program("```python\nreturn [2 * x for x in xs]\n```", problem)
    assert check_program(body, problem, LocalSandbox(), python=PYTHON).passed
    assert whole_program("```python\n```", problem) == ""
    assert whole_program("print(1)", Problem("x", "Print 1.")) == "print(1)\n"


def test_pass_at_k_is_the_share_of_lucky_draws() -> None:
    for n in range(1, 7):
        for c in range(n + 1):
            for k in range(1, n + 1):
                draws = list(combinations(range(n), k))
                lucky = sum(min(draw) < c for draw in draws)
                assert pass_at_k(n, c, k) == pytest.approx(lucky / comb(n, k))
    assert pass_at_k(10_000, 1, 100) == pytest.approx(0.01)
    assert mean_pass_at_k([(10, 0), (10, 10), (10, 5)], 1) == pytest.approx(0.5)
    assert mean_pass_at_k([], 1) == 0.0
    with pytest.raises(InputError, match="pass@5"):
        pass_at_k(3, 1, 5)


def test_exact_match_and_edit_similarity() -> None:
    assert is_exact_match("  a = 1\n\n  b\n", "a = 1\nb")
    assert not is_exact_match("a = 1", "a = 2")
    assert edit_similarity("", "\n") == 1.0
    assert edit_similarity("kitten", "sitting") == pytest.approx(1 - 3 / 7)
    assert edit_similarity("abc", "") == 0.0
