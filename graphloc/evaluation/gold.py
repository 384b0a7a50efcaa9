"""What has to be found: the files, modules and functions that a fix changes.

The rule, for a patch against the tree it was made for:

- *files*: those that exist before the patch and are Python; tests only if wanted, or if the dataset
  keeps changed tests apart from the patch.
- *functions*: for each run of neighbouring changed lines, the functions and methods that hold its
  removed lines; if it only adds lines, the one it adds to. A function inside a function counts as
  the outer one. A new function counts for nothing; if the patch changes no function that was
  there, its class counts instead.
- *modules*: the top-level classes and functions that hold those runs, new methods included.

``Class.__init__`` and ``Class`` are one. Where an instance names its own gold, that is the gold.
docs/gold-differences.md compares the rule with the gold that Loc-Bench publishes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from graphloc.evaluation.errors import GoldError
from graphloc.evaluation.model import (
    Gold,
    Instance,
    canonical_function,
    counts,
    module_of,
)
from graphloc.evaluation.patches import FileChange, Run, read_patch
from indexes.facts import Definition
from indexes.model import entity_id, split_entity_id
from indexes.parsing import outline
from indexes.source import Source

_DEFINING = ("def ", "async def ")


def named_gold(instance: Instance, *, include_tests: bool = False) -> Gold | None:
    """Return the gold that an instance states itself; None if only its patch tells.

    Files that are not Python, and tests unless wanted, are left out. Without `gold_files` the files
    are those of `edit_functions`.
    """
    if instance.gold_files is None and instance.edit_functions is None:
        return None
    named = [
        entity
        for entity in instance.edit_functions or ()
        if counts(split_entity_id(entity)[0], with_tests=include_tests)
    ]
    files = instance.gold_files
    if files is None:
        files = tuple(split_entity_id(entity)[0] for entity in named)
    return Gold(
        files=frozenset(path for path in files if counts(path, with_tests=include_tests)),
        modules=frozenset(map(module_of, named)) - {""},
        functions=frozenset(canonical_function(e) for e in named if split_entity_id(e)[1]),
    )


def patch_gold(instance: Instance, source: Source, *, include_tests: bool = False) -> Gold:
    """Derive the gold from an instance's patch and the tree at its base commit.

    Linear in the size of the changed files.

    Raises
    ------
    GoldError
        If the patch is no unified diff, or changes a file that the tree does not hold.
    """
    with_tests = include_tests or instance.has_test_patch
    changes = {
        change.path: change
        for change in read_patch(instance.patch or "")
        if counts(change.path, with_tests=with_tests)
    }
    found = _Changed()
    for path, data in _iter_files(source, changes):
        found.add_file(changes[path], _Outline(data))
    functions = found.functions or found.extended_classes
    return Gold(
        frozenset(changes), frozenset(found.modules), frozenset(functions), dict(found.aliases)
    )


def _iter_files(source: Source, wanted: Collection[str]) -> Iterator[tuple[str, bytes]]:
    entries = source.entries(wanted=lambda path, _: path in wanted)
    left = set(wanted)
    for entry, data in source.read(entries):
        left.discard(entry.path)
        yield entry.path, data
    if left:
        path = min(left)
        reasons = [f" here ({m.reason})" for m in source.missing if m.path == path]
        raise GoldError(
            f"the patch changes {path}, which commit {source.revision} does not hold"
            f"{''.join(reasons)}: check base_commit and the clone",
            path=path,
        )


@dataclass(slots=True)
class _Changed:
    """What the runs seen so far change."""

    modules: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)
    extended_classes: set[str] = field(default_factory=set)
    aliases: dict[str, str] = field(default_factory=dict)

    def add_file(self, change: FileChange, outlined: _Outline) -> None:
        """Add the runs of one file."""
        runs = [run for hunk in change.hunks for run in hunk.moved_to(outlined.lines)]
        for run in runs:
            for owner in outlined.find_owners(run):
                self._add(change.path, run, outlined.chain(owner))

    def _add(self, path: str, run: Run, chain: list[Definition]) -> None:
        """Record a run's owner, given with all that is around it, outermost first."""
        names = [entity_id(path, definition.name) for definition in chain]
        self.modules.add(names[0])
        outermost = next((i for i, d in enumerate(chain) if not d.is_class), None)
        if outermost is not None:
            function = canonical_function(names[outermost])
            self.functions.add(function)
            self.aliases.update((nested, function) for nested in names[outermost + 1 :])
        elif _defines(run):
            self.extended_classes.add(names[-1])


class _Outline:
    """The definitions of one file, asked for by line. Definition i has owner number i + 1."""

    def __init__(self, data: bytes) -> None:
        self._definitions = outline(data)
        self.lines = data.decode("utf-8", "replace").split("\n")

    def chain(self, definition: Definition) -> list[Definition]:
        """Return the definitions around one and itself, outermost first."""
        chain = [definition]
        while (parent := self._parent(chain[-1])) is not None:
            chain.append(parent)
        return chain[::-1]

    def find_owners(self, run: Run) -> list[Definition]:
        """Return the innermost definitions that a run changes; none where it is the file itself."""
        if not run.removed:
            owners = [self._extended(run)]
        else:
            owners = [self._innermost(line) for line in run.removed]
        return list(dict.fromkeys(owner for owner in owners if owner is not None))

    def _extended(self, run: Run) -> Definition | None:
        """Return the definition into which a run adds its lines.

        Between two lines of a definition that is clear; behind its last line the indentation
        tells.
        """
        first = next((line for line in run.added if line.strip()), "")
        after = run.after
        while 0 < after <= len(self.lines) and not self.lines[after - 1].strip():
            after -= 1
        owner = self._innermost(after)
        while owner is not None and self._is_behind(owner, after, first):
            owner = self._parent(owner)
        return owner

    def _is_behind(self, definition: Definition, after: int, added: str) -> bool:
        """Whether what is added behind line `after` is no longer part of a definition."""
        is_last = definition.end_line == after
        return is_last and _indentation(added) <= _indentation(self.lines[definition.line - 1])

    def _innermost(self, line: int) -> Definition | None:
        """Return the last definition that holds the line: they are listed outside in."""
        holding = [d for d in self._definitions if d.start_line <= line <= d.end_line]
        return holding[-1] if holding else None

    def _parent(self, definition: Definition) -> Definition | None:
        return self._definitions[definition.parent - 1] if definition.parent else None


def _defines(run: Run) -> bool:
    return any(line.lstrip().startswith(_DEFINING) for line in run.added)


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())
