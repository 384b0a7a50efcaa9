"""Many threads on one locator, and one thread's work for all."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from graphloc import Direction, InputError, Locator
from graphloc.locators.coalescing import SharedWork
from graphloc.locators.listeners import Listeners
from tests.functional.sample_trees import TRACEBACK

Ask = Callable[[Locator], object]

QUESTIONS: list[Ask] = [
    lambda locator: [r.entity.id for r in locator.locate(TRACEBACK).results],
    lambda locator: locator.locate("GiftCart.total ignores wrapping_fee").functions,
    lambda locator: locator.search_entity(["discount", "Cart.add"]),
    lambda locator: locator.traverse_graph("shop/cart.py:Cart", Direction.BOTH, 3),
    lambda locator: locator.retrieve_entity(["shop/cart.py:Cart.total", "shop/prices.py"]),
    lambda locator: locator.explain(TRACEBACK, "shop/cart.py:Cart.add"),
    lambda locator: locator.repository_map(200),
]


def test_two_hundred_concurrent_questions_get_the_answers_of_one_after_another(
    shop: Path,
) -> None:
    with Locator(shop) as alone:
        expected = [ask(alone) for ask in QUESTIONS]
    asked = [QUESTIONS[n % len(QUESTIONS)] for n in range(200)]
    with Locator(shop) as locator, ThreadPoolExecutor(200) as threads:
        found = list(threads.map(lambda ask: ask(locator), asked))
    assert found == [expected[n % len(QUESTIONS)] for n in range(200)]


def test_answers_are_about_one_state_of_the_tree_while_it_changes(shop: Path) -> None:
    path = shop / "shop/prices.py"
    text = path.read_text()
    stop = threading.Event()

    def edit(locator: Locator) -> None:
        for n in range(30):
            # As editors write: nobody sees half a file.
            (shop / "new").write_text("#\n" * (n % 7) + text)
            (shop / "new").replace(path)
            locator.refresh()
        stop.set()

    def ask(locator: Locator) -> list[str]:
        seen = []
        while not stop.is_set():
            # The file changes as fast as it is read, so some questions are sent back.
            with suppress(InputError):
                (code,) = locator.retrieve_entity("shop/prices.py:net_price")
                seen.append(code.lines[0])
        return seen

    with Locator(shop) as locator, ThreadPoolExecutor(5) as threads:
        locator.refresh()
        asking = [threads.submit(ask, locator) for _ in range(4)]
        threads.submit(edit, locator).result()
        lines = {line for future in asking for line in future.result()}
    assert lines == {"def net_price(item):"}


class Rehearsal:
    """Work that waits until it may go on."""

    def __init__(self) -> None:
        self.runs = 0
        self.started = threading.Event()
        self.may_end = threading.Event()

    def __call__(self) -> int:
        self.runs += 1
        self.started.set()
        assert self.may_end.wait(30)
        return self.runs


def test_those_who_come_while_it_runs_share_the_next_run() -> None:
    shared: SharedWork[int] = SharedWork()
    work = Rehearsal()
    with ThreadPoolExecutor(12) as threads:
        first = threads.submit(shared.run, work)
        work.started.wait(30)
        others = [threads.submit(shared.run, work) for _ in range(10)]
        while threads._work_queue.qsize():
            pass
        work.may_end.set()
        assert first.result() == 1
        # Some may have come only after the second run had begun.
        assert all(2 <= other.result() <= work.runs for other in others)
    assert work.runs < 11


def test_a_failed_run_is_its_own_callers_only() -> None:
    shared: SharedWork[int] = SharedWork()
    work = Rehearsal()

    def fail() -> int:
        work()
        raise KeyError("mine")

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(shared.run, fail)
        work.started.wait(30)
        second = threads.submit(shared.run, lambda: 7)
        work.may_end.set()
        with pytest.raises(KeyError):
            first.result()
        assert second.result() == 7


def test_a_listener_that_fails_is_dropped_and_the_work_goes_on() -> None:
    heard: list[str] = []

    def bad(stage: str, done: int, total: int) -> None:
        heard.append("bad")
        raise ValueError

    listeners = Listeners()
    with listeners.joined(bad), listeners.joined(lambda stage, done, total: heard.append(stage)):
        tell = listeners.teller(None)
        tell("read", 1, 2)
        tell("graph", 1, 1)
    assert heard == ["bad", "read", "graph"]
