"""Everybody who wants to know how far a piece of work is, whoever of them does it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from indexes.builder import Progress


class Listeners:
    """Callbacks of the threads that wait for one piece of work."""

    def __init__(self) -> None:
        self._callbacks: tuple[Progress, ...] = ()

    @contextmanager
    def joined(self, callback: Progress | None) -> Iterator[None]:
        """Keep a callback informed for the time of the block."""
        if callback is None:
            yield
            return
        self._callbacks += (callback,)
        try:
            yield
        finally:
            self._drop(callback)

    def teller(self, own: Progress | None) -> Progress:
        """Return a callback that tells all; of exceptions only those of `own` come through."""

        def tell(stage: str, done: int, total: int) -> None:
            for callback in self._callbacks:
                if callback is own:
                    continue
                try:
                    callback(stage, done, total)
                except Exception:  # noqa: BLE001 - one that only listens must not end the work
                    self._drop(callback)
            if own is not None:
                own(stage, done, total)

        return tell

    def _drop(self, callback: Progress) -> None:
        self._callbacks = tuple(known for known in self._callbacks if known is not callback)
