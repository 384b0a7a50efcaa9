"""``graphloc index``."""

from __future__ import annotations

import pytest

from tests.functional.sample_trees import commit, git


def test_summary_names_what_was_read_and_where_it_is_kept(cli, shop):
    result = cli("index", shop)
    assert result.code == 0
    assert result.err == ""
    lines = result.out.splitlines()
    assert lines[0].startswith(f"{shop}: 4 files, ")
    assert lines[2].startswith("4 changed files read in ")
    assert lines[3] == f"index in {shop / '.graphloc'}"
    assert git(shop, "status", "--porcelain") == ""


def test_second_run_reads_only_what_changed(cli, shop):
    assert cli("index", shop, "--json").json()["files_read"] == 4
    assert cli("index", shop, "--json").json()["files_read"] == 0
    assert "nothing has changed" in cli("index", shop).out
    (shop / "shop/prices.py").write_text("def net_price(item):\n    return 1\n")
    (shop / "shop/new.py").write_text("fresh = 1\n")
    document = cli("index", shop, "--json").json()
    assert (document["files"], document["files_read"]) == (5, 2)


def test_json_fields(cli, shop):
    document = cli("index", "--json", cwd=shop).json()
    assert list(document) == [
        "schema",
        "repo",
        "revision",
        "index",
        "elapsed_ms",
        "files",
        "files_read",
        "lines",
        "entities",
        "edges",
        "failures",
        "missing",
    ]
    assert document["schema"] == "graphloc.index/1"
    assert (document["repo"], document["revision"]) == (".", "worktree")
    # Four files, three folders with the root, and what the files define.
    assert document["entities"] == 4 + 3 + 11
    assert document["failures"] == document["missing"] == []


def test_a_revision_is_read_without_a_checkout(cli, shop):
    first = git(shop, "rev-parse", "HEAD")
    (shop / "shop/prices.py").unlink()
    second = commit(shop)
    document = cli("index", shop, "--rev", "HEAD~1", "--json").json()
    assert (document["revision"], document["files"]) == (first, 4)
    document = cli("index", shop, "--rev", "main", "--json").json()
    assert (document["revision"], document["files"], document["files_read"]) == (second, 3, 0)
    assert not (shop / "shop/prices.py").exists()


def test_index_dir_keeps_the_repository_clean(cli, shop, tmp_path):
    result = cli("index", shop, "--index-dir", tmp_path / "elsewhere/index", "--jobs", 1)
    assert result.code == 0
    assert not (shop / ".graphloc").exists()
    assert (tmp_path / "elsewhere/index/index.sqlite").is_file()


def test_index_dir_that_is_a_file(cli, shop, tmp_path):
    (tmp_path / "file").write_text("")
    result = cli("index", shop, "--index-dir", tmp_path / "file")
    assert result.code == 2
    assert "name a folder with --index-dir" in result.err


def test_a_folder_inside_a_repository_is_meant_alone(cli, shop):
    document = cli("index", shop / "shop", "--json").json()
    assert document["files"] == 3
    assert (shop / "shop/.graphloc/index.sqlite").is_file()


def test_one_process_and_several_give_the_same_index(cli, shop, tmp_path):
    one = cli("index", shop, "--jobs", 1, "--index-dir", tmp_path / "a", "--json").json()
    two = cli("index", shop, "--jobs", 2, "--index-dir", tmp_path / "b", "--json").json()
    assert (one["entities"], one["edges"]) == (two["entities"], two["edges"])


def test_a_damaged_index_says_how_to_rebuild_it(cli, shop):
    assert cli("index", shop).code == 0
    (shop / ".graphloc/index.sqlite").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    for extra in shop.glob(".graphloc/index.sqlite-*"):
        extra.unlink()
    result = cli("localize", shop, "--text", "total")
    assert result.code == 2
    assert f"delete the folder {shop / '.graphloc'}" in result.err


@pytest.mark.parametrize("jobs", ["0", "-1", "many"])
def test_jobs_are_a_positive_number(cli, shop, jobs):
    result = cli("index", shop, "--jobs", jobs)
    assert result.code == 2
    assert "--jobs" in result.err
    assert result.err.count("\n") == 1
