"""The locator: one repository, its index kept up to date, and the questions that can be asked."""

from __future__ import annotations

import dataclasses
import os
import re
import threading
import time
from collections.abc import Collection, Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from graphloc.issue import read_issue
from graphloc.localization import Localization, RankedEntity
from graphloc.locators.coalescing import SharedWork
from graphloc.locators.code import ChangedFileError, retrieve
from graphloc.locators.explanation import explain
from graphloc.locators.listeners import Listeners
from graphloc.locators.model import (
    Direction,
    EntityCode,
    Explanation,
    FoundEntity,
    Refresh,
    RepositoryMap,
    ResultLevel,
    Traversal,
)
from graphloc.locators.naming import find_row
from graphloc.locators.repository_map import draw_map
from graphloc.locators.term_search import search_terms
from graphloc.locators.traversal import TraversalLimits, traverse
from graphloc.locators.tree import LoadedTree, TreeLoader
from indexes.builder import Progress, snapshot_key
from indexes.errors import EmptyIssueError, InputError
from indexes.model import EdgeKind, EntityKind
from indexes.source import WORKTREE, Source, open_source
from indexes.store import Store, index_directory
from indexes.text import Tokenizer

_TRIES = 5
"""How often a file is indexed anew that is changed while somebody asks for its code."""
_COMMIT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Locator:
    """Answers questions about one repository.

    The index is made when the first question is asked, or by `refresh`; it lives where the command
    line keeps it. Questions are answered from the tree as it was when `refresh` was last called.

    Any number of threads may ask at once, and `refresh` meanwhile; each answer is about one state
    of the tree. A process may hold any number of locators. Rankings of one locator are computed
    one at a time, as they keep the interpreter busy anyway.

    Parameters
    ----------
    repo : str or path
        A folder: a work tree, a bare clone, a folder inside one, or no repository at all.
    rev : str, optional
        A git revision to read instead of the files on disk. A branch is followed by `refresh`.
    index_dir : str or path, optional
        Where the index is kept, instead of in ``.graphloc`` inside the repository.
    jobs : int, optional
        Most processes that index; the usable cores by default.

    Raises
    ------
    RepositoryNotFoundError
        If there is no folder.
    RevisionNotFoundError
        If the repository does not hold the revision.
    GitError
        If git cannot use the repository. Questions raise it, too, and `StoreError` if the index
        cannot be used.

    Examples
    --------
    >>> from graphloc import Locator  # doctest: +SKIP
    >>> with Locator("path/to/repository") as locator:  # doctest: +SKIP
    ...     for place in locator.locate("KeyError in Cart.total when it is empty").results:
    ...         print(place.entity.id, place.confidence)
    """

    def __init__(
        self,
        repo: str | os.PathLike[str],
        rev: str | None = None,
        index_dir: str | os.PathLike[str] | None = None,
        *,
        jobs: int | None = None,
    ) -> None:
        self._repo = Path(repo)
        self._rev = rev
        self._index_dir = None if index_dir is None else Path(index_dir)
        self._jobs = jobs
        self._source = open_source(self._repo, rev)
        self._loader: TreeLoader | None = None
        self._tree: LoadedTree | None = None
        self._querying = Tokenizer()
        self._ranking = threading.Lock()
        self._refreshing: SharedWork[Refresh] = SharedWork()
        self._listeners = Listeners()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the index. Nothing may be asked afterwards."""
        if self._loader is not None:
            self._loader.store.close()

    @property
    def root(self) -> Path:
        """Absolute path of the folder meant; of a bare repository, its own folder."""
        return self._source.root

    @property
    def revision(self) -> str:
        """Commit id that answers are about, or ``worktree``."""
        return self._current().revision

    def refresh(self, progress: Progress | None = None) -> Refresh:
        """Bring the index up to date; only files that have changed are read.

        Costs a listing of the files if nothing has changed, and nothing at all for a revision that
        was named by its full id. Threads that call it while it works share the next run.

        Parameters
        ----------
        progress : callable, optional
            Told (stage, done, total), from whichever thread does the work. If this call does it,
            an exception from here ends it; what was read until then is kept.
        """
        with self._listeners.joined(progress):
            return self._refreshing.run(lambda: self._bring_up_to_date(progress))

    def locate(
        self,
        issue_text: str,
        *,
        top_k: int = 10,
        include_tests: bool = False,
        level: ResultLevel = ResultLevel.ALL,
    ) -> Localization:
        """Name the places that an issue is about.

        Parameters
        ----------
        issue_text : str
            Title in the first line, then the body; or a bare traceback.
        top_k : int
            Most results of each kind, at least 1.
        include_tests : bool
            Rank test files and what is in them, too.
        level : ResultLevel
            What `Localization.results` names; places that nothing speaks for are left out of it.

        Raises
        ------
        EmptyIssueError
            If there is no text.
        """
        _check_positive("top_k", top_k)
        found = self._localize(self._current(), issue_text, top_k, include_tests)
        chosen = results_of_level(found, level)
        return dataclasses.replace(found, results=tuple(r for r in chosen if r.evidence))

    def search_entity(
        self, terms: str | Iterable[str], kinds: Collection[EntityKind] = (), top_k: int = 10
    ) -> tuple[FoundEntity, ...]:
        """Find entities by name and by words: LocAgent's SearchEntity.

        Parameters
        ----------
        terms : str or iterable of str
            Names, such as ``Store.open``, or words. The results of several terms take turns, as
            their scores cannot be compared.
        kinds : collection of EntityKind
            Kinds wanted; all by default.
        top_k : int
            Most entities, at least 1.

        Raises
        ------
        InputError
            If there is no term.
        """
        _check_positive("top_k", top_k)
        wanted = [terms] if isinstance(terms, str) else list(terms)
        tree = self._current()
        with self._ranking:
            return search_terms(tree.snapshot, wanted, self._querying, kinds=kinds, limit=top_k)

    def traverse_graph(
        self,
        start_entities: str | Iterable[str],
        direction: Direction = Direction.BOTH,
        hops: int = 1,
        *,
        edge_kinds: Collection[EdgeKind] = (),
        entity_kinds: Collection[EntityKind] = (),
        min_confidence: float = 0.0,
    ) -> Traversal:
        """Walk the code graph from some entities: LocAgent's TraverseGraph.

        Parameters
        ----------
        start_entities : str or iterable of str
            Ids.
        direction : Direction
            Downstream to what they use, upstream to what uses them, or both.
        hops : int
            Most edges between a start and what is returned, at least 1.
        edge_kinds : collection of EdgeKind
            Edges to follow; all by default.
        entity_kinds : collection of EntityKind
            Entities to return and to walk through; all by default.
        min_confidence : float
            Edges less sure are not followed; in [0, 1].

        Raises
        ------
        EntityNotFoundError
            If there is no such entity.
        OutsideRepositoryError
            If an id leads out of the repository.
        """
        _check_positive("hops", hops)
        starts = [start_entities] if isinstance(start_entities, str) else start_entities
        tree = self._current()
        rows = [find_row(tree.snapshot.entities, start, self.root) for start in starts]
        limits = TraversalLimits(direction, hops, edge_kinds, entity_kinds, min_confidence)
        return traverse(tree.snapshot, rows, limits)

    def retrieve_entity(self, ids: str | Iterable[str]) -> tuple[EntityCode, ...]:
        """Return the source of entities with what is around them: LocAgent's RetrieveEntity.

        A file that has changed on disk since the index was made is indexed anew first.

        Raises
        ------
        EntityNotFoundError
            If there is no such entity, or its file is gone.
        OutsideRepositoryError
            If an id leads out of the repository.
        """
        wanted = [ids] if isinstance(ids, str) else list(ids)
        for _ in range(_TRIES):
            try:
                return self._retrieve(wanted)
            except ChangedFileError:
                self.refresh()
        raise InputError("the file is being changed all the time: ask again later")

    def explain(self, issue_text: str, entity: str) -> Explanation:
        """Say where an entity is in the ranking for an issue, and why.

        Raises
        ------
        EmptyIssueError
            If there is no text.
        EntityNotFoundError
            If there is no such entity, or it is a folder.
        OutsideRepositoryError
            If its id leads out of the repository.
        """
        tree = self._current()
        row = find_row(tree.snapshot.entities, entity, self.root)
        return explain(
            tree.snapshot, row, lambda n: self._localize(tree, issue_text, n, include_tests=True)
        )

    def repository_map(self, max_tokens: int = 2_000) -> RepositoryMap:
        """Draw the entities that the rest of the repository leans on most, within a prompt's room.

        Parameters
        ----------
        max_tokens : int
            At least 1; see `graphloc.locators.tokens`.
        """
        _check_positive("max_tokens", max_tokens)
        return draw_map(self._current().snapshot, max_tokens)

    def _current(self) -> LoadedTree:
        if self._tree is None:
            self.refresh()
        assert self._tree is not None
        return self._tree

    def _localize(
        self, tree: LoadedTree, issue_text: str, top_k: int, include_tests: bool
    ) -> Localization:
        if not issue_text.strip():
            raise EmptyIssueError("the issue is empty: give it a title or a text to search for")
        issue = read_issue(issue_text)
        if not tree.snapshot.info.n_files:
            return Localization(issue, 0.0, (), (), (), ())
        with self._ranking:
            return tree.localizer.localize(issue, top_k=top_k, include_tests=include_tests)

    def _retrieve(self, ids: list[str]) -> tuple[EntityCode, ...]:
        tree = self._current()
        rows = [find_row(tree.snapshot.entities, id_, self.root) for id_ in ids]
        return tuple(retrieve(tree.snapshot, tree.texts, row) for row in dict.fromkeys(rows))

    def _bring_up_to_date(self, progress: Progress | None) -> Refresh:
        started = time.perf_counter()
        source = self._newest_source()
        before, n_read = self._tree, 0
        if before is None or not (_is_fixed(source) and source.revision == before.revision):
            n_read = self._reload(source, progress)
        assert self._tree is not None
        return Refresh(
            self._tree.revision,
            self._tree.snapshot.info.n_files,
            n_read,
            has_changed=self._tree is not before,
            elapsed_ms=(time.perf_counter() - started) * 1000,
        )

    def _reload(self, source: Source, progress: Progress | None) -> int:
        """List the files and load their tree if it is another one; return how many were read."""
        loader = self._loader = self._loader or self._make_loader()
        entries = loader.find_entries(source)
        before = self._tree
        now = snapshot_key(entries), source.revision
        if before is not None and (before.key, before.revision) == now:
            return 0
        self._tree, report = loader.load(source, entries, self._listeners.teller(progress))
        return report.n_read

    def _newest_source(self) -> Source:
        """Return the source; where a name may mean another commit by now, look it up again."""
        if _is_fixed(self._source) and not (self._rev and _COMMIT_ID.fullmatch(self._rev)):
            self._source = open_source(self._repo, self._rev)
        return self._source

    def _make_loader(self) -> TreeLoader:
        if self._index_dir is not None and self._index_dir.is_file():
            raise InputError(f"{self._index_dir} is a file: name a folder for the index")
        store = Store.open(index_directory(self.root, self._index_dir))
        return TreeLoader(store, self._jobs, building=Tokenizer(), querying=self._querying)


def results_of_level(found: Localization, level: ResultLevel) -> tuple[RankedEntity, ...]:
    """Return the results of one level."""
    return {
        ResultLevel.FILE: found.files,
        ResultLevel.CLASS: found.classes,
        ResultLevel.FUNCTION: found.functions,
        ResultLevel.ALL: found.results,
    }[level]


def _is_fixed(source: Source) -> bool:
    """Whether the files of a source never change."""
    return source.revision != WORKTREE


def _check_positive(name: str, value: int) -> None:
    if value < 1:
        raise InputError(f"{name} is {value}: it must be at least 1")
