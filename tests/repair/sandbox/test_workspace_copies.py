"""Workspaces: what is copied, what never is, and that nothing stays behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from indexes.errors import InputError
from repair.errors import SandboxError, UnsafePathError
from repair.sandbox import Workspace
from repair.sandbox.workspace import PREFIX


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "pkg" / "deep").mkdir(parents=True)
    (root / "pkg" / "a.py").write_bytes(b"a\r\n")
    (root / "pkg" / "deep" / "run.sh").write_bytes(b"#!/bin/sh\n")
    (root / "pkg" / "deep" / "run.sh").chmod(0o4755)
    (root / "pkg" / "bytes\udcff name").write_bytes(b"x")
    (root / "pkg" / "link.py").symlink_to("a.py")
    (root / "pkg" / "loop").symlink_to("..")
    (root / "outside").symlink_to("/etc/hostname")
    (root / "empty").mkdir()
    os.mkfifo(root / "pipe")
    for left_out in (".git", "pkg/__pycache__", ".tox"):
        (root / left_out).mkdir()
        (root / left_out / "file").write_bytes(b"x")
    (root / ".venv").mkdir()
    (root / ".venv" / "pyvenv.cfg").write_bytes(b"")
    (root / ".venv" / "big").write_bytes(b"x")
    return root


def test_the_tree_as_it_is_is_copied(tree: Path) -> None:
    os.utime(tree / "pkg" / "a.py", ns=(10**18, 10**18))
    with Workspace.copy(tree) as workspace:
        copied = {path.relative_to(workspace.root).as_posix() for path in workspace.root.rglob("*")}
        assert copied == {
            *("pkg", "pkg/a.py", "pkg/deep", "pkg/deep/run.sh", "pkg/bytes\udcff name"),
            *("pkg/link.py", "pkg/loop", "outside", "empty", ".venv"),
        }
        assert workspace.shared == (".venv",)
        assert workspace.skipped == ("pipe",)
        assert os.readlink(workspace.root / "outside") == "/etc/hostname"
        assert (workspace.root / "pkg" / "deep" / "run.sh").stat().st_mode & 0o7777 == 0o755
        status = (workspace.root / "pkg" / "a.py").stat()
        assert (status.st_mtime_ns, status.st_nlink) == (10**18, 1)
        assert status.st_ino != (tree / "pkg" / "a.py").stat().st_ino


def test_files_are_read_written_and_removed_in_the_copy_alone(tree: Path) -> None:
    with Workspace.copy(tree) as workspace:
        assert workspace.read("pkg/a.py") == b"a\r\n"
        assert workspace.read("pkg/no.py") is workspace.read("no/no.py") is None
        workspace.write("pkg/a.py", b"b\n")
        workspace.write("new/folder/c.py", b"c\n")
        workspace.write("pkg/deep/run.sh", b"#!/bin/bash\n")
        workspace.write("pkg/link.py", b"no link now\n")
        workspace.write("gone/too.py", None)
        assert workspace.read("pkg/a.py") == b"b\n"
        assert workspace.read("new/folder/c.py") == b"c\n"
        assert (workspace.root / "pkg/deep/run.sh").stat().st_mode & 0o777 == 0o755
        assert (workspace.root / "new/folder/c.py").stat().st_uid == workspace.owner
        workspace.write("pkg/a.py", None)
        assert workspace.read("pkg/a.py") is None
    assert (tree / "pkg" / "a.py").read_bytes() == b"a\r\n"
    assert not (tree / "new").exists()


@pytest.mark.parametrize(
    "path", ["../x", "/etc/x", "pkg/../../x", "", ".", ".git/config", "pkg/loop/x", "empty"]
)
def test_paths_that_lead_outside_are_refused(tree: Path, path: str) -> None:
    with Workspace.copy(tree) as workspace:
        with pytest.raises(UnsafePathError):
            workspace.write(path, b"x")
        with pytest.raises(UnsafePathError):
            workspace.read(path)


def test_links_are_not_read(tree: Path) -> None:
    with Workspace.copy(tree) as workspace:
        for path in ("outside", "pkg/link.py"):
            with pytest.raises(UnsafePathError, match="no regular file"):
                workspace.read(path)


def test_unreadable_parts_do_not_keep_a_copy_alive(tree: Path) -> None:
    workspace = Workspace.copy(tree)
    (workspace.root / "pkg" / "deep").chmod(0)
    workspace.close()
    workspace.close()
    assert not workspace.base.exists()


def test_what_a_killed_process_left_goes_with_the_next_copy(tree: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    script = (
        "import os, sys\nfrom pathlib import Path\nfrom repair.sandbox import Workspace\n"
        "Workspace.copy(Path(sys.argv[1]), parent=Path(sys.argv[2]))\nos.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script, tree, place], check=False)
    (left,) = place.iterdir()
    strange = place / f"{PREFIX}not-ours"
    strange.mkdir()
    with Workspace.copy(tree, parent=place) as used, Workspace.copy(tree, parent=place) as also:
        assert not left.exists()
        assert {*place.iterdir()} == {used.base, also.base, strange}


def test_a_file_is_no_tree(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"")
    with pytest.raises(InputError, match="not a folder"):
        Workspace.copy(file)


def test_a_workspace_inside_the_tree_is_not_copied_into_itself(tree: Path) -> None:
    with Workspace.copy(tree, parent=tree / "pkg") as workspace:
        assert workspace.base.parent == tree / "pkg"
        assert not list(workspace.root.rglob(f"{PREFIX}*"))


def test_a_place_without_room_is_told(tree: Path) -> None:
    with pytest.raises(SandboxError, match="cannot copy"):
        Workspace.copy(tree, parent=tree / "no" / "such")
