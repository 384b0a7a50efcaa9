"""Which edges a small package has; how calls resolve is tested with the resolution itself."""

from __future__ import annotations

import pytest

from indexes.graph import CodeGraph, EntityTable
from indexes.model import EdgeKind
from tests.indexes.sample_facts import graph_of

FILES = {
    "pkg/__init__.py": "from .core import Engine as Motor, start\nfrom .tools import *\n",
    "pkg/core.py": """from . import tools
from .tools import helper as aid
from .sub.deep import nothing_there
from ..pkg.base import Base


class Engine(Base):
    def run(self):
        return self.step() + aid()

    def step(self):
        return super().step()

    def stop(self):
        return tools.helper()


def start():
    from pkg.lazy import slow

    return slow(Engine())
""",
    "pkg/base.py": """class Root:
    def step(self):
        return 0

    def stop(self):
        return 0


class Base(Root):
    def stop(self):
        return 1
""",
    "pkg/tools.py": """__all__ = ["helper"]


def helper():
    return _inner(callback)


def _inner(function):
    return function()


def callback():
    return 1
""",
    "pkg/lazy.py": """import json
try:
    import pkg.base as base
except ImportError:
    base = None


def slow(engine):
    return base.Root()


value = slow(None)
""",
    "pkg/sub/__init__.py": "",
    "pkg/sub/deep.py": "from ...pkg import Motor\nfrom pkg import helper\nfrom .. import core\n",
    "tests/test_core.py": """from pkg import Motor, start
import pkg.tools


def test_start():
    assert start()
    assert Motor().run()
    missing_name()
""",
}

Sample = tuple[EntityTable, CodeGraph]


@pytest.fixture(scope="module")
def sample() -> Sample:
    return graph_of(FILES)


def edges(sample: Sample, kind: EdgeKind, source: str = "") -> set[tuple[str, str, int]]:
    """(source, target, line) of the edges of a kind."""
    entities, graph = sample
    found = {graph.edge(n) for n in range(len(graph))}
    named = {
        (entities.ids[e.source], entities.ids[e.target], e.line) for e in found if e.kind == kind
    }
    return {edge for edge in named if edge[0].startswith(source)}


def test_the_tree_of_folders_files_and_definitions(sample: Sample) -> None:
    entities, _ = sample
    found = edges(sample, EdgeKind.CONTAINS)

    assert {target for _, target, _ in found} == set(entities.ids) - {"."}
    assert len(found) == len(entities) - 1
    assert (".", "pkg", 0) in found
    assert ("pkg", "pkg/sub", 0) in found
    assert ("pkg/sub", "pkg/sub/deep.py", 0) in found
    assert ("pkg/core.py", "pkg/core.py:Engine", 0) in found
    assert ("pkg/core.py:Engine", "pkg/core.py:Engine.run", 0) in found


def test_a_relative_import_reaches_the_module_and_the_name(sample: Sample) -> None:
    assert edges(sample, EdgeKind.IMPORTS, "pkg/core.py") == {
        ("pkg/core.py", "pkg/__init__.py", 1),
        ("pkg/core.py", "pkg/tools.py", 1),
        ("pkg/core.py", "pkg/tools.py", 2),
        ("pkg/core.py", "pkg/tools.py:helper", 2),
        ("pkg/core.py", "pkg/sub/deep.py", 3),
        ("pkg/core.py", "pkg/base.py", 4),
        ("pkg/core.py", "pkg/base.py:Base", 4),
        ("pkg/core.py:start", "pkg/lazy.py", 19),
        ("pkg/core.py:start", "pkg/lazy.py:slow", 19),
    }


def test_a_re_exported_name_leads_to_its_definition(sample: Sample) -> None:
    assert edges(sample, EdgeKind.IMPORTS, "pkg/sub") == {
        ("pkg/sub/deep.py", "pkg/__init__.py", 1),
        ("pkg/sub/deep.py", "pkg/core.py:Engine", 1),
        ("pkg/sub/deep.py", "pkg/__init__.py", 2),
        ("pkg/sub/deep.py", "pkg/tools.py:helper", 2),
        ("pkg/sub/deep.py", "pkg/__init__.py", 3),
        ("pkg/sub/deep.py", "pkg/core.py", 3),
    }


