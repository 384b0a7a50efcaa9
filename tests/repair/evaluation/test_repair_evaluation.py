"""Benchmarks in their published layouts, made up in small, repaired and judged."""

import json
import sys
from pathlib import Path

import pytest

from indexes.errors import DatasetError
from repair.evaluation import EvaluationSettings, Layout, evaluate, load_bugs, summarize
from repair.evaluation.assertions import split_check
from repair.evaluation.harness import load_records, split_halves
from repair.evaluation.model import Verdict
from repair.model import TestOutcome, TestStatus
from repair.sandbox import LocalSandbox
from repair.search import Budget
from repair.testing.model import ForkSettings
from repair.testing.spectra import Coverage, CoveredTest

SUM_OF = """\
def sum_of(items):
    result = 0
    for x in items:
        result {} x
    return result
"""
QUIX_TEST = """\
import json, pathlib
import pytest
from python_programs.sum_of import sum_of

path = pathlib.Path(__file__).parent.parent / "json_testcases" / "sum_of.json"
cases = [json.loads(line) for line in path.read_text().splitlines()]

@pytest.mark.parametrize("given,expected", cases)
def test_sum_of(given, expected):
    assert sum_of(*given) == expected
"""
CHECK = """\
METADATA = {}

def check(candidate):
    offset = 0
    assert candidate([1, 2]) == 3 + offset
    assert True, "always"
    for n in range(3):
        assert candidate([n, n]) == 2 * n
    offset = 1
    assert candidate([4, 5]) == 8 + offset
    assert candidate([]) == 0

check(sum_of)
"""


def write_quixbugs(folder: Path) -> Path:
    cases = [([[1, 2]], 3), ([[5]], 5), ([[]], 0), ([[2, 2, 2]], 6), ([[0, 0]], 0), ([[7, -1]], 6)]
    files = {
        "python_programs/sum_of.py": SUM_OF.format("-="),
        "correct_python_programs/sum_of.py": SUM_OF.format("+="),
        "python_testcases/test_sum_of.py": QUIX_TEST,
        "json_testcases/sum_of.json": "\n".join(map(json.dumps, cases)),
    }
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def settings(**changes: object) -> EvaluationSettings:
    fork = ForkSettings(keep_going=True, retry_s=1.0)
    fields = {"budget": Budget(300), "fork": fork, "random_inputs": 60, **changes}
    return EvaluationSettings(LocalSandbox(), Path(sys.executable), **fields)


def test_a_quixbugs_program_is_repaired_and_judged_by_the_other_half(tmp_path: Path) -> None:
    bugs = load_bugs(Layout.QUIXBUGS, write_quixbugs(tmp_path / "quix"))
    [record] = evaluate(bugs, tmp_path / "out.jsonl", settings())
    assert record.verdict is Verdict.CORRECT
    assert (record.given, record.held_out) == (3, 3)
    assert record.rank >= 1
    assert record.template == "augmented_operator"
    assert record.compared == 60
    assert "+        result += x" in record.diff
    summary = summarize([record])
    assert (summary.n, summary.plausible, summary.held_out, summary.correct) == (1, 1, 1, 1)


def test_over_fitting_and_disagreement_are_told_apart(tmp_path: Path) -> None:
    folder = write_quixbugs(tmp_path / "quix")
    cases = [([[1, 2]], 1), ([[2, 4]], 3), ([[3, 3]], 3)]
    (folder / "json_testcases" / "sum_of.json").write_text("\n".join(map(json.dumps, cases)))
    program = "def sum_of(items):\n    return items[-1]\n"
    (folder / "python_programs" / "sum_of.py").write_text(program)
    bugs = load_bugs(Layout.QUIXBUGS, folder)
    [record] = evaluate(bugs, tmp_path / "out.jsonl", settings())
    assert record.verdict is Verdict.OVERFITTED
    assert "test_sum_of" in record.message
    assert summarize([record]).held_out == 0


