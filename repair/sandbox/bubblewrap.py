"""The default sandbox: Linux namespaces through ``bwrap``, no daemon and no image.

The command sees system folders and the given ones read-only, its workspace at the original's path,
a private /tmp, and no network, no home, no processes but its own. It is nobody special: as a user
we let it be user 1000 of a user namespace; as root, where that would still be the machine's root
to the kernel (process limits, files of /proc), it becomes the workspace's unused user id instead.

Reference: https://github.com/containers/bubblewrap
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from indexes.errors import InputError
from repair.errors import SandboxError, SandboxUnavailableError
from repair.sandbox.local import resource_limits
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

INSTALL = "apt-get install bubblewrap util-linux"
_USER_ID = 1000
_SYSTEM_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC = (
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "timezone"),
    *("nsswitch.conf", "mime.types", "magic", "protocols", "services", "ssl/certs"),
    *("ca-certificates", "fonts", "bash.bashrc", "inputrc", "terminfo"),
)
"""What programs look up there and anyone may know; accounts and keys are not shown."""
_SIZE_SINCE = (0, 7)
_DISABLE_USERNS_SINCE = (0, 8)
_WRAPPERS = 2
"""bwrap itself and the first process of its namespace."""
_PROBE_TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True)
class BubblewrapSandbox:
    """Runs commands in namespaces of their own; make one with `open_bubblewrap`."""

    program: str
    version: tuple[int, ...]
    readonly: tuple[Path, ...] = ()
    """Folders and files shown read-only at their own paths."""

    @property
    def kind(self) -> SandboxKind:
        """``bubblewrap``."""
        return SandboxKind.BUBBLEWRAP

    def run(
        self,
        command: Sequence[str],
        *,
        workdir: Workspace,
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        stdin: bytes = b"",
    ) -> RunResult:
        """Run a command at the original's path, where the copy is; see `Sandbox.run`."""
        limits = limits or Limits()
        arguments = [
            *self._namespaces(),
            *self._system(limits),
            *self._places(workdir),
            *("--remount-ro", "/", "--chdir", str(workdir.source), "--"),
            *_demotion(workdir.owner),
            *_limiter(limits),
            *command,
        ]
        result = supervise(
            [self.program, *arguments],
            cwd=workdir.base,
            env=base_environment(env, home="/tmp"),
            limits=limits,
            stdin=stdin,
            wrappers=_WRAPPERS,
        )
        if result.exit_code == 1 and result.stderr.startswith("bwrap: "):
            raise SandboxError(result.stderr.strip())
        return result

    def describe(self) -> Protection:
        """Say what the namespaces keep out."""
        return Protection(
            SandboxKind.BUBBLEWRAP,
            frozenset(Threat),
            (
                "The kernel is shared: a hole in it is a hole in the sandbox.",
                "Memory is watched every tenth of a second, not reserved: a burst can pass the "
                "limit for that long; files in /tmp count up to a second half of it.",
                "The total size of the files written to the workspace is not bounded.",
                "Before Linux 5.14 the process limit counts all of the user's processes.",
            ),
        )

    def _namespaces(self) -> list[str]:
        """Return what is unshared and given up."""
        common = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
        common += ["--unshare-cgroup-try", "--hostname", "sandbox"]
        common += ["--die-with-parent", "--new-session", "--cap-drop", "ALL"]
        if _is_root():
            for name in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"):
                common += ["--cap-add", name]  # spent by _demotion before the command starts
            return common
        common += ["--unshare-user", "--uid", str(_USER_ID), "--gid", str(_USER_ID)]
        return [*common, "--disable-userns"] if self.version >= _DISABLE_USERNS_SINCE else common

    def _system(self, limits: Limits) -> list[str]:
        """Return the mounts every run has."""
        arguments = ["--ro-bind", "/usr", "/usr"]
        for name in _SYSTEM_LINKS:
            path = Path("/", name)
            if path.is_symlink():
                arguments += ["--symlink", os.readlink(path), str(path)]
            elif path.is_dir():
                arguments += ["--ro-bind", str(path), str(path)]
        for name in _ETC:
            arguments += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
        size = max(1, limits.memory_bytes // 4)
        return [
            *arguments,
            *("--proc", "/proc", "--dev", "/dev"),
            *self._private("/dev/shm", size),
            *("--remount-ro", "/dev"),
            *self._private("/tmp", size),
            *("--dir", "/run", "--dir", "/var", "--symlink", "../tmp", "/var/tmp"),
        ]

    def _private(self, path: str, size_bytes: int) -> list[str]:
        """Return a writable file system in memory."""
        size = ["--size", str(size_bytes)] if self.version >= _SIZE_SINCE else []
        return ["--perms", "1777", *size, "--tmpfs", path]

    def _places(self, workdir: Workspace) -> list[str]:
        """Return the mounts of this run: given folders, the workspace, what it shares."""
        shown = [
            path
            for path in self.readonly
            if not path.is_relative_to("/usr") and not path.is_relative_to(workdir.source)
        ]
        arguments = _folders_above([*shown, workdir.source])
        for path in shown:
            arguments += ["--ro-bind", str(path), str(path)]
        arguments += ["--bind", str(workdir.root), str(workdir.source)]
        for name in workdir.shared:
            shared = str(workdir.source / name)
            arguments += ["--ro-bind", shared, shared]
        for name, text in _accounts(workdir.owner if _is_root() else _USER_ID).items():
            file = workdir.base / name
            file.write_text(text, encoding="ascii")
            file.chmod(0o644)
            arguments += ["--ro-bind", str(file), f"/etc/{name}"]
        return arguments


def _folders_above(places: Iterable[Path]) -> list[str]:
    """Make the folders mounts lie in; bwrap itself would make them for their owner alone."""
    folders = {
        folder
        for place in places
        for folder in place.parents
        if len(folder.parts) > 1 and not folder.is_relative_to("/usr")
    }
    return [
        argument
        for folder in sorted(folders)
        for argument in ("--perms", "0755", "--dir", str(folder))
    ]


def open_bubblewrap(readonly: Iterable[Path] = ()) -> BubblewrapSandbox:
    """Find ``bwrap`` and make sure that it works here.

    Parameters
    ----------
    readonly
        Folders to show read-only, e.g. `PythonEnvironment.roots`.

    Raises
    ------
    SandboxUnavailableError
        A program is missing or the kernel does not let it make namespaces.
    InputError
        A folder to show is the home folder or holds it.
    """
    programs = [shutil.which(name) for name in ("bwrap", "prlimit", "setpriv")]
    if None in programs or programs[0] is None:
        raise SandboxUnavailableError(f"bubblewrap is not installed: {INSTALL}")
    shown = tuple(dict.fromkeys(Path(os.path.abspath(path)) for path in readonly))
    for path in shown:
        if Path.home().is_relative_to(path):
            raise InputError(f"{path} holds your home folder; show less of it", path=str(path))
    sandbox = BubblewrapSandbox(programs[0], _version(programs[0]), shown)
    _probe(sandbox)
    return sandbox


def _probe(sandbox: BubblewrapSandbox) -> None:
    start = [sandbox.program, *sandbox._namespaces(), *sandbox._system(Limits())]
    owner = os.geteuid() or _USER_ID
    try:
        done = subprocess.run(
            [*start, "--", *_demotion(owner), *_limiter(Limits()), "true"],
            capture_output=True,
            text=True,
            check=False,
            timeout=_PROBE_TIMEOUT_S,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxUnavailableError(f"bubblewrap does not run: {error}") from error
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise SandboxUnavailableError(
            f"bubblewrap cannot make namespaces here ({reason[0]}): allow unprivileged user "
            "namespaces, or use --sandbox docker"
        )


def _version(program: str) -> tuple[int, ...]:
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return tuple(int(part) for part in re.findall(r"\d+", done.stdout)[:3])


def _is_root() -> bool:
    return os.geteuid() == 0


def _demotion(owner: int) -> list[str]:
    """Return the command that turns root into nobody for good; nothing for other users."""
    if not _is_root():
        return []
    return [
        *("/usr/bin/setpriv", f"--reuid={owner}", f"--regid={owner}", "--clear-groups"),
        *("--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"),
    ]


def _limiter(limits: Limits) -> list[str]:
    """Return the command that sets limits; inside, so that processes are counted there."""
    options = {
        f"--{name.removeprefix('RLIMIT_').lower()}": value
        for name, value in resource_limits(limits).items()
    }
    options["--nproc"] = limits.processes
    return ["/usr/bin/prlimit", *(f"{name}={value}" for name, value in options.items())]


def _accounts(user: int) -> dict[str, str]:
    """Return the account files of a system with one user."""
    return {
        "passwd": f"sandbox:x:{user}:{user}:sandbox:/tmp:/bin/sh\n",
        "group": f"sandbox:x:{user}:\n",
        "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
    }
