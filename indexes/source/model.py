"""The shape of a source: entries, what is missing, and the ports `Source` and `StatCache`.

Paths are text with forward slashes. Bytes of a name that are not UTF-8 are kept as lone surrogates
(PEP 383), so every name survives the way to the file system and back; such text cannot be encoded
or printed as it is, `printable_path` makes it so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

WORKTREE = "worktree"

Wanted = Callable[[str, bool], bool]
"""Decides by (path, executable) whether a file is to be listed."""


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """One file of a source."""

    path: str
    """Relative to the root, forward slashes, not UTF-8 bytes as lone surrogates."""
    blob_id: str
    """Git's object id of the bytes, in hex: SHA-1, or SHA-256 in repositories made so."""
    size: int
    """Bytes."""
    executable: bool


@dataclass(frozen=True, slots=True)
class MissingFile:
    """A path that was left out, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class ChangedPath:
    """One path that a commit changed; a rename is a deletion and an addition."""

    path: str
    """Relative to the root of the source."""
    status: str
    """``A`` added, ``M`` modified, ``D`` deleted or ``T`` type changed."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit that is not a merge."""

    id: str
    author_time_s: int
    """Seconds since 1970, UTC."""
    message: str
    """Subject and body."""
    changes: tuple[ChangedPath, ...]
    """Empty, too, where a shallow clone was cut off: what that commit changed is not known."""


class StatCache(Protocol):
    """Keeps what `Source` knows about the files of a work tree; the content is the source's own."""

    def load_stats(self, key: bytes) -> bytes | None:
        """Return what was saved last under the key."""
        ...

    def save_stats(self, key: bytes, data: bytes) -> None:
        """Replace what is saved under the key."""
        ...


class Source(Protocol):
    """The files of one tree. Picklable; reading the same source in several processes is fine."""

    @property
    def root(self) -> Path:
        """Absolute path of the folder meant; of a bare repository, its own folder."""
        ...

    @property
    def revision(self) -> str:
        """Full commit id, or ``worktree``."""
        ...

    @property
    def missing(self) -> list[MissingFile]:
        """What the last `entries` and the reads since then left out, sorted by path."""
        ...

    @property
    def has_history(self) -> bool:
        """Whether `commits` has anything to tell."""
        ...

    def entries(
        self, stat_cache: StatCache | None = None, wanted: Wanted | None = None
    ) -> list[SourceEntry]:
        """List the files, sorted by path.

        Parameters
        ----------
        stat_cache : StatCache, optional
            Spares work trees the reading of files whose stat data has not changed.
        wanted : callable, optional
            Leaves out files before anything about them is read; all are listed without it.

        Raises
        ------
        GitError
            If git itself fails. A single file never raises; it is in `missing`.
        """
        ...

    def read(self, entries: Iterable[SourceEntry]) -> Iterator[tuple[SourceEntry, bytes]]:
        """Yield the bytes of the entries, in their order.

        What cannot be read is left out and recorded in `missing`. The blob id of a yielded entry
        is always that of the bytes beside it: a file that changed after `entries` is yielded with
        a new id.
        """
        ...

    def commits(self, max_count: int) -> Iterator[Commit]:
        """Yield at most `max_count` ancestors of the revision, newest first, merges left out.

        Paths are relative to the root; of a folder inside a repository, only commits that touch
        the folder count. The stream is lazy: stop iterating and git stops.

        Raises
        ------
        GitError
            If git fails, as it does in a clone that lacks trees.
        """
        ...


def decode_path(name: bytes) -> str:
    """Text of a path's bytes, reversible by `encode_path` whatever the locale."""
    return name.decode("utf-8", "surrogateescape")


def encode_path(path: str) -> bytes:
    """Inverse of `decode_path`."""
    return path.encode("utf-8", "surrogateescape")


def printable_path(path: str) -> str:
    r"""Text of a path that any terminal, JSON or MessagePack writer takes.

    Control characters and bytes that are not UTF-8 become backslash escapes.

    >>> print(printable_path("a\nb\udcff.py"))
    a\nb\xff.py
    """
    text = encode_path(path).decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
