"""The mutation score tells strong suites from weak ones."""

import pytest

from repair.candidates.template import EditTemplate
from repair.errors import SandboxError
from repair.search import measure_mutation_score
from repair.search.mutation import MUTATIONS

GRADE = """\
def grade(points, bonus):
    points = points + bonus
    if points >= 50 and bonus < 10:
        return "pass"
    return "fail"


def unused(n):
    return n + 1
"""
STRONG = """\
import pytest
from grade import grade

@pytest.mark.parametrize(("points", "bonus", "expected"), [
    (50, 0, "pass"), (49, 0, "fail"), (49, 1, "pass"), (45, 9, "pass"), (45, 10, "fail"),
    (90, 9, "pass"), (90, 10, "fail"), (0, 0, "fail"), (51, 0, "pass"), (50, -1, "fail"),
])
def test_grade(points, bonus, expected):
    assert grade(points, bonus) == expected
"""
WEAK = """\
from grade import grade

def test_grade():
    assert grade(90, 0) == "pass"
"""


def test_strong_tests_kill_more_mutants(make_bench) -> None:
    bench = make_bench({"grade.py": GRADE, "test_strong.py": STRONG, "test_weak.py": WEAK})
    strong = measure_mutation_score(bench, "grade.py", ["test_strong.py"])
    weak = measure_mutation_score(bench, "grade.py", ["test_weak.py"])
    assert strong.score > 0.9
    assert weak.score < 0.6
    survivor = weak.survivors[0]
    assert survivor.template in MUTATIONS
    assert survivor.before != survivor.after
    assert all(one.line != 9 for one in (*strong.survivors, *weak.survivors))
    assert strong.uncovered == 1


def test_only_named_lines_are_mutated(make_bench) -> None:
    bench = make_bench({"grade.py": GRADE, "test_weak.py": WEAK})
    report = measure_mutation_score(bench, "grade.py", ["test_weak.py"], lines=[3])
    assert {survivor.line for survivor in report.survivors} == {3}
    assert EditTemplate.BOOLEAN_OPERATOR in {one.template for one in report.survivors}


def test_a_missing_file_is_an_error(make_bench) -> None:
    bench = make_bench({"test_weak.py": "def test_it():\n    pass\n"})
    with pytest.raises(SandboxError, match="not in the workspace"):
        measure_mutation_score(bench, "gone.py")
