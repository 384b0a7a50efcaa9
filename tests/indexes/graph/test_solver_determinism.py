"""The same tree gives the same graph, whatever the hash seed and the order of evaluation."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from indexes.graph import solver
from indexes.graph.hierarchy import Hierarchy
from indexes.graph.program import Program
from indexes.parsing import extract_facts

ROOT = Path(__file__).parents[3]
_SCRIPT = """
import hashlib, pathlib, sys
from indexes.graph.hierarchy import Hierarchy
from indexes.graph.program import Program
from indexes.graph.solver import solve
from indexes.parsing import extract_facts
paths = sorted(pathlib.Path("indexes").rglob("*.py"))
files = {str(path): extract_facts(path.read_bytes()) for path in paths}
program = Program(files)
found = solve(program, Hierarchy(program))
text = repr((sorted(found.edges.items()), sorted(found.references), found.unresolved))
print(hashlib.sha256(text.encode()).hexdigest())
"""


def _run(seed: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_hash_seed_does_not_matter() -> None:
    assert _run("1") == _run("4711")


def test_order_of_evaluation_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = sorted((ROOT / "indexes").rglob("*.py"))
    facts = {str(path): extract_facts(path.read_bytes()) for path in paths}

    def solve() -> tuple[object, ...]:
        program = Program(facts)
        found = solver.solve(program, Hierarchy(program))
        return found.edges, found.references, found.unresolved, found.external

    straight = solve()
    group = solver._group

    def shuffled(program: Program, numbers: list[int]) -> tuple[solver._Units, solver._Units]:
        code, tests = group(program, numbers)
        order = random.Random(7)
        mixed = [dict(order.sample(list(units.items()), len(units))) for units in (code, tests)]
        return mixed[0], mixed[1]

    monkeypatch.setattr(solver, "_group", shuffled)
    assert solve() == straight
