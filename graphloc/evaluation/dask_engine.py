"""Work on a Dask cluster (extra ``dask``), for evaluations that one machine is too small for.

Repositories have to be at the same paths for all workers. Imported by `engines.get_engine` alone,
when this engine is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from distributed import Client, LocalCluster, as_completed

from graphloc.evaluation.engines import Work
from graphloc.evaluation.work import Job, Outcome, crashed
from indexes.errors import InputError

_CONNECT_TIMEOUT_S = 10


@dataclass(frozen=True, slots=True)
class DaskEngine:
    """One task for each instance; methods and what they cache stay with the worker."""

    workers: int
    """Of the cluster started here; unused with a scheduler."""
    scheduler: str | None = None
    """Address of a running one, such as ``tcp://host:8786``."""

    def run(self, work: Work, groups: Sequence[Sequence[Job]]) -> Iterator[Outcome]:
        """See `Engine.run`; a task that keeps killing its workers is given up.

        Raises
        ------
        InputError
            If no scheduler answers at the address.
        """
        if self.scheduler is not None:
            yield from _run(self._connect(self.scheduler), work, groups)
            return
        with LocalCluster(
            n_workers=self.workers, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster:
            yield from _run(Client(cluster), work, groups)

    def _connect(self, scheduler: str) -> Client:
        try:
            return Client(scheduler, timeout=_CONNECT_TIMEOUT_S)
        except (OSError, ValueError) as error:
            raise InputError(
                f"no Dask scheduler answers at {scheduler}: start one with `dask scheduler`",
                scheduler=scheduler,
            ) from error


def _run(client: Client, work: Work, groups: Sequence[Sequence[Job]]) -> Iterator[Outcome]:
    with client:
        # Scattered once, so that every task on a worker meets the same methods and their caches.
        shared = client.scatter(work, broadcast=True)
        # Dask hashes its arguments to find equal tasks; an instance is done once anyway.
        tasks = {
            client.submit(_do, shared, job, pure=False): job for group in groups for job in group
        }
        for task in as_completed(tasks):
            error = task.exception() if task.status != "cancelled" else "it was cancelled"
            yield crashed(tasks[task], f"its task failed ({error})") if error else task.result()


def _do(work: Work, job: Job) -> Outcome:
    return work(job)
