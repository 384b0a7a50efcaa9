"""The docker sandbox: a container per run, for programs whose dependencies live in an image.

Needs the ``docker`` package (an optional dependency) and a daemon on this machine, because the
workspace is mounted into the container. The image needs ``python3`` for the watchdog.
"""

from __future__ import annotations

import importlib
import io
import os
import secrets
import select
import signal
import socket
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from indexes.errors import InputError
from repair.errors import SandboxError, SandboxUnavailableError
from repair.sandbox import watchdog
from repair.sandbox.capture import BoundedOutput
from repair.sandbox.model import (
    Limits,
    Protection,
    RunResult,
    SandboxKind,
    StopReason,
    Threat,
    base_environment,
)
from repair.sandbox.workspace import Workspace

INSTALL = "apt-get install docker.io; pip install docker"
WORKDIR = "/workspace"
"""Where the copy is seen, unless the image has the program elsewhere."""
LABEL = "graphloc.sandbox"
_STDIN = "/run/graphloc-stdin"
_TICK_S = 0.05
_GRACE_S = 15.0
"""How much later than the caller the watchdog ends a run: start-up and clean-up take seconds."""
_END_TIMEOUT_S = 2.0
_DEFAULT_HOST = "unix:///var/run/docker.sock"
_API_TIMEOUT_S = 60
_CHUNK_BYTES = 1 << 16
_WRAPPERS = 1


