"""What past commits say: their messages, the files they changed, when.

Only ancestors of a revision count. The newest `MOST_COMMITS` are read once and kept in the store by
the newest one's id, as arrays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from indexes.arrays import Arrays, pack_arrays, pack_texts, unpack_arrays, unpack_texts
from indexes.errors import GitError
from indexes.source import Commit, Source
from indexes.store import Store
from indexes.text import TextIndex, TextIndexBuilder, Tokenizer, tokenizer_version

MOST_COMMITS = 3_000
"""Older commits seldom touch code that still looks the same."""
MOST_FILES = 30
"""Commits that change more files are sweeps (formatting, renames) and say nothing about any."""
HISTORY_VERSION = 1
_PART = "history"
_MESSAGE_CHARS = 2_000


class History:
    """Commits newest first, with the Python files each changed.

    Parameters
    ----------
    arrays
        ``times`` (n,) int64 seconds; ``starts`` (n + 1,) and ``changes`` int32: the paths changed
        by commit i are ``changes[starts[i]:starts[i + 1]]``; the paths; the index of the messages.
    """

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = dict(arrays)
        self.times: npt.NDArray[np.int64] = arrays["times"]
        self.starts: npt.NDArray[np.int32] = arrays["starts"]
        self.changes: npt.NDArray[np.int32] = arrays["changes"]
        self.paths: list[str] = unpack_texts(arrays["paths"], int(arrays["n_paths"][0]))
        self.messages = TextIndex.from_arrays(
            {name[5:]: array for name, array in arrays.items() if name.startswith("text.")}
        )

    def __len__(self) -> int:
        return len(self.times)

    @property
    def commit_of_change(self) -> npt.NDArray[np.int64]:
        """(n_changes,) number of the commit that each change belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def to_bytes(self) -> bytes:
        """The arrays, for storing."""
        return pack_arrays(self._arrays)

    @classmethod
    def from_bytes(cls, data: bytes) -> History:
        """Inverse of `to_bytes`."""
        return cls(unpack_arrays(data))


def load_history(
    source: Source, store: Store, tokenizer: Tokenizer | None = None
) -> History | None:
    """The history of a source's revision, from the store where it is there already.

    Returns
    -------
    History or None
        `None` where there is none to read: no repository, no commit, a clone without trees.
    """
    if not source.has_history:
        return None
    try:
        newest = next(iter(source.commits(1)), None)
        if newest is None:
            return None
        key = f"history {HISTORY_VERSION} {tokenizer_version()} {source.root} {newest.id}"
        record = store.get_snapshot(key)
        if record is not None:
            return History.from_bytes(record.section(_PART))
        history = build_history(source.commits(MOST_COMMITS), tokenizer)
    except GitError:
        return None  # a treeless clone knows its commits but not what they changed
    if not store.read_only:
        store.put_snapshot(key, b"", {_PART: history.to_bytes()})
    return history


def build_history(commits: Iterable[Commit], tokenizer: Tokenizer | None = None) -> History:
    """Compile commits, newest first."""
    numbers: dict[str, int] = {}
    times: list[int] = []
    starts, changes = [0], []
    tokenizer = tokenizer or Tokenizer()
    builder = TextIndexBuilder(("message",), tokenizer)
    for commit in commits:
        paths = [change.path for change in commit.changes if change.path.endswith(".py")]
        if not paths or len(commit.changes) > MOST_FILES:
            continue
        times.append(commit.author_time_s)
        changes += [numbers.setdefault(path, len(numbers)) for path in paths]
        starts.append(len(changes))
        words = Counter(tokenizer.text_words(commit.message[:_MESSAGE_CHARS]))
        builder.add({"message": words})
    text = builder.build().to_arrays()
    return History(
        {
            "times": np.array(times, dtype=np.int64),
            "starts": np.array(starts, dtype=np.int32),
            "changes": np.array(changes, dtype=np.int32),
            "paths": pack_texts(numbers),
            "n_paths": np.array([len(numbers)], dtype=np.int64),
            **{f"text.{name}": array for name, array in text.items()},
        }
    )
