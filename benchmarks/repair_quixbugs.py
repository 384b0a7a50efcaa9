"""Repair rate without a model on published benchmarks: ``python benchmarks/repair_quixbugs.py``.

The benchmarks are not part of this repository; give the paths of a QuixBugs checkout, of
HumanEvalFix's ``humanevalpack.jsonl`` or of MBPP+Fix's JSONL file. Results go to a JSONL file, and
a second run goes on where the first one stopped.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from repair.evaluation import (
    EvaluationRecord,
    EvaluationSettings,
    Layout,
    evaluate,
    load_bugs,
    summarize,
)
from repair.sandbox import find_python_environment, open_sandbox
from repair.search import Budget
from repair.testing.model import ForkSettings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--layout", type=Layout, default=Layout.QUIXBUGS, choices=list(Layout))
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--only", action="append", default=[], help="ids to run")
    parser.add_argument("--every", type=int, default=1, help="run each n-th bug only")
    parser.add_argument("--candidates", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--python", type=Path, default=Path(sys.executable))
    options = parser.parse_args()
    bugs = load_bugs(options.layout, options.path)[:: options.every]
    if options.only:
        bugs = tuple(bug for bug in bugs if bug.id in options.only)
    environment = find_python_environment(options.python)
    settings = EvaluationSettings(
        open_sandbox(readonly=environment.roots),
        environment.executable,
        Budget(options.candidates, options.seconds),
        ForkSettings(keep_going=True),
        options.jobs,
    )
    records = evaluate(bugs, options.output, settings, observe=_show)
    print(summarize(records))


def _show(record: EvaluationRecord) -> None:
    found = f"{record.rank:5d} {record.template}" if record.rank else ""
    print(
        f"{record.id:30s} {record.verdict:13s} tried {record.tried:5d} late {record.timed_out:4d} "
        f"{record.seconds:6.1f} s {record.cpu_s:6.1f} cpu  {found} {record.message[:60]}",
        flush=True,
    )


if __name__ == "__main__":
    main()
