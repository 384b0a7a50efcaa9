"""What a locator has to offer to be evaluated, and what it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from graphloc.evaluation.model import Instance, Ranking, counts
from indexes.errors import InputError
from indexes.source import Source, SourceEntry

RANKING_DEPTH = 100
"""Places kept of each ranking: ten times the deepest cut-off, so that MRR and MAP see the tail."""


@dataclass(frozen=True, slots=True)
class RankingContext:
    """One instance with the tree it is about."""

    instance: Instance
    source: Source
    """The repository at the instance's base commit."""
    include_tests: bool = False
    depth: int = RANKING_DEPTH
    """Places that are kept of a ranking."""

    def find_entries(self) -> list[SourceEntry]:
        """Return the Python files to rank, sorted by path; tests only if they are included."""
        return self.source.entries(
            wanted=lambda path, _: counts(path, with_tests=self.include_tests)
        )


class Method(Protocol):
    """A locator under evaluation. Picklable, as it travels to worker processes; what it caches
    between instances of a repository stays there.
    """

    @property
    def name(self) -> str:
        """Short name, unique among the methods of a run."""
        ...

    @property
    def fingerprint(self) -> str:
        """Whatever else its rankings depend on: version, settings, weights."""
        ...

    def rank(self, context: RankingContext) -> Ranking:
        """Rank files and functions for an instance, best first.

        Whatever it raises becomes that instance's failure.
        """
        ...


MethodRegistry = Mapping[str, Callable[[], Method]]
"""Methods by name, made when asked for. The command line builds one and hands it on."""


def build_methods(names: Sequence[str], registry: MethodRegistry) -> list[Method]:
    """Make the named methods, each once.

    Raises
    ------
    InputError
        If a name is not in the registry.
    """
    unknown = [name for name in names if name not in registry]
    if unknown:
        known = ", ".join(sorted(registry))
        raise InputError(f"there is no method {unknown[0]}: choose from {known}", method=unknown[0])
    return [registry[name]() for name in dict.fromkeys(names)]
