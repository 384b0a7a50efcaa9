"""Commits behind a revision and the paths they changed."""

from __future__ import annotations

import os
import subprocess

from indexes.source import ChangedPath, open_source


def messages_of(source, max_count=99):
    return [commit.message for commit in source.commits(max_count)]


def test_commits_come_newest_first_with_their_changes(repository):
    second, first = open_source(repository.path, "HEAD").commits(10)
    assert second.id == repository.git("rev-parse", "HEAD")
    assert second.message == "second\n\nwith a body"
    assert second.author_time_s == int(repository.git("show", "-s", "--format=%at", "HEAD"))
    assert second.changes == (
        ChangedPath("old.py", "D"),
        ChangedPath("pkg/a.py", "M"),
        ChangedPath("tool", "A"),
    )
    assert {change.status for change in first.changes} == {"A"}


def test_only_ancestors_count(repository):
    repository.commit("later")
    assert messages_of(open_source(repository.path, "HEAD~1"))[0] == "second\n\nwith a body"
    assert messages_of(open_source(repository.path))[0] == "later"


def test_merges_are_left_out_and_empty_commits_are_not(repository):
    repository.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    repository.write("side.py", "side = 1\n")
    repository.commit("on the side")
    repository.git("checkout", "--quiet", "main")
    repository.git("merge", "--quiet", "--no-edit", "side")
    repository.commit("empty")
    commits = list(open_source(repository.path).commits(99))
    assert sorted(c.message for c in commits) == [
        "empty", "first", "on the side", "second\n\nwith a body",
    ]  # fmt: skip
    assert next(c for c in commits if c.message == "empty").changes == ()


def test_a_rename_is_a_deletion_and_an_addition(repository):
    repository.git("mv", "pkg/a.py", "pkg/b.py")
    repository.commit("rename")
    commit = next(open_source(repository.path).commits(1))
    assert commit.changes == (ChangedPath("pkg/a.py", "D"), ChangedPath("pkg/b.py", "A"))


def test_max_count_and_stopping_early(repository):
    for number in range(300):
        repository.git("commit", "--quiet", "--allow-empty", "-m", f"c{number}")
    source = open_source(repository.path, "HEAD")
    assert messages_of(source, 3) == ["c299", "c298", "c297"]
    assert messages_of(source, 0) == []
    stream = source.commits(10_000)
    assert next(stream).message == "c299"
    stream.close()
    assert len(messages_of(source, 10_000)) == 302


def test_a_sub_folder_has_the_history_of_its_own_files(repository):
    repository.write("elsewhere.py", "x = 1\n")
    repository.commit("elsewhere")
    for rev in (None, "HEAD"):
        commits = list(open_source(repository.path / "pkg", rev).commits(9))
        assert [c.message.split("\n")[0] for c in commits] == ["second", "first"]
        assert commits[0].changes == (ChangedPath("a.py", "M"),)


def test_odd_names_and_messages(repository):
    name = b"new\nline\xe9.py"
    with open(os.path.join(os.fsencode(repository.path), name), "wb") as file:
        file.write(b"x = 1\n")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--cleanup=verbatim", "-m", "\x01odd\n\nM\n\x02")
    commit = next(open_source(repository.path).commits(1))
    assert commit.changes == (ChangedPath("new\nline\udce9.py", "A"),)
    assert commit.message == "\x01odd\n\nM\n\x02"


def test_messages_in_another_encoding(repository):
    repository.git(
        "-c", "i18n.commitEncoding=latin-1", "commit", "-q", "--allow-empty", "-m", b"\xe9"
    )
    assert next(open_source(repository.path).commits(1)).message == "é"


def test_where_a_shallow_clone_was_cut_off_changes_are_unknown(repository, tmp_path):
    repository.commit("third")
    shallow = tmp_path / "shallow"
    origin = repository.path.as_uri()
    command = ["git", "clone", "--quiet", "--bare", "--depth=2", origin, str(shallow)]
    subprocess.run(command, check=True)
    third, second = open_source(shallow).commits(9)
    assert third.message == "third"
    assert second.message.startswith("second")
    assert second.changes == ()
