"""The use case: a source goes in, a stored snapshot comes out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import msgspec

from indexes.documents import build_text
from indexes.extraction import extract_all, no_collection
from indexes.facts import EXTRACTOR_VERSION, FileFacts, decode_facts
from indexes.graph import build_entities, build_graph
from indexes.snapshot import Snapshot, SnapshotInfo, pack_parts
from indexes.source import Source, SourceEntry, may_be_python, python_entries
from indexes.store import SnapshotRecord, Store
from indexes.text import Tokenizer, tokenizer_version

COMPILER_VERSION = 2
"""Raise it whenever the same facts would compile to another snapshot."""
_BATCH = 256
"""Facts stored in one transaction."""

Progress = Callable[[str, int, int], None]
"""Called with (stage, done, total)."""


@dataclass(slots=True)
class BuildReport:
    """What a build did."""

    n_files: int = 0
    n_read: int = 0
    """Files whose facts were not stored yet."""
    reused_snapshot: bool = False
    notes: list[str] = field(default_factory=list)


def build_index(
    source: Source,
    store: Store,
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
    tokenizer: Tokenizer | None = None,
) -> tuple[Snapshot, BuildReport]:
    """Index a source; what the store knows already is not done again.

    Parameters
    ----------
    source
        The tree.
    store
        Where facts and snapshots are kept.
    jobs
        Most processes; the usable cores by default.
    progress
        Told how far it is.
    tokenizer
        Shared among builds of one process, so that words are cut up once.

    Returns
    -------
    snapshot, report

    Raises
    ------
    StoreError
        If the index cannot be read or written.
    GitError
        If git fails.
    """
    tell = progress or _silent
    tell("list", 0, 1)
    entries = python_entries(source, source.entries(store, may_be_python))
    key = snapshot_key(entries)
    report = BuildReport(n_files=len(entries))
    record = store.get_snapshot(key)
    if record is not None:
        report.reused_snapshot = True
        return open_snapshot(record, source.revision), report
    with no_collection():
        files, info = _read_facts(source, store, entries, report, jobs, tell)
        tell("graph", 0, 1)
        entities, owner_rows = build_entities(files)
        text, phrases = build_text(files, entities, owner_rows, tokenizer)
        graph = build_graph(files, entities, owner_rows)
        tell("store", 0, 1)
        parts = pack_parts(entities, graph, text, phrases)
    key = snapshot_key(entries)
    if not store.read_only:
        blob_ids = {entry.blob_id for entry in entries}
        store.put_snapshot(key, msgspec.msgpack.encode(info), parts, sorted(blob_ids))
    tell("store", 1, 1)
    return Snapshot(info, parts.__getitem__), report


def open_snapshot(record: SnapshotRecord, revision: str) -> Snapshot:
    """The snapshot of a stored record, said to be of that revision (others may share its tree)."""
    info = msgspec.msgpack.decode(record.meta, type=SnapshotInfo)
    return Snapshot(msgspec.structs.replace(info, revision=revision), record.section)


def snapshot_key(entries: list[SourceEntry]) -> str:
    """Digest of all that a snapshot depends on."""
    digest = hashlib.sha256()
    version = f"{EXTRACTOR_VERSION} {COMPILER_VERSION} {tokenizer_version()}\n"
    digest.update(version.encode())
    for entry in entries:
        line = f"{entry.blob_id} {entry.path}\0"
        digest.update(line.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _read_facts(
    source: Source,
    store: Store,
    entries: list[SourceEntry],
    report: BuildReport,
    jobs: int | None,
    tell: Progress,
) -> tuple[dict[str, FileFacts], SnapshotInfo]:
    wanted = {entry.blob_id for entry in entries}
    absent = store.missing_facts(wanted)
    by_blob = {entry.blob_id: entry for entry in entries if entry.blob_id in absent}
    report.n_read = len(by_blob)
    fresh: dict[str, bytes] = {}
    missing_entries = list(by_blob.values())
    total_bytes = sum(entry.size for entry in missing_entries)
    for blob_id, data in _in_batches(
        extract_all(_blobs(source, missing_entries), total_bytes, jobs), store
    ):
        fresh[blob_id] = data
        tell("read", len(fresh), len(by_blob))
    known = {blob_id: decode_facts(data) for blob_id, data in fresh.items()}
    for blob_id, data in store.get_facts(sorted(wanted - fresh.keys())):
        known[blob_id] = decode_facts(data)
    files = {entry.path: known[entry.blob_id] for entry in entries if entry.blob_id in known}
    return files, _describe(source, files)


def _blobs(source: Source, entries: list[SourceEntry]) -> Iterator[tuple[str, bytes]]:
    for entry, data in source.read(entries):
        yield entry.blob_id, data


def _in_batches(facts: Iterator[tuple[str, bytes]], store: Store) -> Iterator[tuple[str, bytes]]:
    """Hand facts on while storing them, so that a kill loses one batch at most."""
    batch: list[tuple[str, bytes]] = []
    for item in facts:
        batch.append(item)
        if len(batch) >= _BATCH:
            _store(store, batch)
            batch = []
        yield item
    _store(store, batch)


def _store(store: Store, batch: list[tuple[str, bytes]]) -> None:
    if batch and not store.read_only:
        store.put_facts(batch)


def _describe(source: Source, files: dict[str, FileFacts]) -> SnapshotInfo:
    failures = tuple(
        (path, line, message) for path, facts in files.items() for line, message in facts.failures
    )
    return SnapshotInfo(
        revision=source.revision,
        n_files=len(files),
        n_lines=sum(facts.line_count for facts in files.values()),
        failures=failures,
        missing=tuple((missing.path, missing.reason) for missing in source.missing),
    )


def _silent(stage: str, done: int, total: int) -> None:
    del stage, done, total
