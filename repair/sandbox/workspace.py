"""A workspace: a throw-away copy of a work tree that sandboxes run in and patches go to.

The tree at hand is copied, uncommitted and ignored files included, since tests need what was built
in place. Version control folders and caches stay behind; virtual environments inside the tree are
not copied but shared read-only. Nothing is hard-linked, so the copy cannot change the original.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from indexes.errors import InputError
from repair.errors import SandboxError, UnsafePathError
from repair.patch import Patch, is_safe_path

PREFIX = "graphloc-workspace-"
_LEFT_OUT = frozenset(
    {".git", ".hg", ".svn", ".graphloc", "__pycache__", ".mypy_cache", ".pytest_cache"}
    | {".ruff_cache", ".hypothesis", ".tox", ".nox"}
)
_OWNER_BASE = 1_500_000_000
"""User ids from here on belong to nobody; accounts and sub-ids end far below (subuid: 6e8)."""
_CHUNK_BYTES = 1 << 20
_COUNTER = itertools.count()


@dataclass(slots=True)
class Workspace:
    """A copy of `source` in a folder of its own; a context manager that removes it.

    A workspace whose process died without removing it is removed when the next one is made.
    """

    source: Path
    """The tree that was copied; sandboxes that can show the copy at this very path."""
    base: Path
    """Private folder that holds the copy and what sandboxes need beside it."""
    owner: int
    """User id of the copy's files: an unused one if we are root, otherwise our own."""
    shared: tuple[str, ...] = ()
    """Virtual environments inside the tree, relative to it: to be shown read-only."""
    skipped: tuple[str, ...] = ()
    """What could not be copied: unreadable or vanished files, sockets, devices."""
    _lock: int = field(default=-1, repr=False)

    @property
    def root(self) -> Path:
        """The copy's folder."""
        return self.base / "tree"

    @classmethod
    def copy(cls, source: Path, *, parent: Path | None = None) -> Workspace:
        """Copy a work tree into a new folder under `parent`, by default the system's for such.

        Raises
        ------
        InputError
            `source` is not a folder.
        SandboxError
            The copy cannot be made, for instance because the disk is full.
        """
        if not source.is_dir():
            raise InputError(f"{source} is not a folder", path=str(source))
        parent = parent or Path(tempfile.gettempdir())
        remove_abandoned(parent)
        try:
            base = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
            workspace = cls(source.resolve(), base, _new_owner(), _lock=_locked(base))
            try:
                workspace._fill()
            except BaseException:
                workspace.close()
                raise
        except OSError as error:
            raise SandboxError(f"cannot copy {source} to {parent}: {error}") from error
        return workspace

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove the copy; a second call does nothing."""
        if self._lock < 0:
            return
        _remove_tree(self.base)
        os.close(self._lock)
        self._lock = -1

    def read(self, path: str) -> bytes | None:
        """Return a file's bytes, `None` if there is none; links are not followed.

        Raises
        ------
        UnsafePathError
            The path leads outside, or a part of it is a link or no regular file.
        """
        with _parent_of(self.root, path) as (folder, name):
            if folder is None:
                return None
            try:
                handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
            except FileNotFoundError:
                return None
            except OSError as error:
                raise UnsafePathError(f"{path} is no regular file", path=path) from error
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                os.close(handle)
                raise UnsafePathError(f"{path} is no regular file", path=path)
            with open(handle, "rb") as file:
                return file.read()

    def write(self, path: str, data: bytes | None) -> None:
        """Make a file hold `data`, or be gone for `None`; a link in its place is replaced.

        Raises
        ------
        UnsafePathError
            The path leads outside, or a folder on the way is a link.
        """
        with _parent_of(self.root, path, owner=self.owner, make=data is not None) as place:
            folder, name = place
            if folder is None:
                return
            mode = _discard(folder, name, path)
            if data is None:
                return
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with open(os.open(name, flags, mode, dir_fd=folder), "wb") as file:
                file.write(data)
                _give(file.fileno(), self.owner)
                os.fchmod(file.fileno(), mode)

    def apply(self, patch: Patch) -> None:
        """Write a patch's new files."""
        for change in patch.changes:
            self.write(change.path, change.new)

    def revert(self, patch: Patch) -> None:
        """Write a patch's old files back."""
        for change in patch.changes:
            self.write(change.path, change.old)

    def _fill(self) -> None:
        copier = _Copier(self.source, self.root, self.owner)
        copier.copy()
        self.shared, self.skipped = tuple(copier.shared), tuple(copier.skipped)


