"""Plain folders, and machines without git."""

from __future__ import annotations

import os

import pytest

from indexes.errors import InputError, RepositoryNotFoundError, RevisionNotFoundError
from indexes.source import open_source


def write(root, *paths, text="x = 1\n"):
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def paths_of(source):
    return [entry.path for entry in source.entries()]


def test_litter_is_left_out(tmp_path):
    write(
        tmp_path,
        *("a.py", "pkg/b.py", "pkg/__pycache__/b.pyc", "node_modules/m/i.py", ".tox/t.py"),
        *(".graphloc/index.sqlite", ".git/config", ".hg/store", "env/pyvenv.cfg", "env/lib/x.py"),
    )
    source = open_source(tmp_path)
    assert paths_of(source) == ["a.py", "pkg/b.py"]
    assert source.revision == "worktree"
    assert not source.has_history
    assert list(source.commits(3)) == []


def test_ignore_files_count_and_deeper_ones_win(tmp_path):
    write(tmp_path, "a.py", "a.log", "out/o.py", "pkg/b.log", "pkg/keep.log", "pkg/deep/keep.log")
    write(tmp_path, ".gitignore", text="*.log\n/out/\n")
    write(tmp_path, "pkg/.gitignore", text="!keep.log\n")
    write(tmp_path, "pkg/deep/.gitignore", text="keep.log\n")
    assert paths_of(open_source(tmp_path)) == [
        ".gitignore", "a.py", "pkg/.gitignore", "pkg/deep/.gitignore", "pkg/keep.log",
    ]  # fmt: skip


def test_links_to_folders_are_not_walked(tmp_path):
    write(tmp_path / "root", "pkg/a.py")
    (tmp_path / "root/pkg/up").symlink_to("..")
    (tmp_path / "root/b.py").symlink_to("pkg/a.py")
    source = open_source(tmp_path / "root")
    assert paths_of(source) == ["b.py", "pkg/a.py"]
    assert [(item.path, item.reason) for item in source.missing] == [
        ("pkg/up", "link leaves the root")
    ]


def test_pipes_are_recorded(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    source = open_source(tmp_path)
    assert paths_of(source) == []
    assert [(item.path, item.reason) for item in source.missing] == [("pipe", "a named pipe")]


def test_closed_folders_are_recorded(public_path, run_unprivileged):
    write(public_path, "a.py", "closed/b.py")
    (public_path / "closed").chmod(0)
    code = (
        "source = open_source(Path(sys.argv[1]))\n"
        "print([e.path for e in source.entries()], source.missing)"
    )
    said = run_unprivileged(code, str(public_path))
    (public_path / "closed").chmod(0o755)
    assert said.startswith("['a.py'] ")
    assert "path='closed', reason='Permission denied'" in said


def test_blob_ids_are_gits(tmp_path):
    write(tmp_path, "a.py", text="hello\n")
    (entry,) = open_source(tmp_path).entries()
    assert entry.blob_id == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_a_revision_of_a_plain_folder(tmp_path):
    with pytest.raises(RevisionNotFoundError, match="is in no git repository"):
        open_source(tmp_path, "HEAD")


@pytest.mark.parametrize(("name", "reason"), [("nowhere", "does not exist"), ("file", "is a file")])
def test_what_is_no_folder(tmp_path, name, reason):
    write(tmp_path, "file")
    with pytest.raises(RepositoryNotFoundError, match=reason):
        open_source(tmp_path / name)


def test_a_link_that_goes_in_circles_is_no_folder(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(RepositoryNotFoundError, match="does not exist"):
        open_source(tmp_path / "loop")


def test_without_git_a_work_tree_is_a_plain_folder(repository, monkeypatch, tmp_path):
    bare = tmp_path / "bare.git"
    repository.git("clone", "--quiet", "--bare", ".", str(bare))
    monkeypatch.setenv("PATH", str(tmp_path))
    source = open_source(repository.path)
    assert paths_of(source) == ["pkg/a.py", "pkg/data.bin", "tool"]
    assert len(list(source.read(source.entries()))) == 3
    with pytest.raises(InputError, match="git is not on PATH"):
        open_source(repository.path, "HEAD")
    with pytest.raises(InputError, match="git is not on PATH"):
        open_source(bare)
