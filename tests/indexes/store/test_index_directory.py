"""Where the index goes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import indexes
from indexes.errors import StoreError
from indexes.store import Store, index_directory

NOBODY = 65534


def test_beside_the_files_with_its_own_ignore_file(tmp_path):
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    folder = index_directory(tmp_path)
    assert folder == tmp_path / ".graphloc"
    assert (folder / ".gitignore").read_text() == "*\n"
    Store.open(folder).close()
    status = ["git", "-C", str(tmp_path), "status", "--porcelain"]
    assert subprocess.run(status, capture_output=True, check=True).stdout == b""
    assert index_directory(tmp_path) == folder


def test_the_users_choice_is_made_and_ignored_if_new(tmp_path):
    folder = index_directory(tmp_path, tmp_path / "deep/index")
    assert folder == tmp_path / "deep/index"
    assert (folder / ".gitignore").exists()
    assert not (tmp_path / ".graphloc").exists()


def test_the_users_choice_is_left_as_it_is_if_it_holds_something(tmp_path):
    (tmp_path / "notes").touch()
    index_directory(tmp_path, tmp_path)
    assert os.listdir(tmp_path) == ["notes"]


def test_a_choice_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="--index-dir"):
        index_directory(tmp_path, tmp_path / "file")


def test_a_link_that_came_with_the_repository_is_not_followed(tmp_path, monkeypatch):
    (tmp_path / "victim").mkdir()
    (tmp_path / "root").mkdir()
    (tmp_path / "root/.graphloc").symlink_to(tmp_path / "victim")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = index_directory(tmp_path / "root")
    assert folder.parent == tmp_path / "cache/graphloc"
    assert os.listdir(tmp_path / "victim") == []


def test_a_file_in_the_way(tmp_path, monkeypatch):
    (tmp_path / ".graphloc").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/does/not/count")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = index_directory(tmp_path)
    assert folder.parent == tmp_path / "home/.cache/graphloc"
    assert index_directory(tmp_path) == folder
    other = tmp_path / "other"
    other.mkdir()
    (other / ".graphloc").touch()
    assert index_directory(other) != folder


AS_NOBODY = f"""
import os, sys
from pathlib import Path
from indexes.store import index_directory
if os.geteuid() == 0:
    os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
print(index_directory(Path(sys.argv[1])))
"""


def run_as_nobody(root, cache):
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(root)],
        env=os.environ
        | {"PYTHONPATH": str(Path(indexes.__file__).parents[1]), "XDG_CACHE_HOME": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("index_is_there", [True, False])
def test_a_root_that_cannot_be_written_has_its_index_in_the_users_cache(index_is_there):
    top = Path(tempfile.mkdtemp())
    root, cache = top / "root", top / "cache"
    try:
        top.chmod(0o755)
        root.mkdir()
        cache.mkdir()
        cache.chmod(0o777)
        if index_is_there:
            Store.open(index_directory(root)).close()
            (root / ".graphloc").chmod(0o555)
        root.chmod(0o555)
        assert Path(run_as_nobody(root, cache)).parent == cache / "graphloc"
    finally:
        root.chmod(0o755)
        shutil.rmtree(top)
