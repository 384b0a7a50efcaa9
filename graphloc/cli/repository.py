"""From what a command was given to an indexed tree."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from graphloc.cli.options import argument_text
from graphloc.cli.output import write_remark
from graphloc.cli.progress import show_progress
from indexes.builder import BuildReport, build_index
from indexes.errors import GraphlocError, InputError
from indexes.snapshot import Snapshot
from indexes.source import Source, open_source, printable_path
from indexes.store import Store, index_directory
from indexes.text import Tokenizer


class NoPythonError(GraphlocError):
    """The tree holds no Python file."""


class TreeOptions(TypedDict):
    """What `graphloc.cli.options.index_options` hands to a command."""

    rev: str | None
    index_dir: Path | None
    jobs: int | None


@dataclass(frozen=True, slots=True)
class TreeChoice:
    """Which tree a command is about, and where its index is."""

    repo: Path
    rev: str | None = None
    index_directory: Path | None = None
    jobs: int | None = None

    @classmethod
    def from_options(cls, repo: Path, options: TreeOptions) -> TreeChoice:
        """Return the choice that the options of `graphloc.cli.options.index_options` make."""
        return cls(repo, options["rev"], options["index_dir"], options["jobs"])


@dataclass(frozen=True, slots=True)
class IndexedTree:
    """A tree with its index, up to date."""

    source: Source
    store: Store
    snapshot: Snapshot
    report: BuildReport
    tokenizer: Tokenizer


@contextmanager
def open_tree(choice: TreeChoice) -> Iterator[IndexedTree]:
    """Index a tree, or bring its index up to date, and hold it open.

    Raises
    ------
    NoPythonError
        If there is nothing to index.
    GraphlocError
        Whatever opening, reading or storing raises.
    """
    source = open_source(choice.repo, choice.rev)
    if choice.index_directory is not None and choice.index_directory.is_file():
        raise InputError(f"{choice.index_directory} is a file: name a folder with --index-dir")
    tokenizer = Tokenizer()
    with Store.open(index_directory(source.root, choice.index_directory)) as store:
        if store.rebuilt:
            write_remark(f"{store.rebuilt}: building it anew")
        with show_progress() as progress:
            snapshot, report = build_index(
                source, store, jobs=choice.jobs, progress=progress, tokenizer=tokenizer
            )
        if not report.n_files:
            raise NoPythonError(f"no Python files in {describe_tree(source)}: name another folder")
        yield IndexedTree(source, store, snapshot, report, tokenizer)


def describe_tree(source: Source) -> str:
    """Name a tree for people."""
    where = printable_path(str(source.root))
    return where if source.revision == "worktree" else f"{where} at {source.revision[:12]}"


def find_entity(snapshot: Snapshot, argument: str) -> int:
    """Return the row of an entity that was named on the command line.

    Names are taken as files have them, or as they were printed.

    Raises
    ------
    EntityNotFoundError
        With close names in the message.
    """
    name = argument_text(argument)
    if name.startswith("./"):
        name = name[2:]
    row = snapshot.entities.find(name)
    if row is not None:
        return row
    if "\\" in name:
        for row, known in enumerate(snapshot.entities.ids):
            if printable_path(known) == name:
                return row
    return snapshot.entities.get(name)
