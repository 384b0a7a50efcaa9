"""What past commits are known to have changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.builder import build_index
from indexes.history import MOST_FILES, History, build_history, load_history
from indexes.source import open_source
from indexes.store import Store
from tests.functional.sample_trees import commit, git, make_repository, write


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Three commits on the main branch, one beside it."""
    repo = make_repository(tmp_path / "repo", {"a.py": "x = 1\n", "README": "hello\n"})
    write(repo, {"a.py": "x = 2\n", "b.py": "y = 1\n"})
    commit(repo, "Teach parser about unicorns")
    git(repo, "checkout", "--quiet", "-b", "side")
    write(repo, {"side.py": "z = 1\n"})
    commit(repo, "Paint walruses")
    git(repo, "checkout", "--quiet", "main")
    write(repo, {"b.py": "y = 2\n"})
    commit(repo, "Speed up zebras")
    return repo


def history_of(repo: Path, rev: str | None = None) -> History:
    return build_history(open_source(repo, rev).commits(100))


def changed(history: History) -> list[list[str]]:
    """Paths changed by each commit, newest first."""
    return [
        [history.paths[n] for n in history.changes[start:end]]
        for start, end in zip(history.starts[:-1], history.starts[1:], strict=True)
    ]


def finds(history: History, term: str) -> list[int]:
    """Numbers of the commits whose message has a term."""
    return history.messages.term_frequencies("message", term)[0].tolist()


def test_commits_come_newest_first_with_their_python_files(repo: Path) -> None:
    history = history_of(repo)

    assert changed(history) == [["b.py"], ["a.py", "b.py"], ["a.py"]]
    assert len(history) == len(history.times) == 3
    assert history.commit_of_change.tolist() == [0, 1, 1, 2]
    assert finds(history, "zebra") == [0]
    assert finds(history, "unicorn") == [1]


def test_only_ancestors_of_the_revision_count(repo: Path) -> None:
    assert finds(history_of(repo), "walrus") == []
    side = history_of(repo, "side")
    assert finds(side, "walrus") == [0]
    assert finds(side, "zebra") == []
    older = history_of(repo, "main~1")
    assert changed(older) == [["a.py", "b.py"], ["a.py"]]


def test_commits_that_change_many_files_are_left_out(repo: Path) -> None:
    write(repo, {f"m{n}.py": "x = 1\n" for n in range(MOST_FILES + 1)})
    commit(repo, "Reformat mammoths")
    write(repo, {f"m{n}.py": "x = 2\n" for n in range(MOST_FILES)})
    commit(repo, "Rename mammoths")
    history = history_of(repo)

    assert len(history) == 4
    assert len(changed(history)[0]) == MOST_FILES
    assert finds(history, "reformat") == []


def test_commits_without_python_files_are_left_out(repo: Path) -> None:
    write(repo, {"README": "bye\n"})
    commit(repo, "Describe otters")
    assert finds(history_of(repo), "otter") == []


def test_a_history_comes_back_from_its_bytes(repo: Path) -> None:
    history = history_of(repo)
    again = History.from_bytes(history.to_bytes())

    assert changed(again) == changed(history)
    assert again.times.tolist() == history.times.tolist()
    assert finds(again, "zebra") == [0]
    assert again.to_bytes() == history.to_bytes()


def test_a_history_is_stored_once_for_its_newest_commit(repo: Path, tmp_path: Path) -> None:
    source = open_source(repo)
    with Store.open(tmp_path / "index") as store:
        first = load_history(source, store)
        assert first is not None
        record = store.latest_snapshot()
        assert record is not None
        # Whatever is stored under that key is what is given out, so nothing is read twice.
        store.put_snapshot(record.key, b"", {"history": history_of(repo, "main~1").to_bytes()})
        known = load_history(source, store)
        assert known is not None
        assert len(known) == len(first) - 1

        write(repo, {"a.py": "x = 3\n"})
        commit(repo, "Feed yaks")
        newer = load_history(source, store)
        assert newer is not None
        assert finds(newer, "yak") == [0]


def test_a_history_does_not_take_the_place_of_its_snapshot(repo: Path, tmp_path: Path) -> None:
    source = open_source(repo)
    with Store.open(tmp_path / "index") as store:
        build_index(source, store)
        load_history(source, store)
        assert build_index(source, store)[1].reused_snapshot


def test_folders_of_one_repository_have_their_own_histories(repo: Path, tmp_path: Path) -> None:
    write(repo, {"inner/c.py": "x = 1\n"})
    commit(repo, "Add llamas")
    with Store.open(tmp_path / "index") as store:
        whole = load_history(open_source(repo), store)
        part = load_history(open_source(repo / "inner"), store)

    assert whole is not None
    assert part is not None
    assert (len(whole), len(part)) == (4, 1)
    assert changed(part) == [["c.py"]]


def test_a_folder_without_git_has_no_history(tmp_path: Path) -> None:
    folder = write(tmp_path / "plain", {"a.py": "x = 1\n"})
    with Store.open(tmp_path / "index") as store:
        assert load_history(open_source(folder), store) is None


def test_a_repository_without_a_commit_has_no_history(tmp_path: Path) -> None:
    folder = write(tmp_path / "fresh", {"a.py": "x = 1\n"})
    git(folder, "init", "--quiet")
    with Store.open(tmp_path / "index") as store:
        assert load_history(open_source(folder), store) is None


def test_a_treeless_clone_has_no_history_to_read(repo: Path, tmp_path: Path) -> None:
    git(repo, "config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone.git"
    git(tmp_path, "clone", "--quiet", "--bare", "--filter=tree:0", f"file://{repo}", str(clone))
    with Store.open(tmp_path / "index") as store:
        assert load_history(open_source(clone, "main"), store) is None


def test_a_shallow_clone_s_oldest_commit_changed_nothing_that_is_known(
    repo: Path, tmp_path: Path
) -> None:
    clone = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth=2", f"file://{repo}", str(clone))
    assert changed(history_of(clone)) == [["b.py"]]


def test_no_commits_make_an_empty_history() -> None:
    history = History.from_bytes(build_history([]).to_bytes())
    assert len(history) == 0
    assert history.paths == []
    assert history.commit_of_change.tolist() == []
