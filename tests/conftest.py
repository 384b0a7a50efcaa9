"""What holds for the whole suite."""

from __future__ import annotations

import signal

import pytest

_AGAINST_THE_CLOCK = ("tests/repair/", "tests/functional/", "tests/graphloc/completion/")
"""Tests there run real programs under time limits, which a starved machine can miss: they get a
second and a third try. Everything else has to pass at once."""


def pytest_configure() -> None:
    """Let programs under test be interrupted even where the suite runs in a shell's background.

    A shell starts background jobs with SIGINT ignored, and ignored signals are inherited.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give tests against the clock more than one try."""
    for item in items:
        if item.nodeid.startswith(_AGAINST_THE_CLOCK):
            item.add_marker(pytest.mark.flaky(reruns=2))
