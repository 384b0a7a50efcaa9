"""``graphloc localize``."""

from __future__ import annotations

import json

import pytest

from tests.functional.sample_trees import TRACEBACK, commit, git

RESULT_FIELDS = [
    "rank",
    "entity",
    "kind",
    "path",
    "start_line",
    "end_line",
    "score",
    "confidence",
    "evidence",
]


def test_json_is_as_the_contract_has_it(cli, shop, tmp_path):
    (tmp_path / "bug.md").write_text(TRACEBACK)
    result = cli("localize", "--issue", tmp_path / "bug.md", "--format", "json", cwd=shop)
    assert result.code == 0
    document = result.json()
    assert list(document) == [
        "schema",
        "repo",
        "revision",
        "elapsed_ms",
        "issue",
        "results",
        "files",
        "classes",
        "functions",
    ]
    assert document["schema"] == "graphloc.localize/1"
    assert (document["repo"], document["revision"]) == (".", "worktree")
    assert list(document["issue"]) == ["title", "identifiers", "frames", "paths"]
    assert document["issue"]["title"] == "Total of a gift cart is wrong"
    assert [frame["line"] for frame in document["issue"]["frames"]] == [27, 10]
    for kind in ("results", "files", "classes", "functions"):
        assert [result["rank"] for result in document[kind]] == list(
            range(1, len(document[kind]) + 1)
        )
        for found in document[kind]:
            assert list(found) == RESULT_FIELDS
            assert 0 <= found["confidence"] <= 1
            for evidence in found["evidence"]:
                assert list(evidence) == ["signal", "detail", "weight", "hops"]


def test_what_the_traceback_names_comes_first(cli, shop):
    document = cli(
        "localize", shop, "--issue", "-", "--format", "json", stdin=TRACEBACK.encode()
    ).json()
    functions = [found["entity"] for found in document["functions"][:3]]
    assert set(functions) >= {"shop/cart.py:GiftCart.total", "shop/prices.py:net_price"}
    assert {found["entity"] for found in document["files"][:2]} == {
        "shop/cart.py",
        "shop/prices.py",
    }
    first = document["functions"][0]
    assert first["path"] == first["entity"].split(":")[0]
    assert first["start_line"] <= first["end_line"]


def test_test_files_are_left_out_unless_asked_for(cli, shop):
    arguments = (
        "localize",
        shop,
        "--text",
        "test_total_of_an_empty_cart fails",
        "--format",
        "json",
    )
    assert not [f for f in cli(*arguments).json()["files"] if f["path"].startswith("tests/")]
    with_tests = cli(*arguments, "--include-tests").json()
    assert with_tests["functions"][0]["entity"] == "tests/test_cart.py:test_total_of_an_empty_cart"


@pytest.mark.parametrize("level", ["file", "class", "function"])
def test_a_level_is_named_alone(cli, shop, level):
    document = cli(
        "localize", shop, "--text", "GiftCart.total", "--level", level, "--format", "json"
    ).json()
    assert document["results"]
    assert {found["kind"] for found in document["results"]} == {level}


def test_top_k(cli, shop):
    arguments = ("localize", shop, "--text", "cart total price", "--format", "json")
    assert len(cli(*arguments, "--top-k", 2).json()["results"]) == 2
    assert cli(*arguments, "--top-k", 0).code == 2


def test_the_table_says_where_how_sure_and_why(cli, shop):
    result = cli("localize", shop, "--text", "GiftCart.total is wrong")
    header, _, first, why = result.out.splitlines()[:4]
    assert header.split() == ["#", "sure", "place", "and", "lines"]
    assert first.split()[0] == "1"
    assert first.split()[1].endswith("%")
    assert "shop/cart.py" in first
    assert why.strip()


def test_explaining_shows_weights_and_paths(cli, shop):
    plain = cli("localize", shop, "--text", "GiftCart.total is wrong")
    explained = cli("localize", shop, "--text", "GiftCart.total is wrong", "--explain")
    assert len(explained.out.splitlines()) > len(plain.out.splitlines())
    weights = [line for line in explained.out.splitlines() if line.lstrip().startswith("+")]
    assert weights
    assert all(float(line.split()[0]) > 0 for line in weights)
    assert "hop" in explained.out


def test_markdown_is_a_table(cli, shop):
    lines = cli("localize", shop, "--text", "a|b GiftCart.total", "--format", "markdown").out
    title, blank, header, rule, *rows = lines.splitlines()
    assert (title, blank) == ("### a\\|b GiftCart.total", "")
    assert header == "| # | sure | place | lines | why |"
    assert rule == "| --- | --- | --- | --- | --- |"
    assert all(row.startswith("| ") and row.endswith(" |") for row in rows)


def test_a_revision_and_its_work_tree_differ(cli, shop):
    (shop / "shop/cart.py").write_text("def checkout_basket():\n    pass\n")
    head = git(shop, "rev-parse", "HEAD")
    arguments = ("localize", shop, "--text", "checkout_basket fails", "--format", "json")
    now = cli(*arguments).json()
    assert now["functions"][0]["entity"] == "shop/cart.py:checkout_basket"
    then = cli(*arguments, "--rev", "HEAD").json()
    assert then["revision"] == head
    assert "shop/cart.py:checkout_basket" not in {f["entity"] for f in then["functions"]}
    after = commit(shop)
    assert cli(*arguments, "--rev", "HEAD").json()["revision"] == after


def test_it_builds_and_refreshes_the_index_itself(cli, shop):
    arguments = ("localize", shop, "--text", "brand_new_thing", "--format", "json", "--jobs", 1)
    assert "new.py" not in cli(*arguments).out.split('"results"')[1]
    (shop / "new.py").write_text("def brand_new_thing():\n    pass\n")
    assert cli(*arguments).json()["functions"][0]["entity"] == "new.py:brand_new_thing"


def test_index_dir_is_used(cli, shop, tmp_path):
    assert cli("localize", shop, "--text", "cart", "--index-dir", tmp_path / "index").code == 0
    assert (tmp_path / "index/index.sqlite").is_file()
    assert not (shop / ".graphloc").exists()


def test_nothing_found_is_no_error_but_tells(cli, shop):
    result = cli("localize", shop, "--text", "zzzq wwwx")
    assert result.code == 1
    assert result.out == ""
    assert "nothing in the repository matches" in result.err
    result = cli("localize", shop, "--text", "zzzq wwwx", "--format", "json")
    document = result.json()
    assert result.code == 1
    assert [document[kind] for kind in ("results", "files", "classes", "functions")] == [[]] * 4
    document = json.loads(cli("localize", shop, "--text", "zzzq", "--format", "json").out)
    assert document["results"] == []


def test_the_same_question_has_the_same_answer(cli, shop):
    arguments = ("localize", shop, "--issue", "-", "--explain")
    answers = {
        cli(*arguments, stdin=TRACEBACK.encode(), env={"PYTHONHASHSEED": seed}).out
        for seed in ("0", "1", "77")
    }
    assert len(answers) == 1
