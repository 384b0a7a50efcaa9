"""Instances, gold, rankings and failures: the words of an evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from indexes.model import PYTHON_SUFFIXES, entity_id, is_test_path, split_entity_id

_INITIALIZER = ".__init__"


class Level(StrEnum):
    """What is ranked: files, top-level classes and functions, or functions and methods."""

    FILE = "file"
    MODULE = "module"
    FUNCTION = "function"


@dataclass(frozen=True, slots=True)
class Instance:
    """One issue with the commit it was reported on and, in some form, what its fix changed."""

    instance_id: str
    repo: str
    """``owner/name``."""
    base_commit: str
    issue_text: str
    patch: str | None = None
    """Unified diff against `base_commit`."""
    gold_files: tuple[str, ...] | None = None
    edit_functions: tuple[str, ...] | None = None
    has_test_patch: bool = False
    """Whether the dataset keeps changed tests apart, so that every file of `patch` is source."""


@dataclass(frozen=True, slots=True)
class Gold:
    """What has to be found, in canonical names (`canonical_function`)."""

    files: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Changed functions nested in a function, with the function that counts for them."""

    def at(self, level: Level) -> frozenset[str]:
        """Gold of one level; empty when the instance has none there."""
        return {
            Level.FILE: self.files,
            Level.MODULE: self.modules,
            Level.FUNCTION: self.functions,
        }[level]


@dataclass(frozen=True, slots=True)
class Ranked:
    """One place of a ranking."""

    entity: str
    score: float
    confidence: float | None = None
    """Probability in [0, 1] that the fix changes the entity, of methods that know one."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a method found, best first. Modules follow from the functions when left empty."""

    files: tuple[Ranked, ...] = ()
    modules: tuple[Ranked, ...] = ()
    functions: tuple[Ranked, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """An instance that could not be evaluated, and why."""

    instance_id: str
    reason: str
    method: str | None = None
    """The method that failed; None when the instance itself cannot be used by any."""


def canonical_function(entity: str) -> str:
    """Name under which a function is compared: ``Class.__init__`` and ``Class`` are one."""
    return entity.removesuffix(_INITIALIZER)


def module_of(entity: str) -> str:
    """Top-level class or function that holds an entity; empty for a file.

    >>> module_of("a.py:Class.method"), module_of("a.py")
    ('a.py:Class', '')
    """
    path, name = split_entity_id(entity)
    return entity_id(path, name.split(".")[0]) if name else ""


def counts(path: str, *, with_tests: bool) -> bool:
    """Whether a file is one that locators are asked for: Python, and no test unless wanted."""
    return path.endswith(PYTHON_SUFFIXES) and (with_tests or not is_test_path(path))


def unique(entities: Iterable[str]) -> tuple[str, ...]:
    """Drop empty names and all but the first of equal ones, keeping the order."""
    return tuple(dict.fromkeys(entity for entity in entities if entity))
