"""The Model Context Protocol server: the tools of `graphloc.locators.tools` for agents.

Imports the SDK, which takes half a second; nothing else does. The index is made in the background
once the host has been greeted, and whatever blocks runs in threads, so the server always answers.
Specification: https://modelcontextprotocol.io/specification.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool as McpTool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import PrivateAttr

from graphloc import __version__
from graphloc.locators.errors import WorkCancelledError
from graphloc.locators.model import Refresh
from graphloc.locators.paging import Answer
from graphloc.locators.schemas import input_schema, output_schema
from graphloc.locators.tools import TOOLS, Tool, ToolBox, read_question
from indexes.errors import GraphlocError, InputError

INSTRUCTIONS = (
    "graphloc knows the code graph of this repository. Give localize the text of an issue to learn "
    "which files, classes and functions have to change; follow up with search_entity, "
    "traverse_graph and retrieve_entity, which take and return ids such as "
    "path/to/file.py:Class.method. Answers are about the files as they are now."
)
MAP_URI = "graphloc://map"
DEFAULT_MAP_TOKENS = 2_000
_WORKING = 4
"""Answers worked out at once. More would only wait for each other; the rest waits in order."""
_WAITING = 256
"""Calls that wait for the index at once; they share its refreshing, so the more the better."""
_TELL_EVERY_S = 0.1
"""Progress notifications are sent no more often than anybody can see."""
_STAGES: Mapping[str, tuple[float, float, str]] = {
    "list": (0, 2, "Listing files"),
    "read": (2, 70, "Reading files"),
    "graph": (70, 95, "Linking names"),
    "store": (95, 99, "Storing the index"),
}
"""Where each stage of indexing begins and ends in percent; shares as measured on sphinx."""

_Result = TypeVar("_Result")


class _Progress:
    """How far the work of one call is; written by a thread, read by the event loop."""

    def __init__(self) -> None:
        self.percent = 0.0
        self.message = ""
        self._given_up = threading.Event()

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self._given_up.is_set():
            raise WorkCancelledError("the call was cancelled")
        first, last, name = _STAGES.get(stage, (0, 99, stage))
        # Never backwards, whatever the stages do: the protocol forbids it.
        self.percent = max(self.percent, first + (last - first) * done / max(total, 1))
        self.message = f"{name} ({done}/{total})" if total > 1 else name

    def give_up(self) -> None:
        self._given_up.set()


@dataclass(frozen=True, slots=True)
class _Desk:
    """Where calls are worked on."""

    box: ToolBox
    root: Path
    working: anyio.CapacityLimiter
    waiting: anyio.CapacityLimiter

    async def work(self, work: Callable[[], _Result]) -> _Result:
        """Do in a thread what blocks; if the call is cancelled its answer is dropped at once."""
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self.working)

    async def refresh(self, context: Context[Any, Any] | None = None) -> Refresh:
        """Bring the index up to date in a thread, and tell the client how far it is.

        If the call is cancelled, indexing stops at its next step; what it has read is kept.
        """
        progress = _Progress()
        outcome: list[Refresh] = []
        failure: Exception | None = None
        async with anyio.create_task_group() as group:
            if context is not None:
                group.start_soon(_report, progress, context.report_progress)
            try:
                outcome.append(
                    await anyio.to_thread.run_sync(
                        lambda: self.box.locator.refresh(progress),
                        abandon_on_cancel=True,
                        limiter=self.waiting,
                    )
                )
            except Exception as error:  # noqa: BLE001 - raised again outside of the group
                failure = error
            finally:
                progress.give_up()
                group.cancel_scope.cancel()
        if failure is not None:
            raise failure
        return outcome[0]

    def public_message(self, error: GraphlocError) -> str:
        """Return a message for the client; where things are on this machine is not its business."""
        prefix = "" if isinstance(error, InputError) else "the index cannot be used: "
        return prefix + error.message.replace(str(self.root), ".")


class _LocatorTool(McpTool):
    """One of our tools in the words of the SDK, with our own validation and messages."""

    _desk: _Desk = PrivateAttr()

    @classmethod
    def make(cls, tool: Tool, desk: _Desk) -> _LocatorTool:
        made = cls(
            fn=partial(desk.box.call, tool.name),
            name=tool.name,
            title=tool.title,
            description=tool.description,
            parameters=input_schema(tool),
            fn_metadata=FuncMetadata(
                arg_model=ArgModelBase, output_schema=output_schema(tool.answer)
            ),
            is_async=True,
            context_kwarg=None,
            annotations=ToolAnnotations(
                title=tool.title,
                read_only_hint=True,
                destructive_hint=False,
                idempotent_hint=True,
                open_world_hint=False,
            ),
        )
        made._desk = desk
        return made

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        """Call the tool in a thread; an error that was foreseen becomes one of the tool."""
        try:
            question = read_question(self.name, arguments)
            refreshed = None if question.is_page else await self._desk.refresh(context)
            return await self._desk.work(
                lambda: _result(self._desk.box.answer(question, refreshed))
            )
        except GraphlocError as error:
            raise ToolError(self._desk.public_message(error)) from error
        except Exception as error:
            # Says only which tool: the reason, which may name anything, goes to the log.
            raise UnexpectedToolError(f"{self.name} failed: see the server's log") from error


def make_server(box: ToolBox, root: Path) -> MCPServer[None]:
    """Return a server for the tools; it starts to index once a client has been answered.

    `root` is the folder of the repository; messages to clients call it ``.``.
    """
    desk = _Desk(box, root, anyio.CapacityLimiter(_WORKING), anyio.CapacityLimiter(_WAITING))
    greeted = anyio.Event()

    async def note_greeting(
        ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        result = await call_next(ctx)
        greeted.set()
        return result

    @asynccontextmanager
    async def warm_up(_: MCPServer[None]) -> AsyncIterator[None]:
        async with anyio.create_task_group() as group:
            group.start_soon(_warm_up, desk, greeted)
            yield
            group.cancel_scope.cancel()

    server: MCPServer[None] = MCPServer(
        "graphloc",
        title="graphloc",
        description="Names the files, classes and functions that an issue is about.",
        instructions=INSTRUCTIONS,
        version=__version__,
        tools=[_LocatorTool.make(tool, desk) for tool in TOOLS],
        log_level="WARNING",
        lifespan=warm_up,
        middleware=[note_greeting],
    )
    _add_maps(server, desk)
    return server


def _add_maps(server: MCPServer[None], desk: _Desk) -> None:
    async def draw(max_tokens: int) -> str:
        try:
            await desk.refresh()
            return await desk.work(lambda: desk.box.locator.repository_map(max_tokens).text)
        except GraphlocError as error:
            raise ResourceError(desk.public_message(error)) from error

    @server.resource(
        MAP_URI,
        name="map",
        title="Map of the repository",
        description=(
            "The classes and functions that the rest leans on most, file by file, in about "
            f"{DEFAULT_MAP_TOKENS} tokens."
        ),
        mime_type="text/plain",
    )
    async def whole_map() -> str:
        return await draw(DEFAULT_MAP_TOKENS)

    @server.resource(
        f"{MAP_URI}/{{max_tokens}}",
        name="map_of_size",
        title="Map of the repository in so many tokens",
        description="The same map, larger or smaller.",
        mime_type="text/plain",
    )
    async def sized_map(max_tokens: str) -> str:
        if not (max_tokens.isascii() and max_tokens.isdigit() and 0 < len(max_tokens) < 7):
            raise ResourceError("the size of a map is a number of tokens, 1 to 999999")
        return await draw(max(int(max_tokens), 1))


async def _report(
    progress: _Progress, tell: Callable[[float, float | None, str | None], Awaitable[None]]
) -> None:
    told = 0.0
    while True:
        await anyio.sleep(_TELL_EVERY_S)
        if progress.percent > told:
            told = progress.percent
            await tell(round(told, 1), 100.0, progress.message)


async def _warm_up(desk: _Desk, greeted: anyio.Event) -> None:
    """Make the index ready; what is wrong with it is said to those who ask for something."""
    await greeted.wait()
    with suppress(GraphlocError):
        await desk.refresh()


def _result(answer: Answer) -> CallToolResult:
    text = answer.model_dump_json()
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=answer.model_dump(mode="json"),
    )
