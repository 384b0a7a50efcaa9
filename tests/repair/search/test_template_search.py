"""Whole repairs of small programs, without a model."""

import subprocess

from indexes.model import Span
from repair.model import Location, TestStatus
from repair.search import Budget, StopCause, TemplateSearch, find_template_repair
from repair.search.command_search import try_variants
from repair.testing.model import ForkSettings
from repair.testing.runners import PytestRunner

STOCK = """\
class Stock:
    def __init__(self, items):
        self.items = dict(items)

    def take(self, name, count):
        \"\"\"Take some out; refuse what is not there.\"\"\"
        if self.items[name] > count:
            self.items[name] -= count
            return count
        return 0


def total(items):
    total = 0
    for name, count in items.items():
        total += count
    return total
"""
TESTS = """\
from shop.stock import Stock, total

def test_take():
    stock = Stock({"nut": 3})
    assert stock.take("nut", 2) == 2
    assert stock.items == {"nut": 1}

def test_all():
    assert Stock({"nut": 3}).take("nut", 3) == 3

def test_too_many():
    assert Stock({"nut": 3}).take("nut", 4) == 0

def test_total():
    assert total({"nut": 1, "bolt": 2}) == 3
"""
FILES = {"shop/__init__.py": "", "shop/stock.py": STOCK, "tests/test_stock.py": TESTS}
NAMES = ["tests/test_stock.py"]
QUICK = ForkSettings(keep_going=True, retry_s=1.0)


def test_a_patch_is_found_and_applies_with_git(make_bench) -> None:
    bench = make_bench(FILES)
    seen = []
    search = TemplateSearch(bench, NAMES, settings=QUICK, observe=seen.append)
    report = search.run()
    assert report.cause is StopCause.FOUND
    assert report.plan.failing == ("tests/test_stock.py::test_all",)
    assert len(report.plan.passing) == 3
    best = report.best
    assert best is not None
    assert best == search.best
    assert b"-        if self.items[name] > count:\n+        if self.items[name] >= count:" in (
        best.patch.diff
    )
    assert seen
    assert bench.workspace.read("shop/stock.py") == STOCK.encode()
    done = subprocess.run(
        ["git", "apply", "--check", "-"],
        input=best.patch.diff,
        cwd=bench.workspace.root,
        check=True,
    )
    assert done.returncode == 0


def test_the_patch_holds_in_a_plain_run_too(make_bench) -> None:
    bench = make_bench(FILES)
    report = find_template_repair(bench, NAMES, settings=QUICK)
    assert report.best is not None
    bench.workspace.apply(report.best.patch)
    outcomes = PytestRunner(bench).run(NAMES)
    assert [outcome.status for outcome in outcomes] == [TestStatus.PASSED] * 4


def test_edits_stay_inside_the_given_locations(make_bench) -> None:
    bench = make_bench(FILES)
    elsewhere = Location("shop/stock.py", "shop/stock.py:total", Span(13, 17))
    report = find_template_repair(bench, NAMES, locations=[elsewhere], settings=QUICK)
    assert (report.best, report.cause, report.tried) == (None, StopCause.NOTHING_FAILS, 0)


def test_two_edits_are_put_together(make_bench) -> None:
    program = "def clamp(n, low, high):\n    if n > low:\n        return low\n"
    program += "    if n < high:\n        return high\n    return n\n"
    tests = "from clamp import clamp\n"
    cases = [(0, 1), (-5, 1), (9, 5), (7, 5), (3, 3), (2, 2)]
    tests += "".join(
        f"def test_{i}():\n    assert clamp({n}, 1, 5) == {want}\n"
        for i, (n, want) in enumerate(cases)
    )
    bench = make_bench({"clamp.py": program, "test_clamp.py": tests})
    report = find_template_repair(
        bench, ["test_clamp.py"], settings=QUICK, budget=Budget(candidates=1500)
    )
    assert report.best is not None
    namespace: dict = {}
    exec(report.best.patch.files["clamp.py"], namespace)
    assert [namespace["clamp"](n, 1, 5) for n, _ in cases] == [want for _, want in cases]


def test_budgets_end_a_search(make_bench) -> None:
    hopeless = "def test_it():\n    from odd import f\n    assert f(3) == 'no edit gives this'\n"
    bench = make_bench({"odd.py": "def f(n):\n    return n * 3 - n\n", "test_odd.py": hopeless})
    few = find_template_repair(bench, ["test_odd.py"], budget=Budget(candidates=30), settings=QUICK)
    assert (few.cause, few.tried, few.best) == (StopCause.CANDIDATES, 30, None)
    all_of_them = find_template_repair(bench, ["test_odd.py"], settings=QUICK)
    assert all_of_them.cause is StopCause.EXHAUSTED
    assert all_of_them.tried > 30
    late = find_template_repair(bench, ["test_odd.py"], budget=Budget(seconds=0.0), settings=QUICK)
    assert (late.cause, late.tried) == (StopCause.SECONDS, 0)


def test_nothing_is_done_where_nothing_fails(make_bench) -> None:
    bench = make_bench({**FILES, "shop/stock.py": STOCK.replace("> count", ">= count")})
    report = find_template_repair(bench, NAMES, settings=QUICK)
    assert (report.cause, report.tried) == (StopCause.NOTHING_FAILS, 0)


def test_variants_can_be_tried_by_a_plain_runner(make_bench) -> None:
    bench = make_bench(FILES)
    report = find_template_repair(bench, NAMES, settings=QUICK)
    assert report.best is not None
    [outcome] = try_variants(bench, PytestRunner(bench), NAMES, [report.best.variant])
    assert outcome.passes(report.plan.all)
    assert bench.workspace.read("shop/stock.py") == STOCK.encode()
