"""Program inside a sandbox: calls two versions of a function with random inputs and compares.

``python -c SOURCE`` reads JSON from standard input and writes JSON to standard output. Inputs are
drawn by changing known ones: values of one type stay of that type and near the range seen at that
place; lists that were always sorted, or always without repeated items, stay so. Inputs that the
reference itself refuses, or takes too long for, are left out.
"""

from __future__ import annotations

import copy
import json
import math
import os
import random
import signal
import sys
import time
import types


class OutOfTime(BaseException):
    """A call took too long."""


def main():
    task = json.loads(sys.stdin.read())
    output = os.fdopen(os.dup(1), "w")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    reference = load(task["reference"], task["function"])
    candidate = load(task["candidate"], task["function"])
    shaper = Shaper(task["inputs"], task["seed"])
    compared, differing, first = 0, 0, None
    attempts = 0
    seen = set()
    ends = time.process_time() + task["total_s"]
    while compared < task["count"] and attempts < task["count"] * 10 and time.process_time() < ends:
        attempts += 1
        arguments = shaper.draw()
        key = json.dumps(arguments)
        if key in seen and attempts < task["count"] * 3:
            continue
        seen.add(key)
        kind, expected = call(reference, arguments, task["limit_s"])
        if kind != "value":
            continue
        compared += 1
        kind, actual = call(candidate, arguments, task["limit_s"] * 10)
        if kind != "value" or not same(expected, actual):
            differing += 1
            first = first or key
    output.write(json.dumps({"compared": compared, "differing": differing, "first": first}))
    output.close()
    os._exit(0)


def load(source, name):
    module = types.ModuleType("version")
    sys.modules["version"] = module
    exec(compile(source, "version.py", "exec"), module.__dict__)
    return getattr(module, name)


def call(function, arguments, limit_s):
    """Return ("value", result), or ("error", type name), or ("late", None)."""

    def stop(*_):
        raise OutOfTime

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, limit_s)
    try:
        result = function(*copy.deepcopy(arguments))
        if isinstance(result, types.GeneratorType) or type(result) in (map, filter, zip, range):
            result = [item for _, item in zip(range(100000), result)]
        return "value", result
    except OutOfTime:
        return "late", None
    except Exception as error:
        return "error", type(error).__name__
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def same(one, other):
    if isinstance(one, float) and isinstance(other, (int, float)):
        return one == other or math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-6) or (
            math.isnan(one) and math.isnan(other)
        )
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


class Shaper:
    """Draws argument lists like the known ones."""

    def __init__(self, inputs, seed):
        self.inputs = [json.loads(text) for text in inputs]
        self.random = random.Random(seed)
        self.rules = [Rules([case[i] for case in self.inputs if i < len(case)]) for i in range(8)]

    def draw(self):
        base = copy.deepcopy(self.random.choice(self.inputs))
        return [
            self.rules[i].kept(self.change(value, self.rules[i]), self.random)
            if i < len(self.rules) and self.random.random() < 0.8
            else value
            for i, value in enumerate(base)
        ]

    def change(self, value, rules):
        if isinstance(value, bool):
            return self.random.random() < 0.5
        if isinstance(value, int):
            return self.number(rules)
        if isinstance(value, float):
            low, high = rules.floats or (0.0, 1.0)
            return self.random.choice([value, round(self.random.uniform(low, high), 3)])
        if isinstance(value, str):
            return self.text(value, rules)
        if isinstance(value, list):
            return self.items(value, rules)
        return value

    def number(self, rules):
        low, high = rules.integers or (0, 10)
        if self.random.random() < 0.5 and high - low > 40:
            return self.random.randint(low, min(high, low + 40))
        return self.random.randint(low, high)

    def text(self, value, rules):
        letters = rules.letters or "ab"
        items = list(value)
        for _ in range(self.random.randint(0, 3)):
            self.edit(items, lambda: self.random.choice(letters))
        if self.random.random() < 0.3:
            size = self.random.randint(0, max(1, len(items)))
            items = [self.random.choice(letters) for _ in range(size)]
        return "".join(items)

    def items(self, value, rules):
        items = [
            self.change(item, rules) if self.random.random() < 0.5 else item for item in value
        ]
        if value and not rules.is_fixed_size:
            for _ in range(self.random.randint(0, 2)):
                self.edit(items, lambda: self.change(self.random.choice(value), rules))
        return items

    def edit(self, items, fresh):
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

    def __init__(self, values):
        leaves = list(flatten(values))
        integers = [item for item in leaves if type(item) is int]
        floats = [item for item in leaves if type(item) is float]
        self.integers = (min(integers), max(integers)) if integers else None
        self.floats = (min(floats), max(floats)) if floats else None
        self.letters = "".join(sorted({c for item in leaves if isinstance(item, str) for c in item}))
        lists = [item for item in values if isinstance(item, list) and len(item) > 1]
        plain = [item for item in lists if not any(isinstance(part, list) for part in item)]
        self.is_sorted = bool(plain) and len(plain) == len(lists) and all(map(ascends, plain))
        self.is_unique = bool(plain) and len(plain) == len(lists) and all(map(unique, plain))
        self.is_fixed_size = len(lists) > 2 and len({len(item) for item in lists}) == 1

    def kept(self, value, source):
        """Mend a changed list so that it has what all known ones have."""
        if not isinstance(value, list) or any(isinstance(item, list) for item in value):
            return value
        if self.is_unique:
            value = list(dict.fromkeys(value))
        try:
            return sorted(value) if self.is_sorted else value
        except TypeError:
            return value


def flatten(values):
    for value in values:
        if isinstance(value, list):
            yield from flatten(value)
        else:
            yield value


def ascends(items):
    try:
        return all(one <= other for one, other in zip(items, items[1:]))
    except TypeError:
        return False


def unique(items):
    return len(set(map(str, items))) == len(items)


if __name__ == "__main__":
    main()
