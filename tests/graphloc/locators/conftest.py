"""A small repository and a locator on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphloc import Locator
from tests.functional.sample_trees import make_repository


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository with one commit."""
    return make_repository(tmp_path / "shop")


@pytest.fixture
def locator(shop: Path) -> Iterator[Locator]:
    """A locator on its work tree."""
    with Locator(shop) as opened:
        yield opened
