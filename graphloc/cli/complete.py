"""``graphloc complete-eval``: measure methods that write missing functions."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TypedDict, Unpack

import click

from graphloc.cli.commands import debug_option
from graphloc.cli.output import write_json, write_line, write_remark
from graphloc.completion.catalogue import METHOD_NAMES, get_method
from graphloc.completion.harness import (
    Check,
    EvaluationPlan,
    MethodSummary,
    check_instances,
    evaluate,
    summarize,
)
from graphloc.completion.pytest_runs import PytestEnvironment
from graphloc.completion.repoeval import TestMap, load_repoeval
from graphloc.completion.results import Result
from graphloc.llm import ModelSettings, OpenAIChatModel
from graphloc.llm.settings import RecordSettings
from indexes.errors import DatasetError
from repair.sandbox import SandboxKind, find_python_environment, open_sandbox

_SANDBOXES = (SandboxKind.BUBBLEWRAP, SandboxKind.LOCAL)


class CompleteEvalOptions(TypedDict):
    """What the options of the command say."""

    repositories: Path
    methods: tuple[str, ...]
    tests: Path | None
    output: Path
    resume: bool
    jobs: int
    model: str | None
    python: Path
    sandbox: str
    check: bool
    as_json: bool


@click.command("complete-eval")
@click.argument("dataset", type=click.Path(path_type=Path))
@click.option(
    "--repositories",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder that holds the data set's repositories.",
)
@click.option(
    "--method",
    "methods",
    type=click.Choice(METHOD_NAMES),
    multiple=True,
    default=("in-file",),
    show_default=True,
    metavar="METHOD",
    help=f"{', '.join(METHOD_NAMES)}; may be given several times.",
)
@click.option(
    "--tests",
    type=click.Path(path_type=Path),
    help="JSON object: instance or repository -> list of held-out tests.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    default=Path("completions.jsonl"),
    show_default=True,
    help="File of results, one a line.",
)
@click.option("--resume", is_flag=True, help="Go on with what the file of results holds.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Instances worked on at once.",
)
@click.option("--model", help="Model to ask; GRAPHLOC_MODEL by default.")
@click.option(
    "--python",
    type=click.Path(path_type=Path),
    default=Path(sys.executable),
    help="Python with pytest and the repositories' dependencies; graphloc's own by default.",
)
@click.option(
    "--sandbox",
    type=click.Choice([str(kind) for kind in _SANDBOXES]),
    default=str(SandboxKind.BUBBLEWRAP),
    show_default=True,
    help="Where code runs; local is for code you trust.",
)
@click.option("--check", is_flag=True, help="Only tell which instances can be judged here.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@debug_option
def command(dataset: Path, **options: Unpack[CompleteEvalOptions]) -> int:
    """Measure methods that write missing functions.

    DATASET is a file of RepoEval's function-level problems. Each method fills each hole; the
    repository's own tests, which no method sees, decide.
    """
    problems = load_repoeval(dataset, options["repositories"], _load_tests(options["tests"]))
    python = find_python_environment(options["python"])
    sandbox = open_sandbox(SandboxKind(options["sandbox"]), readonly=python.roots)
    environment = PytestEnvironment(sandbox, python.executable)
    if options["check"]:
        return _print_checks(check_instances(problems.instances, environment), options["as_json"])
    settings = ModelSettings.from_environment(os.environ, model=options["model"])
    record = RecordSettings.from_environment(os.environ).open()
    with OpenAIChatModel(settings, record=record) as model:
        results = evaluate(
            problems,
            [get_method(name, model, environment) for name in dict.fromkeys(options["methods"])],
            environment,
            EvaluationPlan(options["output"], options["resume"], options["jobs"]),
            on_result=_remark,
        )
    _print_summaries(summarize(results), options["as_json"])
    return int(any(result.stop == "model_failed" for result in results))


def _load_tests(path: Path | None) -> TestMap | None:
    if path is None:
        return None
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path} cannot be read: {error}", path=str(path)) from error
    is_map = isinstance(value, dict) and all(
        isinstance(tests, list) and all(isinstance(test, str) for test in tests)
        for tests in value.values()
    )
    if not is_map:
        raise DatasetError(f"{path} has to map names to lists of tests", path=str(path))
    return dict(value)


def _remark(result: Result) -> None:
    verdict = {True: "passed", False: "failed", None: "not judged"}[result.passed]
    write_remark(f"{result.instance_id} {result.method}: {verdict}")


def _print_checks(checks: Sequence[Check], as_json: bool) -> int:
    usable = sum(check.is_usable for check in checks)
    if as_json:
        write_json(
            {
                "schema": "graphloc.complete-check/1",
                "usable": usable,
                "instances": [asdict(check) | {"is_usable": check.is_usable} for check in checks],
            }
        )
    else:
        for check in checks:
            if not check.is_usable:
                why = "the empty body passes" if check.truth_passes else "the ground truth fails"
                write_line(f"{check.instance_id}: {why}")
        write_line(f"{usable} of {len(checks)} instances can be judged")
    return int(usable < len(checks))


def _print_summaries(summaries: Sequence[MethodSummary], as_json: bool) -> None:
    if as_json:
        rows = [asdict(each) for each in summaries]
        write_json({"schema": "graphloc.complete-eval/1", "methods": rows})
        return
    write_line(
        "method               n   pass  exact  edit  prompt  output  calls  matched failures"
    )
    for each in summaries:
        write_line(
            f"{each.method:<18} {each.n:>3} {each.pass_rate:>6.1%} {each.exact_match:>6.1%} "
            f"{each.edit_similarity:>5.2f} {each.prompt_tokens:>7.0f} "
            f"{each.completion_tokens:>7.0f} {each.calls:>6.1f} {each.matched_failures:>17}"
        )
