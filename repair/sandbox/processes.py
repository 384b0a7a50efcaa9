"""Watching and ending a tree of processes through Linux's /proc.

Elsewhere there is nothing to see: samples are empty and only the root is ended.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_GONE_TIMEOUT_S = 5.0
_GONE_POLL_S = 0.005


@dataclass(frozen=True, slots=True)
class TreeUsage:
    """What a process and its descendants use at one moment."""

    pids: tuple[int, ...]
    """Breadth first, the root included."""
    threads: int
    cpu_s: float
    """User and system time, that of children already waited for included."""
    memory_bytes: int
    """Resident memory; pages shared between processes count once per process."""


def sample_tree(root: int) -> TreeUsage:
    """Measure a process tree; processes that end meanwhile are left out."""
    pids = tree_pids(root)
    ticks, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    threads = cpu = pages = 0
    for pid in pids:
        with suppress(OSError, ValueError, IndexError):
            fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
            cpu += sum(map(int, fields[11:15]))
            threads += int(fields[17])
            pages += int(fields[21])
    return TreeUsage(pids, threads, cpu / ticks, pages * page)


def proportional_memory(pids: tuple[int, ...]) -> int | None:
    """Sum resident bytes with shared pages split between their users; `None` if not told."""
    total = 0
    for pid in pids:
        try:
            text = Path(f"/proc/{pid}/smaps_rollup").read_bytes()
        except FileNotFoundError:
            continue
        except OSError:
            return None
        lines = (line.split() for line in text.splitlines())
        total += sum(int(parts[1]) for parts in lines if parts[0] == b"Pss:") * 1024
    return total


def tree_pids(root: int) -> tuple[int, ...]:
    """Return a process and all its descendants, breadth first."""
    found = [root]
    seen = {root}
    for pid in found:
        for child in _children(pid):
            if child not in seen:
                seen.add(child)
                found.append(child)
    return tuple(found)


def end_tree(root: int) -> None:
    """Kill all descendants of a process, then the process; return when they are gone.

    Children go first and in breadth first order: the first below a sandbox's root is the one all
    others die with. They are stopped before they are killed, so that none can fork on.
    """
    deadline = time.monotonic() + _GONE_TIMEOUT_S
    below = tree_pids(root)[1:]
    while below and time.monotonic() < deadline:
        for sign in (signal.SIGSTOP, signal.SIGKILL):
            for pid in below:
                _send(pid, sign)
        _wait_gone(below, time.monotonic() + 10 * _GONE_POLL_S)
        below = tuple(pid for pid in tree_pids(root)[1:] if is_running(pid))
    _send(root, signal.SIGKILL)


def is_running(pid: int) -> bool:
    """Whether a process is there and not merely waiting to be collected."""
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state not in (b"Z", b"X")


def _wait_gone(pids: tuple[int, ...], deadline: float) -> None:
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        time.sleep(_GONE_POLL_S)


def _children(pid: int) -> list[int]:
    children: list[int] = []
    with suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError):
                listed = Path(f"/proc/{pid}/task/{task}/children").read_bytes()
                children += map(int, listed.split())
    return children


def _send(pid: int, sign: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, sign)
