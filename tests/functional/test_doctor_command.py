"""``graphloc doctor``."""

from __future__ import annotations

from graphloc import __version__


def test_it_tells_what_works(cli, shop):
    document = cli("doctor", shop, "--format", "json").json()
    assert document["schema"] == "graphloc.doctor/1"
    found = {finding["what"]: finding for finding in document["findings"]}
    assert found["graphloc"]["detail"] == __version__
    for what in ("python", "git", "tree-sitter", "repository", "index"):
        assert found[what]["state"] == "works"
    assert {"bubblewrap", "docker", "extra dask"} <= set(found)
    assert {finding["state"] for finding in document["findings"]} <= {"works", "absent"}
    assert "none yet" in found["index"]["detail"]


def test_it_describes_an_index(cli, shop):
    cli("index", shop)
    result = cli("doctor", shop)
    assert result.code == 0
    (line,) = [line for line in result.out.splitlines() if line.startswith("index ")]
    assert str(shop / ".graphloc") in line
    assert "writable" in line
    assert cli("doctor", shop, "--format", "markdown").out.startswith("| what | state | detail |")


def test_a_damaged_index_is_broken(cli, shop, tmp_path):
    (tmp_path / "index").mkdir()
    (tmp_path / "index/index.sqlite").write_bytes(b"no database at all" * 100)
    result = cli("doctor", shop, "--index-dir", tmp_path / "index")
    assert result.code == 1
    assert "broken" in result.out


def test_a_repository_that_is_not_there(cli):
    result = cli("doctor", "nowhere")
    assert result.code == 1
    assert "nowhere does not exist" in result.out