def test_a_star_imports_the_module(sample: Sample) -> None:
    assert ("pkg/__init__.py", "pkg/tools.py", 2) in edges(sample, EdgeKind.IMPORTS)


def test_an_import_under_try_counts_and_one_from_elsewhere_has_no_edge(sample: Sample) -> None:
    assert edges(sample, EdgeKind.IMPORTS, "pkg/lazy.py") == {("pkg/lazy.py", "pkg/base.py", 3)}


def test_a_local_import_belongs_to_its_function(sample: Sample) -> None:
    found = edges(sample, EdgeKind.IMPORTS, "pkg/core.py:")
    assert {source for source, _, _ in found} == {"pkg/core.py:start"}


def test_bases_and_overridden_methods(sample: Sample) -> None:
    assert edges(sample, EdgeKind.INHERITS) == {
        ("pkg/core.py:Engine", "pkg/base.py:Base", 7),
        ("pkg/base.py:Base", "pkg/base.py:Root", 9),
    }
    assert edges(sample, EdgeKind.OVERRIDES) == {
        ("pkg/core.py:Engine.step", "pkg/base.py:Root.step", 0),
        # The nearest one, not the one at the root.
        ("pkg/core.py:Engine.stop", "pkg/base.py:Base.stop", 0),
        ("pkg/base.py:Base.stop", "pkg/base.py:Root.stop", 0),
    }


def test_a_function_handed_on_is_a_reference_and_called_where_it_arrives(sample: Sample) -> None:
    assert edges(sample, EdgeKind.REFERENCES) == {
        ("pkg/tools.py:helper", "pkg/tools.py:callback", 5)
    }
    assert ("pkg/tools.py:_inner", "pkg/tools.py:callback", 9) in edges(sample, EdgeKind.INVOKES)


def test_calls_of_a_module_have_the_file_as_their_source(sample: Sample) -> None:
    assert ("pkg/lazy.py", "pkg/lazy.py:slow", 12) in edges(sample, EdgeKind.INVOKES)


def test_tests_are_tied_to_what_they_call_and_import(sample: Sample) -> None:
    assert edges(sample, EdgeKind.TESTS) == {
        ("tests/test_core.py", "pkg/__init__.py", 1),
        ("tests/test_core.py", "pkg/core.py:Engine", 1),
        ("tests/test_core.py", "pkg/core.py:start", 1),
        ("tests/test_core.py", "pkg/tools.py", 2),
        ("tests/test_core.py:test_start", "pkg/core.py:start", 6),
        ("tests/test_core.py:test_start", "pkg/core.py:Engine", 7),
        ("tests/test_core.py:test_start", "pkg/core.py:Engine.run", 7),
    }


def test_a_call_that_leads_nowhere_is_kept_with_its_line(sample: Sample) -> None:
    entities, graph = sample
    found = [(entities.ids[u.source], u.name, u.line) for u in graph.unresolved()]
    assert found == [("tests/test_core.py:test_start", "missing_name", 8)]
    assert graph.counts()["unresolved"] == 1


def test_edges_are_sorted_by_source_and_each_is_there_once(sample: Sample) -> None:
    _, graph = sample
    assert (graph.sources[:-1] <= graph.sources[1:]).all()
    found = [graph.edge(n) for n in range(len(graph))]
    assert len({(e.source, e.target, e.kind, e.line) for e in found}) == len(found)
    assert all(0 < e.confidence <= 1 for e in found)


def test_no_files_make_a_graph_without_edges() -> None:
    entities, graph = graph_of({})
    assert (len(entities), len(graph), graph.n_nodes) == (1, 0, 1)
    assert graph.unresolved() == []
    assert set(graph.counts().values()) == {0}
