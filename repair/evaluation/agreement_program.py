"""Program inside a sandbox: calls two versions of a function with random inputs and compares.

``python -c SOURCE`` reads JSON from standard input and writes JSON to standard output. Inputs are
drawn by changing known ones: values of one type stay of that type and in the range seen at that
place; lists that were always sorted, or always without repeated items, stay so. Inputs that the
reference itself refuses, or takes too long for, are left out.
"""

from __future__ import annotations

import copy
import itertools
import json
import math
import os
import random
import signal
import sys
import time
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

_MOST_ITEMS = 100_000
"""Of a generator's values, so many are compared."""
_PATIENCE = 10
"""Inputs are drawn at most this many times as often as are wanted."""
_SLOWER = 10
"""The candidate may take this many times as long as the reference may."""
Function = Callable[..., Any]


class OutOfTimeError(BaseException):
    """A call took too long; no `Exception`, so that the functions cannot swallow it."""


def main() -> None:
    """Compare as standard input says."""
    task = json.loads(sys.stdin.read())
    output = os.fdopen(os.dup(1), "w")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    output.write(json.dumps(compare(task)))
    output.close()
    os._exit(0)


def compare(task: dict[str, Any]) -> dict[str, Any]:
    """Return how many inputs were compared, how many differ, and the first that does."""
    reference = load(task["reference"], task["function"])
    candidate = load(task["candidate"], task["function"])
    shaper = Shaper(task["inputs"], task["seed"])
    compared, differing, first = 0, 0, ""
    ends = time.process_time() + task["total_s"]
    for _ in range(task["count"] * _PATIENCE):
        if compared >= task["count"] or time.process_time() > ends:
            break
        arguments = shaper.draw()
        kind, expected = call(reference, arguments, task["limit_s"])
        if kind != "value":
            continue
        compared += 1
        kind, actual = call(candidate, arguments, task["limit_s"] * _SLOWER)
        if kind != "value" or not same(expected, actual):
            differing += 1
            first = first or json.dumps(arguments)
    return {"compared": compared, "differing": differing, "first": first}


def load(source: str, name: str) -> Function:
    """Run a version's source and return the function of that name."""
    module = types.ModuleType("version")
    sys.modules["version"] = module
    exec(compile(source, "version.py", "exec"), module.__dict__)
    function: Function = getattr(module, name)
    return function


def call(function: Function, arguments: list[Any], limit_s: float) -> tuple[str, Any]:
    """Return ("value", result), ("error", type name) or ("late", None)."""
    signal.signal(signal.SIGPROF, _stop)
    try:
        signal.setitimer(signal.ITIMER_PROF, limit_s)
        result = function(*copy.deepcopy(arguments))
        if isinstance(result, (types.GeneratorType, map, filter, zip, range)):
            result = list(itertools.islice(iter(result), _MOST_ITEMS))
        return "value", result
    except OutOfTimeError:
        return "late", None
    except Exception as error:  # noqa: BLE001 - the functions may raise anything
        return "error", type(error).__name__
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _stop(*_: object) -> NoReturn:
    raise OutOfTimeError


def same(one: Any, other: Any) -> bool:
    """Whether two results are equal; numbers up to rounding, lists and tuples alike."""
    if isinstance(one, float) and isinstance(other, (int, float)):
        is_close = math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-6)
        return one == other or is_close or (math.isnan(one) and math.isnan(other))
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


