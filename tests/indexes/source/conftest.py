"""Real repositories, made by git itself in temporary folders."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import indexes

NOBODY = 65534
CODE = Path(indexes.__file__).parents[1]


class Repository:
    """A folder in which git may be run, with an identity and without the user's settings."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def git(self, *arguments: str | bytes) -> str:
        settings = ("user.name=A", "user.email=a@example.org", "protocol.file.allow=always")
        options = [part for setting in settings for part in ("-c", setting)]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        done = subprocess.run(
            ["git", *options, *arguments],
            cwd=self.path,
            env=environment | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
            capture_output=True,
            check=True,
        )
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, path: str, data: bytes | str) -> Path:
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data.encode() if isinstance(data, str) else data)
        return target

    def commit(self, message: str = "change") -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def make_repository(tmp_path: Path) -> Callable[..., Repository]:
    def make(name: str = "repo", *options: str) -> Repository:
        path = tmp_path / name
        path.mkdir(parents=True)
        repository = Repository(path)
        repository.git("init", "--quiet", "--initial-branch=main", *options)
        return repository

    return make


@pytest.fixture
def repository(make_repository: Callable[..., Repository]) -> Repository:
    """Two commits: the second changes ``pkg/a.py``, deletes ``old.py`` and adds ``tool``."""
    repository = make_repository()
    repository.write("pkg/a.py", "a = 1\n")
    repository.write("pkg/data.bin", bytes(range(256)) * 300)
    repository.write("old.py", "old = 1\n")
    repository.commit("first")
    repository.write("pkg/a.py", "a = 2\n")
    (repository.path / "old.py").unlink()
    repository.write("tool", "#!/usr/bin/env python3\n").chmod(0o755)
    repository.commit("second\n\nwith a body")
    return repository


@pytest.fixture
def public_path() -> Iterator[Path]:
    """A folder that users without privileges can enter, unlike pytest's own."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def run_unprivileged() -> Callable[..., str]:
    """Run Python code as a user whom permissions concern; returns what it prints.

    The interpreter itself may lie where only root can go, so rights are dropped after the imports.
    """

    def run(code: str, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", _DROP_RIGHTS + code, *arguments],
            env=os.environ | {"PYTHONPATH": str(CODE)},
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


_DROP_RIGHTS = f"""
import os, sys
from pathlib import Path
from indexes.source import open_source
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid({NOBODY})
    os.setuid({NOBODY})
"""
