"""Function-level problems from the JSONL of HumanEval+, MBPP+ and LiveCodeBench.

Shapes are told apart by their fields:

============== ==========================================================================
HumanEval+     ``prompt`` (header and docstring), ``entry_point``, ``test`` with ``check``
MBPP+          ``prompt`` (a sentence) or ``text``, ``test_list`` or ``test``, ``code``
EvalPlus       ``prompt``, ``entry_point``, ``canonical_solution``, ``base_input``, ``plus_input``
LiveCodeBench  ``question_content``, ``starter_code``, ``public_test_cases``,
               ``private_test_cases`` (JSON, or base64 of a compressed pickle of JSON)
============== ==========================================================================

The pickles of LiveCodeBench are read without letting them name any class or function.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import pickle
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexes.errors import DatasetError

_MAX_TESTS_BYTES = 512 * 1024 * 1024
"""LiveCodeBench's largest problems hold about a fifth of this once they are unpacked."""


@dataclass(frozen=True, slots=True)
class StdinCase:
    """A run of a whole program."""

    stdin: str
    stdout: str


@dataclass(frozen=True, slots=True)
class CallCase:
    """A call of a function: arguments and result as JSON."""

    arguments: tuple[str, ...]
    result: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem whose answer is a function or a program."""

    id: str
    statement: str
    starter: str = ""
    """Code the answer starts with: imports, header and docstring, or a class with a header."""
    entry_point: str = ""
    """Name of the function wanted; empty for programs that read standard input."""
    reference: str = ""
    """A whole correct program, where the data set has one."""
    checks: str = ""
    """Python that fails unless the answer above it is correct; empty if there are `cases`."""
    cases: tuple[StdinCase | CallCase, ...] = ()


def load_problems(path: Path) -> list[Problem]:
    """Read a file of problems.

    Raises
    ------
    DatasetError
        A line is no JSON object or has none of the known shapes; the message names the line.
    """
    problems = []
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path} cannot be read: {error}", path=str(path)) from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                problems.append(read_problem(json.loads(line)))
            except (KeyError, TypeError, ValueError) as error:
                what = f"lacks {error}" if isinstance(error, KeyError) else str(error)
                raise DatasetError(
                    f"{path}, line {number}: {what}", path=str(path), line=number
                ) from error
    return problems


def read_problem(row: Mapping[str, Any]) -> Problem:
    """Make a problem of a line's object.

    Raises
    ------
    KeyError, TypeError, ValueError
        It has none of the known shapes, or no tests.
    """
    problem = _read_shape(row)
    if not (problem.checks.strip() or problem.cases):
        raise ValueError(f"{problem.id} has no tests")
    return problem


def _read_shape(row: Mapping[str, Any]) -> Problem:
    if "question_content" in row:
        return _live_code_bench(row)
    if "base_input" in row:
        return _eval_plus(row)
    if "entry_point" in row and "test" in row:
        return _human_eval(row)
    if "test_list" in row or "test" in row:
        return _mbpp(row)
    raise ValueError("the fields are not those of HumanEval+, MBPP+ or LiveCodeBench")


def _human_eval(row: Mapping[str, Any]) -> Problem:
    return Problem(
        id=str(row["task_id"]),
        statement="Complete the function.",
        starter=row["prompt"],
        entry_point=row["entry_point"],
        reference=row["prompt"] + row.get("canonical_solution", ""),
        checks=f"{row['test']}\n\ncheck({row['entry_point']})\n",
    )


def _eval_plus(row: Mapping[str, Any]) -> Problem:
    """Expected results are what the reference gives, within `atol`."""
    inputs = [*row["base_input"], *row.get("plus_input", [])]
    reference = row["prompt"] + row["canonical_solution"]
    name = row["entry_point"]
    checks = (
        "import copy as _copy, math as _math\n"
        f"_reference = {{}}\nexec({reference!r}, _reference)\n"
        f"_atol = {float(row.get('atol') or 0)!r}\n"
        "def _same(a, b):\n"
        "    if a == b:\n"
        "        return True\n"
        "    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):\n"
        "        return len(a) == len(b) and all(map(_same, a, b))\n"
        "    if isinstance(a, float) or isinstance(b, float):\n"
        "        return _math.isclose(a, b, rel_tol=1e-07, abs_tol=_atol)\n"
        "    return False\n"
        f"for _input in {inputs!r}:\n"
        f"    _wanted = _reference[{name!r}](*_copy.deepcopy(_input))\n"
        f"    assert _same({name}(*_copy.deepcopy(_input)), _wanted), _input\n"
    )
    return Problem(
        id=str(row["task_id"]),
        statement="Complete the function.",
        starter=row["prompt"],
        entry_point=name,
        reference=reference,
        checks=checks,
    )


def _mbpp(row: Mapping[str, Any]) -> Problem:
    examples = "\n".join(row.get("test_list", ()))
    imports = "\n".join(row.get("test_imports", ()))
    statement = row.get("prompt") or row["text"]
    if examples:
        statement += f"\n\nIt has to satisfy:\n{examples}"
    return Problem(
        id=str(row["task_id"]),
        statement=statement,
        reference=row.get("code", ""),
        checks=f"{imports}\n{row.get('test') or examples}\n",
    )


def _live_code_bench(row: Mapping[str, Any]) -> Problem:
    tests = [*_lcb_tests(row["public_test_cases"]), *_lcb_tests(row.get("private_test_cases", ""))]
    metadata = row.get("metadata") or {}
    if isinstance(metadata, str):
        metadata = json.loads(metadata)
    return Problem(
        id=str(row["question_id"]),
        statement=row["question_content"],
        starter=row.get("starter_code", ""),
        entry_point=metadata.get("func_name", "").rpartition(".")[2],
        cases=tuple(map(_lcb_case, tests)),
    )


def _lcb_case(test: Mapping[str, str]) -> StdinCase | CallCase:
    if test.get("testtype") == "functional":
        lines = tuple(line for line in test["input"].split("\n") if line.strip())
        return CallCase(lines, test["output"])
    return StdinCase(test["input"], test["output"])


def _lcb_tests(text: str | list[Mapping[str, str]]) -> list[Mapping[str, str]]:
    if not isinstance(text, str):
        return list(text)
    if not text.strip():
        return []
    try:
        value = json.loads(text)
    except ValueError:
        value = json.loads(_unpacked(text))
    return list(value)


def _unpacked(text: str) -> str:
    try:
        unzip = zlib.decompressobj()
        data = unzip.decompress(base64.b64decode(text, validate=True), _MAX_TESTS_BYTES)
        if unzip.unconsumed_tail:
            raise ValueError("the private test cases are too large")
        value = _PlainUnpickler(io.BytesIO(data)).load()
    except (binascii.Error, zlib.error, pickle.UnpicklingError, EOFError, IndexError) as error:
        raise ValueError(f"the private test cases cannot be unpacked ({error})") from error
    if not isinstance(value, str):
        raise ValueError("the private test cases are no JSON")
    return value


class _PlainUnpickler(pickle.Unpickler):
    """Builds strings, numbers and containers only."""

    def find_class(self, module: str, name: str) -> Any:
        """Refuse whatever a pickle names."""
        raise pickle.UnpicklingError(f"it names {module}.{name}")
