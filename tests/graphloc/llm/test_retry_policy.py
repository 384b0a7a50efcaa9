"""How long to wait between attempts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from graphloc.llm.retry import RetryPolicy, is_retry_status, parse_retry_after

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after": "Thu, 01 Jan 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Thu, 01 Jan 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-4"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
    ],
)
def test_headers_are_read(headers, seconds):
    assert parse_retry_after(headers, now=NOW) == seconds


def test_delays_double_up_to_the_cap_and_spread():
    policy = RetryPolicy(base_s=1.0, cap_s=8.0)
    for attempt, longest in enumerate([1, 2, 4, 8, 8, 8]):
        drawn = [policy.delay_s(attempt, None) for _ in range(200)]
        assert all(longest / 2 <= delay <= longest for delay in drawn)
        assert len(set(drawn)) > 100


@pytest.mark.parametrize(
    ("status", "again"),
    [(400, False), (401, False), (404, False), (408, True), (409, True), (429, True), (500, True)],
)
def test_which_statuses_are_worth_another_attempt(status, again):
    assert is_retry_status(status) is again
