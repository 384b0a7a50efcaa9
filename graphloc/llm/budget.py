"""Limits on what a run may use, and the account of what it has used.

A limit is checked when a request starts. A request's tokens are known when it ends, so a budget in
tokens or money is passed by no more than what the requests under way at that moment cost; a budget
in requests is never passed.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

from graphloc.llm.errors import BudgetExceededError, ModelSettingsError, PriceUnknownError
from graphloc.llm.prices import Price
from repair.ports import Usage


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that a run may use; None is no limit. Replayed replies are free."""

    max_requests: int | None = None
    """HTTP requests, those that fail included."""
    max_tokens: int | None = None
    """Prompt and completion tokens together."""
    max_usd: float | None = None

    def __post_init__(self) -> None:
        limits = (self.max_requests, self.max_tokens, self.max_usd)
        if any(limit is not None and not limit >= 0 for limit in limits):
            raise ModelSettingsError("a budget must be 0 or more")


@dataclass(frozen=True, slots=True)
class UsageReport:
    """What a run has used so far."""

    requests: int
    """HTTP requests sent, those that failed included."""
    failed_requests: int
    replayed_replies: int
    """Replies that came from the record and cost nothing."""
    usage: Usage
    """Tokens paid for in this run."""
    replayed_usage: Usage
    """Tokens that the replayed replies cost when they were recorded."""
    usd: float | None
    """Cost of `usage`; None when a model that was used has no price."""
    request_s: float
    """Seconds spent on requests, summed over threads."""
    backoff_s: float
    """Seconds spent waiting between attempts, summed over threads."""

    @property
    def cache_share(self) -> float:
        """Share of prompt tokens that the provider's prefix cache served, in [0, 1]."""
        prompt = self.usage.prompt_tokens
        return self.usage.cached_prompt_tokens / prompt if prompt else 0.0


class Ledger:
    """The account of a run; may be shared by models and threads.

    Parameters
    ----------
    budget : Budget
        Limits over all models that share the ledger.
    prices : mapping of model name to Price
        What is not in it has no known cost.
    """

    def __init__(
        self, budget: Budget | None = None, prices: Mapping[str, Price] | None = None
    ) -> None:
        self._budget = budget or Budget()
        self._prices = dict(prices or {})
        self._lock = threading.Lock()
        self._requests = self._failed = self._replayed = 0
        self._usage = self._replayed_usage = Usage()
        self._usd = self._request_s = self._backoff_s = 0.0
        self._has_unpriced = False

    def require_price(self, model: str) -> None:
        """Make sure that a budget in money can be kept.

        Raises
        ------
        PriceUnknownError
            There is one, and `model` has no price.
        """
        if self._budget.max_usd is not None and model not in self._prices:
            raise PriceUnknownError(
                f"a budget in US dollars needs prices for {model}: name them in GRAPHLOC_PRICES",
                model=model,
            )

    def start_request(self) -> None:
        """Book the start of one HTTP request.

        Raises
        ------
        BudgetExceededError
            A limit is reached; nothing is booked.
        """
        with self._lock:
            self._check("requests", self._budget.max_requests, self._requests)
            self._check("tokens", self._budget.max_tokens, self._usage.total_tokens)
            self._check("usd", self._budget.max_usd, self._usd)
            self._requests += 1

    def finish_request(self, model: str, usage: Usage, elapsed_s: float) -> None:
        """Book a reply and its tokens."""
        with self._lock:
            self._request_s += elapsed_s
            self._add_usage(model, usage)

    def fail_request(self, model: str, usage: Usage | None, elapsed_s: float) -> None:
        """Book a request that gave no reply, and the tokens it took where the server told."""
        with self._lock:
            self._failed += 1
            self._request_s += elapsed_s
            if usage is not None:
                self._add_usage(model, usage)

    def add_replay(self, usage: Usage) -> None:
        """Book a reply that came from the record."""
        with self._lock:
            self._replayed += 1
            self._replayed_usage += usage

    def add_backoff(self, seconds: float) -> None:
        """Book a wait between attempts."""
        with self._lock:
            self._backoff_s += seconds

    def report(self) -> UsageReport:
        """Return the figures at this moment."""
        with self._lock:
            return UsageReport(
                requests=self._requests,
                failed_requests=self._failed,
                replayed_replies=self._replayed,
                usage=self._usage,
                replayed_usage=self._replayed_usage,
                usd=None if self._has_unpriced else self._usd,
                request_s=self._request_s,
                backoff_s=self._backoff_s,
            )

    def _add_usage(self, model: str, usage: Usage) -> None:
        self._usage += usage
        price = self._prices.get(model)
        self._has_unpriced |= price is None
        self._usd += price.cost_usd(usage) if price else 0.0

    @staticmethod
    def _check(what: str, limit: float | None, spent: float) -> None:
        if limit is not None and spent >= limit:
            raise BudgetExceededError(
                f"the budget of {limit:g} {what} is used up ({spent:g} spent)",
                what=what,
                limit=limit,
                spent=spent,
            )
