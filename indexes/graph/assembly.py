"""From resolved facts to the arrays of the code graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from indexes.arrays import pack_texts
from indexes.facts import FileFacts
from indexes.graph.code_graph import KIND_NUMBERS, CodeGraph
from indexes.graph.entities import EntityTable
from indexes.graph.guesses import guess
from indexes.graph.hierarchy import Hierarchy
from indexes.graph.modules import Module
from indexes.graph.program import LinkedFile, Program
from indexes.graph.solver import Solution, solve
from indexes.graph.values import ValueKind
from indexes.model import Confidence, EdgeKind


@dataclass(slots=True)
class _EdgeList:
    """Edges while they are collected; the surest of equal ones stays."""

    best: dict[tuple[int, int, int, int], float] = field(default_factory=dict)

    def add(self, source: int, target: int, kind: EdgeKind, line: int, confidence: float) -> None:
        key = (source, KIND_NUMBERS[kind], target, line)
        if source != target or kind == EdgeKind.INVOKES:
            self.best[key] = max(self.best.get(key, 0.0), confidence)


class _Assembler:
    """Collects the edges of one program."""

    def __init__(
        self, program: Program, entities: EntityTable, owner_rows: list[list[int]]
    ) -> None:
        self._program = program
        self._entities = entities
        self._owner_rows = owner_rows
        self._hierarchy = Hierarchy(program)
        self._edges = _EdgeList()
        self._folder_rows = {
            entities.names[row]: row for row in range(len(entities)) if entities.kinds[row] == 0
        }

    def assemble(self) -> CodeGraph:
        """All edges, derived ones too."""
        solution = solve(self._program, self._hierarchy)
        guesses = guess(self._program, solution)
        self._add_tree()
        for number, linked in enumerate(self._program.files):
            self._add_imports(number, linked)
        self._add_inheritance()
        for (source, target, line), confidence in [*solution.edges.items(), *guesses.items()]:
            self._add_scope_edge(source, target, EdgeKind.INVOKES, line, confidence)
        for source, target, line in solution.references:
            if (source, target, line) not in solution.edges:
                self._add_scope_edge(source, target, EdgeKind.REFERENCES, line, Confidence.CERTAIN)
        self._add_tests()
        return self._to_graph(solution, guesses)

    def _row(self, scope: int) -> int:
        """Row of the entity that a scope belongs to."""
        return self._owner_rows[self._program.file_of[scope]][self._program.scopes[scope].owner]

    def _add_scope_edge(
        self, source: int, target: int, kind: EdgeKind, line: int, confidence: float
    ) -> None:
        self._edges.add(self._row(source), self._row(target), kind, line, confidence)

    def _add_tree(self) -> None:
        for row, parent in enumerate(self._entities.parents.tolist()):
            if parent >= 0:
                self._edges.add(parent, row, EdgeKind.CONTAINS, 0, Confidence.CERTAIN)

    def _add_imports(self, number: int, linked: LinkedFile) -> None:
        program = self._program
        for item in linked.facts.imports:
            owner = linked.facts.scopes[item.scope].owner
            source = self._owner_rows[number][owner]
            module = program.resolve_import(item, linked.path)
            if module is None:
                continue
            targets = {self._module_row(module)}
            if item.name and item.name != "*":
                values = program.imported(item, linked.path) or ()
                targets |= {self._value_row(value) for value in values}
            for target in sorted(targets - {-1}):
                self._edges.add(source, target, EdgeKind.IMPORTS, item.line, Confidence.CERTAIN)

    def _module_row(self, module: Module) -> int:
        if module.file is not None:
            return self._owner_rows[self._program.file_numbers[module.file]][0]
        return self._folder_rows.get(module.folder or "", -1)

    def _value_row(self, value: int) -> int:
        values = self._program.values
        kind = values.kinds[value]
        if kind in {ValueKind.FUNCTION, ValueKind.CLASS}:
            return self._row(values.scope(value))
        if kind == ValueKind.MODULE:
            return self._module_row(self._program.module_object(values.scope(value)))
        return -1

    def _add_inheritance(self) -> None:
        program, hierarchy = self._program, self._hierarchy
        for scope, data in enumerate(program.scopes):
            if data.kind != "class":
                continue
            linked = program.linked(scope)
            line = linked.facts.definitions[scope - linked.first_scope - 1].line
            for base in hierarchy.bases(scope):
                self._add_scope_edge(scope, base, EdgeKind.INHERITS, line, Confidence.CERTAIN)
            self._add_overrides(scope)

    def _add_overrides(self, cls: int) -> None:
        """Each method to the nearest one it overrides in the method resolution order."""
        for name, slots in self._program.table(cls).items():
            own = [slot.definition for slot in slots if slot.definition >= 0]
            found = self._hierarchy.lookup_after(cls, name, 1) if own else None
            overridden = [s.definition for s in found[1] if s.definition >= 0] if found else []
            for method in own[:1]:
                for base in overridden[:1]:
                    self._add_scope_edge(method, base, EdgeKind.OVERRIDES, 0, Confidence.CERTAIN)

    def _add_tests(self) -> None:
        """From test entities to what they call or import outside of tests."""
        is_test = self._entities.is_test
        kinds = {KIND_NUMBERS[EdgeKind.INVOKES], KIND_NUMBERS[EdgeKind.IMPORTS]}
        for (source, kind, target, line), confidence in list(self._edges.best.items()):
            if kind in kinds and is_test[source] and not is_test[target]:
                self._edges.add(source, target, EdgeKind.TESTS, line, confidence)

    def _to_graph(
        self, solution: Solution, guesses: dict[tuple[int, int, int], float]
    ) -> CodeGraph:
        ordered = sorted(self._edges.best)
        columns = np.array(ordered, dtype=np.int64).reshape(-1, 4)
        unresolved = sorted(
            {(self._row(scope), line, name) for scope, name, line in solution.unresolved}
        )
        return CodeGraph(
            {
                "n_nodes": np.array([len(self._entities)], dtype=np.int64),
                "sources": columns[:, 0].astype(np.int32),
                "kinds": columns[:, 1].astype(np.uint8),
                "targets": columns[:, 2].astype(np.int32),
                "lines": columns[:, 3].astype(np.int32),
                "confidences": np.array(
                    [self._edges.best[key] for key in ordered], dtype=np.float32
                ),
                "unresolved": np.array(
                    [(source, line) for source, line, _ in unresolved], dtype=np.int32
                ).reshape(-1, 2),
                "unresolved_names": pack_texts(name for _, _, name in unresolved),
                "counts": np.array(_count_sites(solution, guesses), dtype=np.int64),
            }
        )


def _count_sites(
    solution: Solution, guesses: dict[tuple[int, int, int], float]
) -> tuple[int, int, int, int, int]:
    """Call sites by outcome, in the order of `code_graph.COUNT_NAMES`."""
    best: dict[tuple[int, int], float] = {}
    for (source, _, line), confidence in solution.edges.items():
        best[source, line] = max(best.get((source, line), 0.0), confidence)
    certain, inferred = (
        sum(confidence == level for confidence in best.values())
        for level in (Confidence.CERTAIN, Confidence.INFERRED)
    )
    unresolved = max(len(solution.unresolved) - len(guesses), 0)
    return certain, inferred, len(guesses), solution.external, unresolved


def build_graph(
    files: Mapping[str, FileFacts], entities: EntityTable, owner_rows: list[list[int]]
) -> CodeGraph:
    """Resolve imports, bases and calls of all files and put the graph together.

    Parameters
    ----------
    files
        Facts by path, sorted by path.
    entities, owner_rows
        What `build_entities` returned for the same files.
    """
    return _Assembler(Program(files), entities, owner_rows).assemble()
