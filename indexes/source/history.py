"""The commits behind a revision and the paths each changed, from one stream of ``git log``."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from typing import IO

from indexes.source.git import GitRepository, git_error
from indexes.source.model import ChangedPath, Commit, decode_path

_CHUNK_BYTES = 1 << 16
_COMMIT_MARK = b"\x01"
"""Begins a commit in the stream, where otherwise a status letter stands."""

_LOG = (
    "log",
    "--no-merges",
    "--full-history",
    "--name-status",
    "--no-renames",
    "--root",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-notes",
    "--no-decorate",
    "--no-show-signature",
    # Of the user's configuration this alone can name a file that must exist.
    f"-O{os.devnull}",
    "--encoding=UTF-8",
    "-z",
    "--format=tformat:%x01%H%x00%at%x00%B%x00",
)


def iter_commits(repository: GitRepository, start: str, max_count: int) -> Iterator[Commit]:
    """Yield at most `max_count` ancestors of `start` and itself, newest first, without merges.

    Needs trees only, so a blobless clone serves; linear in what is consumed.

    Raises
    ------
    GitError
        If git fails on the way, as it does in a clone that lacks trees.
    """
    folder = (
        ("--relative", start, "--", ".") if repository.prefix else ("--no-relative", start, "--")
    )
    arguments = (*_LOG, f"--max-count={max_count}", *folder)
    cut_off = _shallow_commits(repository)
    with tempfile.TemporaryFile() as said, repository.process(*arguments, stderr=said) as process:
        assert process.stdout is not None
        yield from _parse(_iter_tokens(process.stdout), cut_off)
        if process.wait():
            said.seek(0)
            raise git_error(repository.folder, said.read())


def _shallow_commits(repository: GitRepository) -> frozenset[str]:
    """Return commits whose parents were cut off, so that git takes all their files for new."""
    if not repository.is_shallow:
        return frozenset()
    name = repository.output("rev-parse", "--git-path", "shallow").removesuffix(b"\n")
    return frozenset((repository.folder / os.fsdecode(name)).read_text("ascii").split())


def _iter_tokens(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield what stands before each NUL."""
    rest = b""
    while chunk := stream.read1(_CHUNK_BYTES):  # type: ignore[attr-defined]
        *tokens, rest = (rest + chunk).split(b"\0")
        yield from tokens


def _parse(tokens: Iterator[bytes], cut_off: frozenset[str]) -> Iterator[Commit]:
    """Yield commits from mark + id, time, message and pairs of status and path."""
    head = b""
    message = ""
    author_time_s = 0
    changes: list[ChangedPath] = []

    def finished() -> Commit:
        commit_id = head.decode()
        known = () if commit_id in cut_off else tuple(changes)
        return Commit(commit_id, author_time_s, message, known)

    for token in tokens:
        field = token.lstrip(b"\n")
        if field.startswith(_COMMIT_MARK):
            if head:
                yield finished()
            head, changes = field[1:], []
            author_time_s = int(next(tokens))
            message = next(tokens).decode("utf-8", "replace").strip()
        elif field:
            changes.append(ChangedPath(decode_path(next(tokens)), field.decode()))
    if head:
        yield finished()
