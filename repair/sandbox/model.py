"""What a sandbox promises and what a run in it came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from repair.sandbox.workspace import Workspace

MIB = 1024 * 1024


class SandboxKind(StrEnum):
    """The kinds of sandbox there are."""

    BUBBLEWRAP = "bubblewrap"
    DOCKER = "docker"
    LOCAL = "local"


class Threat(StrEnum):
    """What code under test may do, on purpose or not."""

    NETWORK = "network"
    OUTSIDE_WRITES = "outside_writes"
    SECRETS = "secrets"
    """Reading the user's files, such as keys in the home folder."""
    HOST_PROCESSES = "host_processes"
    """Seeing or signalling processes outside."""
    FORK_BOMB = "fork_bomb"
    MEMORY_BOMB = "memory_bomb"
    OUTPUT_FLOOD = "output_flood"
    LARGE_FILES = "large_files"
    ENDLESS_RUN = "endless_run"
    """Running for ever, SIGTERM ignored."""
    DAEMONS = "daemons"
    """Processes that leave their session and parent to outlive the run."""
    SYMLINKS = "symlinks"
    """Links that lead the caller to write or read outside, after the run."""
    PARENT_DEATH = "parent_death"
    """Outliving a parent that was killed with SIGKILL."""


@dataclass(frozen=True, slots=True)
class Protection:
    """What a kind of sandbox contains and what not; shown to whoever chooses one."""

    kind: SandboxKind
    contained: frozenset[Threat]
    caveats: tuple[str, ...]
    """Sentences on what gets through."""

    @property
    def uncontained(self) -> frozenset[Threat]:
        """Threats this kind does nothing reliable about."""
        return frozenset(Threat) - self.contained


class StopReason(StrEnum):
    """Which limit ended a run."""

    WALL_CLOCK = "wall_clock"
    CPU_TIME = "cpu_time"
    MEMORY = "memory"
    PROCESSES = "processes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Upper bounds of one run. Past `output_bytes` output is dropped, the run goes on."""

    wall_s: float = 300.0
    cpu_s: float = 300.0
    """Summed over all processes."""
    memory_bytes: int = 2048 * MIB
    """Resident memory of all processes together."""
    processes: int = 128
    """Processes and threads."""
    output_bytes: int = 1 * MIB
    """Of standard output and of standard error, each."""
    file_bytes: int = 256 * MIB
    """Size of one file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How a command ended and what it wrote."""

    exit_code: int
    """As a shell has it: 128 + n for a death by signal n, 127 for a command not found."""
    stdout: str
    """UTF-8 with replacement characters; first and last half of the cap, a mark between."""
    stderr: str
    is_truncated: bool
    duration_s: float
    cpu_s: float
    """User and system time of all processes, as far as they could be seen."""
    stopped_by: StopReason | None = None
    """The limit that ended the run, if one did."""

    @property
    def timed_out(self) -> bool:
        """Whether wall clock or processor time ran out."""
        return self.stopped_by in (StopReason.WALL_CLOCK, StopReason.CPU_TIME)

    @property
    def out_of_memory(self) -> bool:
        """Whether the run was ended for its memory; a caught `MemoryError` is not seen."""
        return self.stopped_by is StopReason.MEMORY

    @property
    def is_success(self) -> bool:
        """Whether the command ended by itself with code 0."""
        return self.stopped_by is None and self.exit_code == 0


class Sandbox(Protocol):
    """Runs commands in a workspace and lets nothing else of the machine be touched."""

    @property
    def kind(self) -> SandboxKind:
        """Which kind it is."""

    def run(
        self,
        command: Sequence[str],
        *,
        workdir: Workspace,
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        stdin: bytes = b"",
    ) -> RunResult:
        """Run a command in the workspace's folder and wait for it; nothing of it is left then.

        Parameters
        ----------
        command
            Program and arguments; no shell is involved.
        workdir
            The copy of the repository the command may change.
        env
            Variables besides the few every run has (`base_environment`); the caller's own
            environment is not handed on.
        limits
            Bounds; `Limits()` if left out.
        stdin
            What the command reads as standard input.

        Raises
        ------
        SandboxError
            The sandbox itself failed. A command that fails, or is killed, is a result.
        """

    def describe(self) -> Protection:
        """Say what this sandbox contains and what not."""


def base_environment(env: Mapping[str, str] | None, *, home: str) -> dict[str, str]:
    """Return the variables of a run: a path, a home, UTF-8, no byte code; then the caller's."""
    base = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": home,
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return {**base, **(env or {})}
