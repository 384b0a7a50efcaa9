"""Between graphloc's values and the JSON of ``/v1/chat/completions``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from graphloc.llm.dialect import Dialect
from graphloc.llm.errors import BadReplyError
from graphloc.llm.settings import NativeMode
from graphloc.llm.structured import response_format, with_instructions
from graphloc.llm.text_tools import as_text_messages, checked_call, parse_tool_calls
from graphloc.llm.usage import estimate_usage, read_usage
from repair.ports import (
    ChatReply,
    ChatRequest,
    FinishReason,
    JsonObject,
    JsonValue,
    Message,
    Role,
    ToolCall,
)

_FINISH_REASONS: Mapping[str, FinishReason] = {
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "tool_use": FinishReason.TOOL_CALLS,
    "content_filter": FinishReason.CONTENT_FILTER,
}
"""Vendors' words for the end of a reply; every other one (eos, end_turn, null) is a plain stop."""
_THINKING = re.compile(r"\A\s*(?:<think>.*?</think>\s*|(?:(?!<think>).)*?</think>\s*)", re.DOTALL)
"""Reasoning that servers without a parser for it leave in the text; some templates open the tag in
the prompt, so that only its end is seen."""


def render_request(
    model: str, request: ChatRequest, sample: int, dialect: Dialect
) -> dict[str, JsonValue]:
    """Return the body of the HTTP request for one sample.

    Order and content of what stays the same between calls (tools, opening messages) are kept to the
    byte, so that the provider's prefix cache can serve it.
    """
    messages = request.messages
    body: dict[str, JsonValue] = {"model": model}
    if request.tools and dialect.tools is NativeMode.OFF:
        messages = as_text_messages(messages, request.tools)
    elif request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in request.tools
        ]
    if request.output and dialect.json_schema is NativeMode.OFF:
        messages = with_instructions(messages, request.output)
    elif request.output:
        body["response_format"] = response_format(request.output)
    body["messages"] = [_render_message(message) for message in messages]
    body.update(_parameters(request, sample, dialect))
    return body


def parse_reply(
    payload: JsonObject, request: ChatRequest, dialect: Dialect, *, prompt_chars: int
) -> ChatReply:
    """Read a chat completion.

    Raises
    ------
    BadReplyError
        It holds no choice with a message.
    """
    choice = _first(payload.get("choices"))
    message = choice.get("message")
    if not isinstance(message, Mapping):
        raise BadReplyError("the server's reply holds no message")
    raw = _text(message.get("content")) or _text(message.get("refusal"))
    text = _THINKING.sub("", raw, count=1) if "</think>" in raw else raw
    calls = _native_calls(message)
    if request.tools and not calls:
        is_native = dialect.tools is not NativeMode.OFF
        text, calls = parse_tool_calls(text, request.tools, blocks_only=is_native)
    reason = _FINISH_REASONS.get(str(choice.get("finish_reason")), FinishReason.STOP)
    if calls and reason is FinishReason.STOP:
        reason = FinishReason.TOOL_CALLS
    usage = read_usage(payload) or estimate_usage(
        prompt_chars=prompt_chars, completion_chars=len(json.dumps(message))
    )
    return ChatReply(text, calls, usage, reason)


def _parameters(request: ChatRequest, sample: int, dialect: Dialect) -> dict[str, JsonValue]:
    asked: dict[str, JsonValue] = {
        "temperature": request.temperature,
        "seed": None if request.seed is None else request.seed + sample,
        "stop": list(request.stop) or None,
        dialect.max_tokens_key: request.max_tokens,
    }
    return {k: v for k, v in asked.items() if v is not None and k not in dialect.dropped}


def _render_message(message: Message) -> dict[str, JsonValue]:
    rendered: dict[str, JsonValue] = {
        "role": message.role.value,
        "content": _encodable(message.content),
    }
    if message.role is Role.TOOL:
        rendered["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        rendered["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for call in message.tool_calls
        ]
    return rendered


def _encodable(text: str) -> str:
    """Replace lone surrogates (from undecodable file names), which UTF-8 cannot carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _first(choices: JsonValue) -> JsonObject:
    if isinstance(choices, Sequence) and not isinstance(choices, str) and choices:
        first = choices[0]
        if isinstance(first, Mapping):
            return first
    raise BadReplyError("the server's reply holds no choices")


def _text(content: JsonValue) -> str:
    """Read a content: a string, null, or a list of typed parts of which the text ones count."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    parts = [part.get("text") for part in content if isinstance(part, Mapping)]
    return "".join(part for part in parts if isinstance(part, str))


def _native_calls(message: JsonObject) -> tuple[ToolCall, ...]:
    listed = message.get("tool_calls")
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        return ()
    found = []
    for index, entry in enumerate(listed):
        function = entry.get("function") if isinstance(entry, Mapping) else None
        if isinstance(entry, Mapping) and isinstance(function, Mapping):
            call_id = str(entry.get("id") or f"call_{index}")
            name = str(function.get("name") or "")
            found.append(checked_call(call_id, name, function.get("arguments")))
    return tuple(
        replace(c, problem=c.problem or "the call names no tool") if not c.name else c
        for c in found
    )
