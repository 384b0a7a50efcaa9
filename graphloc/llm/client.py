"""The chat model over any OpenAI-compatible server.

What one reply goes through, from the outside in: the check of a structured output, the record of
replies, retries, the limit on concurrency, the budget, the server.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType

from graphloc.llm.budget import Ledger, UsageReport
from graphloc.llm.dialect import Dialect
from graphloc.llm.errors import (
    BadReplyError,
    ModelConnectionError,
    ModelError,
    ModelServerError,
    ModelTimeoutError,
    RateLimitedError,
    StructuredOutputError,
)
from graphloc.llm.parallel import map_in_threads
from graphloc.llm.record import ReplyRecord, canonical_request, record_key
from graphloc.llm.redaction import Redactor
from graphloc.llm.settings import ModelSettings
from graphloc.llm.structured import read_output, repair_request
from graphloc.llm.transport import Transport
from graphloc.llm.usage import read_usage
from graphloc.llm.wire import parse_reply, render_request
from repair.ports import ChatReply, ChatRequest, JsonObject

_log = logging.getLogger(__name__)

_TRANSIENT = (
    ModelConnectionError,
    ModelTimeoutError,
    RateLimitedError,
    ModelServerError,
    BadReplyError,
)
"""What another attempt may mend. A garbled reply is among them: proxies send pages of their own."""


class OpenAIChatModel:
    """A `repair.ports.ChatModel`; safe to use from several threads.

    Every sample is a request of its own: few servers honour ``n``, and with prefix caching the
    prompt of the later ones is nearly free. The first sample is asked for alone, so that the others
    find the prefix cached; those run at once, up to `ModelSettings.max_concurrency`.

    Parameters
    ----------
    settings : ModelSettings
        Model, server and patience.
    ledger : Ledger, optional
        The account to book on; one of its own, without limits, by default.
    record : ReplyRecord, optional
        Recorded replies; none by default.
    sleep : callable
        Waits for so many seconds between attempts.

    Raises
    ------
    ModelSettingsError
        The `openai` package is missing, or a budget in money has no price for the model.
    """

    def __init__(
        self,
        settings: ModelSettings,
        *,
        ledger: Ledger | None = None,
        record: ReplyRecord | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._settings = settings
        self._ledger = ledger or Ledger()
        self._ledger.require_price(settings.model)
        self._record = record
        self._sleep = sleep
        self._redactor = Redactor(settings.api_key)
        self._dialect = Dialect(tools=settings.tools, json_schema=settings.json_schema)
        self._gate = threading.BoundedSemaphore(settings.max_concurrency)
        self._transport = Transport(settings)

    @property
    def name(self) -> str:
        """The model's name."""
        return self._settings.model

    @property
    def dialect(self) -> Dialect:
        """What the server has been found to accept so far."""
        return self._dialect

    def report(self) -> UsageReport:
        """Return what the ledger holds by now."""
        return self._ledger.report()

    def find_models(self) -> tuple[str, ...]:
        """Ask the server which models it offers; errors as for `complete`."""
        return self._transport.find_models(self._settings.request_timeout_s)

    def complete(self, request: ChatRequest) -> tuple[ChatReply, ...]:
        """Return `request.n` replies, in the order of their sample indexes.

        Raises
        ------
        ContextOverflowError
            The prompt is too long; shorten it.
        BudgetExceededError
            The budget is used up.
        StructuredOutputError
            A reply does not fit `request.output`, nor after it was asked to be mended.
        RecordMissingError
            Only recorded replies may be used and there is none.
        ModelError
            Anything else that kept the server from answering, as `graphloc.llm.errors` lists it.
        """
        samples = range(request.first_sample, request.first_sample + request.n)
        first = [self._sample(request, sample) for sample in samples[:1]]
        rest = map_in_threads(
            lambda sample: self._sample(request, sample),
            samples[1:],
            workers=self._settings.max_concurrency,
        )
        return (*first, *rest)

    def close(self) -> None:
        """Close the connections; the record is the caller's to close."""
        self._transport.close()

    def __enter__(self) -> OpenAIChatModel:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _sample(self, request: ChatRequest, sample: int) -> ChatReply:
        reply = self._recorded(request, sample)
        if request.output is None or reply.tool_calls:
            return reply
        try:
            return replace(reply, data=read_output(request.output, reply.text))
        except ValueError as error:
            problem = str(error)
        mended = self._recorded(repair_request(request, reply, problem), sample)
        usage = reply.usage + mended.usage
        try:
            return replace(mended, data=read_output(request.output, mended.text), usage=usage)
        except ValueError as error:
            raise StructuredOutputError(
                f"the model's reply does not fit the schema {request.output.name}: {error}",
                text=mended.text,
                problem=str(error),
            ) from error

    def _recorded(self, request: ChatRequest, sample: int) -> ChatReply:
        """Return the recorded reply, or ask and record."""
        if self._record is None:
            return self._ask(request, sample)
        canonical = canonical_request(self.name, request, sample)
        key = record_key(canonical)
        stored = self._record.find(key)
        if stored is not None:
            self._ledger.add_replay(stored.usage)
            return stored
        return self._record.add(key, self._redactor.clean(canonical), self._ask(request, sample))

    def _ask(self, request: ChatRequest, sample: int) -> ChatReply:
        """Ask until there is a reply, the error is final or patience ends."""
        deadline = time.monotonic() + self._settings.total_timeout_s
        failures = 0
        while True:
            dialect = self._dialect
            body = render_request(self.name, request, sample, dialect)
            try:
                return self._attempt(request, body, dialect, deadline)
            except ModelError as error:
                learnt = dialect.learn(error, request)
                if learnt is None:
                    failures += 1
                    self._wait_after(error, failures, deadline)
                elif self._dialect == dialect:
                    self._dialect = learnt

    def _attempt(
        self, request: ChatRequest, body: JsonObject, dialect: Dialect, deadline: float
    ) -> ChatReply:
        """Send one request when its turn comes, and book it."""
        if not self._gate.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise self._out_of_time()
        try:
            timeout_s = min(self._settings.request_timeout_s, deadline - time.monotonic())
            if timeout_s <= 0:
                raise self._out_of_time()
            self._ledger.start_request()
            started = time.monotonic()
            usage = None
            try:
                payload = self._transport.send(body, timeout_s)
                # Read before the reply is, since a reply that is of no use is paid for too.
                usage = read_usage(payload)
                reply = parse_reply(payload, request, dialect, prompt_chars=len(str(body)))
                usage = reply.usage
            except BaseException:
                self._ledger.fail_request(self.name, usage, time.monotonic() - started)
                raise
            self._ledger.finish_request(self.name, usage, time.monotonic() - started)
            return reply
        finally:
            self._gate.release()

    def _wait_after(self, error: ModelError, failures: int, deadline: float) -> None:
        """Wait before the next attempt, or raise the error when there is to be none."""
        retry = self._settings.retry
        if not isinstance(error, _TRANSIENT) or failures >= retry.max_attempts:
            raise error
        delay_s = retry.delay_s(failures - 1, error.values.get("retry_after_s"))
        if time.monotonic() + delay_s >= deadline:
            raise error
        _log.info("attempt %d failed, next one in %.1f s: %s", failures, delay_s, error)
        self._ledger.add_backoff(delay_s)
        self._sleep(delay_s)

    def _out_of_time(self) -> ModelTimeoutError:
        total_s = self._settings.total_timeout_s
        return ModelTimeoutError(f"no reply within {total_s:g} s in all", timeout_s=total_s)
