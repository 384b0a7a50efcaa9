"""Which paths of a folder on disk count: those git tracks or would, or all but the usual litter."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pathspec import GitIgnoreSpec

from indexes.source.files import UnreadableFileError, read_file
from indexes.source.git import GitRepository
from indexes.source.model import decode_path


class Listing(Protocol):
    """Names the candidates of a folder; whether they are files shows later."""

    def find_paths(self, missing: dict[str, str]) -> list[bytes]:
        """Return paths relative to the root, each once; `missing` takes what cannot be listed."""
        ...


@dataclass(frozen=True, slots=True)
class GitListing:
    """Files that git tracks, and untracked ones that no rule ignores."""

    repository: GitRepository

    def find_paths(self, missing: dict[str, str]) -> list[bytes]:
        """List with git; untracked repositories inside are left out and recorded."""
        listed = self.repository.output(
            "ls-files", "-z", "--cached", "--others", "--exclude-standard"
        )
        paths = dict.fromkeys(listed.split(b"\0")[:-1])
        nested = [path for path in paths if path.endswith(b"/")]
        for path in nested:
            missing[decode_path(path.rstrip(b"/"))] = "another repository"
            del paths[path]
        return list(paths)


@dataclass(frozen=True, slots=True)
class FolderListing:
    """All files of a folder without git, but for ignored ones, caches and environments."""

    root: Path

    def find_paths(self, missing: dict[str, str]) -> list[bytes]:
        """Walk the folder; ``.gitignore`` files count, links to folders are not followed."""
        paths: list[bytes] = []
        pending: list[tuple[bytes, _Rules]] = [(b"", ())]
        while pending:
            folder, rules = pending.pop()
            try:
                found = sorted(_scan(self.root, folder))
            except OSError as error:
                missing[decode_path(folder) or "."] = error.strerror or "cannot be listed"
                continue
            rules = _with_rules(self.root, folder, rules)
            for name, is_folder in found:
                path = folder + b"/" + name if folder else name
                if _is_ignored(path, rules, is_folder=is_folder):
                    continue
                if not is_folder:
                    paths.append(path)
                elif not _is_litter(self.root, path, name):
                    pending.append((path, rules))
        return paths


_Rules = tuple[tuple[str, GitIgnoreSpec], ...]
"""Ignore files from the root down, each with its folder's path and a slash."""

_LITTER = frozenset(
    {
        b".git",
        b".hg",
        b".svn",
        b".graphloc",
        b".tox",
        b".nox",
        b".mypy_cache",
        b".pytest_cache",
        b".ruff_cache",
        b".hypothesis",
        b".eggs",
        b"__pycache__",
        b"node_modules",
    }
)
"""Folders that tools make, and that nobody edits."""


def _scan(root: Path, folder: bytes) -> Iterator[tuple[bytes, bool]]:
    with os.scandir(os.path.join(os.fsencode(root), folder)) as found:
        for item in found:
            yield item.name, item.is_dir(follow_symlinks=False)


def _is_litter(root: Path, path: bytes, name: bytes) -> bool:
    marker = os.path.join(os.fsencode(root), path, b"pyvenv.cfg")
    return name in _LITTER or os.path.lexists(marker)


def _with_rules(root: Path, folder: bytes, rules: _Rules) -> _Rules:
    try:
        data = read_file(os.path.join(os.fsencode(root), folder, b".gitignore"))
    except UnreadableFileError:
        return rules
    spec = GitIgnoreSpec.from_lines(decode_path(data).splitlines())
    prefix = decode_path(folder) + "/" if folder else ""
    return (*rules, (prefix, spec))


def _is_ignored(path: bytes, rules: _Rules, *, is_folder: bool) -> bool:
    """Whether the deepest ignore file that has a say on the path says so."""
    name = decode_path(path) + ("/" if is_folder else "")
    for prefix, spec in reversed(rules):
        verdict = spec.check_file(name.removeprefix(prefix)).include
        if verdict is not None:
            return verdict
    return False


def is_submodule(path: bytes) -> bool:
    """Whether a folder that git lists as if it were a file is a repository of its own."""
    with os.scandir(path) as found:
        names = {item.name for item in found}
    return not names or b".git" in names


def describe_kind(mode: int) -> str:
    """Name what stands where a file was expected."""
    kinds = (
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    )
    return next((text for test, text in kinds if test(mode)), "not a regular file")
