"""The code graph for other programs: networkx, JSON and GraphML.

The writers yield text piece by piece, so that a graph of millions of edges needs no more memory
than its arrays. Names with characters that JSON or XML cannot carry are written as
`printable_path` shows them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar
from xml.sax.saxutils import escape, quoteattr

import msgspec
import numpy as np
import numpy.typing as npt

from indexes.graph.code_graph import EDGE_KINDS, CodeGraph
from indexes.graph.entities import FILE, KINDS, EntityTable
from indexes.model import EdgeKind
from indexes.source.model import printable_path

if TYPE_CHECKING:
    import networkx

SCHEMA = "graphloc.graph/1"
_CHUNK = 10_000
"""Nodes or edges turned into text at a time: about 2 MB."""
_GRAPHML_KEYS = (
    ("kind", "node", "string"),
    ("path", "node", "string"),
    ("start_line", "node", "int"),
    ("end_line", "node", "int"),
    ("is_test", "node", "boolean"),
    ("edge_kind", "edge", "string"),
    ("line", "edge", "int"),
    ("confidence", "edge", "double"),
)

_Record = TypeVar("_Record", bound="NodeRecord | EdgeRecord | UnresolvedRecord")


class NodeRecord(msgspec.Struct, frozen=True):
    """One node as JSON has it."""

    entity: str
    kind: str
    path: str
    start_line: int
    end_line: int


class EdgeRecord(msgspec.Struct, frozen=True):
    """One edge as JSON has it."""

    source: str
    target: str
    kind: str
    line: int
    confidence: float


class UnresolvedRecord(msgspec.Struct, frozen=True):
    """A call whose target is not known, as JSON has it."""

    source: str
    name: str
    line: int


@dataclass(frozen=True, slots=True)
class GraphView:
    """A graph with its entities, less the edges that are not wanted.

    Attributes
    ----------
    kinds
        Kinds of edges wanted; all when empty.
    min_confidence
        Edges less sure are left out; in [0, 1].
    """

    entities: EntityTable
    graph: CodeGraph
    kinds: Collection[EdgeKind] = ()
    min_confidence: float = 0.0

    def iter_nodes(self) -> Iterator[NodeRecord]:
        """Yield all nodes in the order of rows."""
        for start in range(0, len(self.entities), _CHUNK):
            yield from self._nodes(slice(start, start + _CHUNK))

    def iter_edges(self) -> Iterator[EdgeRecord]:
        """Yield the wanted edges, sorted by the row of their source."""
        numbers = np.flatnonzero(self.graph.select(self.kinds, self.min_confidence))
        for start in range(0, len(numbers), _CHUNK):
            yield from self._edges(numbers[start : start + _CHUNK])

    def iter_unresolved(self) -> Iterator[UnresolvedRecord]:
        """Yield the calls whose target is not known; none unless calls are wanted."""
        if self.kinds and EdgeKind.INVOKES not in self.kinds:
            return
        ids = self.entities.ids
        for call in self.graph.unresolved():
            name = printable_path(call.name)
            yield UnresolvedRecord(printable_path(ids[call.source]), name, call.line)

    def _nodes(self, rows: slice) -> Iterator[NodeRecord]:
        table = self.entities
        columns = (table.kinds, table.files, table.starts, table.ends)
        for entity, kind, file, start, end in zip(
            table.ids[rows], *(column[rows].tolist() for column in columns), strict=True
        ):
            path = table.paths[file] if kind >= FILE else entity
            yield NodeRecord(
                printable_path(entity), str(KINDS[kind]), printable_path(path), start, end
            )

    def _edges(self, numbers: npt.NDArray[np.int64]) -> Iterator[EdgeRecord]:
        ids, graph = self.entities.ids, self.graph
        columns = (graph.sources, graph.targets, graph.kinds, graph.lines, graph.confidences)
        for source, target, kind, line, confidence in zip(
            *(column[numbers].tolist() for column in columns), strict=True
        ):
            yield EdgeRecord(
                printable_path(ids[source]),
                printable_path(ids[target]),
                str(EDGE_KINDS[kind]),
                line,
                round(confidence, 3),
            )


def iter_json(view: GraphView) -> Iterator[str]:
    """Yield a graph as JSON text in the schema ``graphloc.graph/1``, one node or edge a line."""
    yield f'{{"schema": "{SCHEMA}"'
    yield from _iter_member("nodes", view.iter_nodes())
    yield from _iter_member("edges", view.iter_edges())
    yield from _iter_member("unresolved", view.iter_unresolved())
    yield "}\n"


def _iter_member(name: str, records: Iterator[_Record]) -> Iterator[str]:
    """Yield one member of the document with its list."""
    encode = msgspec.json.Encoder().encode
    yield f',\n"{name}": ['
    separator = "\n"
    for record in records:
        yield f"{separator}{encode(record).decode()}"
        separator = ",\n"
    yield "\n]" if separator == ",\n" else "]"


def iter_graphml(view: GraphView) -> Iterator[str]:
    """Yield a graph as GraphML text, UTF-8, that networkx, Gephi and yEd read.

    Brandes et al., "GraphML Progress Report" (GD 2001), http://graphml.graphdrawing.org. Calls
    whose target is not known have no place in it.
    """
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for name, domain, kind in _GRAPHML_KEYS:
        shown = name.removeprefix("edge_")
        yield f'<key id="{name}" for="{domain}" attr.name="{shown}" attr.type="{kind}"/>\n'
    yield '<graph id="code" edgedefault="directed">\n'
    for node, is_test in zip(view.iter_nodes(), view.entities.is_test.tolist(), strict=True):
        yield (
            f"<node id={quoteattr(node.entity)}>{_data('kind', node.kind)}"
            f"{_data('path', node.path)}{_data('start_line', node.start_line)}"
            f"{_data('end_line', node.end_line)}{_data('is_test', str(is_test).lower())}</node>\n"
        )
    for number, edge in enumerate(view.iter_edges()):
        yield (
            f'<edge id="e{number}" source={quoteattr(edge.source)} target={quoteattr(edge.target)}>'
            f"{_data('edge_kind', edge.kind)}{_data('line', edge.line)}"
            f"{_data('confidence', edge.confidence)}</edge>\n"
        )
    yield "</graph>\n</graphml>\n"


def _data(key: str, value: object) -> str:
    return f'<data key="{key}">{escape(str(value))}</data>'


def to_networkx(view: GraphView) -> networkx.MultiDiGraph[str]:
    """Return a graph for networkx.

    Returns
    -------
    networkx.MultiDiGraph
        Nodes are entity ids, as files have them, with ``kind``, ``path``, ``name``,
        ``start_line``, ``end_line``, ``is_test``, ``signature`` and ``docstring``; edges carry
        ``kind``, ``line`` and ``confidence``. The graph's own attribute ``unresolved`` lists
        (source, name, line) of calls whose target is not known.

    Notes
    -----
    Takes about 1 kB a node and 0.5 kB an edge; `CodeGraph` itself needs 17 bytes an edge.
    """
    import networkx  # noqa: PLC0415 - 0.2 s that nobody else should wait for

    table, graph = view.entities, view.graph
    result: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
    for row in range(len(table)):
        entity = table.entity(row)
        result.add_node(
            entity.id,
            kind=str(entity.kind),
            path=entity.path,
            name=entity.name,
            start_line=entity.span.start_line,
            end_line=entity.span.end_line,
            is_test=entity.is_test,
            signature=entity.signature,
            docstring=entity.docstring,
        )
    for number in np.flatnonzero(graph.select(view.kinds, view.min_confidence)).tolist():
        edge = graph.edge(number)
        result.add_edge(
            table.ids[edge.source],
            table.ids[edge.target],
            kind=str(edge.kind),
            line=edge.line,
            confidence=edge.confidence,
        )
    result.graph["unresolved"] = [
        (table.ids[call.source], call.name, call.line) for call in graph.unresolved()
    ]
    return result
