"""Cloning repositories without their blobs, and fetching those of one commit later.

The only place of the evaluation that uses the network, through git itself.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from graphloc.evaluation.errors import CloneError
from indexes.model import PYTHON_SUFFIXES

_KEPT_VARIABLES = (
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_SSL_CAINFO",
)
_STALLED = ("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=60")
"""Give up below 1 kB/s for a minute: a network that swallows packets must not stop a run."""
_FETCH = (
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-write-fetch-head",
    "--recurse-submodules=no",
    "--filter=blob:none",
    "origin",
)


def clone_repository(url: str, path: Path, *, repo: str) -> Path:
    """Clone bare and without blobs; the path holds a whole clone or nothing.

    Raises
    ------
    CloneError
        If git fails, as it does without a network.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".clone-") as scratch:
        part = Path(scratch) / "part"
        _run("clone", "--quiet", "--bare", "--filter=blob:none", url, str(part), what=repo)
        if path.exists():
            shutil.rmtree(path)
        part.rename(path)
    return path


def complete_commit(path: Path, commit: str) -> None:
    """Fetch what a blobless clone lacks of one commit's Python files; others are left alone.

    Raises
    ------
    CloneError
        If something has to be fetched and git fails.
    """
    if not _succeeds(path, "config", "--get-regexp", r"^remote\.origin\.promisor$"):
        return
    if not _succeeds(path, "cat-file", "-e", f"{commit}^{{commit}}"):
        _run(*_FETCH, commit, folder=path, what=f"commit {commit}")
    absent = _absent_blobs(path, commit)
    if absent:
        _run(*_FETCH, "--stdin", folder=path, data="\n".join(absent), what=f"files of {commit}")


def commit_times(path: Path, commits: list[str]) -> dict[str, int]:
    """Return seconds since 1970 of those commits that the clone holds, without fetching any."""
    times = {}
    for commit in commits:
        done = _git(path, "show", "--no-patch", "--format=%ct", f"{commit}^{{commit}}", "--")
        if not done.returncode:
            times[commit] = int(done.stdout.split()[-1])
    return times


def _absent_blobs(path: Path, commit: str) -> list[str]:
    walk = _git(path, "rev-list", "--objects", "--missing=print", "--no-walk", commit).stdout
    absent = {line[1:] for line in walk.splitlines() if line.startswith("?")}
    if not absent:
        return []
    listed = (
        line.partition("\t") for line in _git(path, "ls-tree", "-rz", commit).stdout.split("\0")
    )
    ids = {head.split()[2] for head, _, name in listed if name.endswith(PYTHON_SUFFIXES)}
    return sorted(ids & absent)


def _succeeds(path: Path, *arguments: str) -> bool:
    return _git(path, *arguments).returncode == 0


def _git(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "-C", str(path), "--no-pager", "-c", "safe.directory=*", *arguments],
        env=_environment() | {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        check=False,
    )


def _run(*arguments: str, what: str, folder: Path | None = None, data: str = "") -> None:
    """Run git with the network."""
    where = () if folder is None else ("-C", str(folder))
    options = ("-c", "safe.directory=*", "-c", f"core.hooksPath={os.devnull}", *_STALLED)
    try:
        done = subprocess.run(
            ["git", *where, *options, *arguments],
            env=_environment(),
            input=data,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except FileNotFoundError as error:
        raise CloneError("git is not on PATH: install it") from error
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise CloneError(
            f"{what} is not at hand and cannot be fetched ({said}): "
            "name a clone with --repo-map or --repos, or connect to the network"
        )


def _environment() -> dict[str, str]:
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("GIT_") or key in _KEPT_VARIABLES
    }
    return kept | {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}
