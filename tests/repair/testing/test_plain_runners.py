"""pytest and other commands as test runners; tests that contradict themselves."""

import sys

import pytest

from indexes.model import Span
from repair.errors import SandboxError
from repair.model import Location, TestOutcome, TestStatus
from repair.sandbox import Limits
from repair.testing.regression import select_regression_tests
from repair.testing.runners import CommandRunner, PytestRunner, read_junit, run_twice
from repair.testing.spectra import Coverage, CoveredTest

TESTS = """\
import pathlib
import pytest

class TestGroup:
    def test_good(self):
        pass

    @pytest.mark.parametrize("n", [1, 2])
    def test_number(self, n):
        assert n == 1

@pytest.fixture
def broken():
    raise RuntimeError("no set-up")

def test_set_up(broken):
    pass

def test_sometimes():
    mark = pathlib.Path("mark")
    mark.touch(exist_ok=False)

@pytest.mark.skip(reason="later")
def test_later():
    pass
"""


def test_pytest_outcomes_are_named_as_pytest_names_them(make_bench) -> None:
    bench = make_bench({"sub/test_some.py": TESTS})
    found = {one.test: one.status for one in PytestRunner(bench).run(["sub/test_some.py"])}
    name = "sub/test_some.py"
    assert found == {
        f"{name}::TestGroup::test_good": TestStatus.PASSED,
        f"{name}::TestGroup::test_number[1]": TestStatus.PASSED,
        f"{name}::TestGroup::test_number[2]": TestStatus.FAILED,
        f"{name}::test_set_up": TestStatus.ERROR,
        f"{name}::test_sometimes": TestStatus.PASSED,
        f"{name}::test_later": TestStatus.SKIPPED,
    }
    assert not [path for path in bench.workspace.root.iterdir() if "report" in path.name]


def test_flaky_tests_are_told_by_two_runs(make_bench) -> None:
    runner = PytestRunner(make_bench({"test_some.py": TESTS}))
    steady, flaky = run_twice(runner, ["test_some.py"])
    assert flaky == ("test_some.py::test_sometimes",)
    assert len(steady) == 5


def test_a_command_is_judged_by_its_exit_code(make_bench) -> None:
    bench = make_bench({"good.py": "print('fine')", "bad.py": "raise SystemExit('broken')"})
    command = f"{sys.executable} good.py"
    assert CommandRunner(bench, command).run() == (
        TestOutcome(command, TestStatus.PASSED, pytest.approx(0, abs=60)),
    )
    [outcome] = CommandRunner(bench, f"{sys.executable} bad.py").run()
    assert (outcome.status, outcome.message) == (TestStatus.FAILED, "broken\n")
    slow = f"{sys.executable} -c 'while True: pass'"
    [outcome] = CommandRunner(bench, slow, Limits(cpu_s=0.5, wall_s=20)).run()
    assert outcome.status is TestStatus.TIMED_OUT


def test_a_command_may_write_junit_xml(make_bench) -> None:
    bench = make_bench({"test_some.py": TESTS})
    command = f"{sys.executable} -m pytest -q --junit-xml={{report}} {{tests}}"
    outcomes = CommandRunner(bench, command).run(["test_some.py::TestGroup"])
    assert [one.status.value for one in outcomes] == ["passed", "passed", "failed"]


def test_other_tools_junit_is_read() -> None:
    case = b'<testcase classname="a.B" name="c" time="0.5"/>'
    data = b"<testsuites><testsuite>" + case + b"</testsuite></testsuites>"
    assert read_junit(data) == (TestOutcome("a.B::c", TestStatus.PASSED, 0.5),)
    with pytest.raises(SandboxError, match="no JUnit XML"):
        read_junit(b"<testsuite")


class Graph:
    def find_tests(self, entity: str) -> list[str]:
        return {"m.py:f": ["tests/test_m.py:TestF.test_linked"]}.get(entity, [])


def test_regression_tests_near_the_change_come_first() -> None:
    names = ["t.py::test_far", "t.py::test_runs", "tests/test_m.py::TestF::test_linked[1]"]
    outcomes = [TestOutcome(name, TestStatus.PASSED) for name in names]
    outcomes += [TestOutcome("t.py::test_bad", TestStatus.FAILED)]
    outcomes += [TestOutcome("t.py::test_changes", TestStatus.PASSED)]
    runs = CoveredTest(outcomes[1], {"m.py": frozenset({3})})
    chosen = select_regression_tests(
        outcomes,
        [Location("m.py", "m.py:f", Span(2, 4))],
        graph=Graph(),
        coverage=Coverage((runs,)),
        is_expected_to_change=lambda test: test.endswith("changes"),
    )
    assert chosen.near == ("t.py::test_runs", "tests/test_m.py::TestF::test_linked[1]")
    assert chosen.rest == ("t.py::test_far",)
    assert chosen.all == chosen.near + chosen.rest
