"""One tree as it was at one moment: everything that queries need, never changed afterwards."""

from __future__ import annotations

import copy
from dataclasses import dataclass

from graphloc.localization import Localizer
from graphloc.locators.code import SourceTexts
from indexes.builder import BuildReport, Progress, build_index, snapshot_key
from indexes.history import load_history
from indexes.snapshot import PARTS, Snapshot
from indexes.source import Source, SourceEntry, may_be_python, python_entries
from indexes.store import Store
from indexes.text import Tokenizer


@dataclass(frozen=True, slots=True)
class LoadedTree:
    """A snapshot, what ranks in it, and the texts that it was made of."""

    key: str
    """Digest of all that the snapshot depends on."""
    revision: str
    snapshot: Snapshot
    localizer: Localizer
    texts: SourceTexts


@dataclass(frozen=True, slots=True)
class TreeLoader:
    """Lists, indexes and loads a tree; for one thread at a time."""

    store: Store
    jobs: int | None
    building: Tokenizer
    """For indexing. Tokenizers are not for several threads, so queries have another."""
    querying: Tokenizer

    def find_entries(self, source: Source) -> list[SourceEntry]:
        """List the Python files; of a work tree only what has changed is read."""
        return python_entries(source, source.entries(self.store, may_be_python))

    def load(
        self, source: Source, entries: list[SourceEntry], progress: Progress | None
    ) -> tuple[LoadedTree, BuildReport]:
        """Index what is not indexed yet, and load all parts, lest others drop them."""
        snapshot, report = build_index(
            source, self.store, jobs=self.jobs, progress=progress, tokenizer=self.building
        )
        for part in PARTS:
            getattr(snapshot, part)
        history = load_history(source, self.store, self.building)
        tree = LoadedTree(
            snapshot_key(entries),
            source.revision,
            snapshot,
            Localizer(snapshot, history, tokenizer=self.querying),
            # A copy, as sources keep notes of what they miss and listing goes on meanwhile.
            SourceTexts(copy.deepcopy(source), entries),
        )
        return tree, report
