"""``graphloc index`` killed at any moment, and several of it at once."""

from __future__ import annotations

import os
import random
import signal
import time

from tests.functional.sample_trees import make_big_folder, write
from tests.functional.test_exit_codes import assert_group_is_gone

KILLS = 5


def test_a_killed_index_is_usable(cli, tmp_path):
    folder = make_big_folder(tmp_path / "folder")
    start = time.monotonic()
    reference = cli("index", folder, "--index-dir", tmp_path / "reference", "--json").json()
    whole_s = time.monotonic() - start
    moments = random.Random(7)
    for number in range(KILLS):
        # Each round has something to write.
        write(folder, {f"big/part_{number}.py": f"def fresh_{number}():\n    pass\n"})
        process = cli.start("index", folder, "--jobs", 1 + number % 2, start_new_session=True)
        time.sleep(moments.uniform(0, whole_s))
        process.kill()
        process.communicate()
        assert_group_is_gone(process.pid)
        arguments = ("search", f"fresh_{number}", folder, "--format", "json")
        found = cli(*arguments).json()["results"][0]
        assert found["entity"] == f"big/part_{number}.py:fresh_{number}"
    after = cli("index", folder, "--json").json()
    assert after["files"] == reference["files"]


def test_two_indexers_at_once(cli, tmp_path):
    folder = make_big_folder(tmp_path / "folder")
    running = [cli.start("index", folder, "--json", "--jobs", 1) for _ in range(3)]
    documents = []
    for process in running:
        out, errors = process.communicate(timeout=120)
        assert (process.returncode, errors) == (0, b"")
        documents.append(out)
    counts = {out.split(b'"entities"')[1] for out in documents}
    assert len(counts) == 1
    assert cli("index", folder, "--json").json()["files_read"] == 0


def test_sigterm_leaves_nothing_running(cli, tmp_path):
    folder = make_big_folder(tmp_path / "folder")
    process = cli.start("index", folder, "--jobs", 2, start_new_session=True)
    time.sleep(1.0)
    os.kill(process.pid, signal.SIGTERM)
    process.communicate(timeout=60)
    assert_group_is_gone(process.pid)
