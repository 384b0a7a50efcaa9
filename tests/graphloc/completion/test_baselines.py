"""In-file, RAG and RepoCoder through the real client, and what the graph retriever finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphloc.completion.baselines import InFile, RepoCoder
from graphloc.completion.files import load_texts
from graphloc.completion.fragments import make_context
from graphloc.completion.graph_retrieval import GraphRetriever
from graphloc.completion.hole import find_function_hole
from graphloc.completion.model import CompletionTask, StopCause
from graphloc.completion.window_retrieval import jaccard_retriever
from graphloc.llm import Budget, Ledger
from indexes.builder import build_index
from indexes.source import open_source
from indexes.store import Store
from tests.fakes.chat_server import Status, Text

from .conftest import Connect


def task_for(toy: Path, function: str = "Square.area") -> CompletionTask:
    data = (toy / "shapes.py").read_bytes()
    return CompletionTask(toy, find_function_hole(data, "shapes.py", function))


def test_in_file_shows_the_prefix_and_nothing_behind_the_hole(toy: Path, connect: Connect) -> None:
    line = connect([Text("```python\nreturn self.side ** 2\n```")])
    task = task_for(toy)
    done = InFile(line.model).complete(task)
    assert done.body == "        return self.side ** 2\n"
    assert (done.calls, done.usage.prompt_tokens, done.stop) == (1, 10, StopCause.DONE)
    prompt = line.server.requests[0].body["messages"][-1]["content"]
    assert '"""Return the square of the side."""\n```' in prompt
    assert "self.side * self.side" not in prompt
    assert "perimeter" not in prompt
    assert b"return self.side ** 2\n\n    def perimeter" in task.hole.fill(done.body)


def test_rag_puts_fragments_in_front(toy: Path, connect: Connect) -> None:
    line = connect([Text("return 1")])
    done = RepoCoder(line.model, jaccard_retriever(load_texts(open_source(toy))), 1).complete(
        task_for(toy)
    )
    prompt = line.server.requests[0].body["messages"][-1]["content"]
    assert prompt.index("# units.py") < prompt.index("# shapes.py\n")
    assert "self.side * self.side" not in prompt
    assert done.attempts[0].fragments


def test_repocoder_searches_with_its_prediction(toy: Path, connect: Connect) -> None:
    line = connect([Text("return Length(1)"), Text("\n\nx = 2\n\nreturn x"), Text("return 3")])
    retriever = jaccard_retriever(load_texts(open_source(toy)))
    done = RepoCoder(line.model, retriever, 3).complete(task_for(toy))
    assert [each.body.strip() for each in done.attempts] == [
        "return Length(1)",
        "x = 2\n\n        return x",
        "return 3",
    ]
    assert done.attempts[1].query.endswith("        return Length(1)")
    assert done.attempts[2].query.endswith("        x = 2\n        return x")
    assert "\n\n" not in done.attempts[2].query
    assert done.body == "        return 3\n"
    assert done.calls == 3


def test_a_reply_without_code_keeps_the_last_prediction(toy: Path, connect: Connect) -> None:
    line = connect([Text("return 1"), Text("```python\n```")])
    retriever = jaccard_retriever(load_texts(open_source(toy)))
    done = RepoCoder(line.model, retriever, 4).complete(task_for(toy))
    assert (done.body, done.calls) == ("        return 1\n", 2)


@pytest.mark.parametrize("reply", [Status(500), Status(401, "no such key")])
def test_a_model_that_fails_is_told_in_the_result(
    toy: Path, connect: Connect, reply: Status
) -> None:
    done = InFile(connect([reply] * 3).model).complete(task_for(toy))
    assert done.stop is StopCause.MODEL_FAILED
    assert done.problem
    assert done.body == ""


def test_a_used_up_budget_keeps_what_there_is(toy: Path, connect: Connect) -> None:
    line = connect([Text("return 1")] * 4, ledger=Ledger(Budget(max_requests=2)))
    retriever = jaccard_retriever(load_texts(open_source(toy)))
    done = RepoCoder(line.model, retriever, 4).complete(task_for(toy))
    assert (done.body, done.calls, done.stop) == ("        return 1\n", 2, StopCause.MODEL_FAILED)
    assert "budget of 2 requests" in done.problem


def graph_texts(toy: Path, tmp_path: Path, function: str, budget_tokens: int) -> list[str]:
    source = open_source(toy)
    with Store.open(tmp_path / "index") as store:
        snapshot, _ = build_index(source, store, jobs=1)
    retriever = GraphRetriever(snapshot, load_texts(source))
    context = make_context(task_for(toy, function).hole, budget_tokens=budget_tokens)
    found = retriever.find_fragments(context, "\n".join(context.visible_lines))
    return [each.text.strip().split("\n")[0] for each in found]


def test_the_graph_knows_bases_types_callees_and_users(toy: Path, tmp_path: Path) -> None:
    assert graph_texts(toy, tmp_path, "Square.perimeter", 30) == [
        "def area(self) -> float:",
        "def describe(self) -> str:",
        "class Length:",
        "def total(sides: list[float]) -> float:",
    ]


def test_the_graph_shows_nothing_twice(toy: Path, tmp_path: Path) -> None:
    assert graph_texts(toy, tmp_path, "Square.perimeter", 2000) == [
        "class Length:",
        "def total(sides: list[float]) -> float:",
    ]
