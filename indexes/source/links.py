"""Following the symbolic links of a tree that is not on disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

_MAX_HOPS = 40
"""As many as Linux follows in one path."""


_LEAVES = "link leaves the root"
_NO_FILE = "link leads to no file"


class LinkError(Exception):
    """The link leads to no file of the tree; the text says why."""


def find_folders(files: Iterable[str]) -> set[str]:
    """Return all folders that hold the files, however deep; the root is the empty name."""
    folders = {""}
    for path in files:
        folder = path.rpartition("/")[0]
        while folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return folders


def get_link_target(
    path: str, *, links: Mapping[str, str], files: Set[str], folders: Set[str]
) -> str:
    """Return the file that the link at `path` leads to, through other links if need be.

    Parameters
    ----------
    path : str
        A key of `links`.
    links : mapping of str to str
        What each link of the tree says.
    files : set of str
        The paths that a link may lead to.
    folders : set of str
        The paths that a link may lead through, those around links included.

    Raises
    ------
    LinkError
        If the link goes round in circles, leaves the tree, or leads to no file.
    """
    pending = path.split("/")[::-1]
    done: list[str] = []
    hops = 0
    while pending:
        part = pending.pop()
        if part in {"", "."}:
            continue
        if part == "..":
            if not done:
                raise LinkError(_LEAVES)
            done.pop()
            continue
        done.append(part)
        name = "/".join(done)
        target = links.get(name)
        if target is not None:
            hops += 1
            _check_hop(target, hops)
            done.pop()
            pending.extend(target.split("/")[::-1])
        elif name not in (folders if pending else files):
            raise LinkError(_NO_FILE)
    found = "/".join(done)
    if found not in files:
        raise LinkError(_NO_FILE)
    return found


def _check_hop(target: str, hops: int) -> None:
    if hops > _MAX_HOPS:
        raise LinkError("link goes round in circles")
    if target.startswith("/"):
        raise LinkError(_LEAVES)
