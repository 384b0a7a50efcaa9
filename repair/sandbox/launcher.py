"""Program that the local sandbox puts between itself and a command; needs nothing but Python.

``python -I -S launcher.py PARENT_PID JSON_LIMITS COMMAND...``

It becomes the one whom orphans of the command are given to, ends with its parent, sets the
command's limits, waits for it and kills all that is left.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import NoReturn

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
# Both from Linux's include/uapi/linux/prctl.h.


def main(arguments: list[str]) -> int:
    """Run the command of `arguments`; return its exit code as a shell would."""
    parent, limits, command = int(arguments[0]), json.loads(arguments[1]), arguments[2:]
    signal.signal(signal.SIGTERM, _end)
    _adopt_and_follow()
    if os.getppid() != parent:
        return 128 + signal.SIGKILL  # it died before we could ask to die with it
    child = os.fork()
    if not child:
        _become(command, limits)
    try:
        return _wait_for(child)
    finally:
        _kill_children()


def _adopt_and_follow() -> None:
    """Adopt orphans, and get SIGTERM when the parent dies; both on Linux only."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _end(signum: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(128 + signum)


def _become(command: list[str], limits: dict[str, int]) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for name, value in limits.items():
        kind = getattr(resource, name, None)
        if kind is not None:
            hard = resource.getrlimit(kind)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            with suppress(ValueError, OSError):
                resource.setrlimit(kind, (bound, bound))
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def _wait_for(child: int) -> int:
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return 128 - code if code < 0 else code


def _kill_children() -> None:
    """Kill and collect whatever was left or is handed to us, until there is nobody."""
    while True:
        for pid in _children():
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.wait()
        except ChildProcessError:
            return


def _children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        with suppress(OSError):
            os.killpg(0, signal.SIGKILL)
        return []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
