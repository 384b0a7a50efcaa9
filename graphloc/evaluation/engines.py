"""Engines: where the work on instances is done. This one uses processes of this machine.

Jobs come in groups, one a repository, in the order of their commits. A worker stays with a group,
as methods keep what they learn about a repository; once no group is left untouched, idle workers
take half of the longest one.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Protocol

from graphloc.evaluation.dask_engine import DaskEngine, load_dask
from graphloc.evaluation.work import Job, Outcome, Work, crashed
from indexes.errors import InputError


class Engine(Protocol):
    """Does all jobs, somewhere."""

    def run(self, work: Work, groups: Sequence[Sequence[Job]]) -> Iterator[Outcome]:
        """Yield the outcome of every job, as they finish.

        A worker that dies costs the job under way only. Closing the iterator ends all workers.
        """
        ...


def get_engine(name: str, *, jobs: int | None = None, scheduler: str | None = None) -> Engine:
    """Return the engine ``local`` or ``dask``.

    Parameters
    ----------
    jobs : int, optional
        Worker processes; as many as there are processors if left out.
    scheduler : str, optional
        Address of a running Dask scheduler; the engine starts its own workers without one.

    Raises
    ------
    InputError
        If there is no such engine, or Dask is not installed.
    """
    workers = max(1, jobs or os.cpu_count() or 1)
    if name == "local":
        return LocalEngine(workers)
    if name != "dask":
        raise InputError(f"there is no engine {name}: choose local or dask", engine=name)
    load_dask()
    return DaskEngine(workers, scheduler)


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """Worker processes of this machine, each fed one job at a time."""

    workers: int

    def run(self, work: Work, groups: Sequence[Sequence[Job]]) -> Iterator[Outcome]:
        """See `Engine.run`."""
        queue = JobQueue(groups)
        count = min(self.workers, len(queue))
        pool: list[_Worker] = []
        try:
            for _ in range(count):
                pool.append(_Worker(work))
                pool[-1].start_next(queue)
            while busy := {w.connection: w for w in pool if w.job is not None}:
                for connection in wait(list(busy)):
                    worker = busy[connection]  # type: ignore[index]  # wait is typed too widely
                    yield worker.take_outcome()
                    worker.start_next(queue)
        finally:
            for worker in pool:
                worker.end()


@dataclass(slots=True)
class JobQueue:
    """Hands out jobs so that a worker stays with one repository."""

    groups: Sequence[Sequence[Job]]
    _waiting: list[list[Job]] = field(default_factory=list)
    """Groups no worker has begun, shortest first; jobs last first."""
    _begun: dict[int, list[Job]] = field(default_factory=dict)
    """By worker."""

    def __post_init__(self) -> None:
        self._waiting = sorted((list(group)[::-1] for group in self.groups if group), key=len)

    def __len__(self) -> int:
        return sum(map(len, (*self._waiting, *self._begun.values())))

    def take(self, worker: int) -> Job | None:
        """Return the next job for a worker, or None when all are taken."""
        if not self._begun.get(worker):
            self._begun[worker] = self._waiting.pop() if self._waiting else self._split_longest()
        own = self._begun[worker]
        return own.pop() if own else None

    def _split_longest(self) -> list[Job]:
        longest = max(self._begun.values(), key=len, default=[])
        half = (len(longest) + 1) // 2
        taken, longest[:half] = longest[:half], []
        return taken


class _Worker:
    """One process at a time; a new one takes over when it dies."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self.job: Job | None = None
        self.connection, self._process = self._start()

    def _start(self) -> tuple[Connection, BaseProcess]:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self._work))
        process.start()
        theirs.close()
        return ours, process

    def start_next(self, queue: JobQueue) -> None:
        """Begin the next job, if there is one."""
        self.job = queue.take(id(self))
        if self.job is None:
            return
        if not self._process.is_alive():
            self.connection, self._process = self._start()
        # A process that died just now shows at the reading end.
        with suppress(BrokenPipeError):
            self.connection.send(self.job)

    def take_outcome(self) -> Outcome:
        """Receive the outcome of the job under way, or make that of a crash."""
        assert self.job is not None
        try:
            outcome = self.connection.recv()
            assert isinstance(outcome, Outcome)
            return outcome
        except (EOFError, ConnectionResetError):
            self.end()
            code = self._process.exitcode or 0
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            return crashed(self.job, f"its worker process died ({how})")

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self.connection.close()
        self._process.kill()
        self._process.join()


def _serve(connection: Connection, work: Work) -> None:
    """Do jobs until the other side hangs up. Ctrl-C is for the parent to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            connection.send(work(connection.recv()))


def _end_with_parent() -> None:
    """End this process as soon as its parent is gone, in the middle of an instance too."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
