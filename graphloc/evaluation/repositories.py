"""Finding the clone of each repository of a dataset."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from graphloc.evaluation.clones import clone_repository
from indexes.errors import InputError, RepositoryNotFoundError

GITHUB = "https://github.com"
_JOINTS = ("/", "__", "+")
"""Between owner and name: the ways in which people and tools lay out many clones."""
_INNER = "repo"


@dataclass(frozen=True, slots=True)
class Repositories:
    """Where clones are looked for, in this order: the map, the folder, the remote."""

    folder: Path | None = None
    """Holds clones as ``owner/name``, ``owner__name``, ``owner+name``, or those with ``/repo``."""
    paths: Mapping[str, Path] = field(default_factory=dict)
    """Clones by ``owner/name``."""
    remote: str | None = GITHUB
    """Address before ``/owner/name`` to clone from into the folder; None to stay offline."""

    def get(self, repo: str) -> Path:
        """Return the clone of ``owner/name``, which is cloned if it is nowhere at hand.

        Letter case counts only where two candidates differ in nothing else.

        Raises
        ------
        RepositoryNotFoundError
            If there is none and nowhere to clone it to or from.
        CloneError
            If cloning fails.
        """
        path = self._mapped(repo) or self._in_folder(repo)
        if path is not None:
            return path
        if self.folder is None or self.remote is None:
            raise RepositoryNotFoundError(
                f"no clone of {repo} is at hand: name one with --repo-map, "
                "or a folder for clones with --repos",
                repo=repo,
            )
        return clone_repository(
            f"{self.remote.rstrip('/')}/{repo}", self.folder / repo.replace("/", "__"), repo=repo
        )

    def _mapped(self, repo: str) -> Path | None:
        path = self.paths.get(repo)
        if path is None:
            alike = {name.lower(): path for name, path in self.paths.items()}
            path = alike.get(repo.lower())
        if path is not None and not is_repository(path):
            raise RepositoryNotFoundError(
                f"{path}, which the repository map names for {repo}, is no git repository: "
                "correct the map",
                path=str(path),
            )
        return path

    def _in_folder(self, repo: str) -> Path | None:
        if self.folder is None or not self.folder.is_dir():
            return None
        owner, name = repo.split("/", 1)
        exact = (self.folder / f"{owner}{joint}{name}" for joint in _JOINTS)
        for candidate in (*exact, *_iter_alike(self.folder, owner, name)):
            for path in (candidate, candidate / _INNER):
                if is_repository(path):
                    return path
        return None


def is_repository(path: Path) -> bool:
    """Whether a folder is a clone itself, bare or not; a folder inside one is not."""
    if (path / ".git").exists():
        return True
    return (path / "HEAD").is_file() and (path / "objects").is_dir()


def _iter_alike(folder: Path, owner: str, name: str) -> Iterator[Path]:
    """Yield candidates whose names differ from the usual ones in letter case only."""
    wanted = {f"{owner}{joint}{name}".lower() for joint in _JOINTS[1:]}
    for path in sorted(folder.iterdir()):
        if path.name.lower() in wanted:
            yield path
        elif path.name.lower() == owner.lower() and path.is_dir():
            yield from (p for p in sorted(path.iterdir()) if p.name.lower() == name.lower())


def load_repository_map(path: Path) -> dict[str, Path]:
    """Read a map from ``owner/name`` to the path of a clone, in TOML or JSON.

    Relative paths start at the map's own folder.

    Raises
    ------
    InputError
        If the file cannot be read or is no such map.
    """
    try:
        text = path.read_text("utf-8")
        content = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError) as error:
        raise InputError(
            f"the repository map {path} cannot be read ({error}): write TOML (.toml) or JSON",
            path=str(path),
        ) from error
    if not isinstance(content, dict) or not all(isinstance(v, str) for v in content.values()):
        raise InputError(
            f'{path} is no repository map: write "owner/name" = "path of a clone" for each',
            path=str(path),
        )
    return {repo: path.parent / Path(value).expanduser() for repo, value in content.items()}
