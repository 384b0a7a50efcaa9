"""The use case: evaluate methods, or predictions that are there already, on a dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from graphloc.evaluation.clones import commit_times
from graphloc.evaluation.datasets import Dataset
from graphloc.evaluation.engines import Engine
from graphloc.evaluation.gold import named_gold
from graphloc.evaluation.journal import Journal, Run, save_metrics
from graphloc.evaluation.methods import RANKING_DEPTH, Method
from graphloc.evaluation.model import Failure, Gold, Instance
from graphloc.evaluation.predictions import Prediction
from graphloc.evaluation.report import metrics_document
from graphloc.evaluation.repositories import Repositories
from graphloc.evaluation.scores import Case, Evaluation, MethodScores, compare_methods, score_method
from graphloc.evaluation.work import InstanceWork, Job, Outcome
from indexes.errors import GraphlocError, InputError

_NOT_PREDICTED = "the predictions hold no line for it"


@dataclass(frozen=True, slots=True)
class Entrants:
    """Who is evaluated: methods that rank now, and predictions made earlier.

    Raises
    ------
    InputError
        If a method and predictions share a name.
    """

    methods: tuple[Method, ...] = ()
    predictions: tuple[Prediction, ...] = ()

    def __post_init__(self) -> None:
        for prediction in self.predictions:
            if any(method.name == prediction.method for method in self.methods):
                raise InputError(
                    f"{prediction.method} is the name of a method and of predictions, too: "
                    "rename the predictions file",
                    method=prediction.method,
                )

    def names(self) -> list[str]:
        """Names of all, methods first, each once."""
        names = [method.name for method in self.methods]
        return list(dict.fromkeys(names + [p.method for p in self.predictions]))


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """Settings of an evaluation."""

    output: Path | None = None
    """Folder for predictions and metrics; nothing is written without."""
    resume: bool = False
    """Go on with what the folder holds; failed instances are tried again."""
    include_tests: bool = False
    failures_as_misses: bool = True
    """Count failed instances as misses, otherwise leave them out; they are listed either way."""
    depth: int = RANKING_DEPTH


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an evaluation has come."""

    done: int
    total: int
    instance_id: str
    failed: bool


ProgressCallback = Callable[[Progress], None]


def evaluate(
    dataset: Dataset,
    entrants: Entrants,
    repositories: Repositories,
    engine: Engine,
    *,
    options: EvaluationOptions = EvaluationOptions(),
    on_progress: ProgressCallback = lambda progress: None,
) -> Evaluation:
    """Rank every instance with every method and score the rankings.

    One instance that fails stops no other. Predictions are on the disk as soon as their instance
    is done, so an interruption costs the instances under way at most.

    With `EvaluationOptions.output`, ``metrics.json`` is written there and, if methods rank,
    ``predictions.jsonl``.

    Raises
    ------
    RunMismatchError
        If the output folder holds another run that was to be resumed.
    DiskFullError
        If the output folder cannot be written.
    """
    journal = _open_journal(dataset, entrants.methods, options)
    with journal or nullcontext():
        notes = _Notes(list(dataset.failures))
        notes.add_predictions(entrants.predictions)
        notes.add_predictions(journal.finished if journal else ())
        groups = _plan(dataset, entrants.methods, notes, repositories)
        work = InstanceWork(entrants.methods, options.include_tests, options.depth)
        total = sum(map(len, groups))
        for done, outcome in enumerate(_run(engine, work, groups), 1):
            if journal:
                journal.add(outcome.predictions)
            notes.add(outcome)
            on_progress(Progress(done, total, outcome.instance_id, bool(outcome.failures)))
    evaluation = _score(dataset, entrants.names(), notes, options)
    if options.output is not None:
        save_metrics(options.output, metrics_document(evaluation))
    return evaluation


