"""The tools by which the agent hands in its work, has it tested, and ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from graphloc.completion.agent.arguments import get_text, parameters
from graphloc.completion.agent.session import Session
from repair.ports import JsonObject, ToolSchema

SUBMIT_TESTS = ToolSchema(
    "submit_tests",
    "Hand in the whole test file, in place of any earlier one. It stands beside the target's file.",
    parameters(("code",), code=("string", "Python source of a pytest file.")),
)
SUBMIT_CODE = ToolSchema(
    "submit_implementation",
    "Hand in the implementation of the target, in place of any earlier one.",
    parameters(("code",), code=("string", "The function's body, or the whole function.")),
)
RUN_TESTS = ToolSchema(
    "run_tests",
    "Run the tests you handed in last on your implementation, with pytest.",
    parameters(),
)
FINISH = ToolSchema(
    "finish",
    "End the work when the task is completed; what was handed in last counts.",
    parameters(),
)


@dataclass(frozen=True, slots=True)
class SessionTool:
    """One of these tools."""

    schema: ToolSchema
    act: Callable[[JsonObject], str]

    def call(self, arguments: JsonObject) -> str:
        """Do it; see `Tool.call`."""
        return self.act(arguments)


def submission_tools(session: Session) -> tuple[SessionTool, ...]:
    """Return the tools that the session's variant has."""
    tools = []
    if session.variant.writes_tests:
        tools.append(
            SessionTool(SUBMIT_TESTS, lambda args: session.submit_tests(get_text(args, "code")))
        )
    tools.append(SessionTool(SUBMIT_CODE, lambda args: session.submit_code(get_text(args, "code"))))
    if session.variant.writes_tests:
        tools.append(SessionTool(RUN_TESTS, lambda args: session.run_tests()))
    if session.variant.refines:
        tools.append(SessionTool(FINISH, lambda args: session.finish()))
    return tuple(tools)
