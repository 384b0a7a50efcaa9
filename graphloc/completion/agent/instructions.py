"""What the agent is told."""

from __future__ import annotations

from graphloc.completion.agent.session import Session
from graphloc.completion.agent.variants import Variant
from graphloc.completion.fragments import make_context
from graphloc.llm.prompt import Prompt, Stability

_ROLE = (
    "You write one missing function of a Python repository. Work with the tools only: look around "
    "until you know what the function is for, what it is given and what its callers expect of it. "
    "You cannot see or run the repository's own tests for it; they decide in the end."
)
_TESTS_FIRST = (
    "Phase 1: before any implementation, write tests that pin down what the function has to do: "
    "ordinary use, edge cases, errors, what it must leave alone. Derive what you expect from the "
    "repository, not from an implementation you have in mind. Hand them in.\n"
    "Phase 2: write the implementation and hand it in."
)
_REFINE_BOTH = (
    "Then run the tests. When one fails, decide first which side is wrong: an implementation that "
    "breaks a well-founded expectation, or a test that expects something the repository does not "
    "say. Mend that side, or both, add tests for what is not covered yet, and run them again. "
    "Finish when code and tests agree and you would not add a test."
)
_REFINE_CODE = (
    "Then run the tests. They are fixed once there is an implementation: mend the implementation "
    "until they pass, then finish."
)
_REFLECT = (
    "Write the implementation and hand it in. Then read it over with a critical eye, as often as "
    "it takes: hand in a better version, or finish when you find nothing more to mend."
)
_ONCE = "Write the implementation and hand it in once."
NUDGE = "Go on by calling one of the tools."
REFLECT_NUDGE = (
    "Read your implementation over: does it do what its callers expect in every case? Hand in a "
    "better version, or finish."
)


def opening(session: Session) -> Prompt:
    """Return the prompt that starts a task."""
    hole = session.task.hole
    context = make_context(hole)
    name = f"the function {hole.function}" if hole.function else "the missing lines"
    shown = "\n".join(context.visible_lines)
    target = (
        f"The target is {name} in {hole.path}, whose body is missing; the file has a placeholder "
        f"at line {hole.line + 1}. The lines in front of it are:\n\n```python\n{shown}\n```"
    )
    return (
        Prompt()
        .add(Stability.SYSTEM, _ROLE)
        .add(Stability.SYSTEM, method(session.variant))
        .add(Stability.ISSUE, target)
        .add(Stability.ISSUE, session.task.requirement)
    )


def method(variant: Variant) -> str:
    """Return the way of working that a variant asks for."""
    if not variant.writes_tests:
        return _REFLECT if variant.refines else _ONCE
    if not variant.refines:
        return f"{_TESTS_FIRST}\nThen run the tests once; that ends the work."
    return f"{_TESTS_FIRST}\n{_REFINE_BOTH if variant.revises_tests else _REFINE_CODE}"
