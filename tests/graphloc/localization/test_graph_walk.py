"""Spreading over the graph and the paths that show it, against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from graphloc.localization.anchor_paths import MOST_HOPS, AnchorPaths
from graphloc.localization.walk import KIND_WEIGHTS, RESTART, ROUNDS, GraphWalk
from indexes.arrays import pack_texts
from indexes.graph import CodeGraph, EntityTable
from indexes.graph.code_graph import EDGE_KINDS, KIND_NUMBERS
from indexes.model import EdgeKind
from tests.graphloc.localization.indexed_samples import Sample

N = 60


def random_graph(seed: int, n_edges: int = 150) -> tuple[CodeGraph, EntityTable]:
    """A graph of functions, some of them tests, some rows folders."""
    random = np.random.default_rng(seed)
    sources = np.sort(random.integers(0, N, n_edges)).astype(np.int32)
    graph = CodeGraph(
        {
            "n_nodes": np.array([N]),
            "sources": sources,
            "targets": random.integers(0, N, n_edges).astype(np.int32),
            "kinds": random.integers(0, len(EDGE_KINDS), n_edges).astype(np.uint8),
            "lines": random.integers(1, 500, n_edges).astype(np.int32),
            "confidences": random.choice([0.4, 0.8, 1.0], n_edges).astype(np.float32),
            "unresolved": np.zeros((0, 2), np.int32),
            "unresolved_names": pack_texts([]),
            "counts": np.zeros(5, np.int64),
        }
    )
    kinds = np.where(np.arange(N) < 6, 0, 3).astype(np.uint8)
    numbers = np.zeros(N, np.int32)
    entities = EntityTable(
        {
            "kinds": kinds,
            "files": numbers,
            "parents": numbers - 1,
            "starts": numbers,
            "ends": numbers,
            "file_rows": numbers[:1],
            "is_test": np.arange(N) % 10 == 9,
        }
    )
    return graph, entities


def weighted(graph: CodeGraph, entities: EntityTable, *, folders: bool) -> nx.Graph:
    """The edges of a walk, weights of parallel ones added up, for networkx."""
    found = nx.Graph()
    found.add_nodes_from(range(graph.n_nodes))
    for number in range(len(graph)):
        edge = graph.edge(number)
        ends = (edge.source, edge.target)
        weight = KIND_WEIGHTS[edge.kind] * edge.confidence
        if entities.is_test[list(ends)].any() or not weight:
            continue
        if not folders and entities.kinds[edge.source] == 0:
            continue
        # An edge doubled into both directions is a loop twice over, which networkx counts once.
        weight *= 2 if edge.source == edge.target else 1
        known = found.get_edge_data(*ends, {"weight": 0.0})["weight"]
        found.add_edge(*ends, weight=known + weight)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_a_walk_comes_close_to_the_pagerank_of_networkx(seed: int) -> None:
    graph, entities = random_graph(seed)
    reference = weighted(graph, entities, folders=True)
    connected = [row for row in range(N) if reference.degree(row)]
    anchors = {connected[3]: 2.0, connected[7]: 1.0, connected[20]: 0.5}
    total = sum(anchors.values())
    start = {row: anchors.get(row, 0.0) / total for row in range(N)}
    expected = nx.pagerank(
        reference, alpha=1 - RESTART, personalization=start, dangling=start, tol=1e-12
    )

    found = GraphWalk(graph, entities).spread(anchors)

    assert found.dtype == np.float32
    unfinished = (1 - RESTART) ** ROUNDS
    difference = np.abs(found - np.array([expected[row] for row in range(N)])).sum()
    assert difference <= 2 * unfinished
    assert difference < 0.05
    ranked = np.argsort(-found, kind="stable")[:5].tolist()
    assert set(ranked) & set(sorted(expected, key=lambda row: -expected[row])[:5]) >= set(anchors)


def test_a_walk_loses_nothing_where_every_anchor_has_edges() -> None:
    graph, entities = random_graph(1)
    reference = weighted(graph, entities, folders=True)
    anchors = [row for row in range(N) if reference.degree(row)][:4]
    found = GraphWalk(graph, entities).spread(dict.fromkeys(anchors, 1.0))
    assert found.sum() == pytest.approx(1.0, abs=1e-5)
    assert (found >= 0).all()


def test_a_walk_never_comes_to_tests() -> None:
    graph, entities = random_graph(2)
    found = GraphWalk(graph, entities).spread({10: 1.0, 11: 1.0})
    assert not found[entities.is_test].any()


def test_a_walk_without_anchors_goes_nowhere() -> None:
    graph, entities = random_graph(3)
    assert not GraphWalk(graph, entities).spread({}).any()
    empty, table = random_graph(3, n_edges=0)
    alone = GraphWalk(empty, table).spread({5: 1.0})
    assert np.flatnonzero(alone).tolist() == [5]


def test_every_kind_of_edge_has_a_weight() -> None:
    assert set(KIND_WEIGHTS) == set(EdgeKind)
    assert KIND_WEIGHTS[EdgeKind.TESTS] == 0


@pytest.mark.parametrize("seed", range(6))
def test_paths_are_as_short_as_those_of_networkx(seed: int) -> None:
    graph, entities = random_graph(seed, n_edges=90)
    reference = weighted(graph, entities, folders=False)
    anchors = [12, 25, 37]
    expected = nx.multi_source_dijkstra_path_length(reference, set(anchors), weight=lambda *_: 1)
    paths = GraphWalk(graph, entities).paths_from(anchors)

    for goal in range(N):
        found = paths.find_path(goal)
        hops = expected.get(goal, MOST_HOPS + 1)
        assert len(found) == (hops if hops <= MOST_HOPS else 0)
        if found:
            at = found[0].source if found[0].source in anchors else found[0].target
            assert at in anchors
            for edge in found:
                assert at in {edge.source, edge.target}
                at = edge.target if at == edge.source else edge.source
                assert not entities.is_test[at]
                assert KIND_WEIGHTS[edge.kind] > 0
            assert at == goal


def test_the_weightier_of_two_edges_is_shown() -> None:
    graph, _ = random_graph(0, n_edges=0)
    columns = {
        "sources": np.array([1, 1, 2], np.int32),
        "targets": np.array([3, 3, 3], np.int32),
        "kinds": np.array(
            [KIND_NUMBERS[k] for k in (EdgeKind.IMPORTS, EdgeKind.INVOKES, EdgeKind.INVOKES)],
            np.uint8,
        ),
        "lines": np.array([5, 6, 7], np.int32),
        "confidences": np.ones(3, np.float32),
    }
    graph = CodeGraph(graph.to_arrays() | columns)
    paths = AnchorPaths(graph, np.array([0.3, 1.0, 0.8]), [1, 2])
    assert [edge.line for edge in paths.find_path(3)] == [6]
    assert paths.find_path(1) == []
    assert paths.find_path(40) == []
    assert AnchorPaths(graph, np.array([0.3, 1.0, 0.8]), []).find_path(3) == []


def test_sharing_a_folder_is_no_path(bakery: Sample) -> None:
    entities = bakery.snapshot.entities
    walk = GraphWalk(bakery.snapshot.graph, entities)
    paths = walk.paths_from([entities.get("setup.py")])
    assert paths.find_path(entities.get("bakery/util/clock.py")) == []


def test_of_two_short_paths_the_weightier_is_shown(bakery: Sample) -> None:
    entities = bakery.snapshot.entities
    walk = GraphWalk(bakery.snapshot.graph, entities)
    paths = walk.paths_from([entities.get("bakery/dough.py:knead")])
    found = [
        (entities.ids[edge.source], edge.kind, entities.ids[edge.target])
        for edge in paths.find_path(entities.get("bakery/oven.py:Oven"))
    ]
    # The file around the class imports the function, too, which says less.
    assert found == [
        ("bakery/oven.py:Oven.bake", EdgeKind.INVOKES, "bakery/dough.py:knead"),
        ("bakery/oven.py:Oven", EdgeKind.CONTAINS, "bakery/oven.py:Oven.bake"),
    ]