class Shaper:
    """Draws lists of arguments like the known ones."""

    def __init__(self, inputs: list[str], seed: int) -> None:
        self.inputs: list[list[Any]] = [json.loads(text) for text in inputs]
        self.random = random.Random(seed)
        width = max(map(len, self.inputs))
        columns = [[case[i] for case in self.inputs if i < len(case)] for i in range(width)]
        self.rules = [Rules(column) for column in columns]

    def draw(self) -> list[Any]:
        """Return one random list of arguments."""
        base = copy.deepcopy(self.random.choice(self.inputs))
        return [
            rules.kept(self.change(value, rules)) if self.random.random() < 0.8 else value
            for value, rules in zip(base, self.rules)  # noqa: B905 - for Python 3.9
        ]

    def change(self, value: Any, rules: Rules) -> Any:
        """Return another value of the same type."""
        if isinstance(value, bool):
            return self.random.random() < 0.5
        if isinstance(value, int):
            return self.number(rules)
        if isinstance(value, float):
            drawn = round(self.random.uniform(*rules.floats), 3)
            return self.random.choice([value, drawn])
        if isinstance(value, str):
            return self.text(value, rules)
        return self.items(value, rules) if isinstance(value, list) else value

    def number(self, rules: Rules) -> int:
        """Return an integer of the known range, half of the time of its low end."""
        low, high = rules.integers
        if self.random.random() < 0.5:
            high = min(high, low + 40)
        return self.random.randint(low, high)

    def text(self, value: str, rules: Rules) -> str:
        """Return a text of known letters, mostly like the given one."""
        letters = rules.letters or "ab"
        items = list(value)
        for _ in range(self.random.randint(0, 3)):
            self.edit(items, lambda: self.random.choice(letters))
        if self.random.random() < 0.3:
            size = self.random.randint(0, max(1, len(items)))
            items = [self.random.choice(letters) for _ in range(size)]
        return "".join(items)

    def items(self, value: list[Any], rules: Rules) -> list[Any]:
        """Return a list with some items changed, added and left out."""
        items = [self.change(item, rules) if self.random.random() < 0.5 else item for item in value]
        if value and not rules.is_fixed_size:
            for _ in range(self.random.randint(0, 2)):
                self.edit(items, lambda: self.change(self.random.choice(value), rules))
        return items

    def edit(self, items: list[Any], fresh: Callable[[], Any]) -> None:
        """Insert, delete or replace one item."""
        place = self.random.randint(0, len(items))
        action = self.random.random()
        if action < 0.4 or not items:
            items.insert(place, fresh())
        elif action < 0.7:
            del items[min(place, len(items) - 1)]
        else:
            items[min(place, len(items) - 1)] = fresh()


class Rules:
    """What all known values of one argument have in common."""

    def __init__(self, values: list[Any]) -> None:
        leaves = list(flatten(values))
        integers = [item for item in leaves if type(item) is int] or [0, 10]
        floats = [item for item in leaves if type(item) is float] or [0.0, 1.0]
        letters = {c for item in leaves if isinstance(item, str) for c in item}
        self.integers = (min(integers), max(integers))
        self.floats = (min(floats), max(floats))
        self.letters = "".join(sorted(letters))
        lists = [item for item in values if isinstance(item, list) and len(item) > 1]
        is_flat = bool(lists) and not any(isinstance(part, list) for item in lists for part in item)
        self.is_sorted = is_flat and all(map(ascends, lists))
        self.is_unique = is_flat and all(map(is_unique, lists))
        self.is_fixed_size = len(lists) > 2 and len({len(item) for item in lists}) == 1

    def kept(self, value: Any) -> Any:
        """Mend a changed list so that it has what all known ones have."""
        if not isinstance(value, list) or any(isinstance(item, list) for item in value):
            return value
        items = list(dict.fromkeys(value)) if self.is_unique else value
        try:
            return sorted(items) if self.is_sorted else items
        except TypeError:
            return items


def flatten(values: Iterable[Any]) -> Iterator[Any]:
    """Yield what is in nested lists."""
    for value in values:
        if isinstance(value, list):
            yield from flatten(value)
        else:
            yield value


def ascends(items: list[Any]) -> bool:
    """Whether a list is sorted."""
    try:
        return items == sorted(items)
    except TypeError:
        return False


def is_unique(items: list[Any]) -> bool:
    """Whether no two items are alike."""
    return len(set(map(repr, items))) == len(items)


if __name__ == "__main__":
    main()
