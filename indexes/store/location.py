"""Where the index of a source is kept."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from indexes.errors import DiskFullError, StoreError
from indexes.store.database import INDEX_FILE
from indexes.store.errors import from_os_error

FOLDER = ".graphloc"


def index_directory(root: Path, override: Path | None = None) -> Path:
    """Return the folder for the index of a source, which is made if need be.

    Parameters
    ----------
    root : Path
        The root of the source; of a bare repository its own folder.
    override : Path, optional
        The user's choice.

    Returns
    -------
    Path
        `override`, or ``.graphloc`` under the root with an ignore file of its own, or, where that
        cannot be written, ``graphloc/<digest of the root>`` in the user's cache folder.

    Raises
    ------
    DiskFullError
        If there is no room.
    StoreError
        If none of them can be made.
    """
    if override is not None:
        return _make(override.absolute())
    own = root / FOLDER
    # A link could come with the repository and lead anywhere.
    if not own.is_symlink():
        try:
            if _is_writable(_make(own)):
                return own
        except DiskFullError:
            raise
        except StoreError:
            pass
    digest = hashlib.sha256(os.fsencode(root)).hexdigest()
    return _make(_cache_home() / "graphloc" / digest[:32])


def _make(folder: Path) -> Path:
    """Make a folder; one that is new or empty gets an ignore file, others stay as they are."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not any(folder.iterdir()):
            (folder / ".gitignore").write_bytes(b"*\n")
    except OSError as error:
        raise from_os_error(error, folder) from error
    return folder


def _is_writable(folder: Path) -> bool:
    index = folder / INDEX_FILE
    return os.access(folder, os.W_OK | os.X_OK) and (
        not index.exists() or os.access(index, os.W_OK)
    )


def _cache_home() -> Path:
    """Return the user's cache folder by the XDG rules, which do not count relative paths."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if named.is_absolute():
        return named
    try:
        return Path.home() / ".cache"
    except RuntimeError as error:
        raise StoreError(
            "no folder for the index can be written: choose one with --index-dir"
        ) from error
