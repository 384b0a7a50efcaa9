"""The code graph: resolution of imports, bases and calls; traversal; export."""

from indexes.graph.assembly import build_graph
from indexes.graph.code_graph import CodeGraph, Edge, Unresolved
from indexes.graph.entities import EntityTable, build_entities

__all__ = ["CodeGraph", "Edge", "EntityTable", "Unresolved", "build_entities", "build_graph"]
