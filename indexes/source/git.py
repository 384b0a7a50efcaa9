"""Running git on a repository that nobody vouches for.

Every command runs with the inherited ``GIT_*`` variables removed, no network, no locks, no pager,
and with those settings switched off through which a repository's own configuration starts programs.
That is why ownership need not be checked (``safe.directory``).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from indexes.errors import GitError
from indexes.source.model import decode_path, encode_path, printable_path

_KEPT_VARIABLES = frozenset(
    {
        "GIT_CEILING_DIRECTORIES",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        "GIT_EXEC_PATH",
    }
)
"""Say how to find git and repositories; all others say which, and come from a hook or a shell."""

_OWN_VARIABLES = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    # Understood by every version, unlike the one above: a lazy fetch finds no transport to use.
    "GIT_ALLOW_PROTOCOL": "none",
}

_OPTIONS = (
    "--no-pager",
    "--no-replace-objects",
    *("-c", "safe.directory=*"),
    *("-c", "safe.bareRepository=all"),
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.quotePath=false"),
    *("-c", "log.showSignature=false"),
)


@dataclass(frozen=True, slots=True)
class GitRepository:
    """A repository seen from one folder of it."""

    folder: Path
    """Where git runs: in a work tree the folder meant."""
    prefix: str
    """Path of the folder inside the repository, with a slash at its end; empty at the top."""
    has_work_tree: bool
    is_shallow: bool
    object_format: str
    """``sha1`` or ``sha256``."""

    def output(self, *arguments: str | bytes, data: bytes | None = None) -> bytes:
        """Run git to its end and return its standard output.

        Raises
        ------
        GitError
            If git fails; the message holds the last line it said.
        """
        done = run_git(self.folder, *arguments, data=data)
        if done.returncode:
            raise git_error(self.folder, done.stderr)
        return done.stdout

    def succeeds(self, *arguments: str | bytes) -> bool:
        """Whether git exits with 0."""
        return run_git(self.folder, *arguments).returncode == 0

    @contextmanager
    def process(
        self, *arguments: str | bytes, stderr: IO[bytes] | int = subprocess.DEVNULL
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Run git beside us, with pipes for input and output; it is killed on leaving."""
        process = subprocess.Popen(
            _command(self.folder, arguments),
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
        )
        try:
            yield process
        finally:
            process.kill()
            with suppress(BrokenPipeError):
                process.__exit__(None, None, None)


def find_repository(folder: Path) -> GitRepository | None:
    """Return the repository that a folder belongs to, or is; nothing for a plain folder.

    Raises
    ------
    GitError
        If there is one that git cannot use.
    """
    done = run_git(
        folder,
        "rev-parse",
        "--is-inside-work-tree",
        "--is-shallow-repository",
        "--show-object-format",
        "--show-prefix",
    )
    if done.returncode:
        if b"not a git repository" in done.stderr:
            return None
        raise git_error(folder, done.stderr)
    # The prefix comes last because a folder's name may hold line ends.
    inside, shallow, object_format, prefix = done.stdout.split(b"\n", 3)
    return GitRepository(
        folder=folder,
        prefix=decode_path(prefix.removesuffix(b"\n")),
        has_work_tree=inside == b"true",
        is_shallow=shallow == b"true",
        object_format=object_format.decode(),
    )


def run_git(
    folder: Path, *arguments: str | bytes, data: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run git in the folder to its end, whatever its exit code."""
    return subprocess.run(
        _command(folder, arguments),
        env=_environment(),
        input=data if data is not None else b"",
        capture_output=True,
        check=False,
    )


def git_error(folder: Path, stderr: bytes) -> GitError:
    """Return the error for what git said before it failed."""
    lines = [line for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    said = next((line for line in lines if line.startswith("fatal:")), "")
    said = said.removeprefix("fatal:").strip() or (
        lines[-1].strip() if lines else "no reason given"
    )
    where = printable_path(decode_path(os.fsencode(folder)))
    return GitError(f"git failed in {where}: {said}", path=where)


def _command(folder: Path, arguments: Sequence[str | bytes]) -> list[bytes]:
    fixed = ["git", "-C", str(folder), *_OPTIONS]
    return [
        *(os.fsencode(argument) for argument in fixed),
        *(a if isinstance(a, bytes) else encode_path(a) for a in arguments),
    ]


def _environment() -> dict[str, str]:
    inherited = os.environ.items()
    kept = {k: v for k, v in inherited if not k.startswith("GIT_") or k in _KEPT_VARIABLES}
    return kept | _OWN_VARIABLES
