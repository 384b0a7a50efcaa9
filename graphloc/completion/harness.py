"""The one harness for all completion methods: run, judge by held-out tests, keep, sum up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from graphloc.completion.errors import AnswerError
from graphloc.completion.model import Completer, Completion
from graphloc.completion.pytest_runs import PytestEnvironment, run_pytest
from graphloc.completion.repoeval import CompletionDataset, Instance
from graphloc.completion.results import (
    Result,
    ResultFile,
    Run,
    attempt_records,
    own_tests_passed,
)
from graphloc.completion.scores import edit_similarity, is_exact_match
from graphloc.llm.parallel import map_in_threads
from repair.sandbox import Workspace

OnResult = Callable[[Result], None]


@dataclass(frozen=True, slots=True)
class Method:
    """A method as the harness takes it."""

    name: str
    fingerprint: str
    """Changes with anything that may change the results."""
    make: Callable[[Path], Completer]
    """Makes the method for a repository; called once for each."""


@dataclass(frozen=True, slots=True)
class Check:
    """Whether held-out tests can decide about an instance."""

    instance_id: str
    truth_passes: bool
    empty_fails: bool
    detail: str = ""
    """What pytest said where one of the two is not so."""

    @property
    def is_usable(self) -> bool:
        """Whether both hold."""
        return self.truth_passes and self.empty_fails


@dataclass(frozen=True, slots=True)
class MethodSummary:
    """A method's figures over instances, as in the paper's tables."""

    method: str
    n: int
    pass_rate: float
    """Share of all instances; what could not be decided counts as failed."""
    exact_match: float
    edit_similarity: float
    prompt_tokens: float
    """Means per instance, as the following ones."""
    completion_tokens: float
    calls: float
    elapsed_s: float
    matched_failures: int
    """Failed instances whose result passed its own tests."""
    mismatched_failures: int
    """Failed instances whose result failed its own tests, too."""


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """How a run is carried out."""

    output: Path
    """JSONL file of results; each is on the disk as soon as it is there."""
    resume: bool = False
    """Go on with what the file holds."""
    jobs: int = 1
    """Instances worked on at once."""


def evaluate(
    dataset: CompletionDataset,
    methods: Sequence[Method],
    environment: PytestEnvironment,
    plan: EvaluationPlan,
    *,
    on_result: OnResult = lambda result: None,
) -> list[Result]:
    """Run every method on every instance that has no result yet.

    Parameters
    ----------
    dataset, methods
        What is run on what.
    environment
        Where held-out tests run.
    plan
        Where results go, and how many instances are worked on at once.
    on_result
        Told of each new result, from several threads.

    Returns
    -------
    list of Result
        Earlier ones included, in the order of instances, then of methods.

    Raises
    ------
    RunMismatchError
        The file belongs to another run.
    SandboxError
        The sandbox failed at its own work; what is finished is kept.
    """
    run = Run(dataset.digest, {method.name: method.fingerprint for method in methods})
    with ResultFile(plan.output, run, resume=plan.resume) as file:
        known = {(each.instance_id, each.method): each for each in file.finished}
        workshop = _Workshop()
        pending = [
            (instance, method)
            for instance in dataset.instances
            for method in methods
            if (instance.id, method.name) not in known
        ]

        def work(item: tuple[Instance, Method]) -> Result:
            instance, method = item
            completer = workshop.completer(method, instance.task.repository)
            result = run_instance(instance, completer, environment, name=method.name)
            file.add(result)
            on_result(result)
            return result

        for result in map_in_threads(work, pending, workers=plan.jobs):
            known[result.instance_id, result.method] = result
    return [known[instance.id, method.name] for instance in dataset.instances for method in methods]


def run_instance(
    instance: Instance, completer: Completer, environment: PytestEnvironment, *, name: str = ""
) -> Result:
    """Run a method on an instance and judge what it made.

    Raises
    ------
    SandboxError
        The sandbox failed at its own work.
    """
    started = time.monotonic()
    completion = completer.complete(instance.task)
    elapsed_s = time.monotonic() - started
    passed, detail = judge(instance, completion.body, environment)
    return _result(instance, completion, passed, detail, (name or completer.name, elapsed_s))


def judge(instance: Instance, body: str, environment: PytestEnvironment) -> tuple[bool | None, str]:
    """Run the held-out tests on a body, in a fresh copy; None if the instance has none.

    Of what an agent did only the body comes here: its tests, and whatever they changed, do not.
    """
    if not instance.tests:
        return None, "there are no held-out tests"
    if not body.strip():
        return False, ""
    try:
        filled = instance.task.hole.fill(body)
    except AnswerError as error:
        return False, str(error)
    with Workspace.copy(instance.task.repository) as workspace:
        workspace.write(instance.task.hole.path, filled)
        run = run_pytest(environment, workspace, instance.tests)
    return run.passed, "" if run.passed else run.text


def check_instances(instances: Iterable[Instance], environment: PytestEnvironment) -> list[Check]:
    """Tell for which instances the ground truth passes and an empty body fails."""
    checks = []
    for instance in instances:
        truth, said = judge(instance, instance.truth, environment)
        empty, said_of_empty = judge(instance, "pass", environment)
        detail = said if not truth else said_of_empty if empty else ""
        checks.append(Check(instance.id, truth is True, empty is False, detail))
    return checks


def summarize(results: Iterable[Result]) -> list[MethodSummary]:
    """Sum up results by method, in the order methods first appear."""
    by_method: dict[str, list[Result]] = {}
    for result in results:
        by_method.setdefault(result.method, []).append(result)
    return [_summary(name, found) for name, found in by_method.items()]


def _summary(name: str, results: Sequence[Result]) -> MethodSummary:
    n = len(results)
    failed = [each for each in results if each.passed is not True]
    return MethodSummary(
        method=name,
        n=n,
        pass_rate=(n - len(failed)) / n,
        exact_match=sum(each.exact_match for each in results) / n,
        edit_similarity=sum(each.edit_similarity for each in results) / n,
        prompt_tokens=sum(each.prompt_tokens for each in results) / n,
        completion_tokens=sum(each.completion_tokens for each in results) / n,
        calls=sum(each.calls for each in results) / n,
        elapsed_s=sum(each.elapsed_s for each in results) / n,
        matched_failures=sum(each.is_matched_failure for each in failed),
        mismatched_failures=sum(each.passed_own_tests is False for each in failed),
    )


def _result(
    instance: Instance,
    completion: Completion,
    passed: bool | None,
    detail: str,
    named: tuple[str, float],
) -> Result:
    name, elapsed_s = named
    return Result(
        instance_id=instance.id,
        method=name,
        body=completion.body,
        passed=passed,
        exact_match=is_exact_match(completion.body, instance.truth),
        edit_similarity=edit_similarity(completion.body, instance.truth),
        n_passed=int(passed is True),
        passed_own_tests=own_tests_passed(completion),
        prompt_tokens=completion.usage.prompt_tokens,
        completion_tokens=completion.usage.completion_tokens,
        calls=completion.calls,
        elapsed_s=round(elapsed_s, 3),
        stop=completion.stop,
        problem=completion.problem or detail[-1000:],
        attempts=attempt_records(completion.attempts),
    )


class _Workshop:
    """Makes each method once for a repository, since indexes are costly."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, Path], Completer] = {}
        self._lock = Lock()

    def completer(self, method: Method, repository: Path) -> Completer:
        with self._lock:
            key = (method.name, repository)
            if key not in self._made:
                self._made[key] = method.make(repository)
            return self._made[key]
