"""What edits and patches are: an `Edit` is a wish, a `Patch` is what came of it, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class EditKind(StrEnum):
    """What an edit does with its file."""

    REPLACE = "replace"
    CREATE = "create"
    DELETE = "delete"
    RENAME = "rename"


class EditStatus(StrEnum):
    """What became of a text of edits; callers count these."""

    APPLIED = "applied"
    DOES_NOT_MATCH = "does_not_match"
    AMBIGUOUS = "ambiguous"
    DOES_NOT_PARSE = "does_not_parse"
    NO_CHANGE = "no_change"
    UNKNOWN_FILE = "unknown_file"
    OUTSIDE_REPOSITORY = "outside_repository"
    MALFORMED = "malformed"


@dataclass(frozen=True, slots=True)
class Edit:
    """One place of one file and its new text; line ends are ``\\n`` whatever the file has."""

    path: str
    """Relative to the repository's root, with forward slashes, as the author wrote it."""
    search: str
    """Lines to find; empty for a new file or for a pure insertion at `line`."""
    replace: str
    """Lines to put in their place."""
    line: int | None = None
    """1-based line where `search` is said to start; a tie-break only, authors miscount."""
    kind: EditKind = EditKind.REPLACE
    new_path: str = ""
    """Where a renamed file goes."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file before and after; `None` where it does not exist."""

    path: str
    old: bytes | None
    new: bytes | None


@dataclass(frozen=True, slots=True)
class Patch:
    """A set of file changes with the diff ``git apply`` takes, sorted by path, each path once."""

    changes: tuple[FileChange, ...]
    diff: bytes

    @property
    def files(self) -> dict[str, bytes | None]:
        """New bytes by path; `None` for a deleted file."""
        return {change.path: change.new for change in self.changes}


@dataclass(frozen=True, slots=True)
class PatchOutcome:
    """All of a text's edits applied, or the first reason why not: there is no half a patch."""

    status: EditStatus
    patch: Patch | None = None
    """Set exactly when `status` is ``applied``."""
    path: str = ""
    """File of the edit that failed."""
    message: str = ""
    """What a person or a model can mend the edit by."""


Files = Mapping[str, bytes]
"""A repository's files by path; may be lazy, only the paths of edits are looked up."""
