"""Tools over the API, and over text when the server knows none."""

from __future__ import annotations

import pytest

from graphloc.llm import NativeMode
from graphloc.llm.errors import ModelServerError, RequestRejectedError
from repair.ports import ChatRequest, FinishReason, Message, Role, ToolCall
from tests.fakes.chat_server import NO_TOOLS, Status, Text, ToolCalls

CALL_IN_TEXT = '<tool_call>{"name": "search", "arguments": {"query": "x"}}</tool_call>'


def test_calls_of_the_api_are_read(connect, ask, search_tool):
    line = connect([ToolCalls([("search", {"query": "x"}), ("search", "")], text="I look.")])
    (reply,) = line.model.complete(ask(tools=(search_tool,)))
    assert reply.text == "I look."
    assert reply.tool_calls == (
        ToolCall("call_0", "search", {"query": "x"}),
        ToolCall("call_1", "search", {}),
    )
    assert reply.finish_reason is FinishReason.TOOL_CALLS
    (sent,) = line.server.requests[0].body["tools"]
    assert sent["function"]["parameters"] == search_tool.parameters


@pytest.mark.parametrize("arguments", ['{"query": ', "[1]", "nope"])
def test_malformed_arguments_become_a_problem(connect, ask, search_tool, arguments):
    line = connect([ToolCalls([("search", arguments)])])
    ((call,),) = (r.tool_calls for r in line.model.complete(ask(tools=(search_tool,))))
    assert (call.name, call.arguments) == ("search", {})
    assert "search" in call.problem


def test_arguments_with_a_slip_are_understood(connect, ask, search_tool):
    line = connect([ToolCalls([("search", '{"query": "x",}')])])
    ((call,),) = (r.tool_calls for r in line.model.complete(ask(tools=(search_tool,))))
    assert (call.arguments, call.problem) == ({"query": "x"}, "")


def test_results_go_back_with_the_id_of_their_call(connect, search_tool):
    line = connect([Text("In a.py.")])
    turns = (
        Message(Role.USER, "Where?"),
        Message(Role.ASSISTANT, "", (ToolCall("c7", "search", {"query": "x"}),)),
        Message(Role.TOOL, "a.py:3", tool_call_id="c7"),
    )
    line.model.complete(ChatRequest(turns, tools=(search_tool,)))
    _, call, result = line.server.requests[0].body["messages"]
    assert call["tool_calls"][0] == {
        "id": "c7",
        "type": "function",
        "function": {"name": "search", "arguments": '{"query": "x"}'},
    }
    assert result == {"role": "tool", "content": "a.py:3", "tool_call_id": "c7"}


@pytest.mark.parametrize(
    "refusal",
    [
        NO_TOOLS,
        Status(400, '"auto" tool choice requires --enable-auto-tool-choice'),
        Status(400, "registry.ollama.ai/library/gemma:2b does not support tools"),
        Status(422, "Extra inputs are not permitted: tools"),
        Status(404, "No endpoints found that support tool use"),
        Status(500, "tools param requires --jinja flag"),
    ],
    ids=str,
)
def test_a_server_without_tools_is_asked_in_text_from_then_on(connect, ask, search_tool, refusal):
    line = connect([refusal, Text(CALL_IN_TEXT), Text(CALL_IN_TEXT)])
    request = ask(tools=(search_tool,))
    replies = [line.model.complete(request)[0] for _ in range(2)]
    for reply in replies:
        assert reply.tool_calls == (ToolCall("call_0", "search", {"query": "x"}),)
        assert (reply.text, reply.finish_reason) == ("", FinishReason.TOOL_CALLS)
    assert ["tools" in seen.body for seen in line.server.requests] == [True, False, False]
    assert "Find code." in line.server.requests[1].body["messages"][0]["content"]
    assert line.model.dialect.tools is NativeMode.OFF
    assert line.delays_s == []


def test_the_text_protocol_can_be_chosen(connect, ask, search_tool):
    line = connect([Text(CALL_IN_TEXT)], tools=NativeMode.OFF)
    (reply,) = line.model.complete(ask(tools=(search_tool,)))
    assert reply.tool_calls[0].arguments == {"query": "x"}
    assert "tools" not in line.server.requests[0].body


def test_the_api_can_be_insisted_on(connect, ask, search_tool):
    line = connect([NO_TOOLS], tools=NativeMode.ON)
    with pytest.raises(RequestRejectedError):
        line.model.complete(ask(tools=(search_tool,)))


def test_a_mistake_in_the_conversation_is_not_taken_for_missing_tools(connect, ask, search_tool):
    line = connect([Status(400, "tool_call_id c7 has no preceding tool call")])
    with pytest.raises(RequestRejectedError, match="c7"):
        line.model.complete(ask(tools=(search_tool,)))


def test_a_passing_failure_that_mentions_tools_is_tried_again(connect, ask, search_tool):
    line = connect([Status(500, "tool parser crashed")] * 3)
    with pytest.raises(ModelServerError):
        line.model.complete(ask(tools=(search_tool,)))
    assert line.model.dialect.tools is NativeMode.AUTO


def test_blocks_that_a_server_left_in_the_text_are_calls(connect, ask, search_tool):
    line = connect([Text(f"I look. {CALL_IN_TEXT}")])
    (reply,) = line.model.complete(ask(tools=(search_tool,)))
    assert reply.text == "I look."
    assert reply.tool_calls[0].arguments == {"query": "x"}
