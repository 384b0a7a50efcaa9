"""What `repair` needs from outside, as protocols: a chat model.

The concrete model lives in `graphloc.llm` and is handed in by `graphloc.cli`. All values here are
frozen, so they may be shared between threads and compared in tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeAlias

JsonValue: TypeAlias = (
    "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
)
JsonObject: TypeAlias = Mapping[str, JsonValue]


class Role(StrEnum):
    """Who speaks in a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class FinishReason(StrEnum):
    """Why the model stopped."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    CONTENT_FILTER = "content_filter"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that the model asks for."""

    id: str
    name: str
    arguments: JsonObject = field(default_factory=dict)
    """The arguments by name; empty when they could not be read."""
    problem: str = ""
    """Why the call cannot be made (unreadable arguments, unknown tool), as a sentence that can be
    sent back to the model; empty when it can."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    """The calls an assistant's message asks for."""
    tool_call_id: str = ""
    """The call that a tool's message answers."""


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool that the model may call."""

    name: str
    description: str
    parameters: JsonObject
    """JSON Schema of the arguments (an object)."""


@dataclass(frozen=True, slots=True)
class OutputSchema:
    """The JSON value that a reply has to be."""

    name: str
    schema: JsonObject
    """JSON Schema of the value."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one reply, or of many added up."""

    prompt_tokens: int = 0
    """All tokens of the prompt, those served from the provider's cache included."""
    cached_prompt_tokens: int = 0
    completion_tokens: int = 0
    is_estimated: bool = False
    """Whether a server that reports no usage made it a guess from the lengths of the texts."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.cached_prompt_tokens + other.cached_prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.is_estimated or other.is_estimated,
        )

    @property
    def total_tokens(self) -> int:
        """Prompt and completion together."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What is asked of a chat model."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    output: OutputSchema | None = None
    """Ask for a JSON value of this schema; it is then in `ChatReply.data`."""
    n: int = 1
    """How many independent replies, at least 1."""
    first_sample: int = 0
    """Index of the first of the `n` replies. Callers that ask the same thing again and want another
    reply raise it: a recorded reply is reused per index."""
    temperature: float | None = None
    max_tokens: int | None = None
    """Longest reply, in tokens."""
    seed: int | None = None
    """Sample i is drawn with `seed + i`."""
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChatReply:
    """One reply of a chat model."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    finish_reason: FinishReason = FinishReason.STOP
    data: JsonValue = None
    """The validated value when the request named an output schema."""

    def as_message(self) -> Message:
        """Return the reply as the assistant's message, to go on with the conversation."""
        return Message(Role.ASSISTANT, self.text, self.tool_calls)


class ChatModel(Protocol):
    """A chat model; safe to use from several threads."""

    @property
    def name(self) -> str:
        """The model's name, for reports."""
        ...

    def complete(self, request: ChatRequest) -> tuple[ChatReply, ...]:
        """Return `request.n` replies, in the order of their sample indexes.

        Raises
        ------
        indexes.errors.GraphlocError
            The model cannot be reached, refuses the request or the budget is used up; the
            concrete model documents the kinds.
        """
        ...
