"""graphloc: names the files, classes and functions that an issue is about, with reasons.

`Locator` and the values it takes and returns are the public face in Python; everything else may
change. They are imported when they are first asked for, so that the command line starts fast.

The parts of the application: `graphloc.issue` reads issues, `graphloc.localization` ranks entities,
`graphloc.locators` answers other programs, `graphloc.evaluation` measures locators, `graphloc.llm`
talks to models, `graphloc.cli` binds it all to a command line.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphloc.issue import Issue
    from graphloc.localization import Evidence, Localization, RankedEntity
    from graphloc.locators.errors import OutsideRepositoryError
    from graphloc.locators.locator import Locator
    from graphloc.locators.model import (
        Direction,
        EntityCode,
        Explanation,
        FoundEntity,
        GraphEdge,
        ReachedEntity,
        Refresh,
        RepositoryMap,
        ResultLevel,
        Traversal,
    )
    from indexes.errors import (
        EmptyIssueError,
        EntityNotFoundError,
        GitError,
        GraphlocError,
        InputError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
        StoreError,
    )
    from indexes.model import EdgeKind, Entity, EntityKind, Span

__version__ = "0.1.0"

__all__ = [
    "Direction",
    "EdgeKind",
    "EmptyIssueError",
    "Entity",
    "EntityCode",
    "EntityKind",
    "EntityNotFoundError",
    "Evidence",
    "Explanation",
    "FoundEntity",
    "GitError",
    "GraphEdge",
    "GraphlocError",
    "InputError",
    "Issue",
    "Localization",
    "Locator",
    "OutsideRepositoryError",
    "RankedEntity",
    "ReachedEntity",
    "Refresh",
    "RepositoryMap",
    "RepositoryNotFoundError",
    "ResultLevel",
    "RevisionNotFoundError",
    "Span",
    "StoreError",
    "Traversal",
    "__version__",
]

_HOMES = {
    "graphloc.issue": ("Issue",),
    "graphloc.localization": ("Evidence", "Localization", "RankedEntity"),
    "graphloc.locators.errors": ("OutsideRepositoryError",),
    "graphloc.locators.locator": ("Locator",),
    "graphloc.locators.model": (
        "Direction",
        "EntityCode",
        "Explanation",
        "FoundEntity",
        "GraphEdge",
        "ReachedEntity",
        "Refresh",
        "RepositoryMap",
        "ResultLevel",
        "Traversal",
    ),
    "indexes.errors": (
        "EmptyIssueError",
        "EntityNotFoundError",
        "GitError",
        "GraphlocError",
        "InputError",
        "RepositoryNotFoundError",
        "RevisionNotFoundError",
        "StoreError",
    ),
    "indexes.model": ("EdgeKind", "Entity", "EntityKind", "Span"),
}
"""Where the public names come from."""


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
