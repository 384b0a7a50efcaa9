"""Reading blobs through one ``git cat-file --batch`` process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from subprocess import Popen

from indexes.source.git import GitRepository

_IDS_IN_FLIGHT = 256
"""Written at once: 256 ids of 65 bytes fit into a pipe (64 KiB), so neither side can block."""


def read_blobs(repository: GitRepository, ids: Sequence[str]) -> Iterator[bytes | None]:
    """Yield the bytes of each blob, or None where the repository lacks it or cannot read it.

    A damaged object makes git exit; another process then goes on behind it.
    """
    position = 0
    while position < len(ids):
        with repository.process("cat-file", "--batch") as process:
            for data in _answers(process, ids[position:]):
                position += 1
                yield data
        if position < len(ids):
            position += 1
            yield None


def _answers(process: Popen[bytes], ids: Sequence[str]) -> Iterator[bytes | None]:
    """Yield answers until git has given all, or has died."""
    assert process.stdin is not None
    for start in range(0, len(ids), _IDS_IN_FLIGHT):
        chunk = ids[start : start + _IDS_IN_FLIGHT]
        try:
            process.stdin.write("".join(f"{blob_id}\n" for blob_id in chunk).encode())
            process.stdin.flush()
        except BrokenPipeError:
            return
        for _ in chunk:
            size = _header_size(process)
            if size is None:
                return
            if size < 0:
                yield None
                continue
            data = _body(process, size)
            if data is None:
                return
            yield data


def _header_size(process: Popen[bytes]) -> int | None:
    """Size that the next header announces, -1 for a missing object, None at the end."""
    assert process.stdout is not None
    header = process.stdout.readline().split()
    if not header:
        return None
    return int(header[2]) if len(header) == 3 else -1


def _body(process: Popen[bytes], size: int) -> bytes | None:
    assert process.stdout is not None
    data = process.stdout.read(size + 1)
    return data[:-1] if len(data) == size + 1 else None
