"""The words everything else speaks: entities, spans, kinds of nodes and edges.

An *entity* is a directory, file, class or function, named ``path/to/file.py``,
``path/to/file.py:Class``, ``path/to/file.py:Class.method`` or ``path/to/file.py:outer.inner``.
Paths are relative to the repository's root, with forward slashes. Lines are 1-based; a span's end
is inclusive; decorators belong to the span of what they decorate.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

PYTHON_SUFFIXES = (".py", ".pyi", ".pyw")


class EntityKind(StrEnum):
    """Kinds of graph nodes."""

    DIRECTORY = "directory"
    FILE = "file"
    CLASS = "class"
    FUNCTION = "function"


class EdgeKind(StrEnum):
    """Kinds of graph edges, each from the user to the used."""

    CONTAINS = "contains"
    IMPORTS = "imports"
    INVOKES = "invokes"
    INHERITS = "inherits"
    OVERRIDES = "overrides"
    REFERENCES = "references"
    TESTS = "tests"
    CO_CHANGES = "co_changes"


class Confidence:
    """How sure an edge is; every edge carries one of these as a number in (0, 1]."""

    CERTAIN = 1.0
    """Bound by scopes, imports, `self`, `super()` or base classes alone."""
    INFERRED = 0.8
    """Found by following values through assignments, arguments, returns and attributes."""
    GUESSED = 0.4
    """Only the name matches, and just one entity has it."""


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of one file, 1-based, end inclusive."""

    start_line: int
    end_line: int

    def __contains__(self, line: object) -> bool:
        return isinstance(line, int) and self.start_line <= line <= self.end_line


@dataclass(frozen=True, slots=True)
class Entity:
    """One node of the code graph, as callers see it."""

    id: str
    """``path`` or ``path:qualified.name``."""
    kind: EntityKind
    path: str
    name: str
    """Qualified name inside the file; for files and directories the last part of the path."""
    span: Span
    is_test: bool = False
    signature: str = ""
    docstring: str = ""


@dataclass(frozen=True, slots=True)
class ParseFailure:
    """A place that could not be understood; what surrounds it is indexed all the same."""

    path: str
    line: int
    message: str


def entity_id(path: str, qualified_name: str = "") -> str:
    """Name the entity `qualified_name` of the file `path`; the file itself without a name."""
    return f"{path}:{qualified_name}" if qualified_name else path


def split_entity_id(entity: str) -> tuple[str, str]:
    """Return (path, qualified name) of an entity's id; the name is empty for files.

    The part behind the last colon counts as a name only if it is a dotted identifier, so a colon
    in a file's own name does no harm.
    """
    path, colon, name = entity.rpartition(":")
    if colon and path and all(part.isidentifier() for part in name.split(".")):
        return path, name
    return entity, ""


def is_test_path(path: str) -> bool:
    """Whether a file holds tests, judged by its path as pytest, unittest and people name them."""
    *folders, name = path.split("/")
    stem = name.rsplit(".", 1)[0]
    if stem == "conftest" or stem.startswith("test_") or stem.endswith(("_test", "_tests")):
        return True
    return any(folder in _TEST_FOLDERS for folder in folders) or stem in {"test", "tests"}


_TEST_FOLDERS = frozenset({"tests", "test", "testing", "unittests", "unit_tests", "test_suite"})
