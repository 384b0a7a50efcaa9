"""The agent's loop: TDD-Agent (arXiv 2608.16742) and its ablations.

One conversation, one agent. It differs from the paper in what the paper leaves as limits: equal
runs are repeated so that flaky tests are marked, search commands are checked by argument, more
tools (such as graphloc's locator) may be handed in, and two stops besides the model's own are on
offer (`RunOptions`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from graphloc.completion.agent.arguments import Tool
from graphloc.completion.agent.inspection import (
    CodeSearcher,
    DirectoryViewer,
    FileReader,
    StructureInspector,
)
from graphloc.completion.agent.instructions import NUDGE, REFLECT_NUDGE, opening
from graphloc.completion.agent.session import RunOptions, Session
from graphloc.completion.agent.submission import SUBMIT_CODE, submission_tools
from graphloc.completion.agent.variants import TDD_AGENT, Variant
from graphloc.completion.conversation import Account, Sampling
from graphloc.completion.errors import ToolError
from graphloc.completion.model import Completion, CompletionTask, StopCause
from graphloc.completion.pytest_runs import PytestEnvironment
from graphloc.llm.errors import ContextOverflowError
from indexes.errors import GraphlocError
from repair.errors import SandboxError, UnsafePathError
from repair.ports import ChatModel, ChatReply, ChatRequest, Message, Role, ToolCall
from repair.sandbox import Workspace

MAX_SILENT_REPLIES = 3
"""Replies in a row without a tool call after which the agent gives up."""
KEPT_OBSERVATIONS = 4
"""Latest results of tools that stay when a conversation has become too long for the model."""
_REMOVED = "[removed to save room; call the tool again if you need it]"

ExtraTools = Callable[[Workspace], Sequence[Tool]]


@dataclass(frozen=True, slots=True)
class TddAgent:
    """Writes tests, then code, and refines both on what running them says."""

    model: ChatModel
    environment: PytestEnvironment
    variant: Variant = TDD_AGENT
    options: RunOptions = field(default_factory=RunOptions)
    sampling: Sampling = field(default_factory=Sampling)
    extra_tools: ExtraTools | None = None
    """More tools for the workspace, such as a locator's; their names go into the fingerprint."""
    extra_names: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The variant's name."""
        return self.variant.name

    @property
    def fingerprint(self) -> str:
        """Settings and model."""
        options = f"{self.options.repeats} {self.options.min_confidence}"
        mutates = self.options.mutator is not None
        return (
            f"{self.variant} {options} {mutates} {self.extra_names} {self.sampling} "
            f"{self.environment.limits} {self.model.name}"
        )

    def complete(self, task: CompletionTask) -> Completion:
        """Work on a task in a copy of its repository, which is thrown away.

        Raises
        ------
        SandboxError
            The sandbox failed at its own work.
        """
        with Workspace.copy(task.repository) as workspace:
            session = Session(task, workspace, self.environment, self.variant, self.options)
            session.prepare()
            tools = self._tools(session)
            talk = _Talk(session, Account(self.model, self.sampling), tools)
            stop, problem = talk.run()
            return Completion(
                body=session.body,
                attempts=session.all_attempts(),
                calls=talk.account.calls,
                usage=talk.account.usage,
                stop=stop,
                problem=problem or ("" if session.body else "nothing was submitted"),
            )

    def _tools(self, session: Session) -> tuple[Tool, ...]:
        workspace = session.workspace
        looking: tuple[Tool, ...] = (
            DirectoryViewer(workspace),
            StructureInspector(workspace),
            FileReader(workspace),
            CodeSearcher(workspace, self.environment.sandbox),
        )
        extra = tuple(self.extra_tools(workspace)) if self.extra_tools else ()
        return (*looking, *extra, *submission_tools(session))


@dataclass(slots=True)
class _Talk:
    """The conversation of one task."""

    session: Session
    account: Account
    tools: tuple[Tool, ...]
    turns: list[Message] = field(default_factory=list)
    silent: int = 0

    def run(self) -> tuple[StopCause, str]:
        """Talk until something ends it; say what, and what went wrong."""
        prompt = opening(self.session)
        for _ in range(self.session.variant.max_steps):
            try:
                reply = self._ask(prompt.messages())
            except GraphlocError as error:
                return StopCause.MODEL_FAILED, str(error)
            self.turns.append(reply.as_message())
            if not reply.tool_calls:
                self.silent += 1
                if self.silent >= MAX_SILENT_REPLIES:
                    return StopCause.NO_TOOL_CALLS, "the model stopped calling tools"
                self.turns.append(Message(Role.USER, NUDGE))
                continue
            self.silent = 0
            self._answer(reply.tool_calls)
            stop = self._stop()
            if stop is not None:
                return stop, ""
        return StopCause.MAX_STEPS, ""

    def _ask(self, start: tuple[Message, ...]) -> ChatReply:
        schemas = tuple(tool.schema for tool in self.tools)
        try:
            return self.account.ask(ChatRequest((*start, *self.turns), tools=schemas))
        except ContextOverflowError:
            if not self._forget():
                raise
        return self.account.ask(ChatRequest((*start, *self.turns), tools=schemas))

    def _forget(self) -> bool:
        """Drop what old calls returned; whether that made a difference."""
        places = [n for n, turn in enumerate(self.turns) if turn.role is Role.TOOL]
        old = [n for n in places[:-KEPT_OBSERVATIONS] if self.turns[n].content != _REMOVED]
        for number in old:
            self.turns[number] = replace(self.turns[number], content=_REMOVED)
        return bool(old)

    def _answer(self, calls: Sequence[ToolCall]) -> None:
        """Carry out calls in order; those behind the end are not."""
        reflects = False
        for call in calls:
            if self._stop() is None:
                content = self._call(call)
                writes_tests = self.session.variant.writes_tests
                reflects |= call.name == SUBMIT_CODE.name and not writes_tests
            else:
                content = "not done: the work has ended"
            self.turns.append(Message(Role.TOOL, content, tool_call_id=call.id))
        if reflects and self._stop() is None:
            self.turns.append(Message(Role.USER, REFLECT_NUDGE))

    def _call(self, call: ToolCall) -> str:
        tool = next((each for each in self.tools if each.schema.name == call.name), None)
        if call.problem or tool is None:
            names = ", ".join(each.schema.name for each in self.tools)
            return f"Error: {call.problem or f'there is no tool {call.name}'}. Tools: {names}."
        try:
            return tool.call(call.arguments)
        except SandboxError:
            raise
        except (ToolError, UnsafePathError) as error:
            return f"Error: {error}"

    def _stop(self) -> StopCause | None:
        session = self.session
        if session.finished:
            return StopCause.DONE
        if session.converged:
            return StopCause.CONVERGED
        if session.rounds >= session.variant.max_rounds:
            return StopCause.MAX_ROUNDS if session.variant.refines else StopCause.DONE
        return None
