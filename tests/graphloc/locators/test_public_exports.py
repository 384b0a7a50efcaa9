"""The public face of the package: what it exports, that it is documented, that it costs nothing."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import graphloc

EXPORTS = [
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
"""A promise: names may be added, never taken away."""
LOCATOR = {
    "close",
    "explain",
    "locate",
    "refresh",
    "repository_map",
    "retrieve_entity",
    "revision",
    "root",
    "search_entity",
    "traverse_graph",
}


def test_the_export_list_is_the_promised_one() -> None:
    assert graphloc.__all__ == EXPORTS
    assert dir(graphloc) == EXPORTS


@pytest.mark.parametrize("name", EXPORTS)
def test_every_export_exists_and_is_documented(name: str) -> None:
    exported = getattr(graphloc, name)
    assert isinstance(exported, str) or inspect.getdoc(exported)


def test_a_locator_has_the_promised_methods_and_documents_them() -> None:
    public = {name for name in dir(graphloc.Locator) if not name.startswith("_")}
    assert public == LOCATOR
    assert all(inspect.getdoc(getattr(graphloc.Locator, name)) for name in public)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        graphloc.Nothing  # noqa: B018


def test_importing_the_package_imports_no_library() -> None:
    code = "import sys, graphloc; print(sorted({'numpy', 'pydantic', 'mcp'} & sys.modules.keys()))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