@dataclass(slots=True)
class _Notes:
    """What is known so far."""

    failures: list[Failure]
    predictions: dict[str, dict[str, Prediction]] = field(default_factory=dict)
    """By method and instance id."""
    golds: dict[str, Gold] = field(default_factory=dict)

    def add_predictions(self, predictions: Iterable[Prediction]) -> None:
        for prediction in predictions:
            by_instance = self.predictions.setdefault(prediction.method, {})
            by_instance[prediction.instance_id] = prediction

    def add(self, outcome: Outcome) -> None:
        if outcome.gold is not None:
            self.golds[outcome.instance_id] = outcome.gold
        self.add_predictions(outcome.predictions)
        self.failures.extend(outcome.failures)

    def is_done(self, method: str, instance_id: str) -> bool:
        return instance_id in self.predictions.get(method, {})


def _open_journal(
    dataset: Dataset, methods: Sequence[Method], options: EvaluationOptions
) -> Journal | None:
    """Begin to write predictions, if there will be any: none that are there already are touched."""
    if options.output is None or not methods:
        return None
    fingerprints = {method.name: method.fingerprint for method in methods}
    run = Run(dataset.digest, fingerprints, options.include_tests, options.depth)
    return Journal(options.output, run, resume=options.resume)


def _run(engine: Engine, work: InstanceWork, groups: Sequence[Sequence[Job]]) -> Iterator[Outcome]:
    outcomes = engine.run(work, groups)
    with closing(outcomes):  # type: ignore[type-var]  # engines are generators
        yield from outcomes


def _plan(
    dataset: Dataset, methods: Sequence[Method], notes: _Notes, repositories: Repositories
) -> list[list[Job]]:
    """Return the jobs, one group a repository, in the order of their base commits' dates."""
    groups: dict[str, list[Instance]] = {}
    for instance in dataset.instances:
        groups.setdefault(instance.repo, []).append(instance)
    return [
        _plan_repository(instances, methods, notes, repositories) for instances in groups.values()
    ]


def _plan_repository(
    instances: Sequence[Instance],
    methods: Sequence[Method],
    notes: _Notes,
    repositories: Repositories,
) -> list[Job]:
    left = {
        instance.instance_id: tuple(
            m.name for m in methods if not notes.is_done(m.name, instance.instance_id)
        )
        for instance in instances
    }
    path, reason, times = None, "", dict[str, int]()
    if any(left[i.instance_id] or named_gold(i) is None for i in instances):
        try:
            path = repositories.get(instances[0].repo)
            times = commit_times(path, [instance.base_commit for instance in instances])
        except GraphlocError as error:
            reason = error.message
    ordered = sorted(instances, key=lambda instance: times.get(instance.base_commit, 0))
    return [Job(instance, left[instance.instance_id], path, reason) for instance in ordered]


def _score(
    dataset: Dataset, names: Sequence[str], notes: _Notes, options: EvaluationOptions
) -> Evaluation:
    cases = [
        Case(i.instance_id, i.repo, notes.golds.get(i.instance_id) or _stated_gold(i, options))
        for i in dataset.instances
    ]
    known = {case.instance_id for case in cases}
    # A line that repeats an instance's id is reported, but no further instance to be found.
    cases += [Case(f.instance_id, "", None) for f in dataset.failures if f.instance_id not in known]
    methods = [_score_one(name, cases, notes, options) for name in names]
    failures = [*notes.failures]
    for method in methods:
        failures.extend(f for f in method.failures if f.method is not None and f not in failures)
    return Evaluation(
        dataset.name, dataset.size, tuple(methods), tuple(compare_methods(methods)), tuple(failures)
    )


def _stated_gold(instance: Instance, options: EvaluationOptions) -> Gold | None:
    """Gold of an instance whose worker died before it could tell."""
    return named_gold(instance, include_tests=options.include_tests)


def _score_one(
    name: str, cases: Sequence[Case], notes: _Notes, options: EvaluationOptions
) -> MethodScores:
    predictions: Mapping[str, Prediction] = notes.predictions.get(name, {})
    failures = [f for f in notes.failures if f.method in {None, name}]
    failed = {failure.instance_id for failure in failures}
    failures += [
        Failure(case.instance_id, _NOT_PREDICTED, name)
        for case in cases
        if case.instance_id not in predictions and case.instance_id not in failed
    ]
    return score_method(
        name, cases, predictions, failures, failures_as_misses=options.failures_as_misses
    )
