"""Work trees: what is listed, what is left out and recorded, what is read."""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
from pathlib import Path

import pytest

from indexes.source import open_source, printable_path


def paths_of(source):
    return [entry.path for entry in source.entries()]


def reasons_of(source):
    return {item.path: item.reason for item in source.missing}


def test_lists_tracked_and_untracked_but_not_ignored_or_deleted_files(repository):
    repository.write(".gitignore", "*.log\nbuild/\n")
    repository.write("x.log", "no")
    repository.write("build/gen.py", "no")
    repository.write("new.py", "new = 1\n")
    (repository.path / "pkg/data.bin").unlink()
    source = open_source(repository.path)
    assert source.revision == "worktree"
    assert paths_of(source) == [".gitignore", "new.py", "pkg/a.py", "tool"]
    assert source.missing == []


def test_blob_ids_are_those_git_computes(repository):
    repository.write("new.py", "new = 1\n")
    for entry in open_source(repository.path).entries():
        assert entry.blob_id == repository.git("hash-object", "--no-filters", entry.path)
        assert entry.size == (repository.path / entry.path).stat().st_size


def test_blob_ids_of_a_sha256_repository(make_repository):
    repository = make_repository("long", "--object-format=sha256")
    repository.write("a.py", "a = 1\n")
    commit = repository.commit()
    (entry,) = open_source(repository.path).entries()
    assert entry.blob_id == repository.git("hash-object", "a.py")
    assert len(entry.blob_id) == 64
    revision = open_source(repository.path, "HEAD")
    assert revision.revision == commit
    assert revision.entries() == [entry]
    assert [data for _, data in revision.read([entry])] == [b"a = 1\n"]


def test_executable_bit(repository):
    entries = {entry.path: entry for entry in open_source(repository.path).entries()}
    assert entries["tool"].executable
    assert not entries["pkg/a.py"].executable


def test_reads_in_the_order_asked_for(repository):
    source = open_source(repository.path)
    entries = source.entries()[::-1]
    read = list(source.read(entries))
    assert [entry for entry, _ in read] == entries
    assert dict((e.path, d) for e, d in read)["pkg/a.py"] == b"a = 2\n"


def test_a_file_that_changes_after_listing_is_read_with_its_new_id(repository):
    source = open_source(repository.path)
    entry = next(e for e in source.entries() if e.path == "pkg/a.py")
    repository.write("pkg/a.py", "a = 33\n")
    ((changed, data),) = source.read([entry])
    assert data == b"a = 33\n"
    assert changed.blob_id == repository.git("hash-object", "pkg/a.py") != entry.blob_id
    assert changed.size == len(data)


def test_a_file_that_vanishes_after_listing_is_recorded(repository):
    source = open_source(repository.path)
    entries = source.entries()
    (repository.path / "tool").unlink()
    assert "tool" not in [entry.path for entry, _ in source.read(entries)]
    assert reasons_of(source) == {"tool": "No such file or directory"}


def test_a_sub_folder_stands_alone(repository):
    repository.write(".gitignore", "*.log\n")
    repository.write("pkg/x.log", "no")
    source = open_source(repository.path / "pkg")
    assert source.root == repository.path / "pkg"
    assert paths_of(source) == ["a.py", "data.bin"]


def test_a_folder_that_its_repository_ignores_is_a_plain_folder(repository):
    repository.write(".gitignore", "build/\n")
    repository.write("build/gen.py", "gen = 1\n")
    source = open_source(repository.path / "build")
    assert paths_of(source) == ["gen.py"]
    assert not source.has_history


def test_a_linked_worktree(repository, tmp_path):
    linked = tmp_path / "linked"
    repository.git("worktree", "add", "--quiet", "--detach", str(linked), "HEAD~1")
    source = open_source(linked)
    assert paths_of(source) == ["old.py", "pkg/a.py", "pkg/data.bin"]
    assert [commit.message for commit in source.commits(9)] == ["first"]


def test_an_empty_repository_lists_its_untracked_files(make_repository):
    repository = make_repository("empty")
    source = open_source(repository.path)
    assert paths_of(source) == []
    repository.write("a.py", "")
    assert paths_of(source) == ["a.py"]
    assert not source.has_history
    assert list(source.commits(5)) == []


def test_submodules_and_nested_repositories_are_recorded(make_repository):
    inner = make_repository("inner")
    inner.write("i.py", "i = 1\n")
    inner.commit()
    outer = make_repository("outer")
    outer.write("o.py", "o = 1\n")
    outer.git("add", "o.py")
    outer.git("submodule", "--quiet", "add", str(inner.path), "libs/sub")
    nested = make_repository("outer/nested")
    nested.write("n.py", "n = 1\n")
    nested.commit()
    outer.git("commit", "--quiet", "-am", "with a submodule")
    source = open_source(outer.path)
    assert paths_of(source) == [".gitmodules", "o.py"]
    assert reasons_of(source) == {"libs/sub": "submodule", "nested": "another repository"}
    revision = open_source(outer.path, "HEAD")
    assert paths_of(revision) == [".gitmodules", "o.py"]
    assert reasons_of(revision) == {"libs/sub": "submodule"}


def test_a_tracked_file_that_became_a_folder(repository):
    (repository.path / "tool").unlink()
    repository.write("tool/run.py", "run = 1\n")
    source = open_source(repository.path)
    assert paths_of(source) == ["pkg/a.py", "pkg/data.bin", "tool/run.py"]
    assert source.missing == []


