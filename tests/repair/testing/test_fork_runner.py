"""Variants in forks: what they see, what they cost when they misbehave, how they are loaded."""

from contextlib import closing

import pytest

from repair.errors import SandboxError
from repair.model import SpanEdit, TestStatus, Variant
from repair.testing.forking import ForkRunner
from repair.testing.model import ForkSettings, TestPlan

CALC = """\
STEP = 1


def twice(n):
    return n + n


class Counter:
    def __init__(self):
        self.n = 0

    def up(self, by=STEP):
        self.n -= by
        return self.n


def sleepy(n):
    return n
"""
TESTS = """\
import unittest
import pytest
from calc import Counter, twice, sleepy

@pytest.fixture
def counter():
    return Counter()

def test_up(counter):
    assert counter.up() == 1

def test_twice():
    assert twice(4) == 8

@pytest.mark.parametrize("n", [1, 2])
def test_sleepy(n):
    assert sleepy(n) == n

class TestOld(unittest.TestCase):
    def test_start(self):
        self.assertEqual(Counter().n, 0)
"""
UP, TWICE, OLD = (f"test_calc.py::{n}" for n in ("test_up", "test_twice", "TestOld::test_start"))
SLEEPY = "test_calc.py::test_sleepy[1]"
PLAN = TestPlan((UP,), (TWICE, SLEEPY, OLD))
FAST = ForkSettings(floor_s=0.2, retry_s=0.0)


def variant(old: str, new: str, unit: tuple[int, str] | None = None) -> Variant:
    start = CALC.index(old)
    return Variant("calc.py", (SpanEdit(start, start + len(old), new),), unit)


@pytest.fixture
def runner(make_bench) -> ForkRunner:
    return ForkRunner(make_bench({"calc.py": CALC, "test_calc.py": TESTS}), FAST)


def test_the_baseline_says_why_tests_fail(runner: ForkRunner) -> None:
    baseline = runner.measure(TestPlan((UP,), (TWICE, "test_calc.py::test_gone")), messages=True)
    assert baseline.status(UP) is TestStatus.FAILED
    assert baseline.status(TWICE) is TestStatus.PASSED


def test_variants_are_independent_whatever_they_do(runner: ForkRunner) -> None:
    variants = [
        variant("self.n -= by", "self.n += by", (12, "up")),
        variant("self.n -= by", "while True: pass", (12, "up")),
        variant("self.n -= by", "import os; os._exit(1)", (12, "up")),
        variant("self.n -= by", "x = [0] * 10**12", (12, "up")),
        variant("STEP = 1", "STEP = -1"),
        variant("return n + n", "return n", (4, "twice")),
        variant("self.n -= by", "self.n += )", (12, "up")),
        variant("self.n -= by", "self.n += by", (12, "up")),
    ]
    outcomes = {outcome.index: outcome for outcome in runner.run(PLAN, variants)}
    assert sorted(outcomes) == list(range(8))
    assert [i for i, outcome in outcomes.items() if outcome.passes(PLAN.all)] == [0, 4, 7]
    assert outcomes[1].statuses == {UP: TestStatus.TIMED_OUT}
    assert outcomes[2].statuses == {UP: TestStatus.ERROR}
    assert outcomes[3].statuses == {UP: TestStatus.FAILED}
    assert outcomes[5].statuses == {UP: TestStatus.FAILED}
    assert "SyntaxError" in outcomes[6].reason
    assert outcomes[0].cpu_s > 0


def test_tests_after_the_first_failure_do_not_run_unless_asked(make_bench) -> None:
    bench = make_bench({"calc.py": CALC, "test_calc.py": TESTS.replace("== 8", "== 9")})
    plan = TestPlan((UP, TWICE), (OLD,))
    edit = [variant("return n + n", "return n + 5", (4, "twice"))]
    [stopped] = ForkRunner(bench, FAST).run(plan, edit)
    assert stopped.statuses == {UP: TestStatus.FAILED}
    settings = ForkSettings(floor_s=0.2, keep_going=True)
    [kept] = ForkRunner(bench, settings).run(plan, edit)
    assert kept.statuses == {UP: TestStatus.FAILED, TWICE: TestStatus.PASSED}
    assert kept.n_passed(plan.failing) == 1


def test_a_slow_variant_gets_a_second_try(make_bench) -> None:
    bench = make_bench({"calc.py": CALC, "test_calc.py": TESTS})
    work = "for _ in range(10**7): pass\n        self.n += by"
    settings = ForkSettings(floor_s=0.02, retry_factor=200.0, retry_s=30.0)
    edits = [variant("self.n -= by", work, (12, "up")), variant("self.n -= by", "pass", (12, "up"))]
    first, other, second = ForkRunner(bench, settings).run(PLAN, edits)
    assert (first.index, first.is_final) == (0, False)
    assert (other.index, other.is_final) == (1, True)
    assert (second.index, second.is_final) == (0, True)
    assert second.passes(PLAN.all)


def test_a_sleeping_variant_is_ended(make_bench) -> None:
    bench = make_bench({"calc.py": CALC, "test_calc.py": TESTS})
    edit = [variant("self.n -= by", "import time; time.sleep(600)", (12, "up"))]
    [outcome] = ForkRunner(bench, FAST).run(PLAN, edit)
    assert outcome.statuses == {UP: TestStatus.TIMED_OUT}


def test_flaky_tests_are_set_aside(runner: ForkRunner) -> None:
    plan = TestPlan((UP, TWICE), (OLD,))  # the second one passes, whatever was seen before
    edit = [variant("self.n -= by", "self.n += by", (12, "up"))]
    [outcome] = runner.run(plan, edit)
    assert runner.flaky == {TWICE}
    assert TWICE not in outcome.statuses
    assert outcome.passes((UP, OLD))


def test_a_program_that_cannot_be_imported_can_be_repaired(make_bench) -> None:
    bench = make_bench({"calc.py": CALC.replace("STEP = 1", "STEP = UN"), "test_calc.py": TESTS})
    start = CALC.index("1")
    mend = Variant("calc.py", (SpanEdit(start, start + 2, "-1"),))
    keep = Variant("calc.py", (SpanEdit(start, start + 2, "ON"),))
    outcomes = list(ForkRunner(bench, FAST).run(TestPlan((UP, TWICE)), [keep, mend]))
    assert [outcome.passes((UP, TWICE)) for outcome in outcomes] == [False, True]


def test_closing_early_ends_the_server(runner: ForkRunner) -> None:
    many = [variant("self.n -= by", f"self.n += by * {i}", (12, "up")) for i in range(400)]
    outcomes = runner.run(PLAN, many)
    with closing(outcomes):
        assert next(outcomes).index == 0
    assert list(outcomes) == []


def test_without_pytest_there_is_an_error_that_says_so(make_bench, tmp_path) -> None:
    bench = make_bench({"calc.py": CALC, "pytest.py": "raise SystemExit('no pytest here')"})
    with pytest.raises(SandboxError, match="no pytest here"):
        list(ForkRunner(bench, FAST).run(PLAN, [variant("STEP = 1", "STEP = 2")]))
