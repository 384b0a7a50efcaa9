"""Work that many threads ask for at once and one of them does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

_Result = TypeVar("_Result")


class SharedWork(Generic[_Result]):
    """Runs a piece of work for all that ask for it while another run is under way.

    Whoever calls gets the result of a run that began after the call did, so the result is never
    older than the question. If the run fails, its own caller gets the error and one of those that
    wait tries again.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._is_running = False
        self._started = 0
        self._done: tuple[int, _Result] | None = None

    def run(self, work: Callable[[], _Result]) -> _Result:
        """Return the result of a run of `work`, one's own or another's."""
        with self._changed:
            wanted = self._started + 1
            while True:
                if self._done is not None and self._done[0] >= wanted:
                    return self._done[1]
                if not self._is_running:
                    break
                self._changed.wait()
            self._is_running = True
            self._started += 1
            number = self._started
        finished: tuple[int, _Result] | None = None
        try:
            result = work()
            finished = number, result
            return result
        finally:
            with self._changed:
                self._is_running = False
                self._done = finished or self._done
                self._changed.notify_all()