def test_a_tracked_folder_that_became_a_link_is_not_followed(repository, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    (repository.path / "pkg").rename(elsewhere)
    (repository.path / "pkg").symlink_to(elsewhere)
    source = open_source(repository.path)
    assert paths_of(source) == ["tool"]
    assert reasons_of(source) == {"pkg": "link leaves the root"}


@pytest.mark.parametrize("rev", [None, "HEAD"])
def test_links_are_followed_to_files_inside_only(repository, tmp_path, rev):
    (tmp_path / "secret.py").write_text("secret = 1\n")
    root = repository.path
    (root / "alias.py").symlink_to("pkg/a.py")
    (root / "pkg/chain.py").symlink_to("../alias.py")
    (root / "out.py").symlink_to("../secret.py")
    (root / "absolute.py").symlink_to("/etc/hostname")
    (root / "loop.py").symlink_to("loop.py")
    (root / "dangling.py").symlink_to("nowhere.py")
    (root / "folder").symlink_to("pkg")
    (root / "through.py").symlink_to("folder/a.py")
    repository.commit()
    source = open_source(root, rev)
    entries = {entry.path: entry for entry in source.entries()}
    assert list(entries) == [
        "alias.py", "pkg/a.py", "pkg/chain.py", "pkg/data.bin", "through.py", "tool",
    ]  # fmt: skip
    assert {data for _, data in source.read([entries["alias.py"], entries["through.py"]])} == {
        b"a = 2\n"
    }
    assert entries["pkg/chain.py"].blob_id == entries["pkg/a.py"].blob_id
    reasons = reasons_of(source)
    assert reasons["out.py"] == reasons["absolute.py"] == "link leaves the root"
    assert reasons["dangling.py"] == reasons["folder"] == "link leads to no file"
    assert sorted(reasons) == ["absolute.py", "dangling.py", "folder", "loop.py", "out.py"]


def test_a_link_into_the_repository_itself_is_not_followed(repository):
    (repository.path / "config.py").symlink_to(".git/config")
    source = open_source(repository.path)
    assert "config.py" not in paths_of(source)


def test_pipes_and_sockets_are_recorded_and_do_not_block(repository, monkeypatch):
    # Git does not list untracked ones; a tracked name can still stand for one.
    (repository.path / "tool").unlink()
    os.mkfifo(repository.path / "tool")
    (repository.path / "pkg/a.py").unlink()
    monkeypatch.chdir(repository.path / "pkg")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("a.py")
        source = open_source(repository.path)
        assert paths_of(source) == ["pkg/data.bin"]
    assert reasons_of(source) == {"pkg/a.py": "a socket", "tool": "a named pipe"}


@pytest.mark.parametrize("rev", [None, "HEAD"])
def test_names_with_line_ends_tabs_and_bytes_that_are_not_utf8(repository, rev):
    names = [b"new\nline.py", b'tab\tand "quote".py', b"latin-\xe9.py", "Grüße.py".encode()]
    for name in names:
        with open(os.path.join(os.fsencode(repository.path), name), "wb") as file:
            file.write(name)
    repository.commit()
    source = open_source(repository.path, rev)
    entries = [e for e in source.entries() if e.path.endswith("py") and "/" not in e.path]
    read = {entry.path.encode("utf-8", "surrogateescape"): d for entry, d in source.read(entries)}
    assert read == {name: name for name in names}


def test_printable_path_can_be_encoded():
    assert printable_path("pkg/Grüße.py") == "pkg/Grüße.py"
    assert printable_path("a\nb\t\udce9.py") == r"a\nb\t\xe9.py"


def test_unreadable_files_are_recorded(public_path, run_unprivileged):
    subprocess.run(["git", "init", "--quiet", str(public_path)], check=True)
    (public_path / "a.py").write_text("a = 1\n")
    (public_path / "closed.py").write_text("b = 1\n")
    (public_path / "closed.py").chmod(0)
    code = (
        "source = open_source(Path(sys.argv[1]))\n"
        "print([e.path for e in source.entries()], source.missing)"
    )
    said = run_unprivileged(code, str(public_path))
    assert said.startswith("['a.py'] ")
    assert "path='closed.py', reason='Permission denied'" in said


def test_conflicting_files_are_listed_once(repository):
    repository.git("checkout", "--quiet", "-b", "other", "HEAD~1")
    repository.write("pkg/a.py", "a = 3\n")
    repository.commit()
    with pytest.raises(subprocess.CalledProcessError):
        repository.git("merge", "--quiet", "main")
    assert paths_of(open_source(repository.path)).count("pkg/a.py") == 1


def test_a_source_can_be_sent_to_another_process(repository):
    source = open_source(repository.path)
    entries = source.entries()
    copy = pickle.loads(pickle.dumps(source))
    assert list(copy.read(entries)) == list(source.read(entries))
    assert isinstance(copy.root, Path)


def test_wanted_leaves_files_out_before_they_are_read(repository):
    asked = []

    def wanted(path, executable):
        asked.append((path, executable))
        return path.endswith(".py")

    source = open_source(repository.path)
    assert [entry.path for entry in source.entries(wanted=wanted)] == ["pkg/a.py"]
    assert ("tool", True) in asked
    assert [e.path for e in open_source(repository.path, "HEAD").entries(wanted=wanted)] == [
        "pkg/a.py"
    ]
