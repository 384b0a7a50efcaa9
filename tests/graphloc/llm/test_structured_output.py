"""Replies of a given schema."""

from __future__ import annotations

import pytest

from graphloc.llm import NativeMode
from graphloc.llm.errors import ModelSettingsError, StructuredOutputError
from graphloc.llm.structured import is_strict
from repair.ports import OutputSchema, Usage
from tests.fakes.chat_server import Status, Text, ToolCalls

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "line": {"type": "integer", "minimum": 1}},
    "required": ["path", "line"],
    "additionalProperties": False,
}
LOCATION = OutputSchema("edit location", SCHEMA)
GOOD = '{"path": "a.py", "line": 3}'
VALUE = {"path": "a.py", "line": 3}


def test_the_server_is_asked_for_the_schema(connect, ask):
    line = connect([Text(GOOD)])
    (reply,) = line.model.complete(ask(output=LOCATION))
    assert reply.data == VALUE
    assert line.server.requests[0].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "edit_location", "schema": SCHEMA, "strict": True},
    }


@pytest.mark.parametrize(
    "refusal",
    [
        Status(400, "'response_format.type' must be 'json_object'", param="response_format"),
        Status(422, "Extra inputs are not permitted: response_format"),
        Status(400, "guided decoding is not enabled"),
    ],
    ids=str,
)
def test_a_server_without_schemas_is_asked_in_words(connect, ask, refusal):
    line = connect([refusal, Text(f"Here:\n```json\n{GOOD}\n```"), Text(GOOD)])
    for _ in range(2):
        assert line.model.complete(ask(output=LOCATION))[0].data == VALUE
    said = [seen.body["messages"][-1]["content"] for seen in line.server.requests]
    assert ['"minimum": 1' in text for text in said] == [False, True, True]
    assert all(text.startswith("Where is the bug?") for text in said)


def test_a_reply_that_does_not_fit_is_mended_once(connect, ask):
    line = connect([Text('{"path": "a.py", "line": 0}'), Text(GOOD)])
    (reply,) = line.model.complete(ask(output=LOCATION))
    assert reply.data == VALUE
    assert reply.usage == Usage(20, 0, 10)
    *_, wrong, complaint = line.server.requests[1].body["messages"]
    assert wrong == {"role": "assistant", "content": '{"path": "a.py", "line": 0}'}
    assert "$.line" in complaint["content"]


@pytest.mark.parametrize("wrong", ["no JSON here", '{"path": "a.py"}', "[]"])
def test_two_wrong_replies_are_an_error(connect, ask, wrong):
    line = connect([Text(wrong), Text(wrong), Text(GOOD)])
    with pytest.raises(StructuredOutputError) as caught:
        line.model.complete(ask(output=LOCATION))
    assert caught.value.values["text"] == wrong
    assert line.server.unused == 1


def test_a_reply_that_calls_tools_is_no_value_yet(connect, ask, search_tool):
    line = connect([ToolCalls([("search", {"query": "x"})])])
    (reply,) = line.model.complete(ask(output=LOCATION, tools=(search_tool,)))
    assert (reply.data, len(reply.tool_calls)) == (None, 1)


def test_words_can_be_chosen(connect, ask):
    line = connect([Text(GOOD)], json_schema=NativeMode.OFF)
    assert line.model.complete(ask(output=LOCATION))[0].data == VALUE
    assert "response_format" not in line.server.requests[0].body


def test_a_wrong_schema_is_the_callers_mistake(connect, ask):
    line = connect([Text(GOOD)])
    with pytest.raises(ModelSettingsError, match="edit"):
        line.model.complete(ask(output=OutputSchema("edit", {"type": "thing"})))


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (SCHEMA, True),
        ({"type": "array", "items": SCHEMA}, True),
        ({**SCHEMA, "additionalProperties": True}, False),
        ({**SCHEMA, "required": ["path"]}, False),
        ({"type": "array", "items": {"type": "object"}}, False),
        ({"type": "string"}, True),
    ],
)
def test_only_closed_schemas_are_strict(schema, strict):
    assert is_strict(schema) is strict
