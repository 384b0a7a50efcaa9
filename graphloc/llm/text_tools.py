"""Tool calls in plain text, for servers and models that know no tools.

The system prompt lists the tools and asks for one block a call::

    <tool_call>
    {"name": "search", "arguments": {"query": "parse_date"}}
    </tool_call>

Results go back as ``<tool_result name="search">`` blocks in a user message. What comes back is read
with patience. In order of preference, and without mixing:

1. ``<tool_call>`` blocks (also ``<function_call>``, ``<tool>``, ``<function=NAME>``); a missing end
   tag; several calls in one block; ``<parameter=NAME>`` children in place of JSON;
2. fenced blocks and bare JSON that name a tool on offer.

A call's JSON may spell ``name`` as ``tool`` or ``function`` and ``arguments`` as ``parameters``,
``args`` or ``input``, hold its arguments as a string, and have the slips that
`graphloc.llm.jsontext` undoes. A block that stays unreadable becomes a call with a `problem`, so
that the model can be told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from graphloc.llm.jsontext import find_json, iter_json, parse_json, without_fences
from repair.ports import JsonObject, JsonValue, Message, Role, ToolCall, ToolSchema

_BLOCK = re.compile(
    r"<(?P<tag>tool_call|function_call|tool|function(?==))(?:=(?P<name>[\w.-]+))?>"
    r"(?P<body>.*?)(?:</(?P=tag)>|(?=<(?P=tag)[=>])|\Z)",
    re.DOTALL,
)
_FUNCTION = re.compile(r"<function=(?P<name>[\w.-]+)>(?P<body>.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER = re.compile(
    r"<parameter=(?P<name>[\w.-]+)>\n?(?P<value>.*?)\n?(?:</parameter>|(?=<parameter=)|\Z)",
    re.DOTALL,
)
_NAME_KEYS = ("name", "tool", "function", "tool_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input")
_NO_ARGUMENTS: JsonObject = {}


def tool_instructions(tools: Sequence[ToolSchema]) -> str:
    """Return the text that tells a model which tools there are and how to call them."""
    listed = "\n".join(
        json.dumps(
            {"name": t.name, "description": t.description, "parameters": t.parameters},
            ensure_ascii=False,
        )
        for t in tools
    )
    return (
        "You can call the tools below. Each line gives one tool, its parameters as JSON Schema.\n"
        f"<tools>\n{listed}\n</tools>\n"
        "To call a tool, write a block of exactly this form, several blocks for several calls, and "
        "then stop and wait for the results:\n"
        "<tool_call>\n"
        '{"name": "TOOL", "arguments": {"PARAMETER": "VALUE"}}\n'
        "</tool_call>\n"
        "If you need no tool, answer without such a block."
    )


def as_text_messages(
    messages: Sequence[Message], tools: Sequence[ToolSchema]
) -> tuple[Message, ...]:
    """Spell out tools, calls and results in a conversation for a model that knows no tools.

    The instructions end the system message: they stay the same through a run, so they belong to
    the prefix that is cached. Messages of one role in a row are joined.
    """
    instructions = tool_instructions(tools)
    if messages and messages[0].role is Role.SYSTEM:
        opening = f"{messages[0].content}\n\n{instructions}"
        rest = messages[1:]
    else:
        opening, rest = instructions, messages
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    spelt = [Message(Role.SYSTEM, opening)]
    for message in rest:
        plain = _as_text(message, names)
        if plain.role is spelt[-1].role:
            plain = Message(plain.role, f"{spelt.pop().content}\n\n{plain.content}")
        spelt.append(plain)
    return tuple(spelt)


def parse_tool_calls(
    text: str, tools: Sequence[ToolSchema], *, blocks_only: bool = False
) -> tuple[str, tuple[ToolCall, ...]]:
    """Read the calls out of a reply.

    Parameters
    ----------
    text : str
        The reply.
    tools : sequence of ToolSchema
        The tools on offer.
    blocks_only : bool
        Leave all but flawless blocks alone; for servers that handle tools themselves, where the
        text is more likely to be about such tags than to call anything.

    Returns
    -------
    str
        The prose around the calls.
    tuple of ToolCall
        In the order they stand in the text, with ids ``call_0``, ``call_1``, ...
    """
    known = frozenset(tool.name for tool in tools)
    blocks = list(_BLOCK.finditer(text))
    if blocks:
        found = [call for block in blocks for call in _block_calls(block)]
        calls = _numbered(found, known)
        if not blocks_only or not any(call.problem for call in calls):
            return _BLOCK.sub("", text).strip(), calls
    if blocks_only:
        return text, ()
    found = [
        call
        for value in _loose_values(text)
        for call in _value_calls(value)
        if call.name in known and not call.problem
    ]
    if not found:
        return text, ()
    return _prose_around_json(text), _numbered(found, known)


def checked_call(call_id: str, name: str, arguments: JsonValue) -> ToolCall:
    """Make a call of arguments that are an object, or the text of one.

    Unreadable arguments give a call with a `problem`.
    """
    if isinstance(arguments, str):
        try:
            arguments = parse_json(arguments.strip() or "{}")
        except ValueError as error:
            problem = f"the arguments of {name} are not valid JSON: {error}"
            return ToolCall(call_id, name, {}, problem)
    if arguments is None:
        arguments = _NO_ARGUMENTS
    if not isinstance(arguments, Mapping):
        return ToolCall(call_id, name, {}, f"the arguments of {name} must be a JSON object")
    return ToolCall(call_id, name, arguments)


def _as_text(message: Message, names: Mapping[str, str]) -> Message:
    if message.role is Role.TOOL:
        name = names.get(message.tool_call_id, "")
        return Message(Role.USER, f'<tool_result name="{name}">\n{message.content}\n</tool_result>')
    blocks = [
        "<tool_call>\n"
        + json.dumps({"name": c.name, "arguments": c.arguments}, ensure_ascii=False)
        + "\n</tool_call>"
        for c in message.tool_calls
    ]
    return Message(message.role, "\n".join(part for part in (message.content, *blocks) if part))


def _block_calls(block: re.Match[str]) -> list[ToolCall]:
    body = block["body"].strip()
    if block["name"]:
        return [_function_call(block["name"], body)]
    nested = [_function_call(m["name"], m["body"].strip()) for m in _FUNCTION.finditer(body)]
    return nested or _json_calls(body)


def _function_call(name: str, body: str) -> ToolCall:
    parameters = {m["name"]: _parameter(m["value"]) for m in _PARAMETER.finditer(body)}
    return checked_call("", name, parameters or body)


def _parameter(text: str) -> JsonValue:
    """Read a parameter: JSON where it is JSON, text otherwise."""
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        return text
    return value


def _json_calls(body: str) -> list[ToolCall]:
    try:
        value = find_json(body)
    except ValueError as error:
        return [ToolCall("", "", {}, f"the tool call is not valid JSON: {error}")]
    calls = _value_calls(value)
    # Two objects in a row, one a line, are no JSON document but plainly two calls.
    if len(calls) <= 1:
        several = [call for each in iter_json(body) for call in _value_calls(each)]
        calls = several if len(several) > len(calls) else calls
    return calls or [ToolCall("", "", {}, 'a tool call needs "name" and "arguments"')]


def _loose_values(text: str) -> list[JsonValue]:
    try:
        return [parse_json(text.strip())]
    except ValueError:
        return list(iter_json(text))


def _value_calls(value: JsonValue) -> list[ToolCall]:
    """Read the calls that a JSON value spells: one, a list, or a list under ``tool_calls``."""
    if isinstance(value, Mapping):
        if "tool_calls" in value:
            return _value_calls(value["tool_calls"])
        return _object_calls(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [call for each in value for call in _value_calls(each)]
    return []


def _object_calls(value: JsonObject) -> list[ToolCall]:
    function = value.get("function")
    if isinstance(function, Mapping):
        return _object_calls(function)
    names = [value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)]
    if not names:
        return []
    arguments = next((value[key] for key in _ARGUMENT_KEYS if key in value), None)
    return [checked_call("", str(names[0]), arguments)]


def _numbered(calls: Sequence[ToolCall], known: frozenset[str]) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(f"call_{index}", call.name, call.arguments, call.problem or _unknown(call, known))
        for index, call in enumerate(calls)
    )


def _unknown(call: ToolCall, known: frozenset[str]) -> str:
    if call.name in known:
        return ""
    return f"there is no tool {call.name}; the tools are {', '.join(sorted(known))}"


def _prose_around_json(text: str) -> str:
    prose = without_fences(text)
    if prose != text:
        return prose.strip()
    first = min((i for i in (text.find("{"), text.find("[")) if i >= 0), default=len(text))
    return text[:first].strip()
