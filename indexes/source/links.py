"""Following the symbolic links of a tree that is not on disk."""

from __future__ import annotations

from collections.abc import Mapping, Set

_MAX_HOPS = 40
"""As many as Linux follows in one path."""


class LinkError(Exception):
    """The link leads to no file of the tree; the text says why."""


def get_link_target(path: str, links: Mapping[str, str], files: Set[str]) -> str:
    """Return the file that the link at `path` leads to, through other links if need be.

    Parameters
    ----------
    path : str
        A key of `links`.
    links : mapping of str to str
        What each link of the tree says.
    files : set of str
        The paths that a link may lead to.

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
        if part == ".." and not done:
            raise LinkError("link leaves the root")
        if part == "..":
            done.pop()
        elif part not in {"", "."}:
            done.append(part)
            target = links.get("/".join(done))
            if target is not None:
                hops += 1
                if hops > _MAX_HOPS:
                    raise LinkError("link goes round in circles")
                if target.startswith("/"):
                    raise LinkError("link leaves the root")
                done.pop()
                pending.extend(target.split("/")[::-1])
    found = "/".join(done)
    if found not in files:
        raise LinkError("link leads to no file")
    return found
