"""What a run may use, and what it has used."""

from __future__ import annotations

import json
import threading

import pytest

from graphloc.llm import Budget, Ledger, Price, load_prices, prices_from_environment
from graphloc.llm.errors import BudgetExceededError, ModelSettingsError, PriceUnknownError
from graphloc.llm.usage import read_usage
from repair.ports import Usage
from tests.fakes.chat_server import Raw, SeenRequest, Status, Text

PRICE = Price(prompt=2.0, cached_prompt=0.2, completion=10.0)
USAGE = {
    "prompt_tokens": 1000,
    "completion_tokens": 100,
    "prompt_tokens_details": {"cached_tokens": 600},
}
COST_USD = (400 * 2.0 + 600 * 0.2 + 100 * 10.0) / 1e6


def test_a_report_holds_the_figures_of_the_run(connect, ask):
    line = connect(
        [Text("a", usage=USAGE), Status(500), Text("b", usage=USAGE)],
        ledger=Ledger(prices={"scripted": PRICE}),
    )
    line.model.complete(ask(n=2))
    report = line.model.report()
    assert (report.requests, report.failed_requests) == (3, 1)
    assert report.usage == Usage(2000, 1200, 200)
    assert report.usd == pytest.approx(2 * COST_USD)
    assert report.cache_share == 0.6
    assert report.request_s > 0


def test_without_a_price_the_cost_is_unknown(connect, ask):
    line = connect([Text("a")])
    assert line.model.report().usd == 0.0
    line.model.complete(ask())
    assert line.model.report().usd is None


def test_a_cached_price_that_is_unknown_is_the_full_one():
    assert Price(2.0, 10.0).cost_usd(Usage(1000, 600, 100)) == pytest.approx(0.003)


@pytest.mark.parametrize(
    ("budget", "what", "requests"),
    [
        (Budget(max_requests=3), "requests", 3),
        (Budget(max_requests=0), "requests", 0),
        (Budget(max_tokens=2000), "tokens", 2),
        (Budget(max_usd=2.5 * COST_USD), "usd", 3),
    ],
)
def test_a_budget_that_is_used_up_ends_the_run(connect, ask, budget, what, requests):
    line = connect(
        lambda seen: Text("ok", usage=USAGE),
        ledger=Ledger(budget, {"scripted": PRICE}),
        max_concurrency=1,
    )
    with pytest.raises(BudgetExceededError) as caught:
        line.model.complete(ask(n=9))
    assert caught.value.values["what"] == what
    assert len(line.server.requests) == requests == line.model.report().requests


def test_failed_attempts_use_up_requests(connect, ask):
    line = connect(lambda seen: Status(500), ledger=Ledger(Budget(max_requests=2)))
    with pytest.raises(BudgetExceededError):
        line.model.complete(ask())
    assert len(line.server.requests) == 2


