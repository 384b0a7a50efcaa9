"""Names that the issue mentions, against names that the code defines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from graphloc.issue import Identifier, IdentifierKind, Place
from graphloc.localization.query import Floats, Query
from graphloc.localization.signals.base import Column, SignalColumns

_PLACE_WEIGHTS = {
    Place.TITLE: 3.0,
    Place.INLINE_CODE: 2.0,
    Place.PROSE: 1.5,
    Place.LINK: 1.5,
    Place.TRACEBACK: 1.0,
    Place.CODE_BLOCK: 1.0,
}
"""A name in the title says most; code blocks name everything a reproduction needs."""
_KIND_WEIGHTS = {IdentifierKind.WORD: 0.5, IdentifierKind.OPTION: 0.7, IdentifierKind.KEYWORD: 0.7}
_FOLDED_WEIGHT = 0.5
"""A name that matches but for upper and lower case."""
_MOST_ROWS = 60
"""A name that more entities have says nothing about any of them."""


class NameSignal:
    """Exact names, and dotted names whose last parts fit an entity's qualified name."""

    name = "names"

    def compute(self, query: Query) -> SignalColumns:
        """Columns ``exact_name``, ``dotted_name`` and ``owner_name`` (a class's methods)."""
        n = len(query.snapshot.entities)
        exact, dotted = np.zeros(n, np.float32), np.zeros(n, np.float32)
        said: dict[int, str] = {}
        for name, weight in _mentions(query.issue.identifiers, query):
            self._match(query, name, weight, (exact, dotted), said)
        owner = _from_parents(query, exact + dotted)

        def explain(row: int) -> str:
            return f"the issue names {said[row]}" if row in said else ""

        def explain_owner(row: int) -> str:
            parent = int(query.snapshot.entities.parents[row])
            return f"the issue names its class {said[parent]}" if parent in said else ""

        return SignalColumns(
            entities=(
                Column("exact_name", exact, explain),
                Column("dotted_name", dotted, explain),
                Column("owner_name", owner, explain_owner),
            ),
            files=_file_columns(query, exact, dotted, said),
        )

    def _match(
        self,
        query: Query,
        name: str,
        weight: float,
        columns: tuple[Floats, Floats],
        said: dict[int, str],
    ) -> None:
        exact, dotted = columns
        parts = name.split(".")
        rows, factor = query.names.exact.get(parts[-1], []), 1.0
        if not rows and len(parts[-1]) > 3:
            rows, factor = query.names.folded.get(parts[-1].lower(), []), _FOLDED_WEIGHT
        if not rows or len(rows) > _MOST_ROWS:
            return
        worth = weight * factor / (1.0 + math.log(len(rows)))
        for row in rows:
            if len(parts) > 1 and _fits(query, row, parts):
                dotted[row] += 2 * worth
            elif len(parts) == 1 or factor == 1.0:
                exact[row] += worth if len(parts) == 1 else 0.5 * worth
            said.setdefault(row, name)


def _mentions(identifiers: Iterable[Identifier], query: Query) -> Iterator[tuple[str, float]]:
    """(name, weight) of every name the issue mentions, those its code stands for too."""
    for identifier in identifiers:
        weight = max(_PLACE_WEIGHTS[place] for place in identifier.places)
        weight *= _KIND_WEIGHTS.get(identifier.kind, 1.0)
        yield identifier.name, weight * (1.0 + 0.2 * math.log(identifier.count))
    for name in query.issue.code.qualified:
        yield name, 1.0
    for link in query.issue.documentation:
        if link.anchor:
            yield link.anchor, 1.5


def _fits(query: Query, row: int, parts: list[str]) -> bool:
    """Whether the part before the last is the entity's class, function, or module."""
    entities = query.snapshot.entities
    around = entities.names[row].split(".")[:-1]
    if around:
        return parts[-2] == around[-1]
    path = entities.paths[entities.files[row]]
    stem = path.rsplit(".", 1)[0].removesuffix("/__init__")
    return parts[-2] in stem.split("/")


def _from_parents(query: Query, values: Floats) -> Floats:
    """Each function's share in what is said of the class around it."""
    entities = query.snapshot.entities
    parents = entities.parents
    result = np.zeros(len(entities), np.float32)
    inside = (entities.kinds == 3) & (parents >= 0)
    inside[inside] = entities.kinds[parents[inside]] == 2
    result[inside] = values[parents[inside]]
    return result


def _file_columns(
    query: Query, exact: Floats, dotted: Floats, said: dict[int, str]
) -> tuple[Column, ...]:
    def explain(file: int) -> str:
        rows = query.snapshot.entities.rows_of_file(file)
        names = list(dict.fromkeys(said[row] for row in rows if row in said))[:4]
        return f"defines {', '.join(names)}" if names else ""

    both = exact + dotted
    return (
        Column("defined_names_best", query.best_per_file(both), explain),
        Column("defined_names_sum", query.sum_per_file(both), explain),
        Column("dotted_names_best", query.best_per_file(dotted), explain),
    )
