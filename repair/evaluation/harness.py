"""Repairs every bug of a benchmark with one half of its tests and judges it by the other half."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from indexes.errors import DatasetError, GraphlocError
from indexes.model import Span
from repair.evaluation import agreement_program
from repair.evaluation.model import BugInstance, EvaluationRecord, Verdict
from repair.model import Location
from repair.sandbox import Limits, Sandbox, Workspace
from repair.search.model import Budget, PlausiblePatch, SearchReport, StopCause
from repair.search.template_search import TemplateSearch
from repair.testing.forking import ForkRunner
from repair.testing.model import Bench, ForkSettings, TestPlan
from repair.testing.spectra import Coverage, CoveredTest, collect_coverage

_LAST_LINE = 10**9
_CALL_S = 0.05
"""Processor time of the reference for one random input; longer ones are left out."""
_AGREEMENT_CPU_S = 10.0
_AGREEMENT_WALL_S = 1800.0


@dataclass(frozen=True, slots=True)
class EvaluationSettings:
    """How the bugs are repaired and judged."""

    sandbox: Sandbox
    python: Path
    """Interpreter with pytest, inside the sandbox."""
    budget: Budget = field(default_factory=Budget)
    fork: ForkSettings = field(default_factory=lambda: ForkSettings(keep_going=True))
    jobs: int = 1
    """Bugs at once."""
    random_inputs: int = 1000
    seed: int = 0


def evaluate(
    bugs: Sequence[BugInstance],
    results: Path,
    settings: EvaluationSettings,
    *,
    observe: Callable[[EvaluationRecord], None] | None = None,
) -> tuple[EvaluationRecord, ...]:
    """Repair all bugs, with a line in a JSONL file for each as soon as it is done.

    Bugs that the file has already are not run again, so an interrupted evaluation goes on where it
    stopped; a line that was cut off counts as missing.

    Parameters
    ----------
    results
        Made if it does not exist.
    observe
        Called with each new record.

    Returns
    -------
    tuple of EvaluationRecord
        One per bug, in the order of `bugs`.

    Raises
    ------
    DatasetError
        The results file holds something else.
    """
    known = load_records(results)
    waiting = [bug for bug in bugs if bug.id not in known]
    with ThreadPoolExecutor(settings.jobs) as pool, results.open("ab") as file:
        futures = {pool.submit(judge_bug, bug, settings): bug for bug in waiting}
        for future in as_completed(futures):
            record = future.result()
            known[record.id] = record
            file.write(msgspec.json.encode(record) + b"\n")
            file.flush()
            if observe is not None:
                observe(record)
    return tuple(known[bug.id] for bug in bugs)


def load_records(results: Path) -> dict[str, EvaluationRecord]:
    """Read a results file by bug; the last line may be cut off and is then removed.

    Raises
    ------
    DatasetError
        A line is no record.
    """
    if not results.exists():
        return {}
    data = results.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        results.write_bytes(whole)
    try:
        records = [msgspec.json.decode(line, type=EvaluationRecord) for line in whole.splitlines()]
    except msgspec.MsgspecError as error:
        raise DatasetError(f"{results} is no results file: {error}", path=str(results)) from error
    return {record.id: record for record in records}


def judge_bug(bug: BugInstance, settings: EvaluationSettings) -> EvaluationRecord:
    """Repair one bug with the given half of its tests and judge the patch by the other half."""
    try:
        with _workspace(bug) as workspace:
            bench = Bench(settings.sandbox, workspace, settings.python, path=bug.import_path)
            return _judged(bug, bench, settings)
    except GraphlocError as error:
        return EvaluationRecord(bug.id, Verdict.BROKEN, message=error.message)


@contextmanager
def _workspace(bug: BugInstance) -> Iterator[Workspace]:
    """Write a bug's files to a folder and copy that."""
    with tempfile.TemporaryDirectory(prefix="graphloc-bug-") as folder:
        for path, data in bug.files.items():
            place = Path(folder, path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        with Workspace.copy(Path(folder)) as workspace:
            yield workspace


def split_halves(coverage: Coverage) -> tuple[TestPlan, TestPlan]:
    """Deal failing and passing tests in turn into a given and a held-out half, given first.

    Both halves have failing tests if there are two; a single one is given.
    """
    failing, passing = coverage.failing(), coverage.passing()
    return TestPlan(failing[::2], passing[::2]), TestPlan(failing[1::2], passing[1::2])


def _judged(bug: BugInstance, bench: Bench, settings: EvaluationSettings) -> EvaluationRecord:
    coverage = collect_coverage(bench, [bug.test_file], limit_s=settings.fork.baseline_s)
    given, held_out = split_halves(coverage)
    counted = EvaluationRecord(
        bug.id, Verdict.NO_BUG_SHOWN, given=len(given.all), held_out=len(held_out.all)
    )
    if not given.failing:
        return counted
    place = Location(bug.target, bug.target, Span(1, _LAST_LINE))
    search = TemplateSearch(
        bench, given.all, locations=[place], budget=settings.budget, settings=settings.fork
    )
    report = search.run(_only(coverage, given))
    record = _record(counted, report)
    if report.best is None:
        return record
    verdict, compared, differing, message = _verdict(bug, report.best, bench, held_out, settings)
    return msgspec.structs.replace(
        record, verdict=verdict, compared=compared, differing=differing, message=message
    )


def _only(coverage: Coverage, plan: TestPlan) -> Coverage:
    """Hide the held-out tests: the search must know nothing of them."""
    wanted = frozenset(plan.all)
    kept: tuple[CoveredTest, ...] = tuple(t for t in coverage.tests if t.outcome.test in wanted)
    return Coverage(kept)


def _record(counted: EvaluationRecord, report: SearchReport) -> EvaluationRecord:
    """Fill in what the search came to."""
    best = report.best
    nothing = report.cause is StopCause.NOTHING_FAILS
    return msgspec.structs.replace(
        counted,
        verdict=Verdict.NO_BUG_SHOWN if nothing else Verdict.NOT_REPAIRED,
        tried=report.tried,
        timed_out=report.timed_out,
        seconds=round(report.seconds, 2),
        cpu_s=round(report.cpu_s, 3),
        rank=best.rank if best else 0,
        plausible=len(report.plausible),
        template=str(best.candidate.template) if best else "",
        edits=best.edits if best else 0,
        diff=best.patch.diff.decode("utf-8", "replace") if best else "",
        message=str(report.cause),
    )


def _verdict(
    bug: BugInstance,
    best: PlausiblePatch,
    bench: Bench,
    held_out: TestPlan,
    settings: EvaluationSettings,
) -> tuple[Verdict, int, int, str]:
    """Return the verdict, inputs compared and differing, and the first failure."""
    failed = _failed_held_out(best, bench, held_out, settings)
    if failed:
        return Verdict.OVERFITTED, 0, 0, failed
    if not bug.reference or not bug.inputs:
        return Verdict.CORRECT, 0, 0, ""
    compared, differing, first = compare_with_reference(bug, best, bench, settings)
    verdict = Verdict.CORRECT if compared and not differing else Verdict.DISAGREES
    return verdict, compared, differing, first


def _failed_held_out(
    best: PlausiblePatch, bench: Bench, held_out: TestPlan, settings: EvaluationSettings
) -> str:
    """Return the first held-out test the patch fails; empty if it passes them all."""
    if not held_out.all:
        return ""
    runner = ForkRunner(bench, settings.fork)
    outcomes = list(runner.run(held_out, [best.variant]))
    wanted = [test for test in held_out.all if test not in runner.flaky]
    last = outcomes[-1]
    return next((test for test in wanted if not last.passes([test])), "")


def compare_with_reference(
    bug: BugInstance, best: PlausiblePatch, bench: Bench, settings: EvaluationSettings
) -> tuple[int, int, str]:
    """Call patch and reference with random inputs; return compared, differing, first that differs.

    The seed fixes the inputs. A comparison that fails as a whole counts as one that differs.
    """
    candidate = best.patch.files[bug.target] or b""
    task = {
        "reference": bug.reference,
        "candidate": candidate.decode(),
        "function": bug.function,
        "inputs": bug.inputs,
        "count": settings.random_inputs,
        "limit_s": _CALL_S,
        "total_s": _AGREEMENT_CPU_S,
        "seed": settings.seed,
    }
    source = Path(agreement_program.__file__).read_text(encoding="utf-8")
    result = bench.sandbox.run(
        [str(bench.python), "-c", source],
        workdir=bench.workspace,
        env={"PYTHONPATH": bench.import_path(), "PYTHONHASHSEED": "0"},
        limits=Limits(wall_s=_AGREEMENT_WALL_S, cpu_s=_AGREEMENT_WALL_S),
        stdin=json.dumps(task).encode(),
    )
    try:
        answer = json.loads(result.stdout)
    except ValueError:
        return 0, 0, f"not compared: {result.stderr.strip()[-200:] or 'out of time'}"
    return answer["compared"], answer["differing"], answer["first"] or ""
