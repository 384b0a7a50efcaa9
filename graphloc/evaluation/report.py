"""Evaluations on paper: the document `metrics.json`, and tables as plain data and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from graphloc.evaluation.model import Failure, Level
from graphloc.evaluation.scores import Comparison, Evaluation, LevelScores, MethodScores

SCHEMA = "graphloc.metrics/1"
SHOWN_METRICS = {
    Level.FILE: ("acc@1", "acc@3", "acc@5", "strict_acc@5", "hit@5", "recall@5", "mrr"),
    Level.MODULE: ("acc@5", "acc@10", "strict_acc@10", "hit@10", "recall@10", "mrr"),
    Level.FUNCTION: ("acc@1", "acc@5", "acc@10", "strict_acc@1", "strict_acc@10", "mrr"),
}
"""Columns of tables: the cut-offs that LocAgent and SweRank report, and what puts them in place."""
_MEDIAN, _P95 = 50, 95

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


@dataclass(frozen=True, slots=True)
class Table:
    """Text in rows and columns."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """Return the table as Markdown, its title as a heading; pipes in cells are escaped."""
        lines = [self.header, ("---",) * len(self.header), *self.rows]
        body = ("| " + " | ".join(c.replace("|", "\\|") for c in row) + " |" for row in lines)
        return "\n".join((f"### {self.title}", "", *body)) + "\n"


def metrics_document(evaluation: Evaluation) -> bytes:
    """Return the JSON text of `metrics.json`, in the schema ``graphloc.metrics/1``."""
    document: dict[str, Json] = {
        "schema": SCHEMA,
        "dataset": evaluation.dataset,
        "n": evaluation.n,
        "methods": {method.name: _method(method) for method in evaluation.methods},
        "comparisons": [_comparison(comparison) for comparison in evaluation.comparisons],
        "failures": [_failure(failure) for failure in evaluation.failures],
    }
    return msgspec.json.format(msgspec.json.encode(document))


def _method(method: MethodScores) -> dict[str, Json]:
    return {
        **{level.value: _level(scores) for level, scores in method.levels.items()},
        "ms_per_instance": {
            "median": method.elapsed_percentile(_MEDIAN),
            "p95": method.elapsed_percentile(_P95),
        },
        "ece": {level.value: scores.ece for level, scores in method.levels.items()},
        "failed": len({failure.instance_id for failure in method.failures}),
    }


def _level(scores: LevelScores) -> dict[str, Json]:
    return {
        "n": scores.n,
        "without_gold": scores.without_gold,
        "failed": scores.failed,
        **scores.means(),
        "intervals": {name: [i.low, i.high] for name, i in scores.intervals().items()},
    }


def _comparison(comparison: Comparison) -> dict[str, Json]:
    return {
        "level": comparison.level.value,
        "metric": comparison.metric,
        "a": comparison.a,
        "b": comparison.b,
        "difference": comparison.difference,
        "interval": [comparison.interval.low, comparison.interval.high],
        "p": comparison.p_value,
        "n": comparison.n,
    }


def _failure(failure: Failure) -> dict[str, Json]:
    return {
        "instance_id": failure.instance_id,
        "method": failure.method,
        "reason": failure.reason,
    }


def level_tables(evaluation: Evaluation) -> list[Table]:
    """Return one table a level: a row for each method, percentages with 95% intervals."""
    return [
        Table(
            f"{level.value.capitalize()} level",
            ("method", "n", *SHOWN_METRICS[level]),
            tuple(
                (method.name, *_cells(method.levels[level], SHOWN_METRICS[level]))
                for method in evaluation.methods
            ),
        )
        for level in Level
    ]


def repository_tables(evaluation: Evaluation) -> list[Table]:
    """Return one table a method and level: a row for each repository."""
    return [
        Table(
            f"{method.name}, {level.value} level, by repository",
            ("repository", "n", *SHOWN_METRICS[level]),
            tuple(
                (repo or "unknown", *_cells(part, SHOWN_METRICS[level]))
                for repo, part in method.levels[level].by_repository().items()
            ),
        )
        for method in evaluation.methods
        for level in Level
    ]


def comparison_table(evaluation: Evaluation) -> Table:
    """Return the comparisons: differences in percentage points, with intervals and p-values."""
    return Table(
        "Comparisons (paired randomization test)",
        ("level", "metric", "methods", "difference", "95% interval", "p", "n"),
        tuple(
            (
                c.level.value,
                c.metric,
                f"{c.a} - {c.b}",
                f"{100 * c.difference:+.1f}",
                f"{100 * c.interval.low:+.1f} to {100 * c.interval.high:+.1f}",
                f"{c.p_value:.4f}",
                str(c.n),
            )
            for c in evaluation.comparisons
        ),
    )


def time_table(evaluation: Evaluation) -> Table:
    """Return times, calibration errors and failures: a row for each method."""
    return Table(
        "Time, calibration and failures",
        ("method", "median ms", "p95 ms", *(f"ECE {level.value}" for level in Level), "failed"),
        tuple(
            (
                method.name,
                _number(method.elapsed_percentile(_MEDIAN), 1),
                _number(method.elapsed_percentile(_P95), 1),
                *(_number(method.levels[level].ece, 3) for level in Level),
                str(len({failure.instance_id for failure in method.failures})),
            )
            for method in evaluation.methods
        ),
    )


def failure_table(evaluation: Evaluation) -> Table:
    """Return what failed, and why."""
    return Table(
        "Failures",
        ("instance", "method", "reason"),
        tuple((f.instance_id, f.method or "all", f.reason) for f in evaluation.failures),
    )


def markdown_report(evaluation: Evaluation) -> str:
    """Return all tables as one Markdown text; empty ones are left out."""
    tables = [
        *level_tables(evaluation),
        time_table(evaluation),
        comparison_table(evaluation),
        *repository_tables(evaluation),
        failure_table(evaluation),
    ]
    head = f"## {evaluation.dataset}: {evaluation.n} instances\n"
    return "\n".join((head, *(table.markdown() for table in tables if table.rows)))


def _cells(scores: LevelScores, metrics: Sequence[str]) -> tuple[str, ...]:
    means, intervals = scores.means(), scores.intervals()
    cells = []
    for name in metrics:
        mean = means[name]
        if mean is None:
            cells.append("-")
        else:
            around = intervals[name]
            cells.append(f"{100 * mean:.1f} ({100 * around.low:.1f}-{100 * around.high:.1f})")
    return (str(scores.n), *cells)


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
