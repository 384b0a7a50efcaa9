"""Trying variants with a plain test runner, for programs whose tests cannot be forked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from repair.candidates.template import SourceModule
from repair.model import TestOutcome, Variant
from repair.patch import FileChange, build_patch
from repair.testing.model import Bench, VariantOutcome
from repair.testing.runners import TestRunner


def try_variants(
    bench: Bench, runner: TestRunner, tests: Sequence[str], variants: Sequence[Variant]
) -> Iterator[VariantOutcome]:
    """Write each variant to the workspace, run the tests, and put the file back.

    A process per variant: about one a second for pytest, so give few variants.

    Raises
    ------
    SandboxError
        The tests could not be run at all.
    """
    modules: dict[str, SourceModule] = {}
    for index, variant in enumerate(variants):
        path = variant.path
        if path not in modules:
            modules[path] = SourceModule(path, bench.workspace.read(path) or b"")
        module = modules[path]
        change = FileChange(path, module.data, module.edited(variant.edits))
        patch = build_patch([change])
        bench.workspace.apply(patch)
        try:
            outcomes: tuple[TestOutcome, ...] = runner.run(tests)
        finally:
            bench.workspace.revert(patch)
        statuses = {outcome.test: outcome.status for outcome in outcomes}
        yield VariantOutcome(index, statuses, sum(outcome.duration_s for outcome in outcomes))