def remove_abandoned(parent: Path) -> None:
    """Remove our own workspaces under `parent` whose process is gone; others' are left alone."""
    for base in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if base.lstat().st_uid != os.geteuid() or base.is_symlink():
                continue
            handle = os.open(base / "lock", os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove_tree(base)
            finally:
                os.close(handle)


class _Copier:
    """Copies a tree folder by folder; links are copied as links."""

    def __init__(self, source: Path, target: Path, owner: int) -> None:
        self._source = source
        self._target = target
        self._owner = owner
        self.shared: list[str] = []
        self.skipped: list[str] = []

    def copy(self) -> None:
        pending = [""]
        while pending:
            folder = pending.pop()
            target = self._target / folder
            target.mkdir(mode=0o755)
            _give(target, self._owner)
            try:
                entries = sorted(os.scandir(self._source / folder), key=lambda entry: entry.name)
            except OSError:
                self.skipped.append(folder)
                continue
            pending += [found for entry in entries if (found := self._entry(folder, entry))]

    def _entry(self, folder: str, entry: os.DirEntry[str]) -> str:
        """Copy one entry; return its path if it is a folder to go into."""
        path = os.path.join(folder, entry.name)
        if entry.name in _LEFT_OUT or entry.name.startswith(PREFIX):
            return ""
        try:
            if entry.is_symlink():
                os.symlink(os.readlink(entry.path), self._target / path)
                _give(self._target / path, self._owner)
            elif entry.is_file():
                self._file(entry, path)
            elif entry.is_dir() and os.path.exists(os.path.join(entry.path, "pyvenv.cfg")):
                self.shared.append(path)
                (self._target / path).mkdir()
            elif entry.is_dir():
                return path
            else:
                self.skipped.append(path)
        except (PermissionError, FileNotFoundError):
            self.skipped.append(path)
        return ""

    def _file(self, entry: os.DirEntry[str], path: str) -> None:
        """Copy bytes, permission bits without set-id ones, and times."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with ExitStack() as opened:
            source = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW)
            opened.callback(os.close, source)
            target = os.open(self._target / path, flags, 0o600)
            opened.callback(os.close, target)
            while data := os.read(source, _CHUNK_BYTES):
                while data:
                    data = data[os.write(target, data) :]
            status = os.fstat(source)
            _give(target, self._owner)
            os.fchmod(target, stat.S_IMODE(status.st_mode) & 0o777 | stat.S_IRUSR | stat.S_IWUSR)
            os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))


def _new_owner() -> int:
    """Return a user id that no other workspace has, if we may give files away."""
    if os.geteuid():
        return os.geteuid()
    return _OWNER_BASE + (os.getpid() << 8) % 2**30 + next(_COUNTER) % 256


def _give(target: int | Path, owner: int) -> None:
    if owner == os.geteuid():
        return
    if isinstance(target, int):
        os.fchown(target, owner, owner)
    else:
        os.lchown(target, owner, owner)


def _locked(base: Path) -> int:
    """Make the lock file that says the workspace is in use; it appears when it is locked."""
    handle = os.open(base / "lock.new", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX)
    os.rename(base / "lock.new", base / "lock")
    return handle


@contextmanager
def _parent_of(
    root: Path, path: str, *, owner: int = -1, make: bool = False
) -> Iterator[tuple[int | None, str]]:
    """Open the folder a path lies in, part by part and without following links.

    Yields the folder's descriptor, `None` if it does not exist, and the path's last part.
    """
    if not is_safe_path(path):
        raise UnsafePathError(f"{path} leads out of the workspace", path=path)
    *folders, name = Path(path).parts
    with ExitStack() as opened:
        handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        opened.callback(os.close, handle)
        for part in folders:
            step = _step(handle, part, path, owner if make else None)
            if step is None:
                yield None, name
                return
            handle = step
            opened.callback(os.close, handle)
        yield handle, name


def _step(folder: int, part: str, path: str, maker: int | None) -> int | None:
    """Open a sub-folder, `None` if there is none; made first if `maker` is a user id."""
    try:
        if maker is not None:
            with suppress(FileExistsError):
                os.mkdir(part, 0o755, dir_fd=folder)
                if maker != os.geteuid():
                    os.chown(part, maker, maker, dir_fd=folder, follow_symlinks=False)
        return os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnsafePathError(f"{path} goes through what is no folder", path=path) from error


def _discard(folder: int, name: str, path: str) -> int:
    """Unlink what has the name, whatever it is; return the permission bits for its successor."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return 0o644
    except (IsADirectoryError, PermissionError) as error:
        raise UnsafePathError(f"{path} is a folder", path=path) from error
    return stat.S_IMODE(status.st_mode) & 0o777 if stat.S_ISREG(status.st_mode) else 0o644


def _remove_tree(base: Path) -> None:
    """Remove a folder, also one whose sub-folders were made unreadable."""
    for folder, names, _ in os.walk(base):
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                with suppress(OSError):
                    os.chmod(path, 0o700)
    shutil.rmtree(base, ignore_errors=True)
