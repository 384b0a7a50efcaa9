"""Running an answer to a function-level problem against its tests, in a sandbox."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from graphloc.completion.problems import CallCase, Problem, StdinCase
from repair.sandbox import MIB, Limits, Sandbox, Workspace

CHECK_LIMITS = Limits(wall_s=60.0, cpu_s=60.0, memory_bytes=1024 * MIB, processes=64)
CASE_TIMEOUT_S = 6.0
"""For each run of a program; LiveCodeBench's own setting."""

_CALL_DRIVER = """
import json as _json
_owner = globals().get("Solution")
_cases = _json.load(open("cases.json"))
def _plain(value):
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value
for _arguments, _wanted in _cases:
    _function = getattr(_owner(), _NAME) if _owner is not None else globals()[_NAME]
    _got = _function(*[_json.loads(each) for each in _arguments])
    assert _plain(_got) == _json.loads(_wanted), (_arguments, _got)
"""
_STDIN_DRIVER = """
import json, subprocess, sys
def lines(text):
    return [line.split() for line in text.strip().split("\\n")]
def same(got, wanted):
    if got == wanted:
        return True
    try:
        return len(got) == len(wanted) and all(
            [float(x) for x in a] == [float(x) for x in b] for a, b in zip(got, wanted))
    except ValueError:
        return False
for stdin, stdout in json.load(open("cases.json")):
    run = subprocess.run([sys.executable, "answer.py"], input=stdin, capture_output=True,
                         text=True, timeout=TIMEOUT_S)
    assert run.returncode == 0, run.stderr[-2000:]
    assert same(lines(run.stdout), lines(stdout)), (stdin[:500], run.stdout[:500])
"""


@dataclass(frozen=True, slots=True)
class ProgramCheck:
    """What became of an answer."""

    passed: bool
    detail: str
    """Last lines of what went wrong."""


def check_program(
    code: str,
    problem: Problem,
    sandbox: Sandbox,
    *,
    python: Path,
    limits: Limits = CHECK_LIMITS,
) -> ProgramCheck:
    """Run an answer against all tests of a problem; one that ends the process early fails.

    Raises
    ------
    SandboxError
        The sandbox itself failed.
    """
    word = secrets.token_hex(16)
    with TemporaryDirectory(prefix="graphloc-problem-") as folder:
        for name, text in _files(code, problem, word).items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        with Workspace.copy(Path(folder)) as workspace:
            result = sandbox.run(
                [str(python), "-X", "utf8", "main.py"], workdir=workspace, limits=limits
            )
    passed = result.is_success and result.stdout.rstrip().endswith(word)
    detail = "" if passed else (result.stderr.strip() or "it ended before its tests did")[-2000:]
    if result.stopped_by is not None:
        detail = f"stopped by {result.stopped_by}. {detail}"
    return ProgramCheck(passed, detail)


def _files(code: str, problem: Problem, word: str) -> dict[str, str]:
    """The folder's files; the word is only printed once all tests are through."""
    ending = f"\nprint({word!r})\n"
    calls = [case for case in problem.cases if isinstance(case, CallCase)]
    stdins = [case for case in problem.cases if isinstance(case, StdinCase)]
    if problem.checks or not problem.cases:
        return {"main.py": f"{code}\n{problem.checks}{ending}"}
    if calls:
        driver = f"_NAME = {problem.entry_point!r}\n{_CALL_DRIVER}"
        cases = [[list(case.arguments), case.result] for case in calls]
        return {"main.py": f"{code}\n{driver}{ending}", "cases.json": json.dumps(cases)}
    driver = f"TIMEOUT_S = {CASE_TIMEOUT_S}\n{_STDIN_DRIVER}"
    return {
        "main.py": f"{driver}{ending}",
        "answer.py": code,
        "cases.json": json.dumps([[case.stdin, case.stdout] for case in stdins]),
    }


def count_passed(codes: Sequence[str], problem: Problem, sandbox: Sandbox, *, python: Path) -> int:
    """Return how many answers pass; equal ones run once."""
    verdicts = {
        code: bool(code) and check_program(code, problem, sandbox, python=python).passed
        for code in dict.fromkeys(codes)
    }
    return sum(verdicts[code] for code in codes)
