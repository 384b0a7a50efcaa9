"""Work on several items at once in threads that Ctrl-C does not have to wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def map_in_threads(
    work: Callable[[_Item], _Result], items: Sequence[_Item], *, workers: int
) -> list[_Result]:
    """Return ``[work(item) for item in items]``, worked on by up to `workers` threads.

    The first error, in the order of the items, is raised; items not begun by then are dropped, and
    those under way are waited for, since they are paid for and may be recorded. An interrupt
    (`KeyboardInterrupt`, `SystemExit`) is not kept waiting: the threads are daemons, which
    `concurrent.futures.ThreadPoolExecutor` cannot make.
    """
    queue: SimpleQueue[tuple[Future[_Result], _Item]] = SimpleQueue()
    futures: list[Future[_Result]] = []
    for item in items:
        future: Future[_Result] = Future()
        futures.append(future)
        queue.put((future, item))
    threads = [
        threading.Thread(target=_drain, args=(queue, work), name="graphloc-llm", daemon=True)
        for _ in range(min(workers, len(items)))
    ]
    for thread in threads:
        thread.start()
    try:
        return [future.result() for future in futures]
    except Exception:
        _drop(futures)
        for thread in threads:
            thread.join()
        raise
    except BaseException:
        _drop(futures)
        raise


def _drain(
    queue: SimpleQueue[tuple[Future[_Result], _Item]], work: Callable[[_Item], _Result]
) -> None:
    while True:
        try:
            future, item = queue.get_nowait()
        except Empty:
            return
        if not future.set_running_or_notify_cancel():
            continue
        try:
            future.set_result(work(item))
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits for the result
            future.set_exception(error)


def _drop(futures: Sequence[Future[_Result]]) -> None:
    for future in futures:
        future.cancel()