@dataclass(frozen=True, slots=True)
class DockerSandbox:
    """Runs each command in a new container; make one with `open_docker`."""

    image: str
    workdir: str = WORKDIR
    cpus: float = 2.0
    """Processors a container may keep busy."""

    @property
    def kind(self) -> SandboxKind:
        """``docker``."""
        return SandboxKind.DOCKER

    def run(
        self,
        command: Sequence[str],
        *,
        workdir: Workspace,
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        stdin: bytes = b"",
    ) -> RunResult:
        """Run a command in a container of its own and remove it; see `Sandbox.run`."""
        limits = limits or Limits()
        stdin_file = workdir.base / "stdin"
        stdin_file.write_bytes(stdin)
        stdin_file.chmod(0o644)
        settings = self._settings(command, workdir, base_environment(env, home="/tmp"), limits)
        with _client() as client, _translated_errors():
            container = client.containers.create(self.image, **settings)
            try:
                return _Run(client, container, limits).finish()
            finally:
                _remove(container)

    def describe(self) -> Protection:
        """Say what the container keeps out."""
        return Protection(
            SandboxKind.DOCKER,
            frozenset(Threat),
            (
                "The kernel is shared: a hole in it is a hole in the sandbox.",
                "Whoever may use the docker daemon is as good as root; the command may not.",
                "The total size of the files written to the workspace is not bounded.",
                "After a kill -9 of the caller the container ends at once, and is removed when the "
                "next docker sandbox is opened.",
            ),
        )

    def _settings(
        self, command: Sequence[str], place: Workspace, env: Mapping[str, str], limits: Limits
    ) -> dict[str, Any]:
        """Return the container's settings, by the names of ``docker.containers.create``."""
        types = _docker().types
        source = Path(watchdog.__file__).read_text(encoding="utf-8")
        return {
            "entrypoint": ["python3", "-I", "-S", "-c", source],
            "command": [*map(str, (limits.wall_s + _GRACE_S, limits.cpu_s)), _STDIN, *command],
            "environment": dict(env),
            "working_dir": self.workdir,
            "user": f"{place.owner}:{place.owner}",
            "labels": {LABEL: _identity(os.getpid())},
            "stdin_open": True,
            "hostname": "sandbox",
            "network_mode": "none",
            "ipc_mode": "private",
            "read_only": True,
            "cap_drop": ["ALL"],
            "security_opt": ["no-new-privileges"],
            "mem_limit": limits.memory_bytes,
            "memswap_limit": limits.memory_bytes,
            "nano_cpus": int(min(self.cpus, os.cpu_count() or 1) * 1e9),
            "pids_limit": limits.processes + _WRAPPERS,
            "shm_size": max(1, limits.memory_bytes // 4),
            "tmpfs": {"/tmp": f"rw,exec,nosuid,nodev,mode=1777,size={limits.memory_bytes // 4}"},
            "log_config": types.LogConfig(type="none"),
            "ulimits": [
                types.Ulimit(name="core", soft=0, hard=0),
                types.Ulimit(name="fsize", soft=limits.file_bytes, hard=limits.file_bytes),
            ],
            "mounts": [
                types.Mount(self.workdir, str(place.root), type="bind"),
                types.Mount(_STDIN, str(place.base / "stdin"), type="bind", read_only=True),
            ],
        }


def open_docker(image: str | None, *, workdir: str = WORKDIR, cpus: float = 2.0) -> DockerSandbox:
    """Make sure that daemon and image are there, and remove what killed runs left behind.

    Raises
    ------
    SandboxUnavailableError
        The package, the daemon or the image is missing.
    """
    if not image:
        raise SandboxUnavailableError("a docker sandbox needs an image with python3 in it")
    with _client() as client, _translated_errors():
        remove_abandoned(client)
        if not client.images.list(name=image):
            raise SandboxUnavailableError(f"no docker image {image}: docker pull {image}")
    return DockerSandbox(image, workdir, cpus)


def build_image(base: str, commands: Sequence[str], *, tag: str) -> str:
    """Build an image from a base by shell commands, without network; return its tag.

    Raises
    ------
    InputError
        A command fails; its output's end is in the message.
    """
    recipe = "\n".join([f"FROM {base}", *(f"RUN {command}" for command in commands)])
    with _client() as client, _translated_errors():
        try:
            client.images.build(
                fileobj=io.BytesIO(recipe.encode()), tag=tag, network_mode="none", forcerm=True
            )
        except _docker().errors.BuildError as error:
            raise InputError(f"the image {tag} cannot be built: {error}", tag=tag) from error
    return tag


def remove_abandoned(client: Any) -> int:
    """Remove the containers of processes of this machine that are gone; return how many."""
    removed = 0
    for container in client.containers.list(all=True, filters={"label": LABEL}):
        owner = str(container.labels.get(LABEL, ""))
        machine, _, process = owner.rpartition("/")
        pid = process.split(":")[0]
        is_ours = machine == _machine() and pid.isdigit()
        if is_ours and _identity(int(pid)) != owner:
            _remove(container)
            removed += 1
    return removed


class _Run:
    """One container's life: attached before it starts, so that nothing of its output is lost."""

    def __init__(self, client: Any, container: Any, limits: Limits) -> None:
        self._client = client
        self._container = container
        self._limits = limits
        self._outputs = {
            1: BoundedOutput(limits.output_bytes),
            2: BoundedOutput(limits.output_bytes),
        }
        self._pending = bytearray()
        self._word = secrets.token_hex(16)

    def finish(self) -> RunResult:
        """Start, read to the end or to the deadline, and tell what came of it."""
        query = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        stream = self._client.api.attach_socket(self._container.id, params=query)
        connection: socket.socket = getattr(stream, "_sock", stream)
        try:
            self._container.start()
            started = time.monotonic()
            connection.sendall(f"{self._word}\n".encode())
            is_over = self._read_until(connection, started + self._limits.wall_s)
            duration_s = time.monotonic() - started
            if not is_over:
                self._end(connection)
        finally:
            stream.close()
            connection.close()
        status = self._container.wait(timeout=_API_TIMEOUT_S)
        return self._result(int(status["StatusCode"]), duration_s, is_over=is_over)

    def _end(self, connection: socket.socket) -> None:
        """Close the watchdog's standard input, with which it ends; kill it if that does not do."""
        with suppress(OSError):
            connection.shutdown(socket.SHUT_WR)
        if not self._read_until(connection, time.monotonic() + _END_TIMEOUT_S):
            with suppress(_docker().errors.APIError):  # it may just have ended by itself
                self._container.kill()

    def _read_until(self, connection: socket.socket, deadline: float) -> bool:
        """Read the output; return whether it ended before the deadline."""
        while time.monotonic() < deadline:
            if not select.select([connection], [], [], _TICK_S)[0]:
                continue
            data = connection.recv(_CHUNK_BYTES)
            if not data:
                return True
            self._feed(data)
        return False

    def _feed(self, data: bytes) -> None:
        """Sort frames (stream number, three zeros, big-endian length, payload) by stream.

        Format: https://docs.docker.com/reference/api/engine/ under "Attach to a container".
        """
        self._pending += data
        while len(self._pending) >= 8:
            stream, size = struct.unpack(">B3xI", self._pending[:8])
            if len(self._pending) < 8 + size:
                break
            if stream in self._outputs:
                self._outputs[stream].feed(bytes(self._pending[8 : 8 + size]))
            del self._pending[: 8 + size]

    def _result(self, exit_code: int, duration_s: float, *, is_over: bool) -> RunResult:
        self._container.reload()
        out, err = self._outputs[1], self._outputs[2]
        text, mark, report = err.text().rpartition(self._word)
        cpu_s, memory_kills = report.split() if mark else ("0", "0")
        reason = None
        if memory_kills != "0" or self._container.attrs["State"].get("OOMKilled"):
            reason = StopReason.MEMORY
        elif not is_over:
            reason = StopReason.WALL_CLOCK
        elif exit_code == 128 + signal.SIGXCPU:
            reason = StopReason.CPU_TIME
        return RunResult(
            exit_code=exit_code,
            stdout=out.text(),
            stderr=text if mark else report,
            is_truncated=out.is_truncated or err.is_truncated,
            duration_s=duration_s,
            cpu_s=float(cpu_s),
            stopped_by=reason,
        )


def _docker() -> Any:
    """Import the optional package; typed as `Any`, since it comes without types."""
    try:
        return importlib.import_module("docker")
    except ImportError as error:
        raise SandboxUnavailableError(f"the docker package is missing: {INSTALL}") from error


@contextmanager
def _client() -> Iterator[Any]:
    docker = _docker()
    try:
        _knock(str(docker.utils.kwargs_from_env().get("base_url") or _DEFAULT_HOST))
        client = docker.from_env(timeout=_API_TIMEOUT_S)
    except (docker.errors.DockerException, OSError) as error:
        raise SandboxUnavailableError(
            f"no docker daemon answers ({error}): {INSTALL}, then start dockerd"
        ) from error
    try:
        yield client
    finally:
        client.close()


def _knock(host: str) -> None:
    """Connect to a local daemon and hang up: the client leaks a socket when nobody answers."""
    scheme, _, path = host.partition("://")
    if "unix" in scheme:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_API_TIMEOUT_S)
            connection.connect(path)


@contextmanager
def _translated_errors() -> Iterator[None]:
    docker = _docker()
    requests = importlib.import_module("requests")
    try:
        yield
    except docker.errors.ImageNotFound as error:
        raise SandboxUnavailableError(f"no such docker image: {error.explanation}") from error
    except (docker.errors.DockerException, requests.RequestException, OSError) as error:
        raise SandboxError(f"docker failed: {error}") from error


def _remove(container: Any) -> None:
    """Remove a container; one that is gone, or on its way out by itself, is as good as removed."""
    try:
        container.remove(force=True, v=True)
    except _docker().errors.NotFound:
        pass
    except _docker().errors.APIError as error:
        if error.status_code != HTTPStatus.CONFLICT:
            raise


def _machine() -> str:
    """Name the place that our process ids are valid in."""
    space = "/proc/self/ns/pid"
    return f"{socket.gethostname()}/{os.readlink(space) if os.path.exists(space) else ''}"


def _identity(pid: int) -> str:
    """Name a process for good: its number and start time; without the latter if it is gone."""
    start = ""
    with suppress(OSError):
        start = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return f"{_machine()}/{pid}:{start}"
