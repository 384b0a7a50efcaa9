"""``graphloc graph stats | neighbors | path | export``."""

from __future__ import annotations

import json

import networkx
import pytest


def test_stats_count_every_call_site(cli, shop):
    document = cli("graph", "stats", shop, "--format", "json").json()
    assert document["schema"] == "graphloc.stats/1"
    assert document["entities"] == {"directory": 3, "file": 4, "class": 3, "function": 8}
    assert document["edges"]["contains"] == sum(document["entities"].values()) - 1
    assert document["edges"]["inherits"] == 1
    assert list(document["call_sites"]) == [
        "certain",
        "inferred",
        "guessed",
        "external",
        "unresolved",
    ]
    assert document["sources"]["parse_failures"] == 0
    table = cli("graph", "stats", shop).out
    assert "call sites" in table
    assert "| entities | function | 8 |" in cli("graph", "stats", shop, "--format", "markdown").out


def test_stats_count_what_could_not_be_read(cli, shop):
    (shop / "broken.py").write_text("def f(:\n    pass\n\ndef g():\n    pass\n")
    document = cli("graph", "stats", shop, "--format", "json").json()
    assert document["sources"]["parse_failures"] >= 1
    assert document["entities"]["file"] == 5


def test_neighbors(cli, shop):
    name = "shop/cart.py:GiftCart.total"
    document = cli("graph", "neighbors", name, shop, "--format", "json").json()
    assert document["entity"] == name
    around = {found["entity"]: found for found in document["neighbors"]}
    fee = around["shop/cart.py:wrapping_fee"]
    assert fee["hops"] == 1
    assert fee["edge"] == {
        "source": name,
        "target": "shop/cart.py:wrapping_fee",
        "kind": "invokes",
        "line": 27,
        "confidence": 1.0,
    }
    assert "shop/cart.py:Cart.total" in around
    table = cli("graph", "neighbors", name, shop).out
    assert "used by it" in table
    assert "invokes" in table


def test_neighbors_by_hops_and_edges(cli, shop):
    name = "shop/cart.py:GiftCart.total"
    options = ("--edge", "invokes", "--format", "json")
    near = cli("graph", "neighbors", name, shop, *options).json()["neighbors"]
    far = cli("graph", "neighbors", name, shop, "--hops", 3, *options).json()["neighbors"]
    assert {found["edge"]["kind"] for found in far} == {"invokes"}
    assert len(near) < len(far)
    assert "shop/prices.py:discount_of" in {found["entity"] for found in far}
    sure = cli("graph", "neighbors", name, shop, "--hops", 3, "--min-confidence", 1, *options)
    assert all(found["edge"]["confidence"] == 1 for found in sure.json()["neighbors"])


def test_nothing_around(cli, shop):
    result = cli("graph", "neighbors", "shop/cart.py:wrapping_fee", shop, "--edge", "inherits")
    assert (result.code, result.out) == (1, "")
    assert "nothing is around" in result.err


@pytest.mark.parametrize("command", ["neighbors", "path"])
def test_an_entity_that_is_not_there(cli, shop, command):
    names = ("Cart.totl",) if command == "neighbors" else ("shop/cart.py", "shop/carts.py:total")
    result = cli("graph", command, *names, shop)
    assert result.code == 2
    assert "no entity" in result.err
    assert result.err.count("\n") == 1


def test_close_names_are_offered(cli, shop):
    result = cli("graph", "neighbors", "wrapping_fee", shop)
    assert "did you mean shop/cart.py:wrapping_fee?" in result.err


def test_path_prefers_what_tells_something(cli, shop):
    ends = ("shop/cart.py:GiftCart.total", "shop/prices.py:discount_of")
    lines = cli("graph", "path", *ends, shop).out.splitlines()
    assert (lines[0], lines[-1]) == ends
    assert not [line for line in lines if "contains" in line]
    assert "  -> invokes (line 27)" in lines
    document = cli("graph", "path", *ends, shop, "--format", "json").json()
    assert (document["from"], document["to"]) == ends
    assert len(document["path"]) == len(lines) // 2
    assert cli("graph", "path", *ends, shop, "--format", "markdown").out.startswith("| edge |")


def test_no_path(cli, shop):
    ends = ("shop/cart.py:GiftCart.total", "shop/prices.py:discount_of")
    result = cli("graph", "path", *ends, shop, "--edge", "inherits")
    assert (result.code, result.out) == (1, "")
    document = cli("graph", "path", *ends, shop, "--edge", "inherits", "--format", "json").json()
    assert document["path"] is None
    assert cli("graph", "path", ends[0], ends[0], shop).out == f"{ends[0]}\n"


def test_export_as_json(cli, shop):
    document = cli("graph", "export", shop, "--to", "json").json()
    assert list(document) == ["schema", "nodes", "edges", "unresolved"]
    assert document["schema"] == "graphloc.graph/1"
    assert list(document["nodes"][0]) == ["entity", "kind", "path", "start_line", "end_line"]
    assert list(document["edges"][0]) == ["source", "target", "kind", "line", "confidence"]
    names = {node["entity"] for node in document["nodes"]}
    assert all({edge["source"], edge["target"]} <= names for edge in document["edges"])
    assert {
        "source": "shop/cart.py:GiftCart",
        "target": "shop/cart.py:Cart",
        "kind": "inherits",
        "line": 23,
        "confidence": 1.0,
    } in document["edges"]


def test_calls_at_module_level_have_the_file_as_source(cli, shop):
    (shop / "run.py").write_text(
        "from shop.cart import wrapping_fee\n\nwrapping_fee()\nno_such()\n"
    )
    document = cli("graph", "export", shop, "--to", "json").json()
    calls = [edge for edge in document["edges"] if edge["source"] == "run.py"]
    assert ("invokes", 3) in {(edge["kind"], edge["line"]) for edge in calls}
    assert {"source": "run.py", "name": "no_such", "line": 4} in document["unresolved"]


def test_export_of_some_edges(cli, shop):
    document = cli("graph", "export", shop, "--to", "json", "--edge", "inherits").json()
    assert {edge["kind"] for edge in document["edges"]} == {"inherits"}
    assert document["unresolved"] == []
    sure = cli("graph", "export", shop, "--to", "json", "--min-confidence", "0.9").json()
    assert min(edge["confidence"] for edge in sure["edges"]) >= 0.9


def test_both_exports_say_the_same(cli, shop, tmp_path):
    graph = networkx.parse_graphml(cli("graph", "export", shop, "--to", "graphml").out)
    document = cli("graph", "export", shop, "--to", "json").json()
    assert set(graph.nodes) == {node["entity"] for node in document["nodes"]}
    edges = sorted(
        json.dumps({"source": source, "target": target} | data, sort_keys=True)
        for source, target, data in graph.edges(data=True)
    )
    assert edges == sorted(json.dumps(edge, sort_keys=True) for edge in document["edges"])


def test_export_needs_a_language(cli, shop):
    result = cli("graph", "export", shop)
    assert result.code == 2
    assert "--to" in result.err
    assert cli("graph").code == 2
    assert cli("graph", "--help").code == 0
