"""The local sandbox: limits and process groups, and nothing else."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from repair.sandbox import launcher
from repair.sandbox.model import (
    Limits,
    Protection,
    RunResult,
    SandboxKind,
    Threat,
    base_environment,
)
from repair.sandbox.supervision import supervise
from repair.sandbox.workspace import Workspace

_CONTAINED = frozenset(
    {
        Threat.MEMORY_BOMB,
        Threat.OUTPUT_FLOOD,
        Threat.LARGE_FILES,
        Threat.ENDLESS_RUN,
        Threat.DAEMONS,
        Threat.SYMLINKS,
        Threat.PARENT_DEATH,
    }
)
_ADDRESS_SPACE_FACTOR = 4
"""Address space per byte of resident memory: threads and allocators reserve far more than they use,
and resident memory is what is watched; this only stops single huge requests."""


class LocalSandbox:
    """Runs commands as the user, on the machine: for trusted code only, and only by name.

    It bounds time, memory, output and file sizes, and (on Linux) ends what a command leaves behind.
    It does **not** protect against code that uses the network, reads or writes any of the user's
    files, signals the user's processes, or forks without end. The user's variables are not handed
    on and the home folder is the workspace's, which keeps honest code away from them, no more.
    """

    @property
    def kind(self) -> SandboxKind:
        """``local``."""
        return SandboxKind.LOCAL

    def run(
        self,
        command: Sequence[str],
        *,
        workdir: Workspace,
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        stdin: bytes = b"",
    ) -> RunResult:
        """Run a command in the workspace; see `Sandbox.run`."""
        limits = limits or Limits()
        home = workdir.base / "home"
        home.mkdir(exist_ok=True)
        _link_shared(workdir)
        variables = base_environment(env, home=str(home)) | {"TMPDIR": str(home)}
        variables["PYTHONPATH"] = _python_path(workdir.root, variables.get("PYTHONPATH", ""))
        start = [sys.executable, "-I", "-S", launcher.__file__, str(os.getpid())]
        return supervise(
            [*start, json.dumps(resource_limits(limits)), *command],
            cwd=workdir.root,
            env=variables,
            limits=limits,
            stdin=stdin,
            wrappers=1,
        )

    def describe(self) -> Protection:
        """Say that this is hardly a sandbox."""
        return Protection(
            SandboxKind.LOCAL,
            _CONTAINED,
            (
                "The command runs as you: it can use the network and read, change and delete all "
                "your files.",
                "It can see and signal your processes, also the one that watches it, and it can "
                "start processes without end.",
                "Off Linux, processes that leave their group or parent outlive the run, and memory "
                "is bounded per process only.",
                "The total size of the files it writes is not bounded.",
            ),
        )


def resource_limits(limits: Limits) -> dict[str, int]:
    """Return POSIX limits of one process by the names of Python's `resource` module."""
    return {
        "RLIMIT_CPU": max(1, round(limits.cpu_s + 0.5)),
        "RLIMIT_AS": limits.memory_bytes * _ADDRESS_SPACE_FACTOR,
        "RLIMIT_FSIZE": limits.file_bytes,
        "RLIMIT_CORE": 0,
    }


def _link_shared(workdir: Workspace) -> None:
    """Put links in the places of virtual environments, as nothing can be mounted there."""
    for path in workdir.shared:
        place = workdir.root / path
        if place.is_dir() and not place.is_symlink():
            place.rmdir()
            place.symlink_to(workdir.source / path)


def _python_path(root: Path, given: str) -> str:
    """Put the copy before an editable install of the original."""
    places = [str(root), *(str(root / "src") for _ in range((root / "src").is_dir()))]
    return os.pathsep.join([*places, *filter(None, [given])])
