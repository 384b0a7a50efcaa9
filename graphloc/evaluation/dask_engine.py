"""Work on a Dask cluster (extra ``dask``), for evaluations that one machine is too small for.

Repositories have to be at the same paths for all workers.
"""

from __future__ import annotations

import importlib
import pickle
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from graphloc.evaluation.work import Job, Outcome, Work, crashed
from indexes.errors import InputError

_CONNECT_TIMEOUT_S = 10.0
_KEPT = "graphloc_evaluation_work"
"""Attribute of a worker: what belongs to its process lives as long as it."""


def load_dask() -> Any:
    """Return the package `distributed`, which has no annotations.

    Raises
    ------
    InputError
        If it is not installed.
    """
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise InputError(
            "the dask engine needs `distributed`: install it with `pip install graphloc[dask]`"
        ) from error


@dataclass(frozen=True, slots=True)
class DaskEngine:
    """One task for each instance; methods and what they cache stay with the worker."""

    workers: int
    """Of the cluster started here; unused with a scheduler."""
    scheduler: str | None = None
    """Address of a running one, such as ``tcp://host:8786``."""
    connect_timeout_s: float = _CONNECT_TIMEOUT_S

    def run(self, work: Work, groups: Sequence[Sequence[Job]]) -> Iterator[Outcome]:
        """See `Engine.run`; a task that keeps killing its workers is given up.

        Raises
        ------
        InputError
            If no scheduler answers at the address.
        """
        dask = load_dask()
        if self.scheduler is not None:
            client = self._connect(dask, self.scheduler)
            yield from _run(dask, client, work, groups)
            return
        with dask.LocalCluster(
            n_workers=self.workers, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster:
            yield from _run(dask, dask.Client(cluster), work, groups)

    def _connect(self, dask: Any, scheduler: str) -> Any:
        try:
            return dask.Client(scheduler, timeout=self.connect_timeout_s)
        except (OSError, ValueError) as error:
            raise InputError(
                f"no Dask scheduler answers at {scheduler}: start one with `dask scheduler`",
                scheduler=scheduler,
            ) from error


def _run(dask: Any, client: Any, work: Work, groups: Sequence[Sequence[Job]]) -> Iterator[Outcome]:
    with client:
        client.wait_for_workers(1)
        packed = pickle.dumps(work)
        killed = []
        # Dask hashes its arguments to find equal tasks; an instance is done once anyway.
        jobs = {client.submit(_do, packed, job, pure=False): job for g in groups for job in g}
        for task in dask.as_completed(list(jobs)):
            job = jobs.pop(task)
            error = task.exception()
            if isinstance(error, dask.KilledWorker):
                killed.append(job)
            else:
                yield crashed(job, f"its task failed ({error})") if error else task.result()
        # Dask blames all that a dying worker had before it. Alone, only the guilty die again.
        for job in killed:
            error = (task := client.submit(_do, packed, job, pure=False)).exception()
            yield crashed(job, f"its task failed ({error})") if error else task.result()


def _do(packed: bytes, job: Job) -> Outcome:
    """Do a job with the methods of this worker's thread, which are unpacked once."""
    worker = load_dask().get_worker()
    key = (threading.get_ident(), packed)
    kept: dict[tuple[int, bytes], Work] = vars(worker).setdefault(_KEPT, {})
    if key not in kept:
        kept[key] = pickle.loads(packed)
    return kept[key](job)
