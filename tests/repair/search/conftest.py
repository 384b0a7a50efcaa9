"""A small program with tests, in a workspace, with the Python that runs them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from repair.sandbox import LocalSandbox, Workspace
from repair.testing.model import Bench

MakeBench = Callable[[Mapping[str, str]], Bench]


@pytest.fixture
def make_bench(tmp_path: Path) -> Iterator[MakeBench]:
    """Return a function that writes a program and opens a bench on a copy of it."""
    with ExitStack() as opened:

        def make(files: Mapping[str, str]) -> Bench:
            source = tmp_path / "program"
            for path, text in files.items():
                place = source / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text)
            workspace = opened.enter_context(Workspace.copy(source, parent=tmp_path))
            return Bench(LocalSandbox(), workspace, Path(sys.executable))

        yield make
