"""Files on disk as a source: a git work tree or a plain folder."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from indexes.source.files import (
    UnreadableFileError,
    blob_id_of,
    get_real_file,
    hash_file,
    read_file,
)
from indexes.source.git import GitRepository
from indexes.source.history import iter_commits
from indexes.source.listing import Listing, describe_kind, is_submodule
from indexes.source.model import (
    WORKTREE,
    Commit,
    MissingFile,
    SourceEntry,
    StatCache,
    Wanted,
    decode_path,
    encode_path,
)
from indexes.source.stats import StatTable


@dataclass(slots=True)
class WorkTree:
    """The files of a folder as they are now, uncommitted changes and untracked files included."""

    root: Path
    listing: Listing
    repository: GitRepository | None = None
    """None for a plain folder."""
    _missing: dict[str, str] = field(default_factory=dict)

    @property
    def revision(self) -> str:
        """Always ``worktree``."""
        return WORKTREE

    @property
    def missing(self) -> list[MissingFile]:
        """What was left out, sorted by path."""
        return [MissingFile(path, reason) for path, reason in sorted(self._missing.items())]

    @property
    def has_history(self) -> bool:
        """Whether the folder is in a repository that has a commit."""
        head = ("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        return self.repository is not None and self.repository.succeeds(*head)

    def commits(self, max_count: int) -> Iterator[Commit]:
        """Yield ancestors of HEAD, newest first; nothing without history."""
        if self.repository is None or not self.has_history:
            return iter(())
        return iter_commits(self.repository, "HEAD", max_count)

    def entries(
        self, stat_cache: StatCache | None = None, wanted: Wanted | None = None
    ) -> list[SourceEntry]:
        """List the files, sorted by path.

        With a stat cache only files that changed since are read: one ``lstat`` a file otherwise.
        """
        self._missing.clear()
        key = os.fsencode(self.root)
        known = stat_cache.load_stats(key) if stat_cache is not None else None
        table = StatTable(known, object_format=self._object_format, now_ns=time.time_ns())
        paths = self.listing.find_paths(self._missing)
        entries = sorted(self._iter_entries(paths, table, wanted), key=lambda entry: entry.path)
        table.keep(frozenset(paths))
        if stat_cache is not None and table.changed:
            stat_cache.save_stats(key, table.encode())
        return entries

    def read(self, entries: Iterable[SourceEntry]) -> Iterator[tuple[SourceEntry, bytes]]:
        """Yield the bytes of the entries; a changed file comes with the id of its new bytes."""
        for entry in entries:
            path = self._absolute(encode_path(entry.path))
            try:
                if os.path.islink(path):
                    path = get_real_file(path, os.fsencode(self.root))
                data = read_file(path)
            except UnreadableFileError as error:
                self._missing[entry.path] = str(error)
                continue
            blob_id = blob_id_of(data, self._object_format)
            if blob_id != entry.blob_id:
                entry = replace(entry, blob_id=blob_id, size=len(data))  # noqa: PLW2901
            yield entry, data

    @property
    def _object_format(self) -> str:
        return self.repository.object_format if self.repository is not None else "sha1"

    def _absolute(self, path: bytes) -> bytes:
        return os.fsencode(self.root) + b"/" + path

    def _iter_entries(
        self, paths: Sequence[bytes], table: StatTable, wanted: Wanted | None
    ) -> Iterator[SourceEntry]:
        hidden = self._linked_folders(paths)
        for path in paths:
            if hidden and any(path.startswith(folder) for folder in hidden):
                continue
            try:
                entry = self._entry(path, table, wanted)
            except UnreadableFileError as error:
                self._missing[decode_path(path)] = str(error)
            except (FileNotFoundError, NotADirectoryError):
                continue  # tracked, but deleted from the work tree
            except OSError as error:
                self._missing[decode_path(path)] = error.strerror or "cannot be read"
            else:
                if entry is not None:
                    yield entry

    def _entry(self, path: bytes, table: StatTable, wanted: Wanted | None) -> SourceEntry | None:
        """Return the entry of one path, or None if it is not wanted or no file at all."""
        absolute = self._absolute(path)
        found = os.lstat(absolute)
        if stat.S_ISLNK(found.st_mode):
            absolute = get_real_file(absolute, os.fsencode(self.root))
            found = os.lstat(absolute)
        elif stat.S_ISDIR(found.st_mode):
            if is_submodule(absolute):
                raise UnreadableFileError("submodule")
            return None  # tracked as a file, but now a folder whose files are listed themselves
        if not stat.S_ISREG(found.st_mode):
            raise UnreadableFileError(describe_kind(found.st_mode))
        name = decode_path(path)
        executable = bool(found.st_mode & stat.S_IXUSR)
        if wanted is not None and not wanted(name, executable):
            return None
        blob_id = table.find_blob_id(path, found)
        if blob_id is None:
            blob_id, found = hash_file(absolute, self._object_format)
            table.add(path, found, blob_id)
        return SourceEntry(name, blob_id, found.st_size, executable)

    def _linked_folders(self, paths: Sequence[bytes]) -> list[bytes]:
        """Return folders of tracked files that are links now, so that their files are elsewhere."""
        folders = {path.rpartition(b"/")[0] for path in paths} - {b""}
        for folder in list(folders):
            while folder := folder.rpartition(b"/")[0]:
                folders.add(folder)
        return [f + b"/" for f in sorted(folders) if os.path.islink(self._absolute(f))]
