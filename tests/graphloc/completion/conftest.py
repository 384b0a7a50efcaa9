"""A toy repository, and models connected to scripted servers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from graphloc.llm import Ledger, ModelSettings, OpenAIChatModel, ReplyRecord, RetryPolicy
from repair.ports import ChatReply, ChatRequest
from tests.fakes.chat_server import ChatServer, Script

SHAPES = '''"""Shapes."""

from units import Length


class Shape:
    """Anything with an area."""

    def area(self) -> float:
        """Return the area."""
        raise NotImplementedError

    def describe(self) -> str:
        """Say what it is."""
        return f"{type(self).__name__} of {self.area():g}"


class Square(Shape):
    """A square."""

    def __init__(self, side: float) -> None:
        self.side = side

    def area(self) -> float:
        """Return the square of the side."""
        return self.side * self.side

    def perimeter(self) -> Length:
        """Return four sides."""
        return to_length(4 * self.side)

    def grow(self, by: Length) -> None:
        """Make it larger."""
        self.side += to_number(by)


def to_length(value: float) -> Length:
    """Wrap a number."""
    return Length(value)


def to_number(length: Length) -> float:
    """Unwrap a length."""
    return length.value
'''
UNITS = '''"""Units."""


class Length:
    """A length in metres."""

    def __init__(self, value: float) -> None:
        self.value = value
'''
USES = '''"""Users of shapes."""

from shapes import Square


def total(sides: list[float]) -> float:
    """Sum of areas."""
    return sum(Square(side).area() for side in sides)
'''
HIDDEN_TEST = """from shapes import Square


def test_area():
    assert Square(3).area() == 9
    assert Square(0.5).area() == 0.25
"""


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """Make a small repository whose tests pass."""
    root = tmp_path / "toy"
    (root / "tests").mkdir(parents=True)
    for path, text in {
        "shapes.py": SHAPES,
        "units.py": UNITS,
        "uses.py": USES,
        "tests/test_shapes.py": HIDDEN_TEST,
        "conftest.py": "",
    }.items():
        (root / path).write_text(text)
    return root


class Silent:
    """A model that is never asked."""

    name = "silent"

    def complete(self, request: ChatRequest) -> tuple[ChatReply, ...]:
        raise AssertionError(request)


@dataclass
class Line:
    """A model and the server it talks to."""

    model: OpenAIChatModel
    server: ChatServer


Connect = Callable[..., Line]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Connect a model to a server with the given script."""
    with ExitStack() as stack:

        def _connect(
            script: Script, *, ledger: Ledger | None = None, record: ReplyRecord | None = None
        ) -> Line:
            server = stack.enter_context(ChatServer(script))
            settings = ModelSettings(
                model="scripted", base_url=server.base_url, retry=RetryPolicy(max_attempts=2)
            )
            model = OpenAIChatModel(
                settings, ledger=ledger, record=record, sleep=lambda seconds: None
            )
            stack.callback(model.close)
            return Line(model, server)

        yield _connect
