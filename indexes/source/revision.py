"""A git revision as a source, read from the object store without a checkout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from indexes.errors import RevisionNotFoundError
from indexes.source.blobs import read_blobs
from indexes.source.git import GitRepository, git_error, run_git
from indexes.source.history import iter_commits
from indexes.source.links import LinkError, find_folders, get_link_target
from indexes.source.model import (
    Commit,
    MissingFile,
    SourceEntry,
    StatCache,
    Wanted,
    decode_path,
    encode_path,
    printable_path,
)

_EXECUTABLE = b"100755"
_LINK = b"120000"
_SUBMODULE = b"160000"
_ABSENT = "the clone lacks this blob (a partial clone, or a damaged one)"
_IDS_PER_READ = 512


@dataclass(slots=True)
class GitRevision:
    """The tree of one commit; of a folder inside the repository, that folder's part of it.

    Works in normal, bare, shallow and blobless clones. Blobs that a partial clone lacks are
    recorded in `missing`; they are never fetched.
    """

    repository: GitRepository
    revision: str
    """Full commit id."""
    _missing: dict[str, str] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        """Absolute path of the folder meant."""
        return self.repository.folder

    @property
    def missing(self) -> list[MissingFile]:
        """What was left out, sorted by path."""
        return [MissingFile(path, reason) for path, reason in sorted(self._missing.items())]

    @property
    def has_history(self) -> bool:
        """Always: the commit itself is history."""
        return True

    def commits(self, max_count: int) -> Iterator[Commit]:
        """Yield ancestors of the revision, newest first; see `Source.commits`."""
        return iter_commits(self.repository, self.revision, max_count)

    def entries(
        self, stat_cache: StatCache | None = None, wanted: Wanted | None = None
    ) -> list[SourceEntry]:
        """List the files of the tree, sorted by path; a tree needs no stat cache."""
        self._missing.clear()
        items = self._items()
        files = {item.path: item for item in items if item.mode not in {_LINK, _SUBMODULE}}
        for path, target in self._link_targets(items, files):
            files[path] = target
        for item in items:
            if item.mode == _SUBMODULE:
                self._missing[item.path] = "submodule"
        entries = []
        for path, item in files.items():
            executable = item.mode == _EXECUTABLE
            if wanted is not None and not wanted(path, executable):
                continue
            if item.size is None:
                self._missing[path] = _ABSENT
            else:
                entries.append(SourceEntry(path, item.blob_id, item.size, executable))
        return sorted(entries, key=lambda entry: entry.path)

    def read(self, entries: Iterable[SourceEntry]) -> Iterator[tuple[SourceEntry, bytes]]:
        """Yield the bytes of the entries through one git process per 512 of them."""
        pending = iter(entries)
        while chunk := list(islice(pending, _IDS_PER_READ)):
            blobs = read_blobs(self.repository, [entry.blob_id for entry in chunk])
            for entry, data in zip(chunk, blobs, strict=True):
                if data is None:
                    self._missing[entry.path] = _ABSENT
                else:
                    yield entry, data

    def _items(self) -> list[_TreeItem]:
        tree = f"{self.revision}:{self.repository.prefix}".rstrip("/")
        listing = ("ls-tree", "-r", "-z", "--full-tree")
        if not self._is_partial():
            return [_parse_item(line) for line in self._lines(*listing, "-l", tree)]
        # Asking for the size of a blob that is not there would fetch it, or fail.
        items = [_parse_item(line) for line in self._lines(*listing, tree)]
        walk = self.repository.output("rev-list", "--objects", "--missing=print", tree)
        absent = {line[1:].decode() for line in walk.split(b"\n") if line.startswith(b"?")}
        sizes = self._sizes({item.blob_id for item in items} - absent)
        return [
            _TreeItem(item.path, item.mode, item.blob_id, sizes.get(item.blob_id)) for item in items
        ]

    def _lines(self, *listing: str) -> list[bytes]:
        done = run_git(self.root, *listing)
        if not done.returncode:
            return done.stdout.split(b"\0")[:-1]
        if not self.repository.prefix:
            raise git_error(self.root, done.stderr)
        where = printable_path(self.repository.prefix.rstrip("/"))
        raise RevisionNotFoundError(
            f"revision {self.revision} has no folder {where}: name a folder that it holds",
            revision=self.revision,
            path=where,
        )

    def _is_partial(self) -> bool:
        keys = r"^(remote\..*\.promisor|extensions\.partialclone)$"
        return self.repository.succeeds("config", "--get-regexp", keys)

    def _sizes(self, blob_ids: set[str]) -> dict[str, int]:
        asked = "\n".join(sorted(blob_ids)).encode()
        checked = self.repository.output(
            "cat-file", "--batch-check=%(objectname) %(objectsize)", data=asked
        )
        pairs = (line.split() for line in checked.decode().splitlines())
        return {blob_id: int(size) for blob_id, size in pairs if size.isdigit()}

    def _link_targets(
        self, items: list[_TreeItem], files: dict[str, _TreeItem]
    ) -> list[tuple[str, _TreeItem]]:
        links = [item for item in items if item.mode == _LINK]
        present = [item for item in links if item.size is not None]
        texts = read_blobs(self.repository, [item.blob_id for item in present])
        targets = {
            item.path: decode_path(text)
            for item, text in zip(present, texts, strict=True)
            if text is not None
        }
        folders = find_folders([*files, *targets]) if targets else frozenset[str]()
        found = []
        for item in links:
            try:
                if item.path not in targets:
                    raise LinkError(_ABSENT)
                target = get_link_target(
                    item.path, links=targets, files=files.keys(), folders=folders
                )
                found.append((item.path, files[target]))
            except LinkError as error:
                self._missing[item.path] = str(error)
        return found


@dataclass(frozen=True, slots=True)
class _TreeItem:
    path: str
    mode: bytes
    blob_id: str
    size: int | None
    """None when the repository lacks the blob, and for submodules."""


def _parse_item(line: bytes) -> _TreeItem:
    """Read ``mode type id [size]<TAB>path``."""
    head, _, path = line.partition(b"\t")
    mode, _, blob_id, *size = head.split()
    known = int(size[0]) if size and size[0].isdigit() else None
    return _TreeItem(decode_path(path), mode, blob_id.decode(), known)


def resolve_revision(repository: GitRepository, rev: str) -> str:
    """Return the full id of the commit that `rev` names.

    Raises
    ------
    RevisionNotFoundError
        If the repository does not hold it.
    """
    if rev and not rev.startswith("-") and "\0" not in rev:
        asked = (b"rev-parse", b"--verify", b"--quiet", encode_path(rev) + b"^{commit}")
        done = run_git(repository.folder, *asked)
        if not done.returncode:
            return done.stdout.decode().strip()
    where = printable_path(str(repository.folder))
    raise RevisionNotFoundError(
        f"{where} holds no commit {printable_path(rev)!r}: {_remedy(repository, where)}",
        revision=rev,
        path=where,
    )


def _remedy(repository: GitRepository, where: str) -> str:
    if repository.is_shallow:
        return f"it is a shallow clone, fetch the rest with `git -C {where} fetch --unshallow`"
    if not repository.succeeds("rev-parse", "--verify", "--quiet", "HEAD^{commit}"):
        return "its HEAD has no commit yet, commit something or name another revision"
    return f"check the name, or fetch it with `git -C {where} fetch`"
