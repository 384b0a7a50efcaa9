"""From what a caller calls an entity to its row in the index."""

from __future__ import annotations

import posixpath
from pathlib import Path

import numpy as np

from graphloc.locators.errors import OutsideRepositoryError
from graphloc.locators.quoting import shown
from indexes.errors import EntityNotFoundError
from indexes.graph import EntityTable
from indexes.graph.entities import CLASS
from indexes.model import split_entity_id
from indexes.source import printable_path

_SHOWN_CANDIDATES = 5


def find_row(entities: EntityTable, name: str, root: Path) -> int:
    """Return the row of the entity that a name means.

    Taken are ids, as files have them or as `printable_path` shows them; ids whose path is absolute
    and inside the root, or begins with ``./``; and a qualified name without path that just one
    class or function has.

    Raises
    ------
    OutsideRepositoryError
        If the path leads out of the repository.
    EntityNotFoundError
        If nothing has the name, or more than one thing; close names are in the message.
    """
    row = entities.find(name)
    if row is not None:
        return row
    inner = _inside(name, root)
    row = entities.find(inner)
    if row is None and "\\" in inner:
        row = next((n for n, id_ in enumerate(entities.ids) if printable_path(id_) == inner), None)
    return _by_qualified_name(entities, inner) if row is None else row


def _inside(name: str, root: Path) -> str:
    """Return an id relative to the root, its path normalized."""
    path, qualified = split_entity_id(name)
    own = f"{root.as_posix().rstrip('/')}/"
    if path.startswith(own):
        path = path[len(own) :]
    path = posixpath.normpath(path) if path else path
    if path.startswith(("/", "~")) or path == ".." or path.startswith("../"):
        raise OutsideRepositoryError(
            f"{shown(name)!r} leads out of the repository: name an entity of it, such as "
            "path/to/file.py:Class.method"
        )
    return f"{path}:{qualified}" if qualified else path


def _by_qualified_name(entities: EntityTable, name: str) -> int:
    wanted = name.removesuffix("()")
    rows = [
        row
        for row in np.flatnonzero(entities.kinds >= CLASS).tolist()
        if entities.names[row] == wanted
    ]
    if len(rows) == 1:
        return int(rows[0])
    if rows:
        candidates = ", ".join(
            printable_path(entities.ids[row]) for row in rows[:_SHOWN_CANDIDATES]
        )
        raise EntityNotFoundError(
            f"{len(rows)} entities are called {shown(name)!r}: name one, such as {candidates}"
        )
    close = ", ".join(_close_ids(entities, wanted))
    hint = f"did you mean {close}?" if close else "search_entity finds entities by name and words"
    raise EntityNotFoundError(f"no entity {shown(name)!r} in the index: {hint}")


def _close_ids(entities: EntityTable, name: str) -> list[str]:
    """Return ids that end with the name's last part, those of the same file first."""
    path, _ = split_entity_id(name)
    last = name.rsplit(":", 1)[-1].rsplit(".", 1)[-1].rsplit("/", 1)[-1]
    if not last:
        return []
    ends = (f".{last}", f":{last}", f"/{last}")
    close = [id_ for id_ in entities.ids if id_.endswith(ends)]
    close.sort(key=lambda id_: not id_.startswith(path))
    return [printable_path(id_) for id_ in close[:_SHOWN_CANDIDATES]]
