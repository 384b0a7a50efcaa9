"""What is docker's own: images, paths and the removal of containers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docker
import pytest

from indexes.errors import InputError
from repair.errors import SandboxError, SandboxUnavailableError
from repair.sandbox import Limits, SandboxKind, Workspace, open_sandbox
from repair.sandbox.docker import LABEL, build_image, open_docker

pytestmark = pytest.mark.docker


@pytest.fixture
def client(docker_image: str) -> Iterator[Any]:
    found = docker.from_env()
    yield found
    found.close()


def _containers(client: Any) -> list[Any]:
    return list(client.containers.list(all=True, filters={"label": LABEL}))


def test_containers_go_after_success_failure_and_time_out(
    client: Any, docker_image: str, workspace: Workspace
) -> None:
    sandbox = open_sandbox(SandboxKind.DOCKER, image=docker_image)
    limits = Limits(wall_s=1)
    for script in ("pass", "raise SystemExit(1)", "import time; time.sleep(60)"):
        sandbox.run(["python3", "-c", script], workdir=workspace, limits=limits)
        assert _containers(client) == []


def test_containers_of_dead_processes_go_with_the_next_opening(
    client: Any, docker_image: str, workspace: Workspace
) -> None:
    script = (
        "import os, sys\nfrom repair.sandbox.docker import LABEL, _identity\n"
        "print(_identity(os.getpid()))"
    )
    dead = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    ).stdout.strip()
    others = "another-machine/pid:[1]/1:1"
    ours = {
        owner: client.containers.create(docker_image, ["sleep", "1"], labels={LABEL: owner})
        for owner in (dead, others)
    }
    try:
        open_docker(docker_image)
        assert [container.id for container in _containers(client)] == [ours[others].id]
    finally:
        ours[others].remove(force=True)


def test_an_image_is_built_from_a_base(
    client: Any, docker_image: str, workspace: Workspace
) -> None:
    tag = build_image(docker_image, ["echo built > /usr/lib/built"], tag="graphloc-test:built")
    try:
        sandbox = open_docker(tag, workdir="/testbed")
        result = sandbox.run(["sh", "-c", "pwd; cat /usr/lib/built; ls"], workdir=workspace)
        assert result.stdout == "/testbed\nbuilt\ncalc.py\ntest_calc.py\n"
    finally:
        client.images.remove(tag, force=True)


def test_a_build_that_fails_is_told(client: Any, docker_image: str) -> None:
    before = client.containers.list(all=True)
    with pytest.raises(InputError, match="graphloc-test:broken cannot be built"):
        build_image(docker_image, ["false"], tag="graphloc-test:broken")
    assert client.containers.list(all=True) == before


def test_an_image_without_python_is_told(
    client: Any, docker_image: str, workspace: Workspace
) -> None:
    tag = build_image(docker_image, ["rm /usr/bin/python3"], tag="graphloc-test:no-python")
    try:
        with pytest.raises(SandboxError, match="python3"):
            open_docker(tag).run(["true"], workdir=workspace)
        assert _containers(client) == []
    finally:
        client.images.remove(tag, force=True)


def test_a_daemon_that_does_not_answer_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    with pytest.raises(SandboxUnavailableError, match=r"no docker daemon answers.*apt-get install"):
        open_docker("any")
