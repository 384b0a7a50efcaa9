"""A small tree that is indexed once."""

from __future__ import annotations

import pytest

from tests.functional.sample_trees import write
from tests.graphloc.localization.indexed_samples import BAKERY, Sample, index_sample


@pytest.fixture(scope="session")
def bakery(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """A small package without git."""
    folder = tmp_path_factory.mktemp("bakery")
    return index_sample(write(folder / "tree", BAKERY), folder / "index")
