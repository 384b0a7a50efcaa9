"""First process of a docker sandbox: runs the command, and ends when nobody waits for it any more.

``python3 -I -S -c SOURCE SECONDS CPU_SECONDS STDIN_FILE COMMAND...``, standard input held open by
the caller.

A container outlives the program that asked for it. This process, with which the container ends,
ends at a deadline, when the processor time is used up, when the kernel killed one of the processes
for want of memory, or when its standard input closes, which the daemon does when the program's
connection breaks. The first line of standard input is a secret word: behind it, at the end of
standard error, the processor time and the number of such kills are told.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time

_TICK_S = 0.05


def main(arguments: list[str]) -> int:
    """Run the command of `arguments`; return its exit code as a shell would."""
    deadline, cpu_limit_s = time.monotonic() + float(arguments[0]), float(arguments[1])
    word = _first_line()
    child = os.fork()
    if not child:
        _become(arguments[2], arguments[3:])
    code = _wait_for(child, deadline, cpu_limit_s)
    os.write(2, f"{word} {_cpu_s():.3f} {_memory_kills()}".encode())
    return code


def _first_line() -> str:
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            sys.exit(128 + signal.SIGKILL)
        line += byte
    return line.decode().strip()


def _become(stdin: str, command: list[str]) -> None:
    os.setsid()
    os.dup2(os.open(stdin, os.O_RDONLY), 0)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def _wait_for(child: int, deadline: float, cpu_limit_s: float) -> int:
    """Collect whoever ends until the command does, a limit is passed or the caller is gone."""
    while time.monotonic() < deadline:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return 128 - code if code < 0 else code
        if pid:
            continue
        readable, _, _ = select.select([0], [], [], _TICK_S)
        if readable and not os.read(0, 1):
            break
        if _cpu_s() > cpu_limit_s:
            return 128 + signal.SIGXCPU
        if _memory_kills():
            break
    return 128 + signal.SIGKILL


def _cpu_s() -> float:
    """Sum the time of all processes here, that of those already collected included."""
    ticks = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    ticks += sum(map(int, file.read().rpartition(b")")[2].split()[11:15]))
            except OSError:
                continue  # it ended meanwhile
    return ticks / os.sysconf("SC_CLK_TCK")


def _memory_kills() -> int:
    """Return how many processes of the container the kernel killed, by control groups 2 or 1."""
    for path in ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"):
        try:
            with open(path, encoding="ascii") as file:
                fields = dict(line.split() for line in file)
        except OSError:
            continue
        return int(fields.get("oom_kill", 0))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
