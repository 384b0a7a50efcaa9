"""How far the work is: on stderr, and only on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_STAGES = {
    "list": "Listing files",
    "read": "Reading files",
    "graph": "Linking names",
    "store": "Storing the index",
    "rank": "Ranking",
}
_SHOWN_FROM = 50
"""Units of work below which nothing is shown: drawing would take longer."""


class ProgressCallback(Protocol):
    """Told how far a stage is."""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Take note."""
        ...


class _Bar:
    """One line that changes, drawn from the first stage that is long enough."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self._progress is None:
            if total < _SHOWN_FROM:
                return
            self._start()
        assert self._progress is not None
        assert self._task is not None
        self._progress.update(
            self._task, description=_STAGES.get(stage, stage), completed=done, total=total
        )

    def _start(self) -> None:
        # Imported late: most runs find their index ready and draw nothing.
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task("")
        self._progress.start()

    def stop(self) -> None:
        if self._progress is not None:
            self._progress.stop()


@contextmanager
def show_progress() -> Iterator[ProgressCallback | None]:
    """Give a callback for the time of the block; None where nobody would see it."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = _Bar()
    try:
        yield bar
    finally:
        bar.stop()
