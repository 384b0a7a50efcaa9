"""Small real git repositories, and datasets about them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

CALC = """\
import os

LIMIT = 10


class Adder:
    step = 1

    def __init__(self, start):
        self.start = start

    def add(self, value):
        total = self.start + value
        return total

    @property
    def double(self):
        return 2 * self.start


def outer(items):
    def inner(item):
        return item + 1

    return [inner(item) for item in items]


def last():
    return LIMIT
"""


def git(folder: Path, *arguments: str) -> str:
    """Run git and return what it says."""
    settings = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", *settings, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout


@dataclass(frozen=True)
class SampleRepository:
    """A repository at `path`; files are text by path, None deletes one."""

    path: Path

    @classmethod
    def create(cls, path: Path, files: Mapping[str, str]) -> SampleRepository:
        path.mkdir(parents=True)
        git(path, "init", "--quiet", "--initial-branch=main")
        made = cls(path)
        made.commit(files)
        return made

    def write(self, files: Mapping[str, str | None]) -> None:
        for name, text in files.items():
            file = self.path / name
            if text is None:
                file.unlink()
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(text.encode())

    def commit(self, files: Mapping[str, str | None]) -> str:
        self.write(files)
        git(self.path, "add", "--all")
        git(self.path, "commit", "--quiet", "--allow-empty", "--message", "change")
        return self.head()

    def head(self) -> str:
        return git(self.path, "rev-parse", "HEAD").strip()

    def patch(self, files: Mapping[str, str | None]) -> str:
        """Return the diff that the changes make, and take them back."""
        self.write(files)
        git(self.path, "add", "--all")
        diff = git(self.path, "diff", "--cached", "--find-renames")
        git(self.path, "reset", "--quiet", "--hard")
        return diff


def line(instance_id: str, repo: str, base_commit: str, **fields: object) -> str:
    """Return one line of a dataset."""
    record = {
        "instance_id": instance_id,
        "repo": repo,
        "base_commit": base_commit,
        "problem_statement": "Adder.add loses the value",
        **fields,
    }
    return json.dumps(record)


def write_lines(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path
