"""Repositories of every kind that people have."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.functional.conftest import PROJECT
from tests.functional.sample_trees import SHOP, commit, git, make_repository, write


def first_function(cli, *arguments):
    result = cli("localize", *arguments, "--text", "discount_of is wrong", "--format", "json")
    assert result.code == 0, result.err
    return result.json()["functions"][0]["entity"]


def test_an_empty_repository(cli, tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    for _ in range(2):
        for command in (("index",), ("localize", "--text", "x"), ("search", "x")):
            result = cli(*command, folder)
            assert result.code == 1
            assert result.err == (f"graphloc: no Python files in {folder}: name another folder\n")
        git(folder, "init", "--quiet")
    result = cli("index", folder, "--rev", "HEAD")
    assert result.code == 2
    assert result.err.count("\n") == 1


def test_a_file_instead_of_a_folder(cli, shop):
    result = cli("index", shop / "shop/cart.py")
    assert result.code == 2
    assert "is a file, not a folder" in result.err


def test_a_folder_without_git(cli, tmp_path):
    folder = write(tmp_path / "plain", SHOP)
    assert first_function(cli, folder) == "shop/prices.py:discount_of"
    result = cli("localize", folder, "--text", "x", "--rev", "HEAD")
    assert result.code == 2
    assert "is in no git repository" in result.err


def test_without_git_on_the_path(cli, shop, tmp_path):
    programs = tmp_path / "programs"
    programs.mkdir()
    env = {"PATH": str(programs)}
    result = cli("localize", shop, "--text", "discount_of", "--format", "json", env=env)
    assert result.code == 0
    assert result.json()["functions"][0]["entity"] == "shop/prices.py:discount_of"
    result = cli("index", shop, "--rev", "HEAD", env=env)
    assert result.code == 2
    assert "git is not on PATH: install it" in result.err
    doctor = cli("doctor", shop, "--format", "json", env=env)
    assert doctor.code == 1
    assert {f["what"]: f["state"] for f in doctor.json()["findings"]}["git"] == "broken"


def test_a_bare_clone(cli, shop, tmp_path):
    git(tmp_path, "clone", "--quiet", "--bare", str(shop), "bare.git")
    bare = tmp_path / "bare.git"
    assert first_function(cli, bare) == "shop/prices.py:discount_of"
    head = git(shop, "rev-parse", "HEAD")
    for revision in ((), ("--rev", "main"), ("--rev", head[:10])):
        assert cli("index", bare, "--json", *revision).json()["revision"] == head
    assert git(bare, "fsck", "--strict") == ""


def test_a_shallow_clone(cli, shop, tmp_path):
    commit(shop, "second")
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{shop}", "shallow")
    folder = tmp_path / "shallow"
    assert first_function(cli, folder) == "shop/prices.py:discount_of"
    assert first_function(cli, folder, "--rev", "HEAD") == "shop/prices.py:discount_of"
    result = cli("index", folder, "--rev", "HEAD~1")
    assert result.code == 2
    assert result.err.count("\n") == 1


def test_a_partial_clone_reports_what_it_lacks(cli, shop, tmp_path):
    git(shop, "config", "uploadpack.allowFilter", "true")
    (shop / "shop/prices.py").write_text(SHOP["shop/prices.py"] + "\n# more\n")
    commit(shop, "second")
    options = ("--quiet", "--filter=blob:none", "--bare")
    git(tmp_path, "clone", *options, f"file://{shop}", "partial")
    folder = tmp_path / "partial"
    result = cli("index", folder)
    assert result.code == 1 or "files left out" in result.out
    git(folder, "cat-file", "-p", "main:shop/cart.py")
    document = cli("index", folder, "--json").json()
    assert document["files"] == 1
    missing = {entry["path"] for entry in document["missing"]}
    assert missing >= {"shop/prices.py", "shop/__init__.py"}
    assert "were left out" in cli("localize", folder, "--text", "Cart", "--index-dir", "ix").err


def test_a_work_tree_of_a_work_tree(cli, shop, tmp_path):
    git(shop, "worktree", "add", "--quiet", "-b", "one", str(tmp_path / "one"))
    git(tmp_path / "one", "worktree", "add", "--quiet", "-b", "two", str(tmp_path / "two"))
    (tmp_path / "two/own.py").write_text("def only_here():\n    pass\n")
    assert cli("index", tmp_path / "two", "--json").json()["files"] == 5
    assert cli("index", tmp_path / "one", "--json").json()["files"] == 4
    commit(tmp_path / "two")
    assert cli("index", tmp_path / "one", "--rev", "two", "--json").json()["files"] == 5


def test_a_submodule_is_left_to_itself(cli, shop, tmp_path):
    outer = make_repository(tmp_path / "outer", {"main.py": "def run():\n    pass\n"})
    git(outer, "submodule", "--quiet", "add", str(shop), "vendored")
    commit(outer)
    for revision in ((), ("--rev", "HEAD")):
        document = cli("index", outer, "--json", *revision).json()
        assert document["files"] == 1
    assert cli("index", outer / "vendored", "--json").json()["files"] == 4


def test_ignored_files_are_left_out_and_untracked_ones_are_not(cli, shop):
    write(shop, {".gitignore": "build/\n", "build/made.py": "x = 1\n", "new.py": "y = 1\n"})
    exported = cli("graph", "export", shop, "--to", "json").json()
    files = {node["path"] for node in exported["nodes"] if node["kind"] == "file"}
    assert "new.py" in files
    assert "build/made.py" not in files


def test_links_that_loop_or_leave(cli, shop, tmp_path):
    secret = tmp_path / "secret.py"
    secret.write_text("def secret():\n    pass\n")
    os.symlink("loop.py", shop / "loop.py")
    os.symlink("..", shop / "shop/up")
    os.symlink(secret, shop / "leaves.py")
    os.symlink("shop/cart.py", shop / "inside.py")
    os.symlink("nowhere.py", shop / "dangling.py")
    result = cli("index", shop, "--json")
    assert result.code == 0
    document = result.json()
    assert "secret" not in cli("graph", "export", shop, "--to", "json").out
    missing = {entry["path"] for entry in document["missing"]}
    assert {"loop.py", "leaves.py"} <= missing
    assert document["files"] in {4, 5}


def test_files_that_may_not_be_read(cli, shop, tmp_path):
    """Run as one whom permissions concern: root without the right to override them."""
    write(shop, {"closed.py": "x = 1\n", "locked/a.py": "x = 1\n"})
    (shop / "closed.py").chmod(0)
    (shop / "locked").chmod(0)
    drop = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"]
    command = cli.command("index", shop, "--index-dir", tmp_path / "index")
    try:
        done = subprocess.run(
            [*(drop if os.geteuid() == 0 else ()), *command],
            env=cli.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        (shop / "locked").chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert "4 files" in done.stdout
    assert "closed.py: " in done.stdout


def test_an_index_folder_that_cannot_be_made(cli, shop):
    result = cli("index", shop, "--index-dir", "/proc/nope")
    assert result.code == 2
    assert "choose a folder that can be written with --index-dir" in result.err


FILL_DISK = """
import os, subprocess, sys
disk, source = sys.argv[1:3]
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", disk], check=True)
command = [sys.executable, "-m", "graphloc", "index", source, "--index-dir", disk + "/index"]
done = subprocess.run(command, capture_output=True, text=True)
print(done.returncode, done.stderr.strip(), sep="|")
subprocess.run(["mount", "-o", "remount,size=60m", disk], check=True)
done = subprocess.run(command, capture_output=True, text=True)
print(done.returncode, done.stderr.strip(), sep="|")
"""


def test_a_full_disk(cli, tmp_path):
    body = "".join(f"def f{n}(a, b):\n    return g{n}(a) + 'text {n}'\n\n\n" for n in range(900))
    folder = write(tmp_path / "folder", {f"m{n}.py": f"N = {n}\n{body}" for n in range(6)})
    disk = tmp_path / "disk"
    disk.mkdir()
    namespace = ("unshare", "--map-root-user", "--mount", "--")
    if subprocess.run([*namespace, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mount namespaces here")
    done = subprocess.run(
        [*namespace, sys.executable, "-c", FILL_DISK, disk, folder],
        env=cli.environment() | {"PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=True,
    )
    full, mended = done.stdout.splitlines()
    code, message = full.split("|")
    assert code == "2"
    assert "no room left on the disk" in message
    assert mended == "0|"
