"""The use case: find entities by name and by words."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from indexes.graph import EntityTable
from indexes.graph.entities import KINDS
from indexes.model import Entity, EntityKind, split_entity_id
from indexes.snapshot import Snapshot
from indexes.text import Bm25Parameters, IdfVariant, Tokenizer

FIELD_WEIGHTS = MappingProxyType(
    {
        "name": 4.0,
        "signature": 1.5,
        "docstring": 1.5,
        "context": 1.0,
        "body": 1.0,
        "comments": 1.0,
        "strings": 1.0,
    }
)
"""Weight of each field's BM25 score. Set by hand: a name says most, its describing lines more than
its body; the rest as it comes."""
_EXACT, _WHOLE_NAME, _END_OF_NAME, _SAME_CASE = 4.0, 3.0, 2.0, 0.5
_BM25 = Bm25Parameters(idf=IdfVariant.LUCENE)


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One entity that was found."""

    entity: Entity
    score: float
    """Weighted sum of the fields' BM25 scores; 0 or more, comparable within one search."""
    matched: tuple[str, ...]
    """``name`` first if the query names the entity, then the fields with a word of the query, the
    one that gave most first."""


def search(
    snapshot: Snapshot,
    query: str,
    *,
    tokenizer: Tokenizer,
    kinds: Collection[EntityKind] = (),
    limit: int = 10,
) -> list[SearchHit]:
    """Find entities.

    Entities that the query names come first: by id, then by qualified name, then by the last part
    of it, letter case counting only between equals. Then those with a word of the query, by score;
    ties in order of rows.

    Parameters
    ----------
    snapshot
        The tree.
    query
        A name, or words.
    tokenizer
        Turns the query into terms; sharing one spares work.
    kinds
        Kinds wanted; all by default.
    limit
        Most hits, at least 1.

    Notes
    -----
    Complexity: O(entities + postings of the query's terms).
    """
    fields = _field_scores(snapshot, query, tokenizer)
    total = np.sum(list(fields.values()), axis=0)
    ranks = _name_ranks(snapshot.entities, query.strip())
    wanted = (total > 0) | (ranks > 0)
    if kinds:
        wanted &= np.isin(snapshot.entities.kinds, [KINDS.index(kind) for kind in kinds])
    rows = np.flatnonzero(wanted)
    order = rows[np.lexsort((rows, -total[rows], -ranks[rows]))]
    return [
        SearchHit(
            snapshot.entities.entity(row),
            round(float(total[row]), 3),
            _matched(fields, row, is_named=bool(ranks[row])),
        )
        for row in order[:limit].tolist()
    ]


def _field_scores(
    snapshot: Snapshot, query: str, tokenizer: Tokenizer
) -> dict[str, npt.NDArray[np.float32]]:
    terms = tokenizer.text_terms(query)
    return {
        field: np.float32(FIELD_WEIGHTS.get(field, 1.0)) * snapshot.text.scores(field, terms, _BM25)
        for field in snapshot.text.fields
    }


def _name_ranks(entities: EntityTable, query: str) -> npt.NDArray[np.float32]:
    """(n,) float32: how well the query names each entity; 0 where it does not."""
    ranks = np.zeros(len(entities), dtype=np.float32)
    path, name = split_entity_id(query)
    wanted = (name or path).removesuffix("()")
    if not wanted:
        return ranks
    folded = wanted.lower()
    for row, known in enumerate(entities.names):
        if folded in known.lower():
            ranks[row] = _name_rank(known.lower(), folded)
            # The same letters in the same case are the better match.
            ranks[row] += _SAME_CASE if ranks[row] and wanted in known else 0
    exact = entities.find(query)
    if exact is not None:
        ranks[exact] = _EXACT
    return ranks


def _name_rank(known: str, wanted: str) -> float:
    if known == wanted:
        return _WHOLE_NAME
    is_end = known.endswith((f".{wanted}", f"/{wanted}")) or _last_part(known) == wanted
    return _END_OF_NAME if is_end else 0.0


def _last_part(name: str) -> str:
    """Return the last part of a qualified name, or the stem of a file's."""
    name = name.rsplit("/", 1)[-1]
    return name.removesuffix(".py").removesuffix(".pyi").rsplit(".", 1)[-1]


def _matched(
    fields: dict[str, npt.NDArray[np.float32]], row: int, *, is_named: bool
) -> tuple[str, ...]:
    scores = {field: float(values[row]) for field, values in fields.items() if values[row] > 0}
    ordered = sorted(scores, key=lambda field: -scores[field])
    return tuple(dict.fromkeys((["name"] if is_named else []) + ordered))
