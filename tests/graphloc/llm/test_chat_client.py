"""The client over real sockets: what is sent, what comes back, what happens when it does not."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from graphloc.llm import RetryPolicy
from graphloc.llm.errors import (
    AuthenticationError,
    BadReplyError,
    ContextOverflowError,
    ModelConnectionError,
    ModelNotFoundError,
    ModelServerError,
    ModelTimeoutError,
    RateLimitedError,
    RequestRejectedError,
)
from repair.ports import ChatRequest, FinishReason, Message, Role, Usage
from tests.fakes import chat_server
from tests.fakes.chat_server import ChatServer, Drop, Raw, SeenRequest, Slow, Status, Text

ROOT = Path(__file__).resolve().parents[3]


def test_text_usage_and_finish_reason_come_back(connect, ask):
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 64},
    }
    line = connect([Text("In a.py.", usage=usage, finish_reason="length")])
    (reply,) = line.model.complete(ask())
    assert reply.text == "In a.py."
    assert reply.usage == Usage(100, 64, 7)
    assert reply.finish_reason is FinishReason.LENGTH
    assert reply.as_message() == Message(Role.ASSISTANT, "In a.py.")


def test_parameters_are_sent_and_absent_ones_are_not(connect, ask):
    line = connect([Text("a"), Text("b")])
    line.model.complete(ask())
    line.model.complete(ask(temperature=0.7, max_tokens=50, seed=3, stop=("END",)))
    bare, full = (request.body for request in line.server.requests)
    assert bare == {
        "model": "scripted",
        "messages": [{"role": "user", "content": "Where is the bug?"}],
    }
    assert {key: full[key] for key in ("temperature", "max_tokens", "seed", "stop")} == {
        "temperature": 0.7,
        "max_tokens": 50,
        "seed": 3,
        "stop": ["END"],
    }


def test_samples_are_separate_requests_in_order_with_their_own_seeds(connect, ask):
    def reply(seen: SeenRequest) -> Text:
        return Text(f"seed {seen.body['seed']}")

    line = connect(reply)
    replies = line.model.complete(ask(n=4, seed=10, first_sample=2))
    assert [reply.text for reply in replies] == ["seed 12", "seed 13", "seed 14", "seed 15"]
    assert line.server.requests[0].body["seed"] == 12, "the first one warms the cache alone"


def test_concurrency_stays_within_its_limit_over_all_threads(connect, ask):
    together = threading.Barrier(2)

    def reply(seen: SeenRequest) -> Text:
        together.wait(timeout=30)
        return Text("ok")

    line = connect(reply, max_concurrency=2)
    threads = [threading.Thread(target=line.model.complete, args=(ask(),)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(line.server.requests) == 8
    assert line.server.max_under_way == 2


@pytest.mark.parametrize(
    "failure",
    [
        Status(408),
        Status(409),
        Status(429),
        Status(500),
        Status(503),
        Status(529),
        Drop(),
        Drop(after_bytes=40),
        chat_server.NOT_JSON,
        chat_server.EMPTY_CHOICES,
        Raw('{"choices": "none"}'),
        Raw("[1, 2]"),
        Raw('{"error": {"message": "upstream is down", "code": 502}}'),
    ],
    ids=str,
)
def test_passing_failures_are_tried_again(connect, ask, failure):
    line = connect([failure, failure, Text("at last")])
    (reply,) = line.model.complete(ask())
    assert reply.text == "at last"
    report = line.model.report()
    assert (report.requests, report.failed_requests) == (3, 2)
    assert len(line.delays_s) == 2
    assert report.backoff_s == pytest.approx(sum(line.delays_s))


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (Status(429), RateLimitedError),
        (Status(500), ModelServerError),
        (Drop(), ModelConnectionError),
        (Drop(after_bytes=40), ModelConnectionError),
        (chat_server.NOT_JSON, BadReplyError),
        (chat_server.EMPTY_CHOICES, BadReplyError),
    ],
    ids=str,
)
def test_failures_that_last_become_named_errors(connect, ask, failure, error):
    line = connect([failure] * 3)
    with pytest.raises(error):
        line.model.complete(ask())
    assert len(line.server.requests) == 3


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (Status(401, "Incorrect API key"), AuthenticationError),
        (Status(403, "no access"), AuthenticationError),
        (Status(429, "quota", code="insufficient_quota"), AuthenticationError),
        (Status(404, "The model `scripted` does not exist"), ModelNotFoundError),
        (Status(400, "bad messages"), RequestRejectedError),
        (Status(422, "bad messages"), RequestRejectedError),
        (chat_server.OVERFLOW, ContextOverflowError),
    ],
    ids=str,
)
def test_final_failures_are_not_tried_again(connect, ask, failure, error):
    line = connect([failure, Text("never asked for")])
    with pytest.raises(error) as caught:
        line.model.complete(ask())
    assert line.server.unused == 1
    assert caught.value.values["status"] == failure.status
    restored = pickle.loads(pickle.dumps(caught.value))
    assert (type(restored), restored.values) == (error, caught.value.values)


def test_a_path_that_is_missing_hints_at_the_base_url(connect, ask):
    line = connect([])
    wrong = connect([], base_url=line.server.base_url.removesuffix("/v1"))
    with pytest.raises(ModelNotFoundError, match="/v1"):
        wrong.model.complete(ask())


def test_nobody_listening_is_a_connection_error(connect, ask):
    line = connect([], base_url="http://127.0.0.1:9/v1")
    with pytest.raises(ModelConnectionError, match="OPENAI_BASE_URL"):
        line.model.complete(ask())
    assert line.model.report().failed_requests == 3


@pytest.mark.parametrize(
    ("headers", "least_s"),
    [({"Retry-After": "7"}, 7.0), ({"retry-after-ms": "250", "Retry-After": "7"}, 0.25)],
)
def test_the_servers_wish_to_wait_is_honoured(connect, ask, headers, least_s):
    line = connect([Status(429, headers=headers), Text("ok")])
    line.model.complete(ask())
    assert least_s <= line.delays_s[0] <= least_s * 1.1


def test_the_wish_may_be_a_date(connect, ask):
    moment = datetime.now(UTC) + timedelta(seconds=100)
    line = connect(
        [Status(503, headers={"Retry-After": format_datetime(moment, usegmt=True)}), Text("ok")]
    )
    line.model.complete(ask())
    assert 1.0 < line.delays_s[0] <= 110.0


def test_a_wish_beyond_the_total_time_out_ends_the_call_at_once(connect, ask):
    line = connect([Status(429, headers={"Retry-After": "3600"}), Text("never")])
    with pytest.raises(RateLimitedError) as caught:
        line.model.complete(ask())
    assert caught.value.values["retry_after_s"] == 3600.0
    assert line.delays_s == []


def test_a_slow_answer_times_out_and_is_tried_again(connect, ask):
    line = connect([Slow(30.0), Text("quick")], request_timeout_s=0.3)
    (reply,) = line.model.complete(ask())
    assert reply.text == "quick"
    assert line.model.report().failed_requests == 1


def test_an_answer_that_drips_times_out_too(connect, ask):
    line = connect(
        [Slow(0.1, Text("x" * 2000), pieces=200)],
        request_timeout_s=0.5,
        retry=RetryPolicy(max_attempts=1),
    )
    with pytest.raises(ModelTimeoutError) as caught:
        line.model.complete(ask())
    assert caught.value.values["timeout_s"] == 0.5


def test_waiting_for_a_turn_counts_toward_the_total_time_out(connect, ask):
    released = threading.Event()

    def reply(seen: SeenRequest) -> Text:
        released.wait(30)
        return Text("ok")

    line = connect(reply, max_concurrency=1, total_timeout_s=1.0)

    def ask_first() -> None:
        with pytest.raises(ModelTimeoutError):
            line.model.complete(ask())

    first = threading.Thread(target=ask_first)
    first.start()
    while not line.server.requests:
        time.sleep(0.01)
    with pytest.raises(ModelTimeoutError):
        line.model.complete(ask())
    released.set()
    first.join()


def test_one_failing_sample_ends_the_call_with_its_error(connect, ask):
    line = connect([Text("fine"), Status(400, "no"), Status(400, "no"), Status(400, "no")])
    with pytest.raises(RequestRejectedError):
        line.model.complete(ask(n=4))


INTERRUPTED = """
import sys
from graphloc.llm import ModelSettings, OpenAIChatModel
from repair.ports import ChatRequest, Message, Role

