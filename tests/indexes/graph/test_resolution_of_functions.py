"""Functions as values: scopes, assignments, arguments, containers, closures, decorators."""

import pytest

from tests.indexes.graph.annotated_cases import check

CASES = {
    "closure": """
        def outer():
            def inner():
                helper()  #> a.py:helper
            inner()  #> a.py:outer.inner
            return inner
        def helper(): pass
        outer()()  #> a.py:outer, a.py:outer.inner
        """,
    "chain of assignments": """
        def f(): pass
        a = b = f
        c = a
        c()  #> a.py:f
        """,
    "tuple unpacking": """
        def f(): pass
        def g(): pass
        a, (b, c) = f, (g, f)
        a()  #> a.py:f
        b()  #> a.py:g
        """,
    "last of two straight assignments": """
        def f(): pass
        def g(): pass
        x = f
        x = g
        x()  #> a.py:g
        """,
    "either branch": """
        def f(): pass
        def g(): pass
        if unknown:
            x = f
        else:
            x = g
        x()  #> a.py:f, a.py:g
        """,
    "passed on through two functions": """
        def f(): pass
        def one(callback):
            two(callback)  #> a.py:two
        def two(callback):
            callback()  #> a.py:f
        one(f)  #> a.py:one
        """,
    "keyword argument and default": """
        def f(): pass
        def g(): pass
        def run(first, second=g):
            first()  #> a.py:f
            second()  #> a.py:g
        run(first=f)
        """,
    "star arguments": """
        def f(): pass
        def g(): pass
        def run(*functions, **named):
            functions[0]()  #> a.py:f
            named["last"]()  #> a.py:g
        run(f, last=g)
        """,
    "unpacked arguments": """
        def f(): pass
        def g(): pass
        def run(first, second):
            first()  #> a.py:f
            second()  #> a.py:g
        run(*[f], **{"second": g})
        """,
    "returned function": """
        def f(): pass
        def make():
            return f
        make()()  #> a.py:make, a.py:f
        """,
    "lists and dicts": """
        def f(): pass
        def g(): pass
        items = [f]
        items.append(g)
        for item in items:
            item()  #> a.py:f, a.py:g
        table = {"f": f, "g": g}
        table["g"]()  #> a.py:g
        table.get("g")()  #> a.py:f, a.py:g
        """,
    "slice with constant bounds": """
        def f(): pass
        def g(): pass
        [f, g][1:][0]()  #> a.py:g
        """,
    "lambda": """
        def f(): pass
        run = lambda: f()  #> a.py:f
        run()
        """,
    "plain decorator": """
        def traced(function):
            def wrapper():
                function()  #> a.py:work
            return wrapper
        @traced
        def work(): pass
        work()  #> a.py:traced.wrapper
        """,
    "decorator with arguments": """
        def retried(times):
            def decorate(function):
                def wrapper():
                    function()  #> a.py:work
                return wrapper
            return decorate
        @retried(3)
        def work(): pass
        work()  #> a.py:retried.decorate.wrapper
        """,
    "decorator that hands back what it gets": """
        def register(name):
            def decorate(function):
                return function
            return decorate
        @register("one")
        def one(): pass
        @register("two")
        def two(): pass
        one()  #> a.py:one
        two()  #> a.py:two
        """,
    "library decorator leaves a function what it is": """
        import functools
        @functools.lru_cache
        def work(): pass
        work()  #> a.py:work
        """,
    "class as decorator": """
        class Task:
            def __init__(self, function):
                self.function = function
            def __call__(self):
                self.function()  #> a.py:work
        @Task
        def work(): pass
        work()  #> a.py:Task.__call__
        """,
    "partial": """
        from functools import partial
        def f(callback, other):
            other()  #> a.py:g
        def g(): pass
        partial(f, print)(g)  #> a.py:f
        """,
    "generator": """
        def f(): pass
        def produce():
            yield f
        def relay():
            yield from produce()  #> a.py:produce
        for item in relay():  #> a.py:relay
            item()  #> a.py:f
        """,
    "global variable set in a function": """
        hook = None
        def f(): pass
        def install():
            global hook
            hook = f
        def run():
            hook()  #> a.py:f
        """,
    "callback of a library function": """
        import threading
        def work(): pass
        threading.Thread(target=work)  #> a.py:work
        """,
    "a name that hides a builtin": """
        def open(path): pass
        open("x")  #> a.py:open
        """,
    "async": """
        async def fetch():
            return handler
        def handler(): pass
        async def main():
            found = await fetch()  #> a.py:fetch
            found()  #> a.py:handler
        """,
}


@pytest.mark.parametrize("name", CASES)
def test_function_case(name: str) -> None:
    check({"a.py": CASES[name]})
