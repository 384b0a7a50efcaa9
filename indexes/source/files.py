"""Opening and hashing regular files on disk, wherever links may lead."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

_CHUNK_BYTES = 1 << 20
_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
"""A link or pipe put in a file's place meanwhile must neither be followed nor block."""


class UnreadableFileError(Exception):
    """The path leads to no file that may be read; the text says why."""


def read_file(path: bytes) -> bytes:
    """Return the bytes of a regular file."""
    with _opened(path) as descriptor, os.fdopen(os.dup(descriptor), "rb") as file:
        return file.read()


def hash_file(path: bytes, object_format: str) -> tuple[str, os.stat_result]:
    """Return the blob id of a regular file and the stat data that belong to it, in constant memory.

    Raises
    ------
    UnreadableFileError
        If it cannot be read, or grows or shrinks meanwhile.
    """
    with _opened(path) as descriptor:
        found = os.fstat(descriptor)
        digest = _new_digest(found.st_size, object_format)
        size = 0
        while chunk := os.read(descriptor, _CHUNK_BYTES):
            digest.update(chunk)
            size += len(chunk)
    if size != found.st_size:
        raise UnreadableFileError("changed while it was being read")
    return digest.hexdigest(), found


def blob_id_of(data: bytes, object_format: str) -> str:
    """Git's object id of the bytes as a blob."""
    digest = _new_digest(len(data), object_format)
    digest.update(data)
    return digest.hexdigest()


def get_real_file(path: bytes, root: bytes) -> bytes:
    """Return where a link leads, if that is a regular file inside the root.

    Raises
    ------
    UnreadableFileError
        If it is not.
    """
    try:
        real = os.path.realpath(path, strict=True)
        mode = os.stat(path).st_mode
    except FileNotFoundError as error:
        raise UnreadableFileError("link leads to no file") from error
    except OSError as error:
        raise UnreadableFileError(f"link cannot be followed: {error.strerror}") from error
    inside = real.startswith(root.rstrip(b"/") + b"/")
    if not inside or real.startswith(root.rstrip(b"/") + b"/.git/"):
        raise UnreadableFileError("link leaves the root")
    if not stat.S_ISREG(mode):
        raise UnreadableFileError("link leads to no file")
    return real


def _new_digest(size: int, object_format: str) -> hashlib._Hash:
    return hashlib.new(object_format, b"blob %d\0" % size, usedforsecurity=False)


@contextmanager
def _opened(path: bytes) -> Iterator[int]:
    try:
        descriptor = os.open(path, _OPEN_FLAGS)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UnreadableFileError("not a regular file")
            yield descriptor
        finally:
            os.close(descriptor)
    except OSError as error:
        raise UnreadableFileError(error.strerror or "cannot be read") from error
