"""Facts of many files at once, over processes when there is enough to do."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
import types
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager

from indexes.facts import encode_facts
from indexes.parsing import extract_facts

_BATCH_BYTES = 400_000
"""One task of a worker: about 0.1 s of work, so that the last tasks end together."""
_SERIAL_BYTES = 3_000_000
"""Below this, starting processes costs more than it saves."""
_AHEAD = 4
"""Batches a worker may have waiting; bounds the sources held in memory."""
_HIDING = threading.Lock()
"""Held while the main module is hidden, so that no thread takes another's stand-in for it."""

Batch = list[tuple[str, bytes]]
"""(blob id, bytes) of files."""


def extract_all(
    files: Iterable[tuple[str, bytes]], total_bytes: int, jobs: int | None = None
) -> Iterator[tuple[str, bytes]]:
    """Yield (blob id, encoded facts) of files.

    Parameters
    ----------
    files
        (blob id, bytes), read as workers take them.
    total_bytes
        Size of them all, to decide whether processes pay.
    jobs
        Most processes; the number of usable cores by default.
    """
    jobs = jobs or usable_cores()
    batches = _batches(files)
    if jobs == 1 or total_bytes < _SERIAL_BYTES:
        with no_collection():
            for batch in batches:
                yield from _extract_batch(batch)
        return
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["indexes.extraction"])
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_ready_worker) as pool:

        def submit(batch: Batch) -> Future[Batch]:
            with _hidden_main():
                return pool.submit(_extract_batch, batch)

        yield from _in_order(submit, batches, jobs * _AHEAD)


@contextmanager
def _hidden_main() -> Iterator[None]:
    """Hide the program's main module while workers are started.

    They would import it, which runs a script from the start unless it guards against that, and
    they need nothing of it.
    """
    with _HIDING:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = types.ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


def _ready_worker() -> None:
    """Leave Ctrl-C to the parent, and end when it does: a killed one cannot say goodbye."""
    gc.disable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def usable_cores() -> int:
    """Cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def no_collection() -> Iterator[None]:
    """Keep the garbage collector off: facts hold no cycles, and it would visit them in vain."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _in_order(
    submit: Callable[[Batch], Future[Batch]], batches: Iterator[Batch], ahead: int
) -> Iterator[tuple[str, bytes]]:
    waiting: list[Future[Batch]] = []
    for batch in batches:
        waiting.append(submit(batch))
        if len(waiting) > ahead:
            yield from waiting.pop(0).result()
    for future in waiting:
        yield from future.result()


def _batches(files: Iterable[tuple[str, bytes]]) -> Iterator[Batch]:
    batch: Batch = []
    size = 0
    for blob_id, data in files:
        batch.append((blob_id, data))
        size += len(data)
        if size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _extract_batch(batch: Batch) -> Batch:
    return [(blob_id, encode_facts(extract_facts(data))) for blob_id, data in batch]
