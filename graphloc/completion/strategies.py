"""Prompt strategies for function-level problems.

Each is one or two questions; what the last one yields is the code. The wording is our own; what is
asked for follows the papers:

============== ============================================================================
one-shot       one solved example, then the problem
cot            Wei et al. 2022: reasoning in plain words before the code
scot           Li et al. 2025: input and output, then steps as sequence, branch and loop
self-planning  Jiang et al. 2024: a numbered plan first, then code that follows it
icot           Li et al. 2025: the intention (specification, then idea) first, then code
tdd            TDD-Agent (arXiv 2608.16742): executable tests before the implementation
============== ============================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from graphloc.completion.answer import read_code
from graphloc.completion.conversation import Sampling
from graphloc.completion.indentation import fit_body
from graphloc.completion.problems import Problem
from graphloc.llm.prompt import Prompt, Stability
from repair.ports import ChatModel, ChatReply, ChatRequest, Message, Role, Usage

_SYSTEM = (
    "You solve programming problems in Python. The last fenced Python block of your last reply is "
    "taken as the answer: it has to hold the whole program or function, its imports included."
)
_CODE = "Now write the code, in one fenced Python block."
_EXAMPLE = """Example of a problem and its answer:

Return the largest number of a list, or None if it is empty.
def largest(numbers: list[int]) -> int | None:

```python
def largest(numbers: list[int]) -> int | None:
    return max(numbers, default=None)
```"""


class Strategy(StrEnum):
    """The strategies."""

    ONE_SHOT = "one-shot"
    COT = "cot"
    SCOT = "scot"
    SELF_PLANNING = "self-planning"
    ICOT = "icot"
    TDD = "tdd"


_STAGES: dict[Strategy, tuple[str, ...]] = {
    Strategy.ONE_SHOT: (f"{_EXAMPLE}\n\n{_CODE}",),
    Strategy.COT: (f"Think it through step by step in plain words first. {_CODE}",),
    Strategy.SCOT: (
        "Do not write code yet. Name the inputs and outputs with their types. Then write the "
        "solution's steps in a structured form that uses only three constructs: sequence, branch "
        "(if ... then ... else ...) and loop (for ... / while ...).",
        f"Follow that structure; mend it where it is wrong. {_CODE}",
    ),
    Strategy.SELF_PLANNING: (
        "Do not write code yet. Write a plan: short numbered steps, each one sub-task.",
        f"Carry out the plan step by step. {_CODE}",
    ),
    Strategy.ICOT: (
        "Do not write code yet. State the intention behind the task. Specification: what goes in, "
        "what comes out, and which conditions hold between them. Idea: which algorithm does it and "
        "what it costs.",
        f"Write code that serves this intention. {_CODE}",
    ),
    Strategy.TDD: (
        "Work test first. First write tests that could be run: assertions for ordinary inputs, for "
        "edge cases and for each condition of the statement, in one fenced Python block. Work out "
        f"each expected value from the statement alone. Then write code that passes them. {_CODE}",
    ),
}


@dataclass(frozen=True, slots=True)
class Sample:
    """One answer to a problem."""

    code: str
    """A whole program; empty if the reply held none."""
    calls: int
    usage: Usage
    turns: tuple[str, ...]
    """The model's replies."""


def draw_samples(
    model: ChatModel,
    strategy: Strategy,
    problem: Problem,
    *,
    n: int = 1,
    sampling: Sampling | None = None,
) -> list[Sample]:
    """Ask for `n` independent answers.

    Raises
    ------
    indexes.errors.GraphlocError
        As `ChatModel.complete`.
    """
    sampling = sampling or Sampling()
    first, *rest = _STAGES[strategy]
    messages = _opening(problem, first)
    replies = model.complete(sampling.request(ChatRequest(messages, n=n)))
    return [
        _finish(model, problem, sampling, _Line(index, messages, reply), tuple(rest))
        for index, reply in enumerate(replies)
    ]


@dataclass(frozen=True, slots=True)
class _Line:
    """A conversation, and the number of its sample."""

    index: int
    messages: tuple[Message, ...]
    reply: ChatReply


def _opening(problem: Problem, instruction: str) -> tuple[Message, ...]:
    statement = problem.statement
    if problem.starter.strip():
        statement += f"\n\nIt starts with:\n```python\n{problem.starter.rstrip()}\n```"
    if not problem.entry_point and problem.cases:
        statement += "\n\nThe program reads standard input and writes standard output."
    prompt = Prompt().add(Stability.SYSTEM, _SYSTEM).add(Stability.ISSUE, statement)
    return prompt.add(Stability.VOLATILE, instruction).messages()


def _finish(
    model: ChatModel,
    problem: Problem,
    sampling: Sampling,
    line: _Line,
    instructions: tuple[str, ...],
) -> Sample:
    turns, usage = [line.reply.text], line.reply.usage
    messages = line.messages
    reply = line.reply
    for instruction in instructions:
        messages = (*messages, reply.as_message(), Message(Role.USER, instruction))
        request = replace(ChatRequest(messages), first_sample=line.index)
        (reply,) = model.complete(sampling.request(request))
        turns.append(reply.text)
        usage += reply.usage
    return Sample(whole_program(reply.text, problem), len(turns), usage, tuple(turns))


def whole_program(reply: str, problem: Problem) -> str:
    """Return the answer as a program, behind the starter where the reply only goes on from it."""
    code = read_code(reply).strip("\n")
    if not code.strip():
        return ""
    name = problem.entry_point
    has_definition = not name or any(f"{word} {name}" in code for word in ("def", "class"))
    if has_definition or not problem.starter.strip():
        return f"{_imports(problem.starter)}{code}\n"
    return problem.starter.rstrip("\n") + "\n" + "\n".join(fit_body(code, "    ")) + "\n"


def _imports(starter: str) -> str:
    """Return the imports in front of the starter's header, which answers tend to leave out."""
    lines = [line for line in starter.split("\n") if line.startswith(("import ", "from "))]
    return "".join(f"{line}\n" for line in lines)