def test_threads_pass_a_budget_by_no_more_than_what_is_under_way(connect, ask):
    together = threading.Barrier(3)

    def reply(seen: SeenRequest) -> Text:
        if seen.index < 3:
            together.wait(timeout=30)
        return Text("ok", usage=USAGE)

    line = connect(reply, ledger=Ledger(Budget(max_tokens=1100)), max_concurrency=3)
    outcomes: list[str] = []

    def run() -> None:
        try:
            line.model.complete(ask())
            outcomes.append("reply")
        except BudgetExceededError:
            outcomes.append("budget")

    threads = [threading.Thread(target=run) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["budget"] * 7 + ["reply"] * 3


def test_a_useless_reply_is_paid_for(connect, ask):
    empty = Raw(json.dumps({"choices": [], "usage": USAGE}))
    line = connect([empty, Text("ok", usage=USAGE)])
    line.model.complete(ask())
    report = line.model.report()
    assert (report.failed_requests, report.usage) == (1, Usage(2000, 1200, 200))


def test_a_budget_may_cover_several_models(connect, ask):
    ledger = Ledger(Budget(max_requests=2))
    lines = [connect([Text("a"), Text("b")], ledger=ledger) for _ in range(2)]
    for line in lines:
        line.model.complete(ask())
    with pytest.raises(BudgetExceededError):
        lines[0].model.complete(ask())


def test_a_budget_in_money_needs_a_price(connect):
    with pytest.raises(PriceUnknownError, match="scripted"):
        connect([], ledger=Ledger(Budget(max_usd=1.0), {"other": PRICE}))


def test_a_server_that_reports_no_usage_is_charged_an_estimate(connect, ask):
    line = connect(lambda seen: Text("x" * 300, usage=None), ledger=Ledger(Budget(max_tokens=150)))
    (reply,) = line.model.complete(ask())
    assert reply.usage.is_estimated
    assert reply.usage.completion_tokens >= 100
    with pytest.raises(BudgetExceededError):
        line.model.complete(ask(n=2))


@pytest.mark.parametrize("limits", [{"max_requests": -1}, {"max_usd": float("nan")}])
def test_budgets_below_zero_are_refused(limits):
    with pytest.raises(ModelSettingsError):
        Budget(**limits)


@pytest.mark.parametrize(
    ("payload", "usage"),
    [
        ({"usage": USAGE}, Usage(1000, 600, 100)),
        (
            {
                "usage": {
                    "prompt_tokens": 1000,
                    "completion_tokens": 100,
                    "prompt_cache_hit_tokens": 600,
                    "prompt_cache_miss_tokens": 400,
                }
            },
            Usage(1000, 600, 100),
        ),
        (
            {"usage": {"prompt_tokens": 1000, "completion_tokens": 100, "cached_tokens": 600}},
            Usage(1000, 600, 100),
        ),
        (
            {
                "usage": {
                    "input_tokens": 300,
                    "cache_read_input_tokens": 600,
                    "cache_creation_input_tokens": 100,
                    "output_tokens": 100,
                }
            },
            Usage(1000, 600, 100),
        ),
        (
            {
                "usage": {
                    "prompt_tokens": 1000,
                    "completion_tokens": 100,
                    "cache_read_input_tokens": 600,
                }
            },
            Usage(1000, 600, 100),
        ),
        (
            {
                "usage": {
                    "input_tokens": 1000,
                    "input_tokens_details": {"cached_tokens": 600},
                    "output_tokens": 100,
                }
            },
            Usage(1000, 600, 100),
        ),
        (
            {
                "usage": {"prompt_tokens": 1000, "completion_tokens": 100},
                "timings": {"cache_n": 600, "prompt_n": 400},
            },
            Usage(1000, 600, 100),
        ),
        (
            {
                "usage": {
                    "prompt_tokens": 10,
                    "completion_tokens": 1,
                    "prompt_tokens_details": {"cached_tokens": 99},
                }
            },
            Usage(10, 10, 1),
        ),
        (
            {
                "usage": {
                    "prompt_tokens": 10,
                    "completion_tokens": None,
                    "prompt_tokens_details": None,
                }
            },
            Usage(10, 0, 0),
        ),
        ({"usage": None}, None),
        ({}, None),
        ({"usage": {"prompt_tokens": "many"}}, None),
    ],
)
def test_usage_is_read_in_every_vendors_words(payload, usage):
    assert read_usage(payload) == usage


def test_prices_are_read_from_a_file(tmp_path):
    path = tmp_path / "prices.toml"
    path.write_text(
        '["org/model-1.5"]\nprompt = 2\ncached_prompt = 0.2\ncompletion = 10\n'
        "[local]\nprompt = 0\ncompletion = 0\n"
    )
    assert load_prices(path) == {"org/model-1.5": PRICE, "local": Price(0.0, 0.0)}
    assert prices_from_environment({"GRAPHLOC_PRICES": str(path)})["local"] == Price(0.0, 0.0)
    assert prices_from_environment({}) == {}


@pytest.mark.parametrize(
    "text", ["[m]\nprompt = 1", "[m]\nprompt = -1\ncompletion = 1", "not toml", "m = 3", None]
)
def test_a_price_file_that_is_none_is_refused(tmp_path, text):
    path = tmp_path / "prices.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ModelSettingsError, match=r"prices\.toml"):
        load_prices(path)
