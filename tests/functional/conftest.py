"""The command line as people run it: a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.functional.sample_trees import make_repository

PROJECT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Result:
    """What a run left behind."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """The document on stdout."""
        return json.loads(self.out)


@dataclass(frozen=True)
class CommandLine:
    """Runs graphloc in a folder."""

    folder: Path

    def environment(self, extra: Mapping[str, str] = {}) -> dict[str, str]:
        kept = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("GIT_", "LC_")) and key not in {"COLUMNS", "NO_COLOR", "LANG"}
        }
        home = str(self.folder / "home")
        return kept | {"PYTHONPATH": str(PROJECT), "HOME": home, "LANG": "C.UTF-8", **extra}

    def start(self, *arguments: object, **options: Any) -> subprocess.Popen[bytes]:
        """Start it and return at once."""
        settings: dict[str, Any] = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "cwd": self.folder,
            "env": self.environment(),
        }
        return subprocess.Popen(self.command(*arguments), **(settings | options))

    def __call__(
        self,
        *arguments: object,
        stdin: bytes = b"",
        cwd: Path | None = None,
        env: Mapping[str, str] = {},
    ) -> Result:
        done = subprocess.run(
            self.command(*arguments),
            input=stdin,
            cwd=cwd or self.folder,
            env=self.environment(env),
            capture_output=True,
            check=False,
        )
        out, err = (text.decode("utf-8", "surrogateescape") for text in (done.stdout, done.stderr))
        assert "Traceback" not in err or "--debug" in arguments, err
        return Result(done.returncode, out, err)

    @staticmethod
    def command(*arguments: object) -> list[str | bytes]:
        start: list[str | bytes] = [sys.executable, "-W", "error", "-m", "graphloc"]
        return start + [a if isinstance(a, bytes) else str(a) for a in arguments]


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    """Runs graphloc in the test's own folder."""
    return CommandLine(tmp_path)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A small repository with one commit."""
    return make_repository(tmp_path / "shop")
