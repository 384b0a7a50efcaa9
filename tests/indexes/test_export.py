"""The code graph for networkx, JSON and GraphML."""

from __future__ import annotations

import json

import networkx
import pytest

from indexes.builder import build_index
from indexes.graph.export import GraphView, iter_graphml, iter_json, to_networkx
from indexes.model import EdgeKind
from indexes.source import open_source
from indexes.store import Store

FILES = {
    "pkg/__init__.py": b"",
    "pkg/a.py": b"from pkg.b import helper\n\n\nclass A:\n    def run(self):\n"
    b"        helper()\n        helper()\n        unknown.call()\n",
    "pkg/b.py": b"def helper():\n    pass\n",
    'caf\udce9 <&>".py': b"def odd():\n    pass\n",
}


@pytest.fixture
def snapshot(tmp_path):
    folder = tmp_path / "tree"
    for name, data in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    with Store.open(tmp_path / "index") as store:
        snapshot, _ = build_index(open_source(folder), store, jobs=1)
        yield snapshot


@pytest.fixture
def view(snapshot):
    return GraphView(snapshot.entities, snapshot.graph)


def test_networkx_has_every_node_and_edge(snapshot, view):
    graph = to_networkx(view)
    assert isinstance(graph, networkx.MultiDiGraph)
    assert list(graph.nodes) == snapshot.entities.ids
    assert graph.number_of_edges() == len(snapshot.graph)
    node = graph.nodes["pkg/a.py:A.run"]
    assert (node["kind"], node["path"], node["name"]) == ("function", "pkg/a.py", "A.run")
    assert (node["start_line"], node["end_line"], node["is_test"]) == (5, 8, False)
    assert ("pkg/a.py:A.run", 8) in {
        (source, line) for source, _, line in graph.graph["unresolved"]
    }


def test_two_calls_are_two_edges(view):
    edges = to_networkx(view).get_edge_data("pkg/a.py:A.run", "pkg/b.py:helper").values()
    calls = [edge for edge in edges if edge["kind"] == "invokes"]
    assert [edge["line"] for edge in calls] == [6, 7]


def test_all_three_agree(view):
    graph = to_networkx(GraphView(view.entities, view.graph))
    document = json.loads("".join(iter_json(view)))
    parsed = networkx.parse_graphml("".join(iter_graphml(view)), force_multigraph=True)
    assert len(document["nodes"]) == len(parsed) == len(graph)
    assert len(document["edges"]) == parsed.number_of_edges() == graph.number_of_edges()
    assert set(parsed) == {node["entity"] for node in document["nodes"]}
    in_json = sorted((e["source"], e["target"], e["kind"], e["line"]) for e in document["edges"])
    in_graphml = sorted(
        (source, target, data["kind"], data["line"])
        for source, target, data in parsed.edges(data=True)
    )
    assert in_json == in_graphml


def test_names_that_no_encoding_takes_are_escaped(view):
    names = [node.entity for node in view.iter_nodes()]
    assert 'caf\\xe9 <&>".py:odd' in names
    for text in (*iter_json(view), *iter_graphml(view)):
        text.encode("utf-8")


def test_edges_by_kind_and_confidence(snapshot):
    view = GraphView(snapshot.entities, snapshot.graph, [EdgeKind.CONTAINS])
    assert {edge.kind for edge in view.iter_edges()} == {"contains"}
    assert list(view.iter_unresolved()) == []
    sure = GraphView(snapshot.entities, snapshot.graph, min_confidence=0.9)
    assert all(edge.confidence >= 0.9 for edge in sure.iter_edges())


def test_an_edge_a_line(view):
    lines = "".join(iter_json(view)).splitlines()
    assert len(lines) > len(view.graph)
