"""Prompts whose beginnings stay the same."""

from __future__ import annotations

import random
from os.path import commonprefix

import pytest

from graphloc.llm import NativeMode, Prompt, Stability
from graphloc.llm.dialect import Dialect
from graphloc.llm.prompt import prefix_share, shared_prefix_chars
from graphloc.llm.wire import render_request
from repair.ports import ChatRequest, Message, OutputSchema, Role, ToolSchema

SYSTEM = "You mend code. " * 40
REPOSITORY = "pkg/a.py: class A, def f\n" * 200
ISSUE = "It crashes when the list is empty. " * 20


def test_stable_parts_come_first_whatever_the_order_of_adding():
    parts = [
        (Stability.SYSTEM, "s"),
        (Stability.REPOSITORY, "r"),
        (Stability.ISSUE, "i"),
        (Stability.BRANCH, "b"),
        (Stability.VOLATILE, "v"),
    ]
    for seed in range(10):
        prompt = Prompt()
        for stability, text in random.Random(seed).sample(parts, len(parts)):
            prompt = prompt.add(stability, text)
        system, user = prompt.messages()
        assert (system, user) == (
            Message(Role.SYSTEM, "s"),
            Message(Role.USER, "r\n\ni\n\nb\n\nv"),
        )


def test_parts_of_one_stability_keep_their_order_and_empty_ones_are_left_out():
    prompt = Prompt().add(Stability.ISSUE, "1").add(Stability.ISSUE, "").add(Stability.ISSUE, "2")
    assert prompt.messages() == (Message(Role.USER, "1\n\n2"),)
    turn = Message(Role.ASSISTANT, "ok")
    assert prompt.messages([turn])[-1] == turn


def test_branches_of_a_repair_share_nearly_all_of_their_prompts():
    base = (
        Prompt()
        .add(Stability.SYSTEM, SYSTEM)
        .add(Stability.REPOSITORY, REPOSITORY)
        .add(Stability.ISSUE, ISSUE)
    )
    locations = [
        base.add(Stability.VOLATILE, f"{n} earlier locations were found. Find another one.")
        for n in range(5)
    ]
    branches = [
        base.add(Stability.VOLATILE, f"Attempt {n}.").add(Stability.BRANCH, f"Location {n}")
        for n in range(5)
    ]
    prompts = [prompt.messages() for prompt in (*locations, *branches)]
    # Ten prompts, of which all but the first could come from the cache: 0.9 is the ceiling.
    assert 0.89 < prefix_share(prompts) < 0.9


def test_volatile_text_in_front_would_share_nothing():
    prompts = [
        (Message(Role.SYSTEM, f"Attempt {n}. {SYSTEM}"), Message(Role.USER, REPOSITORY))
        for n in range(10)
    ]
    assert prefix_share(prompts) < 0.01


def test_turns_of_a_conversation_extend_the_prefix():
    opening = Prompt().add(Stability.SYSTEM, SYSTEM).add(Stability.ISSUE, ISSUE)
    first = opening.messages()
    second = opening.messages([Message(Role.ASSISTANT, "I look."), Message(Role.USER, "Go on.")])
    assert shared_prefix_chars(first, second) >= len(SYSTEM) + len(ISSUE)


@pytest.mark.parametrize("mode", [NativeMode.OFF, NativeMode.AUTO])
def test_tools_and_schemas_spelt_out_keep_the_beginning(search_tool: ToolSchema, mode: NativeMode):
    base = Prompt().add(Stability.SYSTEM, SYSTEM).add(Stability.ISSUE, ISSUE)
    sent = [
        render_request(
            "m",
            ChatRequest(
                base.add(Stability.VOLATILE, str(n)).messages(),
                tools=(search_tool,),
                output=OutputSchema(f"answer {n}", {"const": n}),
            ),
            n,
            Dialect(tools=mode, json_schema=mode),
        )
        for n in range(2)
    ]
    texts = ["".join(message["content"] for message in body["messages"]) for body in sent]
    shared = commonprefix(texts)  # noqa: RUF071 - by character is what is meant
    assert len(shared) >= len(SYSTEM) + len(ISSUE)
    assert ("Find code." in texts[0]) is (mode is NativeMode.OFF)
    assert sent[0].get("tools") == sent[1].get("tools")


@pytest.mark.parametrize("prompts", [[], [(Message(Role.USER, "x"),)]])
def test_one_prompt_shares_with_none(prompts):
    assert prefix_share(prompts) == 0.0
