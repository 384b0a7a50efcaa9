"""``graphloc evaluate``: measure locators on a dataset of issues."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict, Unpack

import click

from graphloc.cli.commands import debug_option
from graphloc.cli.evaluation_progress import show_evaluation
from graphloc.cli.methods import method_registry
from graphloc.cli.options import include_tests_option, index_directory_option, jobs_option
from graphloc.cli.output import write_line, write_remark
from graphloc.evaluation.datasets import Dataset, load_dataset
from graphloc.evaluation.engines import get_engine
from graphloc.evaluation.methods import build_methods
from graphloc.evaluation.predictions import load_predictions
from graphloc.evaluation.report import metrics_document
from graphloc.evaluation.repositories import Repositories, load_repository_map
from graphloc.evaluation.runner import Entrants, EvaluationOptions, evaluate
from graphloc.evaluation.scores import Evaluation
from indexes.errors import DatasetError

_DEFAULT_METHODS = ("graphloc",)
_INDEX_FOLDER = "index"
"""Inside the output folder, unless --index-dir names another."""


class RunSettings(TypedDict):
    """What the options of the command say, but for the dataset."""

    repos: Path | None
    repo_map: Path | None
    methods: tuple[str, ...]
    predictions: tuple[Path, ...]
    output: Path | None
    index_dir: Path | None
    jobs: int | None
    engine: str
    scheduler: str | None
    resume: bool
    include_tests: bool


@click.command("evaluate")
@click.argument("dataset", metavar="DATASET", type=click.Path(path_type=Path))
@click.option(
    "--repos",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder of clones: owner/name, owner__name or owner+name. What is missing is cloned here.",
)
@click.option(
    "--repo-map",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help='TOML or JSON that names clones: "owner/name" = "path".',
)
@click.option(
    "--method",
    "methods",
    metavar="NAME",
    multiple=True,
    help="bm25, jaccard, graphloc (the default) or graphloc-weighted; may be given several times.",
)
@click.option(
    "--predictions",
    metavar="FILE",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Score the predictions in this file, too; may be given several times.",
)
@click.option(
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write predictions.jsonl and metrics.json here.",
)
@jobs_option
@click.option(
    "--engine",
    type=click.Choice(["local", "dask"]),
    default="local",
    show_default=True,
    help="Where the work is done.",
)
@click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler to use, with --engine dask.")
@click.option("--resume", is_flag=True, help="Go on with the run that --output holds.")
@include_tests_option
@index_directory_option
@click.option("--json", "as_json", is_flag=True, help="Write the metrics as JSON to stdout.")
@debug_option
def command(dataset: Path, as_json: bool, **settings: Unpack[RunSettings]) -> int:
    """Measure locators on a dataset of issues.

    DATASET has one JSON object a line, under SWE-bench's names: instance_id, repo, base_commit,
    problem_statement, and patch, or edit_functions, or gold_files. The exit code is 1 if some
    instances failed; they are named, and count as misses.
    """
    if settings["resume"] and settings["output"] is None:
        raise click.UsageError("--resume needs the --output of the run to go on with")
    loaded = _load(dataset)
    evaluation = _evaluate(loaded, settings)
    if as_json:
        write_line(metrics_document(evaluation).decode())
    else:
        _write_tables(evaluation)
    if settings["output"] is not None:
        write_remark(f"predictions.jsonl and metrics.json are in {settings['output']}")
    return 1 if evaluation.failures else 0


def _load(path: Path) -> Dataset:
    """Read the dataset; lines that cannot be used fail alone unless there is no other."""
    loaded = load_dataset(path, keep_going=True)
    if not loaded.instances:
        raise DatasetError(loaded.failures[0].reason, path=str(path))
    for failure in loaded.failures:
        write_remark(failure.reason)
    return loaded


def _evaluate(dataset: Dataset, settings: RunSettings) -> Evaluation:
    predictions = [p for path in settings["predictions"] for p in load_predictions(path)]
    names = settings["methods"] or (() if predictions else _DEFAULT_METHODS)
    methods = build_methods(names, method_registry(_index_root(settings)))
    engine = get_engine(settings["engine"], jobs=settings["jobs"], scheduler=settings["scheduler"])
    repo_map = settings["repo_map"]
    paths = load_repository_map(repo_map) if repo_map is not None else {}
    options = EvaluationOptions(
        output=settings["output"],
        resume=settings["resume"],
        include_tests=settings["include_tests"],
    )
    with show_evaluation() as on_progress:
        return evaluate(
            dataset,
            Entrants(tuple(methods), tuple(predictions)),
            Repositories(settings["repos"], paths),
            engine,
            options=options,
            on_progress=on_progress,
        )


def _index_root(settings: RunSettings) -> Path | None:
    if settings["index_dir"] is not None:
        return settings["index_dir"].absolute()
    output = settings["output"]
    return output.absolute() / _INDEX_FOLDER if output is not None else None


def _write_tables(evaluation: Evaluation) -> None:
    from graphloc.cli.evaluation_tables import write_evaluation  # noqa: PLC0415 - no rich in JSON

    write_line(f"{evaluation.dataset}: {evaluation.n} instances")
    write_evaluation(evaluation)
