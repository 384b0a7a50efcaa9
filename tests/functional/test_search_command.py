"""``graphloc search``."""

from __future__ import annotations


def entities(result):
    return [found["entity"] for found in result.json()["results"]]


def test_names_come_before_words(cli, shop):
    found = entities(cli("search", "Cart", shop, "--format", "json"))
    assert found[:2] == ["shop/cart.py:Cart", "shop/cart.py"]
    assert "shop/cart.py:GiftCart" in found
    assert entities(cli("search", "GiftCart.total", shop, "--format", "json"))[0] == (
        "shop/cart.py:GiftCart.total"
    )
    assert entities(cli("search", "shop/cart.py:Cart.add", shop, "--format", "json"))[0] == (
        "shop/cart.py:Cart.add"
    )


def test_words_are_found_in_docstrings_and_messages(cli, shop):
    assert entities(cli("search", "seasonal discounts", shop, "--format", "json"))[0] == (
        "shop/prices.py:discount_of"
    )
    result = cli("search", "must not be negative", shop, "--format", "json")
    assert entities(result)[0] == "shop/cart.py:Cart.add"
    assert "strings" in result.json()["results"][0]["matched"]


def test_kinds_and_number(cli, shop):
    result = cli("search", "cart", shop, "--kind", "class", "--kind", "file", "--format", "json")
    assert {found["kind"] for found in result.json()["results"]} == {"class", "file"}
    assert len(entities(cli("search", "cart", shop, "--top-k", 1, "--format", "json"))) == 1


def test_json_fields(cli, shop):
    document = cli("search", "cart", shop, "--format", "json").json()
    assert list(document) == ["schema", "query", "results"]
    assert document["schema"] == "graphloc.search/1"
    assert list(document["results"][0]) == [
        "rank",
        "entity",
        "kind",
        "path",
        "start_line",
        "end_line",
        "score",
        "matched",
    ]


def test_tables(cli, shop):
    table = cli("search", "discount_of", shop).out.splitlines()
    assert table[0].split() == ["#", "score", "kind", "entity", "lines", "found", "in"]
    assert "shop/prices.py:discount_of" in table[2]
    narrow = cli("search", "discount_of", shop, env={"COLUMNS": "60"}).out.splitlines()
    assert max(map(len, narrow)) <= 60
    markdown = cli("search", "discount_of", shop, "--format", "markdown").out.splitlines()
    assert markdown[1] == "| --- | --- | --- | --- | --- | --- |"


def test_in_a_revision(cli, shop):
    (shop / "shop/prices.py").unlink()
    name = "shop/prices.py:discount_of"
    assert name not in entities(cli("search", name, shop, "--format", "json"))
    result = cli("search", name, shop, "--rev", "HEAD", "--format", "json")
    assert entities(result)[0] == name


def test_nothing_found(cli, shop):
    result = cli("search", "zzzq", shop)
    assert (result.code, result.out) == (1, "")
    assert result.err == "graphloc: nothing is named or holds the words 'zzzq'\n"
    assert cli("search", " ", shop).code == 2
