"""Suspiciousness formulas and the coverage they are computed from."""

import math

import pytest

from repair.errors import SandboxError
from repair.model import TestOutcome, TestStatus
from repair.testing.spectra import (
    Coverage,
    CoveredTest,
    Formula,
    collect_coverage,
    dstar,
    ochiai,
    score_lines,
    score_spans,
)

SHOP = """\
def price(kind, amount):
    if kind == "book":
        return amount * 2
    total = amount * 3
    return total - 1


def spin():
    count = 0
    while True:
        count += 1
"""
TESTS = """\
import os
import pytest
from shop import price, spin

@pytest.mark.parametrize(("amount", "expected"), [(1, 2), (2, 4)])
def test_book(amount, expected):
    assert price("book", amount) == expected

def test_toy():
    assert price("toy", 1) == 3

def test_endless():
    spin()

def test_crash():
    os._exit(3)

@pytest.mark.skip
def test_later():
    pass
"""


def covered(name: str, status: TestStatus, *lines: int) -> CoveredTest:
    return CoveredTest(TestOutcome(name, status), {"m.py": frozenset(lines)})


def test_formulas_on_known_values() -> None:
    assert ochiai(1, 0, 0) == 1.0
    assert ochiai(1, 3, 0) == pytest.approx(0.5)
    assert ochiai(0, 5, 2) == 0.0
    assert dstar(2, 1, 1) == 2.0
    assert dstar(1, 0, 0) == math.inf
    assert dstar(0, 0, 0) == 0.0


def test_lines_that_only_failing_tests_run_score_highest() -> None:
    coverage = Coverage(
        (
            covered("a", TestStatus.FAILED, 1, 2),
            covered("b", TestStatus.PASSED, 1),
            covered("c", TestStatus.SKIPPED, 1, 3),
        )
    )
    assert score_lines(coverage) == {"m.py": {1: pytest.approx(math.sqrt(0.5)), 2: 1.0}}
    assert score_lines(coverage, formula=Formula.DSTAR) == {"m.py": {1: 1.0, 2: math.inf}}
    assert score_lines(coverage, failing=["b"], passing=["a"])["m.py"] == {
        1: pytest.approx(math.sqrt(0.5))
    }


def test_a_function_is_as_suspicious_as_its_worst_line() -> None:
    spans = {"f": (1, 4), "f.inner": (2, 3), "g": (9, 9)}
    assert score_spans({1: 0.2, 3: 0.7}, spans) == {"f": 0.7, "f.inner": 0.7}


def test_coverage_of_a_real_run(make_bench) -> None:
    bench = make_bench({"shop.py": SHOP, "test_shop.py": TESTS})
    coverage = collect_coverage(bench, ["test_shop.py"], limit_s=0.3)
    assert coverage.passing() == ("test_shop.py::test_book[1-2]", "test_shop.py::test_book[2-4]")
    assert coverage.failing() == tuple(
        f"test_shop.py::test_{name}" for name in ("toy", "endless", "crash")
    )
    assert coverage.named(TestStatus.TIMED_OUT) == ("test_shop.py::test_endless",)
    assert coverage.named(TestStatus.SKIPPED) == ("test_shop.py::test_later",)
    lines = {test.outcome.test.split("::")[1]: test.lines.get("shop.py") for test in coverage.tests}
    assert lines["test_toy"] >= {2, 4, 5}
    assert 3 not in lines["test_toy"]
    assert lines["test_endless"] >= {9, 10, 11}
    assert coverage.covering("shop.py", [3]) == coverage.passing()
    toy = next(test for test in coverage.tests if test.outcome.test.endswith("test_toy"))
    assert "assert" in toy.outcome.message
    scores = score_lines(coverage, failing=["test_shop.py::test_toy"])["shop.py"]
    assert scores[4] == 1.0 > scores[2]


def test_files_that_cannot_be_imported_are_named(make_bench) -> None:
    bench = make_bench({"test_bad.py": "import missing_module\n"})
    coverage = collect_coverage(bench, ["test_bad.py"])
    assert coverage.tests == ()
    [(name, message)] = coverage.errors
    assert name == "test_bad.py"
    assert "missing_module" in message


def test_tests_that_are_not_there_are_an_error(make_bench) -> None:
    bench = make_bench({"shop.py": SHOP})
    with pytest.raises(SandboxError, match="could not be run"):
        collect_coverage(bench, ["test_nothing.py"])
