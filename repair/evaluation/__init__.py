"""Measuring repair on benchmarks of small programs with known bugs."""

from repair.evaluation.harness import EvaluationSettings, evaluate
from repair.evaluation.layouts import Layout, load_bugs
from repair.evaluation.model import BugInstance, EvaluationRecord, EvaluationSummary, summarize

__all__ = [
    "BugInstance",
    "EvaluationRecord",
    "EvaluationSettings",
    "EvaluationSummary",
    "Layout",
    "evaluate",
    "load_bugs",
    "summarize",
]
