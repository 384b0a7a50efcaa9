"""What holds for the whole suite."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """Let programs under test be interrupted even where the suite runs in a shell's background.

    A shell starts background jobs with SIGINT ignored, and ignored signals are inherited.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
