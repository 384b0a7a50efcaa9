"""Retrieval along the code graph: what a function at this place has to do with.

Four kinds of neighbours say what a missing body may need, none of them known from the body itself:
the methods it overrides and those of its base classes, the types its signature names, what its
siblings call, and who uses its class.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from graphloc.completion.fragments import TOP_K, Fragment, HoleContext
from indexes.graph import CodeGraph, EntityTable
from indexes.graph.entities import CLASS, FILE, FUNCTION
from indexes.model import EdgeKind, Span, entity_id
from indexes.snapshot import Snapshot
from indexes.text.windows import WINDOW_LINES, WindowPlace, line_tokens, split_lines

OVERRIDDEN_WEIGHT = 4.0
TYPE_WEIGHT = 3.0
SIBLING_CALLEE_WEIGHT = 2.0
USER_WEIGHT = 1.0
"""Kinds are ranked one below the other, the likeliest to show what is wanted first; likeness to the
query, which is at most 1, decides within a kind."""
_WORD = re.compile(r"\w+")
_USES = (EdgeKind.INVOKES, EdgeKind.REFERENCES)


class GraphRetriever:
    """Finds entities around a hole.

    Parameters
    ----------
    snapshot
        The indexed tree.
    files
        Text of its files by path.
    include_tests
        Whether test files may be shown.
    """

    name = "graph"

    def __init__(
        self, snapshot: Snapshot, files: Mapping[str, str], *, include_tests: bool = False
    ) -> None:
        self._entities: EntityTable = snapshot.entities
        self._graph: CodeGraph = snapshot.graph
        self._files = files
        self._include_tests = include_tests

    def find_fragments(
        self, context: HoleContext, query: str, *, top_k: int = TOP_K, moved: bool = False
    ) -> list[Fragment]:
        """Find entities, best first, cut to a window's length; see `Retriever.find_fragments`.

        `moved` makes no difference: entities are shown from their first line.
        """
        del moved
        wanted = {token for line in split_lines(query) for token in line_tokens(line)}
        found = [
            fragment
            for row, weight in self._weights(context).items()
            if (fragment := self._fragment(row, weight, wanted, context)) is not None
        ]
        found.sort(
            key=lambda each: (-each.score, each.places[0].path, each.places[0].span.start_line)
        )
        return found[:top_k]

    def _weights(self, context: HoleContext) -> dict[int, float]:
        """Weight of each neighbour by row; the strongest kind counts."""
        target = self._target(context)
        if target is None:
            return {}
        parent = int(self._entities.parents[target])
        weights: dict[int, float] = {}
        groups = (
            (OVERRIDDEN_WEIGHT, self._base_methods(target, parent)),
            (TYPE_WEIGHT, self._signature_types(target)),
            (SIBLING_CALLEE_WEIGHT, self._sibling_callees(target, parent)),
            (USER_WEIGHT, self._class_users(parent)),
        )
        for weight, rows in groups:
            for row in rows:
                weights.setdefault(self._shown(row), weight)
        weights.pop(target, None)
        return weights

    def _target(self, context: HoleContext) -> int | None:
        hole = context.hole
        row = self._entities.find(entity_id(hole.path, hole.function))
        if row is not None and hole.function:
            return row
        file = self._entities.find(hole.path)
        if file is None:
            return None
        return self._entities.at_line(int(self._entities.files[file]), hole.line)

    def _base_methods(self, target: int, parent: int) -> Iterator[int]:
        """Overridden methods, then the other methods of the base classes."""
        yield from self._targets(target, (EdgeKind.OVERRIDES,))
        if parent >= 0 and self._entities.kinds[parent] == CLASS:
            for base in self._targets(parent, (EdgeKind.INHERITS,)):
                yield from self._functions_in(base)

    def _signature_types(self, target: int) -> Iterator[int]:
        """Classes of the file, or imported by it, that the header names."""
        words = frozenset(_WORD.findall(self._entities.signatures[target]))
        file = int(self._entities.file_rows[self._entities.files[target]])
        kinds = (EdgeKind.IMPORTS, EdgeKind.CONTAINS)
        for row in self._targets(file, kinds):
            last_name = self._entities.names[row].rpartition(".")[2]
            if self._entities.kinds[row] == CLASS and last_name in words:
                yield row

    def _sibling_callees(self, target: int, parent: int) -> list[int]:
        """What functions beside the target call, the most often called first."""
        if parent < 0 or self._entities.kinds[parent] < FILE:
            return []
        counts: Counter[int] = Counter()
        for sibling in self._functions_in(parent):
            if sibling != target:
                counts.update(set(self._targets(sibling, (EdgeKind.INVOKES,))))
        return [row for row, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]

    def _class_users(self, parent: int) -> Iterator[int]:
        """Functions elsewhere that use the class or one of its methods."""
        if parent < 0 or self._entities.kinds[parent] != CLASS:
            return
        for used in (parent, *self._functions_in(parent)):
            for number in self._graph.in_edges(used).tolist():
                edge = self._graph.edge(number)
                if edge.kind in _USES and parent not in self._entities.iter_ancestors(edge.source):
                    yield edge.source

    def _targets(self, row: int, kinds: Iterable[EdgeKind]) -> Iterator[int]:
        wanted = frozenset(kinds)
        for number in self._graph.out_edges(row).tolist():
            edge = self._graph.edge(number)
            if edge.kind in wanted:
                yield edge.target

    def _functions_in(self, row: int) -> list[int]:
        return [
            target
            for target in self._targets(row, (EdgeKind.CONTAINS,))
            if self._entities.kinds[target] == FUNCTION
        ]

    def _shown(self, row: int) -> int:
        """The class in place of its constructor."""
        is_constructor = self._entities.names[row].endswith(".__init__")
        return int(self._entities.parents[row]) if is_constructor else row

    def _fragment(
        self, row: int, weight: float, wanted: set[str], context: HoleContext
    ) -> Fragment | None:
        entity = self._entities.entity(row)
        is_code = self._entities.kinds[row] in (CLASS, FUNCTION)
        if not is_code or (entity.is_test and not self._include_tests):
            return None
        start = entity.span.start_line
        end = min(entity.span.end_line, start + WINDOW_LINES - 1)
        if entity.path not in self._files or not context.is_before_context(entity.path, end):
            return None
        lines = split_lines(self._files[entity.path])[start - 1 : end]
        if not lines:
            return None
        tokens = {token for line in lines for token in line_tokens(line)}
        score = weight + _jaccard(tokens, wanted)
        return Fragment("\n".join(lines), (WindowPlace(entity.path, Span(start, end)),), score)


def _jaccard(first: set[str], second: set[str]) -> float:
    union = len(first | second)
    return len(first & second) / union if union else 0.0
