"""Searching for several terms at once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain, zip_longest

from graphloc.locators.model import FoundEntity
from indexes.errors import InputError
from indexes.model import EntityKind
from indexes.search import SearchHit, search
from indexes.snapshot import Snapshot
from indexes.text import Tokenizer


def search_terms(
    snapshot: Snapshot,
    terms: Sequence[str],
    tokenizer: Tokenizer,
    *,
    kinds: Collection[EntityKind],
    limit: int,
) -> tuple[FoundEntity, ...]:
    """Return the entities of all terms: the best of each, then the second best, and so on.

    An entity that several terms find is returned once, for the term that ranks it best; between
    equals for the earlier one.

    Raises
    ------
    InputError
        If there is no term.
    """
    wanted = list(dict.fromkeys(term for term in terms if term.strip()))
    if not wanted:
        raise InputError("there is no term to search for: give a name or a word")
    lists = [
        search(snapshot, term, tokenizer=tokenizer, kinds=kinds, limit=limit) for term in wanted
    ]
    rounds = zip_longest(*lists)
    turns = chain.from_iterable(zip(wanted, hits, strict=True) for hits in rounds)
    found: dict[str, tuple[str, SearchHit]] = {}
    for term, hit in turns:
        if hit is not None:
            found.setdefault(hit.entity.id, (term, hit))
    return tuple(
        FoundEntity(rank, term, hit.entity, hit.score, hit.matched)
        for rank, (term, hit) in enumerate(list(found.values())[:limit], 1)
    )
