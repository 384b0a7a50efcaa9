from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest

from graphloc.evaluation.datasets import load_dataset
from graphloc.evaluation.engines import LocalEngine
from graphloc.evaluation.errors import RunMismatchError
from graphloc.evaluation.methods import Method
from graphloc.evaluation.model import Level, Ranking
from graphloc.evaluation.predictions import Prediction, load_predictions
from graphloc.evaluation.report import (
    comparison_table,
    failure_table,
    level_tables,
    markdown_report,
    repository_tables,
)
from graphloc.evaluation.repositories import Repositories
from graphloc.evaluation.runner import Entrants, EvaluationOptions, Progress, evaluate
from graphloc.evaluation.scores import Evaluation
from indexes.errors import DatasetError, DiskFullError, InputError
from tests.graphloc.evaluation.sample_methods import PathOrder, Troubled
from tests.graphloc.evaluation.sample_repositories import (
    CALC,
    SampleRepository,
    line,
    write_lines,
)

ROOT = Path(__file__).resolve().parents[3]


class Bench:
    """A folder with clones and a dataset."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lines: list[str] = []
        self.repository = SampleRepository.create(
            folder / "repos" / "a__a", {"calc.py": CALC, "zoo.py": "Z = 1\n"}
        )
        self.head = self.repository.head()

    def add(self, name: str, old: str = "return LIMIT", new: str = "return 1") -> None:
        patch = self.repository.patch({"calc.py": CALC.replace(old, new)})
        self.lines.append(line(name, "a/a", self.head, patch=patch))

    @property
    def dataset(self) -> Path:
        return write_lines(self.folder / "data.jsonl", self.lines)

    def run(self, *methods: Method, **options: object) -> Evaluation:
        entrants = options.pop("entrants", Entrants(methods))
        progress: list[Progress] = []
        found = evaluate(
            load_dataset(self.dataset, keep_going=True),
            entrants,  # type: ignore[arg-type]
            Repositories(self.folder / "repos", remote=(self.folder / "none").as_uri()),
            LocalEngine(2),
            options=EvaluationOptions(output=self.output, **options),  # type: ignore[arg-type]
            on_progress=progress.append,
        )
        self.progress = progress
        return found

    @property
    def output(self) -> Path:
        return self.folder / "out"

    def metrics(self) -> dict[str, object]:
        document = json.loads((self.output / "metrics.json").read_text())
        assert isinstance(document, dict)
        return document


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_metrics_of_two_methods(bench: Bench) -> None:
    bench.add("a-1", "total = self.start + value", "total = value")
    bench.add("a-2")
    bench.add("a-3", "LIMIT = 10", "LIMIT = 11")
    other = PathOrder(name="other", function="calc.py:outer")
    evaluation = bench.run(PathOrder(), other)
    assert [p.done for p in bench.progress] == [1, 2, 3]
    document = bench.metrics()
    assert (document["schema"], document["dataset"], document["n"]) == (
        "graphloc.metrics/1",
        "data.jsonl",
        3,
    )
    found = document["methods"]["path-order"]  # type: ignore[index]
    assert (found["file"]["n"], found["file"]["acc@1"], found["file"]["mrr"]) == (3, 1, 1)
    assert (found["function"]["n"], found["function"]["without_gold"]) == (2, 1)
    assert found["function"]["acc@5"] == 0.5
    assert found["function"]["intervals"]["acc@5"] == [0, 1]
    assert found["module"]["acc@1"] == 0.5
    assert found["ece"] == {"file": pytest.approx(0), "module": 0.5, "function": 0.5}
    assert 0 < found["ms_per_instance"]["median"] <= found["ms_per_instance"]["p95"]
    (compared,) = [
        c
        for c in document["comparisons"]  # type: ignore[attr-defined]
        if (c["level"], c["metric"]) == ("function", "acc@1")
    ]
    assert (compared["a"], compared["b"], compared["difference"], compared["p"], compared["n"]) == (
        "path-order",
        "other",
        0.5,
        1.0,
        2,
    )
    assert len(document["comparisons"]) == 9  # type: ignore[arg-type]
    assert evaluation.failures == ()


def test_predictions_have_locagents_fields(bench: Bench) -> None:
    bench.add("a-1")
    bench.run(PathOrder())
    (record,) = map(json.loads, (bench.output / "predictions.jsonl").read_text().splitlines())
    assert record["instance_id"] == "a-1"
    assert record["found_files"] == ["calc.py", "zoo.py"]
    assert record["found_modules"] == ["calc.py:Adder"]
    assert record["found_entities"] == ["calc.py:Adder.add"]
    assert record["confidences"]["found_files"] == [0.5, 0.5]
    assert record["elapsed_ms"] > 0


def test_failures_are_listed_and_stop_no_other(bench: Bench) -> None:
    bench.add("a-1")
    bench.add("a-die")
    bench.add("a-raise")
    bench.lines += [
        "{",
        bench.lines[0],
        line("b-1", "b/b", "abc", edit_functions=["x.py:f"]),
        line("a-gone", "a/a", "0123" * 10, patch=""),
    ]
    troubled = Troubled(str(bench.folder / "log"))
    evaluation = bench.run(troubled)
    reasons = {failure.instance_id: failure.reason for failure in evaluation.failures}
    assert sorted(reasons) == ["a-1", "a-die", "a-gone", "a-raise", "b-1", "line 4"]
    assert "is not JSON" in reasons["line 4"]
    assert "that of line 1" in reasons["a-1"]
    assert "signal 9" in reasons["a-die"]
    assert "KeyError" in reasons["a-raise"]
    assert "b/b is not at hand" in reasons["b-1"]
    assert "holds no commit" in reasons["a-gone"]
    levels = evaluation.methods[0].levels
    assert (levels[Level.FILE].n, levels[Level.FILE].failed) == (6, 5)
    assert levels[Level.FILE].means()["hit@1"] == pytest.approx(1 / 6)
    left_out = bench.run(troubled, failures_as_misses=False).methods[0]
    assert left_out.levels[Level.FILE].n == 1
    assert len(left_out.failures) == 6


def test_an_external_file_is_scored(bench: Bench) -> None:
    bench.add("a-1")
    bench.add("a-2")
    bench.add("a-3", "item + 1", "item + 2")
    records = [
        {"instance_id": "a-1", "found_files": ["calc.py"], "found_entities": ["calc.py:last"]},
        {"instance_id": "a-3", "found_entities": ["calc.py:outer.inner"]},
        {"instance_id": "else", "found_files": ["calc.py"]},
    ]
    path = write_lines(bench.folder / "theirs.jsonl", [json.dumps(r) for r in records])
    entrants = Entrants(predictions=tuple(load_predictions(path)))
    evaluation = bench.run(entrants=entrants)
    (method,) = evaluation.methods
    assert method.name == "theirs"
    assert method.levels[Level.FUNCTION].means()["acc@1"] == pytest.approx(2 / 3)
    assert method.levels[Level.FILE].means()["acc@1"] == pytest.approx(2 / 3)
    assert method.elapsed_percentile(50) is None
    assert [(f.instance_id, f.method) for f in evaluation.failures] == [("a-2", "theirs")]


def test_scoring_a_runs_own_predictions_again_leaves_them_alone(bench: Bench) -> None:
    bench.add("a-1")
    ranked = bench.run(PathOrder())
    path = bench.output / "predictions.jsonl"
    before = path.read_bytes()
    again = bench.run(entrants=Entrants(predictions=tuple(load_predictions(path))))
    assert path.read_bytes() == before
    for level in Level:
        assert again.methods[0].levels[level].means() == ranked.methods[0].levels[level].means()


def test_a_method_and_predictions_need_names_of_their_own() -> None:
    with pytest.raises(InputError, match="rename the predictions file"):
        Entrants((PathOrder(),), (Prediction("i", "path-order", Ranking()),))


def begun(bench: Bench) -> list[str]:
    return (bench.folder / "log").read_text().split()


def test_resuming_does_what_is_left(bench: Bench) -> None:
    for name in ("a-1", "a-2", "a-3"):
        bench.add(name)
    troubled = Troubled(str(bench.folder / "log"))
    whole = bench.run(troubled)
    path = bench.output / "predictions.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][:40])
    kept = json.loads(lines[0])["instance_id"]
    again = bench.run(troubled, resume=True)
    assert len(begun(bench)) == 5
    assert begun(bench).count(kept) == 1
    assert (
        again.methods[0].levels[Level.FILE].means() == whole.methods[0].levels[Level.FILE].means()
    )
    assert len(load_predictions(path)) == 3
    bench.run(troubled, resume=True)
    assert len(begun(bench)) == 5


def test_resuming_anything_else_is_refused(bench: Bench) -> None:
    bench.add("a-1")
    bench.run(PathOrder())
    with pytest.raises(RunMismatchError, match="another methods"):
        bench.run(replace(PathOrder(), fingerprint="2"), resume=True)
    with pytest.raises(RunMismatchError, match="include tests"):
        bench.run(PathOrder(), resume=True, include_tests=True)
    bench.add("a-2")
    with pytest.raises(RunMismatchError, match="another dataset: name another --output"):
        bench.run(PathOrder(), resume=True)
    (bench.output / "run.json").unlink()
    with pytest.raises(RunMismatchError, match="does not tell"):
        bench.run(PathOrder(), resume=True)


def test_starting_anew_keeps_the_earlier_predictions(bench: Bench) -> None:
    bench.add("a-1")
    bench.run(PathOrder())
    before = load_predictions(bench.output / "predictions.jsonl")
    bench.run(replace(PathOrder(), name="new"))
    assert load_predictions(bench.output / "predictions.previous.jsonl") == before
    assert [p.method for p in load_predictions(bench.output / "predictions.jsonl")] == ["new"]


def test_a_damaged_line_in_the_middle_is_not_swallowed(bench: Bench) -> None:
    bench.add("a-1")
    bench.run(PathOrder())
    path = bench.output / "predictions.jsonl"
    path.write_bytes(b"{\n" + path.read_bytes())
    with pytest.raises(DatasetError, match=r"predictions\.jsonl:1: is not JSON"):
        bench.run(PathOrder(), resume=True)


def test_an_output_that_cannot_be_written(bench: Bench) -> None:
    bench.add("a-1")
    bench.output.write_text("a file")
    with pytest.raises(DiskFullError, match="cannot be written"):
        bench.run(PathOrder())


def start_process(bench: Bench) -> subprocess.Popen[str]:
    """Start an evaluation in a process of its own and wait until its slow instance is begun."""
    code = f"""
        from pathlib import Path
        from graphloc.evaluation.datasets import load_dataset
        from graphloc.evaluation.engines import LocalEngine
        from graphloc.evaluation.repositories import Repositories
        from graphloc.evaluation.runner import Entrants, EvaluationOptions, evaluate
        from tests.graphloc.evaluation.sample_methods import Troubled

        if __name__ == "__main__":
            evaluate(
                load_dataset(Path({str(bench.dataset)!r})),
                Entrants((Troubled({str(bench.folder / "log")!r}),)),
                Repositories(Path({str(bench.folder / "repos")!r})),
                LocalEngine(1),
                options=EvaluationOptions(output=Path({str(bench.output)!r}), resume=True),
            )
    """
    script = bench.folder / "script.py"
    script.write_text(textwrap.dedent(code))
    process = subprocess.Popen(
        [sys.executable, str(script)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while "a-slow" not in (begun(bench) if (bench.folder / "log").exists() else []):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    return process


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_process_that_is_ended_loses_the_instance_under_way_only(
    bench: Bench, how: signal.Signals
) -> None:
    for name in ("a-1", "a-2", "a-slow", "a-4"):
        bench.add(name)
    process = start_process(bench)
    os.kill(process.pid, how)
    _, said = process.communicate()
    assert process.returncode == -how
    assert ("KeyboardInterrupt" in said) == (how == signal.SIGINT)
    finished = load_predictions(bench.output / "predictions.jsonl")
    assert [prediction.instance_id for prediction in finished] == ["a-1", "a-2"]
    assert not (bench.output / "metrics.json").exists()
    (bench.folder / "log.go").touch()
    evaluation = bench.run(Troubled(str(bench.folder / "log")), resume=True)
    assert evaluation.failures == ()
    assert sorted(begun(bench)) == ["a-1", "a-2", "a-4", "a-slow", "a-slow"]


def test_tables(bench: Bench) -> None:
    bench.add("a-1")
    bench.lines.append("{|")
    evaluation = bench.run(PathOrder(), replace(PathOrder(), name="other"))
    files, _, functions = level_tables(evaluation)
    assert files.header[:3] == ("method", "n", "acc@1")
    assert files.rows[0][:3] == ("path-order", "2", "50.0 (0.0-100.0)")
    assert functions.rows[0][2] == "0.0 (0.0-0.0)"
    by_repository = repository_tables(evaluation)[0]
    assert [row[0] for row in by_repository.rows] == ["unknown", "a/a"]
    assert comparison_table(evaluation).rows[0][2:5] == (
        "path-order - other",
        "+0.0",
        "+0.0 to +0.0",
    )
    assert failure_table(evaluation).rows[0][:2] == ("line 2", "all")
    text = markdown_report(evaluation)
    assert text.startswith("## data.jsonl: 2 instances\n\n### File level\n\n| method | n |")
    assert "### Failures" in text


def test_a_level_without_gold(bench: Bench) -> None:
    bench.add("a-1", "LIMIT = 10", "LIMIT = 11")
    evaluation = bench.run(PathOrder())
    function = bench.metrics()["methods"]["path-order"]["function"]  # type: ignore[index]
    assert (function["n"], function["without_gold"], function["acc@5"]) == (0, 1, None)
    assert level_tables(evaluation)[2].rows == (("path-order", "0", *["-"] * 6),)
