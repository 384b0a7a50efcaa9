"""Guessing by a unique name."""

from indexes.graph.guesses import guess
from indexes.graph.hierarchy import Hierarchy
from indexes.graph.program import Program
from indexes.graph.solver import solve
from indexes.model import Confidence
from indexes.parsing import extract_facts
from tests.indexes.graph.annotated_cases import entity


def _guess(files: dict[str, str]) -> set[tuple[str, str]]:
    program = Program({path: extract_facts(text.encode()) for path, text in sorted(files.items())})
    found = guess(program, solve(program, Hierarchy(program)))
    assert set(found.values()) <= {Confidence.GUESSED}
    return {(entity(program, source), entity(program, target)) for source, target, _ in found}


def test_unique_method_name_is_guessed() -> None:
    files = {
        "a.py": "class A:\n    def recompute(self): pass\n",
        "b.py": "def f(x): x.recompute()\n",
    }
    assert _guess(files) == {("b.py:f", "a.py:A.recompute")}


def test_two_candidates_are_no_guess() -> None:
    files = {
        "a.py": "class A:\n    def recompute(self): pass\n",
        "c.py": "class B:\n    def recompute(self): pass\n",
        "b.py": "def f(x): x.recompute()\n",
    }
    assert _guess(files) == set()


def test_names_of_builtin_types_and_definitions_in_tests_are_no_guess() -> None:
    files = {
        "a.py": "class A:\n    def append(self): pass\n",
        "b.py": "def f(x):\n    x.append()\n    x.recompute()\n",
        "tests/test_a.py": "class T:\n    def recompute(self): pass\n",
    }
    assert _guess(files) == set()


def test_external_receivers_are_no_guess() -> None:
    files = {
        "a.py": "class A:\n    def recompute(self): pass\n",
        "b.py": "import lib\nlib.Thing().recompute()\n",
    }
    assert _guess(files) == set()
