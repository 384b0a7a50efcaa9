"""Where files come from: a work tree, a plain folder or a git revision, never checked out.

`open_source` is the door; everything behind it is a `Source`. Nothing here runs code of the
repository that is read (hooks, fsmonitor, filters, external diffs) and nothing touches a network.
"""

from indexes.source.model import (
    WORKTREE,
    ChangedPath,
    Commit,
    MissingFile,
    Source,
    SourceEntry,
    StatCache,
    printable_path,
)
from indexes.source.opening import open_source
from indexes.source.selection import may_be_python, python_entries

__all__ = [
    "WORKTREE",
    "ChangedPath",
    "Commit",
    "MissingFile",
    "Source",
    "SourceEntry",
    "StatCache",
    "may_be_python",
    "open_source",
    "printable_path",
    "python_entries",
]
