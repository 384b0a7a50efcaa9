"""Reading benchmarks as they are published; nothing of them is kept.

- QuixBugs, https://github.com/jkoppel/QuixBugs: a checkout's folder.
- HumanEvalFix, https://github.com/bigcode-project/octopack: ``humanevalpack.jsonl`` of Python.
- MBPP+Fix, https://github.com/archiki/UTGenDebug: ``MBPP+Fix_hard_test.jsonl`` and its like.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path

from indexes.errors import DatasetError
from repair.evaluation.assertions import split_check, split_loop
from repair.evaluation.model import BugInstance

_TARGET = "solution.py"
_TEST_FILE = "test_solution.py"
_TEST_SUPPORT = ("load_testdata.py", "node.py")


class Layout(StrEnum):
    """Known benchmarks."""

    QUIXBUGS = "quixbugs"
    HUMANEVALFIX = "humanevalfix"
    MBPP_FIX = "mbpp_fix"


def load_bugs(layout: Layout, path: Path) -> tuple[BugInstance, ...]:
    """Read all bugs of a benchmark, in its own order.

    Raises
    ------
    DatasetError
        The path does not hold the benchmark, or a line cannot be read.
    """
    readers: Mapping[Layout, Callable[[Path], Iterator[BugInstance]]] = {
        Layout.QUIXBUGS: _quixbugs,
        Layout.HUMANEVALFIX: _humanevalfix,
        Layout.MBPP_FIX: _mbpp_fix,
    }
    try:
        found = tuple(readers[layout](path))
    except (OSError, KeyError, ValueError, SyntaxError) as error:
        raise DatasetError(f"{path} is not {layout} as published: {error!r}") from error
    if not found:
        raise DatasetError(f"{path} holds no bug in the layout of {layout}")
    return found


def _quixbugs(folder: Path) -> Iterator[BugInstance]:
    """Programs and tests are files; a program's JSON lines are its tests' inputs and results."""
    for test in sorted(folder.glob("python_testcases/test_*.py")):
        name = test.stem.removeprefix("test_")
        target = f"python_programs/{name}.py"
        cases = folder / "json_testcases" / f"{name}.json"
        paths = [target, f"python_testcases/{test.name}", "conftest.py"]
        paths += [f"python_testcases/{support}" for support in _TEST_SUPPORT]
        if cases.exists():
            paths.append(f"json_testcases/{name}.json")
        yield BugInstance(
            name,
            {path: (folder / path).read_bytes() for path in paths if (folder / path).exists()},
            target,
            f"python_testcases/{test.name}",
            name,
            (folder / "correct_python_programs" / f"{name}.py").read_text(encoding="utf-8"),
            tuple(_case_inputs(cases)) if cases.exists() else (),
            ("python_testcases",),
        )


def _case_inputs(cases: Path) -> Iterator[str]:
    for line in cases.read_text(encoding="utf-8").splitlines():
        if line.strip():
            arguments = json.loads(line)[0]
            yield json.dumps(arguments if isinstance(arguments, list) else [arguments])


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


def _humanevalfix(path: Path) -> Iterator[BugInstance]:
    """One ``check`` function of assertions per program."""
    for row in _rows(path):
        tests, inputs = split_check(row["test"], row["entry_point"], module="solution")
        yield BugInstance(
            row["task_id"],
            {
                _TARGET: (row["declaration"] + row["buggy_solution"]).encode(),
                _TEST_FILE: tests.encode(),
            },
            _TARGET,
            _TEST_FILE,
            row["entry_point"],
            row["declaration"] + row["canonical_solution"],
            inputs,
        )


def _mbpp_fix(path: Path) -> Iterator[BugInstance]:
    """One loop over lists of inputs and results per program."""
    for row in _rows(path):
        tests, inputs = split_loop(row["test"], row["entry_point"], module="solution")
        yield BugInstance(
            str(row["task_id"]),
            {_TARGET: _without_checks(row["code"]).encode(), _TEST_FILE: tests.encode()},
            _TARGET,
            _TEST_FILE,
            row["entry_point"],
            row["canonical_solution"],
            inputs,
        )


def _without_checks(source: str) -> str:
    """Drop a program's own trial calls at the end, which would run on import."""
    lines = source.splitlines(keepends=True)
    for node in reversed(ast.parse(source).body):
        is_trial = isinstance(node, (ast.Assert, ast.Expr)) and not isinstance(
            getattr(node, "value", None), ast.Constant
        )
        if is_trial:
            del lines[node.lineno - 1 : node.end_lineno]
    return "".join(lines)
