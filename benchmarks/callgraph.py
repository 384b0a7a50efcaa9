"""Scores call resolution on PyCG's micro-benchmark.

Run as ``python benchmarks/callgraph.py PYCG_DIR``, where PYCG_DIR is a clone of
https://github.com/vitsalis/PyCG. Only edges between functions and modules that a snippet defines
are scored: calls of builtins and libraries are outside the graph's contract, and instantiating a
class without a constructor is an edge to the class, which the benchmark does not count.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from indexes.graph.hierarchy import Hierarchy
from indexes.graph.program import Program
from indexes.graph.solver import solve
from indexes.parsing import extract_facts

_Edges = set[tuple[str, str]]


@dataclass(slots=True)
class Score:
    """Edges found and missed."""

    hits: int = 0
    wrong: int = 0
    missed: int = 0

    def add(self, found: _Edges, wanted: _Edges) -> None:
        """Count one snippet's edges."""
        self.hits += len(found & wanted)
        self.wrong += len(found - wanted)
        self.missed += len(wanted - found)

    @property
    def precision(self) -> float:
        """Share of the found edges that are right; 1 when none was found."""
        return self.hits / (self.hits + self.wrong) if self.hits + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """Share of the wanted edges that were found; 1 when none was wanted."""
        return self.hits / (self.hits + self.missed) if self.hits + self.missed else 1.0


def dotted(path: str, name: str = "") -> str:
    """The benchmark's name of an entity: ``package.module.Class.method``."""
    module = path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    return f"{module}.{name}" if name else module


def resolve(folder: Path) -> tuple[_Edges, set[str], set[str]]:
    """Edges, names and classes of one snippet."""
    paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.py"))
    program = Program({path: extract_facts((folder / path).read_bytes()) for path in paths})
    names: dict[int, str] = {}
    classes: set[str] = set()
    for linked in program.files:
        names[linked.first_scope] = dotted(linked.path)
        for owner, definition in enumerate(linked.facts.definitions, 1):
            names[linked.first_scope + owner] = dotted(linked.path, definition.name)
            if definition.is_class:
                classes.add(names[linked.first_scope + owner])
    edges = solve(program, Hierarchy(program)).edges
    return (
        {(names[source], names[target]) for source, target, _ in edges},
        set(names.values()),
        classes,
    )


def score(snippets: Path) -> dict[str, Score]:
    """Scores by category."""
    scores: dict[str, Score] = defaultdict(Score)
    for truth in sorted(snippets.glob("*/*/callgraph.json")):
        edges, names, classes = resolve(truth.parent)
        listed = json.loads(truth.read_text(encoding="utf-8"))
        pairs = {(source, target) for source, targets in listed.items() for target in targets}
        scored = names - classes
        wanted = {(a, b) for a, b in pairs if a in names and b in scored}
        found = {(a, b) for a, b in edges if a in scored and b in scored}
        scores[truth.parent.parent.name].add(found, wanted)
    return scores


def table(scores: Mapping[str, Score]) -> str:
    """The scores as a table with a last line for all."""
    total = Score()
    rows = [f"{'category':<16}{'hits':>6}{'wrong':>7}{'missed':>8}{'precision':>11}{'recall':>8}"]
    for name, each in [*sorted(scores.items()), ("all", total)]:
        if each is not total:
            total.hits += each.hits
            total.wrong += each.wrong
            total.missed += each.missed
        counts = f"{each.hits:>6}{each.wrong:>7}{each.missed:>8}"
        rows.append(f"{name:<16}{counts}{each.precision:>11.3f}{each.recall:>8.3f}")
    return "\n".join(rows) + "\n"


def main() -> int:
    """Print the table; 2 when the folder holds no snippets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pycg", type=Path, help="a clone of vitsalis/PyCG")
    snippets = parser.parse_args().pycg / "micro-benchmark" / "snippets"
    scores = score(snippets)
    if not scores:
        sys.stderr.write(f"no snippets under {snippets}\n")
        return 2
    sys.stdout.write(table(scores))
    return 0


if __name__ == "__main__":
    sys.exit(main())
