"""The work on one instance: its gold, and the rankings that are still due."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from graphloc.evaluation.clones import complete_commit
from graphloc.evaluation.gold import named_gold, patch_gold
from graphloc.evaluation.methods import RANKING_DEPTH, Method, RankingContext
from graphloc.evaluation.model import Failure, Gold, Instance, Ranking
from graphloc.evaluation.predictions import Prediction
from indexes.errors import GraphlocError
from indexes.source import Source, open_source


@dataclass(frozen=True, slots=True)
class Job:
    """One instance, with the methods that have not ranked it yet."""

    instance: Instance
    methods: tuple[str, ...]
    repository: Path | None
    """Its clone; None when there is none."""
    reason: str = ""
    """Why there is no clone."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a job came to."""

    instance_id: str
    gold: Gold | None
    """None when it could not be told."""
    predictions: tuple[Prediction, ...] = ()
    failures: tuple[Failure, ...] = ()


Work = Callable[[Job], Outcome]
"""What engines carry to their workers: picklable."""


@dataclass(frozen=True, slots=True)
class InstanceWork:
    """Does jobs one after the other; travels to worker processes with its methods."""

    methods: tuple[Method, ...]
    include_tests: bool = False
    depth: int = RANKING_DEPTH

    def __call__(self, job: Job) -> Outcome:
        """Do one job. What goes wrong is in the outcome's failures."""
        instance_id = job.instance.instance_id
        gold = named_gold(job.instance, include_tests=self.include_tests)
        if gold is not None and not job.methods:
            return Outcome(instance_id, gold)
        try:
            source = _open(job)
            if gold is None:
                gold = patch_gold(job.instance, source, include_tests=self.include_tests)
        except (GraphlocError, OSError) as error:
            return Outcome(instance_id, gold, failures=(Failure(instance_id, str(error)),))
        predictions, failures = self._rank(job, source)
        return Outcome(instance_id, gold, tuple(predictions), tuple(failures))

    def _rank(self, job: Job, source: Source) -> tuple[list[Prediction], list[Failure]]:
        context = RankingContext(job.instance, source, self.include_tests, self.depth)
        predictions, failures = [], []
        for method in self.methods:
            if method.name not in job.methods:
                continue
            try:
                predictions.append(_time(method, context))
            except Exception as error:  # noqa: BLE001 - a method is a plug-in: it may raise anything
                reason = f"{type(error).__name__}: {error}"
                failures.append(Failure(job.instance.instance_id, reason, method.name))
        return predictions, failures


def _time(method: Method, context: RankingContext) -> Prediction:
    start = time.perf_counter()
    ranking = method.rank(context)
    elapsed_ms = (time.perf_counter() - start) * 1000
    cut = Ranking(
        ranking.files[: context.depth],
        ranking.modules[: context.depth],
        ranking.functions[: context.depth],
    )
    return Prediction(context.instance.instance_id, method.name, cut, round(elapsed_ms, 3))


def _open(job: Job) -> Source:
    if job.repository is None:
        raise GraphlocError(job.reason)
    complete_commit(job.repository, job.instance.base_commit)
    return open_source(job.repository, job.instance.base_commit)


def crashed(job: Job, reason: str) -> Outcome:
    """Return the outcome of a job whose worker died."""
    instance_id = job.instance.instance_id
    return Outcome(instance_id, None, failures=(Failure(instance_id, reason),))
