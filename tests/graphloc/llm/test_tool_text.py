"""The text protocol for tools: what is written, and what is understood."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphloc.llm.jsontext import find_json, parse_json
from graphloc.llm.text_tools import as_text_messages, parse_tool_calls, tool_instructions
from repair.ports import Message, Role, ToolCall, ToolSchema

TOOLS = (
    ToolSchema("search", "Find code.", {"type": "object"}),
    ToolSchema("open_file", "Read a file.", {"type": "object"}),
)


def understood(text: str) -> list[tuple[str, object]]:
    _, calls = parse_tool_calls(text, TOOLS)
    assert not any(call.problem for call in calls)
    return [(call.name, call.arguments) for call in calls]


ONE = [("search", {"query": "x"})]


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "search", "arguments": {"query": "x"}}\n</tool_call>',
        '<tool_call>{"name": "search", "arguments": {"query": "x"}}',
        '<tool_call>{"name": "search", "arguments": {"query": "x",},}</tool_call>',
        "<tool_call>{'name': 'search', 'arguments': {'query': 'x'}}</tool_call>",
        '<tool_call>{"tool": "search", "args": {"query": "x"}}</tool_call>',
        '<tool_call>{"name": "search", "arguments": "{\\"query\\": \\"x\\"}"}</tool_call>',
        '<tool_call>\n```json\n{"name": "search", "parameters": {"query": "x"}}\n```\n</tool_call>',
        '<tool_call>{"function": {"name": "search", "arguments": {"query": "x"}}}</tool_call>',
        '<function_call>{"name": "search", "input": {"query": "x"}}</function_call>',
        '<tool>{"name": "search", "arguments": {"query": "x"}}</tool>',
        '<function=search>{"query": "x"}</function>',
        "<function=search><parameter=query>\nx\n</parameter></function>",
        "<tool_call><function=search><parameter=query>x</parameter></function></tool_call>",
        'I look.\n```json\n{"name": "search", "arguments": {"query": "x"}}\n```',
        'I look.\n```\n{"name": "search", "arguments": {"query": "x"}}',
        '```json\n[{"name": "search", "arguments": {"query": "x"}}]\n```',
        '{"tool_calls": [{"name": "search", "arguments": {"query": "x"}}]}',
        '{"name": "search", "arguments": {"query": "x"}}',
        'Sure: {"name": "search", "arguments": {"query": "x"}} is my call.',
    ],
)
def test_one_call_in_all_the_ways_models_write_it(text):
    assert understood(text) == ONE


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "search", "arguments": {}}</tool_call> and '
        '<tool_call>{"name": "open_file", "arguments": {"path": "a.py"}}</tool_call>',
        '<tool_call>{"name": "search", "arguments": {}}\n'
        '{"name": "open_file", "arguments": {"path": "a.py"}}</tool_call>',
        '<tool_call>{"name": "search"}<tool_call>{"name": "open_file", "args": {"path": "a.py"}}',
        '<tool_call>[{"name": "search", "arguments": null}, '
        '{"name": "open_file", "arguments": {"path": "a.py"}}]</tool_call>',
        '```json\n{"name": "search", "arguments": {}}\n```\nthen\n```json\n'
        '{"name": "open_file", "arguments": {"path": "a.py"}}\n```',
    ],
)
def test_several_calls_keep_their_order(text):
    assert understood(text) == [("search", {}), ("open_file", {"path": "a.py"})]


def test_ids_are_distinct_and_prose_is_kept():
    prose, calls = parse_tool_calls(
        'First.\n<tool_call>{"name": "search"}</tool_call>\n<tool_call>{"name": "search"}', TOOLS
    )
    assert prose == "First."
    assert [call.id for call in calls] == ["call_0", "call_1"]


@pytest.mark.parametrize(
    "text",
    [
        "The bug is in `search`.",
        '```json\n{"path": "a.py", "line": 3}\n```',
        '```python\nprint({"name": "x"})\n```',
        '```json\n{"name": "delete_all", "arguments": {}}\n```',
        "a < b and <b>bold</b>",
        "",
    ],
)
def test_other_texts_hold_no_calls(text):
    assert parse_tool_calls(text, TOOLS) == (text, ())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<tool_call>{broken</tool_call>", "not valid JSON"),
        ("<tool_call></tool_call>", "not valid JSON"),
        ('<tool_call>{"query": "x"}</tool_call>', '"name"'),
        ('<tool_call>{"name": "search", "arguments": [1]}</tool_call>', "JSON object"),
        ('<tool_call>{"name": "search", "arguments": "{oops"}</tool_call>', "not valid JSON"),
        ('<tool_call>{"name": "grep", "arguments": {}}</tool_call>', "search"),
    ],
)
def test_blocks_that_cannot_be_called_say_why(text, problem):
    _, (call,) = parse_tool_calls(text, TOOLS)
    assert problem in call.problem


def test_loose_json_is_left_alone_where_the_server_handles_tools():
    for text in (
        '```json\n{"name": "search", "arguments": {}}\n```',
        "Rename the <tool>hammer</tool> element.",
        '<tool_call>{"name": "unknown", "arguments": {}}</tool_call>',
    ):
        assert parse_tool_calls(text, TOOLS, blocks_only=True) == (text, ())


@given(st.text(alphabet='<>/tool_call{}[]"name:search, \n`=', max_size=200))
def test_no_text_makes_the_parser_fail(text):
    prose, calls = parse_tool_calls(text, TOOLS)
    assert isinstance(prose, str)
    assert all(call.problem or call.name in {"search", "open_file"} for call in calls)


@given(
    st.dictionaries(
        st.text(max_size=8),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=20),
            lambda inner: st.lists(inner, max_size=3),
            max_leaves=5,
        ),
        max_size=4,
    ).filter(lambda arguments: "</tool_call>" not in json.dumps(arguments))
)
def test_what_is_written_is_read_back(arguments):
    call = ToolCall("call_0", "search", arguments)
    spelt = as_text_messages([Message(Role.ASSISTANT, "I look.", (call,))], TOOLS)
    assert parse_tool_calls(spelt[-1].content, TOOLS) == ("I look.", (call,))


def test_a_conversation_is_spelt_out_with_roles_taking_turns():
    messages = [
        Message(Role.SYSTEM, "You find bugs."),
        Message(Role.USER, "It crashes."),
        Message(Role.ASSISTANT, "", (ToolCall("a", "search", {}), ToolCall("b", "open_file", {}))),
        Message(Role.TOOL, "3 hits", tool_call_id="a"),
        Message(Role.TOOL, "1: x", tool_call_id="b"),
        Message(Role.USER, "Hurry."),
    ]
    spelt = as_text_messages(messages, TOOLS)
    assert [m.role for m in spelt] == [Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.USER]
    assert spelt[0].content == f"You find bugs.\n\n{tool_instructions(TOOLS)}"
    assert spelt[3].content == (
        '<tool_result name="search">\n3 hits\n</tool_result>\n\n'
        '<tool_result name="open_file">\n1: x\n</tool_result>\n\nHurry.'
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2,], "b": ",]",}', {"a": [1, 2], "b": ",]"}),
        ("{'a': True, 'b': None}", {"a": True, "b": None}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ("3", 3),
    ],
)
def test_the_slips_of_models_are_undone(text, value):
    assert parse_json(text) == value


@pytest.mark.parametrize("text", ["", "{", "nonsense", "NaN", "{'a': {1, 2}}", "[" * 100_000])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)


def test_json_is_found_in_prose_and_the_first_one_counts():
    assert find_json('See {x}: {"a": 1} or {"b": 2}.') == {"a": 1}
    assert find_json('```json\n{"a": 1}\n``` and {"b": 2}') == {"a": 1}
