"""What a server has been found to accept: "OpenAI-compatible" means something else everywhere.

A client starts out with everything the API offers. When a server refuses a request because of one
of these, `Dialect.learn` returns a narrower dialect, and the request is sent again in that; later
requests use it from the start. Every step narrows, so this ends.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, replace

from graphloc.llm.errors import (
    AuthenticationError,
    ContextOverflowError,
    ModelError,
    ModelServerError,
    RequestRejectedError,
)
from graphloc.llm.settings import NativeMode
from repair.ports import ChatRequest

_log = logging.getLogger(__name__)

_TOOLS = re.compile(r"\btools?\b|\btool_choice\b|\bfunction.?call", re.IGNORECASE)
_NOT_ABOUT_SUPPORT = re.compile(
    r"tool_call_id|role '?\"?tool|invalid schema|invalid tool call", re.IGNORECASE
)
"""Complaints about the content of tools or of a conversation: to spell it differently would hide a
mistake of ours."""
_SCHEMA = re.compile(
    r"response_format|json.?schema|structured.?output|grammar|guided", re.IGNORECASE
)
_REFUSAL = re.compile(
    r"unsupported|not support|unrecogni[sz]ed|unknown|unexpected|not permitted|extra|requires?\b",
    re.IGNORECASE,
)
_DROPPABLE = ("temperature", "seed", "stop")


@dataclass(frozen=True, slots=True)
class Dialect:
    """The parts of the API that a server takes."""

    tools: NativeMode = NativeMode.AUTO
    json_schema: NativeMode = NativeMode.AUTO
    max_tokens_key: str = "max_tokens"
    """``max_completion_tokens`` for OpenAI's reasoning models, which refuse the older name."""
    dropped: frozenset[str] = frozenset()
    """Parameters that the server refuses and that are left out."""

    def learn(self, error: ModelError, request: ChatRequest) -> Dialect | None:
        """Return the dialect to try after `error`, or None when the error is about something else.

        ``response_format`` is looked at before tools, as its complaints may mention both.
        """
        if not isinstance(error, RequestRejectedError | ModelServerError):
            return None
        if isinstance(error, ContextOverflowError | AuthenticationError):
            return None
        said = f"{error.values.get('param', '')} {error.values.get('server_message', '')}"
        learnt = (
            self._without_schema(said, request)
            or self._without_tools(said, request, error)
            or self._without_parameter(said, request)
        )
        if learnt is not None:
            _log.warning("the server refuses a part of the request, trying without: %s", said)
        return learnt

    def _without_schema(self, said: str, request: ChatRequest) -> Dialect | None:
        if request.output is None or self.json_schema is not NativeMode.AUTO:
            return None
        return replace(self, json_schema=NativeMode.OFF) if _SCHEMA.search(said) else None

    def _without_tools(self, said: str, request: ChatRequest, error: ModelError) -> Dialect | None:
        if not request.tools or self.tools is not NativeMode.AUTO:
            return None
        if not _TOOLS.search(said) or _NOT_ABOUT_SUPPORT.search(said):
            return None
        # llama.cpp answers 500 "tools param requires --jinja flag"; other 5xx are passing failures.
        if isinstance(error, ModelServerError) and not _REFUSAL.search(said):
            return None
        return replace(self, tools=NativeMode.OFF)

    def _without_parameter(self, said: str, request: ChatRequest) -> Dialect | None:
        if not _REFUSAL.search(said):
            return None
        if (
            "max_completion_tokens" in said
            and request.max_tokens is not None
            and self.max_tokens_key == "max_tokens"
        ):
            return replace(self, max_tokens_key="max_completion_tokens")
        for name in _DROPPABLE:
            is_sent = getattr(request, name) not in (None, ()) and name not in self.dropped
            if is_sent and re.search(rf"\b{name}\b", said):
                return replace(self, dropped=self.dropped | {name})
        return None