model = OpenAIChatModel(ModelSettings(model="scripted", base_url=sys.argv[1]))
try:
    model.complete(ChatRequest((Message(Role.USER, "Where?"),), n=3))
except KeyboardInterrupt:
    sys.exit(130)
"""


def test_an_interrupt_does_not_wait_for_requests_under_way():
    under_way = threading.Barrier(3)

    def reply(seen: SeenRequest) -> Text:
        if seen.index:
            under_way.wait(60)
            server.stopping.wait(600)
        return Text("ok")

    with ChatServer(reply) as server:
        command = [sys.executable, "-c", INTERRUPTED, server.base_url]
        with subprocess.Popen(command, cwd=ROOT) as child:
            under_way.wait(60)
            child.send_signal(signal.SIGINT)
            assert child.wait(timeout=60) == 130


def test_reasoning_left_in_the_text_is_taken_out(connect, ask):
    line = connect(
        [Text("<think>hm, {maybe}</think>\n\nIn a.py."), Text("hm</think>In b.py."), Text("a < b")]
    )
    replies = [line.model.complete(ask())[0].text for _ in range(3)]
    assert replies == ["In a.py.", "In b.py.", "a < b"]


def test_content_in_parts_and_refusals_are_read(connect, ask):
    parts = (
        '{"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"text": "b"}]}}]}'
    )
    refusal = '{"choices": [{"message": {"content": null, "refusal": "I will not."}}]}'
    line = connect([Raw(parts), Raw(refusal)])
    assert [line.model.complete(ask())[0].text for _ in range(2)] == ["ab", "I will not."]


def test_lone_surrogates_in_a_prompt_do_no_harm(connect):
    line = connect([Text("ok")])
    line.model.complete(ChatRequest((Message(Role.USER, "file \udcff.py"),)))
    assert line.server.requests[0].body["messages"][0]["content"] == "file ?.py"


def test_parameters_a_server_refuses_are_spelt_differently_or_left_out(connect, ask):
    line = connect(
        [
            Status(
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead.",
                param="max_tokens",
            ),
            Status(400, "Unsupported value: 'temperature' does not support 0", param="temperature"),
            Text("ok"),
            Text("ok"),
        ]
    )
    request = ask(temperature=0.0, max_tokens=9, seed=1)
    line.model.complete(request)
    line.model.complete(request)
    for seen in line.server.requests[2:]:
        assert seen.body["max_completion_tokens"] == 9
        assert not {"max_tokens", "temperature"} & set(seen.body)
        assert seen.body["seed"] == 1
    assert line.delays_s == []


def test_the_models_on_offer_are_listed(connect):
    assert connect([]).model.find_models() == ("scripted",)
