"""Git revisions: bare, shallow and partial clones, sub-folders, errors; never a checkout."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess

import pytest

from indexes.errors import GitError, RevisionNotFoundError
from indexes.source import open_source


def paths_of(source):
    return [entry.path for entry in source.entries()]


def clone(repository, tmp_path, *options):
    """Clone over a real transport, so that depth and filter count; the origin is gone after."""
    repository.git("config", "uploadpack.allowFilter", "true")
    target = tmp_path / "clone"
    origin = repository.path.as_uri()
    subprocess.run(["git", "clone", "--quiet", *options, origin, str(target)], check=True)
    return target


def test_a_revision_is_read_beside_the_work_tree(repository):
    repository.write("pkg/a.py", "uncommitted = 1\n")
    source = open_source(repository.path, "HEAD~1")
    assert source.revision == repository.git("rev-parse", "HEAD~1")
    assert paths_of(source) == ["old.py", "pkg/a.py", "pkg/data.bin"]
    read = {entry.path: data for entry, data in source.read(source.entries())}
    assert read["pkg/a.py"] == b"a = 1\n"
    assert read["pkg/data.bin"] == bytes(range(256)) * 300
    assert source.missing == []


def test_entries_agree_with_the_work_tree(repository):
    assert open_source(repository.path, "main").entries() == open_source(repository.path).entries()


def test_a_bare_repository_means_its_head(repository, tmp_path):
    bare = clone(repository, tmp_path, "--bare")
    source = open_source(bare)
    assert source.root == bare
    assert source.revision == repository.git("rev-parse", "HEAD")
    assert paths_of(source) == ["pkg/a.py", "pkg/data.bin", "tool"]
    assert len(list(source.read(source.entries()))) == 3


def test_the_git_folder_of_a_work_tree_counts_as_bare(repository):
    assert paths_of(open_source(repository.path / ".git")) == ["pkg/a.py", "pkg/data.bin", "tool"]


def test_a_sub_folder_of_a_revision(repository):
    source = open_source(repository.path / "pkg", "HEAD")
    assert paths_of(source) == ["a.py", "data.bin"]
    assert [data for _, data in source.read(source.entries()[:1])] == [b"a = 2\n"]


def test_a_sub_folder_that_the_revision_lacks(repository):
    (repository.path / "later").mkdir()
    with pytest.raises(RevisionNotFoundError, match="has no folder later"):
        open_source(repository.path / "later", "HEAD").entries()


def test_detached_head_tags_and_short_ids(repository):
    commit = repository.git("rev-parse", "HEAD~1")
    repository.git("tag", "-a", "v1", "-m", "tag", commit)
    repository.git("checkout", "--quiet", "--detach", commit)
    for rev in ("HEAD", "v1", commit[:9]):
        assert open_source(repository.path, rev).revision == commit


@pytest.mark.parametrize("rev", ["nowhere", "f" * 40, "", "--all", "HEAD:pkg", "a\0b", "\udcff"])
def test_an_unknown_revision_is_named(repository, rev):
    with pytest.raises(RevisionNotFoundError, match="check the name, or fetch it") as caught:
        open_source(repository.path, rev)
    assert caught.value.values["revision"] == rev
    caught.value.message.encode()


def test_an_empty_repository_has_no_revision(make_repository):
    bare = make_repository("empty.git", "--bare")
    with pytest.raises(RevisionNotFoundError, match="HEAD has no commit yet"):
        open_source(bare.path)


def test_a_shallow_clone_reads_what_it_has_and_says_how_to_get_the_rest(repository, tmp_path):
    shallow = clone(repository, tmp_path, "--depth=1")
    assert paths_of(open_source(shallow, "HEAD")) == ["pkg/a.py", "pkg/data.bin", "tool"]
    with pytest.raises(RevisionNotFoundError, match="fetch --unshallow"):
        open_source(shallow, repository.git("rev-parse", "HEAD~1"))


@pytest.fixture(params=["new git", "old git"])
def git_age(request, tmp_path, monkeypatch):
    """Old versions of git do not know the variable that forbids lazy fetching."""
    if request.param == "old git":
        folder = tmp_path / "bin"
        folder.mkdir()
        script = folder / "git"
        real = shutil.which("git")
        script.write_text(f'#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec {real} "$@"\n')
        script.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


@pytest.mark.usefixtures("git_age")
@pytest.mark.parametrize("origin_is_there", [True, False])
def test_a_blobless_clone_reports_what_it_lacks_and_fetches_nothing(
    repository, tmp_path, origin_is_there
):
    partial = clone(repository, tmp_path, "--filter=blob:none")  # its checkout fetched HEAD's
    old = repository.git("rev-parse", "HEAD~1")
    if not origin_is_there:
        shutil.rmtree(repository.path)
    objects = sorted(path for path in (partial / ".git/objects").rglob("*"))
    source = open_source(partial, "HEAD")
    assert len(list(source.read(source.entries()))) == 3
    assert source.missing == []
    past = open_source(partial, old)
    assert paths_of(past) == ["pkg/data.bin"]
    assert [(item.path, "lacks this blob" in item.reason) for item in past.missing] == [
        ("old.py", True),
        ("pkg/a.py", True),
    ]
    with pytest.raises(RevisionNotFoundError):
        open_source(partial, "f" * 40)
    assert sorted(path for path in (partial / ".git/objects").rglob("*")) == objects


def test_a_bare_blobless_clone_lists_nothing_but_knows_its_history(repository, tmp_path):
    source = open_source(clone(repository, tmp_path, "--bare", "--filter=blob:none"))
    assert source.entries() == []
    assert len(source.missing) == 3
    assert [commit.message for commit in source.commits(5)] == ["second\n\nwith a body", "first"]


def test_a_treeless_clone_gives_an_error_for_what_it_lacks(repository, tmp_path):
    treeless = clone(repository, tmp_path, "--bare", "--filter=tree:0")
    with pytest.raises(GitError, match="git failed in"):
        open_source(treeless).entries()


def test_a_blob_that_vanished_or_is_damaged_does_not_stop_the_others(repository):
    for number in range(5):
        repository.write(f"n{number}.py", f"n = {number}\n")
    repository.commit()
    source = open_source(repository.path, "HEAD")
    entries = source.entries()
    ids = {entry.path: entry.blob_id for entry in entries}

    def stored(path):
        return repository.path / ".git/objects" / ids[path][:2] / ids[path][2:]

    stored("n1.py").unlink()
    stored("n3.py").chmod(0o644)
    stored("n3.py").write_bytes(b"this is not zlib")
    read = [entry.path for entry, _ in source.read(entries)]
    assert read == ["n0.py", "n2.py", "n4.py", "pkg/a.py", "pkg/data.bin", "tool"]
    assert [item.path for item in source.missing] == ["n1.py", "n3.py"]
    listed = open_source(repository.path, "HEAD")
    assert "n1.py" not in paths_of(listed)


def test_thousands_of_blobs_and_a_huge_one(make_repository):
    repository = make_repository()
    for number in range(1500):
        repository.write(f"f{number:04}.py", f"n = {number}\n" * 50)
    repository.write("huge.bin", os.urandom(1 << 20) * 12)
    repository.commit()
    source = open_source(repository.path, "HEAD")
    entries = source.entries()
    read = {entry.path: data for entry, data in source.read(entries)}
    assert len(read) == 1501
    assert read["f0777.py"] == b"n = 777\n" * 50
    assert all(len(read[entry.path]) == entry.size for entry in entries)


def test_reading_can_stop_early(repository):
    source = open_source(repository.path, "HEAD")
    reading = source.read(source.entries())
    entry, data = next(reading)
    reading.close()
    assert (entry.path, data) == ("pkg/a.py", b"a = 2\n")


def test_replaced_objects_are_read_as_they_were_committed(repository):
    first, second = (repository.git("rev-parse", f"{rev}:pkg/a.py") for rev in ("main~1", "main"))
    repository.git("replace", second, first)
    source = open_source(repository.path, "HEAD")
    assert [data for e, data in source.read(source.entries()) if e.path == "pkg/a.py"] == [
        b"a = 2\n"
    ]


def test_a_revision_can_be_sent_to_another_process(repository):
    source = open_source(repository.path, "HEAD")
    copy = pickle.loads(pickle.dumps(source))
    assert copy.entries() == source.entries()
