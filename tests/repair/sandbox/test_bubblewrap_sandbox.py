"""What is bubblewrap's own: mounts, the ordinary user's way, and its absence."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import pytest

from indexes.errors import InputError
from repair.errors import SandboxUnavailableError
from repair.sandbox import SandboxKind, Workspace, find_python_environment, open_sandbox

from .conftest import REPOSITORY

SYSTEM_PYTHON = Path("/usr/bin/python3")


def test_the_copy_stands_at_the_originals_path(workspace: Workspace) -> None:
    sandbox = open_sandbox()
    assert sandbox.kind is SandboxKind.BUBBLEWRAP
    result = sandbox.run(["sh", "-c", "pwd; ls; echo changed > calc.py"], workdir=workspace)
    assert result.stdout == f"{workspace.source}\ncalc.py\ntest_calc.py\n"
    assert workspace.read("calc.py") == b"changed\n"
    assert (workspace.source / "calc.py").read_text() != "changed\n"


def test_an_environment_inside_the_tree_is_shared_read_only(project: Path) -> None:
    venv.create(project / ".venv", symlinks=True)
    roots = find_python_environment(project / ".venv" / "bin" / "python").roots
    sandbox = open_sandbox(readonly=roots)
    script = "import sys, calc; print(sys.prefix); open(sys.prefix + '/x', 'w')"
    with Workspace.copy(project) as workspace:
        command = [".venv/bin/python", "-c", script]
        result = sandbox.run(command, workdir=workspace)
    assert result.stdout == f"{project}/.venv\n"
    assert "Read-only file system" in result.stderr


def test_what_holds_the_home_folder_is_not_shown() -> None:
    for path in (Path("/"), Path.home()):
        with pytest.raises(InputError, match="holds your home folder"):
            open_sandbox(SandboxKind.BUBBLEWRAP, readonly=[path])


@pytest.mark.parametrize("kind", [None, SandboxKind.BUBBLEWRAP])
def test_its_absence_is_told_with_the_cure(
    kind: SandboxKind | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxUnavailableError, match="apt-get install bubblewrap"):
        open_sandbox(kind)


def test_a_kernel_that_refuses_is_told_in_its_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    refusing = tmp_path / "bwrap"
    refusing.write_text("#!/bin/sh\necho bwrap: No permissions to create >&2\nexit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(SandboxUnavailableError, match="bwrap: No permissions to create"):
        open_sandbox(SandboxKind.BUBBLEWRAP)


_AS_USER = """\
import json, sys
from pathlib import Path
from repair.sandbox import *
script = '''
import json, os, signal, socket
def works(what, *arguments):
    try:
        what(*arguments)
        return True
    except OSError:
        return False
def fork():
    if not os.fork():
        signal.pause()
forks = 0
while forks < 500 and works(fork):
    forks += 1
print(json.dumps({
    "uid": os.getuid(),
    "forks": forks,
    "root": works(open, "/x", "w"),
    "dev": works(open, "/dev/x", "w"),
    "sysctl": works(open, "/proc/sys/kernel/core_pattern", "w"),
    "workspace": works(open, "x", "w"),
    "tmp": works(open, "/tmp/x", "w"),
    "shm": works(open, "/dev/shm/x", "w"),
    "network": works(socket.create_connection, ("127.0.0.1", 22), 1),
    "home": sorted(os.listdir("/home")) if os.path.isdir("/home") else [],
    "processes": sum(name.isdigit() for name in os.listdir("/proc")) - forks < 10,
    "namespace": os.system("unshare --user true 2>/dev/null") == 0,
}))
'''
with Workspace.copy(Path(sys.argv[1])) as workspace:
    sandbox = open_sandbox(SandboxKind.BUBBLEWRAP)
    limits = Limits(processes=50, wall_s=20)
    result = sandbox.run(["python3", "-c", script], workdir=workspace, limits=limits)
    print(json.dumps([result.stdout, result.stderr, str(workspace.base)]))
"""


def test_an_ordinary_user_is_as_safe() -> None:
    """Run as user 1000 if we are root: the way through user namespaces has to be tested too."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        for package in ("repair", "indexes"):
            shutil.copytree(REPOSITORY / package, place / package)
        (place / "tree").mkdir()
        user = {} if os.geteuid() else {"user": 1000, "group": 1000, "extra_groups": []}
        python = sys.executable if os.geteuid() else SYSTEM_PYTHON
        done = subprocess.run(
            [python, "-B", "-c", _AS_USER, place / "tree"],
            cwd=place,
            env={"PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=True,
            **user,
        )
    stdout, stderr, base = json.loads(done.stdout)
    assert stderr == ""
    found = json.loads(stdout)
    assert 0 < found.pop("forks") < 50
    assert found == {
        "uid": 1000,
        **dict.fromkeys(("root", "dev", "sysctl", "network", "namespace"), False),
        **dict.fromkeys(("workspace", "tmp", "shm", "processes"), True),
        "home": [],
    }
    assert not Path(base).exists()
