"""The code graph's arrays and traversals, against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from indexes.arrays import pack_arrays, pack_texts, unpack_arrays
from indexes.graph import CodeGraph
from indexes.graph.code_graph import COUNT_NAMES, EDGE_KINDS
from indexes.model import EdgeKind

N_NODES = 40


def random_graph(seed: int, n_edges: int = 70) -> CodeGraph:
    """A graph with parallel edges, loops and lonely nodes."""
    random = np.random.default_rng(seed)
    sources = np.sort(random.integers(0, N_NODES, n_edges)).astype(np.int32)
    return CodeGraph(
        {
            "n_nodes": np.array([N_NODES]),
            "sources": sources,
            "targets": random.integers(0, N_NODES, n_edges).astype(np.int32),
            "kinds": random.integers(0, len(EDGE_KINDS), n_edges).astype(np.uint8),
            "lines": random.integers(1, 500, n_edges).astype(np.int32),
            "confidences": random.choice([0.4, 0.8, 1.0], n_edges).astype(np.float32),
            "unresolved": np.array([[3, 17], [5, 2]], dtype=np.int32),
            "unresolved_names": pack_texts(["open_it", "a.b"]),
            "counts": np.arange(5),
        }
    )


def reference(
    graph: CodeGraph, kinds: set[EdgeKind] | None = None, min_confidence: float = 0.0
) -> nx.MultiGraph:
    """The edges that are asked for, without directions, for networkx."""
    found = nx.MultiGraph()
    found.add_nodes_from(range(graph.n_nodes))
    for number in range(len(graph)):
        edge = graph.edge(number)
        if (not kinds or edge.kind in kinds) and edge.confidence >= min_confidence:
            found.add_edge(edge.source, edge.target)
    return found


CHOICES = [(None, 0.0), ({EdgeKind.INVOKES, EdgeKind.CONTAINS, EdgeKind.IMPORTS}, 0.0), (None, 0.8)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("kinds", "min_confidence"), CHOICES)
def test_neighbors_are_those_that_networkx_finds(
    seed: int, kinds: set[EdgeKind] | None, min_confidence: float
) -> None:
    graph = random_graph(seed)
    expected = reference(graph, kinds, min_confidence)
    for row in range(0, N_NODES, 7):
        distances = nx.single_source_shortest_path_length(expected, row, cutoff=3)
        found = graph.neighbors(row, 3, kinds, min_confidence)

        assert {other: hops for other, hops, _ in found} == {
            other: hops for other, hops in distances.items() if other != row
        }
        hops = [at for _, at, _ in found]
        assert hops == sorted(hops)
        for other, _, edge in found:
            assert other in {edge.source, edge.target}
            assert not kinds or edge.kind in kinds
            assert edge.confidence >= min_confidence


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("kinds", "min_confidence"), CHOICES)
def test_shortest_paths_are_as_short_as_those_of_networkx(
    seed: int, kinds: set[EdgeKind] | None, min_confidence: float
) -> None:
    graph = random_graph(seed)
    expected = dict(nx.all_pairs_shortest_path_length(reference(graph, kinds, min_confidence)))
    for start in range(0, N_NODES, 9):
        for goal in range(N_NODES):
            path = graph.shortest_path(start, goal, kinds, min_confidence)
            if goal not in expected[start]:
                assert path is None
                continue
            assert path is not None
            assert len(path) == expected[start][goal]
            at = start
            for edge in path:
                assert at in {edge.source, edge.target}
                at = edge.target if at == edge.source else edge.source
            assert at == goal


def test_edges_in_and_out_of_every_row() -> None:
    graph = random_graph(1)
    expected = nx.MultiDiGraph()
    expected.add_nodes_from(range(N_NODES))
    for number in range(len(graph)):
        edge = graph.edge(number)
        expected.add_edge(edge.source, edge.target, number=number)

    for row in range(N_NODES):
        outgoing = {data["number"] for _, _, data in expected.out_edges(row, data=True)}
        incoming = {data["number"] for _, _, data in expected.in_edges(row, data=True)}
        assert set(graph.out_edges(row).tolist()) == outgoing
        assert set(graph.in_edges(row).tolist()) == incoming


def test_a_selection_by_kind_and_confidence() -> None:
    graph = random_graph(2)
    mask = graph.select({EdgeKind.INHERITS}, 0.8)
    expected = [
        graph.edge(n).kind == EdgeKind.INHERITS and graph.edge(n).confidence >= 0.8
        for n in range(len(graph))
    ]
    assert mask.tolist() == expected
    assert graph.select().all()
    assert graph.select(set()).all()


def test_an_edge_as_a_value() -> None:
    graph = random_graph(3)
    edge = graph.edge(10)
    assert (edge.source, edge.target) == (graph.sources[10], graph.targets[10])
    assert edge.kind is EDGE_KINDS[graph.kinds[10]]
    assert edge.line == graph.lines[10]
    assert edge.confidence in {0.4, 0.8, 1.0}


def test_unresolved_calls_and_counts() -> None:
    graph = random_graph(4)
    assert [(u.source, u.name, u.line) for u in graph.unresolved()] == [
        (3, "open_it", 17),
        (5, "a.b", 2),
    ]
    assert graph.counts() == dict(zip(COUNT_NAMES, range(5), strict=True))


def test_a_graph_comes_back_from_its_arrays() -> None:
    graph = random_graph(5)
    again = CodeGraph(unpack_arrays(pack_arrays(graph.to_arrays())))
    assert [again.edge(n) for n in range(len(again))] == [graph.edge(n) for n in range(len(graph))]
    assert again.unresolved() == graph.unresolved()


def test_no_hops_and_no_edges_find_nobody() -> None:
    graph = random_graph(0)
    assert graph.neighbors(0, 0) == []
    empty = random_graph(0, n_edges=0)
    assert empty.neighbors(3, 5) == []
    assert empty.shortest_path(3, 4) is None
    assert empty.shortest_path(3, 3) == []
