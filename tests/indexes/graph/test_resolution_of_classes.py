"""Classes and instances: methods, inheritance, protocols, attributes, annotations."""

import pytest

from tests.indexes.graph.annotated_cases import check

CASES = {
    "instance, class and static methods": """
        class A:
            def run(self):
                self.step()  #> a.py:A.step
            def step(self): pass
            @classmethod
            def make(cls):
                return cls()  #> a.py:A
            @staticmethod
            def plain(): pass
        A.make().run()  #> a.py:A.make, a.py:A.run
        A.plain()  #> a.py:A.plain
        """,
    "constructor of a base class": """
        class A:
            def __init__(self): pass
        class B(A): pass
        B()  #> a.py:A.__init__
        """,
    "super over a diamond": """
        class Root:
            def go(self): pass
        class Left(Root):
            def go(self):
                super().go()  #> a.py:Root.go
        class Right(Root):
            def go(self):
                super(Right, self).go()  #> a.py:Root.go
        class Both(Left, Right):
            def go(self):
                super().go()  #> a.py:Left.go
        Both().go()  #> a.py:Both, a.py:Both.go
        """,
    "attribute set in the constructor": """
        class Engine:
            def start(self): pass
        class Car:
            def __init__(self):
                self.engine = Engine()  #> a.py:Engine
            def drive(self):
                self.engine.start()  #> a.py:Engine.start
        """,
    "attribute from an argument": """
        class Engine:
            def start(self): pass
        class Car:
            def __init__(self, engine):
                self.engine = engine
            def drive(self):
                self.engine.start()  #> a.py:Engine.start
        Car(Engine())
        """,
    "property": """
        class Engine:
            def start(self): pass
        class Car:
            @property
            def engine(self):
                return Engine()
            def drive(self):
                self.engine.start()  #> a.py:Car.engine, a.py:Engine.start
        """,
    "callable instance": """
        class A:
            def __call__(self): pass
        a = A()
        a()  #> a.py:A.__call__
        """,
    "iterable": """
        class Item:
            def use(self): pass
        class Box:
            def __iter__(self):
                return self
            def __next__(self):
                return Item()
        for item in Box():  #> a.py:Box, a.py:Box.__iter__, a.py:Box.__next__
            item.use()  #> a.py:Item.use
        """,
    "context manager": """
        class Session:
            def __enter__(self):
                return self
            def __exit__(self, *error): pass
            def send(self): pass
        with Session() as session:  #> a.py:Session, a.py:Session.__enter__, a.py:Session.__exit__
            session.send()  #> a.py:Session.send
        """,
    "annotated parameters": """
        from typing import Optional, Union
        class A:
            def a(self): pass
        class B:
            def b(self): pass
        def run(
            one: "A", two: Optional[A], three: A | None, four: Union[A, B], five: list[A],
            six: type[B],
        ):
            one.a()  #> a.py:A.a
            two.a()  #> a.py:A.a
            three.a()  #> a.py:A.a
            four.b()  #> a.py:B.b
            for each in five:
                each.a()  #> a.py:A.a
            six().b()  #> a.py:B, a.py:B.b
        """,
    "return type and Self": """
        from typing import Self
        class A:
            def add(self) -> Self: ...
            def a(self): pass
        class B(A):
            def b(self): pass
        def make() -> "B": ...
        make().add().b()  #> a.py:make, a.py:A.add, a.py:B.b
        """,
    "abstract method": """
        from abc import ABC, abstractmethod
        class Shape(ABC):
            @abstractmethod
            def area(self): ...
        class Square(Shape):
            def area(self): pass
        def total(shape: Shape):
            shape.area()  #> a.py:Shape.area, a.py:Square.area
        """,
    "dataclass": """
        from dataclasses import dataclass
        class Engine:
            def start(self): pass
        @dataclass
        class Car:
            engine: Engine
            def drive(self):
                self.engine.start()  #> a.py:Engine.start
        Car(Engine()).drive()  #> a.py:Car, a.py:Engine, a.py:Car.drive
        """,
    "class decorator": """
        def register(cls):
            return cls
        @register
        class A:
            def run(self): pass
        A().run()  #> a.py:A, a.py:A.run
        """,
    "raised class": """
        class Failure(Exception):
            def __init__(self): pass
        def run():
            raise Failure  #> a.py:Failure.__init__
        """,
    "method of a subclass that the base calls": """
        class Base:
            def run(self):
                self.step()  #> a.py:Child.step
        class Child(Base):
            def step(self): pass
        """,
    "method as a value": """
        class A:
            def run(self): pass
        call = A().run
        call()  #> a.py:A.run
        """,
    "library receiver": """
        import requests
        class A:
            def get(self): pass
        def get(): pass
        requests.get("x")  #>
        requests.Session().get("x")  #>
        [].get  #>
        """,
    "method of a foreign base": """
        import threading
        def start(): pass
        class Worker(threading.Thread): pass
        Worker().start()  #> a.py:Worker
        """,
    "registry": """
        class Registry:
            def __init__(self):
                self.handlers = {}
            def register(self, name):
                def decorate(function):
                    self.handlers[name] = function
                    return function
                return decorate
            def dispatch(self, name):
                self.handlers[name]()  #> a.py:on_start
        registry = Registry()
        @registry.register("start")
        def on_start(): pass
        on_start()  #> a.py:on_start
        """,
}


@pytest.mark.parametrize("name", CASES)
def test_class_case(name: str) -> None:
    check({"a.py": CASES[name]})
