"""Finding out what kind of source a path is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from indexes.errors import InputError, RepositoryNotFoundError, RevisionNotFoundError
from indexes.source.git import GitRepository, find_repository
from indexes.source.listing import FolderListing, GitListing
from indexes.source.model import Source, printable_path
from indexes.source.revision import GitRevision, resolve_revision
from indexes.source.worktree import WorkTree


def open_source(path: Path, rev: str | None = None) -> Source:
    """Return the source at a path.

    Parameters
    ----------
    path : Path
        A folder: a repository (bare or not), a folder inside one, or any other.
    rev : str, optional
        Anything that names a commit. Without it the files on disk are meant; in a bare repository,
        which has none, its HEAD.

    Raises
    ------
    RepositoryNotFoundError
        If there is no folder at the path.
    RevisionNotFoundError
        If the repository does not hold the revision, or there is no repository.
    InputError
        If only git could help, and it is not installed.
    GitError
        If there is a repository that git cannot use.
    """
    root = _get_folder(path)
    if shutil.which("git") is None:
        return _open_without_git(root, rev)
    repository = find_repository(root)
    if repository is None:
        if rev is not None:
            where = printable_path(str(root))
            raise RevisionNotFoundError(
                f"{where} is in no git repository, so there is no revision "
                f"{printable_path(rev)!r}: leave the revision out, or name a repository",
                revision=rev,
                path=where,
            )
        return WorkTree(root, FolderListing(root))
    if rev is None and repository.has_work_tree:
        return _open_work_tree(root, repository)
    return GitRevision(repository, resolve_revision(repository, "HEAD" if rev is None else rev))


def _get_folder(path: Path) -> Path:
    root = os.path.realpath(path)
    if not os.path.isdir(root):
        where = printable_path(str(path))
        what = "is a file, not a folder" if os.path.exists(root) else "does not exist"
        raise RepositoryNotFoundError(
            f"{where} {what}: name the folder of a repository", path=where
        )
    return Path(root)


def _open_without_git(root: Path, rev: str | None) -> Source:
    is_bare = (root / "HEAD").is_file() and (root / "objects").is_dir()
    if rev is None and not is_bare:
        return WorkTree(root, FolderListing(root))
    raise InputError(
        "git is not on PATH: install it, as only git can read a revision or a bare repository",
        revision=rev,
    )


def _open_work_tree(root: Path, repository: GitRepository) -> Source:
    """Open a work tree, or as a plain folder one that its own repository ignores."""
    if repository.prefix and repository.succeeds("check-ignore", "--quiet", "."):
        return WorkTree(root, FolderListing(root))
    return WorkTree(root, GitListing(repository), repository)