def test_an_interrupted_evaluation_goes_on(tmp_path: Path) -> None:
    bugs = load_bugs(Layout.QUIXBUGS, write_quixbugs(tmp_path / "quix"))
    results = tmp_path / "out.jsonl"
    [first] = evaluate(bugs, results, settings())
    with results.open("ab") as file:
        file.write(b'{"id": "cut o')
    seen: list[object] = []
    assert evaluate(bugs, results, settings(), observe=seen.append) == (first,)
    assert seen == []
    results.write_text("no record\n")
    with pytest.raises(DatasetError, match="no results file"):
        load_records(results)


def test_programs_without_a_failing_test_are_counted_apart(tmp_path: Path) -> None:
    folder = write_quixbugs(tmp_path / "quix")
    (folder / "python_programs" / "sum_of.py").write_text(SUM_OF.format("+="))
    [record] = evaluate(load_bugs(Layout.QUIXBUGS, folder), tmp_path / "o.jsonl", settings())
    assert record.verdict is Verdict.NO_BUG_SHOWN
    assert (summarize([record]).n, summarize([record]).left_out) == (0, 1)


def test_humanevalfix_programs_have_a_test_per_assertion(tmp_path: Path) -> None:
    row = {
        "task_id": "Python/0",
        "declaration": "def sum_of(items):\n",
        "buggy_solution": "    return len(items)\n",
        "canonical_solution": "    return sum(items)\n",
        "test": CHECK,
        "entry_point": "sum_of",
    }
    path = tmp_path / "pack.jsonl"
    path.write_text(json.dumps(row) + "\n")
    [bug] = load_bugs(Layout.HUMANEVALFIX, path)
    assert bug.files["test_solution.py"].count(b"def test_") == 4
    assert bug.inputs == ("[[1, 2]]", "[[4, 5]]", "[[]]")
    [record] = evaluate([bug], tmp_path / "out.jsonl", settings())
    assert record.verdict is Verdict.CORRECT
    assert record.template == "callee"


def test_split_assertions_keep_what_they_need() -> None:
    source, _ = split_check(CHECK, "sum_of", module="solution")
    namespace: dict = {}
    exec(source.replace("from solution import sum_of as candidate", "candidate = sum"), namespace)
    names = [name for name in namespace if name.startswith("test_")]
    assert names == ["test_0", "test_1", "test_2", "test_3"]
    for name in names:
        namespace[name]()


def test_mbpp_programs_have_a_test_per_input(tmp_path: Path) -> None:
    row = {
        "task_id": 7,
        "code": "def double(n):\n    return n * 3\n\nprint(double(2))\nassert double(1) == 2\n",
        "canonical_solution": "def double(n):\n    return n * 2\n",
        "entry_point": "double",
        "test": "inputs = [[1], [2], [0], [5]]\nresults = [2, 4, 0, 10]\n"
        "for i, (inp, exp) in enumerate(zip(inputs, results)):\n    assert double(*inp) == exp\n",
    }
    path = tmp_path / "mbpp.jsonl"
    path.write_text(json.dumps(row) + "\n")
    [bug] = load_bugs(Layout.MBPP_FIX, path)
    assert b"print" not in bug.files["solution.py"]
    [record] = evaluate([bug], tmp_path / "out.jsonl", settings())
    assert (record.verdict, record.template) == (Verdict.CORRECT, "number")


def test_halves_share_out_failing_and_passing_tests() -> None:
    names = "abcdefg"
    statuses = [TestStatus.FAILED if name in "bdf" else TestStatus.PASSED for name in names]
    pairs = zip(names, statuses, strict=True)
    coverage = Coverage(tuple(CoveredTest(TestOutcome(n, s), {}) for n, s in pairs))
    given, held_out = split_halves(coverage)
    assert (given.failing, given.passing) == (("b", "f"), ("a", "e"))
    assert (held_out.failing, held_out.passing) == (("d",), ("c", "g"))


def test_other_files_are_no_benchmark(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"id": 1}\n')
    with pytest.raises(DatasetError, match="as published"):
        load_bugs(Layout.HUMANEVALFIX, tmp_path / "rows.jsonl")
    with pytest.raises(DatasetError, match="holds no bug"):
        load_bugs(Layout.QUIXBUGS, tmp_path)
