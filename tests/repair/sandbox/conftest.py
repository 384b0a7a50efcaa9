"""Each kind of sandbox, opened once, with the Python that runs inside it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from repair.errors import SandboxUnavailableError
from repair.sandbox import (
    Limits,
    RunResult,
    Sandbox,
    SandboxKind,
    Workspace,
    find_python_environment,
    open_sandbox,
)

IMAGE = "graphloc-test:latest"
HERE = Path(__file__).parent
REPOSITORY = HERE.parents[2]


@dataclass(frozen=True)
class Bench:
    """A sandbox, the Python in it, and a word by which its processes are known outside."""

    sandbox: Sandbox
    python: str
    word: str

    def run(self, script: str, workspace: Workspace, *arguments: str, **limits: float) -> RunResult:
        command = [self.python, "-c", script, *arguments, self.word]
        bounds = {"wall_s": 20.0, "processes": 40, **limits}
        return self.sandbox.run(command, workdir=workspace, limits=Limits(**bounds))

    def left(self) -> list[str]:
        """Command lines of processes that still run, after a moment for them to go."""
        for _ in range(100):
            found = [line for line in _command_lines() if self.word in line]
            if not found:
                return []
            time.sleep(0.05)
        return found


def _command_lines() -> Iterator[str]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
            except OSError:
                continue
            if state != "Z":
                yield line.decode("utf-8", "replace")


@pytest.fixture(scope="session")
def docker_image() -> str:
    """An image with python3 and pytest; made if it is not there."""
    try:
        open_sandbox(SandboxKind.DOCKER, image=IMAGE)
    except SandboxUnavailableError as error:
        if "no docker daemon answers" in error.message:
            pytest.skip(error.message)
        environment = {**os.environ, "PYTHON": sys.executable}
        subprocess.run([HERE / "make_image.sh", IMAGE], check=True, env=environment)
    return IMAGE


@pytest.fixture(
    params=[
        SandboxKind.BUBBLEWRAP,
        pytest.param(SandboxKind.DOCKER, marks=pytest.mark.docker),
        SandboxKind.LOCAL,
    ]
)
def bench(request: pytest.FixtureRequest) -> Bench:
    """One kind after the other."""
    kind: SandboxKind = request.param
    image = request.getfixturevalue("docker_image") if kind is SandboxKind.DOCKER else None
    roots = find_python_environment(Path(sys.executable)).roots
    python = "python3" if image else sys.executable
    return Bench(open_sandbox(kind, readonly=roots, image=image), python, uuid.uuid4().hex)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small work tree."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    (root / "test_calc.py").write_text(
        "from calc import add\n\ndef test_add():\n    assert add(1, 2) == 3\n"
    )
    return root


@pytest.fixture
def workspace(project: Path) -> Iterator[Workspace]:
    """A copy of the small work tree."""
    with Workspace.copy(project) as copy:
        yield copy
