"""A real git to check diffs with."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from repair.patch import Patch

Apply = Callable[[Mapping[str, bytes], Patch], dict[str, bytes]]


@pytest.fixture(scope="session")
def git_apply(tmp_path_factory: pytest.TempPathFactory) -> Apply:
    """Return a function that lets git apply a patch to files and returns what is there then."""

    def apply(files: Mapping[str, bytes], patch: Patch) -> dict[str, bytes]:
        root = tmp_path_factory.mktemp("git")
        subprocess.run(["git", "init", "-q", root], check=True)
        for path, data in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        for option in (["--check"], []):
            done = subprocess.run(
                ["git", "-c", "core.autocrlf=false", "apply", *option, "-"],
                cwd=root,
                input=patch.diff,
                capture_output=True,
                check=False,
            )
            assert done.returncode == 0, (done.stderr, patch.diff)
        return {
            file.relative_to(root).as_posix(): file.read_bytes()
            for file in root.rglob("*")
            if file.is_file() and Path(".git") not in file.relative_to(root).parents
        }

    return apply
