"""How tests end, as single letters, and pytest's reports read as such."""

from __future__ import annotations

from typing import Any

PASSED, FAILED, ERROR, SKIPPED, OUT_OF_TIME, CRASHED = "P", "F", "E", "S", "T", "C"
MESSAGE_CHARS = 2000


def classify(reports: list[Any]) -> tuple[str, str]:
    """Return a test's status and why, from its reports for set-up, call and tear-down."""
    for report in reports:
        if report.failed:
            status = FAILED if report.when == "call" else ERROR
            return status, str(report.longrepr)[-MESSAGE_CHARS:]
    if any(report.skipped for report in reports):
        return SKIPPED, ""
    return (PASSED, "") if reports else (ERROR, "the test did not run")
