"""The agent and its ablations through the real client, well-behaved and not."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphloc.completion.agent.session import RunOptions, find_flaky
from graphloc.completion.agent.tdd_agent import TddAgent
from graphloc.completion.agent.variants import (
    ITER1,
    REFLECT,
    SINGLE_TRACK,
    TDD_AGENT,
    VANILLA,
    Variant,
)
from graphloc.completion.hole import find_function_hole
from graphloc.completion.model import Completion, CompletionTask, StopCause
from graphloc.completion.pytest_runs import PytestEnvironment
from graphloc.llm import Budget, Ledger
from repair.sandbox import Limits, Workspace, find_python_environment, open_sandbox
from tests.fakes.chat_server import OVERFLOW, Reply, SeenRequest, Status, Text, ToolCalls

from .conftest import Connect, Line

GOOD_TESTS = """from shapes import Square


def test_three():
    assert Square(3).area() == 9


def test_zero():
    assert Square(0).area() == 0
"""
WRONG_TESTS = GOOD_TESTS.replace("== 9", "== 12")
GOOD = "return self.side ** 2"
WRONG = "return 5 * self.side"
RUN = ToolCalls([("run_tests", {})])
FINISH = ToolCalls([("finish", {})])


def own_tests(code: str) -> ToolCalls:
    return ToolCalls([("submit_tests", {"code": code})])


def body(code: str) -> ToolCalls:
    return ToolCalls([("submit_implementation", {"code": code})])


@pytest.fixture(scope="module")
def environment() -> PytestEnvironment:
    python = find_python_environment(Path(sys.executable))
    return PytestEnvironment(
        open_sandbox(readonly=python.roots),
        python.executable,
        Limits(wall_s=30.0, cpu_s=20.0),
    )


@pytest.fixture
def task(toy: Path) -> CompletionTask:
    hole = find_function_hole((toy / "shapes.py").read_bytes(), "shapes.py", "Square.area")
    return CompletionTask(toy, hole, hidden_tests=("tests/test_shapes.py",))


Work = Callable[..., tuple[Completion, Line]]


@pytest.fixture
def work(connect: Connect, environment: PytestEnvironment, task: CompletionTask) -> Work:
    def _work(
        script: Any, variant: Variant = TDD_AGENT, options: RunOptions | None = None, **line: Any
    ) -> tuple[Completion, Line]:
        connected = connect(script, **line)
        options = options or RunOptions(repeats=1)
        agent = TddAgent(connected.model, environment, variant, options)
        before = (task.repository / "shapes.py").read_bytes()
        done = agent.complete(task)
        assert (task.repository / "shapes.py").read_bytes() == before
        return done, connected

    return _work


def observations(line: Line) -> list[str]:
    messages = line.server.requests[-1].body["messages"]
    return [each["content"] for each in messages if each["role"] == "tool"]


def test_tests_come_first_then_both_are_refined(work: Work) -> None:
    script = [
        ToolCalls([("inspect_structure", {"path": "shapes.py"}), ("view_directory", {})]),
        body(GOOD),
        own_tests(WRONG_TESTS),
        body(WRONG),
        RUN,
        own_tests(GOOD_TESTS),
        RUN,
        body(GOOD),
        RUN,
        FINISH,
    ]
    done, line = work(script)
    assert done.stop is StopCause.DONE
    assert done.body == f"        {GOOD}\n"
    assert [each.passed_own_tests for each in done.attempts] == [False, False, True]
    assert [each.tests for each in done.attempts] == [WRONG_TESTS, GOOD_TESTS, GOOD_TESTS]
    assert (done.calls, done.usage.completion_tokens) == (10, 50)
    seen = observations(line)
    assert "def area(self) -> float" in seen[0]
    assert "tests/" in seen[1]
    assert "submit tests first" in seen[2]
    assert any("assert 12 == 9" in each or "== 9" in each for each in seen)


def test_an_edit_after_the_last_run_counts(work: Work) -> None:
    done, _ = work([own_tests(GOOD_TESTS), body(WRONG), RUN, body(GOOD), FINISH])
    assert done.body == f"        {GOOD}\n"
    assert [each.passed_own_tests for each in done.attempts] == [False, None]


def test_endless_refinement_ends_after_ten_rounds(work: Work) -> None:
    def endless(request: SeenRequest) -> Reply:
        return [own_tests(WRONG_TESTS), body(WRONG)][request.index] if request.index < 2 else RUN

    done, _ = work(endless)
    assert done.stop is StopCause.MAX_ROUNDS
    assert len(done.attempts) == 10


def test_steps_are_limited(work: Work) -> None:
    done, line = work(lambda request: ToolCalls([("view_directory", {})]))
    assert done.stop is StopCause.MAX_STEPS
    assert done.calls == len(line.server.requests) == 100
    assert done.body == ""
    assert done.problem == "nothing was submitted"


def test_vanilla_hands_in_once_and_has_no_tests(work: Work) -> None:
    done, line = work([body(GOOD)], VANILLA)
    assert (done.stop, done.body) == (StopCause.DONE, f"        {GOOD}\n")
    names = {each["function"]["name"] for each in line.server.requests[0].body["tools"]}
    assert names == {
        "view_directory", "read_file", "inspect_structure", "search_code", "submit_implementation"
    }  # fmt: skip


def test_reflect_refines_the_code_alone(work: Work) -> None:
    done, line = work([body(WRONG), body(GOOD), FINISH], REFLECT)
    assert [each.body.strip() for each in done.attempts] == [WRONG, GOOD]
    names = {each["function"]["name"] for each in line.server.requests[0].body["tools"]}
    assert not {"submit_tests", "run_tests"} & names
    assert "Read your implementation over" in str(line.server.requests[1].body["messages"][-1])
    endless, _ = work(lambda request: body(f"return {request.index}"), REFLECT)
    assert (endless.stop, len(endless.attempts)) == (StopCause.MAX_ROUNDS, 10)


def test_single_track_freezes_the_tests(work: Work) -> None:
    script = [
        own_tests(WRONG_TESTS),
        own_tests(GOOD_TESTS),
        body(WRONG),
        RUN,
        own_tests(WRONG_TESTS),
    ]
    done, line = work([*script, body(GOOD), RUN, FINISH], SINGLE_TRACK)
    assert done.attempts[-1].tests == GOOD_TESTS
    assert done.attempts[-1].passed_own_tests is True
    assert any("the tests are fixed now" in each for each in observations(line))


def test_one_iteration_ends_with_the_first_run(work: Work) -> None:
    done, line = work([own_tests(GOOD_TESTS), body(WRONG), RUN, body(GOOD)], ITER1)
    assert (done.stop, done.body.strip()) == (StopCause.DONE, WRONG)
    assert line.server.unused == 1


def test_malformed_calls_are_answered_with_errors(work: Work) -> None:
    script = [
        ToolCalls([("submit_tests", "{not json")]),
        ToolCalls([("submit_tests", {"code": "def test(:"}), ("no_such_tool", {})]),
        ToolCalls([("submit_tests", {"code": "x = 1"}), ("submit_tests", {})]),
        ToolCalls([("read_file", {"path": "../secret"}), ("read_file", {"path": "/etc/passwd"})]),
        ToolCalls([("read_file", {"path": "nothing.py"}), ("run_tests", {}), ("finish", {})]),
        ToolCalls([("read_file", {"path": "shapes.py", "start_line": 9, "end_line": 3})]),
        own_tests(GOOD_TESTS),
        body("return (("),
        body("```python\n```"),
        FINISH,
        body(GOOD),
        FINISH,
        RUN,
        FINISH,
    ]
    done, line = work(script)
    assert done.body == f"        {GOOD}\n"
    errors = [each for each in observations(line) if each.startswith("Error")]
    assert len(errors) == 15
    for words in (
        "not valid JSON", "no valid Python", "no tool no_such_tool", "defines no test",
        "code has to be text", "inside the repository", "there is no file nothing.py",
        "submit tests and an implementation", "are no range", "holds no code",
        "run the tests once first",
    ):  # fmt: skip
        assert any(words in each for each in errors), words


def test_code_that_hangs_is_ended_and_told(
    connect: Connect, environment: PytestEnvironment, task: CompletionTask
) -> None:
    line = connect(
        [own_tests(GOOD_TESTS), body("while True:\n    pass"), RUN, body(GOOD), RUN, FINISH]
    )
    quick = PytestEnvironment(
        environment.sandbox, environment.python, Limits(wall_s=15.0, cpu_s=60.0)
    )
    done = TddAgent(line.model, quick).complete(task)
    assert [each.passed_own_tests for each in done.attempts] == [False, True]
    assert "took too long" in done.attempts[0].report


def test_a_model_that_only_talks_is_given_up(work: Work) -> None:
    done, _ = work([Text("I would look around."), Text("Let me think."), Text("Well.")])
    assert (done.stop, done.calls) == (StopCause.NO_TOOL_CALLS, 3)


def test_a_failing_model_leaves_what_there_is(work: Work) -> None:
    done, _ = work([own_tests(GOOD_TESTS), body(GOOD), Status(401, "expired")])
    assert (done.stop, done.body.strip()) == (StopCause.MODEL_FAILED, GOOD)
    done, _ = work([own_tests(GOOD_TESTS), body(GOOD), RUN], ledger=Ledger(Budget(max_requests=2)))
    assert done.stop is StopCause.MODEL_FAILED
    assert "budget" in done.problem


def test_a_full_context_drops_old_results(work: Work) -> None:
    looks = [ToolCalls([("read_file", {"path": "shapes.py"})])] * 6
    done, line = work([*looks, OVERFLOW, own_tests(GOOD_TESTS), body(GOOD), RUN, FINISH])
    assert done.stop is StopCause.DONE
    after = [m["content"] for m in line.server.requests[7].body["messages"] if m["role"] == "tool"]
    assert [each.startswith("[removed") for each in after] == [True, True] + [False] * 4


def test_flaky_tests_are_marked(work: Work) -> None:
    flaky = (
        "import pathlib\nfrom shapes import Square\n\n"
        "def test_mood():\n    mark = pathlib.Path('mark')\n    seen = mark.exists()\n"
        "    mark.touch()\n    assert seen\n\n"
        "def test_area():\n    assert Square(3).area() == 9\n"
    )
    script = [own_tests(flaky), body(GOOD), RUN, own_tests(GOOD_TESTS), RUN, FINISH]
    done, line = work(script, options=RunOptions(repeats=2))
    assert [each.passed_own_tests for each in done.attempts] == [False, True]
    assert any("test_by_agent::test_mood: passed 1 of 2 times" in o for o in observations(line))
    assert find_flaky([]) == {}


def test_sure_enough_tests_end_the_work(work: Work) -> None:
    many = "from shapes import Square\n\n" + "\n\n".join(
        f"def test_{n}():\n    assert Square({n}).area() == {n * n}" for n in range(8)
    )
    options = RunOptions(repeats=1, min_confidence=0.9)
    done, line = work([own_tests(many), body(GOOD), RUN, FINISH], options=options)
    assert (done.stop, line.server.unused) == (StopCause.CONVERGED, 1)
    done, _ = work([own_tests(GOOD_TESTS), body(GOOD), RUN, FINISH], options=options)
    assert done.stop is StopCause.DONE


class _Swaps:
    def find_mutants(self, body: str) -> list[str]:
        return [body.replace("** 2", "* 2"), body.replace("** 2", "** 3")]


def test_mutants_that_survive_are_shown(work: Work) -> None:
    weak = "from shapes import Square\n\ndef test_two():\n    assert Square(2).area() == 4\n"
    options = RunOptions(repeats=1, mutator=_Swaps())
    script = [own_tests(weak), body(GOOD), RUN, own_tests(GOOD_TESTS), RUN, FINISH]
    done, line = work(script, options=options)
    seen = observations(line)
    assert "self.side * 2" in seen[2]
    assert "self.side ** 3" not in seen[2]
    assert "changed versions" not in seen[4]
    assert done.body == f"        {GOOD}\n"


SPY = """import os, pathlib, socket, subprocess

