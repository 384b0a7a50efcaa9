from __future__ import annotations

from pathlib import Path

import pytest

from graphloc.evaluation.dask_engine import DaskEngine
from graphloc.evaluation.engines import Engine, JobQueue, LocalEngine, get_engine
from graphloc.evaluation.model import Instance
from graphloc.evaluation.work import InstanceWork, Job, Outcome
from indexes.errors import InputError
from tests.graphloc.evaluation.sample_methods import Troubled
from tests.graphloc.evaluation.sample_repositories import CALC, SampleRepository


def make_jobs(path: Path, *instance_ids: str) -> list[Job]:
    repository = SampleRepository.create(path, {"calc.py": CALC})
    return [
        Job(
            Instance(name, "a/a", repository.head(), "", edit_functions=("calc.py:last",)),
            ("troubled",),
            path,
        )
        for name in instance_ids
    ]


def run(engine: Engine, work: InstanceWork, groups: list[list[Job]]) -> dict[str, Outcome]:
    return {outcome.instance_id: outcome for outcome in engine.run(work, groups)}


@pytest.fixture(params=["local", "dask"])
def engine(request: pytest.FixtureRequest) -> Engine:
    return get_engine(request.param, jobs=2)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_worker_that_dies_costs_its_instance_only(tmp_path: Path, engine: Engine) -> None:
    groups = [
        make_jobs(tmp_path / "a", "a-1", "a-die", "a-2"),
        make_jobs(tmp_path / "b", "b-raise", "b-1"),
    ]
    work = InstanceWork((Troubled(str(tmp_path / "log")),))
    found = run(engine, work, groups)
    assert sorted(found) == ["a-1", "a-2", "a-die", "b-1", "b-raise"]
    for name in ("a-1", "a-2", "b-1"):
        assert found[name].failures == ()
        assert found[name].predictions[0].ranking.files[0].entity == "calc.py"
    (died,) = found["a-die"].failures
    assert died.method is None
    assert "died" in died.reason or "failed" in died.reason
    (raised,) = found["b-raise"].failures
    assert (raised.method, raised.reason) == ("troubled", "KeyError: 'no such thing'")
    assert found["b-raise"].gold is not None


def test_no_jobs() -> None:
    assert run(LocalEngine(2), InstanceWork(()), []) == {}


def test_closing_ends_the_workers(tmp_path: Path) -> None:
    jobs = make_jobs(tmp_path / "a", "a-1", "a-slow")
    outcomes = LocalEngine(2).run(InstanceWork((Troubled(str(tmp_path / "log")),)), [jobs])
    first = next(iter(outcomes))
    outcomes.close()  # type: ignore[attr-defined]
    assert first.instance_id == "a-1"


def test_a_worker_stays_with_a_repository(tmp_path: Path) -> None:
    a = make_jobs(tmp_path / "a", "a-1", "a-2", "a-3", "a-4")
    b = make_jobs(tmp_path / "b", "b-1")
    queue = JobQueue([b, a])
    assert len(queue) == 5

    def take(worker: int) -> str | None:
        job = queue.take(worker)
        return job.instance.instance_id if job else None

    assert [take(1), take(2), take(1)] == ["a-1", "b-1", "a-2"]
    assert take(2) == "a-4"
    assert [take(1), take(1), take(2)] == ["a-3", None, None]
    assert len(queue) == 0


def test_engines_by_name() -> None:
    assert get_engine("local", jobs=3) == LocalEngine(3)
    assert get_engine("dask", jobs=2, scheduler="tcp://h:1") == DaskEngine(2, "tcp://h:1")
    with pytest.raises(InputError, match="local or dask"):
        get_engine("cloud")


def test_no_scheduler_answers() -> None:
    engine = DaskEngine(1, "tcp://127.0.0.1:9", connect_timeout_s=0.5)
    with pytest.raises(InputError, match="no Dask scheduler answers at tcp://127"):
        run(engine, InstanceWork(()), [])


def test_a_job_without_clone_fails_with_its_reason() -> None:
    job = Job(Instance("i", "a/a", "abc", "", patch=""), ("troubled",), None, "no clone of a/a")
    outcome = InstanceWork(())(job)
    assert [failure.reason for failure in outcome.failures] == ["no clone of a/a"]
    assert outcome.gold is None


def test_gold_that_is_named_needs_no_clone() -> None:
    instance = Instance("i", "a/a", "abc", "", edit_functions=("a.py:f",))
    outcome = InstanceWork(())(Job(instance, (), None, "no clone of a/a"))
    assert outcome.failures == ()
    assert outcome.gold is not None
