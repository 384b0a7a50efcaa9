"""From a source to a stored snapshot: what is read, what is shared, what is left after trouble."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from indexes.arrays import pack_arrays
from indexes.builder import BuildReport, build_index
from indexes.snapshot import PARTS, Snapshot
from indexes.source import open_source
from indexes.store import Store
from indexes.store.errors import SnapshotEvictedError
from tests.functional.sample_trees import commit, git, make_big_folder, make_repository, write

PROJECT = Path(__file__).parents[2]
BIG = 45
"""Files of a folder that several processes read: a little over what one reads alone."""
FILES = {
    "app/__init__.py": "",
    "app/main.py": "from app.util import twice\n\n\ndef main():\n    return twice(2)\n",
    "app/util.py": "def twice(number):\n    return number * 2\n",
    "app/same.py": "def twice(number):\n    return number * 2\n",
}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repo", FILES)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "index")


@pytest.fixture(autouse=True)
def _close(store: Store) -> object:
    yield
    store.close()


def build(repo: Path, store: Store, rev: str | None = None) -> tuple[Snapshot, BuildReport]:
    return build_index(open_source(repo, rev), store)


def content(snapshot: Snapshot) -> dict[str, bytes]:
    """All parts of a snapshot as bytes."""
    return {part: pack_arrays(getattr(snapshot, part).to_arrays()) for part in PARTS}


def test_a_first_build_reads_each_content_once(repo: Path, store: Store) -> None:
    snapshot, report = build(repo, store)

    assert report == BuildReport(n_files=4, n_read=3)
    assert snapshot.revision == "worktree"
    assert (snapshot.info.n_files, snapshot.info.n_lines) == (4, 9)
    assert snapshot.entities.find("app/same.py:twice") is not None
    assert snapshot.entities.find("app/util.py:twice") is not None


def test_a_second_build_reads_nothing(repo: Path, store: Store) -> None:
    first, _ = build(repo, store)
    second, report = build(repo, store)

    assert report == BuildReport(n_files=4, n_read=0, reused_snapshot=True)
    assert content(second) == content(first)


def test_one_changed_file_alone_is_read(repo: Path, store: Store) -> None:
    build(repo, store)
    write(repo, {"app/util.py": "def twice(number):\n    return number + number\n"})
    snapshot, report = build(repo, store)

    assert report == BuildReport(n_files=4, n_read=1)
    row = snapshot.entities.get("app/main.py:main")
    called = {
        snapshot.entities.ids[e] for e in snapshot.graph.targets[snapshot.graph.out_edges(row)]
    }
    assert called == {"app/util.py:twice"}


def test_a_moved_file_and_a_deleted_one_need_no_reading(repo: Path, store: Store) -> None:
    build(repo, store)
    (repo / "app/util.py").rename(repo / "app/tools.py")
    (repo / "app/same.py").unlink()
    snapshot, report = build(repo, store)

    assert report == BuildReport(n_files=3, n_read=0)
    assert snapshot.entities.paths == ["app/__init__.py", "app/main.py", "app/tools.py"]


def test_an_index_brought_up_to_date_equals_a_new_one(
    repo: Path, store: Store, tmp_path: Path
) -> None:
    build(repo, store)
    write(repo, {"app/util.py": "class Twice:\n    pass\n", "new.py": "import app.util\n"})
    updated, _ = build(repo, store)
    with Store.open(tmp_path / "other") as other:
        fresh, _ = build(repo, other)

        assert content(updated) == content(fresh)


def test_revisions_of_a_bare_repository_share_what_did_not_change(
    repo: Path, store: Store, tmp_path: Path
) -> None:
    revisions = [git(repo, "rev-parse", "HEAD")]
    for number in (3, 4):
        write(repo, {"app/util.py": f"def times{number}(n):\n    return n * {number}\n"})
        revisions.append(commit(repo))
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(repo), str(bare))

    built = [build(bare, store, rev) for rev in revisions]

    assert [report.n_read for _, report in built] == [3, 1, 1]
    assert [snapshot.revision for snapshot, _ in built] == revisions
    names = [snapshot.entities.ids for snapshot, _ in built]
    assert "app/util.py:twice" in names[0]
    assert "app/util.py:times3" in names[1]
    assert "app/util.py:times4" in names[2]
    assert not {"app/util.py:twice", "app/util.py:times3"} & set(names[2])
    assert not (bare / "app").exists()


def test_a_revision_with_the_work_tree_s_files_shares_its_snapshot(
    repo: Path, store: Store
) -> None:
    build(repo, store)
    snapshot, report = build(repo, store, "HEAD")

    assert report.reused_snapshot
    assert snapshot.revision == git(repo, "rev-parse", "HEAD")


def test_two_commits_with_one_tree_are_told_apart(repo: Path, store: Store) -> None:
    first = git(repo, "rev-parse", "HEAD")
    second = commit(repo, "nothing")
    build(repo, store, first)
    snapshot, report = build(repo, store, second)

    assert report.reused_snapshot
    assert snapshot.revision == second


def test_files_that_do_not_parse_are_reported(repo: Path, store: Store) -> None:
    write(repo, {"app/broken.py": "def fine():\n    pass\n\n\ndef broken(:\n    pass\n"})
    snapshot, _ = build(repo, store)

    assert [failure.path for failure in snapshot.failures] == ["app/broken.py"]
    assert snapshot.failures[0].line == 5
    assert snapshot.entities.find("app/broken.py:fine") is not None
    again, _ = build(repo, store)
    assert again.failures == snapshot.failures


def test_files_that_cannot_be_read_are_left_out_and_named(repo: Path, store: Store) -> None:
    (repo / "app/dangling.py").symlink_to("nowhere.py")
    snapshot, report = build(repo, store)

    assert [path for path, _ in snapshot.info.missing] == ["app/dangling.py"]
    assert report.n_files == 4


def test_a_folder_without_python_files_gives_an_empty_snapshot(
    tmp_path: Path, store: Store
) -> None:
    folder = write(tmp_path / "empty", {"README.md": "nothing"})
    snapshot, report = build(folder, store)

    assert report == BuildReport()
    assert snapshot.entities.ids == ["."]
    assert len(snapshot.graph) == 0


def test_progress_goes_through_the_stages_and_counts_up(repo: Path, store: Store) -> None:
    told: list[tuple[str, int, int]] = []
    build_index(open_source(repo), store, progress=lambda *step: told.append(step))

    stages = list(dict.fromkeys(stage for stage, _, _ in told))
    assert stages == ["list", "read", "graph", "store"]
    assert [step for step in told if step[0] == "read"] == [("read", n, 3) for n in (1, 2, 3)]


def test_processes_build_the_same_snapshot(tmp_path: Path, store: Store) -> None:
    folder = make_big_folder(tmp_path / "big", BIG)
    parallel, report = build_index(open_source(folder), store, jobs=2)
    with Store.open(tmp_path / "other") as other:
        serial, _ = build_index(open_source(folder), other, jobs=1)

        assert report.n_read == BIG
        assert content(parallel) == content(serial)


def test_a_snapshot_dropped_by_another_process_says_so_and_is_built_again(
    repo: Path, tmp_path: Path
) -> None:
    with Store.open(tmp_path / "small", keep_snapshots=1) as store:
        build(repo, store)
        kept, _ = build(repo, store)
        write(repo, {"app/util.py": "x = 1\n"})
        build(repo, store)
        with pytest.raises(SnapshotEvictedError, match="run again"):
            _ = kept.entities

        write(repo, FILES)
        again, report = build(repo, store)
        assert report == BuildReport(n_files=4, n_read=0)
        assert again.entities.find("app/util.py:twice") is not None


def test_a_store_that_nobody_may_write_to_still_serves(repo: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        check_read_only(repo, tmp_path / "closed")
        return
    # Nothing is read-only for root, so somebody else has to look.
    with tempfile.TemporaryDirectory() as name:
        shutil.copytree(repo, Path(name, "repo"))
        arguments = [str(Path(name, "repo")), str(Path(name, "closed"))]
        done = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, str(PROJECT), *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stdout) == (0, "served\n"), done.stderr


def check_read_only(
    repo: Path, directory: Path, become_nobody: Callable[[], None] = lambda: None
) -> None:
    with Store.open(directory) as store:
        expected, _ = build(repo, store)
        parts = content(expected)
    for path in [*directory.iterdir(), directory]:
        path.chmod(path.stat().st_mode & ~0o222)
    become_nobody()
    try:
        with Store.open(directory) as store:
            assert store.read_only
            known, report = build(repo, store)
            assert report.reused_snapshot
            assert content(known) == parts
            write(repo, {"app/util.py": "def thrice(n):\n    return n\n"})
            changed, report = build(repo, store)
            assert report == BuildReport(n_files=4, n_read=1)
            assert changed.entities.find("app/util.py:thrice") is not None
    finally:
        if os.stat(directory).st_uid == os.geteuid():
            directory.chmod(0o755)


AS_NOBODY = """
import os, sys
from pathlib import Path

