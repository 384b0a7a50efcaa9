"""Several real processes on one index; kills in the middle of writing."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

import indexes
from indexes.store import Store

CODE = str(Path(indexes.__file__).parents[1])


def fact(number):
    return hashlib.sha1(b"%d" % number).hexdigest(), b"%d " % number * 500


def index_at_once(folder, worker):
    """Open a fresh index together with others and store what partly others store, too."""
    facts = dict(fact(number) for number in range(worker * 100, worker * 100 + 500))
    with Store.open(folder) as store:
        missing = store.missing_facts(facts)
        store.put_facts((blob_id, facts[blob_id]) for blob_id in missing)
        store.put_snapshot("same", b"m", {"a": b"a" * 300_000}, facts)
        store.put_snapshot(f"own{worker}", b"m", {"a": b"%d" % worker}, facts)
        store.put_meta(f"worker{worker}", b"done")


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_index_at_once(tmp_path, method):
    context = multiprocessing.get_context(method)
    folder = tmp_path / "new"
    with context.Pool(4) as pool:
        pool.starmap(index_at_once, [(folder, worker) for worker in range(4)])
    with Store.open(folder) as store:
        expected = dict(fact(number) for number in range(800))
        assert dict(store.get_facts(expected)) == expected
        assert store.get_snapshot("same").section("a") == b"a" * 300_000
        for worker in range(4):
            assert store.get_snapshot(f"own{worker}").section("a") == b"%d" % worker
            assert store.get_meta(f"worker{worker}") == b"done"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_store_outlives_a_fork(tmp_path):
    with Store.open(tmp_path) as store:
        store.put_meta("who", b"parent")
        child = os.fork()
        if child == 0:
            code = 1
            try:
                if store.get_meta("who") == b"parent":
                    store.put_facts([fact(1)])
                    code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert dict(store.get_facts([fact(1)[0]])) == dict([fact(1)])
        store.put_meta("who", b"parent again")


WRITE_FOREVER = """
import hashlib, itertools, sys
from pathlib import Path
from indexes.store import Store
def fact(number):
    return hashlib.sha1(b"%d" % number).hexdigest(), b"%d " % number * 500
with Store.open(Path(sys.argv[1])) as store:
    for round in itertools.count(int(sys.argv[2])):
        store.put_facts(fact(n) for n in range(round * 300, round * 300 + 300))
        store.put_meta("round", b"%d" % round)
        letter = b"%d" % (round % 10)
        store.put_snapshot(f"key{round % 3}", letter, {n: letter * 400_000 for n in "abc"})
        print(round, flush=True)
"""


def test_a_kill_at_any_moment_leaves_a_readable_index(tmp_path):
    moments = random.Random(7)
    finished = -1
    for _ in range(8):
        with subprocess.Popen(
            [sys.executable, "-c", WRITE_FOREVER, str(tmp_path), str(finished + 1)],
            env=os.environ | {"PYTHONPATH": CODE},
            stdout=subprocess.PIPE,
        ) as process:
            said = process.stdout.readline()
            time.sleep(moments.random() * 0.1)
            process.send_signal(signal.SIGKILL)
            finished = int((said + process.stdout.read()).split(b"\n")[-2])
        check_after_kill(tmp_path, finished)


def check_after_kill(folder, finished):
    with Store.open(folder) as store:
        assert store.rebuilt is None
        assert int(store.get_meta("round")) >= finished
        expected = dict(fact(number) for number in range((finished + 1) * 300))
        assert dict(store.get_facts(expected)) == expected
        for number in range(3):
            record = store.get_snapshot(f"key{number}")
            if record is not None:
                assert {record.section(name) for name in "abc"} == {record.meta * 400_000}
    with closing(sqlite3.connect(folder / "index.sqlite")) as other:
        assert other.execute("PRAGMA integrity_check").fetchone() == ("ok",)
