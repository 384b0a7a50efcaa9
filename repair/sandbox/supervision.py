"""Running one host command under limits: reads its output, watches its tree, ends all of it."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from repair.errors import SandboxError
from repair.sandbox.capture import BoundedOutput
from repair.sandbox.model import Limits, RunResult, StopReason
from repair.sandbox.processes import end_tree, proportional_memory, sample_tree

_TICK_S = 0.02
_WATCH_S = 0.1
"""Between two samples of the tree; one costs some 0.1 ms per process."""
_DRAIN_S = 1.0
"""How long output is awaited after the command ended."""
_CHUNK_BYTES = 1 << 16


def supervise(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    limits: Limits,
    stdin: bytes = b"",
    wrappers: int = 0,
) -> RunResult:
    """Run a command in a new session and return when nothing of it is left.

    Parameters
    ----------
    wrappers
        How many processes of the tree are the sandbox's own.

    Raises
    ------
    SandboxError
        The command cannot be started.
    """
    with tempfile.TemporaryFile() as source:
        source.write(stdin)
        source.seek(0)
        try:
            process = subprocess.Popen(
                command,
                cwd=cwd,
                env=dict(env),
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxError(f"cannot start {command[0]}: {error}") from error
        return _Supervisor(process, limits, wrappers).finish()


class _Supervisor:
    def __init__(self, process: subprocess.Popen[bytes], limits: Limits, wrappers: int) -> None:
        self._process = process
        self._limits = limits
        self._wrappers = wrappers
        self._started = time.monotonic()
        self._outputs = (BoundedOutput(limits.output_bytes), BoundedOutput(limits.output_bytes))
        self._cpu_s = 0.0
        self._stopped_by: StopReason | None = None

    def finish(self) -> RunResult:
        """Wait for the end; whatever happens, also Ctrl-C, the tree does not outlive this call."""
        try:
            self._watch()
        finally:
            if self._process.returncode is None:
                end_tree(self._process.pid)
                self._collect(wait=True)
            for pipe in self._pipes():
                pipe.close()
        code = self._process.returncode
        exit_code = 128 - code if code < 0 else code
        out, err = self._outputs
        return RunResult(
            exit_code=exit_code,
            stdout=out.text(),
            stderr=err.text(),
            is_truncated=out.is_truncated or err.is_truncated,
            duration_s=time.monotonic() - self._started,
            cpu_s=self._cpu_s,
            stopped_by=self._stopped_by,
        )

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        out, err = self._process.stdout, self._process.stderr
        if out is None or err is None:
            raise SandboxError("the command was started without pipes")
        return out, err

    def _watch(self) -> None:
        with selectors.DefaultSelector() as selector:
            for pipe, output in zip(self._pipes(), self._outputs, strict=True):
                selector.register(pipe, selectors.EVENT_READ, output)
            next_sample = 0.0
            while not self._collect():
                self._read(selector)
                now = time.monotonic()
                if now >= next_sample:
                    self._stopped_by = self._exceeded(now)
                    next_sample = now + _WATCH_S
                if self._stopped_by:
                    end_tree(self._process.pid)
                    self._collect(wait=True)
            self._drain(selector)

    def _read(self, selector: selectors.BaseSelector) -> bool:
        """Read what is there; return whether there was anything."""
        if not selector.get_map():
            time.sleep(_TICK_S)
            return False
        ready = selector.select(_TICK_S)
        for key, _ in ready:
            data = os.read(key.fd, _CHUNK_BYTES)
            if data:
                key.data.feed(data)
            else:
                selector.unregister(key.fileobj)
        return bool(ready)

    def _drain(self, selector: selectors.BaseSelector) -> None:
        deadline = time.monotonic() + _DRAIN_S
        while selector.get_map() and time.monotonic() < deadline:
            self._read(selector)

    def _collect(self, *, wait: bool = False) -> bool:
        """Note the command's end and its processor time, if it ended."""
        if self._process.returncode is not None:
            return True
        with suppress(ChildProcessError):
            pid, status, usage = os.wait4(self._process.pid, 0 if wait else os.WNOHANG)
            if not pid:
                return False
            self._cpu_s = max(self._cpu_s, usage.ru_utime + usage.ru_stime)
            self._process.returncode = os.waitstatus_to_exitcode(status)
            return True
        self._process.returncode = -signal.SIGKILL  # someone else collected it
        return True

    def _exceeded(self, now: float) -> StopReason | None:
        """Return the limit that the tree is past, if any."""
        limits = self._limits
        if now - self._started >= limits.wall_s:
            return StopReason.WALL_CLOCK
        usage = sample_tree(self._process.pid)
        self._cpu_s = max(self._cpu_s, usage.cpu_s)
        if self._cpu_s >= limits.cpu_s:
            return StopReason.CPU_TIME
        if usage.threads > limits.processes + self._wrappers:
            return StopReason.PROCESSES
        if usage.memory_bytes > limits.memory_bytes:
            proportional = proportional_memory(usage.pids)
            if proportional is None or proportional > limits.memory_bytes:
                return StopReason.MEMORY
        return None