project, repo, directory = sys.argv[1:]
sys.path.insert(0, project)
from tests.indexes.test_index_builder import check_read_only

def become_nobody():
    os.chmod(Path(repo).parent, 0o755)
    for folder, folders, names in os.walk(repo):
        for name in [".", *folders, *names]:
            os.chown(Path(folder, name), 65534, 65534)
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)

check_read_only(Path(repo), Path(directory), become_nobody)
print("served")
"""

BUILD = """
import sys
from pathlib import Path
from indexes.builder import build_index
from indexes.source import open_source
from indexes.store import Store

def tell(stage, done, total):
    print(stage, done, flush=True)

if __name__ == "__main__":
    with Store.open(Path(sys.argv[2])) as store:
        snapshot, _ = build_index(open_source(Path(sys.argv[1])), store, jobs=2, progress=tell)
        print("entities", len(snapshot.entities), flush=True)
"""


def start_build(script: Path, folder: Path, index: Path) -> subprocess.Popen[str]:
    script.write_text(BUILD)
    return subprocess.Popen(
        [sys.executable, str(script), str(folder), str(index)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(PROJECT)},
        start_new_session=True,
    )


@pytest.mark.parametrize("stage", ["read 1", "read 30", "store 0"])
def test_a_build_that_is_killed_leaves_an_index_that_goes_on(tmp_path: Path, stage: str) -> None:
    folder = make_big_folder(tmp_path / "big", BIG)
    with start_build(tmp_path / "build.py", folder, tmp_path / "index") as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip() == stage:
                os.killpg(process.pid, signal.SIGKILL)
                break
        process.stdout.close()
        assert process.wait() == -signal.SIGKILL

    with Store.open(tmp_path / "index") as store:
        assert store.rebuilt is None
        snapshot, report = build(folder, store)
        assert report.n_files == BIG
        assert not report.reused_snapshot
        assert report.n_read == (0 if stage == "store 0" else BIG)
        assert len(snapshot.entities) == 2 + BIG * 32
        assert build(folder, store)[1].reused_snapshot


def test_two_builds_at_once_come_to_the_same_end(tmp_path: Path) -> None:
    folder = make_big_folder(tmp_path / "big", BIG)
    processes = [
        start_build(tmp_path / f"build{n}.py", folder, tmp_path / "index") for n in range(2)
    ]
    ends = [process.communicate()[0].splitlines()[-1] for process in processes]

    assert [process.returncode for process in processes] == [0, 0]
    assert ends == [f"entities {2 + BIG * 32}"] * 2
    with Store.open(tmp_path / "index") as store:
        assert build(folder, store)[1].reused_snapshot


UNGUARDED = """
import sys
from pathlib import Path
from indexes.builder import build_index
from indexes.source import open_source
from indexes.store import Store

print("started", flush=True)
with Store.open(Path(sys.argv[2])) as store:
    snapshot, report = build_index(open_source(Path(sys.argv[1])), store, jobs=2)
print(report.n_read, sys.modules["__main__"].__file__ == __file__)
"""


def test_a_script_without_a_main_guard_may_build_an_index(tmp_path: Path) -> None:
    folder = make_big_folder(tmp_path / "big", BIG)
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED)
    done = subprocess.run(
        [sys.executable, str(script), str(folder), str(tmp_path / "index")],
        env=os.environ | {"PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == (f"started\n{BIG} True\n", "")
