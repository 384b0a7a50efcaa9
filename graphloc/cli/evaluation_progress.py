"""How far an evaluation is: on stderr, and only on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from graphloc.evaluation.runner import Progress, ProgressCallback


@contextmanager
def show_evaluation() -> Iterator[ProgressCallback]:
    """Give a callback for the time of the block, which draws a bar with the time left."""
    if not sys.stderr.isatty():
        yield _ignore
        return
    # Imported late: without a terminal nothing is drawn.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar  # noqa: PLC0415

    with Bar(
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[failed]} failed  {task.description}", markup=False),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("", total=None, failed=0)
        failed = 0

        def advance(progress: Progress) -> None:
            nonlocal failed
            failed += progress.failed
            bar.update(
                task,
                completed=progress.done,
                total=progress.total,
                description=progress.instance_id,
                failed=failed,
            )

        yield advance


def _ignore(progress: Progress) -> None:
    del progress