def test_spy():
    found = [str(p) for p in pathlib.Path('.').rglob('*.py') if 'test_shapes' in p.name]
    assert found == []
    for path in ({original!r}, {outside!r}, '/root/.ssh', os.path.expanduser('~/.ssh')):
        try:
            content = pathlib.Path(path).read_text()
        except OSError:
            continue
        assert 'test_area' not in content and 'secret words' not in content
    try:
        pathlib.Path({outside!r}).write_text('changed')
    except OSError:
        pass
    try:
        socket.create_connection(('127.0.0.1', {port}), timeout=2)
    except OSError:
        return
    raise AssertionError('the network is reachable')
"""


def test_generated_tests_see_neither_the_hidden_ones_nor_the_world(
    work: Work, toy: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("secret words")

    def spying(request: SeenRequest) -> Reply:
        port = int(request.headers["host"].rpartition(":")[2])
        source = SPY.format(
            original=str(toy / "tests" / "test_shapes.py"), outside=str(outside), port=port
        )
        return [own_tests(source), body(GOOD), RUN, FINISH][request.index]

    done, _ = work(spying)
    assert done.attempts[0].passed_own_tests is True, done.attempts[0].report
    assert outside.read_text() == "secret words"


def test_tools_do_not_show_hidden_tests_or_the_removed_body(work: Work) -> None:
    looks = [
        ("search_code", {"command": "grep -rn test_area ."}),
        ("search_code", {"command": "grep -rn 'self.side . self.side' ."}),
        ("search_code", {"command": "cat tests/test_shapes.py"}),
        ("read_file", {"path": "tests/test_shapes.py"}),
        ("read_file", {"path": "shapes.py"}),
        ("view_directory", {"recursive": True, "show_hidden": True}),
    ]
    _, line = work([ToolCalls(looks), own_tests(GOOD_TESTS), body(GOOD), RUN, FINISH])
    seen = observations(line)[: len(looks)]
    assert not any("assert Square(3)" in each or "side * self.side" in each for each in seen)
    assert "test_shapes" not in seen[5]
    first = json.dumps(line.server.requests[0].body)
    assert "self.side * self.side" not in first


def test_tests_that_forge_or_break_things_do_not_pass(work: Work) -> None:
    forged = (
        "import os\n\ndef test_exit():\n    os._exit(0)\n",
        "import pathlib\n\ndef test_edit():\n"
        "    pathlib.Path('shapes.py').write_text('broken')\n    assert False\n",
    )
    for source in forged:
        done, _ = work([own_tests(source), body(GOOD), RUN, own_tests(GOOD_TESTS), RUN, FINISH])
        assert [each.passed_own_tests for each in done.attempts] == [False, True]


def test_extra_tools_are_offered(
    connect: Connect, environment: PytestEnvironment, task: CompletionTask
) -> None:
    from graphloc.completion.agent.inspection import DirectoryViewer

    class Locator(DirectoryViewer):
        schema = DirectoryViewer.schema.__class__("locate", "Find entities.", {"type": "object"})

        def call(self, arguments: Any) -> str:
            return "shapes.py:Square"

    def make(workspace: Workspace) -> list[Locator]:
        return [Locator(workspace)]

    line = connect([ToolCalls([("locate", {})]), own_tests(GOOD_TESTS), body(GOOD), RUN, FINISH])
    agent = TddAgent(line.model, environment, extra_tools=make, extra_names=("locate",))
    assert agent.complete(task).stop is StopCause.DONE
    assert observations(line)[0] == "shapes.py:Square"
