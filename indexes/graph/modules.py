"""Which file an import means.

A folder without ``__init__.py`` above a file is that file's *import root* (where ``sys.path`` would
point). A repository can have several: its own folder, ``src``, one per package of a monorepo.
Names of the standard library are never taken for files of the repository unless the repository's
own root or ``src`` holds them, so ``import types`` in ``tools/`` does not mean ``tools/types.py``.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

_STDLIB = sys.stdlib_module_names
_TOP_ROOTS = ("", "src", "lib", "Lib", "python")
"""Folders that people put on ``sys.path`` by convention, best first."""


@dataclass(frozen=True, slots=True)
class Module:
    """What a dotted name stands for: a file, a package (its ``__init__``), or a bare folder."""

    folder: str | None
    """Folder whose files are submodules; `None` for a plain module."""
    file: str | None
    """The file with the module's code; `None` for a namespace package."""


class ModuleMap:
    """Finds modules among the Python files of one snapshot.

    Parameters
    ----------
    paths
        All Python files, relative, with forward slashes.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._files = set(paths)
        self._folders = _all_folders(self._files)
        self._roots = self._find_roots()
        self._known: dict[tuple[str, str], Module | None] = {}

    def resolve(self, dotted: str, from_path: str) -> Module | None:
        """The module that an absolute import of `dotted` in a file means, if it is here."""
        folder = _parent(from_path)
        key = (dotted, folder)
        if key not in self._known:
            self._known[key] = self._resolve_absolute(dotted, folder)
        return self._known[key]

    def resolve_relative(self, dotted: str, level: int, from_path: str) -> Module | None:
        """The module that ``from ..dotted import`` means; `level` counts the dots."""
        folder = _parent(from_path)
        for _ in range(level - 1):
            if not folder:
                return None
            folder = _parent(folder)
        target = _join(folder, dotted.replace(".", "/")) if dotted else folder
        return self._at(target)

    def submodule(self, module: Module, name: str) -> Module | None:
        """``module.name`` when that is a file or folder below a package."""
        if module.folder is None:
            return None
        return self._at(_join(module.folder, name))

    def _at(self, stem: str) -> Module | None:
        """The module whose path without suffix is `stem`."""
        for suffix in (".py", ".pyi"):
            init = _join(stem, f"__init__{suffix}")
            if init in self._files:
                return Module(stem, init)
            if f"{stem}{suffix}" in self._files:
                return Module(None, f"{stem}{suffix}")
        return Module(stem, None) if stem in self._folders else None

    def _resolve_absolute(self, dotted: str, folder: str) -> Module | None:
        relative = dotted.replace(".", "/")
        top = relative.split("/", 1)[0]
        bare: Module | None = None
        for root in self._candidate_roots(top, folder):
            found = self._at(_join(root, relative))
            if found is not None and found.file is not None:
                return found
            bare = bare or found
        return bare

    def _candidate_roots(self, top: str, folder: str) -> list[str]:
        """Import roots to try, the importing file's own surroundings first."""
        if top in _STDLIB:
            return [root for root in _TOP_ROOTS if self._holds(root, top)]
        own = self._root_of(folder)
        roots = [own, *_ancestors(own)]
        roots += [root for root in _TOP_ROOTS if root not in roots]
        others = [root for root in self._roots.get(top, ()) if root not in roots]
        others.sort(key=lambda root: (-_shared_depth(root, folder), root.count("/"), root))
        roots += others
        if folder not in roots:
            roots.append(folder)  # Python 2's implicit relative import, and scripts
        return roots

    def _holds(self, root: str, top: str) -> bool:
        stem = _join(root, top)
        return f"{stem}.py" in self._files or _join(stem, "__init__.py") in self._files

    def _root_of(self, folder: str) -> str:
        while folder and _join(folder, "__init__.py") in self._files:
            folder = _parent(folder)
        return folder

    def _find_roots(self) -> dict[str, list[str]]:
        """Roots of each top-level package by the package's name."""
        roots: dict[str, set[str]] = defaultdict(set)
        for path in self._files:
            folder, _, name = path.rpartition("/")
            if name != "__init__.py" or not folder:
                continue
            root = self._root_of(folder)
            top = folder[len(root) :].lstrip("/").split("/", 1)[0]
            roots[top].add(root)
        return {top: sorted(found) for top, found in roots.items()}


def _all_folders(files: set[str]) -> set[str]:
    folders: set[str] = set()
    for path in files:
        folder = _parent(path)
        while folder and folder not in folders:
            folders.add(folder)
            folder = _parent(folder)
    return folders


def _ancestors(folder: str) -> list[str]:
    found = []
    while folder:
        folder = _parent(folder)
        found.append(folder)
    return found


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _shared_depth(left: str, right: str) -> int:
    depth = 0
    for one, other in zip(left.split("/"), right.split("/"), strict=False):
        if one != other:
            break
        depth += 1
    return depth
