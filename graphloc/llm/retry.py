"""When to ask a server again, and how long to wait before."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

RETRY_STATUSES = frozenset({408, 409, 429})
"""Statuses below 500 that a later attempt may mend: time-out, lock, rate limit; the `openai`
package retries the same ones."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential back-off with jitter.

    Attempt i (from 0) waits between half and the whole of ``min(cap_s, base_s * 2**i)``: the spread
    keeps many clients from coming back together, the floor keeps the growth (see "equal jitter" in
    https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
    """

    max_attempts: int = 6
    """At most this many requests for one reply."""
    base_s: float = 0.5
    cap_s: float = 30.0

    def delay_s(self, attempt: int, retry_after_s: float | None) -> float:
        """Return how many seconds to wait after `attempt` (from 0) failed.

        The server's own wish, where it has one, is a floor; up to a tenth is added to it so that
        clients told the same time spread.
        """
        if retry_after_s is not None:
            return retry_after_s * random.uniform(1.0, 1.1)
        longest = min(self.cap_s, self.base_s * 2.0**attempt)
        return longest * random.uniform(0.5, 1.0)


def is_retry_status(status: int) -> bool:
    """Whether a reply of this HTTP status is worth another attempt."""
    return status in RETRY_STATUSES or status >= 500


def parse_retry_after(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Read how many seconds the server wants to be left alone.

    ``retry-after-ms`` (milliseconds) goes before ``retry-after``, which holds seconds or an HTTP
    date (RFC 9110, 10.2.3). A time in the past gives 0.

    Parameters
    ----------
    headers : mapping
        With keys in lower case.
    now : datetime, optional
        The present, with a time zone; the clock's by default.

    Returns
    -------
    float or None
        None when there is no such header or it cannot be read.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000.0
    value = headers.get("retry-after", "").strip()
    seconds = _number(value)
    return seconds if seconds is not None else _seconds_until(value, now or datetime.now(UTC))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0.0 <= number < float("inf") else None


def _seconds_until(http_date: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(http_date)
    except (ValueError, TypeError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
